"""What is known of a batch while it runs, and when it will be over."""

from __future__ import annotations

import pytest

from routing_action.corpus.baseline import Status
from routing_action.evidence.outcome import Outcome
from routing_action.report.terminal.progress import Failure, Progress
from tests.support.progress_bench import ProgressBench


@pytest.fixture
def bench() -> ProgressBench:
    """A batch of ten units of claude, four at once."""
    bench = ProgressBench(lanes=4)
    bench.queue(*(f"claude:c{n}" for n in range(10)))
    return bench


def test_every_unit_is_counted_once(bench: ProgressBench) -> None:
    """Queued, running and done add up."""
    bench.start("claude:c0", "claude:c1", "claude:c2")
    bench.end("claude:c0")
    bench.end("claude:c1", status=Status.FAIL, failure_kind="missing_required")
    bench.end("claude:c9", status=Status.INFRA_ERROR, failure_kind="auth")
    progress = bench.progress
    assert (progress.done, len(progress.running), progress.queued, progress.total) == (3, 1, 6, 10)
    assert list(progress.counts.values()) == [1, 1, 1]
    assert list(progress.latest) == [
        Failure("claude:c1", Status.FAIL, "missing_required"),
        Failure("claude:c9", Status.INFRA_ERROR, "auth"),
    ]


def test_the_longest_running_unit_comes_first(bench: ProgressBench) -> None:
    """The one that may hang is on top."""
    bench.start("claude:c0")
    bench.pass_time(30)
    bench.start("claude:c1")
    bench.pass_time(5)
    assert [(u.key, u.seconds) for u in bench.progress.running] == [
        ("claude:c0", 35),
        ("claude:c1", 5),
    ]


def test_the_rest_is_unknown_until_as_many_ended_as_run_at_once(bench: ProgressBench) -> None:
    """The first units to end are the quick ones and say little."""
    bench.start(*(f"claude:c{n}" for n in range(4)))
    bench.pass_time(10)
    bench.end("claude:c0")
    bench.end("claude:c1")
    bench.end("claude:c2")
    assert bench.progress.remaining is None
    bench.end("claude:c3")
    # Six units of ten seconds on four lanes.
    assert bench.progress.remaining == pytest.approx(15)


def test_the_rest_lasts_at_least_as_long_as_what_runs(bench: ProgressBench) -> None:
    """The last unit alone is not divided by the lanes."""
    names = [f"claude:c{n}" for n in range(10)]
    bench.start(*names)
    bench.pass_time(20)
    for name in names[:9]:
        bench.end(name)
    assert bench.progress.remaining == pytest.approx(5)


def test_units_that_run_longer_than_the_average_raise_it() -> None:
    """With slow ones under way the estimate is no optimist."""
    bench = ProgressBench(lanes=2)
    bench.queue(*(f"claude:c{n}" for n in range(8)))
    bench.start("claude:slow", "claude:c0")
    for n in range(3):
        bench.start(f"claude:c{n}")
        bench.pass_time(10)
        bench.end(f"claude:c{n}")
    remaining = bench.progress.remaining
    assert remaining is not None
    # Five at 15 s (10, 10, 10 and 30 so far) and the slow one, on two lanes.
    assert remaining == pytest.approx((5 * 15 + 15 / 4) / 2)


def test_each_agent_is_expected_to_take_what_it_took() -> None:
    """A quick agent's units do not make a slow one's look quick."""
    bench = ProgressBench(lanes=1)
    bench.queue("claude:a", "claude:b", "claude:c", "codex:a", "codex:b", "gemini:a")
    for key, seconds in (("claude:a", 10), ("claude:b", 10), ("codex:a", 100)):
        bench.start(key)
        bench.pass_time(seconds)
        bench.end(key)
    # claude 10, codex 100, and for gemini, of which nothing is known, what lies between.
    assert bench.progress.remaining == pytest.approx(10 + 100 + 55)


def test_cost_is_unknown_until_an_agent_reports_it(bench: ProgressBench) -> None:
    """Nothing reported is not zero."""
    bench.end("claude:c0")
    assert bench.progress.cost_usd is None
    bench.end("claude:c1", cost_usd=0.25)
    bench.end("claude:c2", cost_usd=0.5)
    assert bench.progress.cost_usd == pytest.approx(0.75)


def test_an_interrupted_unit_is_no_failure_and_no_measure(bench: ProgressBench) -> None:
    """What Ctrl-C ended says nothing about the agent."""
    bench.start("claude:c0")
    bench.progress.stop()
    bench.pass_time(2)
    bench.progress.stop()
    bench.end("claude:c0", status=Status.INFRA_ERROR, outcome=Outcome.CANCELLED)
    assert bench.progress.ending == 2
    assert not bench.progress.latest
    assert bench.progress.remaining is None


def test_an_empty_batch_has_nothing_to_tell() -> None:
    """Before the first unit is known nothing divides by zero."""
    progress = Progress(lambda: 0.0, 4)
    assert (progress.done, progress.total, progress.remaining, progress.ending) == (
        0,
        0,
        None,
        None,
    )
