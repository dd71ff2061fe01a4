"""What killed batches left running is found in their journals, and in nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from routing_action.results.journal import Header, Journal
from routing_action.run import resume
from routing_action.run.resume import read_dead
from tests.support.result_rows import make_results, make_row, unit_id

NOW = "2026-01-02T03:04:05.678Z"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The journal of a batch that was killed: one unit had ended, another one not."""
    path = tmp_path / "journal.jsonl"
    journal = Journal.create(path)
    options = make_results().options
    journal.begin(
        Header(batch_run_id=unit_id(99), at_utc=NOW, arguments=(), options=options, units=2)
    )
    journal.start(unit_id(1))
    journal.start(unit_id(2))
    journal.end(make_row(1))
    journal.close()
    return path


def running(path: Path) -> set[str] | None:
    """The attempts that were left running; None where there is nothing to read."""
    dead = read_dead(path)
    return dead.running if dead else None


def test_only_what_has_no_row_was_left_running(path: Path) -> None:
    """And nothing once the batch was resumed."""
    assert running(path) == {unit_id(2)}
    journal = Journal.reopen(path)
    journal.recover()
    assert running(path) is None, "it is held"
    journal.resume(NOW)
    journal.close()
    assert running(path) == set()


def test_what_is_no_journal_of_ours_is_passed_over(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A link, a folder, a strange file, a missing one, one of another release, a huge one."""
    (tmp_path / "link").symlink_to(path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "strange").write_bytes(path.read_bytes() + b"{}\n\xff\n")
    (tmp_path / "older").write_bytes(b'{"kind":"plan","journal":1}\n')
    for name in ("link", "folder", "strange", "missing", "older"):
        assert running(tmp_path / name) is None
    monkeypatch.setattr(resume, "MOST_BYTES", 10)
    assert running(path) is None
