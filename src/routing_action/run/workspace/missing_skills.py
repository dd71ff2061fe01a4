"""Finds skills that the repository has, and this checkout has not: their files never arrived.

It reads the index and the working tree, and fetches nothing. The options that it names are those
of actions/checkout (`submodules`, `sparse-checkout`, `lfs`).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from routing_action.agents.provider import Provider
from routing_action.corpus.case import Case, Origin, expectations_for
from routing_action.corpus.naming import bare_name, fold
from routing_action.errors import HarnessError
from routing_action.files.plain_files import read_head
from routing_action.git.command import find_work_tree, run_git
from routing_action.run.workspace.staging import SKILL_FILE, StagedSkills
from routing_action.run.workspace.visible_files import shown, stays_inside

_GITLINK = "160000"
# The first line of a pointer file: the specification of Git LFS, "The Pointer".
_LFS_HEAD = b"version https://git-lfs.github.com/spec/"
_ADVICE = {
    "submodule": "run `git submodule update --init --recursive`; in a workflow check out with "
    "`submodules: recursive`",
    "sparse": "run `git sparse-checkout disable`; in a workflow add the folder to "
    "`sparse-checkout`, or check out without it",
    "lfs": "run `git lfs pull`; in a workflow check out with `lfs: true`",
    "link": "commit the skill itself, or stage it with --skills",
}


@dataclass(frozen=True, slots=True)
class MissingSkill:
    """A skill of which the checkout lacks the files; `name` is "" where a whole folder is gone.

    `why` is a sentence for people, with the option of the checkout that brings them.
    """

    path: str
    name: str
    why: str

    @property
    def is_broken_link(self) -> bool:
        """True where a link leads nowhere, whatever else is fetched."""
        return self.why.endswith(_ADVICE["link"])

    def __str__(self) -> str:
        """The path, and why nothing is there."""
        return f"{self.path}: {self.why}"


@dataclass(frozen=True, slots=True)
class _Checkout:
    """The working tree, with the git mode and the tag (`S`: not checked out) of what is tracked."""

    root: Path
    modes: Mapping[str, str]
    skipped: tuple[str, ...]

    def is_submodule(self, place: str) -> bool:
        return self.modes.get(place) == _GITLINK

    def is_skipped(self, place: str) -> bool:
        return any(path == place or path.startswith(f"{place}/") for path in self.skipped)


def find_missing_skills(repository: Path, folders: Iterable[str]) -> tuple[MissingSkill, ...]:
    """The skills of these skill folders that are tracked, or linked, and have no SKILL.md here.

    A skill that was deleted, and a folder that never was one, are not missing.
    """
    checkout = _read_checkout(repository.resolve())
    found = (one for name in dict.fromkeys(folders) for one in _in_folder(checkout, name))
    return tuple({one.path: one for one in found}.values())


def refuse_missing(
    case: Case, provider: Provider, staged: StagedSkills, missing: Sequence[MissingSkill]
) -> None:
    """Raise HarnessError where the case is about a skill that the checkout has not.

    Nothing is learned of it: neither its use nor its absence.
    """
    found = find_missing(case, provider, staged, missing)
    if found is not None:
        raise HarnessError(f"the skill {found[0]} is missing in this checkout: {found[1]}")


def find_missing(
    case: Case, provider: Provider, staged: StagedSkills, missing: Sequence[MissingSkill]
) -> tuple[str, MissingSkill] | None:
    """A skill that the case is about and the checkout has not, None where there is none.

    A folder of skills that is gone as a whole explains each skill that is offered nowhere.
    """
    expected = expectations_for(
        case, provider.name, drops_skill_files=provider.drops_skill_file_tokens
    )
    wanted = [one.names for one in expected.requirements if one.origin is not Origin.LEGACY]
    whole = (one.name for one in staged.skills if not _is_pointer(one.path / SKILL_FILE))
    here = set(map(fold, whole))
    for tokens in (*wanted, *expected.disallowed.values()):
        names = {fold(bare_name(token)) for token in tokens}
        gone = (one for one in missing if not one.name or fold(one.name) in names)
        found = next(gone, None) if names.isdisjoint(here) else None
        if found is not None:
            return tokens[0], found
    return None


def _read_checkout(root: Path) -> _Checkout:
    if not find_work_tree(root):
        return _Checkout(root, {}, ())
    modes: dict[str, str] = {}
    skipped: list[str] = []
    for entry in run_git(("ls-files", "-z", "-s", "-t"), root).split("\0"):
        about, _, path = entry.partition("\t")
        if path:
            tag, mode, *_ = about.split(" ")
            modes[path] = mode
            skipped += [path] if tag == "S" else []
    return _Checkout(root, modes, tuple(skipped))


def _in_folder(checkout: _Checkout, folder: str) -> Iterator[MissingSkill]:
    why = _why_gone(checkout, folder)
    if why:
        yield MissingSkill(shown(folder), "", why)
        return
    below = f"{folder}/"
    paths = (path.removeprefix(below) for path in checkout.modes if path.startswith(below))
    names = {path.partition("/")[0] for path in paths} | set(_names_in(checkout.root / folder))
    for name in sorted(names):
        why = _why_gone(checkout, f"{below}{name}/{SKILL_FILE}")
        if why:
            yield MissingSkill(shown(f"{below}{name}"), name, why)


def _names_in(folder: Path) -> list[str]:
    try:
        return [path.name for path in folder.iterdir()]
    except OSError:
        return []


def _why_gone(checkout: _Checkout, path: str) -> str:
    """Why nothing, or a pointer alone, is at a path; "" where it is there, or never was.

    Links are followed as an agent's copy would follow them: inside the repository.
    """
    root, places = checkout.root, _places(path)
    link = next((place for place in places if (root / place).is_symlink()), "")
    if not stays_inside(root, path):
        is_loop = os.path.islink(os.path.realpath(root / link))  # noqa: PTH114 - it may be broken
        return _leads(link, "back to itself" if is_loop else "out of the repository")
    real = Path(os.path.realpath(root / path))
    for place in _places(str(real.relative_to(root))):
        gone = _why_not_here(checkout, place, link)
        if gone is not None:
            return gone
    why = f"it is a pointer of Git LFS, not the file; {_ADVICE['lfs']}"
    return why if _is_pointer(real) else ""


def _places(path: str) -> list[str]:
    """A path, after the folders that it lies in."""
    return [str(one) for one in (*reversed(PurePosixPath(path).parents[:-1]), path)]


def _leads(link: str, where: str) -> str:
    return f"the link {shown(link)} leads {where}; {_ADVICE['link']}"


def _why_not_here(checkout: _Checkout, place: str, link: str) -> str | None:
    """Why a place of the tree has nothing in it; None where it has."""
    path = checkout.root / place
    through = f"the link {shown(link)} leads there; " if link else ""
    if checkout.is_submodule(place) and not _names_in(path):
        advice = _ADVICE["submodule"]
        return f"the submodule {shown(place)} is not checked out; {through}{advice}"
    if os.path.lexists(path):
        return None
    if checkout.is_skipped(place):
        return f"the sparse checkout leaves {shown(place)} out; {through}{_ADVICE['sparse']}"
    is_no_skill = place.endswith(f"/{SKILL_FILE}") and not link.endswith(SKILL_FILE)
    if link and not is_no_skill:
        return _leads(link, f"to {shown(place)}, which does not exist")
    return ""


def _is_pointer(path: Path) -> bool:
    """True for what Git LFS leaves in place of a file that it did not fetch."""
    return read_head(path, len(_LFS_HEAD)) == _LFS_HEAD
