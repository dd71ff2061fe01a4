"""What the history says of a pair, and the lines that it is made of."""

from __future__ import annotations

from pathlib import Path

from routing_action.evidence.chance import Record
from routing_action.results.model import OfferedSkill
from routing_action.results.past.history import HistoryLine, read_history
from routing_action.results.past.history_lines import add_lines, append_to_folder, build_lines
from routing_action.results.past.trend_words import describe_change, describe_switch, format_share
from routing_action.results.past.trends import Trend, build_trends, draw_levels
from tests.support.result_rows import make_results, make_row
from tests.unit.results.test_history import line


def runs(text: str, **changes: object) -> list[HistoryLine]:
    """A run a day: `+` passed, `-` failed, `0` could not be measured."""
    return [
        line(
            at=f"2026-10-{day:02}T08:00:00Z",
            batch=f"b{day}",
            commit=f"{day:040}",
            passes=int(sign == "+"),
            measured=int(sign != "0"),
            **changes,
        )
        for day, sign in enumerate(text, start=1)
    ]


def trend_of(lines: list[HistoryLine]) -> Trend:
    (trend,) = build_trends(lines)
    return trend


def test_a_pair_has_its_rate_flips_and_streak() -> None:
    """Runs that could not be measured neither count nor interrupt."""
    trend = trend_of(runs("++-0++", duration_ms=2000, cost_usd=0.5))
    assert trend.record == Record(4, 5)
    assert (trend.rate, trend.flips, trend.streak) == (0.8, 2, 2)
    assert (trend.duration_ms, trend.cost_usd) == (2000, 0.5)
    assert trend_of(runs("+--")).streak == -2
    nothing = trend_of(runs("00"))
    assert (nothing.rate, nothing.flips, nothing.streak, nothing.cost_usd) == (None, 0, 0, None)


def test_the_worst_pair_stands_first_then_the_one_that_flips_most() -> None:
    """What was never measured stands last."""
    lines = [
        *runs("00", case_id="unknown"), *runs("++++", case_id="sure"),
        *runs("++--", case_id="fell"), *runs("+-+-", case_id="flips"),
    ]  # fmt: skip
    assert [one.pair[0] for one in build_trends(lines)] == ["flips", "fell", "sure", "unknown"]


def test_a_change_names_what_changed_with_it() -> None:
    """An unknown version is no other version; a description hides the digest of all of them."""
    lines = [
        *runs("+" * 15, cli_version="2.1", model="m", description="d1", skills="s1"),
        *runs("-" * 31, cli_version="2.2", model=None, description="d2", skills="s2")[15:],
    ]
    trend = trend_of(lines)
    assert [(one.place, one.what) for one in trend.causes] == [(15, "CLI"), (15, "description")]
    assert describe_change(trend) == (
        "100% → 0% at 000000000000 (2026-10-16); with it changed CLI 2.1 → 2.2, its description"
    )
    assert describe_switch(trend, trend.causes[0]) == "CLI 2.1 → 2.2 at 000000000000 (2026-10-16)"


def test_a_change_without_a_cause_says_so_and_no_change_says_nothing() -> None:
    """A pass among the failures makes it unsure by how many runs."""
    assert describe_change(trend_of(runs("+" * 15))) == ""
    assert describe_change(trend_of(runs("+" * 15 + "-+" + "-" * 12))) == (
        "100% → 7% at 000000000000 (2026-10-16), give or take 2 runs; CLI, model and descriptions "
        "stayed the same"
    )


def test_shares_and_blocks() -> None:
    """Only what is exactly all or nothing reads so; a hostile delta's row passes all at most."""
    assert [format_share(one) for one in (0, 0.001, 0.5, 0.999, 1)] == [
        "0%", "1%", "50%", "99%", "100%",
    ]  # fmt: skip
    assert draw_levels([Record(0, 2), Record(1, 2), Record(2, 2), Record(), Record(9, 1)]) == (
        "▁▄▇·▇"
    )
    assert draw_levels([Record(1, 1)] * 5 + [Record(0, 1)], 2) == "▇▁"


def test_results_become_a_line_for_each_pair() -> None:
    """With what was offered, what was loaded, and why it failed."""
    skills = tuple(
        OfferedSkill(name=name, agents=("claude",), path=f"skills/{name}", description=text)
        for name, text in (("foo", "Use foo."), ("bar", "Use bar."))
    )
    rows = [
        make_row(1, expected_skill="foo", cost_usd=0.25, loaded_skills=("foo",), cli_version="2.1"),
        make_row(2, expected_skill="foo", trial=2, status="fail", failure_kind="unknown"),
        make_row(3, case_id="two", status="infra_error", outcome="server_error"),
    ]
    results = make_results(*rows, skills=skills)
    first, second = build_lines(results, "run-1")
    assert (first.case_id, first.passes, first.measured, first.trials) == ("one", 1, 2, 2)
    assert (first.kind, first.run, first.batch) == ("unknown", "run-1", results.batch_run_id)
    assert (first.duration_ms, first.cost_usd, first.loaded) == (3000, 0.25, ("foo",))
    assert (second.passes, second.measured, second.kind) == (0, 0, "server_error")
    assert second.description == ""
    others = make_results(
        *rows, skills=(skills[0], skills[1].model_copy(update={"description": "x"}))
    )
    moved = build_lines(others, "run-1")[0]
    assert moved.description == first.description
    assert moved.skills != first.skills


def test_a_replay_makes_no_line() -> None:
    """It measures nothing."""
    results = make_results(make_row())
    options = results.options.model_copy(update={"replay": "recordings"})
    assert build_lines(results.model_copy(update={"options": options}), "run-1") == []


def test_lines_are_appended_once_to_the_file_of_their_month(tmp_path: Path) -> None:
    """Also behind a last line that was cut short."""
    old, new = line(), line(at="2026-12-01T00:00:00Z", batch="b2")
    assert append_to_folder(tmp_path, [old, old]) == 1
    assert append_to_folder(tmp_path, [old, new]) == 1
    assert sorted(file.name for file in tmp_path.iterdir()) == ["2026-11.jsonl", "2026-12.jsonl"]
    assert read_history(tmp_path).lines == (old, new)
    cut = tmp_path / "2026-11.jsonl"
    cut.write_bytes(cut.read_bytes() + b'{"at"')
    other = line(batch="b3")
    assert append_to_folder(tmp_path, [other]) == 1
    found = read_history(tmp_path)
    assert (set(found.lines), found.unread) == ({old, other, new}, 1)
    assert add_lines({"2026-12.jsonl": (tmp_path / "2026-12.jsonl").read_bytes()}, [new]) == {}
