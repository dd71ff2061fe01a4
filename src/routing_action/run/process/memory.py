"""Tells how much memory is free."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

import psutil

_INACTIVE = re.compile(r"^inactive_file (\d+)$", re.MULTILINE)
_CGROUP = Path("/sys/fs/cgroup")


def free_memory(cgroup: Path = _CGROUP) -> int | None:
    """Bytes that programs can have without swapping, within the limit of our container.

    None where neither is known. Control group v2, memory.max, memory.current and memory.stat (the
    cache of files that were not used lately can be dropped): the kernel's
    Documentation/admin-guide/cgroup-v2.rst.
    """
    known = []
    with contextlib.suppress(OSError, psutil.Error):
        known.append(psutil.virtual_memory().available)
    with contextlib.suppress(OSError, ValueError):  # no limit is `max`
        most = int((cgroup / "memory.max").read_text("ascii"))
        used = int((cgroup / "memory.current").read_text("ascii"))
        stat = cgroup / "memory.stat"
        cached = _INACTIVE.search(stat.read_text("ascii")) if stat.exists() else None
        known.append(max(0, most - used + (int(cached[1]) if cached else 0)))
    return min(known, default=None)
