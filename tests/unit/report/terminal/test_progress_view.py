"""What a person sees of a batch while it runs, at the widths that terminals have."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from rich.text import Text
from syrupy.assertion import SnapshotAssertion

from routing_action.corpus.baseline import Status
from routing_action.report.terminal.progress_view import (
    ViewLook,
    ViewSize,
    clock_text,
    remaining_text,
    render_outcome,
    render_progress,
)
from tests.support.progress_bench import ProgressBench

WIDTHS = [60, 80, 120, 200]
LONG = "claude:review-a-pull-request-that-changes-the-public-interface-of-the-billing-service-17"
WIDE = "codex:日本語で書かれた変更履歴の項目を書き直してから確認する-02"


def show(lines: list[Text], width: int, *, colour: bool = False) -> str:
    """The lines as a terminal of that width gets them."""
    console = Console(
        file=io.StringIO(),
        force_terminal=True,
        width=width,
        color_system="standard" if colour else None,
        legacy_windows=False,
    )
    for line in lines:
        console.print(line, no_wrap=True, overflow="ignore", crop=False)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def make_busy() -> ProgressBench:
    """A batch in its middle: 34 of 120 ended, six run."""
    bench = ProgressBench(lanes=6)
    bench.queue(*(f"claude:case-{n}" for n in range(120)))
    for n in range(34):
        bench.start(f"claude:case-{n}")
        bench.pass_time(5)
        failed = n in {3, 20, 30}
        bench.end(
            f"claude:case-{n}",
            status=Status.FAIL if failed else Status.INFRA_ERROR if n == 31 else Status.PASS,
            failure_kind="weak_evidence_only" if failed else "rate_limit" if n == 31 else None,
            cost_usd=0.01,
        )
    for n, key in enumerate((LONG, WIDE, "claude:bump", "gemini:a#2", "codex:b", "copilot:c")):
        bench.queue(key)
        bench.start(key)
        bench.pass_time(60 - 11 * n)
    return bench


@pytest.mark.parametrize("width", WIDTHS)
def test_a_batch_in_its_middle(width: int, snapshot: SnapshotAssertion) -> None:
    """Counts, estimate, what runs and what failed of late fit at each width."""
    lines = render_progress(make_busy().progress, ViewSize(width, 24), ViewLook())
    assert show(lines, width) == snapshot


def test_colours_tell_the_statuses_apart(snapshot: SnapshotAssertion) -> None:
    """The bar shows red as soon as something failed."""
    lines = render_progress(make_busy().progress, ViewSize(80, 24), ViewLook())
    assert show(lines, 80, colour=True) == snapshot


@pytest.mark.parametrize("width", WIDTHS)
def test_an_interrupted_batch_says_how_long_it_takes_to_end(
    width: int, snapshot: SnapshotAssertion
) -> None:
    """After Ctrl-C a person knows that something happens, and how to cut it short."""
    bench = make_busy()
    bench.progress.stop()
    bench.pass_time(3)
    lines = render_progress(bench.progress, ViewSize(width, 24), ViewLook(ending_seconds=9.3))
    assert show(lines, width) == snapshot


@pytest.mark.parametrize("width", [80, 120, 200])
def test_many_units_stand_in_columns_and_the_rest_is_counted(
    width: int, snapshot: SnapshotAssertion
) -> None:
    """Thirty-two units on a small terminal are seen as far as there is room."""
    bench = ProgressBench(lanes=32)
    for n in range(32):
        bench.start(
            f"claude:case-{n:02d}" + "-with-a-rather-long-name-that-goes-on-and-on" * (n % 3)
        )
        bench.pass_time(n)
    lines = render_progress(bench.progress, ViewSize(width, 16), ViewLook())
    assert show(lines, width) == snapshot


def test_the_beginning_and_the_end_of_a_batch() -> None:
    """Before the first unit has ended nothing is promised; after the last only writing is left."""
    bench = ProgressBench()
    bench.queue("claude:a", "claude:b")
    assert "0/2  estimating" in show(render(bench), 80)
    for key in ("claude:a", "claude:b"):
        bench.start(key)
        bench.pass_time(4)
        bench.end(key)
    assert "2/2  finishing" in show(render(bench), 80)


def test_a_terminal_without_unicode_gets_plain_signs() -> None:
    """No question marks in place of a bar, and no sign that cannot be sent."""
    lines = render_progress(make_busy().progress, ViewSize(70, 24), ViewLook(ascii_only=True))
    text = show(lines, 70)
    assert text.isascii()
    assert "####" in text
    assert "review-a-pull" in text
    assert "..." in text


@pytest.mark.parametrize("width", [1, 2, 10, 25, 40, 59, 60, 61, 79, 80, 100, 120, 199, 200])
@pytest.mark.parametrize("height", [1, 2, 3, 5, 10, 24, 60])
@pytest.mark.parametrize("ascii_only", [False, True])
def test_nothing_is_wider_or_higher_than_the_terminal(
    width: int, height: int, ascii_only: bool
) -> None:
    """One column and one line stay free, so that nothing wraps or scrolls."""
    bench = make_busy()
    for state in ("running", "ending"):
        if state == "ending":
            bench.progress.stop()
        lines = render_progress(bench.progress, ViewSize(width, height), ViewLook(ascii_only))
        assert max(line.cell_len for line in lines) <= max(width - 1, 1)
        assert len(lines) <= max(height - 1, 1)


def test_an_escape_in_a_name_does_not_reach_the_terminal() -> None:
    """A name from outside cannot move the cursor."""
    bench = ProgressBench()
    bench.start("claude:\x1b[2J\x07\u202ename")
    bench.end("claude:x\x1b[1A", status=Status.FAIL, failure_kind="k\x1b[m")
    text = show(render(bench), 80)
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "\u202e" not in text


def test_the_outcome_stays_as_one_line() -> None:
    """Where stdout goes to a file, the terminal still tells the totals."""
    text = show(render_outcome(make_busy().progress, ViewSize(80, 24)), 80)
    assert text.split("\n")[0].startswith("34 of 126 units in 6:05:  30 pass  3 fail  1 infra")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0:00"), (9.9, "0:09"), (61, "1:01"), (3599, "59:59"), (3600, "1:00:00"), (-1, "0:00")],
)
def test_elapsed_time_reads_like_a_clock(seconds: float, text: str) -> None:
    """Minutes and seconds, and hours where there are some."""
    assert clock_text(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "estimating"),
        (3, "a few seconds left"),
        (44, "about 40 s left"),
        (95, "about 2 min left"),
        (60 * 59, "about 59 min left"),
        (3600 * 2 + 300, "about 2 h 05 min left"),
    ],
)
def test_an_estimate_is_no_finer_than_it_can_be(seconds: float | None, text: str) -> None:
    """Nobody is told that 43 seconds are left."""
    assert remaining_text(seconds) == text


def render(bench: ProgressBench) -> list[Text]:
    """On an ordinary terminal."""
    return render_progress(bench.progress, ViewSize(80, 24), ViewLook())
