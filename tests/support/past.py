"""A history as the default branch's runs leave it, made of results."""

from __future__ import annotations

from pathlib import Path

import msgspec

from routing_action.corpus.baseline import Status
from routing_action.results.past.history import HistoryLine
from routing_action.results.read import read_results


def remember(
    results_file: Path, folder: Path, run: str = "https://github.com/o/r/actions/runs/7"
) -> None:
    """Append what a batch measured, a line for each pair."""
    results = read_results(results_file)
    lines = []
    for pair in results.pairs:
        rows = [
            row
            for row in results.results
            if (row.case_id, row.agent) == (pair.case_id, pair.agent) and not row.reused_from
        ]
        if rows:
            lines.append(
                HistoryLine(
                    at=results.generated_at_utc,
                    commit=results.options.commit or "",
                    run=run,
                    batch=results.batch_run_id,
                    case_id=pair.case_id,
                    agent=pair.agent,
                    passes=sum(row.status is Status.PASS for row in rows),
                    measured=pair.measured,
                    trials=len(rows),
                    cli_version=rows[0].cli_version,
                    model=rows[0].model,
                    fingerprint=rows[0].fingerprint,
                    loaded=rows[0].loaded_skills,
                )
            )
    write_history(folder, lines)


def write_history(folder: Path, lines: list[HistoryLine]) -> None:
    """Append lines."""
    folder.mkdir(exist_ok=True)
    with (folder / f"{lines[0].at[:7]}.jsonl").open("ab") as file:
        file.writelines(msgspec.json.encode(line) + b"\n" for line in lines)
