"""The live view redraws when something is new, and disturbs nothing else."""

from __future__ import annotations

import io
from typing import cast

import pytest

from routing_action.report.terminal.live import LiveView, Terminal
from routing_action.report.terminal.progress_view import ViewLook, ViewSize
from tests.support.result_rows import make_row
from tests.support.terminal_screen import Screen


class FakeTerminal(Terminal):
    """A screen, whose size and readiness the test decides."""

    def __init__(self, columns: int = 80, lines: int = 24) -> None:
        super().__init__(io.StringIO())
        self.screen = Screen(columns)
        self.lines = lines
        self.ready = True
        self.writes = 0

    def size(self) -> ViewSize:
        return ViewSize(self.screen.columns, self.lines)

    def is_ready(self) -> bool:
        return self.ready

    def write(self, text: str) -> None:
        self.writes += 1
        self.screen.write(text)


class Bench:
    """A view with a clock and an interrupt of the test's own."""

    def __init__(self, *, leaves_outcome: bool = False) -> None:
        self.now = 0.0
        self.interrupts = 0
        self.terminal = FakeTerminal()
        self.view = LiveView(
            self.terminal,
            lambda: self.now,
            4,
            ViewLook(),
            interrupts=lambda: self.interrupts,
            leaves_outcome=leaves_outcome,
        )

    @property
    def lines(self) -> list[str]:
        """What is seen."""
        return self.terminal.screen.lines

    def tick(self, seconds: float = 0.1) -> None:
        """Time goes on, and the view is ticked."""
        self.now += seconds
        self.view.tick()

    def begin(self) -> None:
        """Two units, of which one runs."""
        for name in "ab":
            self.view.queue(name, f"claude:{name}")
        self.view.start("a", "claude:a")
        self.tick()


@pytest.fixture
def bench() -> Bench:
    """A view on 80 x 24."""
    return Bench()


def test_a_unit_is_seen_from_its_start_to_its_end(bench: Bench) -> None:
    """Without its UUID, by provider and case."""
    bench.begin()
    assert bench.lines[1].startswith("0 pass  0 fail  0 infra  1 running  1 queued")
    assert bench.lines[2] == "   0:00  claude:a"
    bench.tick(3)
    assert bench.lines[2] == "   0:03  claude:a"
    bench.view.end("a", "claude:a", make_row())
    bench.tick()
    assert bench.lines[1].startswith("1 pass")
    assert len(bench.lines) == 2


def test_ticks_without_news_write_nothing(bench: Bench) -> None:
    """A second of waiting costs one redraw, ten events within a tick cost one too."""
    bench.begin()
    bench.tick(0.95)
    before = bench.terminal.writes
    for _ in range(9):
        bench.tick(0.1)
    assert bench.terminal.writes == before
    for number in range(10):
        bench.view.queue(f"more-{number}", "claude:more")
    bench.tick(0.01)
    assert bench.terminal.writes == before + 1


def test_a_stopped_or_lent_terminal_is_not_waited_for(bench: Bench) -> None:
    """After Ctrl-S, or in the background, the view stands still and catches up later."""
    bench.terminal.ready = False
    bench.begin()
    assert bench.terminal.writes == 0
    bench.terminal.ready = True
    bench.tick()
    assert bench.lines[2] == "   0:00  claude:a"


def test_an_interrupt_is_seen_at_the_next_tick(bench: Bench) -> None:
    """A person who pressed Ctrl-C sees that it was heard."""
    bench.begin()
    bench.interrupts = 1
    bench.tick(1)
    bench.tick(1)
    assert bench.lines[0].startswith("ending 1 running unit: 0:01 of at most 0:10")
    bench.interrupts = 2
    bench.tick(1)
    assert bench.lines[0] == "ending 1 running unit at once: 0:02"


def test_what_others_write_to_standard_error_goes_above(bench: Bench) -> None:
    """A warning comes through whole, and the view stays below it."""
    bench.view.above.write("ARTIFACT_DIR=/x\n")
    bench.begin()
    bench.view.above.write("half a ")
    assert "half" not in "".join(bench.lines)
    bench.view.above.write("line\nand more")
    bench.view.note("sample=2 seed=7")
    assert bench.lines[:3] == ["ARTIFACT_DIR=/x", "half a line", "routing-action: sample=2 seed=7"]
    bench.view.close()
    assert bench.lines[3:] == ["and more"]


def test_a_new_width_is_taken_over(bench: Bench) -> None:
    """The view never wraps for longer than a tick."""
    bench.view.start("a", "claude:" + "long-" * 20)
    bench.tick()
    bench.terminal.screen.resize(40)
    bench.tick()
    assert len(bench.lines) == 4  # the counts take two lines here
    assert bench.lines[3] == "   0:00  claude:long-lon…ong-long-long-"


def test_after_a_stop_the_view_begins_anew(bench: Bench) -> None:
    """What the shell wrote stays."""
    bench.begin()
    bench.terminal.screen.write("[1]+  Stopped\n$ fg\n")
    bench.view.resume()
    bench.tick()
    assert bench.lines[3:5] == ["[1]+  Stopped", "$ fg"]
    assert bench.lines[-1] == "   0:00  claude:a"


def test_at_the_end_the_view_is_gone(bench: Bench) -> None:
    """The final text on standard output takes its place; closing twice does no harm."""
    bench.begin()
    bench.view.close()
    bench.view.close()
    assert bench.lines == []


def test_the_totals_stay_where_standard_output_is_elsewhere() -> None:
    """With `> file` the terminal still says how it went."""
    bench = Bench(leaves_outcome=True)
    bench.begin()
    bench.view.end("a", "claude:a", make_row(cost_usd=0.5))
    bench.view.close()
    assert bench.lines == ["1 of 2 units in 0:00:  1 pass  0 fail  0 infra  0.5000 USD so far"]


class _Broken(io.StringIO):
    """A terminal that was closed."""

    def write(self, text: str) -> int:
        raise OSError(5, "Input/output error")


def test_a_terminal_that_is_gone_does_not_end_the_run() -> None:
    """A closed window costs the view, not the results."""
    terminal = Terminal(cast("io.TextIOWrapper", _Broken()))
    terminal.write("x")
    assert terminal.gone
    terminal.write("x")
    assert terminal.size() == ViewSize(80, 24)
    assert not terminal.is_ready()
