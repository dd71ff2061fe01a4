"""Says which skill a line of evidence speaks of, and puts the line in that skill's own name.

The tier rules compare names; here every name that a skill goes by becomes the one of the token.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from routing_action.corpus.identity import SkillIndex
from routing_action.corpus.naming import (
    fold,
    is_file_token,
    is_skill_file,
    plugin_of,
    same_skill,
    skill_folder,
)
from routing_action.evidence.tiers import canonical_base, canonical_call
from routing_action.evidence.transcript import EvidenceLine, LineKind

_CALLS = (LineKind.LOAD, LineKind.ATTEMPT)


@dataclass(frozen=True, slots=True)
class Identity:
    """What a line speaks of: the title of a known skill, and the line's own names for it.

    Own names that another known skill bears are left out. `candidates` are the titles of the known
    skills among which it cannot be told.
    """

    title: str = ""
    own: tuple[str, ...] = ()
    candidates: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The one for people; "" where there is none."""
        return self.title or next(iter(self.own), "")


def speaks_of_a_skill(line: EvidenceLine) -> bool:
    """True for a call of a skill, and for a read of its file."""
    if line.kind in _CALLS:
        return bool(line.skill or line.path)
    return line.kind is LineKind.READ and is_skill_file(line.path)


def identify(line: EvidenceLine, skills: SkillIndex) -> Identity:
    """Resolve a line; what lies at its path decides, whatever the call said."""
    own = _linked_names(line)
    is_other = line.kind is LineKind.LOAD and skills.is_elsewhere(line.path)
    found = skills.at(line.path, line.plugin) if line.path and not is_other else ()
    if not found and not line.path:
        found = skills.named(line.skill)
    titles = tuple(one.title for one in found)
    if len(titles) > 1:
        return Identity(candidates=titles)
    own = tuple(name for name in own if skills.titles(name) in ((), titles))
    return Identity("".join(titles), own)


def _linked_names(line: EvidenceLine) -> tuple[str, ...]:
    """The names that the line itself links: call, folder with its plugin, frontmatter.

    A qualified call is not believed where the folder lies in another plugin, or in none.
    """
    folder = (skill_folder(line.path) or ("",))[-1]
    plugin = line.plugin or plugin_of(line.path)
    at = f"{plugin}:{folder}" if plugin and folder else folder
    called = line.skill
    qualifier = called.rpartition(":")[0]
    if line.path and qualifier and (plugin or _lies_in_no_plugin(line.path)):
        called = called if fold(qualifier) == fold(plugin) else ""
    return tuple(dict.fromkeys(name for name in (called, at, line.declared) if name))


def _lies_in_no_plugin(path: str) -> bool:
    """True for a skill of a home or a repository, such as `.claude/skills/NAME`."""
    above = skill_folder(path)[-3:-1]
    return len(above) == 2 and above[0].startswith(".") and fold(above[1]) == "skills"


def line_for(
    line: EvidenceLine, identity: Identity, token: str, skills: SkillIndex
) -> EvidenceLine | None:
    """The line under the name that the token uses for the skill; None where it is of another one.

    A file token other than a SKILL.md takes every line as it is.
    """
    is_file = is_skill_file(token)
    if is_file_token(token) and not is_file:
        return line
    wanted = (skill_folder(token) or ("",))[-1] if is_file else token
    titles = skills.titles(token)
    if len(titles) > 1 or (titles and identity.title and titles != (identity.title,)):
        return None
    # A file's folder says nothing about the plugin.
    own = (name.rpartition(":")[2] if is_file else name for name in identity.own)
    fits = titles == (identity.title,)
    # Where all skills are known, a call that fits none of them is of another one.
    if not (titles and skills.is_whole and line.kind in _CALLS):
        fits = fits or any(same_skill(name, wanted) for name in own)
    return _renamed(line, wanted) if fits else None


def undecided(identity: Identity, token: str, skills: SkillIndex) -> tuple[str, ...]:
    """The skills between which the line and the token leave it open; empty where they do not."""
    titles = skills.titles(token)
    if len(titles) > 1 and not set(titles).isdisjoint((identity.title, *identity.candidates)):
        return titles
    return () if set(titles).isdisjoint(identity.candidates) else identity.candidates


def _renamed(line: EvidenceLine, name: str) -> EvidenceLine:
    """The same fact with another name of the same skill in its call and its path."""
    plugin, _, bare = name.rpartition(":")
    path = line.path
    if path:
        ending = path[len(path.rstrip("/\\")) :] if not is_skill_file(path) else "/SKILL.md"
        lead = "/" if path[:1] in ("/", "\\") else ""
        parts = (*skill_folder(path)[:-1], bare)
        path = f"{lead}{'/'.join(parts)}{ending}"
        if plugin and fold(plugin_of(path)) != fold(plugin):
            path = f"/{plugin}/skills/{bare}{ending}"
    if line.kind is LineKind.READ:
        return replace(line, path=path)
    text = canonical_base(path) if line.text.startswith("Base directory") else canonical_call(name)
    return replace(line, text=text, skill=name, path=path)
