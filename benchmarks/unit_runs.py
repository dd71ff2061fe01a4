"""Goals 1, 2 and 3: what running, reading and judging many small units costs.

Against `xargs` that starts the same agents side by side and captures their output into files, and
against promptfoo with its exec provider. The product does more than either: it reads and judges
what is printed. In an isolated run each unit gets a repository and a home of its own; xargs then
copies the same tree for each agent with `cp -a` and removes it with `rm -rf`, and the ratio to
xargs that does not is there to be known.

A no-op unit is a Python that does nothing, as the agent of goal 1 is one that does little: `true`
ends before Python has started a process, so that its ratio says what a start costs in Python.
promptfoo is compared by what each harness takes itself: the agents are the same. The units of
goal 3 are those of goal 2; how it stands with those of goal 1 is there to be known. promptfoo
copies nothing, so the bound is for the shared workspace.
"""

from __future__ import annotations

import json
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import (
    MEGABYTE,
    Row,
    Usage,
    anchor_folder,
    product_environment,
    run_measured,
    run_product,
    take_turns,
)
from benchmarks.promptfoo import Promptfoo, PromptfooMissingError, install_promptfoo
from benchmarks.streams import SKILL, make_stream
from routing_action.run.workspace.template import WorkspaceTemplate

UNITS = 500
LINES = 201
PAUSE_SECONDS = 0.02
AGENT = Path(__file__).resolve().parent / "fake_agent.py"
REPOSITORY_FILES = 20
_CAPTURE = 'n=$1; shift; exec "$@" "$n" >"out/$n.stdout" 2>"out/$n.stderr"'
_CAPTURE_IN_COPY = """\
out=$PWD/out tree=$1 copy=$PWD/copies/$2 n=$2; shift 2
cp -a "$tree" "$copy" && cd "$copy" && "$@" "$n" >"$out/$n.stdout" 2>"$out/$n.stderr"
cd / && rm -rf "$copy"
"""


@dataclass(frozen=True, slots=True)
class Bench:
    """A folder with a small repository, its cases, and an agent's command without its prompt."""

    root: Path
    agent: tuple[str, ...]
    expects_pass: bool

    @classmethod
    def make(cls, root: Path, agent: Sequence[str], *, expects_pass: bool) -> Bench:
        """Files, one commit and 500 cases."""
        bench = cls(root, tuple(agent), expects_pass)
        for number in range(REPOSITORY_FILES):
            path = root / f"src/part-{number % 4}/file-{number}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"line {number}\n" * 50, encoding="utf-8")
        skill = root / f".claude/skills/{SKILL}/SKILL.md"
        skill.parent.mkdir(parents=True)
        skill.write_text(f"---\nname: {SKILL}\ndescription: Tests widgets.\n---\n", "utf-8")
        cases = [
            {"case_id": f"case-{number}", "prompt": f"{number}", "expected_skill": SKILL}
            for number in range(UNITS)
        ]
        (root / "cases.json").write_text(json.dumps(cases), encoding="utf-8")
        for words in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "begin")):
            run_measured(["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *words], cwd=root)
        return bench

    def run(self, parallel: int, workspace: str) -> Usage:
        """The product on all units."""
        template = f"{shlex.join(self.agent)} {{prompt}}"
        artifacts = self.root.parent / "artifacts"
        shutil.rmtree(artifacts, ignore_errors=True)
        return run_product(
            [
                "run", "--agents", "claude", "--no-progress", "--workspace", workspace,
                "--max-parallel", str(parallel), "--artifacts-root", str(artifacts),
                "--disable-log-scan",
            ],
            cwd=self.root,
            env=product_environment(AGENT_CLAUDE_TEMPLATE=template, HOME=str(self.root.parent)),
            codes=(0,) if self.expects_pass else (1,),
        )  # fmt: skip

    def run_xargs(self, parallel: int, tree: Path | None = None) -> Usage:
        """The same agents, started by xargs, their output in files; each in a copy of the tree."""
        folder = self.root.parent / "xargs"
        shutil.rmtree(folder, ignore_errors=True)
        for name in ("out", "copies"):
            (folder / name).mkdir(parents=True)
        listing = folder / "numbers"
        listing.write_text("".join(f"{number}\n" for number in range(UNITS)), encoding="utf-8")
        script = (
            ["sh", "-c", _CAPTURE_IN_COPY, "sh", str(tree)]
            if tree
            else ["sh", "-c", _CAPTURE, "sh"]
        )
        command = ["xargs", "-a", str(listing), f"-P{parallel}", "-I{}", *script, "{}"]
        return run_measured([*command, *self.agent], cwd=folder, env=product_environment())

    def template(self) -> Path:
        """The tree that the product copies for each unit of an isolated run."""
        folder = self.root.parent / "templates"
        folder.mkdir(exist_ok=True)
        return WorkspaceTemplate.build(self.root, folder).path


def measure_goal(goal: int, rounds: int) -> Iterator[Row]:
    """The rows of goal 1, 2 or 3."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        yield from {1: _goal_1, 2: _goal_2, 3: _goal_3}[goal](root, rounds)


def _talking(root: Path) -> Bench:
    """An agent that prints 201 records and pauses for 20 ms."""
    transcript = root / "transcript"
    transcript.write_bytes(make_stream(LINES))
    agent = [sys.executable, "-I", "-S", str(AGENT), str(transcript), str(PAUSE_SECONDS)]
    return Bench.make(root / "talking", agent, expects_pass=True)


def _idle(root: Path) -> Bench:
    """An agent that does nothing."""
    agent = [sys.executable, "-I", "-S", "-c", "pass"]
    return Bench.make(root / "python-no-op" / "repo", agent, expects_pass=False)


def _goal_1(root: Path, rounds: int) -> Iterator[Row]:
    bench = _talking(root)
    for parallel, most in ((4, 1.15), (32, 1.35)):
        yield from _compare(1, "201 lines", bench, parallel, rounds, most=most, most_cpu=1.1)


def _goal_2(root: Path, rounds: int) -> Iterator[Row]:
    bench = _idle(root)
    yield from _compare(2, "python no-op", bench, 32, rounds, most=1.3, most_bytes=60 * MEGABYTE)
    bench = Bench.make(
        root / "true/repo", [shutil.which("true") or "/bin/true"], expects_pass=False
    )
    yield from _compare(2, "true", bench, 32, rounds, most=None, most_bytes=60 * MEGABYTE)


def _compare(
    goal: int,
    what: str,
    bench: Bench,
    parallel: int,
    rounds: int,
    *,
    most: float | None,
    most_cpu: float | None = None,
    most_bytes: float | None = None,
) -> Iterator[Row]:
    """Wall, CPU of the tree and memory of the harness, with shared and with own workspaces."""
    tree = bench.template()
    plain, copied, shared, isolated = take_turns(
        rounds,
        [
            lambda: bench.run_xargs(parallel),
            lambda: bench.run_xargs(parallel, tree),
            lambda: bench.run(parallel, "shared"),
            lambda: bench.run(parallel, "isolated"),
        ],
    )
    for kind, used, anchor, bounds in (
        ("shared", shared, plain, (most, most_cpu)),
        ("isolated", isolated, copied, (most, most_cpu)),
        ("isolated against no copies", isolated, plain, (None, None)),
    ):
        name = f"{what}, {parallel} at once, {kind}"
        walls, cpus = [u.wall for u in anchor], [u.cpu for u in anchor]
        yield Row.of_ratios(goal, f"{name}: wall", [u.wall for u in used], walls, most=bounds[0])
        yield Row.of_ratios(
            goal, f"{name}: CPU of the tree", [u.cpu for u in used], cpus, most=bounds[1]
        )
    for kind, used in (("shared", shared), ("isolated", isolated)):
        yield Row.of_values(
            goal, f"{what}, {parallel} at once, {kind}: RSS",
            [u.peak_bytes / MEGABYTE for u in used], "MB",
            most=most_bytes and most_bytes / MEGABYTE,
        )  # fmt: skip


def _goal_3(root: Path, rounds: int) -> Iterator[Row]:
    try:
        promptfoo = install_promptfoo(anchor_folder() / "promptfoo")
    except PromptfooMissingError as error:
        yield Row(3, "promptfoo", missing=str(error))
        return
    for what, bench, parallel, most in (
        ("no-op units, 32 at once", _idle(root), 32, 0.2),
        ("201 lines, 4 at once", _talking(root), 4, None),
    ):
        yield from _compare_promptfoo(promptfoo, what, bench, parallel, rounds, most)


def _compare_promptfoo(
    promptfoo: Promptfoo, what: str, bench: Bench, parallel: int, rounds: int, most: float | None
) -> Iterator[Row]:
    """What each harness takes itself, and with its agents; `most` is for runs that copy nothing."""
    root = bench.root.parent
    told = bench.expects_pass
    calls: list[Callable[[], Usage]] = [
        lambda: promptfoo.run(bench.agent, UNITS, parallel=parallel, root=root, told=told),
        lambda: bench.run(parallel, "shared"),
        lambda: bench.run(parallel, "isolated"),
    ]
    theirs, *ours = take_turns(rounds, calls)
    for kind, used in zip(("shared", "isolated"), ours, strict=True):
        name = f"{what}, {kind}"
        yield Row.of_ratios(
            3, f"{name}: CPU of the harness",
            [u.own_cpu for u in used], [u.own_cpu for u in theirs],
            most=most if kind == "shared" else None,
        )  # fmt: skip
        yield Row.of_ratios(
            3, f"{name}: CPU of the tree, agents and all",
            [u.cpu for u in used], [u.cpu for u in theirs],
        )  # fmt: skip
        yield Row.of_ratios(
            3, f"{name}: RSS",
            [u.peak_bytes for u in used], [u.peak_bytes for u in theirs], most=0.25,
        )  # fmt: skip
        yield Row.of_ratios(
            3, f"{name}: wall", [u.wall for u in used], [u.wall for u in theirs]
        )  # fmt: skip
