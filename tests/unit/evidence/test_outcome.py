"""How a run ended is decided by the first rule that matches, whatever the run proved."""

from __future__ import annotations

from dataclasses import replace

import pytest

from routing_action.evidence.outcome import Outcome, RunEnd, decide_outcome
from routing_action.evidence.transcript import ApiFailure, EndedBy, Reading
from tests.support.builders import FINISHED

SILENT = Reading()
OPEN = replace(FINISHED, terminal=False)
AUTH = replace(OPEN, failure=ApiFailure.AUTH)


@pytest.mark.parametrize(
    ("reading", "end", "outcome"),
    [
        (FINISHED, RunEnd(not_run=True), Outcome.NOT_RUN),
        (SILENT, RunEnd(started=False, exit_code=None), Outcome.CLI_MISSING),
        (SILENT, RunEnd(exit_code=127), Outcome.CLI_MISSING),
        (SILENT, RunEnd(exit_code=126), Outcome.CLI_MISSING),
        (FINISHED, RunEnd(exit_code=127), Outcome.COMPLETED),
        (AUTH, RunEnd(exit_code=1), Outcome.AUTH),
        (replace(FINISHED, failure=ApiFailure.QUOTA), RunEnd(), Outcome.QUOTA),
        (replace(OPEN, retrying=ApiFailure.RATE_LIMIT), RunEnd(), Outcome.RATE_LIMIT),
        (replace(OPEN, failure=ApiFailure.SERVER_ERROR), RunEnd(), Outcome.SERVER_ERROR),
        (replace(OPEN, failure=ApiFailure.API_ERROR), RunEnd(), Outcome.API_ERROR),
        (replace(OPEN, retrying=ApiFailure.AUTH), RunEnd(timed_out=True), Outcome.AUTH),
        (OPEN, RunEnd(timed_out=True, exit_code=-15), Outcome.TIMEOUT),
        (SILENT, RunEnd(timed_out=True, exit_code=-9), Outcome.TIMEOUT),
        (OPEN, RunEnd(cancelled=True, exit_code=-15), Outcome.CANCELLED),
        (OPEN, RunEnd(stopped_early=True, exit_code=-15), Outcome.COMPLETED),
        (
            replace(OPEN, retrying=ApiFailure.AUTH),
            RunEnd(stopped_early=True, exit_code=-9),
            Outcome.COMPLETED,
        ),
        (replace(FINISHED, limit=True), RunEnd(exit_code=1), Outcome.LIMIT),
        (OPEN, RunEnd(limit=True, exit_code=-9), Outcome.LIMIT),
        (OPEN, RunEnd(exit_code=-9), Outcome.KILLED),
        (OPEN, RunEnd(exit_code=137), Outcome.KILLED),
        (OPEN, RunEnd(exit_code=143), Outcome.KILLED),
        (SILENT, RunEnd(exit_code=-15), Outcome.KILLED),
        (FINISHED, RunEnd(exit_code=143), Outcome.COMPLETED),
        (replace(FINISHED, recognised=4, unrecognised=5), RunEnd(), Outcome.SCHEMA_DRIFT),
        (replace(FINISHED, recognised=5, unrecognised=5), RunEnd(), Outcome.COMPLETED),
        (replace(SILENT, unrecognised=3), RunEnd(exit_code=1), Outcome.SCHEMA_DRIFT),
        (SILENT, RunEnd(), Outcome.NO_OUTPUT),
        (SILENT, RunEnd(exit_code=1), Outcome.NO_OUTPUT),
        (replace(SILENT, recognised=1, is_record_stream=True), RunEnd(), Outcome.NEVER_RAN),
        (replace(FINISHED, turns=0, has_text=False), RunEnd(), Outcome.NEVER_RAN),
        (OPEN, RunEnd(exit_code=0), Outcome.KILLED),
        (replace(OPEN, turns=0, has_text=False), RunEnd(exit_code=1), Outcome.KILLED),
        (replace(OPEN, is_record_stream=False), RunEnd(), Outcome.COMPLETED),
        (FINISHED, RunEnd(), Outcome.COMPLETED),
        (FINISHED, RunEnd(exit_code=1), Outcome.COMPLETED),
        (FINISHED, RunEnd(exit_code=None), Outcome.COMPLETED),
    ],
)
def test_the_first_rule_that_matches_decides(
    reading: Reading, end: RunEnd, outcome: Outcome
) -> None:
    """Evidence of the CLI's own records outranks the exit code; silence is never a success."""
    assert decide_outcome(reading, end) is outcome


def test_a_retry_that_recovered_is_no_failure() -> None:
    """A rate limit in the middle of a run that then ended well is none of the outcome."""
    recovered = replace(FINISHED, retrying=ApiFailure.RATE_LIMIT)
    assert decide_outcome(recovered, RunEnd()) is Outcome.COMPLETED


def test_only_a_finished_run_a_deadline_or_a_limit_say_something_about_routing() -> None:
    """Every other outcome is infra; the context of the model is a limit too."""
    told = {outcome for outcome in Outcome if not outcome.is_infra}
    assert told == {Outcome.COMPLETED, Outcome.TIMEOUT, Outcome.LIMIT, Outcome.CONTEXT}


def test_an_agent_that_is_still_at_work_ends_no_run() -> None:
    """It was announced, and its end was not."""
    assert decide_outcome(replace(FINISHED, unfinished=1), RunEnd()) is Outcome.KILLED


def test_lines_that_are_no_records_spoil_no_complete_run() -> None:
    """Unknown records do, and so does noise in a run without its end."""
    noisy = replace(FINISHED, unrecognised=90, foreign=90)
    assert decide_outcome(noisy, RunEnd()) is Outcome.COMPLETED
    for reading in (
        replace(noisy, foreign=0),
        replace(noisy, terminal=False),
        replace(noisy, turns=0),
        replace(noisy, is_record_stream=False),
    ):
        assert decide_outcome(reading, RunEnd()) is Outcome.SCHEMA_DRIFT


def test_the_wall_and_the_idle_deadline_are_ours() -> None:
    """Both deadlines are reported as a timeout, no other end is."""
    ours = {end for end in EndedBy if end.is_deadline}
    assert ours == {EndedBy.WALL_DEADLINE, EndedBy.IDLE_DEADLINE}
