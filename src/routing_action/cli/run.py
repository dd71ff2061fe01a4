"""`routing-action run`: run cases on agent CLIs and prove which skills they loaded."""

from __future__ import annotations

import os
from pathlib import Path

import click

from routing_action.agents.discovery import DEFAULT_AGENTS, all_providers
from routing_action.cli.garbage import loading
from routing_action.cli.options import (
    find_provider,
    known_agents,
    parse_pairs,
    seed_for,
    split_list,
)
from routing_action.cli.resume import kept_arguments, resume_batch
from routing_action.cli.run_options import RunChoices, run_options
from routing_action.corpus.case import FILL_IN
from routing_action.corpus.cases_file import find_cases_file, read_cases
from routing_action.errors import DocumentError, UsageError
from routing_action.evidence.tiers import compute_tier
from routing_action.git.command import find_head
from routing_action.results.journal import Journal
from routing_action.run.batch import Shard
from routing_action.run.plan import Plan, Selection, build_plan
from routing_action.run.replay.recordings import ReplaySet
from routing_action.run.settings import (
    RunSettings,
    parse_lane,
    positive_amount,
    positive_seconds,
    resolve_max_parallel,
)


@click.command("run", short_help="Run cases on agent CLIs and prove which skills they loaded.")
@click.pass_context
@run_options
def command(context: click.Context, given: RunChoices) -> int:
    """Run every chosen case on every chosen agent CLI and prove which skills they loaded.

    Standard error begins with `ARTIFACT_DIR=<path>`; that folder gets results.json, the proof
    log and every transcript. Standard output gets the outcome at the end.
    """
    if given.self_test:
        return _self_test()
    if given.resume is not None:
        return resume_batch(context, given.resume, given.artifacts_root)
    with loading():
        settings = _settings(given)
        recordings = ReplaySet(settings.replay) if settings.replay else None
        plan = _plan(given, recordings)
        _refuse_unwritten(plan)
        # asyncio and the engine are imported only where a batch is really run.
        from routing_action.cli.wiring import run_and_report  # noqa: PLC0415

    return run_and_report(
        plan,
        settings,
        Shard(_shard(given.shard), given.matrix_key, given.attempt),
        journal=context.obj if isinstance(context.obj, Journal) else None,
        arguments=kept_arguments(context, *_pinned(plan, settings)),
        recordings=recordings,
        batch_file=given.batch_file,
        as_json=given.output_format == "json",
    )


def _settings(given: RunChoices) -> RunSettings:
    if given.skills and given.workspace == "shared":
        raise UsageError(
            "--skills cannot be staged in a shared workspace, which is your own checkout",
            remedy="leave out --workspace shared, or --skills",
        )
    if given.keep_workspace and (given.workspace == "shared" or given.replay):
        raise UsageError(
            "--keep-workspace has none to keep: a replay makes none, and a shared one is your "
            "own checkout",
            remedy="leave it out, or leave out --workspace shared and --replay",
        )
    own = known_agents()
    return RunSettings(
        root=Path.cwd(),
        config_file=own.file,
        config_sha256=own.sha256,
        artifacts_root=given.artifacts_root,
        max_parallel=resolve_max_parallel(given.max_parallel, os.environ),
        timeout_seconds=positive_seconds(given.timeout_seconds, "--timeout-seconds"),
        idle_timeout_seconds=_idle(given.idle_timeout_seconds),
        provider_timeouts={
            name: positive_seconds(text, f"--provider-timeout {name}")
            for name, text in parse_pairs(given.provider_timeouts, "--provider-timeout").items()
        },
        provider_models=parse_pairs(given.provider_models, "--provider-model"),
        provider_lanes={
            name: parse_lane(text, f"--max-parallel-provider {name}")
            for name, text in parse_pairs(given.provider_lanes, "--max-parallel-provider").items()
        },
        max_cost_usd=_cap(given.max_cost_usd, "--max-cost-usd"),
        max_unit_cost_usd=_cap(given.max_unit_cost_usd, "--max-unit-cost-usd"),
        max_turns=given.max_turns,
        throttle_retries=given.throttle_retries,
        log_scan=given.log_scan,
        allow_log_fallback_pass=given.allow_log_fallback_pass,
        log_max_files=given.log_max_files,
        log_max_bytes=given.log_max_bytes,
        workspace=given.workspace,
        keep_workspace=given.keep_workspace,
        skills=given.skills,
        replay=Path(given.replay) if given.replay else None,
        commit=find_head(Path.cwd()),
        replay_speed=_speed(given.speed),
        confirm=given.confirm,
        fail_on_infra=given.fail_on_infra,
        count_subagents=given.subagent_loads == "count",
        stop_early=given.stop_early,
        no_progress=given.no_progress,
        output=given.output,
        proof_log=given.proof_log,
        environ=dict(os.environ),
    )


def _refuse_unwritten(plan: Plan) -> None:
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


def _pinned(plan: Plan, settings: RunSettings) -> tuple[str, ...]:
    """What was found or drawn, as options that find and draw the same again."""
    seed = plan.selection.seed
    return (
        f"--cases={plan.corpus.file}",
        f"--trials={plan.selection.trials}",
        f"--max-parallel={settings.max_parallel}",
        *([] if seed is None else [f"--seed={seed}"]),
    )


def _cases_file(given: RunChoices) -> Path:
    """The file that was named, else the replay set's own, else the repository's."""
    if given.cases_file is None and given.replay and (Path(given.replay) / "cases.json").is_file():
        return Path(given.replay) / "cases.json"
    return given.cases_file or find_cases_file(Path())


def _plan(given: RunChoices, recordings: ReplaySet | None) -> Plan:
    chosen = split_list(given.agents)
    names = tuple(find_provider(name).name for name in chosen) or DEFAULT_AGENTS
    seed = seed_for(given.sample, given.seed)
    corpus = read_cases(_cases_file(given))
    trials = given.trials or (recordings.trials if recordings else 1)
    cases, categories = split_list(given.case_ids), split_list(given.categories)
    selection = Selection(names, cases, categories, given.sample, seed, trials)
    return build_plan(corpus, selection, known_agents().providers)


def _idle(text: str | None) -> float | None:
    return positive_seconds(text, "--idle-timeout-seconds") if text else None


def _shard(text: str | None) -> str | None:
    if not text:
        return text
    from routing_action.results.measured import parse_shard  # noqa: PLC0415 - seldom needed

    if parse_shard(text) is None:
        raise UsageError(f"--shard {text}: is no I/N with I from 1 to N", remedy="such as 2/3")
    return text


def _cap(text: str | None, name: str) -> float | None:
    return None if text is None else positive_amount(text, name)


def _speed(value: float) -> float:
    if value < 0 or value != value:  # noqa: PLR0124 - NaN
        raise UsageError(f"--speed {value}: must be 0 (at once) or above")
    return value


def _self_test() -> int:
    from routing_action.run.self_test import run_self_test  # noqa: PLC0415 - no run needs it

    names = list(all_providers())
    differences = run_self_test(names, compute_tier)
    for difference in differences:
        click.echo(difference)
    verdict = f"{len(differences)} wrong" if differences else "every fixture holds"
    click.echo(f"self-test of the tier rules for {', '.join(names)}: {verdict}")
    return 1 if differences else 0
