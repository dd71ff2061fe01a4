"""Finds the commit that a pull request is compared with, and reads files as they were at it.

It changes neither the working tree nor the index nor a branch; what a shallow clone lacks is
fetched.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from routing_action.errors import DocumentError, HarnessError, UsageError
from routing_action.git.changes import (
    LINK,
    PARTIAL_CLONE,
    SUBMODULE,
    Tree,
    list_tree,
    read_blobs,
)
from routing_action.git.command import find_work_tree, require_work_tree, resolve, run_git
from routing_action.git.merge_base import find_commit, find_merge_bases, read_dates


@dataclass(frozen=True, slots=True)
class BaseCommit:
    """A commit to compare with: its full id and its committer date (ISO 8601 with zone).

    `how` says in words how it was found, for the report: `merge base of origin/main and HEAD`.
    `others` are the further merge bases of a criss-cross history.
    """

    sha: str
    date: str
    how: str
    others: tuple[str, ...] = ()


def find_merge_base(repository: Path, ref: str, *, environ: Mapping[str, str]) -> BaseCommit:
    """What `git merge-base REF HEAD` gives for the tree under test.

    That is the base's tip where GitHub's merge commit is checked out, the fork point where the
    pull request's head is. Of several (criss-cross merges) the youngest by committer date is
    named, of equally old ones that with the lowest id, with the rest as `others`: dates can be
    forged, so whoever judges has to look at all of them. Raises
    HarnessError where there is no repository, no commit or no common history; else as
    `find_commit` and `find_merge_bases` do, which fetch what this clone lacks.
    """
    top = require_work_tree(repository)
    head = resolve(top, "HEAD")
    if head is None:
        raise HarnessError(
            f"the repository at {top} has no commit checked out",
            remedy="commit something, or check out a commit that exists",
        )
    base = find_commit(top, ref, environ)
    bases = find_merge_bases(top, base, head, environ)
    if not bases:
        raise HarnessError(
            f"{base.name} and HEAD have no commit in common",
            remedy="name the branch that the pull request is to be merged into",
        )
    dates = zip(read_dates(top, bases), bases, strict=True)
    (_, date), sha = min(dates, key=lambda dated: (-dated[0][0], dated[1]))
    others = tuple(one for one in bases if one != sha)
    several = f", the youngest of {len(bases)}, of which the strictest counts" if others else ""
    return BaseCommit(sha, date, f"merge base of {base} and HEAD{several}", others)


def resolve_commit(repository: Path, ref: str, *, environ: Mapping[str, str]) -> BaseCommit:
    """The commit that REF names; raises as `find_commit`, HarnessError without a repository."""
    top = require_work_tree(repository)
    found = find_commit(top, ref, environ)
    (date,) = read_dates(top, (found.sha,))
    return BaseCommit(found.sha, date[1], f"commit that {found} names")


def read_file_at(
    commit: BaseCommit, path: Path, *, environ: Mapping[str, str] | None = None
) -> bytes | None:
    """The bytes of a file of the working tree as it was at the commit; None: it was not there.

    The path may be relative to the current folder, and its folder may be gone. What a
    partial clone (`filter: blob:none`) lacks is fetched. Raises
    DocumentError for what was no file of this repository at the commit: a folder, a symbolic
    link (also on the way there), anything in a submodule; HarnessError where the path is in no
    repository, or in one without the commit.
    """
    top, name = _locate(path, commit)
    blob = _find_blob(list_tree(top, commit.sha), name, commit, path)
    if blob is None:
        return None
    found = read_blobs(
        top, (blob,), sys.maxsize, environ=os.environ if environ is None else environ
    )
    if blob not in found:
        raise HarnessError(
            f"{name} is not in this clone as it was at {commit.sha[:12]}",
            remedy=PARTIAL_CLONE,
        )
    return found[blob]


def is_edited(path: Path, before: bytes | None) -> bool:
    """True where a file's bytes are not what `read_file_at` gave for it.

    A file that is gone or has come was edited, and so was one that is no regular file now.
    Raises HarnessError where it cannot be read.
    """
    try:
        return not stat.S_ISREG(path.lstat().st_mode) or path.read_bytes() != before
    except (FileNotFoundError, NotADirectoryError):
        return before is not None
    except OSError as error:
        raise HarnessError(
            f"{path} could not be read: {error.strerror}", remedy="make the file readable"
        ) from error


# --- files ------------------------------------------------------------------------------------


def _locate(path: Path, commit: BaseCommit) -> tuple[Path, str]:
    """The top of the work tree whose history holds the commit, and the path from there.

    A submodule has a history of its own, so the search goes on in the repository around it.
    """
    place, folder = _absolute(path)
    top = find_work_tree(folder)
    if top is None or not place.is_relative_to(top):
        raise HarnessError(
            f"{path} is no file of a git repository's working tree",
            remedy="name a file of the repository whose pull request is judged",
        )
    while resolve(top, commit.sha) is None:
        around = run_git(("rev-parse", "--show-superproject-working-tree"), top)
        if not around:
            raise HarnessError(
                f"the repository at {top}, which {path} is in, does not have commit {commit.sha}",
                remedy="name a file of the repository whose pull request is judged",
            )
        top = Path(around.removesuffix("\n"))
    return top, place.relative_to(top).as_posix()


def _absolute(path: Path) -> tuple[Path, Path]:
    """Where the file is or was, links on the way there resolved, and its nearest folder now."""
    if "\0" in str(path):
        raise UsageError("a path holds a NUL character", remedy="name a path that can exist")
    try:
        is_named = path.name not in {"", ".."}
        place = path.parent.resolve() / path.name if is_named else path.resolve()
        return place, next(folder for folder in place.parents if folder.is_dir())
    except (OSError, RuntimeError) as error:
        raise HarnessError(
            f"{path} could not be looked up: {error}", remedy="repair the links or rights there"
        ) from error


def _find_blob(tree: Tree, name: str, commit: BaseCommit, path: Path) -> str | None:
    """The id of the file's content at the commit; None where it was not there."""
    problem = "it was a folder" if any(one.startswith(f"{name}/") for one in tree) else ""
    for each in (name, *map(str, PurePosixPath(name).parents)):
        mode = tree[each].mode if each in tree else ""
        if mode == LINK:
            problem = f"{each} was a symbolic link, which is not followed"
        if mode == SUBMODULE:
            problem = f"{each} was a submodule, which has its own history"
    if problem:
        raise DocumentError(
            f"at commit {commit.sha[:12]} {problem}",
            file=str(path),
            remedy="name a regular file of the repository itself",
        )
    return tree[name].blob if name in tree else None
