"""Lists what differs between a commit and the index or the working tree; it changes nothing."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from routing_action.git.command import require_work_tree, run_git

_FILES = frozenset({"000000", "100644", "100755"})
_LINK = "120000"
_DIFF = ("diff", "--raw", "-z", "--no-renames", "--no-ext-diff", "--no-relative")


def list_changes(repository: Path, commits: Iterable[str]) -> dict[str, bool]:
    """Each path that differs from one of the commits; True where it only ever was a regular file.

    Paths are relative to the repository's top, with `/`, sorted. Untracked files count unless
    ignored. A deleted file and both names of a renamed one are listed. A submodule is listed where
    another commit of it is checked out; its files are not. Raises HarnessError as git does.
    """
    top = require_work_tree(repository)
    found: dict[str, bool] = {}
    for sha in commits:
        for staged in ((), ("--cached",)):
            args = (*_DIFF, "--ignore-submodules=dirty", *staged, sha, "--")
            fields = iter(run_git(args, top).split("\0"))
            for head, path in zip(fields, fields, strict=False):
                is_file = _FILES.issuperset(head.removeprefix(":").split(" ")[:2])
                found[path] = is_file and found.get(path, True)
    others = run_git(("ls-files", "-z", "--others", "--exclude-standard"), top)
    for path in filter(None, others.split("\0")):
        # A repository inside this one ends with a slash, and is none of our files.
        is_file = not path.endswith("/") and not (top / path).is_symlink()
        found[path.rstrip("/")] = is_file
    return dict(sorted(found.items()))


def list_tracked(repository: Path) -> tuple[str, ...]:
    """The paths in the index, relative to the repository's top."""
    listing = run_git(("ls-files", "-z"), require_work_tree(repository))
    return tuple(filter(None, listing.split("\0")))


def find_links(repository: Path) -> Iterator[tuple[str, str]]:
    """The tracked symbolic links that lead into the work tree, each with the path it leads to."""
    top = require_work_tree(repository)
    real = Path(os.path.realpath(top))
    for entry in run_git(("ls-files", "-s", "-z"), top).split("\0"):
        head, _, path = entry.partition("\t")
        if head.startswith(_LINK):
            target = Path(os.path.realpath(top / path))
            if target != real and target.is_relative_to(real):
                yield path, target.relative_to(real).as_posix()
