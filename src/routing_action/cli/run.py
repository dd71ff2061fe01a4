"""`routing-action run`: run cases on agent CLIs and prove which skills they loaded."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from routing_action.agents.discovery import all_providers
from routing_action.cli.certainty import AUTO, read_sequential
from routing_action.cli.options import (
    choose_agents,
    find_history,
    known_agents,
    parse_pairs,
    seed_for,
    split_list,
)
from routing_action.cli.place import refuse_skills_elsewhere
from routing_action.cli.resume import kept_arguments, resume_batch
from routing_action.cli.run_options import run_options
from routing_action.cli.wiring import run_and_report
from routing_action.corpus.case import FILL_IN
from routing_action.corpus.cases_file import find_cases_file, read_cases
from routing_action.corpus.influences import find_influence
from routing_action.errors import DocumentError, UsageError
from routing_action.evidence.tiers import compute_tier
from routing_action.gate.histories import GitHistory
from routing_action.gate.moved_cases import Measured, find_cases_near_edits
from routing_action.gate.wording import count, name_few
from routing_action.git.changes import uncommitted_paths
from routing_action.git.command import resolve
from routing_action.report.escape import printable
from routing_action.results.journal import Journal
from routing_action.results.measured import parse_shard
from routing_action.results.past.records import read_past
from routing_action.run.evaluate import run_self_test
from routing_action.run.plan import Plan, Selection, build_plan
from routing_action.run.replay.recordings import ReplaySet
from routing_action.run.settings import (
    Limits,
    LogScan,
    MatrixJob,
    Outputs,
    Replay,
    Reuse,
    RunSettings,
    Workspaces,
    parse_parallel,
    parse_positive,
    resolve_max_parallel,
)
from routing_action.run.trials.confirm import Confirming, add_looks

Given = dict[str, Any]
"""What stood on the command line, by the names of the options' parameters."""


@click.command("run", short_help="Run cases on agent CLIs and prove which skills they loaded.")
@click.pass_context
@run_options
def command(context: click.Context, **given: Any) -> int:  # noqa: ANN401 - what click passes
    """Run every chosen case on every chosen agent CLI and prove which skills they loaded.

    Standard error begins with `ARTIFACT_DIR=<path>`; that folder gets results.json, the proof
    log and every transcript. Standard output gets the outcome at the end.
    """
    if given["self_test"]:
        return _self_test()
    if given["resume"] is not None:
        return resume_batch(context, given["resume"], given["artifacts_root"])
    settings = _settings(given)
    recordings = ReplaySet(settings.replay.folder) if settings.replay else None
    plan, notes = _look_closer(read_plan(given, recordings), given)
    return run_and_report(
        plan,
        settings,
        journal=context.obj if isinstance(context.obj, Journal) else None,
        arguments=kept_arguments(context, *_pinned(plan, settings)),
        recordings=recordings,
        notes=notes,
        batch_file=given["batch_file"],
        as_json=given["output_format"] == "json",
    )


def _settings(given: Given) -> RunSettings:
    shared = given["workspace"] == "shared"
    if given["skills"] and shared:
        raise UsageError(
            "--skills cannot be staged in a shared workspace, which is your own checkout",
            remedy="leave out --workspace shared, or --skills",
        )
    if given["keep_workspace"] and (shared or given["replay"]):
        raise UsageError(
            "--keep-workspace has none to keep: a replay makes none, and a shared one is your "
            "own checkout",
            remedy="leave it out, or leave out --workspace shared and --replay",
        )
    own = known_agents()
    return RunSettings(
        root=Path.cwd(),
        outputs=Outputs(
            given["artifacts_root"], given["output"], given["proof_log"], given["no_progress"]
        ),
        limits=_limits(given),
        logs=LogScan(
            given["log_scan"],
            given["allow_log_fallback_pass"],
            given["log_max_files"],
            given["log_max_bytes"],
        ),
        workspaces=Workspaces(shared, given["keep_workspace"], given["skills"]),
        replay=Replay(Path(given["replay"]), given["speed"]) if given["replay"] else None,
        job=MatrixJob(_shard(given["shard"]), given["matrix_key"], given["attempt"]),
        provider_models=parse_pairs(given["provider_models"], "--provider-model"),
        count_subagents=given["subagent_loads"] == "count",
        stop_early=given["stop_early"],
        history=find_history(given["history_folder"]),
        reuse=Reuse(given["reuse"], given["reuse_days"], given["reuse_check"]),
        confirm=_confirming(given),
        fail_on_infra=given["fail_on_infra"],
        fail_fast=given["fail_fast"],
        commit=resolve(Path.cwd(), "HEAD"),
        uncommitted=uncommitted_paths(Path.cwd(), lambda path: bool(find_influence(path, {}))),
        config_file=own.file,
        config_sha256=own.sha256,
        environ=dict(os.environ),
    )


def _confirming(given: Given) -> Confirming:
    is_auto = given["confirm"] == AUTO
    settings = (given["detect"], given["false_alarm"], given["max_confirm"])
    test = read_sequential(is_auto, *settings)
    return Confirming(0 if is_auto else given["confirm"], test, given["look"])


def _limits(given: Given) -> Limits:
    timeouts = parse_pairs(given["provider_timeouts"], "--provider-timeout")
    lanes = parse_pairs(given["provider_lanes"], "--max-parallel-provider")
    return Limits(
        max_parallel=resolve_max_parallel(given["max_parallel"], os.environ),
        timeout_seconds=given["timeout_seconds"],
        idle_timeout_seconds=given["idle_timeout_seconds"],
        provider_timeouts={
            name: parse_positive(text, f"--provider-timeout {name}", "seconds")
            for name, text in timeouts.items()
        },
        provider_lanes={
            name: parse_parallel(text, f"--max-parallel-provider {name}")
            for name, text in lanes.items()
        },
        max_cost_usd=given["max_cost_usd"],
        max_unit_cost_usd=given["max_unit_cost_usd"],
        max_turns=given["max_turns"],
        throttle_retries=given["throttle_retries"],
        max_output_mb=given["max_output_mb"],
        outage_after=given["outage_after"],
    )


def _shard(text: str | None) -> str | None:
    if text and parse_shard(text) is None:
        raise UsageError(f"--shard {text}: must be I/N with I from 1 to N", remedy="such as 2/3")
    return text


def read_plan(given: Given, recordings: ReplaySet | None) -> Plan:
    """What is to be run; raises where a case, an agent or a prompt is not there."""
    corpus = read_cases(_cases_file(given["cases_file"], given["replay"]))
    selection = Selection(
        agents=choose_agents(given["agents"], corpus.file),
        case_ids=split_list(given["case_ids"]),
        categories=split_list(given["categories"]),
        sample=given["sample"],
        seed=seed_for(given["sample"], given["seed"]),
        trials=given["trials"] or (recordings.trials if recordings else 1),
    )
    plan = build_plan(corpus, selection, known_agents().providers)
    if not (given["skills"] or recordings):
        refuse_skills_elsewhere(corpus.file, plan.providers.values())
    _require_prompts(plan)
    return plan


def _cases_file(named: Path | None, replay: str | None) -> Path:
    """The file that was named, else the replay set's own, else the repository's."""
    if named is None and replay and (Path(replay) / "cases.json").is_file():
        return Path(replay) / "cases.json"
    return named or find_cases_file(Path())


def _require_prompts(plan: Plan) -> None:
    """A prompt that `cases init` left to be written measures nothing, and would be paid for."""
    for case in plan.cases:
        if case.prompt.startswith(FILL_IN):
            raise DocumentError(
                f"{case.case_id}: the prompt is still to be written",
                file=plan.corpus.file,
                line=plan.corpus.lines[case.case_id],
                field="prompt",
                remedy="ask as a user would, without the skill's name",
            )


def _look_closer(plan: Plan, given: Given) -> tuple[Plan, tuple[str, ...]]:
    """With the trials that --look adds for what changed since --changed-from, and a note on them.

    Without that option there is none.
    """
    ref, look = given["changed_from"], given["look"]
    if (ref is None) != (look == 1):
        raise UsageError(
            "--look and --changed-from need each other",
            remedy="such as --look 3 --changed-from origin/main",
        )
    if ref is None:
        return plan, ()
    history, folder = GitHistory(Path.cwd(), os.environ), given["history_folder"]
    commit = history.find_merge_base(ref)
    # Whatever agent it was that took the skill.
    measured = Measured(plan.corpus, (), {}, lines=read_past(folder).lines)
    near = find_cases_near_edits(Path.cwd(), commit, history, measured)
    units = (one for one in plan.units if one.case.case_id in near)
    pairs = dict.fromkeys((one.case.case_id, one.agent) for one in units)
    note = (
        f"run {look} times at once: {count(len(pairs), 'pair')} near a skill that was edited since "
        f"{ref}: {name_few(dict.fromkeys(case_id for case_id, _ in pairs))}"
        if pairs
        else f"no pair is run {look} times at once: none is near a skill edited since {ref}"
    )
    return replace(plan, units=add_looks(plan.units, near, look)), (printable(note),)


def _pinned(plan: Plan, settings: RunSettings) -> tuple[str, ...]:
    """What was found or drawn, as options that find and draw the same again."""
    seed = plan.selection.seed
    return (
        f"--cases={plan.corpus.file}",
        f"--agents={','.join(plan.selection.agents)}",
        f"--trials={plan.selection.trials}",
        f"--max-parallel={settings.limits.max_parallel}",
        *([] if seed is None else [f"--seed={seed}"]),
    )


def _self_test() -> int:
    names = list(all_providers())
    differences = run_self_test(names, compute_tier)
    for difference in differences:
        click.echo(difference)
    verdict = f"{len(differences)} wrong" if differences else "every fixture holds"
    click.echo(f"self-test of the tier rules for {', '.join(names)}: {verdict}")
    return 1 if differences else 0
