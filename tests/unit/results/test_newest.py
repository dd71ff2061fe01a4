"""Batches that a person names together: of each pair the newest one's trials count."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from routing_action.corpus.baseline import Pair, Status
from routing_action.results.find import list_batches
from routing_action.results.measured import MeasuredBatch, gather, keep_newest
from routing_action.results.model import OfferedSkill
from routing_action.results.read import stream_rows
from tests.support.measured import Word, batch, row
from tests.support.result_rows import write_results

FIRST: dict[str, Word] = {"a": "fail", "b": "pass", "c": "fail"}


def made(file: str, at: str, measured: dict[str, Word], agent: str = "claude") -> MeasuredBatch:
    """A batch of one agent, made at a minute of a day."""
    rows = [row(case_id, agent, status) for case_id, status in measured.items()]
    return replace(batch(rows, file=file, key=agent), generated_at=f"2026-01-01T00:{at}Z")


def statuses(batches: list[MeasuredBatch]) -> dict[Pair, Status]:
    """What the batches add up to; nothing may be wrong with them."""
    measurement = gather(keep_newest(batches))
    assert measurement.errors == ()
    assert measurement.lost == frozenset()
    return {pair: found.status for pair, found in measurement.pairs.items()}


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_a_rerun_completes_an_earlier_batch(order: tuple[int, ...]) -> None:
    """In whatever order they are named; times with and without fractions of a second."""
    batches = [
        made("1", "10:00.5", FIRST),
        made("2", "10:01", {"a": "pass", "b": "fail"}),
        made("3", "10:01.25", {"b": "pass"}),
    ]
    found = statuses([batches[place] for place in order])
    assert {case_id: status.value for (case_id, _), status in found.items()} == {
        "a": "pass",
        "b": "pass",
        "c": "fail",
    }


def test_agents_complete_each_other() -> None:
    """A pair is a case on an agent: another agent's result replaces nothing."""
    found = statuses([made("1", "10:00", FIRST), made("2", "10:01", {"a": "pass"}, "codex")])
    assert found["a", "claude"] is Status.FAIL
    assert len(found) == 4


def test_trials_of_one_pair_are_never_mixed() -> None:
    """Three old trials do not outvote a new one."""
    old = [row("a", "claude", "pass", trial=trial) for trial in (1, 2, 3)]
    first = replace(batch(old, file="1"), generated_at="2026-01-01T00:10:00Z")
    found = gather(keep_newest([first, made("2", "10:01", {"a": "fail"})]))
    pair = found.pairs["a", "claude"]
    assert (pair.status, pair.trials) == (Status.FAIL, 1)


def test_attempts_of_a_leg_stay_attempts() -> None:
    """The highest attempt counts, whatever a file says of its time, and the earlier is told."""
    first = replace(made("1", "10:02", {"a": "fail"}), artifact="leg-a1")
    second = replace(made("2", "10:01", {"a": "pass"}), artifact="leg-a2", attempt=2)
    found = gather(keep_newest([first, second]))
    assert found.pairs["a", "claude"].status is Status.PASS
    assert found.earlier["a", "claude"][1].status is Status.FAIL


def of_run(run: str, at: str, measured: dict[str, Word]) -> MeasuredBatch:
    """A batch of a workflow run; "" is the one that judges."""
    return replace(made("r.json", at, measured), run=run, key="claude")


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_of_several_runs_the_newest_counts_and_the_others_are_told(order: tuple[int, ...]) -> None:
    """Each leg has the same name and attempt in all of them."""
    batches = [
        of_run("11", "10:00", FIRST),
        of_run("12", "10:01", {"a": "fail", "c": "pass"}),
        of_run("", "10:02", {"a": "pass"}),
    ]
    found = gather([batches[place] for place in order])
    assert (found.errors, found.lost) == ((), frozenset())
    assert {case: pair.status.value for (case, _), pair in found.pairs.items()} == {
        "a": "pass", "b": "pass", "c": "pass",
    }  # fmt: skip
    before = {
        case: {when: pair.status.value for when, pair in times.items()}
        for (case, _), times in found.earlier.items()
    }
    assert before == {"a": {"11": "fail", "12": "fail"}, "c": {"11": "fail"}}


def test_a_later_run_of_some_pairs_replaces_an_attempt_of_this_one() -> None:
    """Where the gate of the first run runs again, after a command measured a pair."""
    found = gather([of_run("", "10:00", FIRST), of_run("12", "10:01", {"a": "pass"})])
    assert found.pairs["a", "claude"].status is Status.PASS
    assert found.earlier["a", "claude"][1].status is Status.FAIL


def test_a_pair_that_one_run_measured_twice_stays_an_error() -> None:
    """Of two legs of it no one is the newer one."""
    twice = [replace(of_run("11", at, {"a": "pass"}), key=at) for at in ("10:00", "10:01")]
    assert (
        "claude:a was measured in" in gather([*twice, of_run("", "10:02", {"b": "pass"})]).errors[0]
    )


def test_a_shard_that_one_run_lost_is_not_covered_by_another_run() -> None:
    """Each run has its own shards."""
    first = replace(of_run("11", "10:00", {"a": "pass"}))
    options = first.options.model_copy(update={"shard": "2/2"})
    whole = of_run("", "10:01", {"b": "pass"})
    alone = whole.options.model_copy(update={"shard": "1/1"})
    found = gather([replace(first, options=options), replace(whole, options=alone)])
    assert found.errors == ("claude: the results of shard 1/2 are missing",)


def test_a_report_shows_the_units_that_count(tmp_path: Path) -> None:
    """One of each pair; files of the same time count as they are named."""
    one = write_results(tmp_path / "one", {("a", "claude"): "fail", ("b", "claude"): "pass"})
    text = one.read_text("utf-8")
    two = write_results(tmp_path / "two", {("a", "claude"): "pass"})
    two.write_text(two.read_text("utf-8").replace("2026-01-01T00:00", "2026-01-01T00:01"))
    assert text != two.read_text("utf-8")
    shown = [(file.parent.name, row.case_id) for file, rows in stream_rows((one, two))
             for row in rows]  # fmt: skip
    assert shown == [("one", "b"), ("two", "a")]


def test_batches_are_listed_newest_first(tmp_path: Path) -> None:
    """Those without results, which are still running, are none."""
    for name, age in (("old", 1), ("new", 3), ("middle", 2)):
        file = write_results(tmp_path / name, {("a", "claude"): "pass"})
        os.utime(file, (age, age))
    (tmp_path / "running").mkdir()
    assert [one.name for one in list_batches(tmp_path)] == ["new", "middle", "old"]
    assert list_batches(tmp_path / "none") == []


def offer(
    one: MeasuredBatch,
    text: str = "Deploys.",
    agents: tuple[str, ...] = ("claude",),
    **options: object,
) -> MeasuredBatch:
    """The batch with one skill of this description, and other options."""
    skill = OfferedSkill(name="deploy", agents=agents, path="skills/deploy", description=text)
    return replace(one, skills=(skill,), options=one.options.model_copy(update=options))


@pytest.mark.parametrize(
    ("then", "said"),
    [
        ({}, ""),
        ({"text": "Ships."}, "measured before the skills changed"),
        ({"agents": ()}, "measured before the skills changed"),
        ({"commit": "b" * 40}, "measured at another commit than the newest results"),
        (
            {"uncommitted": ("skills/deploy/SKILL.md",)},
            "measured with other uncommitted edits than the newest results",
        ),
    ],
)
def test_what_was_measured_before_an_edit_is_stale(then: dict[str, Any], said: str) -> None:
    """The pairs that the older batch alone measured, whatever of the skills differs since."""
    first = offer(made("1", "10:00", FIRST), commit="a" * 40)
    second = offer(made("2", "10:01", {"a": "pass"}), **{"commit": "a" * 40, **then})
    found = gather(keep_newest([second, first]))
    assert found.stale == ({("b", "claude"): said, ("c", "claude"): said} if said else {})


def test_another_agent_that_is_offered_less_makes_nothing_stale() -> None:
    """Agents look in different folders; the text of a file that both find must be the same."""
    first = offer(made("1", "10:00", FIRST))
    other = replace(made("2", "10:01", {"a": "pass"}, "codex"), skills=())
    assert gather(keep_newest([first, other])).stale == {}
    edited = offer(made("2", "10:01", {"a": "pass"}, "codex"), "Ships.", ("codex",))
    assert len(gather(keep_newest([first, edited])).stale) == 3
