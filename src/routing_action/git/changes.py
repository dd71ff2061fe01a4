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
_LINK, _SUBMODULE = "120000", "160000"
_MOST_LINKS_IN_A_ROW = 5
_MOST_LINKED_FILES = 50_000


class Entry(NamedTuple):
    """A file of a tree: its mode as git writes it, and the id of its content."""

    mode: str
    blob: str


Tree = Mapping[str, Entry]
"""The files of a commit by their paths, with `/`."""


def list_tree(repository: Path, commit: str) -> dict[str, Entry]:
    """Every file, link and submodule of a commit; HarnessError where it is not here."""
    top = require_work_tree(repository)
    found: dict[str, Entry] = {}
    for record in run_git(("ls-tree", "-r", "-z", "--full-tree", commit), top).split("\0"):
        head, _, path = record.partition("\t")
        if path:
            mode, _, blob = head.split()
            found[path] = Entry(mode, blob)
    return found


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
    top = require_work_tree(repository)
    wanted = sorted(set(blobs))
    if not wanted:
        return {}
    sizes, missing = _measure(top, wanted)
    remote = choose_remote(top) if missing else ""
    if remote:
        fetch(top, remote, missing, environ=environ)
        sizes, _ = _measure(top, wanted)
    small = [blob for blob in wanted if sizes.get(blob, most_bytes + 1) <= most_bytes]
    data = os.fsencode(run_git(("cat-file", "--batch"), top, stdin=_lines(small)))
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


def follow_links(
    tree: Tree, read: Callable[[Iterable[str]], Mapping[str, bytes]]
) -> dict[str, Entry]:
    """The tree with what its symbolic links lead to, at the paths that the links give it.

    A link to a file is that file, one to a folder has its files below it, one into a submodule is
    the submodule's commit. Links that leave the tree, or lead in a circle, stay what they are.
    """
    found = dict(tree)
    links = {path: entry.blob for path, entry in tree.items() if entry.mode == _LINK}
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
    if whole is not None and (target in found or whole.mode == _SUBMODULE):
        yield path, whole
    start = "" if target == "." else f"{target}/"
    if f"{path}/".startswith(start):
        return  # a folder that the link lies in itself
    at = bisect_left(known, start)
    while at < len(known) and known[at].startswith(start):
        yield f"{path}/{known[at].removeprefix(start)}", found[known[at]]
        at += 1


def uncommitted_paths(repository: Path, matters: Callable[[str], bool]) -> tuple[str, ...]:
    """The tracked files that are not as in HEAD, and the untracked ones that matter, sorted.

    Files that matter are compared by their bytes, whatever flags the index has. Ignored files are
    not listed. Empty without a repository or a commit; where git cannot tell, that is said.
    """
    top = find_work_tree(repository)
    if top is None or resolve(top, "HEAD") is None:
        return ()
    try:
        found = _list_uncommitted(top, matters)
    except HarnessError:
        return ("files that git cannot compare",)
    return tuple(sorted(map(readable, found)))


def _list_uncommitted(top: Path, matters: Callable[[str], bool]) -> set[str]:
    diff = ("diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv")
    edited = run_git((*diff, "--no-relative", "--ignore-submodules=dirty", "HEAD", "--"), top)
    others = run_git(("ls-files", "-z", "--others", "--exclude-standard"), top)
    found = {path for path in edited.split("\0") if path}
    found |= {path for path in others.split("\0") if path and matters(path)}
    return found | {
        path
        for path, entry in list_tree(top, "HEAD").items()
        if path not in found and matters(path) and not _is_as_committed(top / path, entry)
    }


def readable(path: str) -> str:
    """A path of any bytes as text that can be stored."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _is_as_committed(path: Path, entry: Entry) -> bool:
    if entry.mode == _SUBMODULE:
        return True
    try:
        is_link = path.is_symlink()
        data = os.fsencode(path.readlink()) if is_link else path.read_bytes()
    except OSError:
        return False
    # A checkout may have written other line ends.
    return is_link is (entry.mode == _LINK) and entry.blob in (
        _blob_id(data, len(entry.blob)),
        _blob_id(data.replace(b"\r\n", b"\n"), len(entry.blob)),
    )


def _blob_id(data: bytes, digits: int) -> str:
    """The id of a content: gitformat-pack(5) and the hash-function-transition document."""
    hashed = hashlib.sha256() if digits == 64 else hashlib.sha1(usedforsecurity=False)
    hashed.update(b"blob %d\0" % len(data) + data)
    return hashed.hexdigest()
