"""Goals 6 and 7: an agent that prints a gigabyte, and one that prints a line of 100 MB.

The anchor of goal 6 is the same flood through `tee FILE | wc -l`. The product reads, redacts,
stores and judges it; the flood is a claude's stream with short records, with long ones, or text.
"""

from __future__ import annotations

import json
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import (
    MEGABYTE,
    Row,
    Usage,
    product_environment,
    run_measured,
    run_product,
    take_turns,
)
from benchmarks.streams import SKILL, WORDS, make_ending, make_opening, make_work

GIGABYTE = 10**9
FLOOD = Path(__file__).resolve().parent / "flood.py"
SECRET = "sk-made-up-0123456789-abcdefghij"  # noqa: S105 - it is to be searched for


@dataclass(frozen=True, slots=True)
class Flood:
    """A folder with one case, and the command of an agent that prints `size` bytes."""

    root: Path
    agent: tuple[str, ...]

    @classmethod
    def make(cls, root: Path, opening: bytes, body: bytes, ending: bytes, size: int) -> Flood:
        """Write its parts."""
        root.mkdir(parents=True)
        names = []
        for name, data in (("opening", opening), ("body", body), ("ending", ending)):
            (root / name).write_bytes(data)
            names.append(str(root / name))
        case = {"case_id": "flood", "prompt": "go", "expected_skill": SKILL}
        (root / "cases.json").write_text(json.dumps([case]), encoding="utf-8")
        return cls(root, (sys.executable, "-I", "-S", str(FLOOD), *names, str(size)))

    def run(self) -> Usage:
        """The product on the one case, with a secret that its output is searched for."""
        artifacts = self.root / "artifacts"
        shutil.rmtree(artifacts, ignore_errors=True)
        used = run_product(
            [
                "run", "--agents", "claude", "--no-progress", "--workspace", "shared",
                "--artifacts-root", str(artifacts), "--timeout-seconds", "3600",
            ],
            cwd=self.root,
            env=product_environment(
                AGENT_CLAUDE_TEMPLATE=f"{shlex.join(self.agent)} {{prompt}}",
                HOME=str(self.root),
                ANTHROPIC_API_KEY=SECRET,
            ),
            codes=(0, 1),
        )  # fmt: skip
        shutil.rmtree(artifacts, ignore_errors=True)
        return used

    def run_tee(self) -> Usage:
        """The same flood into a file and a line count."""
        output = self.root / "tee.out"
        script = f"{shlex.join(self.agent)} | tee {shlex.quote(str(output))} | wc -l"
        used = run_measured(["sh", "-c", script], env=product_environment())
        output.unlink()
        return used


def measure_goal(goal: int, rounds: int) -> Iterator[Row]:
    """The rows of goal 6 or 7."""
    with tempfile.TemporaryDirectory() as folder:
        yield from {6: _goal_6, 7: _goal_7}[goal](Path(folder), rounds)


def _goal_6(root: Path, rounds: int) -> Iterator[Row]:
    for name, body in (
        ("records of 0.4 KB", make_work(3000)),
        ("records of 30 KB", make_work(90, output_bytes=90_000)),
        ("plain text", f"{WORDS * 2}\n".encode() * 5000),
    ):
        is_text = name == "plain text"
        opening, ending = (b"", b"") if is_text else (make_opening(), make_ending())
        flood = Flood.make(root / name.replace(" ", "-"), opening, body, ending, GIGABYTE)
        anchor, product = take_turns(rounds, [flood.run_tee, flood.run], warm_up=False)
        yield Row.of_ratios(
            6, f"1 GB, {name}: wall",
            [u.wall for u in product], [u.wall for u in anchor], most=2.0,
        )  # fmt: skip
        yield Row.of_values(
            6, f"1 GB, {name}: RSS", [u.peak_bytes / MEGABYTE for u in product], "MB", most=60
        )


def _goal_7(root: Path, rounds: int) -> Iterator[Row]:
    line = make_work(3, output_bytes=100_000_000)
    flood = Flood.make(root / "line", make_opening(), line, make_ending(), 100_000_000)
    used = [flood.run() for _ in range(rounds)]
    yield Row.of_values(
        7, "a line of 100 MB: RSS", [u.peak_bytes / MEGABYTE for u in used], "MB", most=80
    )
    yield Row.of_values(7, "a line of 100 MB: exit code", [float(u.code) for u in used], "", most=0)
