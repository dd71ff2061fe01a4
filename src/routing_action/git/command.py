"""Runs git with a fixed environment, so that neither the caller's nor a repository's set-up acts.

It starts nothing but git, and never reaches a network.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from routing_action.errors import HarnessError

TIMEOUT_SECONDS = 120.0
NEUTRAL_NAME = "Developer"
NEUTRAL_EMAIL = "developer@example.com"
_NEUTRAL_DATE = "2024-01-01T00:00:00+0000"

# git(1), "Environment Variables": no system or user configuration, no prompt, no optional lock.
_FIXED: Mapping[str, str] = {
    "HOME": os.devnull,
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    # Objects as they are: replacements and grafts are no part of what was committed.
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_AUTHOR_NAME": NEUTRAL_NAME,
    "GIT_AUTHOR_EMAIL": NEUTRAL_EMAIL,
    "GIT_AUTHOR_DATE": _NEUTRAL_DATE,
    "GIT_COMMITTER_NAME": NEUTRAL_NAME,
    "GIT_COMMITTER_EMAIL": NEUTRAL_EMAIL,
    "GIT_COMMITTER_DATE": _NEUTRAL_DATE,
}

# A container job often runs as another user than the checkout's owner; the caller named this
# repository, and nothing of its configuration is run: safe.directory=* only lets it be read.
_CONFIGURATION = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.protectNTFS=false",
    "core.autocrlf=false",
    "commit.gpgSign=false",
    "gc.auto=0",
    "safe.directory=*",
)

_MOST_COMPLAINT = 1 << 16
_REMARKS = ("warning:", "hint:")
_NO_WORK_TREE = (b"not a git repository", b"must be run in a work tree")


class Ended(NamedTuple):
    """How git ended: its exit code, None where it took too long, and what it printed."""

    code: int | None
    stdout: bytes
    stderr: bytes


def run_git(
    args: Sequence[str], cwd: Path, *, stdin: str = "", timeout_seconds: float = TIMEOUT_SECONDS
) -> str:
    """What git printed on stdout; bytes that are no UTF-8 come as surrogates (os.fsdecode).

    Raises HarnessError where git is missing, takes too long or exits with another code than 0.
    """
    done = _start(args, cwd, timeout_seconds, stdin)
    if done.code != 0:
        raise HarnessError(
            f"git {args[0]} failed in {cwd} with exit code {done.code}: "
            f"{first_complaint(done.stderr)}",
            remedy=f"run `git {args[0]}` in that folder by hand to see why",
        )
    return os.fsdecode(done.stdout)


def start_git(
    words: Sequence[str],
    cwd: Path,
    environ: Mapping[str, str],
    timeout_seconds: float,
    stdin: str = "",
) -> Ended:
    """Run git with this environment alone; HarnessError where there is no git on its PATH.

    It is cut off from the terminal, where ssh would ask, and leads a group of its own, so that
    all its processes can be ended. Files for the output do not wait for a connection that ssh
    keeps open for later.
    """
    program = shutil.which("git", path=environ.get("PATH", os.defpath))
    if program is None:
        raise HarnessError("git was not found", remedy="install git, or put its folder on PATH")
    with (
        tempfile.TemporaryFile() as given,
        tempfile.TemporaryFile() as stdout,
        tempfile.TemporaryFile() as stderr,
    ):
        given.write(os.fsencode(stdin))
        given.seek(0)
        child = subprocess.Popen(
            [program, *words],
            cwd=cwd,
            env=environ,
            stdin=given,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
        code: int | None = None
        with suppress(subprocess.TimeoutExpired):
            try:
                code = child.wait(timeout_seconds)
            finally:
                if code is None:
                    _end(child)
                    child.wait()
        stdout.seek(0)
        stderr.seek(0)
        return Ended(code, stdout.read(), stderr.read(_MOST_COMPLAINT))


def _end(child: subprocess.Popen[bytes]) -> None:
    """Kill git with all that it started; on Windows git alone."""
    if hasattr(os, "killpg"):
        os.killpg(child.pid, signal.SIGKILL)
    else:
        child.kill()


def first_complaint(stderr: bytes) -> str:
    """The first line that is no mere remark, cut to a bounded length."""
    lines = [line.strip() for line in stderr.decode("utf-8", "replace").splitlines()]
    errors = [line for line in lines if line and not line.lower().startswith(_REMARKS)]
    return next(iter(errors or filter(None, lines)), "it gave no reason")[:300]


def find_work_tree(folder: Path) -> Path | None:
    """The top of the work tree that the folder lies in; None where no repository is found.

    Raises HarnessError where git is missing, though there is one, or refuses for another reason.
    """
    inside = (folder.absolute(), *folder.absolute().parents)
    if folder.is_dir() and not any(os.path.lexists(one / ".git") for one in inside):
        return None
    done = _start(("rev-parse", "--show-toplevel"), folder)
    if done.code == 0:
        return Path(os.fsdecode(done.stdout.removesuffix(b"\n")))
    if any(reason in done.stderr for reason in _NO_WORK_TREE):
        return None
    raise HarnessError(
        f"git could not read the repository at {folder}: {first_complaint(done.stderr)}",
        remedy="repair the repository, or run on a copy of the folder without its .git",
    )


def require_work_tree(repository: Path) -> Path:
    """The top of the work tree that the folder lies in; HarnessError where there is none."""
    top = find_work_tree(repository)
    if top is None:
        raise HarnessError(
            f"{repository} is in no git repository with a working tree",
            remedy="run in a clone of the repository, for example after actions/checkout",
        )
    return top


def resolve(folder: Path, name: str) -> str | None:
    """The full id of the commit that a name stands for; None where git knows of none here."""
    args = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    try:
        return run_git(args, folder).strip()
    except HarnessError:
        return None


def _start(
    args: Sequence[str], cwd: Path, timeout_seconds: float = TIMEOUT_SECONDS, stdin: str = ""
) -> Ended:
    if not cwd.is_dir():
        raise HarnessError(f"{cwd} is not a folder", remedy="name a folder that exists")
    options = [word for setting in _CONFIGURATION for word in ("-c", setting)]
    environment = {**_FIXED, "PATH": os.environ.get("PATH", os.defpath)}
    ended = start_git((*options, *args), cwd, environment, timeout_seconds, stdin)
    if ended.code is None:
        raise HarnessError(
            f"git {args[0]} did not end within {timeout_seconds:g} s in {cwd}",
            remedy="look for a slow or network file system, or a lock that git waits for",
        )
    return ended
