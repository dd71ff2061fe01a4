"""Builds the histories that a pull request can have, and clones them as actions/checkout does."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_FIRST_SECOND = 1_700_000_000
_DAY = 86_400


@dataclass(frozen=True)
class Repository:
    """A repository of a test; its commits are dated by the day that they are given."""

    path: Path

    def git(self, *args: str, day: int = 0, stdin: str | None = None) -> str:
        """What git prints, without this machine's configuration and without the last newline."""
        identity = {
            f"GIT_{role}_{key}": value
            for role in ("AUTHOR", "COMMITTER")
            for key, value in (
                ("NAME", "Somebody"),
                ("EMAIL", "somebody@example.org"),
                ("DATE", f"{_FIRST_SECOND + day * _DAY} +0100"),
            )
        }
        nothing = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        command = ["git", "-c", "protocol.file.allow=always", "-c", "gc.auto=0", *args]
        done = subprocess.run(
            command,
            cwd=self.path,
            env={"PATH": os.environ["PATH"], "HOME": os.devnull, **identity, **nothing},
            input=os.fsencode(stdin or ""),
            capture_output=True,
            check=True,
        )
        return os.fsdecode(done.stdout).removesuffix("\n")

    def write(self, files: Mapping[str, str | None]) -> None:
        """Write files of the working tree; None deletes one, and the folders it leaves empty."""
        for name, text in files.items():
            path = self.path / name
            if text is None:
                path.unlink()
                for folder in path.relative_to(self.path).parents:
                    if folder.parts and not any((self.path / folder).iterdir()):
                        (self.path / folder).rmdir()
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")

    def commit(self, files: Mapping[str, str | None] | None = None, *, day: int = 0) -> str:
        """Commit all of the working tree, after writing the files; gives the commit's id."""
        self.write(files or {})
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", f"day {day}", day=day)
        return self.git("rev-parse", "HEAD")

    def start(self, branch: str, at: str = "HEAD") -> None:
        """Check out a new branch."""
        self.git("checkout", "--quiet", "-b", branch, at)

    def switch(self, name: str) -> None:
        """Check out a branch, or a commit without one."""
        self.git("checkout", "--quiet", name)

    def merge(self, *names: str, day: int = 0) -> str:
        """Merge into what is checked out, always with a commit of its own; gives its id."""
        self.git("merge", "--quiet", "--no-ff", "--message", f"day {day}", *names, day=day)
        return self.git("rev-parse", "HEAD")

    def grow(self, ref: str, count: int, start: str, *, day: int = 0) -> str:
        """Let a ref go on by empty commits from a start, fast; gives the last one's id."""
        stamp = f"{_FIRST_SECOND + day * _DAY} +0100"
        lines = []
        for number in range(count):
            lines += [f"commit {ref}", f"committer Somebody <somebody@example.org> {stamp}"]
            text = f"{ref} {number}"
            lines += [f"data {len(text)}", text, *([] if number else [f"from {start}^0"])]
        self.git("fast-import", "--quiet", "--force", stdin="\n".join([*lines, "done", ""]))
        return self.git("rev-parse", ref)

    def count(self, revision: str = "HEAD") -> int:
        """How many commits the clone sees below a revision."""
        return int(self.git("rev-list", "--count", revision))

    @property
    def is_shallow(self) -> bool:
        return self.git("rev-parse", "--is-shallow-repository") == "true"


def create(path: Path, files: Mapping[str, str | None] | None = None) -> Repository:
    """A repository with one commit of the given files on its branch main."""
    path.mkdir(parents=True)
    repository = Repository(path)
    repository.git("init", "--quiet", "--template=", "--initial-branch=main")
    repository.commit(files)
    return repository


def check_out(origin: Repository, path: Path, ref: str, *, depth: int | None = 1) -> Repository:
    """Fetch one ref and check it out detached, as actions/checkout does; None is `fetch-depth: 0`.

    With a depth no other ref comes along; without one all branches do.
    """
    path.mkdir(parents=True)
    clone = Repository(path)
    clone.git("init", "--quiet", "--template=", "--initial-branch=main")
    clone.git("remote", "add", "origin", origin.path.as_uri())
    refs = [f"+{ref}:refs/remotes/checked-out"]
    if depth is None:
        refs.append("+refs/heads/*:refs/remotes/origin/*")
    how = [] if depth is None else [f"--depth={depth}"]
    clone.git("fetch", "--quiet", "--no-tags", *how, "origin", *refs)
    clone.git("checkout", "--quiet", "--detach", "refs/remotes/checked-out")
    return clone
