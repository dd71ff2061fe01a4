"""Puts the skills under test where a provider looks for them, and says what it should offer.

It decides nothing about how a skill is loaded, and copies only what the caller named.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from routing_action.agents.provider import Provider
from routing_action.errors import DocumentError, HarnessError, UsageError
from routing_action.files.documents import read_text
from routing_action.files.json_text import JsonText
from routing_action.files.nearest import find_nearest
from routing_action.files.removal import remove_tree
from routing_action.results.notes import FINDS_NO_SKILL
from routing_action.run.workspace.answer_keys import AnswerKeys
from routing_action.run.workspace.visible_files import copy_tree, read_folder, shown

SKILL_FILE = "SKILL.md"
_PLUGIN_FILE = ".claude-plugin/plugin.json"
_MAX_PLUGIN_BYTES = 2**20
_HEAD_BYTES = 8192


@dataclass(frozen=True, slots=True)
class Skill:
    """A folder with a SKILL.md, which bears the skill's name."""

    name: str
    path: Path


@dataclass(frozen=True, slots=True)
class StagedSkills:
    """What a provider finds in a workspace.

    `skills` are in the order of the provider's folders, then by name. `roots` are absolute
    folders, as they are named and with links resolved, for ReadContext.skills_roots. `notes`
    tell people why there may be none.
    """

    skills: tuple[Skill, ...] = ()
    roots: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The folder names of the skills that the provider should offer, each once."""
        return tuple(dict.fromkeys(skill.name for skill in self.skills))


_SKILLS_REMEDY = "name a skill's folder, a folder of skills, or a plugin's folder"


def find_skills(source: Path) -> tuple[Skill, ...]:
    """The skills that `--skills PATH` names, by name.

    PATH is one skill (it holds SKILL.md), a folder of skills, or a plugin (it holds
    `.claude-plugin/plugin.json`; its `skills/` and what the file's `skills` field adds). Raises
    UsageError where no skill is there, DocumentError where the plugin's file is malformed.
    """
    is_plugin = _is_file(source / _PLUGIN_FILE) and not _is_file(source / SKILL_FILE)
    skills = skills_of_plugin(source) if is_plugin else skills_in(source)
    found = {skill.name: skill for skill in skills}
    if not found and not source.exists():
        beside = source.parent
        names = [one.name for one in beside.iterdir() if one.is_dir()] if beside.is_dir() else []
        near = find_nearest(source.name, names)
        raise UsageError(
            f"--skills {source}: there is no such folder",
            remedy=f"did you mean {beside / near}?" if near else _SKILLS_REMEDY,
        )
    if not found:
        raise UsageError(
            f"--skills {source} holds no skill: neither it nor a folder right below it has a "
            f"{SKILL_FILE}",
            remedy=_SKILLS_REMEDY,
        )
    return tuple(found[name] for name in sorted(found))


def plugin_name(source: Path) -> str:
    """The name of the plugin that a folder is, "" where it is none."""
    try:
        plugin = json.loads((source / _PLUGIN_FILE).read_bytes())
    except (OSError, ValueError, RecursionError):
        return ""
    name = plugin.get("name") if isinstance(plugin, dict) else None
    return name if isinstance(name, str) else ""


def stage_skills(
    workspace: Path, provider: Provider, skills: Sequence[Skill], keys: AnswerKeys
) -> tuple[str, ...]:
    """Copy skills into the provider's first skill folder of a workspace; give notes for people.

    Skills of the same name that the workspace had, in any of the provider's folders, are removed,
    so that the agent cannot load another copy; its other skills stay. Answer keys, caches, `.git`
    and links that leave a skill's folder are not copied. Raises HarnessError where the workspace
    cannot be written, UsageError where the provider has no skill folder.
    """
    if not provider.skill_folders:
        raise UsageError(
            f"{provider.name} has no skill folder, so --skills cannot be staged for it",
            remedy="give the provider a skill folder, or run it without --skills",
        )
    notes: list[str] = []
    try:
        for skill in skills:
            notes += _make_room(workspace, provider.skill_folders, skill)
        target = _make_folder(workspace, provider.skill_folders[0])
        for skill in skills:
            (target / skill.name).mkdir()
            tree = read_folder(skill.path.resolve(), keys)
            notes += (*tree.notes, *copy_tree(tree, target / skill.name))
    except OSError as error:
        raise HarnessError(
            f"the skills could not be staged in {workspace}: {error.strerror or error}",
            remedy="free space in the temporary folder, or set TMPDIR to another one",
        ) from error
    return tuple(notes)


def staged_skills(
    workspace: Path, provider: Provider, known_folders: Iterable[str] = ()
) -> StagedSkills:
    """The skills that the provider should offer in this workspace, and where they lie.

    `known_folders` are the skill folders of all providers: where this provider has none of its
    own, a note says which of them hold skills. Nothing is copied.
    """
    found: list[Skill] = []
    roots: dict[str, None] = {}
    for folder in provider.skill_folders:
        path = workspace / folder
        skills = skills_in(path)
        if not skills:
            continue
        found += skills
        real = [str(skill.path.resolve().parent) for skill in skills]  # it may be a link
        roots.update(dict.fromkeys((str(path), str(path.resolve()), *real)))
    notes = () if found else _elsewhere(workspace, provider, known_folders)
    return StagedSkills(tuple(found), tuple(roots), notes)


def _elsewhere(
    workspace: Path, provider: Provider, known_folders: Iterable[str]
) -> tuple[str, ...]:
    other = [
        folder
        for folder in dict.fromkeys(known_folders)
        if folder not in provider.skill_folders and skills_in(workspace / folder)
    ]
    if not other:
        return ()
    own = " or ".join(provider.skill_folders) or "nowhere"
    note = (
        f"{provider.name} {FINDS_NO_SKILL}: it looks in {own}, and the repository's skills are in "
        f"{', '.join(other)}; name that folder with --skills to stage it"
    )
    return (note,)


def skills_of_plugin(source: Path) -> list[Skill]:
    """The skills of a plugin's folder; DocumentError where its file is malformed."""
    return [skill for folder in _plugin_folders(source) for skill in skills_in(folder)]


def _plugin_folders(source: Path) -> tuple[Path, ...]:
    """The skill folders of a plugin, inside the plugin; a listed folder may be a skill itself."""
    file = source / _PLUGIN_FILE
    plugin = JsonText(str(file), read_text(file, _MAX_PLUGIN_BYTES)).decode()
    listed = plugin.get("skills", []) if isinstance(plugin, dict) else []
    extra = [listed] if isinstance(listed, str) else listed
    if not isinstance(extra, list) or not all(_is_inside(source, path) for path in extra):
        raise DocumentError(
            "must be a path, or a list of paths, inside the plugin",
            file=str(file),
            field="skills",
            remedy='write paths such as "./skills"',
        )
    return (source / "skills", *(source / path for path in extra))


def _is_inside(source: Path, path: object) -> bool:
    return isinstance(path, str) and (source / path).resolve().is_relative_to(source.resolve())


def skills_in(folder: Path) -> list[Skill]:
    """The skills right below a folder, or the folder itself where it is one; by name."""
    if _is_file(folder / SKILL_FILE):
        return [Skill(folder.name or folder.resolve().name, folder)]
    try:
        names = sorted(path.name for path in folder.iterdir())
    except OSError:
        return []
    return [Skill(name, folder / name) for name in names if _is_file(folder / name / SKILL_FILE)]


def _is_file(path: Path) -> bool:
    """True for a file, or a link to one; False where that cannot be told."""
    return os.path.isfile(path)  # noqa: PTH113 - Path.is_file raises in a closed folder


def _head_of(folder: Path) -> bytes:
    """How a skill's file begins; nothing where it cannot be read."""
    try:
        with (folder / SKILL_FILE).open("rb") as file:
            return file.read(_HEAD_BYTES)
    except OSError:
        return b""


def _make_room(workspace: Path, folders: Iterable[str], skill: Skill) -> list[str]:
    """Remove the workspace's own skills of that name, so that one copy stands there."""
    notes: list[str] = []
    for folder in folders:
        path = workspace / folder / skill.name
        if not (path.is_symlink() or path.exists()):
            continue
        is_the_same = _head_of(path) == _head_of(skill.path)
        failures = remove_tree(path)
        if failures:
            raise HarnessError(
                f"{path} could not be replaced by the staged skill: {failures[0]}",
                remedy="rename the staged skill, or remove the repository's own of that name",
            )
        if not is_the_same:
            place = shown(f"{folder}/{skill.name}")
            notes.append(f"{place} was replaced by the staged skill")
    return notes


def _make_folder(workspace: Path, folder: str) -> Path:
    """A folder of the workspace; a file or a link to nothing on the way there makes room."""
    path = workspace
    for part in folder.split("/"):
        path /= part
        if not path.is_dir():
            path.unlink(missing_ok=True)
            path.mkdir()
    return path
