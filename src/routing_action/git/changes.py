"""What two commits hold, and what a working tree holds beside its commit, from git's own objects.

No filter, attribute, index flag or replacement acts on what is read here. It changes nothing.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from routing_action.errors import HarnessError
from routing_action.git.command import find_work_tree, require_work_tree, resolve, run_git
from routing_action.git.fetch import choose_remote, fetch

MAX_BLOB_BYTES = 256 * 2**10
PARTIAL_CLONE = "check out without a `filter`, or fetch the missing files with `git fetch`"
LINK, SUBMODULE = "120000", "160000"
_DIFF = (
    *("diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv"),
    *("--no-relative", "--ignore-submodules=dirty", "--"),
)
_MOST_LINKS_IN_A_ROW = 5
_MOST_LINKED_FILES = 50_000


class Entry(NamedTuple):
    """A file of a tree: its mode as git writes it, and the id of its content."""

    mode: str
    blob: str


Tree = Mapping[str, Entry]
"""The files of a commit by their paths, with `/`."""

Read = Callable[[Iterable[str]], Mapping[str, bytes]]
"""Gives contents by their ids, but of those that are too large or unknown."""


def list_tree(repository: Path, commit: str) -> dict[str, Entry]:
    """Every file, link and submodule of a commit; HarnessError where it is not here."""
    return _parse(run_git(("ls-tree", "-r", "-z", "--full-tree", commit), repository), 2)


def _parse(listing: str, place: int) -> dict[str, Entry]:
    """Entries by path; `place` is that of the id among an entry's words."""
    records = (record.partition("\t") for record in listing.split("\0"))
    return {path: Entry(head.split()[0], head.split()[place]) for head, _, path in records if path}


def list_worktree(
    repository: Path, matters: Callable[[str], bool]
) -> tuple[dict[str, Entry], dict[str, bytes]]:
    """The files as they are here, and by their ids the contents that are not in the index.

    It is the index, with what differs from it and with untracked files that are not ignored. Files
    that matter are compared by their bytes, whatever flags the index has; of the untracked ones
    these alone are read.
    """
    top = require_work_tree(repository)
    found = _parse(run_git(("ls-files", "-s", "-z"), top), 1)
    contents: dict[str, bytes] = {}
    others = run_git(("ls-files", "-z", "--others", "--exclude-standard"), top).split("\0")
    edited = {*run_git(_DIFF, top).split("\0"), *others} - {""}
    edited |= {
        path
        for path, entry in found.items()
        if path not in edited and matters(path) and not _is_as_committed(top / path, entry)
    }
    for path in edited:
        looked = _look(top / path, is_read=path in found or matters(path))
        before = found.pop(path, None)
        if before is not None and before.mode == SUBMODULE and looked is None:
            found[path] = before  # its files are not looked at, so they need not be here
        elif looked is not None:
            # A repository inside this one ends with a slash.
            found[path.rstrip("/")], contents[looked[0].blob] = looked
    return found, contents


def _look(path: Path, *, is_read: bool) -> tuple[Entry, bytes] | None:
    """A file here as an entry, and its content; None where it is none."""
    data = b""
    try:
        if path.is_symlink():
            mode, data = LINK, os.fsencode(path.readlink())
        elif path.is_file():
            mode = "100755" if os.access(path, os.X_OK) else "100644"
            data = path.read_bytes() if is_read else b""
        else:
            return (Entry(SUBMODULE, ""), b"") if path.is_dir() else None
    except OSError:  # it cannot be read: no content is like it
        return Entry(LINK, ""), b""
    return Entry(mode, _blob_id(data, 40) if is_read else ""), data


def read_blobs(
    repository: Path,
    blobs: Iterable[str],
    most_bytes: int = MAX_BLOB_BYTES,
    *,
    environ: Mapping[str, str],
) -> dict[str, bytes]:
    """The contents by their ids, without those of more than `most_bytes`, and submodules.

    What a partial clone lacks is fetched.
    """
    wanted = sorted(set(blobs))
    if not wanted:
        return {}
    try:
        sizes, missing = _measure(repository, wanted)
    except HarnessError as error:  # some versions end at the first one that a partial clone lacks
        if not choose_remote(repository):
            error.remedy = PARTIAL_CLONE
            raise
        sizes, missing = {}, wanted
    remote = choose_remote(repository) if missing else ""
    if remote:
        fetch(repository, remote, missing, environ=environ)
        sizes, _ = _measure(repository, wanted)
    small = [blob for blob in wanted if sizes.get(blob, most_bytes + 1) <= most_bytes]
    data = os.fsencode(run_git(("cat-file", "--batch"), repository, stdin=_lines(small)))
    found: dict[str, bytes] = {}
    at = 0
    for blob in small:
        start = data.index(b"\n", at) + 1
        at = start + sizes[blob] + 1
        found[blob] = data[start : at - 1]
    return found


def _measure(top: Path, blobs: list[str]) -> tuple[dict[str, int], list[str]]:
    """The size of each blob in bytes, and those that are not here."""
    lines = run_git(("cat-file", "--batch-check"), top, stdin=_lines(blobs)).splitlines()
    words = [line.split() for line in lines]
    sizes = {one[0]: int(one[2]) for one in words if len(one) == 3 and one[1] == "blob"}
    return sizes, [one[0] for one in words if one[-1] == "missing"]


def _lines(blobs: list[str]) -> str:
    return "".join(f"{blob}\n" for blob in blobs)


def follow_links(tree: Tree, read: Read) -> dict[str, Entry]:
    """The tree with what its symbolic links lead to, at the paths that the links give it.

    A link to a file is that file, one to a folder has its files below it, one into a submodule is
    the submodule's commit. Links that leave the tree, or lead in a circle, stay what they are.
    """
    found = dict(tree)
    links = {path: entry.blob for path, entry in tree.items() if entry.mode == LINK}
    texts = read(links.values()) if links else {}
    targets = {
        path: posixpath.normpath(
            posixpath.join(posixpath.dirname(path), os.fsdecode(texts.get(blob, b"")))
        )
        for path, blob in links.items()
    }
    for _ in range(_MOST_LINKS_IN_A_ROW if links else 0):
        known = sorted(found)
        added = {
            name: entry
            for path, target in targets.items()
            for name, entry in _linked(path, target, found, known)
            if found.get(name) != entry
        }
        found |= added
        if not added or len(found) > len(tree) + _MOST_LINKED_FILES:
            break
    return found


def _linked(path: str, target: str, found: Tree, known: list[str]) -> Iterator[tuple[str, Entry]]:
    """What a link gives, in a tree whose paths are sorted."""
    above = [target, *map(str, Path(target).parents)]
    whole = next((found[one] for one in above if one in found), None)
    if whole is not None and (target in found or whole.mode == SUBMODULE):
        yield path, whole
    start = "" if target == "." else f"{target}/"
    if f"{path}/".startswith(start):
        return  # a folder that the link lies in itself
    at = bisect_left(known, start)
    while at < len(known) and known[at].startswith(start):
        yield f"{path}/{known[at].removeprefix(start)}", found[known[at]]
        at += 1


def uncommitted_paths(repository: Path, matters: Callable[[str], bool]) -> tuple[str, ...]:
    """The files that are not here as in HEAD, sorted; of the untracked ones those that matter.

    Empty without a repository or a commit; where git cannot tell, that is said.
    """
    top = find_work_tree(repository)
    if top is None or resolve(top, "HEAD") is None:
        return ()
    try:
        committed, (here, _) = list_tree(top, "HEAD"), list_worktree(top, matters)
    except HarnessError:
        return ("files that git cannot compare",)
    return tuple(
        sorted(
            readable(path)
            for path in here.keys() | committed.keys()
            if here.get(path) != committed.get(path) and (path in committed or matters(path))
        )
    )


def readable(path: str) -> str:
    """A path of any bytes as text that can be stored."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _is_as_committed(path: Path, entry: Entry) -> bool:
    if entry.mode == SUBMODULE:
        return True
    try:
        is_link = path.is_symlink()
        data = os.fsencode(path.readlink()) if is_link else path.read_bytes()
    except OSError:
        return False
    # A checkout may have written other line ends.
    return is_link is (entry.mode == LINK) and entry.blob in (
        _blob_id(data, len(entry.blob)),
        _blob_id(data.replace(b"\r\n", b"\n"), len(entry.blob)),
    )


def _blob_id(data: bytes, digits: int) -> str:
    """The id of a content: gitformat-pack(5) and the hash-function-transition document."""
    hashed = hashlib.sha256() if digits == 64 else hashlib.sha1(usedforsecurity=False)
    hashed.update(b"blob %d\0" % len(data) + data)
    return hashed.hexdigest()
