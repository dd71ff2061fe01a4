"""What the jobs of a workflow tell about the legs of its matrix."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from routing_action.action.legs import NOTHING_SELECTED, Digest, judge_legs, parse_jobs, with_legs
from routing_action.corpus.case import Case
from routing_action.corpus.cases_file import Corpus
from routing_action.errors import UsageError
from routing_action.gate.build_delta import build_delta
from routing_action.gate.conclusion import Conclusion, Policy
from routing_action.gate.find_baselines import Baselines
from routing_action.gate.model import BaselineSource, Delta
from routing_action.results.measured import MeasuredBatch
from tests.support.measured import batch, expect, row

MATRIX = json.dumps(
    {
        "include": [
            {"key": "claude-s1of2", "agent": "claude", "shard": "1/2", "case_ids": "a"},
            {"key": "claude-s2of2", "agent": "claude", "shard": "2/2", "case_ids": "b"},
            {"key": "codex", "agent": "codex", "shard": "1/1", "case_ids": "a,b"},
        ]
    }
)


def needs(result: str = "success", **outputs: str) -> str:
    """A `needs` context of a plan and a matrix job."""
    plan = {"result": "success", "outputs": {"matrix": MATRIX, "status": "passed", **outputs}}
    return json.dumps({"plan": plan, "measure": {"result": result, "outputs": {}}})


def test_the_plan_tells_which_legs_there_must_be() -> None:
    """Each by its key, with its agent."""
    jobs = parse_jobs(needs())
    assert list(jobs.legs) == ["claude-s1of2", "claude-s2of2", "codex"]
    assert jobs.agents == ("claude", "codex")


def test_the_plan_tells_the_cases_of_each_leg() -> None:
    """An entry without cases says nothing of them."""
    assert parse_jobs(needs()).case_ids["codex"] == {"a", "b"}
    bare = json.dumps({"include": [{"key": "k", "agent": "codex"}]})
    assert parse_jobs(needs(matrix=bare)).case_ids == {}


def test_digests_name_their_leg_whatever_the_output_is_called() -> None:
    """Empty ones are of legs that wrote none, and another kind of output is passed over."""
    sha = "0f" * 32
    jobs = parse_jobs(
        needs(
            digest=f"a-s1of2-a12:{sha}", digest_b="", digest_image=f"sha256:{sha}", x=f"k-a1:{sha}"
        )
    )
    assert jobs.digests == (Digest("a-s1of2", 12, sha),)


def test_all_legs_with_results_are_nothing_to_speak_of() -> None:
    """A green run has no reasons."""
    jobs = parse_jobs(needs())
    assert judge_legs(jobs, ["claude-s1of2", "claude-s2of2", "codex"], []) == ()


def test_g5_a_leg_that_left_nothing_is_named_whatever_its_job_says() -> None:
    """`continue-on-error` makes a broken leg's job a success."""
    reasons = judge_legs(parse_jobs(needs()), ["claude-s1of2", "codex"], [])
    assert reasons == ("no results of claude-s2of2",)


def test_a_leg_with_a_marker_is_accounted_for() -> None:
    """It said by itself that it could not measure; the policy judges that."""
    assert judge_legs(parse_jobs(needs()), ["codex"], ["claude"]) == ()


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        ("failure", "job measure failed"),
        ("cancelled", "job measure was cancelled"),
        ("skipped", "job measure was skipped, and a skipped job does not pass"),
        ("new word", "job measure ended with new word"),
    ],
)
def test_g5_a_job_that_did_not_succeed_is_red_though_results_are_there(
    result: str, reason: str
) -> None:
    """They could be those of an earlier attempt."""
    reasons = judge_legs(parse_jobs(needs(result)), ["claude-s1of2", "claude-s2of2", "codex"], [])
    assert reasons == (reason,)


def test_a_skipped_matrix_is_no_fault_where_the_plan_had_nothing_to_run() -> None:
    """A pull request that touches no skill."""
    text = needs("skipped", status="nothing-to-run", matrix='{"include":[]}')
    assert judge_legs(parse_jobs(text), [], []) == ()


@pytest.mark.parametrize("text", ["", "  \n", "{}"])
def test_without_the_jobs_results_nothing_is_claimed(text: str) -> None:
    """The comparison still knows which pairs were selected."""
    jobs = parse_jobs(text)
    assert (jobs.agents, judge_legs(jobs, [], [])) == ((), ())


@pytest.mark.parametrize("text", ["{", "[]", '"x"', '{"a": 1}', '{"a": {}}', "[" * 100_000])
def test_what_is_no_needs_context_is_refused(text: str) -> None:
    """A slip in the workflow must not switch the check off."""
    with pytest.raises(UsageError, match="input needs"):
        parse_jobs(text)


@pytest.mark.parametrize("matrix", ["", "x", "[]", '{"include": 1}', '{"include": [{"os": "x"}]}'])
def test_an_output_of_another_kind_that_is_called_matrix_is_passed_over(matrix: str) -> None:
    """The workflow may have a matrix of its own."""
    assert dict(parse_jobs(needs(matrix=matrix)).legs) == {}


def test_outputs_may_be_null() -> None:
    """A runner that is not GitHub's gives a job without outputs so."""
    assert parse_jobs('{"a": {"result": "success", "outputs": null}}').results == {"a": "success"}


def judge_delta(batches: list[MeasuredBatch]) -> Delta:
    """A delta of one known pair."""
    ref = expect({("a", "claude"): "pass"})
    source = BaselineSource(
        path="p.json", commit=None, date=None, how="h", present=True, edited=False
    )
    return build_delta(
        batches,
        Baselines(ref, ref, source),
        Corpus("cases.json", (Case(case_id="a", prompt="p"),), {"a": 2}, "0" * 64),
        unmeasured={},
        policy=Policy(),
        now=datetime(2026, 1, 2, tzinfo=UTC),
    )


def green() -> Delta:
    """A delta with one pair that is as expected."""
    return judge_delta([batch([row("a", "claude", "pass")])])


def test_a_lost_leg_turns_a_green_delta_red_and_stands_first() -> None:
    """The rows stay as they are."""
    red = with_legs(green(), parse_jobs(""), ["no results of codex"])
    assert (red.conclusion, red.reasons) == (Conclusion.FAILURE, ("no results of codex",))
    assert red.rows == green().rows


def test_without_reasons_the_delta_stays() -> None:
    """The jobs cannot make anything greener."""
    assert with_legs(green(), parse_jobs(needs()), []) == green()


def test_a_plan_without_a_case_is_neutral_and_says_so() -> None:
    """Neither green nor red: nothing was to be measured."""
    jobs = parse_jobs(needs("skipped", status="nothing-to-run", matrix='{"include":[]}'))
    delta = with_legs(judge_delta([]), jobs, [])
    assert (delta.conclusion, delta.reasons) == (Conclusion.NEUTRAL, (NOTHING_SELECTED,))
