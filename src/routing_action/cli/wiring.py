"""Builds the real parts of a run, handles signals, and shows the outcome."""

from __future__ import annotations

import asyncio
import codecs
import os
import shlex
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import click

from routing_action.cli.before_run import check_before_paying
from routing_action.cli.options import stdout_style
from routing_action.cli.place import from_here, program_here
from routing_action.corpus.cases_file import Corpus, read_cases
from routing_action.errors import DocumentError, ExitCode
from routing_action.files.atomic import write_atomically
from routing_action.files.program import own_program
from routing_action.files.redaction import Redactor
from routing_action.files.secret_values import secret_values, secrets_in
from routing_action.gate.baselines import (
    DEFAULT_BASELINE_FILES,
    find_baseline_file,
    has_baseline,
    read_baseline,
)
from routing_action.gate.judging.settle import weigh_run
from routing_action.git.credentials import find_credentials
from routing_action.report.terminal.cells import shorten
from routing_action.report.terminal.choose_progress import live_progress
from routing_action.report.terminal.console import render_console
from routing_action.results.batch_folder import (
    DEFAULT_ARTIFACTS_ROOT,
    BatchFolder,
    render_results,
)
from routing_action.results.find import list_batches
from routing_action.results.journal import JOURNAL_FILE, Journal
from routing_action.results.past.records import read_records
from routing_action.results.read import read_results
from routing_action.run.batch import Batch, judge_run, run_batch
from routing_action.run.launch import LiveLauncher, ReplayLauncher
from routing_action.run.launcher import Parts
from routing_action.run.lifecycle import Ports, Stop, is_ci, new_uuid
from routing_action.run.plan import Plan
from routing_action.run.replay.recordings import ReplaySet
from routing_action.run.resume import check_cases, check_same
from routing_action.run.settings import RunSettings, check_command
from routing_action.run.trials.confirm import Confirm
from routing_action.run.workspace.agent_home import login_secrets


def run_and_report(
    plan: Plan,
    settings: RunSettings,
    *,
    recordings: ReplaySet | None,
    arguments: tuple[str, ...],
    journal: Journal | None,
    notes: tuple[str, ...],
    batch_file: Path | None,
    as_json: bool,
) -> int:
    """Run the plan with the real parts, write the outcome to stdout, give the exit code.

    `journal` is that of a batch to continue; `arguments` repeat a new one. `notes` are said at the
    start. `batch_file` gets the path of the batch's folder, for a script that works on it.
    """

    def write(line: str) -> None:
        _write_error(redactor.text(line))

    stored = find_credentials(settings.root, settings.environ)
    redactor = Redactor((*stored.values, *_secrets(plan, settings)))
    if stored.warning and recordings is None:
        write(f"routing-action: {stored.warning}")
    launcher = _launcher(plan, settings, recordings)
    if isinstance(launcher, LiveLauncher):
        notes += check_before_paying(plan, settings, launcher.missing)
    if journal is None:
        folder = BatchFolder(settings.outputs.artifacts_root, new_uuid())
        journal = Journal.create(folder.path / JOURNAL_FILE)
    else:
        folder = BatchFolder.existing(journal.path.parent)
        check_same(journal, plan, settings, redactor)
    launcher.folders.list_in(folder.path)

    async def run(journal: Journal) -> Batch:
        stop = Stop(asyncio.Event(), asyncio.Event())
        with _signals(stop), live_progress(settings, stop.cancel, stop.hurry) as observer:
            ports = Ports(lambda: datetime.now(UTC), new_uuid, write, observer)
            parts = Parts(folder, launcher, redactor, ports, stop)
            confirm = _confirm(plan, settings, folder.path.name)
            _import_late_modules()
            try:
                return await run_batch(plan, settings, parts, journal, arguments, confirm, notes)
            finally:
                for note in launcher.close():
                    _write_error(f"routing-action: {note}")

    try:
        batch = asyncio.run(run(journal))
    finally:
        journal.close()
    return show_batch(batch, plan.corpus, settings.environ, batch_file=batch_file, as_json=as_json)


def show_complete(
    journal: Journal,
    environ: Mapping[str, str],
    *,
    cases: Path,
    batch_file: Path | None,
    as_json: bool,
) -> int | None:
    """Show the results of a batch that has nothing left to run.

    None where they are gone or damaged: the batch then makes them again from its journal.
    """
    folder = BatchFolder.existing(journal.path.parent)
    if journal.earlier is None or not folder.results_file.exists():
        return None
    try:
        results = read_results(folder.results_file)
    except DocumentError as error:
        _write_error(f"routing-action: made again from the journal: {error.cause}")
        return None
    found = {(row.agent, row.case_id, row.trial): row for row in results.results}
    if not results.complete or found != journal.earlier.rows:
        return None
    corpus = read_cases(cases)
    check_cases(corpus, results.options)
    _write_error(f"ARTIFACT_DIR={folder.path}")
    _write_error(f"routing-action: the batch {results.batch_run_id} is complete: nothing to run")
    code, reason = judge_run(results, results.options.fail_on_infra)
    batch = Batch(results, folder, code, reason)
    return show_batch(batch, corpus, environ, batch_file=batch_file, as_json=as_json)


def show_batch(
    batch: Batch,
    corpus: Corpus,
    environ: Mapping[str, str],
    *,
    batch_file: Path | None,
    as_json: bool,
) -> int:
    """Write the outcome to stdout and give the exit code.

    A script that gets the batch's folder compares it where there is a baseline: what failed is
    then said by the comparison. Where nobody reads stdout any more the outcome stands in the
    folder all the same.
    """
    weighed = weigh_run(batch.results, Path(corpus.file).parent)
    results, doubtful = batch.results, weighed.unproven
    fails_on_infra, folder = results.options.fail_on_infra, batch.folder.path
    judged = judge_run(results, fails_on_infra, folder, excused=doubtful, ended=weighed.ended)
    batch = replace(batch, exit_code=judged[0], reason=judged[1])
    if batch_file is not None:
        write_atomically(batch_file, f"{batch.folder.path}\n")
    if as_json:
        text = render_results(batch.results)
    else:
        text = render_console(
            batch.results,
            reason=batch.reason,
            program=program_here(),
            artifacts=from_here(batch.folder.path),
            style=stdout_style(environ),
            corpus=corpus,
            weighed=weighed,
            is_compared=batch_file is not None and _is_comparable(batch, corpus),
        )
        if batch_file is None and _is_comparable(batch, corpus) and not is_ci(environ):
            text += f"\nnext: {own_program()} compare{_name_unless_newest(batch.folder.path)}"
    try:
        click.echo(text, nl=not as_json)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return int(batch.exit_code)


def _name_unless_newest(folder: Path) -> str:
    """What names a batch to `compare`, which takes by itself the newest of the usual place."""
    usual = next(iter(list_batches(DEFAULT_ARTIFACTS_ROOT)), None)
    is_newest = usual is not None and usual.resolve() == folder.resolve()
    return "" if is_newest else f" --results {shlex.quote(from_here(folder))}"


def _is_comparable(batch: Batch, corpus: Corpus) -> bool:
    """True where the batch was run to its end, and a baseline stands beside its cases."""
    ended = batch.exit_code in (ExitCode.PASSED, ExitCode.GATE_FAILED)
    return ended and (Path(corpus.file).parent / DEFAULT_BASELINE_FILES[0]).is_file()


def _launcher(
    plan: Plan, settings: RunSettings, recordings: ReplaySet | None
) -> LiveLauncher | ReplayLauncher:
    if recordings is not None:
        for unit in plan.units:
            recordings.script_for(unit.agent, unit.case.case_id, unit.trial)
        return ReplayLauncher(recordings, settings)
    for provider in plan.providers.values():
        check_command(provider, settings.provider_models.get(provider.name), settings.environ)
    outputs = settings.outputs
    written = [outputs.artifacts_root, outputs.results_copy, outputs.proof_log_copy]
    hidden = [Path(plan.corpus.file), *(path for path in written if path is not None)]
    return LiveLauncher(settings, plan.providers, hidden)


def _confirm(plan: Plan, settings: RunSettings, batch: str) -> Confirm:
    """What --confirm and --fail-fast ask for, by the baseline beside the cases and the history.

    A repository that has no baseline yet expects nothing to pass. A batch that is continued is no
    history of itself.
    """
    folder = Path(plan.corpus.file).parent
    if not (settings.confirm.most or settings.fail_fast) or not has_baseline(folder):
        return Confirm()
    baseline = read_baseline(find_baseline_file(folder))[0]
    return Confirm(settings.confirm, baseline, read_records(settings.history, {batch}))


def _secrets(plan: Plan, settings: RunSettings) -> tuple[str, ...]:
    """Every value that must not be written: of variables, the agents' own keys, and logins."""
    environ = settings.environ
    names = [name for one in plan.providers.values() for name in one.credential_variables]
    found = {*secret_values(environ, names)}
    for provider in plan.providers.values():
        found |= {*secret_values(provider.set_variables), *login_secrets(provider, environ)}
        found |= {*secrets_in("\n".join(provider.command))}
    return tuple(found)


def _import_late_modules() -> None:
    """Import what is first needed once agents have run: they can write to what would be read."""
    shorten("é…", 1)  # rich's table of widths
    for name in ("utf-16-le", "utf-16-be", "unicode_escape", "idna"):
        codecs.lookup(name)


@contextmanager
def _signals(stop: Stop) -> Iterator[None]:
    """The first signal ends the batch in order, a second one without any grace.

    None of them ends the harness before the results are on disk: every wait until then is
    bounded. GitHub sends SIGINT, SIGTERM 7.5 seconds later, and SIGKILL after 2.5 more.
    """
    loop = asyncio.get_running_loop()
    handled = [signal.SIGINT, signal.SIGTERM]
    # Under nohup a hang-up is ignored, and is to stay so.
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        handled.append(signal.SIGHUP)

    came: list[int] = []

    def interrupt(number: int) -> None:
        came.append(number)
        if stop.cancel.is_set():
            stop.hurry.set()
            return
        stop.cancel.set()
        _write_error(
            "routing-action: interrupted; ending the running units "
            "(interrupt again to end them at once)"
        )

    for number in handled:
        loop.add_signal_handler(number, interrupt, number)
    try:
        yield
    finally:
        for number in handled:
            loop.remove_signal_handler(number)
            if came:  # the outcome is still to be shown
                signal.signal(number, signal.SIG_IGN)


def _write_error(line: str) -> None:
    """A line of log; a terminal that is gone must not end the batch."""
    with suppress(OSError):
        sys.stderr.write(line + "\n")
        sys.stderr.flush()
