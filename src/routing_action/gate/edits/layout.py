"""Refuses a change whose folders have another case file or baseline decide than the base's do."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from routing_action.errors import DocumentError, HarnessError
from routing_action.gate.edits.find import path_in
from routing_action.gate.histories import History
from routing_action.git.base_commit import BaseCommit
from routing_action.git.changes import LINK, Tree
from routing_action.git.command import find_work_tree

_MOST_LINKS = 40


@dataclass(frozen=True, slots=True)
class UsedFile:
    """A file that is used: the option that names it, and the places where it is found unnamed.

    `defaults` are empty where it was named; the first one that is there counts.
    """

    path: Path
    option: str
    defaults: Sequence[str] = ()


def check_layout(
    commit: BaseCommit, root: Path, files: Sequence[UsedFile], history: History
) -> None:
    """DocumentError where a link or a removed default leads to another file than at the commit."""
    top = find_work_tree(root)
    if top is None:
        return
    for sha in (commit.sha, *commit.others):
        try:
            tree = history.list_tree(sha)
            texts = history.read_blobs(one.blob for one in tree.values() if one.mode == LINK)
        except HarnessError:  # GitHub's API lists no files, and follows no link
            return
        for file in files:
            _Layout(top, root, sha, tree, texts.get).check(file)


@dataclass(frozen=True, slots=True)
class _Layout:
    """The folders of a commit, and those that are here."""

    top: Path
    root: Path
    sha: str
    tree: Tree
    read: Callable[[str], bytes | None]

    def check(self, file: UsedFile) -> None:
        """Both reasons; a file that the commit did not have is compared with nothing."""
        name = path_in(self.top, self.root / file.path) or ""
        before, old = _follow(name, self._target_then)
        if before not in self.tree:
            return
        now, new = _follow(name, self._target_now)
        remedy = f"name the file: --{file.option} {{0}} (in the action: `{file.option}: {{0}}`)"
        if now != before:
            link = next(one for one in (*old, *new) if old.get(one) != new.get(one))
            raise DocumentError(
                f"the folder {link} {_lead(new.get(link))}, but at commit {self.sha[:12]} "
                f"it {_lead(old.get(link))}",
                file=name,
                remedy=f"put it back, or {remedy.format(before)}",
            )
        for default in file.defaults:
            place = path_in(self.top, self.root / default) or ""
            if place == name:
                break
            had = _follow(place, self._target_then)[0] in self.tree
            if had and not (self.root / default).is_file():
                raise DocumentError(
                    f"is used only because {place} is gone, which came first at commit "
                    f"{self.sha[:12]}",
                    file=name,
                    remedy=f"put {place} back, or {remedy.format(name)}",
                )

    def _target_then(self, path: str) -> str | None:
        one = self.tree.get(path)
        return os.fsdecode(self.read(one.blob) or b"") if one and one.mode == LINK else None

    def _target_now(self, path: str) -> str | None:
        place = self.top / path
        return str(place.readlink()) if place.is_symlink() else None


def _lead(target: str | None) -> str:
    return "is no link" if target is None else f"leads to {target}"


def _follow(path: str, target: Callable[[str], str | None]) -> tuple[str, dict[str, str]]:
    """Where a path leads by the links to folders on its way, and these links with their targets."""
    links: dict[str, str] = {}
    for _ in range(_MOST_LINKS):
        folders = [str(one) for one in reversed(PurePosixPath(path).parents)]
        link = next((one for one in folders if one != "." and target(one) is not None), None)
        if link is None:
            break
        links[link] = target(link) or ""
        rest = PurePosixPath(path).relative_to(link)
        path = posixpath.normpath(posixpath.join(posixpath.dirname(link), links[link], str(rest)))
    return path, links
