"""Pins what a pull request is compared with to commits that the event or the run itself names.

A step before ours can move a branch of the checkout; it cannot make a commit of another's id.
"""

from __future__ import annotations

from pathlib import Path

from routing_action.errors import HarnessError
from routing_action.gate.histories import History
from routing_action.git.command import resolve, run_git
from routing_action.github.context import Context

_PULL_REQUESTS = ("pull_request", "pull_request_target")


def pin_base(context: Context, root: Path, ref: str) -> str:
    """The commit of the base branch for a pull request: the event's, else the ref itself.

    Where GitHub's merge commit is checked out, it is that commit's first parent. HarnessError where
    the checkout is at a commit that is not of this event.
    """
    head = resolve(root, "HEAD")
    if context.event_name not in _PULL_REQUESTS or head is None:
        return ref
    proposed = context.text("pull_request", "head", "sha")
    if proposed and head not in (proposed, context.sha):
        raise HarnessError(
            f"the checkout is at {head[:12]}, which is neither the head of the pull request "
            f"({proposed[:12]}) nor the commit of this run ({context.sha[:12] or 'unknown'})",
            remedy="check out the commit of the event, and commit nothing in the job: "
            "`uses: actions/checkout` without `ref`",
        )
    parents = _read_parents(root, head)
    if head == context.sha and len(parents) == 2 and proposed in ("", parents[1]):
        return parents[0]
    return context.text("pull_request", "base", "sha") or ref


def _read_parents(root: Path, commit: str) -> list[str]:
    """The parents that the commit itself names, also in a shallow clone."""
    head = run_git(("cat-file", "commit", commit), root).partition("\n\n")[0]
    words = [line.split() for line in head.splitlines()]
    return [line[1] for line in words if line[0] == "parent"]


def write_folder(history: History, commit: str, folder: str, destination: Path) -> None:
    """Write a folder's files, but no links, as they were at a commit; empty where it had none."""
    tree = history.list_tree(commit)
    files = {path: one.blob for path, one in tree.items() if path.startswith(f"{folder}/")
             and one.mode.startswith("100")}  # fmt: skip
    contents = history.read_blobs(files.values())
    destination.mkdir(parents=True, exist_ok=True)
    for path, blob in files.items():
        if blob in contents:
            place = destination / path.removeprefix(f"{folder}/")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(contents[blob])
