"""Cases against the skills they are about: names that no skill has, and broken SKILL.md files."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from routing_action.corpus.case import Case
from routing_action.corpus.case_warnings import Finding
from routing_action.corpus.cases_file import Corpus
from routing_action.corpus.naming import fold
from routing_action.corpus.skill_files import SkillFile, read_skill_file
from routing_action.run.workspace.staging import SKILL_FILE, find_skills

_PLUGIN_FILE = ".claude-plugin/plugin.json"


@dataclass(frozen=True, slots=True)
class SkillSet:
    """The skills below a path; `plugin` is the plugin's name, "" where there is none."""

    source: Path
    files: tuple[SkillFile, ...]
    plugin: str = ""


def read_skills(source: Path) -> SkillSet:
    """The skills that a path names, as `--skills` of `run` finds them; UsageError for none."""
    files = tuple(
        read_skill_file(skill.name, skill.path / SKILL_FILE) for skill in find_skills(source)
    )
    return SkillSet(source, files, _plugin_name(source))


def _plugin_name(source: Path) -> str:
    try:
        plugin = json.loads((source / _PLUGIN_FILE).read_bytes())
    except (OSError, ValueError, RecursionError):
        return ""
    name = plugin.get("name") if isinstance(plugin, dict) else None
    return name if isinstance(name, str) else ""


def check_skills(corpus: Corpus, skills: SkillSet) -> list[Finding]:
    """Unknown skills in the cases' order, then what is wrong with each skill's file."""
    known = {fold(name): name for skill in skills.files for name in (skill.folder, skill.name)}
    found = [
        Finding(case.case_id, corpus.lines[case.case_id], "unknown-skill", message)
        for case in corpus.cases
        for message in _unknown(case, known, skills)
    ]
    found += [
        Finding("", problem.line, problem.rule, problem.message, str(skill.path))
        for skill in skills.files
        for problem in skill.problems
    ]
    return found


def _unknown(case: Case, known: dict[str, str], skills: SkillSet) -> Iterator[str]:
    for name, tokens in (
        ("expected_skill", (case.expected_skill,)),
        ("required_skills", case.required_skills),
        ("optional_skills", case.optional_skills),
        ("disallowed_skills", case.disallowed_skills),
    ):
        for token in tokens:
            names = _names(token, case)
            if token and not any(_is_known(one, known, skills.plugin) for one in names):
                yield (
                    f"{case.case_id}: {name} names {token}, which is no skill of {skills.source}"
                    f"{_hint(token, known)}"
                )


def _names(token: str, case: Case) -> set[str]:
    """A token, and the other names that it goes by on some agent."""
    names = {token}
    for aliases in case.provider_aliases.values():
        for alias, canonical in aliases.items():
            if fold(token) in (fold(alias), fold(canonical)):
                names |= {alias, canonical}
    return names


def _is_known(token: str, known: dict[str, str], plugin: str) -> bool:
    """A qualified name needs its plugin too, where the skills are those of a plugin."""
    qualifier, _, bare = token.rpartition(":")
    if qualifier and plugin and fold(qualifier) != fold(plugin):
        return False
    return bool(bare) and fold(bare) in known


def _hint(token: str, known: dict[str, str]) -> str:
    close = difflib.get_close_matches(fold(token.rpartition(":")[2]), [one for one in known if one])
    return f"; did you mean {known[close[0]]}?" if close else ""
