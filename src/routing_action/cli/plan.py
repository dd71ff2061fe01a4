"""`routing-action plan`: show what a run would do, without doing it."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from routing_action.agents.discovery import DEFAULT_AGENTS
from routing_action.cli.options import (
    cases_option,
    config_option,
    find_provider,
    format_option,
    known_agents,
    path_option,
    seed_for,
    selection_options,
    split_list,
)
from routing_action.corpus.cases_file import Corpus, find_cases_file, read_cases
from routing_action.errors import NothingToRunError
from routing_action.git.base_commit import changed_paths
from routing_action.results.model import Results
from routing_action.results.read import read_results
from routing_action.run.plan import (
    Plan,
    Selection,
    build_plan,
    cases_touching,
    estimate,
    plan_shards,
    recorded_durations,
    touched_skills,
)


@click.command("plan", short_help="Show what a run would do: units, and shards for a matrix.")
@cases_option
@config_option
@selection_options
@click.option("--sample", type=click.IntRange(min=1), metavar="N", help="Draw N cases at random.")
@click.option("--seed", type=int, help="The seed of --sample; printed.")
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
    help="Earlier results.json, for the durations (repeatable).",
)
@click.option(
    "--changed-from",
    metavar="REF",
    help="Only cases that touch a skill edited since the merge base with REF.",
)
@format_option()
def command(
    cases_file: Path | None,
    agents: tuple[str, ...],
    categories: tuple[str, ...],
    case_ids: tuple[str, ...],
    sample: int | None,
    seed: int | None,
    trials: int,
    shards: int,
    result_files: tuple[Path, ...],
    changed_from: str | None,
    output_format: str,
) -> int:
    """Show what a run would do: its units, and the shards of a job matrix. Starts nothing."""
    corpus = read_cases(cases_file or find_cases_file(Path()))
    names = tuple(find_provider(name).name for name in split_list(agents)) or DEFAULT_AGENTS
    selection = Selection(
        names, split_list(case_ids), split_list(categories), sample, seed_for(sample, seed), trials
    )
    earlier = [read_results(path) for path in result_files]
    if changed_from is not None:
        selection = _narrowed(selection, corpus, changed_from)
    plan = build_plan(corpus, selection, known_agents().providers)
    described = _describe(plan, shards, earlier)
    click.echo(json.dumps(described, indent=2) if output_format == "json" else _text(described))
    return 0


def _narrowed(selection: Selection, corpus: Corpus, ref: str) -> Selection:
    """Only the cases that touch a skill that was edited since the merge base with REF."""
    paths = changed_paths(Path.cwd(), ref, environ=os.environ)
    touched = cases_touching(corpus.cases, touched_skills(paths))
    wanted = [one for one in touched if not selection.case_ids or one in selection.case_ids]
    if not wanted:
        raise NothingToRunError(
            f"no case touches a skill that was edited since {ref}",
            remedy="run the whole corpus, or change a skill that a case names",
        )
    return replace(selection, case_ids=tuple(wanted))


def _describe(plan: Plan, shards: int, earlier: list[Results]) -> dict[str, Any]:
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
                }
                for shard in plan_shards(plan, shards, durations)
            ]
        },
    }


def _text(described: dict[str, Any]) -> str:
    count, agents = len(described["case_ids"]), ", ".join(described["agents"])
    cases = "1 case" if count == 1 else f"{count} cases"
    runs = "1 unit" if described["units"] == 1 else f"{described['units']} units"
    head = f"{described['cases_file']}: {cases} on {agents}, {runs}"
    lines = [head]
    if described["sample"] is not None:
        lines.append(f"sample={described['sample']} seed={described['seed']}")
    cost = described["estimate"]["cost_usd"]
    spent = f", {cost:.2f} USD" if cost is not None else ""
    lines.append(f"estimate: {described['estimate']['seconds'] / 60:.1f} min of agents{spent}")
    for job in described["matrix"]["include"]:
        lines.append(f"{job['key']}: about {job['expected_seconds']} s one after the other")
        lines += [f"  {case_id}" for case_id in job["case_ids"].split(",")]
    return "\n".join(lines)
