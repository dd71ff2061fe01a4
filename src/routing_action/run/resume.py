"""Finds a batch to go on with, ends what it left running, and sees that it stays the same."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from routing_action.errors import DocumentError, UsageError
from routing_action.files.redaction import Redactor
from routing_action.results.journal import JOURNAL_FILE, PATIENCE_SECONDS, Journal
from routing_action.results.journal_records import PlanRecord, Recovered, UnitKey
from routing_action.run.dead_batches import describe_killed, find_dead_units
from routing_action.run.ledger import Logbook
from routing_action.run.plan import Plan
from routing_action.run.ports import Ports
from routing_action.run.process.survivors import sweep_survivors
from routing_action.run.settings import RunSettings, agent_templates

_NEW_BATCH = "or start a new batch, without --resume"


def open_logbook(batch: str, artifacts_root: Path) -> Logbook:
    """The journal of a batch that is named by its id, or by its folder; locked from now on.

    Raises UsageError where there is no such batch or it is still running, DocumentError with
    the line where its journal is damaged.
    """
    folder = _find(batch, artifacts_root)
    journal = Journal.reopen(folder / JOURNAL_FILE, PATIENCE_SECONDS)
    try:
        earlier = journal.recover()
        _check_name(earlier.plan.batch_run_id, journal.path)
    except BaseException:
        journal.close()
        raise
    return Logbook(journal, earlier.plan.arguments, earlier)


def _check_name(batch_run_id: str, journal: Path) -> None:
    if batch_run_id != journal.parent.resolve().name:
        raise DocumentError(
            "this is the journal of another batch",
            file=str(journal),
            line=1,
            field="batch_run_id",
            remedy=f"give the folder its own name back: {batch_run_id}",
        )


def _find(batch: str, artifacts_root: Path) -> Path:
    for folder in (artifacts_root / batch, Path(batch)):
        if (folder / JOURNAL_FILE).is_symlink() or (folder / JOURNAL_FILE).exists():
            return folder.absolute()
    raise UsageError(
        f"--resume {batch}: no batch with a journal",
        remedy=f"give a batch_run_id below {artifacts_root}, or the batch's folder",
    )


def tell_killed(logbook: Logbook, folder: Path, ports: Ports) -> None:
    """Point to the batch before this one where that was killed; a resumed one points to none."""
    killed = describe_killed(folder.parent, folder) if logbook.earlier is None else ""
    if killed:
        ports.write_error(f"routing-action: {killed}")


def end_survivors(logbook: Logbook, artifacts_root: Path, ports: Ports) -> None:
    """End what killed batches left running, this one and others beside it, and name it."""
    markers = set(logbook.earlier.markers if logbook.earlier else ())
    for survivor in sweep_survivors(markers | find_dead_units(artifacts_root)):
        ports.write_error(
            f"routing-action: ended {survivor}, which a killed batch had left running"
        )


def check_same(
    earlier: Recovered, journal: Path, plan: Plan, settings: RunSettings, redactor: Redactor
) -> None:
    """UsageError where cases, commit, agents' commands or units are not what they were."""
    record = earlier.plan
    options = record.options
    if plan.corpus.sha256 != options.corpus_sha256:
        raise UsageError(
            f"{plan.corpus.file} is not what it was when the batch was started",
            remedy=f"put the file back (SHA-256 {options.corpus_sha256}), {_NEW_BATCH}",
        )
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
    _check_templates(record, plan, settings.environ, redactor)
    _check_units(earlier, journal, plan)


def _check_templates(
    record: PlanRecord, plan: Plan, environ: Mapping[str, str], redactor: Redactor
) -> None:
    now = agent_templates(plan.providers, environ)
    for agent in plan.providers:
        then = record.templates.get(agent, "")
        if redactor.text(now.get(agent, "")) != then:
            raise UsageError(
                f"AGENT_{agent.upper()}_TEMPLATE is not what it was when the batch was started",
                remedy=f"set it to {then!r} ('' is unset), {_NEW_BATCH}",
            )


def _check_units(earlier: Recovered, journal: Path, plan: Plan) -> None:
    planned = [unit.key for unit in earlier.plan.units]
    units: list[UnitKey] = [(unit.agent, unit.case.case_id, unit.trial) for unit in plan.units]
    cases = {(agent, case_id) for agent, case_id, _ in units}
    again = [unit.key for more in earlier.rounds[1:] for unit in more]
    strange = [key for key in again if key[:2] not in cases]
    if planned != units or strange or len(earlier.rounds) > 2:
        raise DocumentError(
            "its units are not those of its arguments and cases",
            file=str(journal),
            line=1,
            field="units",
            remedy=f"use the release of routing-action that wrote it, {_NEW_BATCH}",
        )
