"""Tests of the history's files."""

from __future__ import annotations

from pathlib import Path

import msgspec

from routing_action.evidence.chance import Record
from routing_action.results.past.history import History, HistoryLine, read_history, sum_records


def line(**changes: object) -> HistoryLine:
    """A line of a pair that passed once."""
    fields = {
        "at": "2026-11-01T10:00:00Z",
        "commit": "a" * 40,
        "run": "1",
        "batch": "b1",
        "case_id": "one",
        "agent": "claude",
        "passes": 1,
        "measured": 1,
        "trials": 1,
    }
    return msgspec.convert(fields | changes, HistoryLine)


def test_no_folder_is_an_empty_history(tmp_path: Path) -> None:
    """A repository without history only says less."""
    assert read_history(tmp_path / "none") == History()


def test_lines_are_read_in_the_order_of_time_and_a_pair_of_a_batch_once(tmp_path: Path) -> None:
    """Two runs may have appended the same line; broken ones are counted."""
    old, new = line(), line(at="2026-11-02T10:00:00Z", batch="b2", passes=0)
    texts = [msgspec.json.encode(one) for one in (new, old, old)]
    bad = [b"{", b'{"at": 1}', msgspec.json.encode(line(passes=2)), b"\xff", b""]
    (tmp_path / "2026-11.jsonl").write_bytes(b"\n".join([*texts, *bad]))
    found = read_history(tmp_path)
    assert found == History((old, new), 4)
    assert sum_records(found.lines) == {("one", "claude"): Record(1, 2)}
