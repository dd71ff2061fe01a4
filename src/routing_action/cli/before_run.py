"""Looks at what a paid run rests on before it begins; it starts and writes nothing.

A merge conflict, a broken link and a misspelt skill would be seen only when the run was paid for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from difflib import SequenceMatcher
from pathlib import Path

from routing_action.agents.discovery import all_providers
from routing_action.agents.provider import Provider
from routing_action.corpus.case import Case
from routing_action.corpus.identity import SkillIndex
from routing_action.corpus.naming import fold, is_skill_file
from routing_action.corpus.skill_files import (
    CONFLICT,
    SkillFile,
    index_skills,
    read_skill_file,
)
from routing_action.errors import DocumentError
from routing_action.files.nearest import find_nearest
from routing_action.files.program import own_program
from routing_action.gate.baselines import DEFAULT_BASELINE_FILES, read_baseline
from routing_action.results.batch_folder import one_line
from routing_action.run.plan import Plan
from routing_action.run.settings import RunSettings, agent_templates
from routing_action.run.workspace.missing_skills import MissingSkill, find_missing
from routing_action.run.workspace.staging import (
    SKILL_FILE,
    Skill,
    StagedSkills,
    find_skills,
    plugin_name,
    skills_in,
)

Missing = Mapping[str, Sequence[MissingSkill]]
"""By agent, the skills that this checkout has not."""


def check_before_paying(plan: Plan, settings: RunSettings, missing: Missing) -> tuple[str, ...]:
    """What to know of the cases before the run; DocumentError where it must not begin."""
    _read_baseline(Path(plan.corpus.file).parent)
    source = settings.workspaces.skills
    own = find_skills(source) if source else ()
    skills = list(own)
    for name, provider in plan.providers.items():
        broken = [one for one in missing.get(name, ()) if one.is_broken_link]
        here = _skills_of(settings.root, provider, broken)
        _refuse_broken_links(plan, provider, StagedSkills((*here, *own)), broken)
        skills += here
    files = [read_skill_file(one.name, one.path / SKILL_FILE) for one in dict.fromkeys(skills)]
    _refuse_conflicts(files, settings.root)
    index = index_skills(files, plugin_name(source) if source else "")
    return tuple(_check_names(plan, index, _is_certain(plan, settings)))


def _skills_of(root: Path, provider: Provider, broken: Sequence[MissingSkill]) -> tuple[Skill, ...]:
    """What lies in a provider's folders, without what a copy of the repository will not have."""
    gone = {one.path for one in broken}
    return tuple(
        skill
        for folder in provider.skill_folders
        for skill in skills_in(root / folder)
        if gone.isdisjoint((folder, f"{folder}/{skill.name}"))
    )


def _read_baseline(folder: Path) -> None:
    """Have a baseline that cannot be used said now: the results would be compared with it."""
    for name in DEFAULT_BASELINE_FILES:
        if (folder / name).is_file():
            read_baseline(folder / name)
            return


def _refuse_broken_links(
    plan: Plan, provider: Provider, staged: StagedSkills, broken: Sequence[MissingSkill]
) -> None:
    """Of skills that a case is about; any other one is a note of the run."""
    for case in plan.cases if broken else ():
        found = find_missing(case, provider, staged, broken)
        if found is not None:
            cause, _, advice = found[1].why.rpartition("; ")
            raise DocumentError(
                f"{case.case_id}: the skill {found[0]} is not here: {cause}",
                file=plan.corpus.file,
                line=plan.corpus.lines.get(case.case_id),
                remedy=advice,
            )


def _refuse_conflicts(files: Iterable[SkillFile], root: Path) -> None:
    for file in files:
        for problem in file.problems:
            if problem.rule == CONFLICT:
                path = file.path
                with suppress(ValueError):
                    path = path.relative_to(root)
                raise DocumentError(
                    problem.message,
                    file=str(path),
                    line=problem.line,
                    remedy="keep one side of each conflict, and remove the lines that mark it",
                )


def _is_certain(plan: Plan, settings: RunSettings) -> bool:
    """True where an agent has the skills that we see, and no others: none of its user's."""
    ours = plan.providers.keys() & all_providers().keys()
    templates = agent_templates(ours, settings.environ)
    return not settings.workspaces.shared and bool(ours - templates.keys())


def _check_names(plan: Plan, index: SkillIndex, is_certain: bool) -> Iterator[str]:
    names = [name for skill in index.skills for name in skill.names]
    strange: dict[str, str] = {}
    cases: set[str] = set()
    for case, field, token in _unknown_names(plan.cases, index) if names else ():
        bare = token.rpartition(":")[2]
        near = find_nearest(bare, names)
        if near and is_certain and is_misspelling(bare, near):
            raise DocumentError(
                f"{case.case_id}: there is no skill {token}",
                file=plan.corpus.file,
                line=plan.corpus.lines.get(case.case_id),
                field=field,
                remedy=f"did you mean {near}?",
            )
        strange[token] = f"{token} (did you mean {near}?)" if near else token
        cases.add(case.case_id)
    if strange:
        count = "1 case names" if len(cases) == 1 else f"{len(cases)} cases name"
        listed = one_line(", ".join(strange.values()))[:200]
        yield f"{count} skills that are not here: {listed}; see `{own_program()} cases check`"


def _unknown_names(cases: Iterable[Case], index: SkillIndex) -> Iterator[tuple[Case, str, str]]:
    """A name with an alias on some agent may be known there by another one, and is left out."""
    for case in cases:
        aliased = {
            fold(name)
            for aliases in case.provider_aliases.values()
            for pair in aliases.items()
            for name in pair
        }
        for field, tokens in (
            ("expected_skill", (case.expected_skill,)),
            ("required_skills", case.required_skills),
            ("optional_skills", case.optional_skills),
            ("disallowed_skills", case.disallowed_skills),
        ):
            for token in filter(None, tokens):
                bare = token.rpartition(":")[2]
                known = index.titles(token) or index.titles(bare)
                if not known and not is_skill_file(token) and fold(token) not in aliased:
                    yield case, field, token


def is_misspelling(name: str, known: str) -> bool:
    """True where one or two letters differ; other digits are another version, not a mistake."""
    first, second = fold(name), fold(known)
    if re.sub(r"\d", "", first) == re.sub(r"\d", "", second):
        return False
    steps = SequenceMatcher(None, first, second, autojunk=False).get_opcodes()
    changed = sum(max(b - a, d - c) for tag, a, b, c, d in steps if tag != "equal")
    return changed <= (2 if min(len(first), len(second)) > 5 else 1)
