"""Tests of the history's files."""

from __future__ import annotations

from pathlib import Path

import msgspec

from routing_action.results.past.history import History, HistoryLine, read_history


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


def test_only_the_newest_runs_of_a_pair_are_kept_and_older_files_left_alone(tmp_path: Path) -> None:
    """All of them where that is asked for; a file that nobody needs is not even opened."""
    for month in (9, 10, 11):
        days = range(1, 4)
        lines = [line(at=f"2026-{month:02}-0{day}", batch=f"{month}-{day}") for day in days]
        text = b"\n".join(map(msgspec.json.encode, lines))
        (tmp_path / f"2026-{month:02}.jsonl").write_bytes(text)
    assert [one.batch for one in read_history(tmp_path, 2).lines] == ["11-2", "11-3"]
    assert [one.batch for one in read_history(tmp_path, 4).lines] == [
        "10-3",
        "11-1",
        "11-2",
        "11-3",
    ]
    assert len(read_history(tmp_path, None).lines) == 9
    (tmp_path / "2026-10.jsonl").unlink()
    (tmp_path / "2026-10.jsonl").mkdir()
    assert len(read_history(tmp_path, 3).lines) == 3


def test_a_rare_pair_is_looked_for_in_older_files(tmp_path: Path) -> None:
    """It is measured once a month, the others all the time."""
    for month in (9, 10):
        rare = line(at=f"2026-{month:02}-01", batch=f"{month}", agent="codex")
        often = [line(at=f"2026-{month:02}-0{day}", batch=f"{month}-{day}") for day in range(1, 5)]
        text = b"\n".join(map(msgspec.json.encode, [rare, *often]))
        (tmp_path / f"2026-{month:02}.jsonl").write_bytes(text)
    found = [one.batch for one in read_history(tmp_path, 2).lines if one.agent == "codex"]
    assert found == ["9", "10"]
