"""Tells how much memory is free."""

from __future__ import annotations

import re
from pathlib import Path

_AVAILABLE = re.compile(r"^MemAvailable:\s+(\d+) kB$", re.MULTILINE)
_INACTIVE = re.compile(r"^inactive_file (\d+)$", re.MULTILINE)
_CGROUP = Path("/sys/fs/cgroup")


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
