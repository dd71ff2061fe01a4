"""B1 and B2: what running, reading and judging many small units costs.

Against `xargs` that starts the same agents side by side and captures their output into files, and
against promptfoo with its exec provider. Both copy nothing, so the product shares its workspace.
promptfoo is compared by what each harness takes itself: the agents are the same.
"""

from __future__ import annotations

import json
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.measure import HERE, Row, Usage, divide, run_measured, run_product, take_turns
from benchmarks.promptfoo import Promptfoo
from benchmarks.transcripts import SKILL, make_work, split_run

UNITS, LINES, PAUSE_SECONDS = 500, 201, 0.02
GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@b.c")
_CAPTURE = 'n=$1; shift; exec "$@" "$n" >"out/$n.stdout" 2>"out/$n.stderr"'


@dataclass(frozen=True, slots=True)
class Bench:
    """A repository with `units` cases that expect SKILL, and the command of its agent."""

    root: Path
    units: int
    agent: tuple[str, ...]

    @classmethod
    def make(cls, root: Path, units: int, *agent: str | Path | float) -> Bench:
        """Write the case file and commit everything; the words of `agent` are those of agent.py."""
        root.mkdir(parents=True, exist_ok=True)
        cases = [
            {"case_id": f"case-{number}", "prompt": f"{number}", "expected_skill": SKILL}
            for number in range(units)
        ]
        (root / "cases.json").write_text(json.dumps(cases), encoding="utf-8")
        for words in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "begin")):
            run_measured([*GIT, *words], cwd=root)
        command = (sys.executable, "-I", "-S", str(HERE / "agent.py"), *map(str, agent))
        return cls(root, units, command)

    def run(self, *options: str, parallel: int = 1, codes: Sequence[int] = (0,)) -> Usage:
        """`routing-action run` on all units, with a home and artifacts beside the repository."""
        beside = self.root.with_name(f"{self.root.name}-beside")
        shutil.rmtree(beside, ignore_errors=True)
        beside.mkdir()
        return run_product(
            "run", "--agents", "claude", "--no-progress", "--disable-log-scan",
            "--max-parallel", str(parallel), "--artifacts-root", beside / "artifacts", *options,
            cwd=self.root,
            codes=codes,
            AGENT_CLAUDE_TEMPLATE=f"{shlex.join(self.agent)} {{prompt}}",
            HOME=str(beside),
        )  # fmt: skip


def measure(rounds: int, small: bool) -> Iterator[Row]:
    """The rows of B1."""
    with tempfile.TemporaryDirectory() as folder:
        bench = make_bench(Path(folder), 20 if small else UNITS)
        for parallel in (4, 32):
            anchor, product = take_turns(
                rounds,
                partial(_run_xargs, bench, parallel),
                partial(bench.run, "--workspace", "shared", parallel=parallel),
            )
            walls = divide([used.wall for used in product], [used.wall for used in anchor])
            memory = [used.megabytes for used in product]
            what = f"{bench.units} units, {parallel} at once"
            yield Row("B1", f"{what}: wall against xargs", walls, most=1.3)
            yield Row("B1", f"{what}: RSS", memory, "MB", most=90)


def measure_promptfoo(promptfoo: Promptfoo, rounds: int, small: bool) -> Iterator[Row]:
    """The rows of B2."""
    with tempfile.TemporaryDirectory() as folder:
        bench = make_bench(Path(folder), 20 if small else UNITS)
        theirs, ours = take_turns(
            rounds,
            partial(promptfoo.run, bench.agent, bench.units, bench.root.parent),
            partial(bench.run, "--workspace", "shared", parallel=4),
        )
        cpu = divide([used.own_cpu for used in ours], [used.own_cpu for used in theirs])
        memory = divide([used.peak_bytes for used in ours], [used.peak_bytes for used in theirs])
        what = f"{bench.units} units against promptfoo"
        yield Row("B2", f"{what}: CPU of the harness", cpu, most=0.25)
        yield Row("B2", f"{what}: RSS", memory, most=1 / 3)


def make_bench(root: Path, units: int) -> Bench:
    """An agent that prints 201 records and pauses for 20 ms."""
    transcript = root / "transcript"
    opening, ending = split_run("claude")
    work = make_work("claude")
    middle = [next(work) for _ in range(LINES - len(opening) - len(ending))]
    transcript.write_bytes(b"".join([*opening, *middle, *ending]))
    return Bench.make(root / "repo", units, "pause", transcript, PAUSE_SECONDS)


def _run_xargs(bench: Bench, parallel: int) -> Usage:
    folder = bench.root.with_name("xargs")
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "out").mkdir(parents=True)
    listing = folder / "numbers"
    listing.write_text("".join(f"{number}\n" for number in range(bench.units)), encoding="utf-8")
    command = ["xargs", "-a", str(listing), f"-P{parallel}", "-I{}", "sh", "-c", _CAPTURE, "sh"]
    return run_measured([*command, "{}", *bench.agent], cwd=folder)
