"""Evidence in full on a 200 MB transcript, against ripgrep on the same file.

usage: PYTHONPATH=src python benchmarks/scan_200mb.py [--agents A,B] [--kinds K,L] [--tokens N,M]
                                                      [--size MB] [--rounds N] [--rg PROGRAM]
       PYTHONPATH=src python benchmarks/scan_200mb.py --profile [...]

For each agent, kind of transcript (see transcripts.py) and number of tokens, rounds that take
turns: `rg -i -a -c` with the tokens; the path of `evaluate` with google-re2; the same without it.
Each runs in a process of its own. Printed are medians of CPU seconds (the machine may be shared;
wall seconds in parentheses), the ratio `rg / ours` of the CPU times, and the most memory that a
round had (VmHWM). Our seconds go from opening the file to the verdict; start-up is told apart.
Goals: ratio at least 0.7 with google-re2 and 0.2 without, at most 60 MB.

ripgrep comes from PATH, or from its wheel, installed into a temporary folder, or is missing.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.transcripts import SHAPES, write_recorded, write_session  # noqa: E402

if TYPE_CHECKING:
    from benchmarks.measure import Row

RIPGREP = "ripgrep==14.1.0"
GOALS = {"re2": 0.7, "standard": 0.2}
GOAL_MB = 60
KINDS = {"session": write_session, "recorded": write_recorded}
WORDS = (
    "widget order api test build deploy review docs release lint schema query cache image audio "
    "video triage issue branch merge config secret update check report trace graph index render"
).split()


def make_tokens(count: int) -> list[str]:
    """Names of skills: those that the recordings load, and others as users choose them."""
    tokens = ["widget-testing", "widget-test", "order-api"]
    chance = random.Random(3)  # noqa: S311 - the same each time
    while len(tokens) < count:
        name = "-".join(chance.sample(WORDS, chance.choice([2, 2, 3])))
        if name not in tokens:
            tokens.append(name)
    return tokens[:count]


@dataclass(frozen=True)
class Run:
    """One process: seconds of CPU and of wall time, MB at most, and what it found."""

    cpu: float
    wall: float
    memory: float = 0.0
    start: float = 0.0
    found: str = ""


def run_ripgrep(program: str, path: Path, tokens: list[str]) -> Run:
    """Count the lines that hold a token."""
    patterns = [word for token in tokens for word in ("-e", re.escape(token))]
    before, started = os.times(), time.perf_counter()
    command = [program, "-i", "-a", "-c", "--no-config", *patterns, str(path)]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    wall, after = time.perf_counter() - started, os.times()
    cpu = after.children_user - before.children_user + after.children_system
    return Run(cpu - before.children_system, wall)


def run_ours(agent: str, path: Path, tokens: list[str], engine: str) -> Run:
    """Evaluate in a process of its own."""
    words = [sys.executable, __file__, "--one", str(path), "--agents", agent, "--engine", engine]
    words += ["--tokens", str(len(tokens))]
    output = subprocess.run(words, capture_output=True, check=True, text=True).stdout
    return Run(**json.loads(output))


def evaluate_once(agent: str, path: Path, tokens: list[str], engine: str) -> dict[str, Any]:
    """The path of `evaluate`, measured in this process."""
    from routing_action.agents.discovery import all_providers  # noqa: PLC0415
    from routing_action.evidence.outcome import RunEnd  # noqa: PLC0415
    from routing_action.evidence.reader_protocol import ReadContext  # noqa: PLC0415
    from routing_action.run import evaluate  # noqa: PLC0415 - the anchor needs none of it

    provider = all_providers()[agent]
    start, cpu, wall = time.process_time(), time.process_time(), time.perf_counter()
    found = evaluate.evaluate_tokens(
        provider,
        evaluate.read_blocks(path),
        (),
        tokens,
        end=RunEnd(),
        context=ReadContext(),
        engine=engine,  # type: ignore[arg-type]
    )
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    answer = json.dumps(evaluate.describe_evaluation(found), sort_keys=True)
    peak = re.search(r"VmHWM:\s*(\d+)", Path("/proc/self/status").read_text(encoding="ascii"))
    memory = int(peak[1]) / 1024 if peak else 0.0
    return {"cpu": cpu, "wall": wall, "memory": memory, "start": start, "found": answer}


def find_ripgrep(asked: str | None, folder: Path) -> str | None:
    """The program that was asked for, of PATH, or of the wheel; None where none can be had."""
    found = shutil.which(asked or "rg")
    if found or asked:
        return found
    installer = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--target", str(folder)]
    subprocess.run([*installer, RIPGREP], check=False, capture_output=True)
    return shutil.which("rg", path=str(folder / "bin"))


def measure_goal(goal: int, rounds: int) -> Iterator[Row]:
    """The rows of goal 4 (with google-re2) or 5 (without) for 20 tokens; both are ratios of CPU."""
    from benchmarks.measure import Row, anchor_folder  # noqa: PLC0415 - run.py alone needs it

    way, engine = ("re2", "auto") if goal == 4 else ("standard", "standard")
    program = find_ripgrep(None, anchor_folder() / "ripgrep")
    if program is None:
        yield Row(goal, "ripgrep", missing=f"{RIPGREP} could not be installed")
        return
    tokens = make_tokens(20)
    with tempfile.TemporaryDirectory() as name:
        for agent in SHAPES:
            path = Path(name) / f"{agent}.jsonl"
            write_session(agent, path, 200 * 10**6)
            theirs, ours = [], []
            for _ in range(rounds):
                theirs.append(run_ripgrep(program, path, tokens).cpu)
                ours.append(run_ours(agent, path, tokens, engine))
            what = f"200 MB of {agent}"
            yield Row.of_ratios(
                goal, f"{what}: speed", theirs, [run.cpu for run in ours], least=GOALS[way]
            )
            memory = [run.memory for run in ours]
            yield Row.of_values(goal, f"{what}: RSS", memory, "MB", most=GOAL_MB)
            path.unlink()


def measure(agent: str, path: Path, count: int, rounds: int, program: str) -> list[str]:
    """Rounds that take turns; a line of the table for each way."""
    tokens = make_tokens(count)
    ways = {
        "rg": lambda: run_ripgrep(program, path, tokens),
        "re2": lambda: run_ours(agent, path, tokens, "auto"),
        "standard": lambda: run_ours(agent, path, tokens, "standard"),
    }
    runs: dict[str, list[Run]] = {way: [] for way in ways}
    for _ in range(rounds):
        for way, call in ways.items():
            runs[way].append(call())
    if len({run.found for way in ("re2", "standard") for run in runs[way]}) != 1:
        raise SystemExit(f"{agent}: the ways do not agree")
    anchor = statistics.median(run.cpu for run in runs["rg"])
    return [_line(way, runs[way], anchor, path.stat().st_size) for way in ways]


def _line(way: str, runs: list[Run], anchor: float, size: int) -> str:
    cpu = statistics.median(run.cpu for run in runs)
    wall = statistics.median(run.wall for run in runs)
    line = f"{way:>9} {cpu:6.2f} s ({wall:5.2f} s) {size / cpu / 1e6:6.0f} MB/s"
    if way == "rg":
        return line
    ratio, memory = anchor / cpu, max(run.memory for run in runs)
    start = statistics.median(run.start for run in runs)
    missed = [] if ratio >= GOALS[way] else [f"below {GOALS[way]}"]
    missed += [f"over {GOAL_MB} MB"] if memory > GOAL_MB else []
    return f"{line}  ratio {ratio:4.2f}  {memory:3.0f} MB  start {start:.2f} s  {' '.join(missed)}"


def profile(agent: str, path: Path, count: int) -> None:
    """Where the time goes, in this process."""
    import cProfile  # noqa: PLC0415
    import pstats  # noqa: PLC0415

    seen = cProfile.Profile()
    seen.runcall(evaluate_once, agent, path, make_tokens(count), "auto")
    pstats.Stats(seen, stream=sys.stdout).sort_stats("tottime").print_stats(20)


def main() -> int:
    """Make the transcripts, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--agents", default=",".join(SHAPES))
    parser.add_argument("--kinds", default="session,recorded")
    parser.add_argument("--tokens", default="3,20,400")
    parser.add_argument("--size", type=int, default=200, help="MB")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rg", metavar="PROGRAM")
    parser.add_argument("--profile", action="store_true", help="show where the time goes")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--engine", default="auto", help=argparse.SUPPRESS)
    options = parser.parse_args()
    counts = [int(text) for text in options.tokens.split(",")]
    if options.one:
        tokens = make_tokens(counts[0])
        found = evaluate_once(options.agents, options.one, tokens, options.engine)
        sys.stdout.write(json.dumps(found))
        return 0
    with tempfile.TemporaryDirectory() as name:
        return _tables(options, counts, Path(name))


def _tables(options: argparse.Namespace, counts: list[int], folder: Path) -> int:
    program = find_ripgrep(options.rg, folder)
    if program is None:
        sys.stderr.write(f"no rg: name one with --rg, or install {RIPGREP} or Debian's ripgrep\n")
        return 2
    version = subprocess.run([program, "--version"], capture_output=True, check=True, text=True)
    sys.stdout.write(f"{version.stdout.splitlines()[0]}, {options.size} MB, CPU (wall)\n")
    for kind in options.kinds.split(","):
        for agent in options.agents.split(","):
            path = folder / f"{agent}.jsonl"
            KINDS[kind](agent, path, options.size * 10**6)
            for count in counts:
                sys.stdout.write(f"{kind} of {agent}, {count} tokens\n")
                if options.profile:
                    profile(agent, path, count)
                    continue
                lines = measure(agent, path, count, options.rounds, program)
                sys.stdout.write("".join(f"{line}\n" for line in lines))
                sys.stdout.flush()
            path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
