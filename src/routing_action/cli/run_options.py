"""The options of `run`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import click

from routing_action.cli.certainty import Confirm, sequential_options
from routing_action.cli.options import (
    cases_option,
    config_option,
    format_option,
    path_option,
    selection_options,
    subagents_option,
)
from routing_action.cli.place import TypedPath
from routing_action.corpus.units import (
    DEFAULT_LOG_BYTES,
    DEFAULT_LOG_FILES,
    DEFAULT_OUTAGE_AFTER,
    DEFAULT_OUTPUT_MB,
    DEFAULT_REUSE_CHECK,
    DEFAULT_REUSE_DAYS,
    DEFAULT_THROTTLE_RETRIES,
)
from routing_action.results.batch_folder import DEFAULT_ARTIFACTS_ROOT
from routing_action.run.settings import parse_positive

DEFAULT_REPLAY = "tests/recordings/replay"


class _Positive(click.ParamType[float]):
    """A number above zero, of a unit such as `seconds`."""

    name = "number"

    def __init__(self, unit: str) -> None:
        self._unit = unit

    def convert(
        self, value: str | float, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The number; UsageError where it is none."""
        return parse_positive(str(value), param.opts[0] if param else "", self._unit)


_SECONDS, _USD = _Positive("seconds"), _Positive("US dollars")

_OPTIONS = (
    cases_option,
    partial(config_option, expose=True),
    selection_options,
    click.option("--run-all", is_flag=True, hidden=True, help="Accepted; every case runs anyway."),
    click.option(
        "--trials",
        metavar="N",
        type=click.IntRange(1, 100),
        help="Run each pair N times; a strict majority decides. Default: 1.",
    ),
    click.option(
        "--confirm",
        metavar="N",
        type=Confirm(),
        default="0",
        show_default=True,
        help="Run a would-be regression N more times before it counts; `auto`: until it is decided "
        "against the pair's own rate.",
    ),
    sequential_options,
    click.option(
        "--reuse",
        type=click.Choice(["never", "auto", "tree"]),
        default="never",
        show_default=True,
        help="Do not run a pair that passed in the history and of which an agent sees the same; "
        "`tree`: in the same tree.",
    ),
    click.option(
        "--reuse-days",
        type=click.IntRange(1, 365),
        default=DEFAULT_REUSE_DAYS,
        show_default=True,
        metavar="N",
        help="How old what is reused may be.",
    ),
    click.option(
        "--reuse-check",
        type=click.IntRange(0, 100),
        default=DEFAULT_REUSE_CHECK,
        show_default=True,
        metavar="N",
        help="Run N of 100 reusable pairs all the same.",
    ),
    click.option(
        "--look",
        metavar="N",
        type=click.IntRange(1, 20),
        default=1,
        show_default=True,
        help="Run pairs near an edited skill N times at once; needs --changed-from.",
    ),
    click.option(
        "--changed-from",
        metavar="REF",
        help="--look: what changed since the merge base with REF.",
    ),
    click.option(
        "--timeout-seconds",
        type=_SECONDS,
        default="300",
        show_default=True,
        metavar="S",
        help="Wall deadline of a unit.",
    ),
    click.option(
        "--idle-timeout-seconds",
        type=_SECONDS,
        metavar="S",
        help="End a unit after S seconds without output.",
    ),
    click.option(
        "--provider-timeout",
        "provider_timeouts",
        multiple=True,
        metavar="P:S",
        help="Another wall deadline for one agent (repeatable).",
    ),
    click.option(
        "--provider-model",
        "provider_models",
        multiple=True,
        metavar="P:M",
        help="The model for one agent (repeatable).",
    ),
    click.option(
        "--max-parallel",
        type=int,
        metavar="N",
        help="Units at once. Default: MAX_CONCURRENCY, else 4.",
    ),
    click.option(
        "--max-parallel-provider",
        "provider_lanes",
        multiple=True,
        metavar="P:N",
        help="Units of one agent at once (repeatable). Default: as memory allows.",
    ),
    click.option(
        "--max-cost-usd",
        type=_USD,
        metavar="X",
        help="Start no more units once the known cost of the batch reaches X.",
    ),
    click.option(
        "--max-unit-cost-usd",
        type=_USD,
        metavar="X",
        help="End a unit once it has cost X, if its CLI supports that.",
    ),
    click.option(
        "--max-turns",
        type=click.IntRange(1, 10_000),
        metavar="N",
        help="End a unit after N model turns, if its CLI supports that (claude).",
    ),
    click.option(
        "--max-output-mb",
        type=click.IntRange(1, 100_000),
        default=DEFAULT_OUTPUT_MB,
        show_default=True,
        metavar="N",
        help="End a unit that has printed N million bytes.",
    ),
    click.option(
        "--throttle-retries",
        type=click.IntRange(0, 10),
        default=DEFAULT_THROTTLE_RETRIES,
        show_default=True,
        metavar="N",
        help="Retry a throttled unit up to N times.",
    ),
    click.option(
        "--outage-after",
        type=click.IntRange(0, 1000),
        default=DEFAULT_OUTAGE_AFTER,
        show_default=True,
        metavar="N",
        help="Stop an agent once its service failed N units in a row; 0 never does.",
    ),
    path_option(
        "--artifacts-root",
        metavar="DIR",
        written=True,
        default=DEFAULT_ARTIFACTS_ROOT,
        show_default=True,
        help="Every batch gets a folder of its own in here.",
    ),
    path_option("--output", written=True, help="Write results.json here too."),
    path_option("--proof-log", written=True, help="Write the proof log here too."),
    click.option(
        "--enable-log-scan/--disable-log-scan",
        "log_scan",
        default=None,
        help="Read session logs too. Default: only in a serial run.",
    ),
    click.option(
        "--allow-log-fallback-pass",
        is_flag=True,
        help="Let log evidence count in a parallel run too.",
    ),
    click.option(
        "--log-max-files",
        type=click.IntRange(1, 10_000),
        default=DEFAULT_LOG_FILES,
        show_default=True,
    ),
    click.option(
        "--log-max-bytes",
        type=click.IntRange(1, 10**9),
        default=DEFAULT_LOG_BYTES,
        show_default=True,
    ),
    subagents_option,
    click.option(
        "--stop-early", is_flag=True, help="End a unit as soon as its verdict can no longer change."
    ),
    click.option(
        "--workspace",
        type=click.Choice(["isolated", "shared"]),
        default="isolated",
        show_default=True,
        help="`shared` runs in this folder and home: for debugging.",
    ),
    click.option(
        "--keep-workspace",
        is_flag=True,
        help="Leave each unit's workspace where it is, and report its path; its home is removed.",
    ),
    path_option(
        "--skills", metavar="PATH", help="Stage these skills (a folder of skills, or a plugin)."
    ),
    click.option(
        "--replay",
        type=TypedPath(path_type=str),
        is_flag=False,
        flag_value=DEFAULT_REPLAY,
        metavar="DIR",
        help=f"Replay recordings, start no agent CLI. Default DIR: {DEFAULT_REPLAY}.",
    ),
    click.option(
        "--speed",
        type=click.FloatRange(min=0),
        default=0.0,
        metavar="X",
        help="Pace of a replay: 1 as recorded, 2 twice as fast. Default: at once.",
    ),
    click.option(
        "--fail-fast",
        is_flag=True,
        help="Start no more units once a pair that should pass is red, after --confirm.",
    ),
    click.option("--fail-on-infra", is_flag=True, help="An infra_error fails the run too."),
    click.option("--no-progress", is_flag=True, help="No lifecycle lines on standard error."),
    click.option("--matrix-key", metavar="KEY", help="The key of this job in a matrix."),
    click.option("--attempt", type=click.IntRange(min=1), default=1, hidden=True),
    click.option("--shard", metavar="I/N", help="Which shard this is; stored in the results."),
    format_option(help="What stdout gets at the end."),
    path_option("--batch-file", written=True, hidden=True, help="Write the folder here."),
    click.option(
        "--resume",
        type=TypedPath(path_type=str),
        metavar="BATCH",
        help="Continue a batch that was killed or interrupted: its id, or its folder.",
    ),
    click.option("--self-test", is_flag=True, help="Check the tier rules against fixtures."),
)


def run_options(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command these options; they are listed in its help in this order."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
