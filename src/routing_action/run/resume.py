"""Finds a batch to continue, sees that it is the same, and ends what killed ones left running."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from routing_action.corpus.cases_file import Corpus
from routing_action.errors import DocumentError, UsageError
from routing_action.files.redaction import Redactor
from routing_action.results.batch_folder import RESULTS_FILE
from routing_action.results.journal import (
    JOURNAL_FILE,
    PATIENCE_SECONDS,
    EarlierRun,
    Journal,
)
from routing_action.results.model import Options
from routing_action.results.rerun import resume_command
from routing_action.run.lifecycle import Ports
from routing_action.run.plan import Plan
from routing_action.run.process.descendants import sweep_survivors
from routing_action.run.settings import RunSettings, agent_templates
from routing_action.run.workspace.leftovers import remove_leftovers

MOST_BATCHES = 50
"""How many batches are searched for what was left running, the newest first."""
MOST_BYTES = 64 * 2**20
"""A longer journal is not searched; `--resume` reads it."""
_NEW_BATCH = "or start a new batch, without --resume"


def open_journal(batch: str, artifacts_root: Path) -> Journal:
    """The journal of a batch that is named by its id, or by its folder; locked from now on.

    Raises UsageError where there is no such batch or it is still running, DocumentError with
    the line where its journal is damaged.
    """
    folders = [one.absolute() for one in (artifacts_root / batch, Path(batch))]
    path = next(
        (one / JOURNAL_FILE for one in folders if os.path.lexists(one / JOURNAL_FILE)), None
    )
    if path is None:
        raise UsageError(
            f"--resume {batch}: no batch with a journal",
            remedy=f"give a batch_run_id below {artifacts_root}, or the batch's folder",
        )
    journal = Journal.reopen(path, PATIENCE_SECONDS)
    try:
        _check_name(journal.recover().header.batch_run_id, path)
    except BaseException:
        journal.close()
        raise
    return journal


def _check_name(batch_run_id: str, path: Path) -> None:
    if batch_run_id != path.parent.resolve().name:
        raise DocumentError(
            "this is the journal of another batch",
            file=str(path),
            line=1,
            field="batch_run_id",
            remedy=f"give the folder its own name back: {batch_run_id}",
        )


def tell_killed(root: Path, own: Path, ports: Ports) -> None:
    """Say that the newest other batch below a root was killed, and how to continue it."""
    newest = next((path for path in _newest_journals(root) if path.parent != own), None)
    dead = read_dead(newest) if newest else None
    if not newest or not dead or (not dead.running and (newest.parent / RESULTS_FILE).exists()):
        return
    ended = len(dead.rows)
    ports.write_error(
        f"routing-action: the batch before this one was killed when {ended} of "
        f"{max(dead.header.units, ended + len(dead.running))} units had ended; "
        f"`{resume_command(newest.parent)}` continues it"
    )


def end_survivors(journal: Journal, artifacts_root: Path, ports: Ports) -> None:
    """End what killed batches left running, this one and others beside it, and name it."""
    markers = set(journal.earlier.running if journal.earlier else ())
    for dead in map(read_dead, _newest_journals(artifacts_root)):
        markers |= dead.running if dead else set()
    for survivor in sweep_survivors(markers):
        ports.write_error(
            f"routing-action: ended {survivor}, which a killed batch had left running"
        )


def remove_left_folders(
    journal: Journal, artifacts_root: Path, temp_root: Path, ports: Ports
) -> None:
    """Remove the workspaces and homes of killed batches, this one and others beside it.

    A batch that runs holds its journal, and keeps its folders.
    """
    removed = remove_leftovers(journal.path.parent, temp_root) if journal.earlier else 0
    for path in _newest_journals(artifacts_root):
        with _held(path) as held:
            removed += remove_leftovers(path.parent, temp_root) if held else 0
    if removed:
        count = "1 folder" if removed == 1 else f"{removed} folders"
        ports.write_error(f"routing-action: removed {count} that a killed batch had left")


def read_dead(path: Path) -> EarlierRun | None:
    """A journal that nobody holds; None where a batch does, and for what cannot be read."""
    with suppress(OSError, DocumentError), _held(path) as journal:
        if journal and path.stat(follow_symlinks=False).st_size <= MOST_BYTES:
            return journal.look()
    return None


@contextmanager
def _held(path: Path) -> Iterator[Journal | None]:
    """A journal, locked meanwhile; None where a batch holds it, or it cannot be opened."""
    try:
        journal = Journal.reopen(path)
    except (OSError, DocumentError, UsageError):
        yield None
        return
    with closing(journal):
        yield journal


def _newest_journals(root: Path) -> Iterator[Path]:
    try:
        with os.scandir(root) as entries:
            folders = [entry for entry in entries if entry.is_dir(follow_symlinks=False)]
            folders.sort(key=lambda entry: entry.stat(follow_symlinks=False).st_mtime_ns)
    except OSError:
        return
    for entry in folders[: -MOST_BATCHES - 1 : -1]:
        yield Path(entry.path) / JOURNAL_FILE


def check_cases(corpus: Corpus, options: Options) -> None:
    """UsageError where the case file is not the one of the batch."""
    if corpus.sha256 != options.corpus_sha256:
        raise UsageError(
            f"{corpus.file} is not what it was when the batch was started",
            remedy=f"put the file back (SHA-256 {options.corpus_sha256}), {_NEW_BATCH}",
        )


def check_same(journal: Journal, plan: Plan, settings: RunSettings, redactor: Redactor) -> None:
    """UsageError where cases, commit, agents' commands or units are not what they were."""
    if journal.earlier is None:
        return
    header = journal.earlier.header
    options = header.options
    check_cases(plan.corpus, options)
    if settings.commit != options.commit:
        raise UsageError(
            f"the batch measures commit {options.commit}, the checkout is at {settings.commit}",
            remedy=f"check out {options.commit}, {_NEW_BATCH}",
        )
    if settings.config_sha256 != options.config_sha256:
        file = options.config_file or settings.config_file
        raise UsageError(
            "the description of your own agents is not what it was when the batch was started",
            remedy=f"put {file} back as it was, {_NEW_BATCH}",
        )
    now = agent_templates(plan.providers, settings.environ)
    for agent in plan.providers:
        then = header.templates.get(agent, "")
        if redactor.text(now.get(agent, "")) != then:
            raise UsageError(
                f"AGENT_{agent.upper()}_TEMPLATE is not what it was when the batch was started",
                remedy=f"set it to {then!r} ('' is unset), {_NEW_BATCH}",
            )
    _check_units(journal.earlier, journal.path, plan, settings.confirm.most)


def _check_units(earlier: EarlierRun, path: Path, plan: Plan, confirm: int) -> None:
    pairs = {(unit.agent, unit.case.case_id) for unit in plan.units}
    last = max(unit.trial for unit in plan.units) + confirm
    strange = [key for key in earlier.rows if key[:2] not in pairs or key[2] > last]
    if strange or earlier.header.units != len(plan.units):
        raise DocumentError(
            "its units are not those of its arguments and cases",
            file=str(path),
            line=1,
            field="units",
            remedy=f"use the release of routing-action that wrote it, {_NEW_BATCH}",
        )
