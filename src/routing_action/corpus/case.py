"""A case: a prompt with expectations; its requirements per provider, selection and aliases."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from routing_action.corpus.naming import fold, is_file_token, is_skill_file

Token = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300)]
Tokens = Annotated[tuple[Token, ...], Field(max_length=1000)]
Aliases = Annotated[dict[Token, Token], Field(max_length=1000)]
SkillName = Annotated[str, StringConstraints(strip_whitespace=True, max_length=300)]
CASE_ID = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$"
CaseId = Annotated[str, StringConstraints(strip_whitespace=True, pattern=CASE_ID)]

FILL_IN = "FILL IN"
"""What a prompt that still has to be written starts with; `cases check` warns of it."""

DEFAULT_ACTIVITY_TOKENS: tuple[str, ...] = (
    "tool_use",
    "read_file",
    "file_search",
    "command_execution",
    "mcp:",
    "Glob ",
    "Grep ",
    "Read(",
    "Grep(",
    "Glob(",
    "Bash(",
    "shell(",
)


class Case(BaseModel):
    """One entry of cases.json; every field is described in docs/reference/cases.md."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    case_id: CaseId
    category: Annotated[str, StringConstraints(strip_whitespace=True, max_length=100)] = ""
    prompt: Annotated[str, StringConstraints(min_length=1, max_length=100_000)]
    expected_skill: SkillName = ""
    expected_skill_min_tier: Literal[1, 2] = 1
    required_skills: Tokens = ()
    required_files: Tokens = ()
    required_all_evidence: Tokens = ()
    required_any_evidence: Tokens = ()
    required_evidence: Tokens = ()
    require_skill_file: bool = True
    optional_skills: Tokens = ()
    disallowed_skills: Tokens = ()
    disallowed_min_tier: Literal[1, 2, 3] = 2
    provider_aliases: dict[Token, Aliases] = Field(default_factory=dict, max_length=100)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not self.prompt.strip():
            raise ValueError("prompt is blank; write what a user would ask")
        if "\x00" in self.prompt:
            raise ValueError("prompt holds a NUL character, which no command line can carry")
        required = {fold(name) for name in (self.expected_skill, *self.required_skills) if name}
        both = sorted(name for name in self.disallowed_skills if fold(name) in required)
        if both:
            raise ValueError(f"disallowed_skills also names a required skill: {', '.join(both)}")
        return self

    @property
    def depends_on_absence(self) -> bool:
        """True where passing means that something did not happen."""
        return bool(self.disallowed_skills) or not self.expected_skill


class Origin(StrEnum):
    """The field of a case that a requirement comes from."""

    EXPECTED_SKILL = "expected_skill"
    REQUIRED_SKILLS = "required_skills"
    REQUIRED_FILES = "required_files"
    LEGACY = "required_all_evidence"
    SKILL_FILE = "require_skill_file"


@dataclass(frozen=True, slots=True)
class Requirement:
    """A token that must be proven at `min_tier` or better, under any of its `names`."""

    token: str
    min_tier: int
    origin: Origin
    names: tuple[str, ...]

    @property
    def is_skill(self) -> bool:
        """True for a skill's name, False for a file."""
        return not is_file_token(self.token)


@dataclass(frozen=True, slots=True)
class Expectations:
    """What one provider must show for a case, aliases resolved.

    `optional` and `disallowed` map a canonical token to the names it goes by.
    """

    requirements: tuple[Requirement, ...]
    optional: Mapping[str, tuple[str, ...]]
    disallowed: Mapping[str, tuple[str, ...]]
    any_tokens: tuple[str, ...]

    @property
    def tokens(self) -> tuple[str, ...]:
        """Every name that evidence is looked for, each once."""
        names = [name for requirement in self.requirements for name in requirement.names]
        for group in (self.optional, self.disallowed):
            names += [name for several in group.values() for name in several]
        return tuple(dict.fromkeys(names))


def expectations_for(case: Case, provider: str, *, drops_skill_files: bool) -> Expectations:
    """Derive what `provider` must show; `drops_skill_files` drops every `.../SKILL.md` token."""
    aliases = _aliases_for(case, provider)
    found: dict[str, Requirement] = {}
    for wanted, tier, origin in _wanted(case):
        token = aliases.get(fold(wanted), wanted)
        if drops_skill_files and is_skill_file(token):
            continue
        earlier = found.get(fold(token))
        if earlier is None or tier < earlier.min_tier:
            kept = earlier.origin if earlier else origin
            found[fold(token)] = Requirement(token, tier, kept, _names(token, aliases))
    activity = (*case.required_any_evidence, *DEFAULT_ACTIVITY_TOKENS)
    return Expectations(
        requirements=tuple(found.values()),
        optional=_groups(case.optional_skills, aliases),
        disallowed=_groups(case.disallowed_skills, aliases),
        any_tokens=tuple(dict.fromkeys(activity)) if case.required_any_evidence else (),
    )


def _aliases_for(case: Case, provider: str) -> dict[str, str]:
    """A provider's aliases, folded; its name is taken in any case."""
    return {
        fold(alias): canonical
        for name, aliases in case.provider_aliases.items()
        if fold(name) == fold(provider)
        for alias, canonical in aliases.items()
    }


def _wanted(case: Case) -> Iterable[tuple[str, int, Origin]]:
    """Every required token with its tier, strictest origin first."""
    if case.expected_skill:
        yield case.expected_skill, case.expected_skill_min_tier, Origin.EXPECTED_SKILL
    for token in case.required_skills:
        yield token, 1, Origin.REQUIRED_SKILLS
    for token in case.required_files:
        yield token, 2, Origin.REQUIRED_FILES
    for token in (*case.required_all_evidence, *case.required_evidence):
        yield token, 2, Origin.LEGACY
    if case.require_skill_file and case.expected_skill:
        yield skill_file_of(case.expected_skill), 2, Origin.SKILL_FILE


def skill_file_of(skill: str) -> str:
    """The file token of a skill: `plugin:name` and `name` are both `name/SKILL.md`."""
    return f"{skill.rpartition(':')[2]}/SKILL.md"


def _names(token: str, aliases: Mapping[str, str]) -> tuple[str, ...]:
    """The token and every alias of it; an alias of a skill also names that skill's file."""
    names = [token]
    for alias, canonical in aliases.items():
        if fold(canonical) == fold(token):
            names.append(alias)
        elif is_skill_file(token) and fold(skill_file_of(canonical)) == fold(token):
            names.append(skill_file_of(alias))
    return tuple(dict.fromkeys(names))


def _groups(tokens: Sequence[str], aliases: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    canonical = [aliases.get(fold(token), token) for token in tokens]
    return {token: _names(token, aliases) for token in dict.fromkeys(canonical)}


def select_cases(
    cases: Sequence[Case],
    *,
    case_ids: Sequence[str] = (),
    categories: Sequence[str] = (),
    sample: int | None = None,
    seed: int = 0,
) -> list[Case]:
    """The cases that pass every filter, in the file's order.

    `sample` draws that many at random, the same for the same seed and corpus.
    """
    wanted_ids = {fold(name) for name in case_ids}
    wanted_categories = {fold(name) for name in categories}
    chosen = [
        case
        for case in cases
        if (not wanted_ids or fold(case.case_id) in wanted_ids)
        and (not wanted_categories or fold(case.category) in wanted_categories)
    ]
    if sample is None or sample >= len(chosen):
        return chosen
    drawn = sorted(chosen, key=lambda case: _draw(seed, case.case_id))[:sample]
    kept = {case.case_id for case in drawn}
    return [case for case in chosen if case.case_id in kept]


def _draw(seed: int, case_id: str) -> bytes:
    """A case's lot: by its id alone, so that cases added elsewhere change little of a sample."""
    return hashlib.sha256(f"{seed}\0{case_id}".encode()).digest()
