"""Makes the lines of the history from results, and appends them to a folder or to its texts.

A line is made the same way each time, so that what is appended twice can be told.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from routing_action.corpus.baseline import Status
from routing_action.corpus.naming import bare_name, skill_key
from routing_action.files.atomic import unwritable
from routing_action.results.model import OfferedSkill, Results, UnitResult, judge_trials
from routing_action.results.past.history import HistoryLine

_encode = msgspec.json.Encoder().encode
_DIGEST = 16


def build_lines(results: Results, run: str) -> list[HistoryLine]:
    """One line for each pair that this batch measured itself, in the order of its rows.

    None of a replay, which measures nothing, and none of rows that were reused from another run.
    """
    if results.options.replay is not None:
        return []
    trials: dict[tuple[str, str], list[UnitResult]] = {}
    for row in results.results:
        if not row.reused_from:
            trials.setdefault((row.case_id, row.agent), []).append(row)
    offered = {
        agent: sorted(
            (skill_key(one.declared_name or one.name), one.description)
            for one in results.skills
            if agent in one.agents
        )
        for agent in results.options.agents
    }
    digests = {agent: _digest(skills) for agent, skills in offered.items()}
    return [
        _build_line(results, run, rows, digests.get(rows[0].agent, "")) for rows in trials.values()
    ]


def _build_line(results: Results, run: str, rows: Sequence[UnitResult], skills: str) -> HistoryLine:
    status, passes, measured = judge_trials([row.status for row in rows])
    first = next((row for row in rows if row.status is not Status.PASS), rows[0])
    telling = next((row for row in rows if row.status is status), rows[0])
    costs = [row.cost_usd for row in rows if row.cost_usd is not None]
    return HistoryLine(
        at=results.generated_at_utc,
        commit=results.options.commit or "",
        run=run,
        batch=results.batch_run_id,
        case_id=telling.case_id,
        agent=telling.agent,
        passes=passes,
        measured=measured,
        trials=len(rows),
        duration_ms=sum(row.duration_ms for row in rows),
        cost_usd=round(sum(costs), 6) if costs else None,
        cli_version=telling.cli_version,
        model=telling.model,
        kind="" if first.status is Status.PASS else first.failure_kind or first.outcome.value,
        skills=skills,
        description=digest_description(results.skills, telling.expected_skill, telling.agent),
        fingerprint=telling.fingerprint,
        loaded=tuple(sorted({name for row in rows for name in row.loaded_skills})),
    )


def digest_description(skills: Iterable[OfferedSkill], expected_skill: str, agent: str) -> str:
    """The digest of what an agent is told about the wanted skill; "" where none is wanted."""
    wanted = skill_key(bare_name(expected_skill)) if expected_skill else ""
    found = [
        one.description
        for one in skills
        if wanted
        and agent in one.agents
        and wanted in (skill_key(one.name), skill_key(one.declared_name))
    ]
    return _digest(sorted(found)) if found else ""


def _digest(value: object) -> str:
    return hashlib.sha256(_encode(value)).hexdigest()[:_DIGEST] if value else ""


def name_month(line: HistoryLine) -> str:
    """The file of a line, by the month in which it was measured."""
    return f"{line.at[:7]}.jsonl"


def add_lines(files: Mapping[str, bytes], lines: Iterable[HistoryLine]) -> dict[str, bytes]:
    """The files that change, with the lines that they do not have yet at their end."""
    added: dict[str, list[bytes]] = {}
    for line in lines:
        added.setdefault(name_month(line), []).append(_encode(line))
    changed = {}
    for name, texts in added.items():
        old = files.get(name, b"")
        known = set(old.split(b"\n"))
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            end = b"" if old.endswith(b"\n") or not old else b"\n"
            changed[name] = b"".join((old, end, b"\n".join(new), b"\n"))
    return changed


def append_to_folder(folder: Path, lines: Iterable[HistoryLine]) -> int:
    """Append what a folder does not have yet; how many lines that were.

    Raises HarnessError where the folder cannot be written.
    """
    count = 0
    lines = list(lines)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        names = {name_month(line) for line in lines}
        files = {name: (folder / name).read_bytes() for name in names if (folder / name).exists()}
        for name, data in add_lines(files, lines).items():
            more = data[len(files.get(name, b"")) :]
            with (folder / name).open("ab") as file:
                file.write(more)
            count += more.count(b"\n") - more.startswith(b"\n")
    except OSError as error:
        raise unwritable(folder, error) from None
    return count
