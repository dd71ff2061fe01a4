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
from routing_action.results.journal import MAX_JOURNAL_BYTES, Journal
from routing_action.results.journal_records import (
    DoneRecord,
    EndRecord,
    PlannedUnit,
    PlanRecord,
    Record,
    Recovered,
    ResumeRecord,
    RoundRecord,
    StartRecord,
)
from routing_action.results.model import UnitResult
from routing_action.run.dead_batches import find_dead_units
from tests.support.result_rows import make_results, make_row

BATCH = "bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb"
NOW = "2026-01-02T03:04:05.678Z"
OPTIONS = make_results().options.model_copy(update={"selected_case_ids": ("c0", "c1", "c2")})


def unit(number: int, *, attempt: int = 0) -> PlannedUnit:
    """The unit of case `cN`, with an id that tells number and attempt."""
    unit_run_id = f"00000000-0000-4000-8000-{attempt:06}{number:06}"
    return PlannedUnit(unit_run_id=unit_run_id, agent="claude", case_id=f"c{number}", trial=1)


def row(planned: PlannedUnit, *, cancelled: bool = False) -> UnitResult:
    """A row of the unit: passed, or cancelled."""
    ended: dict[str, Any] = {
        "status": "infra_error",
        "outcome": "cancelled",
        "ended_by": "cancelled",
    }
    return make_row(
        unit_run_id=planned.unit_run_id,
        agent=planned.agent,
        case_id=planned.case_id,
        trial=planned.trial,
        source="none",
        matched_evidence=(),
        duration_ms=5,
        command=("agent",),
        output_excerpt="ünïcode \u2028 text",
        recognised_events=1,
        **(ended if cancelled else {}),
    )


UNITS = tuple(unit(n) for n in range(3))
PLAN = PlanRecord(
    batch_run_id=BATCH, at_utc=NOW, arguments=("--agents=claude",), options=OPTIONS, units=UNITS
)


def life() -> list[Record]:
    """A batch that was killed, resumed, had a second round, and came to its end."""
    again = unit(1, attempt=1)
    more = PlannedUnit(unit_run_id=unit(9).unit_run_id, agent="claude", case_id="c2", trial=2)
    return [
        PLAN,
        _start(UNITS[0]),
        _start(UNITS[1]),
        EndRecord(row=row(UNITS[0])),
        EndRecord(row=row(UNITS[1], cancelled=True)),
        DoneRecord(at_utc=NOW, complete=False, exit_code=130),
        ResumeRecord(at_utc=NOW, units=(again, UNITS[2])),
        _start(again),
        EndRecord(row=row(again)),
        _start(UNITS[2]),
        EndRecord(row=row(UNITS[2])),
        RoundRecord(units=(more,)),
        _start(more),
        EndRecord(row=row(more)),
        DoneRecord(at_utc=NOW, complete=True, exit_code=0),
    ]


def _start(planned: PlannedUnit) -> StartRecord:
    return StartRecord(unit_run_id=planned.unit_run_id, at_utc=NOW)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a batch's journal stands."""
    folder = tmp_path / BATCH
    folder.mkdir()
    return folder / "journal.jsonl"


def write(path: Path, entries: list[Record]) -> bytes:
    journal = Journal.create(path)
    for entry in entries:
        journal.append(entry)
    journal.close()
    return path.read_bytes()


def read(path: Path) -> Recovered:
    journal = Journal.reopen(path)
    try:
        return journal.recover()
    finally:
        journal.close()


def test_a_whole_life_is_read_back(path: Path) -> None:
    """Rows, attempts and the end, whatever interruptions lie between."""
    write(path, life())
    found = read(path)
    assert set(found.rows) == {("claude", f"c{n}", 1) for n in range(3)} | {("claude", "c2", 2)}
    assert found.rows["claude", "c1", 1].unit_run_id == unit(1, attempt=1).unit_run_id
    assert len(found.markers) == 5
    assert found.done is not None
    assert found.done.complete
    assert path.stat().st_mode & 0o777 == 0o600


WHOLE = b"".join(entry.model_dump_json(by_alias=True).encode() + b"\n" for entry in life())
PLAN_BYTES = WHOLE.index(b"\n") + 1


@given(st.integers(PLAN_BYTES, len(WHOLE)), st.binary(max_size=40).filter(lambda b: b"\n" not in b))
def test_any_beginning_of_a_journal_can_be_gone_on_with(
    tmp_path_factory: pytest.TempPathFactory, cut: int, tail: bytes
) -> None:
    """Cut at any byte behind the plan, with any torn rest: all whole records count, none more."""
    path = tmp_path_factory.mktemp("batch") / "journal.jsonl"
    path.write_bytes(WHOLE[:cut] + tail)
    journal = Journal.reopen(path)
    found = journal.recover()
    whole = WHOLE[: WHOLE.rindex(b"\n", 0, cut) + 1]
    assert path.read_bytes() == whole
    ends = [json.loads(line)["row"] for line in whole.splitlines() if b'"kind":"end"' in line]
    assert {one.unit_run_id for one in found.rows.values()} == {
        end["unit_run_id"] for end in ends if end["ended_by"] != "cancelled"
    }
    missing = [unit for key, unit in found.attempts.items() if key not in found.rows]
    journal.append(DoneRecord(at_utc=NOW, complete=not missing, exit_code=0))
    assert journal.recover().done is not None
    journal.close()


@pytest.mark.parametrize("cut", [0, 1, PLAN_BYTES - 1])
def test_without_a_whole_plan_nothing_had_been_started(path: Path, cut: int) -> None:
    """It says so, and what to do."""
    path.write_bytes(WHOLE[:cut])
    with pytest.raises(DocumentError, match=r"holds no plan[^\0]*start a new batch"):
        read(path)


def hostile() -> Iterator[tuple[str, bytes, int, str]]:
    lines = WHOLE.splitlines(keepends=True)
    plan, start, end = lines[0], lines[1], lines[3]
    yield "another version", plan.replace(b'"journal":1', b'"journal":2'), 1, "another version"
    yield "no JSON", plan + b"{]\n", 2, "Invalid JSON"
    yield "another kind", plan + b'{"kind":"erase"}\n', 2, "erase"
    yield "no object", plan + b"[]\n", 2, "object"
    yield "an empty line", plan + b"\n", 2, "Invalid JSON"
    yield "zero bytes", plan + b"\0" * 9 + b"\n", 2, "Invalid JSON"
    yield "no UTF-8", plan + b'{"kind":"\xff"}\n', 2, ""
    yield "unknown field", plan + start.replace(b'"at_utc"', b'"at"'), 2, "at_utc"
    yield "no plan first", start, 1, "must be the plan"
    yield "two plans", plan + plan, 2, "second plan"
    yield "strange start", plan + start.replace(b"00000000", b"99999999"), 2, "not planned"
    yield "strange end", plan + end.replace(b"00000000", b"99999999"), 2, "not planned"
    yield "two ends", plan + end + end, 3, "ended twice"
    yield "one unit twice", plan + lines[11].replace(b'"trial":2', b'"trial":1'), 2, "planned twice"
    taken = lines[11].replace(unit(9).unit_run_id.encode(), UNITS[0].unit_run_id.encode())
    yield "one id twice", plan + taken, 2, "given twice"
    yield "not missing", plan + lines[4 - 1] + _resume(UNITS[0]), 3, "not one that was missing"
    yield "deep", plan + b"[" * 100_000 + b"\n", 2, ""


def _resume(planned: PlannedUnit) -> bytes:
    return ResumeRecord(at_utc=NOW, units=(planned,)).model_dump_json().encode() + b"\n"


@pytest.mark.parametrize(
    ("data", "line", "cause"), [pytest.param(*one[1:], id=one[0]) for one in hostile()]
)
def test_what_the_harness_did_not_write_is_refused(
    path: Path, data: bytes, line: int, cause: str
) -> None:
    """Exit 2, with the file and the line; the file stays as it is."""
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
    with pytest.raises(DocumentError, match="no such file"):
        read(path)


def test_a_journal_has_one_owner(path: Path) -> None:
    """Until it is closed nobody else gets it, and a batch's own is never overwritten."""
    journal = Journal.create(path)
    with pytest.raises(UsageError, match="is still running"):
        Journal.reopen(path)
    with pytest.raises(HarnessError, match="File exists"):
        Journal.create(path)
    journal.close()
    Journal.reopen(path).close()


def test_a_record_for_which_there_is_no_space_leaves_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that fills up within a line: the records before it are whole, and it is an error."""
    journal = Journal.create(path)
    journal.append(PLAN)
    whole = path.read_bytes()
    real = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: real(descriptor, data[:7]))
    with pytest.raises(HarnessError, match="no space for a whole record"):
        journal.append(_start(UNITS[0]))
    assert path.read_bytes() == whole

    def full(descriptor: int, data: bytes) -> int:
        real(descriptor, data[:7])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(HarnessError, match=r"No space left on device[^\0]*--resume"):
        journal.append(_start(UNITS[0]))
    assert path.read_bytes() == whole
    journal.close()


def test_only_dead_batches_have_units_to_sweep(tmp_path: Path) -> None:
    """No batch that ended in order, none that runs, and nothing that is no journal of ours."""
    roots = {name: tmp_path / name for name in ("dead", "done", "runs", "strange", "empty")}
    for folder in roots.values():
        folder.mkdir()
    write(roots["dead"] / "journal.jsonl", life()[:4])
    write(roots["done"] / "journal.jsonl", life())
    (roots["strange"] / "journal.jsonl").write_bytes(WHOLE[:PLAN_BYTES] + b"{}\n")
    running = Journal.create(roots["runs"] / "journal.jsonl")
    running.append(PLAN)
    assert find_dead_units(tmp_path) == {one.unit_run_id for one in UNITS}
    running.close()
    assert find_dead_units(tmp_path / "missing") == frozenset()
