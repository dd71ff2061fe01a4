"""A block of lines stays in its place, whatever happens to the terminal around it."""

from __future__ import annotations

import pytest

from routing_action.report.terminal.live import TerminalBlock
from tests.support.terminal_screen import Screen


class Bench:
    """A block on a screen that holds a line already; each write is kept."""

    def __init__(self, columns: int = 40) -> None:
        self.screen = Screen(columns)
        self.screen.write("before\n")
        self.writes: list[str] = []
        self.block = TerminalBlock(self._write)

    def draw(self, *lines: str) -> None:
        """Show lines."""
        self.block.draw([(line, len(line)) for line in lines], self.screen.columns)

    def _write(self, text: str) -> None:
        self.writes.append(text)
        self.screen.write(text)


@pytest.fixture
def bench() -> Bench:
    """On 40 columns."""
    return Bench()


def test_new_lines_take_the_place_of_the_old(bench: Bench) -> None:
    """Nothing of a longer or higher block stays."""
    bench.draw("a long first line", "second", "third")
    bench.draw("short", "2")
    assert bench.screen.lines == ["before", "short", "2"]
    bench.draw("one", "two", "three", "four")
    assert bench.screen.lines == ["before", "one", "two", "three", "four"]


def test_a_redraw_clears_nothing_before_it_writes(bench: Bench) -> None:
    """Lines are overwritten in one write, so that nothing flickers."""
    bench.draw("one", "two")
    bench.draw("one", "2")
    assert len(bench.writes) == 2
    assert "\x1b[2K" not in bench.writes[1]
    assert bench.writes[1].index("\x1b[J") > bench.writes[1].index("2\x1b[K")


def test_the_terminal_works_as_before_after_each_write(bench: Bench) -> None:
    """Whenever the process dies, the cursor is seen and lines wrap."""
    bench.draw("one")
    bench.block.say("said\n", 40)
    bench.block.clear(40)
    for write in bench.writes:
        screen = Screen(40)
        screen.write(write)
        assert not screen.cursor_hidden
        assert screen.wraps


def test_what_is_said_stays_above(bench: Bench) -> None:
    """A warning is neither lost nor overwritten, even one that wraps."""
    bench.draw("one", "two")
    bench.block.say("a warning that is longer than the terminal is wide\n", 40)
    bench.draw("1", "2")
    assert bench.screen.lines == [
        "before",
        "a warning that is longer than the termin",
        "al is wide",
        "1",
        "2",
    ]


def test_before_the_first_block_something_can_be_said(bench: Bench) -> None:
    """ARTIFACT_DIR comes before any line of the view, raw."""
    bench.block.say("ARTIFACT_DIR=/x\n", 40)
    assert bench.writes == ["ARTIFACT_DIR=/x\n"]


@pytest.mark.parametrize("columns", [80, 41, 39, 20, 11, 7])
def test_a_resized_terminal_keeps_one_block(bench: Bench, columns: int) -> None:
    """Lines that a narrower terminal has wrapped go too."""
    bench.draw("x" * 39, "y" * 25, "z")
    bench.screen.resize(columns)
    bench.draw("one", "two")
    assert bench.screen.lines == ["before", "one", "two"]
    bench.screen.resize(40)
    bench.draw("1", "2")
    assert bench.screen.lines == ["before", "1", "2"]


def test_a_control_c_that_the_terminal_echoes_is_overwritten(bench: Bench) -> None:
    """No `^C` stands in the view."""
    bench.draw("one", "two")
    bench.screen.write("^C")
    bench.draw("1", "2")
    assert bench.screen.lines == ["before", "1", "2"]


def test_at_the_end_nothing_of_it_is_left(bench: Bench) -> None:
    """The outcome follows where the block stood."""
    bench.draw("one", "two")
    bench.block.clear(40)
    bench.block.clear(40)
    bench.screen.write("case  claude\n")
    assert bench.screen.lines == ["before", "case  claude"]


def test_after_a_stop_a_new_block_begins_below(bench: Bench) -> None:
    """What the shell wrote after Ctrl-Z is not overwritten."""
    bench.draw("one", "two")
    bench.screen.write("[1]+  Stopped\n$ fg\n")
    bench.block.forget()
    bench.draw("1", "2")
    assert bench.screen.lines == ["before", "one", "two", "[1]+  Stopped", "$ fg", "1", "2"]
