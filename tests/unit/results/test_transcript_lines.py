"""The lines of a transcript around its hits: those, and nothing that a hostile folder leads to."""

from __future__ import annotations

from pathlib import Path

import pytest

from routing_action.results import transcript_lines
from routing_action.results.batch_folder import render_results
from routing_action.results.model import UnitResult
from routing_action.results.transcript_lines import find_transcripts, read_lines, stream_units
from tests.support.report_values import make_record
from tests.support.result_rows import make_hit, make_results, make_row, unit_id


def row(
    *lines: int, place: str = "mention at stdout line {}", name: str = unit_id(1)
) -> UnitResult:
    hits = {f"token-{line}": make_hit(3, 10, place.format(line), "proof") for line in lines}
    return make_record(status="fail", unit_run_id=name, token_hits={**hits, "none": None}).row


def make_folder(tmp_path: Path, content: bytes, name: str = unit_id(1)) -> Path:
    (tmp_path / "transcripts").mkdir(exist_ok=True)
    (tmp_path / "transcripts" / f"{name}.stdout").write_bytes(content)
    return tmp_path / "results.json"


def numbers(file: Path, unit: UnitResult) -> list[tuple[int, str, bool]]:
    return [(line.number, line.text, line.decisive) for line in read_lines(file, unit)]


TEN = b"".join(b"line %d\r\n" % n for n in range(1, 11))


def test_two_lines_stand_on_each_side_of_a_hit(tmp_path: Path) -> None:
    """A reader sees what led to the line that decided."""
    file = make_folder(tmp_path, TEN)
    assert numbers(file, row(5)) == [
        (3, "line 3", False), (4, "line 4", False), (5, "line 5", True),
        (6, "line 6", False), (7, "line 7", False),
    ]  # fmt: skip


def test_hits_that_are_near_share_their_lines(tmp_path: Path) -> None:
    """No line is shown twice, and the ends of the file are no error."""
    found = numbers(make_folder(tmp_path, TEN.rstrip()), row(1, 9, 10))
    assert [number for number, _, _ in found] == [1, 2, 3, 7, 8, 9, 10]
    assert [number for number, _, decisive in found if decisive] == [1, 9, 10]


def test_long_lines_are_cut_and_counted_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line of megabytes costs little, and does not shift the numbers."""
    monkeypatch.setattr(transcript_lines, "_BLOCK_BYTES", 8)
    monkeypatch.setattr(transcript_lines, "MAX_LINE_BYTES", 20)
    found = numbers(make_folder(tmp_path, b"x" * 100 + b"\nsecond\n\xff\n"), row(2))
    assert found == [(1, "x" * 20, False), (2, "second", True), (3, "\ufffd", False)]


def test_no_more_than_a_part_of_a_huge_transcript_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hit far behind is left out rather than searched for minutes."""
    monkeypatch.setattr(transcript_lines, "MAX_SCANNED_BYTES", 20)
    assert numbers(make_folder(tmp_path, TEN), row(9)) == []


@pytest.mark.parametrize(
    "unit",
    [
        row(5, name="../secret"),
        row(5, name="00000000-0000-4000-8000-0000000000ZZ"),
        row(5, name=unit_id(2)),
        row(),
        row(5, place="mention at /home/agent/x.log line {}"),
        row(5, place="mention at stdout line 0{}"),
    ],
)
def test_nothing_is_read_for_what_names_no_transcript(unit: UnitResult, tmp_path: Path) -> None:
    """Hostile ids reach no file, and logs are no transcripts."""
    file = make_folder(tmp_path, TEN)
    (tmp_path / "secret.stdout").write_bytes(TEN)
    assert numbers(file, unit) == []


def test_links_are_not_followed(tmp_path: Path) -> None:
    """An artifact cannot make a report show another file of the machine."""
    secret = tmp_path / "secret"
    secret.write_bytes(TEN)
    (tmp_path / "transcripts").mkdir()
    (tmp_path / "transcripts" / f"{unit_id(1)}.stdout").symlink_to(secret)
    assert numbers(tmp_path / "results.json", row(5)) == []
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "transcripts").symlink_to(tmp_path / "transcripts")
    assert numbers(tmp_path / "elsewhere" / "results.json", row(5)) == []


HIT = {
    "best_score": 10,
    "tier": 3,
    "source_kind": "cli_output",
    "source_detail": "mention at stdout line 2",
    "proof_line": "line 2",
}


def make_batch(tmp_path: Path, *statuses: str) -> Path:
    """A results.json of units with a hit, and their transcripts."""
    rows = [make_row(n, trial=n, status=status, token_hits={"foo": HIT})
            for n, status in enumerate(statuses, start=1)]  # fmt: skip
    file = tmp_path / "results.json"
    file.write_text(render_results(make_results(*rows)), encoding="utf-8")
    for number in range(1, len(rows) + 1):
        make_folder(tmp_path, TEN, unit_id(number))
    return file


def test_all_units_share_a_budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A report of thousands of failures stays of a size that opens."""
    monkeypatch.setattr(transcript_lines, "TRANSCRIPT_BUDGET", 10)
    first, second = stream_units([make_batch(tmp_path, "fail", "fail")])
    assert first.lines
    assert second.lines == ()


def test_units_that_do_not_pass_come_with_their_lines(tmp_path: Path) -> None:
    """The transcripts folder next to results.json is found; passing units need none."""
    failed, passed = stream_units([make_batch(tmp_path, "fail", "pass")])
    assert [line.number for line in failed.lines] == [1, 2, 3, 4]
    assert passed.lines == ()


def test_each_unit_names_its_transcripts_that_hold_anything(tmp_path: Path) -> None:
    """A link to a file that is empty, or not there, would help nobody."""
    file = make_batch(tmp_path, "fail", "pass", "fail")
    folder = tmp_path / "transcripts"
    (folder / f"{unit_id(1)}.stderr").write_text("no such model", encoding="utf-8")
    (folder / f"{unit_id(2)}.stderr").touch()
    (folder / f"{unit_id(3)}.stdout").unlink()
    found = [[Path(one).name for one in unit.transcripts] for unit in stream_units([file])]
    assert found == [
        [f"{unit_id(1)}.stdout", f"{unit_id(1)}.stderr"],
        [f"{unit_id(2)}.stdout"],
        [],
    ]


@pytest.mark.parametrize("name", ["../secret", "", "\x00", unit_id(1)])
def test_no_transcript_is_named_that_an_artifact_made_up(name: str, tmp_path: Path) -> None:
    """Neither an id that is a path nor a link leads anywhere."""
    (tmp_path / "secret.stdout").write_bytes(TEN)
    (tmp_path / "transcripts").mkdir()
    (tmp_path / "transcripts" / f"{unit_id(1)}.stdout").symlink_to(tmp_path / "secret.stdout")
    assert find_transcripts(tmp_path / "results.json", row(5, name=name)) == ()
    (tmp_path / "real").mkdir()
    make_folder(tmp_path / "real", TEN)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "transcripts").symlink_to(tmp_path / "real" / "transcripts")
    assert find_transcripts(tmp_path / "elsewhere" / "results.json", row(5, name=name)) == ()
