"""`routing-action noise measure`: run the same commit again and again, to learn its noise."""

from __future__ import annotations

import contextlib
import io
import shlex
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from routing_action.cli.options import agents_option, split_list
from routing_action.cli.place import from_here
from routing_action.cli.run import command as run_command
from routing_action.cli.run import read_plan
from routing_action.corpus.baseline import Pair
from routing_action.errors import ExitCode, UsageError
from routing_action.evidence.chance import Record, wilson_interval
from routing_action.files.program import own_program
from routing_action.gate.wording import count
from routing_action.results.batch_folder import RESULTS_FILE
from routing_action.results.find import list_batches
from routing_action.results.past.known_pairs import Known, know_from_results
from routing_action.run.replay.recordings import ReplaySet

_KNOWN_WELL = 0.2
"""A pair whose interval is no wider needs no more runs."""


@click.command("measure")
@click.option(
    "--runs",
    metavar="N",
    type=click.IntRange(1, 100),
    required=True,
    help="Run each pair at most N times.",
)
@click.option(
    "--max-cost-usd",
    metavar="X",
    type=click.FloatRange(min=0, min_open=True),
    help="Stop once the known cost reaches X; the pairs that are known least come first.",
)
@agents_option()
@click.option(
    "--case-id", "--case", "case_ids", multiple=True, metavar="IDS", help="Only these cases."
)
@click.argument("more", nargs=-1)
def measure(
    runs: int,
    max_cost_usd: float | None,
    agents: tuple[str, ...],
    case_ids: tuple[str, ...],
    more: tuple[str, ...],
) -> int:
    """Run the same cases again and again on the same commit, and keep every batch.

    It ends early where more runs are of no use, since the rate of every pair is known well, and
    where the budget is spent. Options of `run` follow after `--`.
    """
    words = [*(["--agents", ",".join(split_list(agents))] if agents else []), *more]
    cases: Sequence[str] | None = split_list(case_ids) if case_ids else None
    _check([*words, *(["--case-id", ",".join(cases)] if cases else [])])
    batches: list[Path] = []
    end = f"ended after {count(runs, 'run')}, as asked"
    for number in range(1, runs + 1):
        click.echo(f"routing-action: run {number} of {runs}", err=True)
        chosen = [*words, *(["--case-id", ",".join(cases)] if cases else [])]
        code, folder = _run_once(chosen, _find_rest(max_cost_usd, batches))
        if folder is not None:
            batches.append(folder)
        if code > ExitCode.GATE_FAILED or folder is None:
            return code
        known = know_from_results([one / RESULTS_FILE for one in batches])
        rest = _find_rest(max_cost_usd, batches)
        cases = _choose(known, rest)
        if not cases:
            is_open = _list_open(known)
            why = (
                "the budget is spent" if is_open else "more is of no use: every rate is known well"
            )
            end = f"ended after {count(number, 'run')}: {why}"
            break
    click.echo(end)
    click.echo(f"next: {own_program()} noise {_name(batches)}")
    return ExitCode.PASSED


def _check(words: Sequence[str]) -> None:
    """Raise before anything is paid for where `run` would not take these options."""
    context = click.get_current_context()
    try:
        given = run_command.make_context("run", [*words], parent=context).params
    except click.UsageError as error:
        raise click.UsageError(error.format_message(), context) from None
    if given["confirm"] != 0:
        raise UsageError(
            "--confirm gives more trials to what failed, so the rates would be wrong",
            remedy="leave it out; `noise` then says what --confirm does",
        )
    read_plan(given, ReplaySet(Path(given["replay"])) if given["replay"] else None)


def _name(batches: Sequence[Path]) -> str:
    """As an option, the folder that holds these batches and no others, else each batch.

    A shell makes an option of each name in braces.
    """
    root = batches[0].parent
    place = shlex.quote(from_here(root))
    if set(list_batches(root)) == set(batches):
        return f"--results {place}"
    names = ",".join(one.name for one in batches)
    return f"--results={place}/{{{names}}}" if len(batches) > 1 else f"--results {place}/{names}"


def _run_once(words: Sequence[str], budget: float | None) -> tuple[int, Path | None]:
    """A batch of one trial of each pair; its exit code, and its folder where it has one.

    Its report is shown only where the run could not end: one batch says little of noise.
    """
    with tempfile.TemporaryDirectory() as place:
        batch = Path(place) / "batch"
        given = [*words, f"--batch-file={batch}"]
        given += [] if budget is None else [f"--max-cost-usd={budget:.4f}"]
        with contextlib.redirect_stdout(io.StringIO()) as report:
            code = run_command.main(given, prog_name="routing-action run", standalone_mode=False)
        if int(code or 0) > ExitCode.GATE_FAILED:
            click.echo(report.getvalue(), nl=False, err=True)
        folder = Path(batch.read_text("utf-8").rstrip("\n")) if batch.is_file() else None
    return int(code or 0), folder


def _find_rest(most: float | None, batches: Sequence[Path]) -> float | None:
    """What is left of a budget, in US dollars; None without one."""
    if most is None or not batches:
        return most
    known = know_from_results([one / RESULTS_FILE for one in batches])
    return most - sum((one.cost_usd or 0.0) * one.trials for one in known.values())


def _choose(known: Mapping[Pair, Known], budget: float | None) -> list[str]:
    """The cases to run next, those known least first, as far as the budget lasts."""
    chosen: dict[str, None] = {}
    left = budget
    for case_id, _ in _list_open(known):
        if case_id in chosen:
            continue
        cost = sum(one.cost_usd or 0.0 for pair, one in known.items() if pair[0] == case_id)
        if left is not None:
            if cost > left:
                continue
            left -= cost
        chosen[case_id] = None
    return list(chosen)


def _list_open(known: Mapping[Pair, Known]) -> list[Pair]:
    """The pairs whose rate is not known well, those known least first."""
    widths = {pair: _find_width(one.record) for pair, one in known.items()}
    open_ones = (pair for pair, width in widths.items() if width > _KNOWN_WELL)
    return sorted(open_ones, key=lambda pair: -widths[pair])


def _find_width(record: Record) -> float:
    low, high = wilson_interval(record)
    return high - low
