"""Keeps a leg's batch out of reach while agents run, and makes the folder that is uploaded of it.

An agent finds the folder that is uploaded, and may have left anything there. So that folder is
made anew when all units are gone, and gets only what the harness itself wrote.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from routing_action import __version__
from routing_action.action.step import Step
from routing_action.errors import ExitCode, HarnessError
from routing_action.files.atomic import unwritable, write_atomically
from routing_action.files.plain_files import open_regular
from routing_action.files.removal import remove_tree
from routing_action.results.batch_folder import (
    PROOF_FILE,
    RESULTS_FILE,
    TRANSCRIPTS,
    render_proof_log,
    render_results,
)
from routing_action.results.find import MARKER_FILE, NotMeasured
from routing_action.results.journal import JOURNAL_FILE
from routing_action.results.model import Results, summarise, summarise_pairs
from routing_action.run.process.descendants import sweep_survivors
from routing_action.run.resume import read_dead

MARKERS = "not-measured"
_PRIVATE = "leg-"


def make_private(step: Step) -> Path:
    """A folder for a leg's batch that only this process knows: it stands in no environment."""
    root = _private_root(step)
    try:
        root.mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix=_PRIVATE, dir=root))
    except OSError as error:
        raise unwritable(root, error) from None


def hand_over(
    folder: Path,
    unmeasured: Mapping[str, str],
    private: Path | None = None,
    results: Results | None = None,
) -> Path | None:
    """Make the folder anew of the markers and of a batch below `private`; the batch's new folder.

    `results` are those that the harness holds in memory. Without them the batch was killed: what
    its journal has is marked as incomplete. `private` is removed.
    """
    if left := remove_tree(folder):
        raise HarnessError(
            f"{left[0]}: is in the way of the results",
            remedy="remove it, and see in the leg's log which agent made it",
        )
    write_atomically(folder / ".gitignore", "*\n")
    for agent, reason in unmeasured.items():
        marker = NotMeasured(agent=agent, reason=reason).model_dump_json()
        write_atomically(folder / MARKERS / agent / MARKER_FILE, marker + "\n")
    if private is None:
        return None
    results = results or _salvage(private)
    batch = None
    if results is not None:
        batch = folder / results.batch_run_id
        _copy_batch(private / results.batch_run_id, batch, results)
    remove_tree(private)
    return batch


def hand_over_killed(step: Step) -> ExitCode:
    """The same for the leg of this job whose step was killed, maybe by an agent.

    A step that failed has handed nothing over, so what lies in the folder is not the harness' own.
    """
    folder = Path(step.variable("ROUTING_FOLDER"))
    found: list[Path | None] = [*sorted(_private_root(step).glob(f"{_PRIVATE}*"))]
    if not found and step.variable("ROUTING_OUTCOME") == "failure":
        found = [None]
    for private in found:
        step.say("warning", "this step was killed; what it had measured is marked as incomplete")
        hand_over(folder, {}, private)
    return ExitCode.PASSED


def _private_root(step: Step) -> Path:
    return Path(step.variable("RUNNER_TEMP")) / "routing-action"


def _copy_batch(source: Path, batch: Path, results: Results) -> None:
    """Write what is known, and copy what is a plain file; some units have no transcript."""
    write_atomically(batch / RESULTS_FILE, render_results(results))
    write_atomically(batch / PROOF_FILE, render_proof_log(results))
    (batch / TRANSCRIPTS).mkdir()
    names = [JOURNAL_FILE]
    if not (source / TRANSCRIPTS).is_symlink():
        ids = [row.unit_run_id for row in results.results]
        names += [f"{TRANSCRIPTS}/{one}.{stream}" for one in ids for stream in ("stdout", "stderr")]
    for name in names:
        try:
            file = open_regular(source / name)
        except OSError:
            continue
        try:
            with file, (batch / name).open("xb") as copy:
                shutil.copyfileobj(file, copy, 1 << 20)
        except OSError as error:
            raise unwritable(batch / name, error) from None


def _salvage(private: Path) -> Results | None:
    """What the journal of a killed batch holds; None where there is none."""
    with suppress(OSError):
        for batch in sorted(private.iterdir()):
            killed = read_dead(batch / JOURNAL_FILE)
            if killed is not None and killed.header.batch_run_id == batch.name:
                sweep_survivors(killed.running)
                rows = tuple(killed.rows.values())
                return Results(
                    written_by=__version__,
                    batch_run_id=killed.header.batch_run_id,
                    generated_at_utc=killed.header.at_utc,
                    complete=False,
                    summary=summarise(rows),
                    pairs=summarise_pairs(rows),
                    options=killed.header.options,
                    results=rows,
                )
    return None
