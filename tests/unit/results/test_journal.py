"""A batch's journal on disk: what is kept, what is torn off, what is refused."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing_action.errors import DocumentError, HarnessError, UsageError
from routing_action.results.journal import (
    MAX_JOURNAL_BYTES,
    EarlierRun,
    Header,
    Journal,
)
from routing_action.results.model import UnitResult
from tests.support.result_rows import make_results, make_row

BATCH = "bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb"
NOW = "2026-01-02T03:04:05.678Z"
OPTIONS = make_results().options.model_copy(update={"selected_case_ids": ("c0", "c1", "c2")})
HEADER = Header(
    batch_run_id=BATCH, at_utc=NOW, arguments=("--agents=claude",), options=OPTIONS, units=3
)


def unit_id(number: int, attempt: int = 0) -> str:
    """An id that tells number and attempt."""
    return f"00000000-0000-4000-8000-{attempt:06}{number:06}"


def row(number: int, *, attempt: int = 0, trial: int = 1, cancelled: bool = False) -> UnitResult:
    """The row of case `cN`: passed, or cancelled."""
    ended: dict[str, Any] = {
        "status": "infra_error",
        "outcome": "cancelled",
        "ended_by": "cancelled",
    }
    return make_row(
        unit_run_id=unit_id(number, attempt),
        case_id=f"c{number}",
        trial=trial,
        output_excerpt="ünïcode \u2028 text",
        **(ended if cancelled else {}),
    )


def live(journal: Journal) -> None:
    """A batch that was interrupted, resumed, and ran one unit a second time."""
    journal.begin(HEADER)
    journal.start(unit_id(0))
    journal.start(unit_id(1))
    journal.end(row(0))
    journal.end(row(1, cancelled=True))
    journal.resume(NOW)
    journal.start(unit_id(1, 1))
    journal.end(row(1, attempt=1))
    journal.start(unit_id(2))
    journal.end(row(2))
    journal.start(unit_id(2, 1))
    journal.end(row(2, attempt=1, trial=2))


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a whole life."""
    path = tmp_path_factory.mktemp("whole") / "journal.jsonl"
    journal = Journal.create(path)
    live(journal)
    journal.close()
    return path.read_bytes()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a batch's journal stands."""
    folder = tmp_path / BATCH
    folder.mkdir()
    return folder / "journal.jsonl"


def read(path: Path) -> EarlierRun:
    journal = Journal.reopen(path)
    try:
        return journal.recover()
    finally:
        journal.close()


def test_a_whole_life_is_read_back(path: Path, whole: bytes) -> None:
    """The row of each unit, whatever interruptions lie between; nothing is left running."""
    path.write_bytes(whole)
    found = read(path)
    assert found.header == HEADER
    assert set(found.rows) == {("claude", f"c{n}", 1) for n in range(3)} | {("claude", "c2", 2)}
    assert found.rows["claude", "c1", 1].unit_run_id == unit_id(1, 1)
    assert found.running == set()


def test_a_new_journal_is_its_owners_alone(path: Path) -> None:
    """Prompts and answers stand in it."""
    Journal.create(path).close()
    assert path.stat().st_mode & 0o777 == 0o600


@given(cut=st.floats(0, 1), tail=st.binary(max_size=40).filter(lambda b: b"\n" not in b))
def test_any_beginning_of_a_journal_can_be_continued(
    tmp_path_factory: pytest.TempPathFactory, whole: bytes, cut: float, tail: bytes
) -> None:
    """Cut at any byte behind the header, with any torn rest: all whole lines count, none more."""
    header = whole.index(b"\n") + 1
    at = header + round(cut * (len(whole) - header))
    path = tmp_path_factory.mktemp("batch") / "journal.jsonl"
    path.write_bytes(whole[:at] + tail)
    kept = whole[: whole.rindex(b"\n", 0, at) + 1]
    lines = [json.loads(line) for line in kept.splitlines()]
    rows = [line for line in lines if "status" in line]
    found = read(path)
    assert path.read_bytes() == kept
    assert {one.unit_run_id for one in found.rows.values()} == {
        line["unit_run_id"] for line in rows if line["ended_by"] != "cancelled"
    }
    started = {line["start"] for line in lines if "start" in line}
    assert found.running == started - {line["unit_run_id"] for line in rows}
    journal = Journal.reopen(path)
    journal.recover()
    journal.resume(NOW)
    journal.close()
    assert read(path).running == set()


@pytest.mark.parametrize("part", [0.0, 0.1, 1.0])
def test_without_a_whole_header_nothing_had_been_started(
    path: Path, whole: bytes, part: float
) -> None:
    """It says so, and what to do."""
    path.write_bytes(whole[: round(part * whole.index(b"\n"))])
    with pytest.raises(DocumentError, match=r"holds no plan[^\0]*start a new batch"):
        read(path)


def hostile() -> Iterator[Any]:
    """Names, what becomes of header, start and row lines, the line that is wrong, and the cause."""
    older = b'{"kind":"plan","journal":1,"batch_run_id":"x"}\n'
    for name, change, line, cause in (
        ("an older version", lambda h, s, r: older, 1, "is 1, routing-action"),
        ("a newer version", lambda h, s, r: h.replace(b'l":2', b'l":3'), 1, "is 3, routing-action"),
        ("no JSON", lambda h, s, r: h + b"{]\n", 2, "Invalid JSON"),
        ("another line", lambda h, s, r: h + b'{"kind":"erase"}\n', 2, "unit_run_id"),
        ("no object", lambda h, s, r: h + b"[]\n", 2, "object"),
        ("an empty line", lambda h, s, r: h + b"\n", 2, "Invalid JSON"),
        ("zero bytes", lambda h, s, r: h + b"\0" * 9 + b"\n", 2, "Invalid JSON"),
        ("no UTF-8", lambda h, s, r: h + b'{"kind":"\xff"}\n', 2, ""),
        ("unknown field", lambda h, s, r: h + s.replace(b"}", b',"a":1}'), 2, "unit_run_id"),
        ("no id", lambda h, s, r: h + b'{"start":"x"}\n', 2, "unit_run_id"),
        ("no header first", lambda h, s, r: s, 1, "field batch_run_id"),
        ("two headers", lambda h, s, r: h + h, 2, "unit_run_id"),
        ("strange row", lambda h, s, r: h + r, 2, "not started"),
        ("one row twice", lambda h, s, r: h + s + r + r, 4, "not started"),
        ("one unit twice", lambda h, s, r: h + s + r + s + r, 5, "ended twice"),
        ("deep", lambda h, s, r: h + b"[" * 100_000 + b"\n", 2, ""),
    ):
        yield pytest.param(change, line, cause, id=name)


@pytest.mark.parametrize(("change", "line", "cause"), list(hostile()))
def test_what_the_harness_did_not_write_is_refused(
    path: Path,
    whole: bytes,
    change: Any,  # noqa: ANN401 - a function of three lines
    line: int,
    cause: str,
) -> None:
    """Exit 2, with the file and the line; the file stays as it is."""
    header, start, _, end, *_ = whole.splitlines(keepends=True)
    data = change(header, start, end)
    path.write_bytes(data)
    with pytest.raises(DocumentError) as caught:
        read(path)
    assert (caught.value.exit_code, caught.value.file, caught.value.line) == (2, str(path), line)
    assert cause in str(caught.value)
    assert path.read_bytes() == data


def test_links_folders_and_huge_files_are_not_read(path: Path, tmp_path: Path) -> None:
    """A link could name any file, and the torn end of that would be cut off."""
    other = tmp_path / "other.txt"
    other.write_text("precious, without a newline", encoding="utf-8")
    path.symlink_to(other)
    with pytest.raises(DocumentError, match="a link is not followed"):
        read(path)
    assert other.read_text("utf-8") == "precious, without a newline"
    path.unlink()
    path.mkdir()
    with pytest.raises(DocumentError, match="cannot be opened"):
        read(path)
    path.rmdir()
    os.mkfifo(path)
    with pytest.raises(DocumentError, match="not a regular file"):
        read(path)
    path.unlink()
    with path.open("wb") as file:
        file.truncate(MAX_JOURNAL_BYTES + 1)
    with pytest.raises(DocumentError, match="not a regular file of at most"):
        read(path)
    path.unlink()
    with pytest.raises(DocumentError, match="No such file"):
        read(path)


def test_a_journal_has_one_owner(path: Path) -> None:
    """Until it is closed nobody else gets it, and a batch's own is never overwritten."""
    journal = Journal.create(path)
    journal.start(unit_id(0))
    with pytest.raises(UsageError, match="is still running"):
        Journal.reopen(path)
    with pytest.raises(HarnessError, match="File exists"):
        Journal.create(path)
    journal.close()
    Journal.reopen(path).close()


def test_a_line_for_which_there_is_no_space_leaves_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line that is written in parts is whole; where the disk is full nothing of it stays."""
    journal = Journal.create(path)
    journal.begin(HEADER)
    whole = path.read_bytes()
    real = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: real(descriptor, data[:7]))
    journal.start(unit_id(0))
    assert path.read_bytes() == whole + f'{{"start":"{unit_id(0)}"}}\n'.encode()
    whole = path.read_bytes()

    def full(descriptor: int, data: bytes) -> int:
        real(descriptor, data[:7])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(HarnessError, match=r"No space left on device[^\0]*`\S.* --resume /\S+`"):
        journal.start(unit_id(0))
    assert path.read_bytes() == whole
    journal.close()
