"""`routing-action record`: make recordings of a batch, which `run --replay` replays."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from routing_action.cli.options import agents_option, path_option, spell_names, split_list
from routing_action.cli.place import find_newest_batch, from_here
from routing_action.cli.run_options import DEFAULT_REPLAY
from routing_action.errors import NothingToRunError
from routing_action.files.program import own_program
from routing_action.gate.wording import count
from routing_action.results.batch_folder import RESULTS_FILE, one_line
from routing_action.results.read import read_results
from routing_action.run.replay.record import record_batch


@click.command("record", short_help="Make recordings of a batch for `run --replay`.")
@path_option("--batch", metavar="DIR", help="The folder of the batch. Default: the newest batch.")
@path_option("--to", "folder", default=DEFAULT_REPLAY, show_default=True, written=True,
             metavar="DIR", help="The folder of recordings.")  # fmt: skip
@click.option("--cases", "--case-id", "case_ids", multiple=True, metavar="IDS",
              help="Only these cases (comma-separated, repeatable).")  # fmt: skip
@agents_option("Only these agent CLIs (comma-separated).")
@click.option("--force", is_flag=True, help="Replace the recordings of cases that have some.")
def command(
    batch: Path | None,
    folder: Path,
    case_ids: tuple[str, ...],
    agents: tuple[str, ...],
    force: bool,
) -> int:
    """Copy the transcripts of a batch as recordings: a replay needs no agent and no key.

    A unit that was cancelled or stopped early is left out. Read what was recorded before you
    commit it: only the values of secrets that the run knew are masked.
    """
    batch = batch or find_newest_batch()
    rows = read_results(batch / RESULTS_FILE).results
    cases = spell_names(split_list(case_ids), [row.case_id for row in rows],
                        "no result of case", "measured")  # fmt: skip
    named = spell_names(split_list(agents), [row.agent for row in rows],
                        "no result of agent", "measured")  # fmt: skip
    recorded = record_batch(batch, folder, agents=named, case_ids=cases, force=force)
    for one in recorded.left_out:
        click.echo(one_line(f"left out: {one}"), err=True)
    if not recorded.rows:
        raise NothingToRunError("nothing was recorded", remedy="name a batch that ran to its end")
    made = list(dict.fromkeys(row.agent for row in recorded.rows))
    ids = list(dict.fromkeys(row.case_id for row in recorded.rows))
    place = from_here(folder)
    said = f"{count(len(recorded.rows), 'recording')} of {count(len(ids), 'case')}"
    click.echo(one_line(f"{place}: {said} on {', '.join(made)}; read them before you commit them"))
    words = ["run", f"--replay={place}", "--agents", ",".join(made)]
    chosen = [] if len(ids) == len({row.case_id for row in rows}) else ["--case-id", ",".join(ids)]
    click.echo(f"next: {own_program()} {shlex.join([*words, *chosen])}")
    return 0
