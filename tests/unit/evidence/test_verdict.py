"""From evidence and the way a run ended to status, failure kind and failure category."""

from __future__ import annotations

from dataclasses import replace

import pytest

from routing_action.corpus.baseline import Status
from routing_action.corpus.identity import KnownSkill, SkillIndex
from routing_action.evidence.evidence import EvidenceCollector
from routing_action.evidence.outcome import Outcome, RunEnd
from routing_action.evidence.transcript import ApiFailure, EvidenceLine, LineKind, Reading
from routing_action.evidence.verdict import FailureCategory, FailureKind, Verdict, judge
from tests.support.builders import (
    FINISHED,
    attempt_line,
    base_line,
    case_of,
    expectations_of,
    judge_lines,
    line_of,
    load_line,
    mention_line,
    read_line,
)

SKILL = "widget-testing"
FILE = "widget-testing/SKILL.md"
OPEN = replace(FINISHED, terminal=False)
TIMED_OUT = RunEnd(timed_out=True, exit_code=-15)
LEGACY = case_of(
    expected_skill="", require_skill_file=False, required_all_evidence=["a", "a/REF.md"]
)
TOOL = line_of(LineKind.TOOL_CALL, "Bash ls", detail="command")


def kind(verdict: Verdict) -> str | None:
    assert verdict.status is not Status.PASS
    return verdict.failure_kind


# ---- status


def test_a_proven_load_passes() -> None:
    """The expected skill was loaded natively: nothing is missing."""
    verdict = judge_lines(case_of(), load_line())
    assert (verdict.status, verdict.failure_kind, verdict.failure_category) == (
        Status.PASS,
        None,
        None,
    )
    assert (verdict.matched, verdict.missing) == ((SKILL,), ())


def test_a_load_satisfies_the_skill_file_too() -> None:
    """Where SKILL.md is asked for, the proven load is its evidence."""
    verdict = judge_lines(case_of(), load_line(), agent="gemini")
    assert verdict.status is Status.PASS
    assert verdict.matched == (SKILL, FILE)


def test_without_a_load_the_run_fails_and_says_what_is_missing() -> None:
    """A run that completed without the skill is a failed routing."""
    verdict = judge_lines(case_of(), TOOL, agent="codex")
    assert (verdict.status, verdict.outcome) == (Status.FAIL, Outcome.COMPLETED)
    assert (verdict.matched, verdict.missing) == ((), (SKILL, FILE))


@pytest.mark.parametrize(
    ("reading", "end", "outcome"),
    [
        (OPEN, TIMED_OUT, Outcome.TIMEOUT),
        (OPEN, RunEnd(exit_code=-9), Outcome.KILLED),
        (replace(FINISHED, limit=True), RunEnd(exit_code=1), Outcome.LIMIT),
        (replace(FINISHED, failure=ApiFailure.QUOTA), RunEnd(exit_code=1), Outcome.QUOTA),
        (FINISHED, RunEnd(exit_code=1), Outcome.COMPLETED),
    ],
)
def test_proven_requirements_pass_however_the_run_ended(
    reading: Reading, end: RunEnd, outcome: Outcome
) -> None:
    """Evidence outranks the exit code, a deadline and a later API failure."""
    verdict = judge_lines(case_of(), load_line(), reading=reading, end=end)
    assert (verdict.status, verdict.outcome) == (Status.PASS, outcome)
    assert verdict.timed_out is end.timed_out


def test_a_timeout_without_proof_is_a_failure() -> None:
    """An agent that was still looking when its time was up did not route."""
    verdict = judge_lines(case_of(), reading=OPEN, end=TIMED_OUT)
    assert (verdict.status, verdict.failure_kind) == (Status.FAIL, "timeout")
    assert verdict.failure_category is FailureCategory.TIMEOUT


@pytest.mark.parametrize(
    ("reading", "end"),
    [
        (Reading(), RunEnd(started=False, exit_code=None)),
        (replace(OPEN, failure=ApiFailure.AUTH), RunEnd(exit_code=1)),
        (replace(OPEN, failure=ApiFailure.QUOTA), RunEnd(exit_code=1)),
        (replace(OPEN, retrying=ApiFailure.RATE_LIMIT), RunEnd(exit_code=-15)),
        (replace(OPEN, failure=ApiFailure.SERVER_ERROR), RunEnd(exit_code=1)),
        (replace(OPEN, failure=ApiFailure.API_ERROR), RunEnd(exit_code=1)),
        (Reading(), RunEnd(exit_code=1)),
        (Reading(recognised=1), RunEnd(exit_code=1)),
        (Reading(unrecognised=4), RunEnd()),
        (OPEN, RunEnd(exit_code=-9)),
        (OPEN, RunEnd(cancelled=True, exit_code=-15)),
        (Reading(), RunEnd(not_run=True)),
    ],
    ids=[
        "cli_missing",
        "auth",
        "quota",
        "rate_limit",
        "server_error",
        "api_error",
        "no_output",
        "never_ran",
        "schema_drift",
        "killed",
        "cancelled",
        "not_run",
    ],
)
def test_infra_is_no_failed_routing_and_is_named_by_its_outcome(
    reading: Reading, end: RunEnd, request: pytest.FixtureRequest
) -> None:
    """A run that says nothing about routing is an infra error, with the cause as its kind."""
    verdict = judge_lines(case_of(), reading=reading, end=end)
    assert (verdict.status, verdict.failure_kind) == (
        Status.INFRA_ERROR,
        request.node.callspec.id,
    )
    assert verdict.failure_category is FailureCategory.TRANSPORT


# ---- disallowed skills and absence


def test_a_disallowed_load_fails_even_where_everything_else_is_proven() -> None:
    """The wrong skill beside the right one is a failed case."""
    case = case_of(disallowed_skills=["order-api"])
    verdict = judge_lines(case, load_line(), load_line("order-api"))
    assert (verdict.status, verdict.failure_kind) == (Status.FAIL, "disallowed_hit")
    assert verdict.disallowed_hits == ("order-api",)


def test_a_disallowed_load_fails_even_where_the_api_failed_afterwards() -> None:
    """What was proven stays proven: an infra failure does not hide a forbidden load."""
    case = case_of(disallowed_skills=["order-api"])
    broken = replace(OPEN, failure=ApiFailure.SERVER_ERROR)
    verdict = judge_lines(case, load_line("order-api"), reading=broken, end=RunEnd(exit_code=1))
    assert verdict.status is Status.FAIL
    assert verdict.disallowed_hits == ("order-api",)


def test_a_mere_mention_of_a_disallowed_skill_is_a_diagnostic() -> None:
    """An agent may name a skill that it does not use."""
    case = case_of(disallowed_skills=["order-api"])
    verdict = judge_lines(case, load_line(), mention_line("not order-api"))
    assert verdict.status is Status.PASS
    assert (verdict.disallowed_hits, verdict.disallowed_seen) == ((), ("order-api",))


@pytest.mark.parametrize(
    ("min_tier", "line", "status"),
    [
        (1, read_line("skills/order-api/SKILL.md"), Status.PASS),
        (1, load_line("order-api"), Status.FAIL),
        (2, read_line("skills/order-api/SKILL.md"), Status.FAIL),
        (2, attempt_line("order-api"), Status.FAIL),
        (3, mention_line("not order-api"), Status.FAIL),
    ],
)
def test_how_strong_a_forbidden_hit_must_be_is_the_cases_choice(
    min_tier: int, line: EvidenceLine, status: Status
) -> None:
    """`disallowed_min_tier` says from which tier on a forbidden skill fails the case."""
    case = case_of(disallowed_skills=["order-api"], disallowed_min_tier=min_tier)
    assert judge_lines(case, load_line(), line).status is status


def test_a_negative_case_passes_on_a_completed_run_with_proof_of_life() -> None:
    """No skill was expected, none was forbidden and loaded, and the agent really answered."""
    case = case_of(expected_skill="", disallowed_skills=["order-api"])
    assert judge_lines(case, mention_line("42")).status is Status.PASS


@pytest.mark.parametrize(
    ("reading", "end", "status"),
    [
        (Reading(), RunEnd(exit_code=1), Status.INFRA_ERROR),
        (Reading(), RunEnd(), Status.INFRA_ERROR),
        (OPEN, RunEnd(exit_code=-9), Status.INFRA_ERROR),
        (OPEN, TIMED_OUT, Status.FAIL),
        (replace(FINISHED, limit=True), RunEnd(), Status.FAIL),
    ],
)
def test_a_negative_case_never_passes_on_a_run_that_did_not_complete(
    reading: Reading, end: RunEnd, status: Status
) -> None:
    """A CLI that always fails, or that was cut short, proves no absence."""
    negative = case_of(expected_skill="")
    both = case_of(disallowed_skills=["order-api"])
    assert judge_lines(negative, reading=reading, end=end).status is status
    assert judge_lines(both, load_line(), reading=reading, end=end).status is status


# ---- the failure category


def test_a_pass_that_ran_into_its_deadline_keeps_the_category_timeout() -> None:
    """The gate judges a timed-out pass, so the row says that time was up."""
    verdict = judge_lines(case_of(), load_line(), reading=OPEN, end=TIMED_OUT)
    assert (verdict.status, verdict.failure_kind) == (Status.PASS, None)
    assert verdict.failure_category is FailureCategory.TIMEOUT


def test_an_infra_error_at_a_deadline_is_in_the_category_timeout() -> None:
    """Timeout comes before transport."""
    retrying = replace(OPEN, retrying=ApiFailure.RATE_LIMIT)
    verdict = judge_lines(case_of(), reading=retrying, end=TIMED_OUT)
    assert (verdict.status, verdict.failure_kind) == (Status.INFRA_ERROR, "rate_limit")
    assert verdict.failure_category is FailureCategory.TIMEOUT


def test_a_failed_routing_is_in_the_category_assertion() -> None:
    """The expectation itself did not hold."""
    verdict = judge_lines(case_of(), TOOL)
    assert verdict.failure_category is FailureCategory.ASSERTION


# ---- the failure kinds, one test each


def test_kind_timeout() -> None:
    """Time was up and nothing more is known."""
    assert kind(judge_lines(case_of(), TOOL, reading=OPEN, end=TIMED_OUT)) == "timeout"


def test_kind_limit() -> None:
    """The turn or cost limit ended the run and nothing more is known."""
    ended = replace(FINISHED, limit=True)
    assert kind(judge_lines(case_of(), TOOL, reading=ended, end=RunEnd(exit_code=1))) == "limit"


def test_kind_context() -> None:
    """The prompt did not fit: the case's own fault."""
    ended = replace(FINISHED, failure=ApiFailure.CONTEXT)
    assert kind(judge_lines(case_of(), TOOL, reading=ended, end=RunEnd(exit_code=1))) == "context"


def test_absence_is_not_measured_where_no_load_can_show() -> None:
    """A case that expects a skill and nothing else is judged as ever."""
    blind = replace(FINISHED, shows_loads=False)
    absent = case_of(expected_skill="", disallowed_skills=("widget-testing",))
    verdict = judge_lines(absent, TOOL, reading=blind)
    assert (verdict.status, kind(verdict)) == (Status.INFRA_ERROR, "not_measurable")
    assert judge_lines(absent, TOOL, reading=FINISHED).status is Status.PASS
    assert judge_lines(case_of(), TOOL, reading=blind).status is Status.FAIL


def test_kind_of_a_timed_out_run_is_the_more_telling_one() -> None:
    """Where the call of the skill failed before the deadline, that is what a user must know."""
    verdict = judge_lines(case_of(), attempt_line(), reading=OPEN, end=TIMED_OUT)
    assert kind(verdict) == "invoked_but_not_loaded"


def test_kind_mixed() -> None:
    """A forbidden load and a failed call of the expected skill are both told."""
    case = case_of(disallowed_skills=["order-api"])
    assert kind(judge_lines(case, attempt_line(), load_line("order-api"))) == "mixed"


def test_kind_disallowed_hit() -> None:
    """The only thing wrong is the forbidden skill."""
    case = case_of(disallowed_skills=["order-api"])
    assert kind(judge_lines(case, load_line(), load_line("order-api"))) == "disallowed_hit"


def test_kind_invoked_but_not_loaded() -> None:
    """The skill was called and the call failed."""
    assert kind(judge_lines(case_of(), attempt_line())) == "invoked_but_not_loaded"


def test_kind_wrong_copy() -> None:
    """The skill was read from a folder that was not staged."""
    stray = read_line("/home/u/.agents/skills/widget-testing/SKILL.md", wrong_copy=True)
    assert kind(judge_lines(case_of(), stray, agent="codex")) == "wrong_copy"


def test_kind_skill_unavailable() -> None:
    """The agent told what it offers, and the expected skill is not in it."""
    offered = replace(FINISHED, catalogue=("order-api", "widget-test"))
    verdict = judge_lines(case_of(), TOOL, reading=offered)
    assert kind(verdict) == "skill_unavailable"
    assert verdict.status is Status.FAIL


def test_kind_ambiguous_skill() -> None:
    """Two plugins have the skill, and neither the case nor the call says which is meant."""
    skills = SkillIndex(KnownSkill("widget-testing", plugin=one) for one in ("a", "b"))
    for case in (case_of(), case_of(expected_skill="", disallowed_skills=["a:widget-testing"])):
        expectations = expectations_of(case)
        evidence = EvidenceCollector("claude", expectations.tokens, skills=skills)
        evidence.add(load_line())
        verdict = judge(case, expectations, evidence, FINISHED, RunEnd())
        assert kind(verdict) == "ambiguous_skill"
        assert verdict.cause.endswith(
            "fits 2 skills (a:widget-testing, b:widget-testing), so it proves neither"
        )


def test_a_skill_that_was_offered_is_not_unavailable() -> None:
    """A plugin's skill is offered under its qualified name."""
    offered = replace(FINISHED, catalogue=("acme:widget-testing",))
    assert kind(judge_lines(case_of(), TOOL, reading=offered)) == "missing_required"


def test_kind_optional_only() -> None:
    """An optional skill was loaded instead of the required one."""
    case = case_of(optional_skills=["order-api"])
    verdict = judge_lines(case, load_line("order-api"))
    assert kind(verdict) == "optional_only"
    assert verdict.optional_hits == ("order-api",)


def test_kind_weak_evidence_only() -> None:
    """The skill was named, and no more."""
    assert kind(judge_lines(case_of(), TOOL, mention_line(SKILL))) == "weak_evidence_only"


def test_kind_evidence_too_weak() -> None:
    """The skill's file was read by hand where a native load is asked for."""
    by_hand = read_line(".claude/skills/widget-testing/SKILL.md")
    assert kind(judge_lines(case_of(), by_hand)) == "evidence_too_weak"


def test_kind_missing_required() -> None:
    """The agent worked, and never touched the skill."""
    assert kind(judge_lines(case_of(), TOOL)) == "missing_required"


def test_kind_answered_directly() -> None:
    """The agent just answered, without any tool."""
    spoken = replace(FINISHED, tool_events=0)
    assert kind(judge_lines(case_of(), mention_line("42"), reading=spoken)) == "answered_directly"


def test_kind_skill_not_loaded() -> None:
    """A skill that a legacy case asks for shows nowhere."""
    case = case_of(expected_skill="", required_all_evidence=["order-api"])
    assert kind(judge_lines(case, TOOL)) == "skill_not_loaded"


def test_kind_missing_skill_file_evidence() -> None:
    """A file that a legacy case asks for was never read."""
    case = case_of(expected_skill="", required_all_evidence=["a/REF.md"])
    assert kind(judge_lines(case, TOOL)) == "missing_skill_file_evidence"


def test_kind_missing_activity_evidence() -> None:
    """Everything is there but any sign of a tool."""
    case = case_of(expected_skill="", required_any_evidence=["tool_use"])
    verdict = judge_lines(case, mention_line("42"))
    assert kind(verdict) == "missing_activity_evidence"
    assert verdict.missing == ("required_any_evidence",)


def test_kind_mixed_evidence_missing() -> None:
    """A legacy case lacks a skill and a file alike."""
    assert kind(judge_lines(LEGACY, TOOL)) == "mixed_evidence_missing"


def test_every_kind_has_a_test_named_after_it() -> None:
    """No kind is added without a test that reaches it; `unknown` is the guard behind them all."""
    tested = {
        name.removeprefix("test_kind_") for name in globals() if name.startswith("test_kind_")
    }
    assert {kind.value for kind in FailureKind} <= tested


# ---- requirements and hits


def test_activity_is_met_by_any_tool_event_or_by_a_token_in_text() -> None:
    """`required_any_evidence` asks for a sign of work, not for a certain tool."""
    case = case_of(required_any_evidence=["my_tool"])
    assert judge_lines(case, load_line()).status is Status.PASS
    spoken = case_of(expected_skill="", required_any_evidence=["my_tool"])
    assert judge_lines(spoken, mention_line("ran my_tool")).status is Status.PASS


def test_an_alias_proves_a_requirement() -> None:
    """The name that one provider uses is as good as the canonical one, there alone."""
    case = case_of(provider_aliases={"claude": {"wt": SKILL}})
    assert judge_lines(case, load_line("wt")).status is Status.PASS
    assert judge_lines(case, load_line("wt"), agent="gemini").status is Status.FAIL


def test_an_opted_out_case_passes_on_a_hand_read() -> None:
    """`expected_skill_min_tier` 2 is content with a successful read of SKILL.md."""
    case = case_of(expected_skill_min_tier=2)
    by_hand = read_line(".gemini/skills/widget-testing/SKILL.md")
    assert judge_lines(case, by_hand, agent="gemini").status is Status.PASS
    assert judge_lines(case_of(), by_hand, agent="gemini").status is Status.FAIL


def test_a_required_file_passes_on_a_read_and_fails_on_a_listing() -> None:
    """A listing shows that a file exists, not that it was read."""
    case = case_of(expected_skill="", required_files=["docs/GUIDE.md"])
    listing = line_of(LineKind.TOOL_RESULT, "docs/GUIDE.md")
    assert judge_lines(case, read_line("/repo/docs/GUIDE.md")).status is Status.PASS
    assert judge_lines(case, listing).status is Status.FAIL


def test_a_missing_skill_file_does_not_hide_why_the_skill_is_missing() -> None:
    """An unmet SKILL.md beside its unmet skill is one cause, not two."""
    plugin = case_of(expected_skill="acme:widget-testing")
    assert kind(judge_lines(plugin, TOOL, agent="codex")) == "missing_required"


def test_an_unmet_skill_file_of_another_skill_is_a_cause_of_its_own() -> None:
    """Where two different things are missing, both count."""
    case = case_of(required_all_evidence=["order-api/SKILL.md"], require_skill_file=False)
    verdict = judge_lines(case, TOOL, agent="codex")
    assert verdict.missing == (SKILL, "order-api/SKILL.md")
    assert kind(verdict) == "mixed"


def test_the_hits_of_a_verdict_name_every_requirement() -> None:
    """A report shows each required token with its best hit, or with none."""
    verdict = judge_lines(case_of(), base_line("/r/skills/widget-test/SKILL.md"), agent="codex")
    assert verdict.hits == {SKILL: None, FILE: None}
