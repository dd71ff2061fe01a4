"""`routing-action noise`: how far the gate can be trusted on this corpus, by its settings."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from routing_action.cli.certainty import AUTO, Confirm, Share, read_sequential, sequential_options
from routing_action.cli.noise_measure import measure
from routing_action.cli.options import (
    BASELINE_HELP,
    format_option,
    path_option,
    read_history_option,
)
from routing_action.cli.place import from_here
from routing_action.corpus.baseline import Pair, Status, iterate_pairs
from routing_action.errors import DocumentError, NothingToRunError, UsageError
from routing_action.evidence.chance import Record
from routing_action.evidence.chance_sequence import Sequential
from routing_action.files.program import own_program
from routing_action.gate.baselines import find_baseline_file, read_baseline
from routing_action.gate.judging.noise import (
    DRAWS,
    FALLS,
    SEED,
    KnownPair,
    Noise,
    Rule,
    find_typical,
    find_worst,
    foresee,
    recommend,
)
from routing_action.gate.wording import count, name_few
from routing_action.report.escape import printable
from routing_action.results.measured import MeasuredBatch
from routing_action.results.past.known_pairs import Known, know_from_history, know_from_rows
from routing_action.results.read import read_batches

_MOST_OTHERS = 3
_OTHERS = (
    Rule(),
    Rule(confirm=2),
    Rule(sequential=Sequential(false_alarm=0.05)),
    Rule(sequential=Sequential()),
)


@click.group("noise", invoke_without_command=True)
@click.pass_context
@path_option("--baseline", "baseline_file", help=BASELINE_HELP)
@path_option(
    "--results",
    "files",
    multiple=True,
    metavar="BATCH",
    help="Batches of the same commit, or a folder of such, in place of a history (repeatable).",
)
@click.option("--trials", metavar="N", type=click.IntRange(1, 100), default=1, show_default=True)
@click.option(
    "--confirm",
    metavar="N",
    type=Confirm(),
    default=AUTO,
    show_default=True,
    help="The setting to look at, as `run` takes it.",
)
@sequential_options
@click.option(
    "--wanted",
    metavar="X",
    type=Share(),
    default=0.01,
    show_default=True,
    help="Recommend a setting that is red without a cause in at most this share of changes.",
)
@format_option()
def command(
    context: click.Context,
    baseline_file: Path | None,
    files: tuple[Path, ...],
    trials: int,
    confirm: int | str,
    detect: float,
    false_alarm: float,
    max_confirm: int,
    history_folder: Path | None,
    wanted: float,
    output_format: str,
) -> int | None:
    """Show how often the gate is red without a cause, what it catches, and what that costs.

    For the setting that is asked for and for three others, by how often each pair passed: in the
    history, or in several batches of the same commit. Starts nothing.
    """
    if context.invoked_subcommand is not None:
        return None
    known = _read_known(history_folder, files)
    pairs = _choose_pairs(known, baseline_file)
    test = read_sequential(confirm == AUTO, detect, false_alarm, max_confirm)
    used = Rule(trials, 0 if isinstance(confirm, str) else confirm, test)
    others = [rule for rule in _OTHERS if rule != used][:_MOST_OTHERS]
    found = [foresee(rule, pairs) for rule in (used, *others)]
    best = recommend(found, wanted)
    if output_format == "json":
        click.echo(json.dumps(_describe(found, best, pairs, wanted), indent=2))
    else:
        click.echo("\n".join(_lines(found, best, pairs, wanted)))
    return 0


command.add_command(measure)


def _read_known(history: Path | None, files: Sequence[Path]) -> Mapping[Pair, Known]:
    if history is not None and files:
        raise UsageError("give one of --history and --results", remedy="leave the other one out")
    if history is not None:
        past = read_history_option(history)
        if not past.lines:
            raise DocumentError(
                "holds no run of a history",
                file=from_here(history),
                remedy="name the folder that holds YYYY-MM.jsonl files; "
                f"`{own_program()} history --history DIR --add BATCH` makes one",
            )
        return know_from_history(past)
    if not files:
        raise UsageError(
            "give --history DIR, or --results BATCH once or more",
            remedy=f"`{own_program()} noise measure --runs 5` makes such batches",
        )
    batches = read_batches(files)
    for mixture in _tell_mixture(batches):
        told = f"{mixture}: what that changed is taken for chance; name batches that are alike"
        click.echo(f"routing-action: warning: {printable(told)}", err=True)
    return know_from_rows(row for batch in batches for row in batch.rows)


def _tell_mixture(batches: Sequence[MeasuredBatch]) -> Iterator[str]:
    """What differs between batches that should be alike, as far as they tell."""
    commits = dict.fromkeys((one.options.commit or "unknown")[:12] for one in batches)
    if len(commits) > 1:
        yield f"the batches are of {len(commits)} commits ({name_few(commits)})"
    offered: dict[str, set[frozenset[tuple[str, str]]]] = {}
    for one in batches:
        for agent in one.options.agents:
            skills = frozenset((s.path, s.description) for s in one.skills if agent in s.agents)
            offered.setdefault(agent, set()).add(skills)
    if mixed := [agent for agent, found in offered.items() if len(found) > 1]:
        yield f"in the batches {name_few(mixed)} had different skills or descriptions"


def _choose_pairs(known: Mapping[Pair, Known], baseline_file: Path | None) -> list[KnownPair]:
    """Those that the baseline expects to pass, known or not."""
    baseline = read_baseline(baseline_file or find_baseline_file(Path()))[0]
    nothing = Known(Record(), None)
    pairs = [
        KnownPair(
            pair,
            known.get(pair, nothing).record,
            entry.flaky.rate if entry.flaky else None,
            known.get(pair, nothing).cost_usd,
        )
        for pair, entry in iterate_pairs(baseline)
        if entry.expected_status is Status.PASS
    ]
    if not pairs:
        raise NothingToRunError("the baseline expects no pair to pass")
    return pairs


def _describe(
    found: Sequence[Noise], best: Noise | None, pairs: Sequence[KnownPair], wanted: float
) -> dict[str, Any]:
    return {
        "pairs": len(pairs),
        "trials": sum(one.record.trials for one in pairs),
        "seed": SEED,
        "draws": DRAWS,
        "wanted": wanted,
        "recommended": str(best.rule) if best else None,
        "settings": [
            {
                **{name: value for name, value in asdict(one).items() if name != "rule"},
                "options": str(one.rule),
                "caught": [
                    {"falls_to": fall, "typical": typical, "worst": worst}
                    for fall, (typical, worst) in one.caught.items()
                ],
            }
            for one in found
        ],
    }


_COLUMNS = (
    "setting", "red without a cause", *(f"falls to {fall:.0%}" for fall in FALLS), "extra", "cost",
)  # fmt: skip


def _lines(
    found: Sequence[Noise], best: Noise | None, pairs: Sequence[KnownPair], wanted: float
) -> list[str]:
    trials = sum(one.record.trials for one in pairs)
    strange = sum(not one.record.trials for one in pairs)
    rows = [_COLUMNS, *(_cells(one, number) for number, one in enumerate(found))]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    table = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
    unknown = f"; nothing is known of {count(strange, 'pair')}" if strange else ""
    known = f"{count(trials, 'trial')} known, {find_typical(pairs)} of a pair at the median"
    choice = f"use {best.rule}" if best else "none of these settings; lower --false-alarm"
    falls = "falls to: how often one look finds that, of the typical pair / of the worst one"
    return [
        f"{count(len(pairs), 'pair')} expected to pass; {known}{unknown}",
        *table,
        f"{falls}, {_name_worst(pairs)}",
        "extra: trials, and US dollars where costs are known, on top of one trial of each pair",
        f"sums are exact; the interval is of {DRAWS} draws of the pairs' rates (seed {SEED})",
        "its upper end can be above --false-alarm, which holds on average over these rates",
        f"red without a cause in at most {wanted * 100:.2g}% of changes: {choice}",
    ]


def _name_worst(pairs: Sequence[KnownPair]) -> str:
    worst = find_worst(pairs)
    known = f"{worst.record.passes} of {worst.record.trials}"
    if worst.declared is not None:
        known = f"declared to pass {worst.declared:.0%}"
    return printable(f"{worst.pair[1]}:{worst.pair[0]} ({known})")


def _cells(noise: Noise, number: int) -> tuple[str, ...]:
    used = " (asked for)" if number == 0 else ""
    cost = "-" if noise.cost_usd is None else f"{noise.cost_usd:.2f} USD"
    return (
        f"{noise.rule}{used}",
        f"{noise.red:.1%} ({noise.low:.1%} to {noise.high:.1%})",
        *(f"{typical:.0%} / {worst:.0%}" for typical, worst in noise.caught.values()),
        f"{noise.extra:.1f}",
        cost,
    )
