"""`routing-action run`: run cases on agent CLIs and prove which skills they loaded."""

from __future__ import annotations

import os
from pathlib import Path

import click

from routing_action.app.plan import Plan, Selection, build_plan
from routing_action.app.run import Shard
from routing_action.app.self_test import run_self_test
from routing_action.cli.options import (
    cases_option,
    find_provider,
    parse_pairs,
    seed_for,
    selection_options,
    split_list,
)
from routing_action.domain.tiers import compute_tier
from routing_action.errors import UsageError
from routing_action.harness.history import find_head
from routing_action.harness.replay import ReplaySet
from routing_action.providers.discovery import DEFAULT_AGENTS, all_providers
from routing_action.settings import RunSettings, positive_seconds, resolve_max_parallel
from routing_action.store.batch import DEFAULT_ARTIFACTS_ROOT
from routing_action.store.documents import find_cases_file, read_cases

DEFAULT_REPLAY = "tests/recordings/replay"


@click.command("run", short_help="Run cases on agent CLIs and prove which skills they loaded.")
@cases_option
@selection_options
@click.option("--run-all", is_flag=True, hidden=True, help="Accepted; every case runs anyway.")
@click.option("--sample", type=click.IntRange(min=1), help="Draw so many cases at random.")
@click.option("--seed", type=int, help="The seed of --sample; printed and stored.")
@click.option(
    "--trials",
    type=click.IntRange(1, 100),
    help="Run each pair so many times; a strict majority decides. Default: 1.",
)
@click.option(
    "--confirm",
    type=click.IntRange(0, 20),
    default=0,
    show_default=True,
    help="Run pairs that would be a regression so many times again before they count.",
)
@click.option(
    "--timeout-seconds",
    default="300",
    show_default=True,
    metavar="S",
    help="Wall deadline of a unit.",
)
@click.option("--idle-timeout-seconds", metavar="S", help="End a unit that is silent so long.")
@click.option(
    "--provider-timeout",
    "provider_timeouts",
    multiple=True,
    metavar="P:S",
    help="Another wall deadline for one agent (repeatable).",
)
@click.option(
    "--provider-model",
    "provider_models",
    multiple=True,
    metavar="P:M",
    help="The model for one agent (repeatable).",
)
@click.option(
    "--max-parallel", type=int, metavar="N", help="Units at once. Default: MAX_CONCURRENCY, else 4."
)
@click.option(
    "--artifacts-root",
    type=click.Path(path_type=Path),
    metavar="DIR",
    default=DEFAULT_ARTIFACTS_ROOT,
    show_default=True,
    help="Every batch gets a folder of its own in here.",
)
@click.option(
    "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write results.json here too."
)
@click.option(
    "--proof-log",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the proof log here too.",
)
@click.option(
    "--enable-log-scan/--disable-log-scan",
    "log_scan",
    default=None,
    help="Read session logs too. Default: only in a serial run.",
)
@click.option(
    "--allow-log-fallback-pass", is_flag=True, help="Let log evidence count in a parallel run too."
)
@click.option("--log-max-files", type=click.IntRange(1, 10_000), default=60, show_default=True)
@click.option("--log-max-bytes", type=click.IntRange(1, 10**9), default=300_000, show_default=True)
@click.option(
    "--subagent-loads",
    type=click.Choice(["count", "ignore"]),
    default="count",
    show_default=True,
    help="Whether a load inside a sub-agent is proof.",
)
@click.option(
    "--stop-early", is_flag=True, help="End a unit as soon as its verdict can no longer change."
)
@click.option(
    "--workspace",
    type=click.Choice(["isolated", "shared"]),
    default="isolated",
    show_default=True,
    help="`shared` runs in this folder and home: for debugging.",
)
@click.option(
    "--skills",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Stage these skills (a folder of skills, or a plugin).",
)
@click.option(
    "--replay",
    is_flag=False,
    flag_value=DEFAULT_REPLAY,
    metavar="DIR",
    help=f"Replay recordings, start no agent CLI. Default DIR: {DEFAULT_REPLAY}.",
)
@click.option(
    "--speed",
    type=float,
    default=0.0,
    metavar="X",
    help="Pace of a replay: 1 as recorded, 2 twice as fast. Default: at once.",
)
@click.option("--fail-on-infra", is_flag=True, help="An infra_error fails the run too.")
@click.option("--no-progress", is_flag=True, help="No lifecycle lines on standard error.")
@click.option("--matrix-key", metavar="KEY", help="The key of this job in a matrix.")
@click.option("--attempt", type=click.IntRange(min=1), default=1, hidden=True)
@click.option("--shard", metavar="I/N", help="Which shard this is; stored in the results.")
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="What stdout gets at the end.",
)
@click.option(
    "--batch-file", type=click.Path(path_type=Path), hidden=True, help="Write the folder here."
)
@click.option("--self-test", is_flag=True, help="Check the tier rules against fixtures.")
def command(
    cases_file: Path | None,
    agents: tuple[str, ...],
    categories: tuple[str, ...],
    case_ids: tuple[str, ...],
    run_all: bool,
    sample: int | None,
    seed: int | None,
    trials: int | None,
    confirm: int,
    timeout_seconds: str,
    idle_timeout_seconds: str | None,
    provider_timeouts: tuple[str, ...],
    provider_models: tuple[str, ...],
    max_parallel: int | None,
    artifacts_root: Path,
    output: Path | None,
    proof_log: Path | None,
    log_scan: bool | None,
    allow_log_fallback_pass: bool,
    log_max_files: int,
    log_max_bytes: int,
    subagent_loads: str,
    stop_early: bool,
    workspace: str,
    skills: Path | None,
    replay: str | None,
    speed: float,
    fail_on_infra: bool,
    no_progress: bool,
    matrix_key: str | None,
    attempt: int,
    shard: str | None,
    output_format: str,
    batch_file: Path | None,
    self_test: bool,
) -> int:
    """Run every chosen case on every chosen agent CLI and prove which skills they loaded.

    Standard error begins with `ARTIFACT_DIR=<path>`; that folder gets results.json, the proof
    log and every transcript. Standard output gets the outcome at the end.
    """
    if self_test:
        return _self_test()
    settings = RunSettings(
        root=Path.cwd(),
        artifacts_root=artifacts_root,
        max_parallel=resolve_max_parallel(max_parallel, os.environ),
        timeout_seconds=positive_seconds(timeout_seconds, "--timeout-seconds"),
        idle_timeout_seconds=_idle(idle_timeout_seconds),
        provider_timeouts={
            name: positive_seconds(text, f"--provider-timeout {name}")
            for name, text in parse_pairs(provider_timeouts, "--provider-timeout").items()
        },
        provider_models=parse_pairs(provider_models, "--provider-model"),
        log_scan=log_scan,
        allow_log_fallback_pass=allow_log_fallback_pass,
        log_max_files=log_max_files,
        log_max_bytes=log_max_bytes,
        workspace=workspace,
        skills=skills,
        replay=Path(replay) if replay else None,
        commit=find_head(Path.cwd()),
        replay_speed=_speed(speed),
        confirm=confirm,
        fail_on_infra=fail_on_infra,
        count_subagents=subagent_loads == "count",
        stop_early=stop_early,
        no_progress=no_progress,
        output=output,
        proof_log=proof_log,
        environ=dict(os.environ),
    )
    if skills and workspace == "shared":
        raise UsageError(
            "--skills cannot be staged in a shared workspace, which is your own checkout",
            remedy="leave out --workspace shared, or --skills",
        )
    recordings = ReplaySet(settings.replay) if settings.replay else None
    plan = _plan(
        _cases_file(cases_file, settings.replay),
        agents,
        categories,
        case_ids,
        sample,
        seed,
        trials or (recordings.trials if recordings else 1),
    )
    # asyncio and the engine are imported only where a batch is really run.
    from routing_action.cli.wiring import run_and_report  # noqa: PLC0415

    place = Shard(shard, matrix_key, attempt)
    return run_and_report(
        plan,
        settings,
        place,
        recordings=recordings,
        batch_file=batch_file,
        as_json=output_format == "json",
    )


def _cases_file(given: Path | None, replay: Path | None) -> Path:
    """The file that was named, else the replay set's own, else the repository's."""
    if given is None and replay is not None and (replay / "cases.json").is_file():
        return replay / "cases.json"
    return given or find_cases_file(Path())


def _plan(
    cases_file: Path,
    agents: tuple[str, ...],
    categories: tuple[str, ...],
    case_ids: tuple[str, ...],
    sample: int | None,
    seed: int | None,
    trials: int,
) -> Plan:
    names = tuple(find_provider(name).name for name in split_list(agents)) or DEFAULT_AGENTS
    seed = seed_for(sample, seed)
    corpus = read_cases(cases_file)
    selection = Selection(names, split_list(case_ids), split_list(categories), sample, seed, trials)
    return build_plan(corpus, selection, all_providers())


def _idle(text: str | None) -> float | None:
    return positive_seconds(text, "--idle-timeout-seconds") if text else None


def _speed(value: float) -> float:
    if value < 0 or value != value:  # noqa: PLR0124 - NaN
        raise UsageError(f"--speed {value}: must be 0 (at once) or above")
    return value


def _self_test() -> int:
    names = list(all_providers())
    differences = run_self_test(names, compute_tier)
    for difference in differences:
        click.echo(difference)
    verdict = f"{len(differences)} wrong" if differences else "every fixture holds"
    click.echo(f"self-test of the tier rules for {', '.join(names)}: {verdict}")
    return 1 if differences else 0
