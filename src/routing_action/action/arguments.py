"""From the action's inputs to the arguments of the commands that a person would type.

Each value is joined to its flag (`--agents=x`), so that none can become a flag itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from routing_action.action.inputs import Inputs
from routing_action.results.batch_folder import RESULTS_FILE

_SELECTION = {"categories": "--category", "case-ids": "--case-id"}
_RUN = {
    "cases": "--cases",
    "skills": "--skills",
    "timeout-seconds": "--timeout-seconds",
    "idle-timeout-seconds": "--idle-timeout-seconds",
    "max-parallel": "--max-parallel",
    "trials": "--trials",
    "confirm": "--confirm",
    "shard": "--shard",
    "replay": "--replay",
}
_PLAN = {
    "cases": "--cases",
    "trials": "--trials",
    "shards": "--shards",
    "changed-from": "--changed-from",
}


def run_arguments(
    inputs: Inputs, agents: Sequence[str], *, key: str, attempt: int, folder: Path, batch_file: Path
) -> list[str]:
    """`run` for one leg: its batch goes into `folder`, the batch's path into `batch_file`."""
    return [
        "run",
        f"--agents={','.join(agents)}",
        *_lists(inputs),
        *_values(inputs, _RUN),
        f"--matrix-key={key}",
        f"--attempt={attempt}",
        f"--artifacts-root={folder}",
        f"--batch-file={batch_file}",
        *inputs.words("extra-arguments"),
    ]


def plan_arguments(inputs: Inputs, results: Sequence[Path]) -> list[str]:
    """`plan` for a matrix, balanced by the durations in earlier results."""
    agents = inputs.names("agents")
    return [
        "plan",
        *([f"--agents={','.join(agents)}"] if agents else []),
        *_lists(inputs),
        *_values(inputs, _PLAN),
        *(f"--results={path}" for path in results),
        *inputs.words("extra-arguments"),
        "--format=json",
    ]


def find_durations(inputs: Inputs) -> list[Path]:
    """The results.json files that the input names, itself or by a folder around them, sorted."""
    found: list[Path] = []
    for line in inputs.lines("durations"):
        path = Path(line)
        found += sorted(path.rglob(RESULTS_FILE)) if path.is_dir() else [path]
    return found


def _lists(inputs: Inputs) -> Iterator[str]:
    for name, flag in _SELECTION.items():
        names = inputs.names(name)
        if names:
            yield f"{flag}={','.join(names)}"


def _values(inputs: Inputs, flags: dict[str, str]) -> Iterator[str]:
    for name, flag in flags.items():
        value = inputs.text(name)
        if value:
            yield f"{flag}={value}"
