"""Builds the real parts of a run, handles signals, and shows the outcome."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import click

from routing_action.app.launch import LiveLauncher, ReplayLauncher
from routing_action.app.plan import Plan
from routing_action.app.ports import Ports, new_uuid
from routing_action.app.run import Batch, Shard, run_batch
from routing_action.cli.options import run_program, stdout_style
from routing_action.cli.progress import live_progress
from routing_action.harness.redaction import Redactor, secret_values
from routing_action.harness.replay import ReplaySet
from routing_action.report.console import render_console
from routing_action.settings import RunSettings, build_command
from routing_action.store.baselines import Entries, find_baseline_file, read_baseline
from routing_action.store.batch import BatchFolder, render_results, write_atomically


def run_and_report(
    plan: Plan,
    settings: RunSettings,
    shard: Shard,
    *,
    recordings: ReplaySet | None,
    batch_file: Path | None,
    as_json: bool,
) -> int:
    """Run the plan with the real parts, write the outcome to stdout, give the exit code.

    `batch_file` gets the path of the batch's folder, for a script that goes on from there.
    """
    batch = asyncio.run(_run(plan, settings, shard, recordings))
    if batch_file is not None:
        write_atomically(batch_file, f"{batch.folder.path}\n")
    if as_json:
        click.echo(render_results(batch.results), nl=False)
    else:
        text = render_console(
            batch.results,
            reason=batch.reason,
            artifacts=str(batch.folder.path),
            program=run_program(),
            style=stdout_style(settings.environ),
        )
        click.echo(text)
    return int(batch.exit_code)


async def _run(
    plan: Plan, settings: RunSettings, shard: Shard, recordings: ReplaySet | None
) -> Batch:
    launcher = _launcher(plan, settings, recordings)
    batch_run_id = new_uuid()
    cancel = asyncio.Event()
    try:
        with _signals(cancel), live_progress(settings, cancel) as observer:
            ports = Ports(lambda: datetime.now(UTC), new_uuid, _write_error, observer)
            return await run_batch(
                plan,
                settings,
                folder=BatchFolder(settings.artifacts_root, batch_run_id),
                batch_run_id=batch_run_id,
                launcher=launcher,
                redactor=Redactor(_secrets(plan, settings)),
                ports=ports,
                cancel=cancel,
                shard=shard,
                baseline=_baseline(plan, settings),
            )
    finally:
        for note in launcher.close():
            _write_error(f"routing-action: {note}")


def _launcher(
    plan: Plan, settings: RunSettings, recordings: ReplaySet | None
) -> LiveLauncher | ReplayLauncher:
    if recordings is not None:
        for unit in plan.units:
            recordings.script_for(unit.agent, unit.case.case_id, unit.trial)
        return ReplayLauncher(recordings, settings)
    for provider in plan.providers.values():
        build_command(provider, "", None, settings.environ)  # a bad template stops here
    written = [settings.artifacts_root, settings.output, settings.proof_log]
    hidden = [Path(plan.corpus.file), *(path for path in written if path is not None)]
    return LiveLauncher(settings, plan.providers, hidden)


def _baseline(plan: Plan, settings: RunSettings) -> Entries | None:
    """The baseline beside the cases, which says what --confirm must run again."""
    if not settings.confirm:
        return None
    return read_baseline(find_baseline_file(Path(plan.corpus.file).parent))[0]


def _secrets(plan: Plan, settings: RunSettings) -> tuple[str, ...]:
    """Every value that must not be written: by the variables' names, and the agents' own keys."""
    names = [name for one in plan.providers.values() for name in one.credential_variables]
    return secret_values(settings.environ, names)


@contextmanager
def _signals(cancel: asyncio.Event) -> Iterator[None]:
    """The first SIGINT or SIGTERM ends the batch in order; a second one interrupts at once."""
    loop = asyncio.get_running_loop()
    handled = (signal.SIGINT, signal.SIGTERM)

    def interrupt() -> None:
        for number in handled:
            loop.remove_signal_handler(number)
        _write_error("routing-action: interrupted; ending the running units (again: at once)")
        cancel.set()

    for number in handled:
        loop.add_signal_handler(number, interrupt)
    try:
        yield
    finally:
        for number in handled:
            loop.remove_signal_handler(number)


def _write_error(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()
