"""What a reader of a case file should be warned of: cases that cannot measure what they claim."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from routing_action.corpus.case import FILL_IN, Case
from routing_action.corpus.cases_file import Corpus
from routing_action.corpus.naming import names_token


@dataclass(frozen=True, slots=True)
class Finding:
    """A warning about one case; `rule` is its short name.

    `file` is set where it is another one than the case file; then no case is meant.
    """

    case_id: str
    line: int
    rule: str
    message: str
    file: str = ""


def check_cases(corpus: Corpus) -> list[Finding]:
    """Every warning, in the file's order."""
    return [
        Finding(case.case_id, corpus.lines[case.case_id], rule, message)
        for case in corpus.cases
        for rule, message in _warnings(case)
    ]


def _warnings(case: Case) -> Iterator[tuple[str, str]]:
    if case.prompt.lstrip().startswith(("/", "$")):
        yield (
            "explicit-prompt",
            f"{case.case_id}: the prompt starts with / or $, which leaves no trace of a load",
        )
    if case.prompt.startswith(FILL_IN):
        yield (
            "fill-in-prompt",
            f"{case.case_id}: the prompt is still to be written; do not name the skill in it",
        )
    for skill in _named_skills(case):
        yield (
            "prompt-names-skill",
            f"{case.case_id}: the prompt names {skill}, so it measures nothing about routing",
        )
    expected = (case.expected_skill, *case.required_skills, *case.required_files)
    more = (*case.required_all_evidence, *case.required_evidence, *case.disallowed_skills)
    if not any((*expected, *more)):
        yield (
            "no-expectation",
            f"{case.case_id}: nothing is expected or disallowed, so any completed run passes",
        )


def _named_skills(case: Case) -> list[str]:
    """The required or disallowed skills that the prompt names whole; one-word names are words."""
    skills = (case.expected_skill, *case.required_skills, *case.disallowed_skills)
    bare = dict.fromkeys(skill.rpartition(":")[2] for skill in skills if skill)
    return [skill for skill in bare if "-" in skill and names_token(case.prompt, skill)]
