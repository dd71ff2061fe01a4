"""Tells how much memory is free, and keeps what was freed from being fetched again and again."""

from __future__ import annotations

import re
from pathlib import Path

_AVAILABLE = re.compile(r"^MemAvailable:\s+(\d+) kB$", re.MULTILINE)
_INACTIVE = re.compile(r"^inactive_file (\d+)$", re.MULTILINE)
_KEPT_BYTES = 2**20
_CGROUP = Path("/sys/fs/cgroup")


def keep_freed_memory() -> None:
    """Have the memory of each block of output used for the next one.

    glibc gives blocks of this size back to the system when they are freed, and takes zeroed pages
    for the next ones, until a larger one was freed: mallopt(3), M_MMAP_THRESHOLD. Elsewhere it
    does nothing.
    """
    bytes(_KEPT_BYTES)


def free_memory(proc: Path = Path("/proc"), cgroup: Path = _CGROUP) -> int | None:
    """Bytes that programs can have without swapping, within the limit of our container.

    proc_meminfo(5): MemAvailable. Control group v2, memory.max, memory.current and memory.stat (the
    cache of files that were not used lately can be dropped): the kernel's
    Documentation/admin-guide/cgroup-v2.rst.
    """
    found = _AVAILABLE.search(_read(proc / "meminfo"))
    machine = int(found[1]) * 1024 if found else None
    most, used = _read(cgroup / "memory.max").strip(), _read(cgroup / "memory.current").strip()
    if not (most.isdecimal() and used.isdecimal()):  # no limit is `max`
        return machine
    cached = _INACTIVE.search(_read(cgroup / "memory.stat"))
    inside = max(0, int(most) - int(used) + (int(cached[1]) if cached else 0))
    return inside if machine is None else min(machine, inside)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
