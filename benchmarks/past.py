"""B6 with a history of 5,000 pairs and 200 runs: the gate, the report and `history`."""

from __future__ import annotations

import hashlib
import json
import random
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from benchmarks.documents import replay_batch, write_documents
from benchmarks.measure import Row, run_product, take_turns

CASES, RUNS = 1_667, 200
_AGENTS = ("claude", "codex", "copilot")
_SAME = 10
"""So many runs see the same skills and CLI."""


def measure(rounds: int, small: bool) -> Iterator[Row]:
    """Wall and memory of what reads a history, which is nearly all of what these commands do."""
    cases, runs = (CASES // 50, RUNS // 10) if small else (CASES, RUNS)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        documents = write_documents(folder / "documents", replay_batch(folder), cases)
        _write_history(folder / "history", cases, runs)
        history = ("--history", str(folder / "history"))
        compare = (
            "compare", "--results", "results.json", "--baseline", "baseline.json", "--cases",
            "cases.json", "--output", "delta.json", "--confirm", "auto", *history,
        )  # fmt: skip
        report = (
            "report", "--delta", "delta.json", "--results", "results.json", "--format", "html",
            "--output", "report.html", *history,
        )  # fmt: skip
        listed = ("history", "--format", "csv", *history)
        calls = (
            partial(run_product, *words, cwd=documents, codes=(0, 1))
            for words in (compare, report, listed)
        )
        used = take_turns(rounds, *calls)
    for what, usages in zip(("compare", "HTML report", "history, all runs"), used, strict=True):
        title = f"{cases * len(_AGENTS):,} pairs with {runs} runs, {what}"
        yield Row("B6", f"{title}: wall", [one.wall for one in usages], "s", least=0)
        yield Row("B6", f"{title}: RSS", [one.megabytes for one in usages], "MB", most=300)


def _write_history(folder: Path, cases: int, runs: int) -> None:
    """A run each 36 hours; three of a hundred pairs fail."""
    folder.mkdir()
    draw = random.Random(1)  # noqa: S311 - no secret
    for run in range(runs):
        at = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=36 * run)
        told = {
            "at": at.strftime("%Y-%m-%dT%H:%M:%S.000000Z"),
            "commit": _digest("commit", run)[:40],
            "run": f"https://github.com/octo/demo/actions/runs/{run}",
            "batch": f"{run:08x}-0000-4000-8000-{run:012x}",
            "skills": _digest("skills", run // _SAME)[:16],
            "cli_version": f"2.{run // _SAME}.0",
        }
        with (folder / f"{at:%Y-%m}.jsonl").open("a", encoding="utf-8") as file:
            for case in range(cases):
                for agent in _AGENTS:
                    own = {
                        "case_id": f"case-{case:05d}",
                        "agent": agent,
                        "passes": int(draw.random() < 0.97),
                        "measured": 1,
                        "trials": 1,
                        "duration_ms": draw.randint(20_000, 200_000),
                        "cost_usd": round(draw.random(), 4),
                        "model": f"model-of-{agent}",
                        "description": _digest("skill", case % 20, run // _SAME)[:16],
                        "fingerprint": _digest("seen", case, agent, run // _SAME),
                        "loaded": [f"skill-{case % 20}"],
                    }
                    file.write(f"{json.dumps({**told, **own}, separators=(',', ':'))}\n")


def _digest(*words: object) -> str:
    return hashlib.sha256(repr(words).encode()).hexdigest()
