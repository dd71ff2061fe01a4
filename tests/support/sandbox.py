"""What the tests of workspaces and homes need: repositories, fake agents, an ordinary user."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from routing_action.agents.discovery import all_providers
from routing_action.agents.provider import Provider
from routing_action.files.removal import remove_tree

_ANY_READER = next(iter(all_providers().values())).reader
_NOBODY = 65534


def provider(name: str = "fake", **fields: Any) -> Provider:  # noqa: ANN401
    """A provider of which a test names only what it is about."""
    return Provider(name=name, title=name, command=("fake",), reader=_ANY_READER, **fields)


def git(folder: Path, *args: str) -> str:
    """Git as a user of the repository runs it, without this machine's configuration."""
    identity = {
        f"GIT_{role}_{key}": value
        for role in ("AUTHOR", "COMMITTER")
        for key, value in (("NAME", "Somebody"), ("EMAIL", "somebody@example.org"))
    }
    nothing = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    command = ["git", "-c", "protocol.file.allow=always", "-c", "init.defaultBranch=trunk", *args]
    done = subprocess.run(
        command,
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": os.devnull, **identity, **nothing},
        capture_output=True,
        check=True,
    )
    return os.fsdecode(done.stdout)


def write(root: Path, files: Mapping[str, str]) -> None:
    """Write files below a folder, with the folders that they need."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def repository(root: Path, files: Mapping[str, str]) -> Path:
    """A repository with one commit of the given files."""
    root.mkdir(parents=True, exist_ok=True)
    write(root, files)
    git(root, "init", "--quiet")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--allow-empty", "-m", "first")
    return root


def files_below(root: Path) -> list[str]:
    """Every file and link below a folder, but those of git, as sorted relative paths."""
    found = (path for path in root.rglob("*") if path.is_symlink() or not path.is_dir())
    return sorted(
        path.relative_to(root).as_posix()
        for path in found
        if ".git" not in path.relative_to(root).parts
    )


def run_agent(program: str, cwd: Path, environment: Mapping[str, str]) -> Any:  # noqa: ANN401
    """Run a fake agent, a Python program, in a workspace; gives the JSON that it printed."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=cwd,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return json.loads(done.stdout)


@contextmanager
def ordinary_user() -> Iterator[Path]:
    """A folder of a user who is not root, whose rights count while the context lasts."""
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(_NOBODY)
    try:
        folder = Path(tempfile.mkdtemp())
    except OSError:
        os.seteuid(0 if is_root else os.geteuid())
        raise
    try:
        yield folder
    finally:
        if is_root:
            os.seteuid(0)
        remove_tree(folder)
