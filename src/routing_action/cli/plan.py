"""`routing-action plan`: show what a run would do, without doing it."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from routing_action.cli.options import (
    cases_option,
    choose_agents,
    config_option,
    find_provider,
    format_option,
    known_agents,
    path_option,
    read_history_option,
    seed_for,
    selection_options,
    split_list,
)
from routing_action.corpus.baseline import Pair
from routing_action.corpus.cases_file import Corpus, find_cases_file, read_cases
from routing_action.corpus.influences import Influence
from routing_action.corpus.naming import fold
from routing_action.corpus.units import DEFAULT_CONFIG_FILE
from routing_action.errors import NothingToRunError, UsageError
from routing_action.files.nearest import suggest
from routing_action.gate.baselines import DEFAULT_BASELINE_FILES
from routing_action.gate.histories import GitHistory
from routing_action.gate.moved_cases import Measured, describe_selection, find_moved_cases
from routing_action.gate.wording import count, format_duration
from routing_action.report.escape import printable
from routing_action.results.model import Results
from routing_action.results.read import read_results
from routing_action.run.plan import (
    Plan,
    Selection,
    build_plan,
    estimate,
    plan_shards,
    recorded_durations,
)

_UNKNOWN = (
    "--neighbours leaves no case out without a history, since nothing tells which skills a case "
    "loads; add --history DIR or --results FILE"
)


@click.command("plan", short_help="Show what a run would do: units, and shards for a matrix.")
@cases_option
@config_option
@selection_options
@click.option(
    "--pairs",
    multiple=True,
    metavar="PAIRS",
    help="Exactly these pairs, each as agent:case, in place of the other filters.",
)
@click.option("--trials", type=click.IntRange(1, 100), default=1, show_default=True)
@click.option(
    "--shards",
    metavar="N",
    type=click.IntRange(1, 256),
    default=1,
    show_default=True,
    help="Split each provider's cases into N jobs.",
)
@path_option(
    "--results",
    "result_files",
    multiple=True,
    help="Earlier results.json: durations, and which cases loaded a skill (repeatable).",
)
@click.option(
    "--changed-from",
    metavar="REF",
    help="Only cases that what changed since the merge base with REF can move.",
)
@click.option(
    "--neighbours",
    is_flag=True,
    help="With --changed-from: for a changed description only the cases near to it. "
    "It can miss some; the gate is then neutral. Needs --history or --results.",
)
@path_option("--history", metavar="DIR", help="What the default branch measured: what loads what.")
@path_option("--baseline", help="The baseline. Default: provider-baseline.json beside the cases.")
@path_option("--skills", metavar="PATH", help="The skills that `run --skills` stages.")
@format_option()
def command(
    cases_file: Path | None,
    agents: tuple[str, ...],
    categories: tuple[str, ...],
    case_ids: tuple[str, ...],
    sample: int | None,
    seed: int | None,
    pairs: tuple[str, ...],
    trials: int,
    shards: int,
    result_files: tuple[Path, ...],
    changed_from: str | None,
    neighbours: bool,
    history: Path | None,
    baseline: Path | None,
    skills: Path | None,
    output_format: str,
) -> int:
    """Show what a run would do: its units, and the shards of a job matrix. Starts nothing."""
    corpus = read_cases(cases_file or find_cases_file(Path()))
    if pairs:
        selection = _select_pairs(corpus, pairs, trials)
        names = selection.agents
    else:
        names = choose_agents(agents, corpus.file, baseline)
        selection = Selection(
            names,
            split_list(case_ids),
            split_list(categories),
            sample,
            seed_for(sample, seed),
            trials,
        )
    if neighbours and changed_from is None:
        raise UsageError("--neighbours has no effect without --changed-from", remedy="add it")
    earlier = [read_results(path) for path in result_files]
    past = read_history_option(history).lines
    told = ""
    if changed_from is not None:
        default = Path(corpus.file).parent / DEFAULT_BASELINE_FILES[0]
        measured = Measured(
            corpus,
            names,
            {
                str(skills or ""): Influence.SKILL,
                known_agents().file or DEFAULT_CONFIG_FILE: Influence.AGENTS,
                str(baseline or default): Influence.BASELINE,
                corpus.file: Influence.CASES,
            },
            earlier,
            past,
            neighbours,
        )
        selection, told = _narrow(selection, measured, changed_from)
        click.echo(f"routing-action: {printable(told)}", err=True)
        if neighbours and not (earlier or past):
            click.echo(f"routing-action: {_UNKNOWN}", err=True)
    plan = build_plan(corpus, selection, known_agents().providers)
    narrowed = {} if changed_from is None else {"changed_from": changed_from}
    described = _describe(plan, shards, earlier, narrowed) | {"selection": told}
    text = json.dumps(described, indent=2) if output_format == "json" else None
    click.echo(text or _text(described, is_measured=bool(earlier)))
    return 0


def _select_pairs(corpus: Corpus, values: tuple[str, ...], trials: int) -> Selection:
    """Exactly these pairs; any that does not exist is a mistake. They take no other filter."""
    spelled = {fold(case.case_id): case.case_id for case in corpus.cases}
    chosen: dict[Pair, None] = {}
    for value in split_list(values):
        name, separator, case_id = value.partition(":")
        if not separator:
            raise UsageError(f"--pairs {value!r}: no pair", remedy="write it as agent:case")
        agent = find_provider(name.strip()).name
        if fold(case_id.strip()) not in spelled:
            raise UsageError(
                f"--pairs {value!r}: {corpus.file} has no such case",
                remedy=suggest(case_id.strip(), spelled.values(), "name a case of that file"),
            )
        chosen[spelled[fold(case_id.strip())], agent] = None
    return Selection(
        tuple(dict.fromkeys(agent for _, agent in chosen)),
        tuple(dict.fromkeys(case_id for case_id, _ in chosen)),
        trials=trials,
        pairs=frozenset(chosen),
    )


def _narrow(selection: Selection, measured: Measured, ref: str) -> tuple[Selection, str]:
    """Only the cases that the change since the merge base with REF can move, and why these."""
    every = replace(selection, sample=None)
    asked = build_plan(measured.corpus, every, known_agents().providers)
    history = GitHistory(Path.cwd(), os.environ)
    moved = find_moved_cases(Path.cwd(), history.find_merge_base(ref), history, measured)
    case_ids = [case.case_id for case in asked.cases]
    wanted = tuple(case_id for case_id in case_ids if case_id in moved)
    if not wanted:
        why = f"nothing that a case depends on changed since {ref}"
        if measured.near:
            why += ", or no case is near to it"
        raise NothingToRunError(
            f"nothing to run: {why}",
            remedy="to run all cases, leave --changed-from out",
        )
    return replace(selection, case_ids=wanted), describe_selection(moved, case_ids, measured.near)


def _describe(
    plan: Plan, shards: int, earlier: list[Results], narrowed: dict[str, str]
) -> dict[str, Any]:
    expected = estimate(plan, earlier)
    durations = recorded_durations(earlier)
    return {
        "cases_file": plan.corpus.file,
        "corpus_sha256": plan.corpus.sha256,
        "agents": list(plan.selection.agents),
        "case_ids": [case.case_id for case in plan.cases],
        "sample": plan.selection.sample,
        "seed": plan.selection.seed,
        "trials": plan.selection.trials,
        "units": len(plan.units),
        "estimate": {"seconds": expected.seconds, "cost_usd": expected.cost_usd},
        "matrix": {
            "include": [
                {
                    "key": shard.key,
                    "agent": shard.agent,
                    "shard": f"{shard.index}/{shard.count}",
                    "case_ids": ",".join(shard.case_ids),
                    "expected_seconds": round(shard.expected_ms * plan.selection.trials / 1000),
                    **narrowed,
                }
                for shard in plan_shards(plan, shards, durations)
            ]
        },
    }


def _text(described: dict[str, Any], *, is_measured: bool) -> str:
    """`is_measured`: earlier results say how long the units take."""
    cases, agents = count(len(described["case_ids"]), "case"), ", ".join(described["agents"])
    lines = [f"{described['cases_file']}: {cases} on {agents}, {count(described['units'], 'unit')}"]
    if described["sample"] is not None:
        lines.append(f"sample={described['sample']} seed={described['seed']}")
    cost = described["estimate"]["cost_usd"]
    spent = f", {cost:.2f} USD" if cost is not None else ""
    seconds = described["estimate"]["seconds"]
    took = format_duration(seconds * 1000) if seconds else "less than 1 s"
    basis = "as in earlier results" if is_measured else "without earlier results (--results)"
    lines.append(f"estimate, {basis}: {took} of agent time{spent}")
    for job in described["matrix"]["include"]:
        lines.append(f"{job['key']}: about {job['expected_seconds']} s one after the other")
        lines += [f"  {case_id}" for case_id in job["case_ids"].split(",")]
    return "\n".join(lines)
