"""Removes folders that agents have written to, whatever they left there.

It never follows a symbolic link, never raises over what cannot be removed, and names it.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

_MOST_FAILURES = 20


def remove_tree(path: Path) -> tuple[str, ...]:
    """Remove a folder with all that is below it; give what is still there, each with the reason.

    Empty means that it is gone. A file or a link is unlinked, and what is not there is no failure.
    Where something is left, rights are restored for a second pass. The last pass is for trees that
    are too deep for Python, and for folders that a process was still filling.
    """
    failures = _remove(path)
    for prepare in (_restore_rights, _run_rm):
        if not failures:
            break
        with suppress(OSError, RecursionError):
            prepare(path)
        failures = _remove(path)
    return tuple(failures[:_MOST_FAILURES])


def _remove(path: Path) -> list[str]:
    failures: list[str] = []

    def note(_: object, name: str, error: object) -> None:
        failures.append(f"{name}: {_why(error[1] if isinstance(error, tuple) else error)}")

    try:
        if not _is_folder(path):
            path.unlink()
        elif sys.version_info >= (3, 12):
            shutil.rmtree(path, onexc=note)
        else:
            shutil.rmtree(path, onerror=note)
    except FileNotFoundError:
        return []
    except (OSError, RecursionError) as error:
        failures.append(f"{path}: {_why(error)}")
    return failures


def _restore_rights(path: Path) -> None:
    """Give the owner all rights on each folder; what a link names is left as it is."""
    if not _is_folder(path):
        return
    path.chmod(stat.S_IRWXU)
    for folder, names, _ in os.walk(path):
        for child in (Path(folder, name) for name in names):
            if _is_folder(child):
                child.chmod(stat.S_IRWXU)


def _run_rm(path: Path) -> None:
    command = [shutil.which("rm") or "rm", "-rf", "--", str(path)]
    subprocess.run(command, stderr=subprocess.DEVNULL, check=False)


def _is_folder(path: Path) -> bool:
    return stat.S_ISDIR(path.lstat().st_mode)


def _why(error: object) -> str:
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)
