"""Makes a set of recordings of a batch's transcripts; a replay of it reaches the same verdicts.

Transcripts are copied as they were stored, with the secrets that the run knew already masked.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from routing_action.errors import DocumentError
from routing_action.evidence.transcript import EndedBy
from routing_action.files.atomic import unwritable, write_atomically
from routing_action.files.plain_files import open_regular
from routing_action.results.batch_folder import RESULTS_FILE, TRANSCRIPTS
from routing_action.results.model import UnitResult
from routing_action.results.read import read_results
from routing_action.results.transcript_lines import check_transcripts
from routing_action.run.replay.recordings import SUFFIXES, check_name

_OWN_ENDS = (EndedBy.EXIT, EndedBy.TERMINAL_GRACE, EndedBy.WALL_DEADLINE, EndedBy.IDLE_DEADLINE)
_REPLAYED_DEADLINE_S = 1


@dataclass(frozen=True, slots=True)
class Recorded:
    """The rows that were recorded, and why each other one was left out."""

    rows: tuple[UnitResult, ...]
    left_out: tuple[str, ...]


def record_batch(
    batch: Path, folder: Path, *, agents: Collection[str], case_ids: Collection[str], force: bool
) -> Recorded:
    """Write the recordings of the chosen rows as `FOLDER/PROVIDER/CASE_ID.*`; all of an empty list.

    Everything is checked before anything is written: DocumentError for a transcript that is missing
    or was changed, and for a recording that exists, unless `force` replaces those of its case.
    """
    results_file = batch / RESULTS_FILE
    chosen = [
        row
        for row in read_results(results_file).results
        if (not agents or row.agent in agents) and (not case_ids or row.case_id in case_ids)
    ]
    reasons = {row.unit_run_id: _why_not(row) for row in chosen}
    rows = tuple(row for row in chosen if not reasons[row.unit_run_id])
    for row in rows:
        check_name(row.agent, "provider")
        check_name(row.case_id, "case id")
        check_transcripts(results_file, row)
    old = sorted({file for row in rows for file in _recordings_of(folder / row.agent, row.case_id)})
    if old and not force:
        raise DocumentError(
            "exists already, and is not replaced",
            file=str(old[0]),
            remedy="name another folder with --to, or replace the cases' recordings with --force",
        )
    try:
        for file in old:
            file.unlink()
        for row in rows:
            _write(row, batch / TRANSCRIPTS, folder / row.agent)
    except OSError as error:
        raise unwritable(folder, error) from None
    left_out = [f"{_name(row)}: {why}" for row in chosen if (why := reasons[row.unit_run_id])]
    return Recorded(rows, tuple(left_out))


def _why_not(row: UnitResult) -> str:
    """Why a run cannot be replayed as it was; "" where it can."""
    if row.exit_code is None or row.ended_by not in _OWN_ENDS:
        return f"it has no end of its own ({row.ended_by.value})"
    if row.source == "log_fallback":
        return "its proof is in the agent's session logs, which are no part of a recording"
    return ""


def _name(row: UnitResult) -> str:
    return f"{row.case_id} on {row.agent}" + (f", trial {row.trial}" if row.trial > 1 else "")


def _recordings_of(folder: Path, case_id: str) -> Iterator[Path]:
    """The files of a case and of its trials."""
    for file in folder.iterdir() if folder.is_dir() else ():
        if file.suffix in SUFFIXES and file.stem.partition("@")[0] == case_id:
            yield file


def _write(row: UnitResult, transcripts: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{row.case_id}@{row.trial}" if row.trial > 1 else row.case_id
    for stream in ("stdout", "stderr"):
        part = folder / f".{name}.{stream}.part"
        stored = transcripts / f"{row.unit_run_id}.{stream}"
        with open_regular(stored) as source, part.open("wb") as copy:
            shutil.copyfileobj(source, copy)
        part.replace(folder / f"{name}.{stream}")
    facts = {
        "exit_code": row.exit_code,
        "duration_s": row.duration_ms / 1000,
        **{key: value for key in ("cli_version", "model") if (value := getattr(row, key))},
    }
    if row.timed_out:
        facts |= {"hang": True, "timeout_s": _REPLAYED_DEADLINE_S}
    write_atomically(folder / f"{name}.json", json.dumps(facts, ensure_ascii=False) + "\n")
