"""A first corpus from a folder of skills: one case a skill, one a pair of near twins, one control.

Near twins are found by the Jaccard index of two skills' words: the words of name and description,
lowered, of three letters or more, without a plural s and without the words that every description
has; the size of the common set over that of the union. From `TWIN_SIMILARITY` on, two skills count
as twins: descriptions of unrelated skills share about a twentieth of their words, those of two
skills for the same kind of file a fifth and more.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from routing_action.corpus.baseline import BaselineEntry, Status
from routing_action.corpus.case import FILL_IN
from routing_action.corpus.naming import fold
from routing_action.corpus.seed_prompts import derive_prompts, fill_in_prompt
from routing_action.corpus.skill_files import SkillFile

TWIN_SIMILARITY = 0.15
CONTROL_PROMPT = "What is 17 times 23? Answer with the number alone."

_WORD = re.compile(r"[a-z0-9]+")
_NOT_IN_ID = re.compile(r"[^A-Za-z0-9._-]+")
_COMMON = frozenset(
    "about after all and any are ask asks been before being but can does for from had has have "
    "how into its more most new not off one only other out over own should skill some such than "
    "that the their them then there these they this too two under use used user users using via "
    "wants was well were what when whenever where whether which while who will with without work "
    "working would you your".split()
)

CaseFields = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Seeds:
    """The cases of a first corpus, and how many of their prompts have to be filled in."""

    cases: tuple[CaseFields, ...]
    fill_ins: int


def build_seeds(skills: Sequence[SkillFile]) -> Seeds:
    """Cases in the order of the skills: each skill's own, then the twins', then the control."""
    names = [skill.folder for skill in skills]
    prompts = {skill.folder: derive_prompts(skill.description, names) for skill in skills}
    cases = [_own_case(skill, prompts[skill.folder], names) for skill in skills]
    cases += [_twin_case(one, other, prompts, names) for one, other in find_twins(skills)]
    cases.append(
        {
            "case_id": "no-skill-needed",
            "category": "control",
            "prompt": CONTROL_PROMPT,
            "expected_skill": "",
            "disallowed_skills": names,
        }
    )
    _make_ids_unique(cases)
    fill_ins = sum(case["prompt"].startswith(FILL_IN) for case in cases)
    return Seeds(tuple(cases), fill_ins)


def first_baseline(
    cases: Sequence[CaseFields], agents: Sequence[str]
) -> dict[str, dict[str, BaselineEntry]]:
    """A declaration that every case passes on every agent."""
    entry = BaselineEntry(expected_status=Status.PASS)
    return {case["case_id"]: dict.fromkeys(agents, entry) for case in cases}


def find_twins(skills: Sequence[SkillFile]) -> list[tuple[SkillFile, SkillFile]]:
    """The pairs of skills whose descriptions are alike, in the order of the skills."""
    words = {skill.folder: _words(skill) for skill in skills}
    return [
        (one, other)
        for one, other in itertools.combinations(skills, 2)
        if similarity(words[one.folder], words[other.folder]) >= TWIN_SIMILARITY
    ]


def similarity(one: frozenset[str], other: frozenset[str]) -> float:
    """The Jaccard index of two sets, from 0 to 1; 0 where both are empty."""
    union = one | other
    return len(one & other) / len(union) if union else 0.0


def _words(skill: SkillFile) -> frozenset[str]:
    found = _WORD.findall(fold(f"{skill.folder} {skill.description}"))
    return frozenset(
        word.removesuffix("s") if len(word) > 3 else word
        for word in found
        if len(word) > 2 and word not in _COMMON
    )


def _own_case(skill: SkillFile, prompts: Sequence[str], names: Sequence[str]) -> CaseFields:
    prompt = prompts[0] if prompts else fill_in_prompt(skill.description, names)
    return _case(f"{skill.folder}-request", "request", prompt, skill.folder)


def _twin_case(
    one: SkillFile,
    other: SkillFile,
    prompts: Mapping[str, Sequence[str]],
    names: Sequence[str],
) -> CaseFields:
    """The skill with a request to spare is expected, so that the prompt is no repetition."""
    if len(prompts[other.folder]) > 1 and len(prompts[one.folder]) < 2:
        one, other = other, one
    spare = prompts[one.folder][1:]
    prompt = spare[0] if spare else fill_in_prompt(one.description, names, other.description)
    case = _case(f"{one.folder}-not-{other.folder}", "near-twin", prompt, one.folder)
    return {**case, "disallowed_skills": [other.folder]}


def _case(case_id: str, category: str, prompt: str, skill: str) -> CaseFields:
    return {
        "case_id": case_id,
        "category": category,
        "prompt": prompt,
        "expected_skill": skill,
    }


def _make_ids_unique(cases: Sequence[CaseFields]) -> None:
    """Give each case an id that the format allows and no other case has."""
    taken: set[str] = set()
    for case in cases:
        plain = _NOT_IN_ID.sub("-", case["case_id"]).strip("-._")[:110] or "case"
        case_id = plain
        for number in itertools.count(2):
            if fold(case_id) not in taken:
                break
            case_id = f"{plain}-{number}"
        taken.add(fold(case_id))
        case["case_id"] = case_id
