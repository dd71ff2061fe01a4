"""Goal 9: the snapshot of an agent's session logs, and what they gained, against `find -printf`."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import Row, run_measured, take_turns
from routing_action.run.logs.session_logs import SessionLogs

FILES_IN_A_FOLDER = 100
CHANGED = 20
LINE = b'{"type":"assistant"}\n'


def measure_goal(goal: int, rounds: int) -> Iterator[Row]:
    """The rows of goal 9."""
    for files, most in ((10_000, 1.5), (100_000, 1.8)):
        with tempfile.TemporaryDirectory() as folder:
            yield from _compare(goal, Path(folder), files, rounds, most)


def _compare(goal: int, home: Path, files: int, rounds: int, most: float) -> Iterator[Row]:
    paths = _make_logs(home, files)
    found, took, gained = take_turns(
        rounds, [lambda: _find(home), lambda: _snapshot(home), lambda: _diff(home, paths)]
    )
    for what, times in (("snapshot", took), ("diff", gained)):
        yield Row.of_ratios(goal, f"{files:,} logs: {what}", times, found, most=most)


def _make_logs(home: Path, files: int) -> list[Path]:
    paths = []
    for number in range(files // FILES_IN_A_FOLDER):
        folder = home / f"projects/project-{number // 10}/session-{number}"
        folder.mkdir(parents=True)
        paths += [folder / f"log-{place}.jsonl" for place in range(FILES_IN_A_FOLDER)]
    for path in paths:
        path.write_bytes(LINE)
    return paths


def _find(home: Path) -> float:
    argv = ["find", str(home / "projects"), "-type", "f", "-printf", "%p %T@ %s %i\\n"]
    return run_measured(argv, stdout=home / "listing").wall


def _snapshot(home: Path) -> float:
    scanner = SessionLogs(["projects/**/*.jsonl"], home)
    begun = time.perf_counter()
    scanner.snapshot()
    return time.perf_counter() - begun


def _diff(home: Path, paths: list[Path]) -> float:
    """What twenty logs gained since the snapshot."""
    scanner = SessionLogs(["projects/**/*.jsonl"], home)
    scanner.snapshot()
    for path in paths[:: len(paths) // CHANGED]:
        with path.open("ab") as file:
            file.write(LINE)
    begun = time.perf_counter()
    gained = scanner.new_lines()
    took = time.perf_counter() - begun
    if len(gained) != CHANGED:
        raise SystemExit(f"{len(gained)} logs gained something, not {CHANGED}")
    return took
