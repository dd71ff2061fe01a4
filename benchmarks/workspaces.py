"""B8: what a workspace of its own costs each unit, in a repository of 10,000 files.

The anchor copies the same committed tree with `cp -a` and removes it with `rm -rf`.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from itertools import count
from pathlib import Path

from benchmarks.measure import Row, divide, run_measured, take_turns
from benchmarks.units import GIT
from routing_action.files.removal import remove_tree
from routing_action.run.workspace.seal import find_change
from routing_action.run.workspace.template import WorkspaceTemplate

FILES, FOLDERS = 10_000, 500


def measure(rounds: int, small: bool) -> Iterator[Row]:
    """The rows of B8."""
    files = 200 if small else FILES
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        repository = make_repository(root / "repository", files)
        (root / "templates").mkdir()
        template = WorkspaceTemplate.build(repository, root / "templates")
        targets = (root / f"copy-{number}" for number in count())
        anchor, ours = take_turns(
            rounds,
            partial(_copy, repository, targets),
            partial(_make_workspace, template, targets),
        )
    made, removed = zip(*ours, strict=True)
    copied, deleted = zip(*anchor, strict=True)
    what = f"a workspace of {files:,} files"
    yield Row("B8", f"{what}: made, against cp -a", divide(made, copied), most=1.5)
    yield Row("B8", f"{what}: removed, against rm -rf", divide(removed, deleted), most=2)


def make_repository(root: Path, files: int) -> Path:
    """Text files of 100 bytes to 16 kB in 500 folders, as one commit."""
    draw = random.Random(7)  # noqa: S311 - sizes of files
    for number in range(files):
        path = root / f"part-{number % 20}/group-{number % FOLDERS}/file-{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        size = int(draw.lognormvariate(7.5, 1.2))
        path.write_text((f"line of {number}\n" * (size // 12 + 1))[: max(100, min(size, 16_000))])
    for words in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "begin")):
        run_measured([*GIT, *words], cwd=root)
    return root


def _copy(source: Path, targets: Iterator[Path]) -> tuple[float, float]:
    target = str(next(targets))
    made = run_measured(["cp", "-a", str(source), target]).wall
    return made, run_measured(["rm", "-rf", target]).wall


def _make_workspace(template: WorkspaceTemplate, targets: Iterator[Path]) -> tuple[float, float]:
    began = time.perf_counter()
    workspace = template.make_workspace(next(targets))
    change = find_change(workspace, template.seal)  # as before each start
    if change:
        raise ValueError(change)
    made = time.perf_counter()
    remove_tree(workspace)
    return made - began, time.perf_counter() - made
