"""`routing-action plan`: show what a run would do, without doing it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from routing_action.app.plan import Plan, Selection, build_plan, plan_shards, recorded_durations
from routing_action.cli.options import (
    cases_option,
    find_provider,
    seed_for,
    selection_options,
    split_list,
)
from routing_action.providers.discovery import DEFAULT_AGENTS, all_providers
from routing_action.store.documents import find_cases_file, read_cases, read_results


@click.command("plan", short_help="Show what a run would do: units, and shards for a matrix.")
@cases_option
@selection_options
@click.option("--sample", type=click.IntRange(min=1), help="Draw so many cases at random.")
@click.option("--seed", type=int, help="The seed of --sample; printed.")
@click.option("--trials", type=click.IntRange(1, 100), default=1, show_default=True)
@click.option(
    "--shards",
    type=click.IntRange(1, 256),
    default=1,
    show_default=True,
    help="Split each provider's cases into so many jobs.",
)
@click.option(
    "--results",
    "result_files",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Earlier results.json, for the durations (repeatable).",
)
@click.option("--format", "output_format", type=click.Choice(["text", "json"]), default="text",
              show_default=True)  # fmt: skip
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
    output_format: str,
) -> int:
    """Show what a run would do: its units, and the shards of a job matrix. Starts nothing."""
    corpus = read_cases(cases_file or find_cases_file(Path.cwd()))
    names = tuple(find_provider(name).name for name in split_list(agents)) or DEFAULT_AGENTS
    selection = Selection(
        names, split_list(case_ids), split_list(categories), sample, seed_for(sample, seed), trials
    )
    plan = build_plan(corpus, selection, all_providers())
    durations = recorded_durations([read_results(path) for path in result_files])
    described = _describe(plan, shards, durations)
    click.echo(json.dumps(described, indent=2) if output_format == "json" else _text(described))
    return 0


def _describe(plan: Plan, shards: int, durations: dict[tuple[str, str], int]) -> dict[str, Any]:
    return {
        "cases_file": plan.corpus.file,
        "corpus_sha256": plan.corpus.sha256,
        "agents": list(plan.selection.agents),
        "case_ids": [case.case_id for case in plan.cases],
        "sample": plan.selection.sample,
        "seed": plan.selection.seed,
        "trials": plan.selection.trials,
        "units": len(plan.units),
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
    head = f"{described['cases_file']}: {count} cases on {agents}, {described['units']} units"
    lines = [head]
    if described["sample"] is not None:
        lines.append(f"sample={described['sample']} seed={described['seed']}")
    for job in described["matrix"]["include"]:
        lines.append(f"{job['key']}: about {job['expected_seconds']} s one after the other")
        lines += [f"  {case_id}" for case_id in job["case_ids"].split(",")]
    return "\n".join(lines)
