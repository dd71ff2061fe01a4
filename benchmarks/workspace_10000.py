"""Goal 12: what a workspace of its own costs each unit, in a repository of 10,000 files.

The anchors make a second copy of the same committed tree: `cp -a`, with reflinks where the file
system has them, `git worktree add` and `git clone --shared`. None of these does what a workspace
does: a copy brings the history along, and the last two share the repository's objects, in which
an agent finds every old commit. The template that the copies are made from is made once a batch.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

from benchmarks.measure import Row, run_measured, take_turns
from routing_action.files.removal import remove_tree
from routing_action.run.workspace.template import WorkspaceTemplate

FILES = 10_000
FOLDERS = 500
AUTHOR = ("-c", "user.name=a", "-c", "user.email=a@b.c")


def measure_goal(goal: int, rounds: int) -> Iterator[Row]:
    """Seconds of a unit's set-up and of its removal against each anchor, and of the template."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        repository = make_repository(root / "repository")
        (root / "templates").mkdir()
        began = time.monotonic()
        template = WorkspaceTemplate.build(repository, root / "templates")
        yield Row.of_values(goal, "template, once a batch", [time.monotonic() - began], "s")
        targets = (root / f"copy-{number}" for number in count())

        def anchor(words: tuple[str, ...]) -> Callable[[], tuple[float, float]]:
            return lambda: _time_copy(words, repository, next(targets))

        calls = [anchor(words) for words in ANCHORS.values()]
        *anchors, ours = take_turns(
            rounds, [*calls, lambda: _time_workspace(template, next(targets))]
        )
        made, removed = [one[0] for one in ours], [one[1] for one in ours]
        yield Row.of_values(goal, f"workspace of {FILES} files", made, "s")
        for name, times in zip(ANCHORS, anchors, strict=True):
            theirs = [one[0] for one in times]
            yield Row.of_ratios(goal, f"workspace against {name}", made, theirs, most=1.0)
        theirs = [one[1] for one in anchors[0]]
        yield Row.of_ratios(goal, "removal against rm -rf", removed, theirs, most=1.5)


ANCHORS: dict[str, tuple[str, ...]] = {
    "cp -a": ("cp", "-a", "{source}", "{target}"),
    "cp -a --reflink=auto": ("cp", "-a", "--reflink=auto", "{source}", "{target}"),
    "git worktree add": (
        "git", "-C", "{source}", "worktree", "add", "--quiet", "--detach", "{target}",
    ),
    "git clone --shared": ("git", "clone", "--quiet", "--shared", "{source}", "{target}"),
}  # fmt: skip


def make_repository(root: Path) -> Path:
    """10,000 text files of 100 bytes to 16 kB in 500 folders, as one commit."""
    draw = random.Random(7)  # noqa: S311 - sizes of files
    for number in range(FILES):
        path = root / f"part-{number % 20}" / f"group-{number % FOLDERS}" / f"file-{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        size = int(draw.lognormvariate(7.5, 1.2))
        path.write_text((f"line of {number}\n" * (size // 12 + 1))[: max(100, min(size, 16_000))])
    for words in (("init", "-q"), ("add", "."), (*AUTHOR, "commit", "-q", "-m", "begin")):
        run_measured(["git", *words], cwd=root)
    return root


def _time_copy(words: tuple[str, ...], source: Path, target: Path) -> tuple[float, float]:
    command = [word.format(source=source, target=target) for word in words]
    made = run_measured(command, cwd=source).wall
    return made, run_measured(["rm", "-rf", str(target)], cwd=source).wall


def _time_workspace(template: WorkspaceTemplate, target: Path) -> tuple[float, float]:
    began = time.monotonic()
    template.make_workspace(target)
    made = time.monotonic()
    remove_tree(target)
    return made - began, time.monotonic() - made
