"""`routing-action baseline update`: write what was measured into provider-baseline.json."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import click

from routing_action.action.post import open_github
from routing_action.cli.options import (
    BASELINE_HELP,
    CASES_HELP,
    agents_option,
    path_option,
    spell_names,
    split_list,
)
from routing_action.cli.place import find_newest_batch, from_here
from routing_action.corpus.baseline import Pair, iterate_pairs
from routing_action.corpus.cases_file import DEFAULT_CASE_FILES, find_cases_file, read_cases
from routing_action.errors import ExitCode, UsageError
from routing_action.gate.baselines import (
    OpenBaseline,
    find_baseline_file,
    open_baseline,
    start_baseline,
)
from routing_action.gate.update import Sign, Step, Wishes, apply_steps, plan_removal, plan_update
from routing_action.github.access import find_repository, find_token
from routing_action.github.artifacts import fetch_results
from routing_action.results.batch_folder import one_line
from routing_action.results.find import ARTIFACT
from routing_action.results.measured import Measurement, gather, keep_newest
from routing_action.results.read import read_batches

_EXAMPLE = '--reason "claude takes the other skill since 2.1; to be fixed in its description"'
_LATER = (
    "takes effect when merged: the gate of this pull request stays red until then "
    "(a pair that is new in it counts at once)"
)


@click.command("update")
@path_option(
    "--from",
    "sources",
    multiple=True,
    metavar="DIR|FILE",
    help="A batch's folder, a folder of several, or a results.json (repeatable: of each pair the "
    "newest counts). Default: the newest batch.",
)
@click.option(
    "--from-run",
    "run_id",
    type=click.IntRange(min=1),
    metavar="RUN_ID",
    help="The results that this workflow run uploaded, the last attempt of each leg.",
)
@click.option(
    "--repo",
    default="",
    metavar="OWNER/NAME",
    help="The repository of --from-run. Default: GITHUB_REPOSITORY, else the git remote.",
)
@path_option("--baseline", "baseline_file", help=BASELINE_HELP)
@click.option("--init", is_flag=True, help="Start a new file; replaces none.")
@click.option(
    "--cases",
    "case_ids",
    multiple=True,
    metavar="IDS",
    help="Only these cases (comma-separated, repeatable).",
)
@agents_option("Only these agent CLIs (comma-separated).")
@path_option("--cases-file", help=CASES_HELP)
@click.option("--reason", default="", metavar="TEXT", help="Why, for entries that are no pass.")
@click.option("--accept-regression", is_flag=True, help="Lower expectations too; needs --reason.")
@click.option(
    "--record-fingerprint",
    is_flag=True,
    help="Write with which CLI version, model and corpus it was measured, and the date.",
)
@click.option(
    "--prune", is_flag=True, help="Remove the entries of cases that no longer exist, alone."
)
@click.option(
    "--prune-agents",
    multiple=True,
    metavar="NAMES",
    help="Remove every entry of these agent CLIs, which are no longer measured.",
)
def update(
    sources: tuple[Path, ...],
    run_id: int | None,
    repo: str,
    baseline_file: Path | None,
    init: bool,
    case_ids: tuple[str, ...],
    agents: tuple[str, ...],
    cases_file: Path | None,
    reason: str,
    accept_regression: bool,
    record_fingerprint: bool,
    prune: bool,
    prune_agents: tuple[str, ...],
) -> int:
    """Write what was measured, where it is no worse than what was expected.

    Adds missing pairs and raises expectations; lowers none without --accept-regression. The file
    is sorted, with one field a line. With --prune or --prune-agents alone nothing else is touched.
    Exits with 1 where something was rejected.
    """
    gone = split_list(prune_agents)
    _refuse_contradictions(sources, run_id, repo)
    _check_reason(accept_regression, reason)
    opened = (
        start_baseline(baseline_file, Path.cwd())
        if init
        else open_baseline(baseline_file or find_baseline_file(Path.cwd()))
    )
    known = None
    if cases_file or prune or any(Path(name).is_file() for name in DEFAULT_CASE_FILES):
        corpus = read_cases(cases_file or find_cases_file(Path()))
        known = frozenset(case.case_id for case in corpus.cases)
    wishes = Wishes(
        reason=reason.strip(),
        accept=accept_regression,
        fingerprint=record_fingerprint,
        today=datetime.now(UTC).date().isoformat(),
        case_ids=known,
    )
    entered = [pair[1] for pair, _ in iterate_pairs(opened.entries)]
    unmeasured = spell_names(gone, entered, "the baseline has no entry of", "its agents are")
    found: list[Step] = []
    if sources or run_id or not (prune or gone):
        measurement = _measure(sources, run_id, repo)
        pairs = _choose(measurement, split_list(case_ids), split_list(agents))
        if measurement.errors:
            return _reject(measurement.errors, opened.path)
        found += plan_update(measurement, opened.entries, wishes, pairs)
    found += plan_removal(opened.entries, known if prune else None, unmeasured)
    steps = sorted({step.pair: step for step in found}.values(), key=lambda step: step.pair)
    opened.write(apply_steps(opened.entries, steps))
    _show(steps, opened)
    rejects = any(step.sign is Sign.REJECTED for step in steps)
    return ExitCode.GATE_FAILED if rejects else ExitCode.PASSED


def _refuse_contradictions(sources: tuple[Path, ...], run_id: int | None, repo: str) -> None:
    if sources and run_id:
        raise UsageError("give --from or --from-run, not both", remedy="leave one of them out")
    if repo and not run_id:
        raise UsageError("--repo is for --from-run", remedy="leave it out, or name the run too")


def _check_reason(accept: bool, reason: str) -> None:
    given = reason.strip()
    is_placeholder = given in ("TEXT", "WHY") or given.lower().startswith("why, for example")
    if is_placeholder or (accept and not given):
        cause = "the reason is a placeholder" if given else "--accept-regression needs a reason"
        raise UsageError(cause, remedy=f"say why, for whoever reviews it; for example: {_EXAMPLE}")
    if len(reason) > 500 or not reason.isprintable():
        raise UsageError(
            "--reason is too long, or holds characters that cannot be shown",
            remedy="write one line of at most 500 characters",
        )


def _measure(sources: tuple[Path, ...], run_id: int | None, repo: str) -> Measurement:
    """What the named results, or by default the newest batch's, add up to."""
    if run_id is not None:
        with _fetch(run_id, repo) as folder:
            return gather(read_batches((folder,)))
    named = sources or (find_newest_batch(),)
    return gather(keep_newest(read_batches(named)))


@contextmanager
def _fetch(run_id: int, repo: str) -> Iterator[Path]:
    """A folder with the results of a workflow run, which is removed afterwards."""
    context = find_repository(repo, Path.cwd(), os.environ)
    github = open_github(context, find_token(os.environ))
    with tempfile.TemporaryDirectory(prefix="routing-action-run-") as made:
        fetch_results(github, run_id, ARTIFACT, Path(made))
        click.echo(f"routing-action: results of run {run_id} of {context.repository}", err=True)
        yield Path(made)


def _choose(
    measurement: Measurement, case_ids: tuple[str, ...], agents: tuple[str, ...]
) -> list[Pair]:
    """The measured pairs that the filters leave."""
    pairs = list(measurement.pairs)
    cases = spell_names(case_ids, [pair[0] for pair in pairs], "no result of case", "measured")
    named = spell_names(agents, [pair[1] for pair in pairs], "no result of agent", "measured")
    pairs = [pair for pair in pairs if not cases or pair[0] in cases]
    return [pair for pair in pairs if not named or pair[1] in named]


def _reject(errors: Iterable[str], path: Path) -> int:
    for error in errors:
        click.echo(f"! rejected: {one_line(error)}")
    named = from_here(path)
    click.echo(f"{named}: nothing was written; name the batch that counts with --from DIR")
    return ExitCode.GATE_FAILED


def _show(steps: Sequence[Step], opened: OpenBaseline) -> None:
    for step in steps:
        click.echo(one_line(str(step)))
    counts = Counter(step.sign for step in steps)
    shown = [sign for sign in _COUNTED if counts[sign]]
    said = ", ".join(f"{counts[sign]} {sign.name.lower()}" for sign in shown) or "nothing to change"
    if (counts[Sign.ADDED] or counts[Sign.CHANGED]) and not opened.is_laid_out:
        said += "; the whole file is laid out anew: sorted, one field a line"
    click.echo(f"{from_here(opened.path)}: {said}")
    if any(step.lowers for step in steps):
        click.echo(_LATER)


_COUNTED = (Sign.ADDED, Sign.CHANGED, Sign.REMOVED, Sign.REJECTED)
