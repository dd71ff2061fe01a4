"""In the middle of a flood no more than the end of a run and loads of skills are looked for."""

from __future__ import annotations

import json
from typing import Any

import pytest

from routing_action.agents.discovery import all_providers
from routing_action.agents.reading import flood, records
from routing_action.evidence.evidence import EvidenceCollector
from routing_action.evidence.outcome import Outcome, RunEnd, decide_outcome
from routing_action.evidence.prefilter import Prefilter
from routing_action.evidence.reader_protocol import ReadContext
from tests.support.streams import ENDING, OPENING, Record, load, say, shell

AGENTS = ("claude", "codex", "copilot", "gemini")
EXACT, HELD = 4_000, 6_000
SKILL, OTHER = "widget-test", "order-api"


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Floods of some kilobytes."""
    monkeypatch.setattr(records, "EXACT_BYTES", EXACT)
    monkeypatch.setattr(flood, "HELD_BYTES", HELD)


def lines_of(*written: Record) -> list[bytes]:
    """As the CLIs write them: without spaces."""
    return [json.dumps(one, separators=(",", ":")).encode() + b"\n" for one in written]


def work(agent: str, count: int) -> list[bytes]:
    """Turns that prove nothing."""
    return lines_of(say(agent, "Fine so far. " * 20), *shell(agent, "true", "x" * 200)) * count


class Flooded:
    """A run that is read in blocks of three lines; the verdict stands once SKILL was loaded."""

    def __init__(self, agent: str, *, settles: bool = True) -> None:
        self.evidence = EvidenceCollector(agent, (SKILL,), prefilter=Prefilter((SKILL,)))
        self.reader: Any = all_providers()[agent].reader(
            ReadContext(
                may_name=self.evidence.may_name,
                naming_lines=self.evidence.naming_lines,
                needs_mentions=self.evidence.needs_mentions,
                is_settled=lambda: settles and SKILL in self.evidence.loads,
            )
        )

    def feed(self, lines: list[bytes]) -> None:
        for start in range(0, len(lines), 3):
            block = b"".join(lines[start : start + 3])
            self.evidence.extend(self.reader.feed_block(block))

    def outcome(self) -> Outcome:
        self.evidence.extend(self.reader.finish(0))
        return decide_outcome(self.reader.reading, RunEnd())


def flooded(agent: str, *parts: list[bytes], settles: bool = True) -> Flooded:
    """Opening and load, then the parts."""
    run = Flooded(agent, settles=settles)
    run.feed(lines_of(*OPENING[agent], say(agent, "First."), *load(agent, SKILL)))
    for part in parts:
        run.feed(part)
    return run


@pytest.mark.parametrize("agent", AGENTS)
def test_a_flood_says_what_it_says_when_all_of_it_is_read(agent: str) -> None:
    """Hits, loads, outcome, usage, the number of records; and a note of what was passed."""
    parts = (work(agent, 60), lines_of(*ENDING[agent]))
    passed, whole = flooded(agent, *parts), flooded(agent, *parts, settles=False)
    assert passed.outcome() is whole.outcome() is Outcome.COMPLETED
    assert passed.evidence.hits == whole.evidence.hits
    assert passed.evidence.loads == whole.evidence.loads == [SKILL]
    told, all_told = passed.reader.reading, whole.reader.reading
    assert told.usage == all_told.usage
    assert (told.recognised, told.terminal) == (all_told.recognised, True)
    (note,) = told.notes
    assert "counted by the block" in note
    assert all_told.notes == ()
    assert told.turns < all_told.turns


@pytest.mark.parametrize("agent", AGENTS)
def test_the_end_of_a_run_is_seen_at_once(agent: str) -> None:
    """Else a process that lingers would be ended as too late."""
    run = flooded(agent, work(agent, 60))
    assert not run.reader.terminal_seen
    run.feed(lines_of(*ENDING[agent]))
    assert run.reader.terminal_seen


@pytest.mark.parametrize("agent", AGENTS)
def test_a_load_in_the_middle_is_kept(agent: str) -> None:
    """It changes no verdict, but the list of what was loaded."""
    more = lines_of(*load(agent, OTHER))
    run = flooded(agent, work(agent, 40), more, work(agent, 40), lines_of(*ENDING[agent]))
    assert run.outcome() is Outcome.COMPLETED
    assert run.evidence.loads == [SKILL, OTHER]


@pytest.mark.parametrize("agent", AGENTS)
def test_a_run_that_stops_in_the_middle_is_killed(agent: str) -> None:
    """What is held is read at the end."""
    run = flooded(agent, work(agent, 60))
    before = run.reader.turns
    assert run.outcome() is Outcome.KILLED
    assert run.reader.turns > before


def test_a_failure_at_the_end_counts() -> None:
    """The verdict stood as far as routing goes."""
    failed = {
        "type": "result", "subtype": "success", "is_error": True, "result": "401 invalid x-api-key",
        "api_error_status": 401, "total_cost_usd": 0,
    }  # fmt: skip
    run = flooded("claude", work("claude", 60), lines_of(failed))
    assert run.outcome() is Outcome.AUTH


def test_text_between_records_is_counted_as_text() -> None:
    """By the first line of a block."""
    parts = (work("claude", 20), [b"oops\n"] * 600, work("claude", 20), lines_of(*ENDING["claude"]))
    passed, whole = flooded("claude", *parts), flooded("claude", *parts, settles=False)
    assert passed.outcome() is whole.outcome() is Outcome.SCHEMA_DRIFT
    assert passed.reader.reading.unrecognised == whole.reader.reading.unrecognised == 600


def test_blank_lines_of_long_text_are_counted_too() -> None:
    """To tell them apart would take as long as all the rest."""
    run = Flooded("claude")
    run.feed([b"text\n", b"\n", b" \n"] * 1000)
    assert run.outcome() is Outcome.COMPLETED
    assert run.reader.reading.recognised == 500 + 3 * 500


def test_steps_that_add_up_are_all_read() -> None:
    """Of opencode, which tells its tokens step by step, no block is passed over."""
    assert all_providers()["opencode"].reader(ReadContext()).end_mark == b""  # type: ignore[attr-defined]


def test_a_flood_holds_no_more_than_the_end() -> None:
    """Blocks come back in order, and what is taken is gone."""
    held = flood.Flood()
    given = [block for n in range(100) for block in held.hold(b"%04d" % n * 100)]
    assert given == [b"%04d" % n * 100 for n in range(len(given))]
    rest = held.take()
    assert HELD <= sum(map(len, rest)) < HELD + 400
    assert [*given, *rest] == [b"%04d" % n * 100 for n in range(100)]
    assert held.take() == []
