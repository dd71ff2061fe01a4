"""A run that is stopped early has the verdict that it would have had at its end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from routing_action.agents.discovery import all_providers
from routing_action.agents.provider import ReadContext
from routing_action.corpus.baseline import Status
from routing_action.corpus.case import Case
from routing_action.evidence.evidence import EvidenceCollector
from routing_action.evidence.outcome import Outcome, RunEnd
from routing_action.evidence.transcript import LineKind
from routing_action.evidence.verdict import Verdict, is_settled, judge
from tests.support.builders import (
    attempt_line,
    case_of,
    expectations_of,
    lines_of,
    load_line,
    mention_line,
    read_line,
)
from tests.support.recorded import Recording, recordings

EVERY = (*recordings("cli"), *recordings("other"))
FOLDERS = {
    folder: [one for one in EVERY if one.key.rpartition("/")[0] == folder]
    for folder in dict.fromkeys(one.key.rpartition("/")[0] for one in EVERY)
}


def cases_for(one: Recording) -> Iterator[Case]:
    """Cases of every make about the skills that a recording has to do with."""
    for skill in dict.fromkeys((*one.loaded, *one.read, *one.failed)):
        others = [token for token in one.tokens if token != skill]
        for fields in (
            {},
            {"expected_skill_min_tier": 2},
            {"require_skill_file": False},
            {"required_skills": others[:1]},
            {"required_files": [f"{skill}/SKILL.md"]},
            {"required_all_evidence": [skill], "required_any_evidence": ["tool_use"]},
            {"optional_skills": others[:1]},
            {"disallowed_skills": others[:1]},
        ):
            yield case_of(expected_skill=skill, **fields)


def first_settled(one: Recording, case: Case) -> int | None:
    """After how many lines the verdict of a case can no longer change."""
    expectations = expectations_of(case, one.provider)
    evidence = EvidenceCollector(one.provider, expectations.tokens, expectations.any_tokens)
    reader = all_providers()[one.provider].reader(ReadContext())
    for number, line in enumerate(lines_of(one.stdout), 1):
        evidence.extend(reader.feed(line))
        if is_settled(case, expectations, evidence):
            return number
    return None


def verdict_at(one: Recording, case: Case, lines: int | None, end: RunEnd) -> Verdict:
    expectations = expectations_of(case, one.provider)
    evidence = EvidenceCollector(one.provider, expectations.tokens, expectations.any_tokens)
    reader = all_providers()[one.provider].reader(ReadContext())
    for line in lines_of(one.stdout)[:lines]:
        evidence.extend(reader.feed(line))
    for line in lines_of(one.stderr) if lines is None else ():
        reader.feed_stderr(line)
    evidence.extend(reader.finish(end.exit_code))
    return judge(case, expectations, evidence, reader.reading, end)


def told(verdict: Verdict) -> dict[str, Any]:
    """What an early stop must leave as it is."""
    return {
        "status": verdict.status,
        "kind": verdict.failure_kind,
        "matched": verdict.matched,
        "missing": verdict.missing,
        "tiers": {token: hit and hit.tier for token, hit in verdict.hits.items()},
        "optional": verdict.optional_hits,
        "disallowed": verdict.disallowed_hits,
    }


@pytest.mark.slow
@pytest.mark.parametrize("folder", FOLDERS)
def test_no_recording_is_judged_otherwise_when_it_is_stopped(folder: str) -> None:
    """At every line from the first at which a run may be stopped."""
    for one in FOLDERS[folder]:
        for case in cases_for(one):
            first = first_settled(one, case)
            if first is None:
                continue
            whole = told(verdict_at(one, case, None, one.end))
            for cut in range(first, len(lines_of(one.stdout)) + 1):
                end = RunEnd(exit_code=-15, stopped_early=True)
                stopped = verdict_at(one, case, cut, end)
                assert told(stopped) == whole, (one.key, cut, case)
                assert stopped.outcome is Outcome.COMPLETED


def test_most_loads_are_known_before_the_end() -> None:
    """A run that loads its skill is stopped long before its answer is complete."""
    loading = [one for one in EVERY if one.is_healthy and one.loaded]
    early = [
        one
        for one in loading
        if (cut := first_settled(one, case_of(expected_skill=one.loaded[0])))
        and cut < len(lines_of(one.stdout))
    ]
    assert len(early) == len(loading) > 100


# ---- what keeps a run going


def settled(case: Case, *lines: Any, agent: str = "copilot") -> bool:  # noqa: ANN401
    expectations = expectations_of(case, agent)
    evidence = EvidenceCollector(agent, expectations.tokens, expectations.any_tokens)
    evidence.extend(lines)
    return is_settled(case, expectations, evidence)


def test_a_proven_load_is_all_that_a_plain_case_waits_for() -> None:
    """The skill's own SKILL.md comes with it."""
    assert settled(case_of(), load_line())
    assert not settled(case_of())


@pytest.mark.parametrize(
    "line",
    [
        mention_line("widget-testing"),
        attempt_line(),
        load_line("order-api"),
        load_line(wrong_copy=True),
        read_line("/repo/.github/skills/widget-testing/SKILL.md"),
    ],
)
def test_less_than_a_load_settles_nothing(line: Any) -> None:  # noqa: ANN401
    """The skill can still be loaded."""
    assert not settled(case_of(), line)
    assert not settled(case_of(expected_skill_min_tier=2), line)


def test_every_requirement_is_waited_for() -> None:
    """Further skills and files too; no file gets better than Tier 2."""
    case = case_of(required_skills=["order-api"], required_files=["notes.md"])
    assert not settled(case, load_line(), load_line("order-api"))
    assert settled(case, load_line(), load_line("order-api"), read_line("/repo/notes.md"))


def test_an_optional_skill_is_waited_for() -> None:
    """Whether it was used is part of the result."""
    case = case_of(optional_skills=["order-api"])
    assert not settled(case, load_line())
    assert settled(case, load_line(), load_line("order-api"))


def test_what_must_not_happen_can_happen_until_the_end() -> None:
    """A case with disallowed skills, or without a skill, is never stopped."""
    assert not settled(case_of(disallowed_skills=["order-api"]), load_line())
    assert not settled(case_of(expected_skill=""), load_line())
    assert not settled(case_of(disallowed_skills=["order-api"]), load_line("order-api"))


def test_activity_that_is_asked_for_is_waited_for() -> None:
    """A load is activity."""
    case = case_of(required_any_evidence=["x"], expected_skill_min_tier=1)
    assert settled(case, load_line())


def test_a_stopped_run_is_complete_whatever_it_was_doing() -> None:
    """A retry that was going on when we ended it is no failure."""
    one = next(one for one in EVERY if one.is_healthy and one.loaded)
    case = case_of(expected_skill=one.loaded[0])
    cut = first_settled(one, case)
    verdict = verdict_at(one, case, cut, RunEnd(exit_code=-9, stopped_early=True))
    assert (verdict.status, verdict.outcome) == (Status.PASS, Outcome.COMPLETED)
    assert verdict.failure_category is None
    killed = verdict_at(one, case, cut, RunEnd(exit_code=-9))
    assert killed.outcome is Outcome.KILLED
    assert any(hit and hit.kind is LineKind.LOAD for hit in verdict.hits.values())
