"""What a run is given, from flags and a mapping of variables; it never reads the environment."""

from __future__ import annotations

import functools
import math
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from routing_action.agents.provider import Provider, template_variable
from routing_action.corpus.units import (
    DEFAULT_LOG_BYTES,
    DEFAULT_LOG_FILES,
    DEFAULT_MAX_PARALLEL,
    DEFAULT_OUTAGE_AFTER,
    DEFAULT_OUTPUT_MB,
    DEFAULT_REUSE_CHECK,
    DEFAULT_REUSE_DAYS,
    DEFAULT_THROTTLE_RETRIES,
    DEFAULT_TIMEOUT_SECONDS,
)
from routing_action.errors import UsageError
from routing_action.run.trials.confirm import Confirming

MAX_PARALLEL_LIMIT = 256
PROMPT, MODEL = "{prompt}", "{model}"


@dataclass(frozen=True, slots=True)
class Limits:
    """What bounds a batch and its units; the fields are named as the options of results.json.

    Times are seconds, costs US dollars, sizes millions of bytes. `provider_lanes` are those that
    were asked for.
    """

    max_parallel: int = DEFAULT_MAX_PARALLEL
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS
    idle_timeout_seconds: float | None = None
    provider_timeouts: Mapping[str, float] = field(default_factory=dict)
    provider_lanes: Mapping[str, int] = field(default_factory=dict)
    max_cost_usd: float | None = None
    max_unit_cost_usd: float | None = None
    max_turns: int | None = None
    throttle_retries: int = DEFAULT_THROTTLE_RETRIES
    max_output_mb: int = DEFAULT_OUTPUT_MB
    outage_after: int = DEFAULT_OUTAGE_AFTER

    def timeout_for(self, agent: str) -> float:
        """The wall deadline of a provider's units, in seconds."""
        return self.provider_timeouts.get(agent, self.timeout_seconds)


@dataclass(frozen=True, slots=True)
class LogScan:
    """How session logs are read. `asked` None means: on when serial, off when parallel."""

    asked: bool | None = None
    allow_pass: bool = False
    max_files: int = DEFAULT_LOG_FILES
    max_bytes: int = DEFAULT_LOG_BYTES


@dataclass(frozen=True, slots=True)
class Outputs:
    """Where results go: a folder for each batch in `artifacts_root`, and copies of two files."""

    artifacts_root: Path
    results_copy: Path | None = None
    proof_log_copy: Path | None = None
    no_progress: bool = False


@dataclass(frozen=True, slots=True)
class Workspaces:
    """What units work in: a copy each, or the user's own checkout and home (`shared`)."""

    shared: bool = False
    keep: bool = False
    skills: Path | None = None


@dataclass(frozen=True, slots=True)
class Replay:
    """A folder of recordings, and how much faster than recorded they are replayed."""

    folder: Path
    speed: float = math.inf


@dataclass(frozen=True, slots=True)
class Reuse:
    """Which pairs need no run, since one of the default branch measured the same.

    With `tree` every file of the checkout must be the same. `days` bounds the age; of 100 pairs
    `check` are measured all the same.
    """

    mode: Literal["never", "auto", "tree"] = "never"
    days: int = DEFAULT_REUSE_DAYS
    check: int = DEFAULT_REUSE_CHECK


@dataclass(frozen=True, slots=True)
class MatrixJob:
    """Which job of a matrix this batch is: names for the results, nothing else."""

    shard: str | None = None
    matrix_key: str | None = None
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class RunSettings:
    """How units are run; what is run stands in the selection.

    `history` is the folder of what the default branch measured, None where there is none.
    `uncommitted` are the paths of the checkout that are not as in `commit`.
    `config_file` and its SHA-256 describe the user's own agents. With `replay` no agent starts.
    """

    root: Path
    outputs: Outputs
    limits: Limits = field(default_factory=Limits)
    logs: LogScan = field(default_factory=LogScan)
    workspaces: Workspaces = field(default_factory=Workspaces)
    replay: Replay | None = None
    job: MatrixJob = field(default_factory=MatrixJob)
    provider_models: Mapping[str, str] = field(default_factory=dict)
    count_subagents: bool = True
    stop_early: bool = False
    history: Path | None = None
    reuse: Reuse = field(default_factory=Reuse)
    confirm: Confirming = field(default_factory=Confirming)
    fail_on_infra: bool = False
    fail_fast: bool = False
    commit: str | None = None
    uncommitted: tuple[str, ...] = ()
    config_file: str | None = None
    config_sha256: str | None = None
    environ: Mapping[str, str] = field(default_factory=dict)

    @property
    def scans_logs(self) -> bool:
        """Whether session logs are read: as asked, else only in a serial run."""
        return self.limits.max_parallel == 1 if self.logs.asked is None else self.logs.asked

    @property
    def gates_on_logs(self) -> bool:
        """Whether log evidence may count: in a serial run, or where it is allowed."""
        return self.limits.max_parallel == 1 or self.logs.allow_pass


def resolve_max_parallel(flag: int | None, environ: Mapping[str, str]) -> int:
    """The flag, else MAX_CONCURRENCY, else 4."""
    text = environ.get("MAX_CONCURRENCY", "").strip()
    if flag is not None:
        return parse_parallel(str(flag), "--max-parallel")
    return parse_parallel(text, "MAX_CONCURRENCY") if text else DEFAULT_MAX_PARALLEL


def parse_parallel(text: str, name: str) -> int:
    """How many units may run at once."""
    if not text.isdecimal() or not 1 <= int(text) <= MAX_PARALLEL_LIMIT:
        raise UsageError(f"{name} {text}: must be a whole number from 1 to {MAX_PARALLEL_LIMIT}")
    return int(text)


def parse_positive(text: str, name: str, unit: str) -> float:
    """A number above zero, of a unit such as `seconds`."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise UsageError(f"{name} {text!r}: not a number of {unit} above 0")
    return value


def limit_arguments(provider: Provider, limits: Limits) -> tuple[str, ...]:
    """The arguments for the limits that the CLI enforces itself, empty where none was asked for."""
    turns, usd = limits.max_turns, limits.max_unit_cost_usd
    words = () if turns is None else provider.turn_arguments
    budget = () if usd is None else provider.budget_arguments
    return (
        *(word.replace("{turns}", str(turns)) for word in words),
        *(word.replace("{usd}", _plain_amount(usd)) for word in budget),
    )


def _plain_amount(usd: float | None) -> str:
    """Without an exponent, which not every CLI reads."""
    whole, _, rest = f"{usd or 0.0:.10f}".partition(".")
    return f"{whole}.{rest.rstrip('0') or '0'}"


def build_command(
    provider: Provider,
    prompt: str,
    model: str | None,
    environ: Mapping[str, str],
    limits: tuple[str, ...] = (),
) -> tuple[str, ...]:
    """The argument list that starts an agent; the prompt is one argument and meets no shell.

    `AGENT_<NAME>_TEMPLATE` replaces the provider's own command: it is split like a shell would
    split words, but nothing is expanded, and `{prompt}` is put in afterwards. `limits` are put
    into the provider's own command only.
    """
    name = template_variable(provider.name)
    template = environ.get(name, "").strip()
    words = (
        _split_template(name, template) if template else _provider_words(provider, model, limits)
    )
    return tuple(_fill(word, prompt, model) for word in words)


def check_command(provider: Provider, model: str | None, environ: Mapping[str, str]) -> None:
    """UsageError where the command cannot be used, or a model would not reach the agent."""
    build_command(provider, "", None, environ)
    own = agent_templates([provider.name], environ).get(provider.name)
    takes_model = MODEL in (own or " ".join((*provider.command, *provider.model_arguments)))
    if takes_model and own and not model:
        raise UsageError(
            f"{template_variable(provider.name)} has {MODEL}, and no model is given",
            remedy=f"add --provider-model {provider.name}:NAME, or write the name in its place",
        )
    if model and not takes_model:
        name = template_variable(provider.name) if own else f"the command of {provider.name}"
        raise UsageError(
            f"--provider-model {provider.name}:{model} has no effect: {name} has no {MODEL}",
            remedy=f"put {MODEL} where the name of the model goes, or leave --provider-model out",
        )


def agent_templates(agents: Iterable[str], environ: Mapping[str, str]) -> dict[str, str]:
    """The commands that the user gave agents instead of their own, by agent."""
    found = {agent: environ.get(template_variable(agent), "").strip() for agent in agents}
    return {agent: template for agent, template in found.items() if template}


def _provider_words(
    provider: Provider, model: str | None, limits: tuple[str, ...]
) -> tuple[str, ...]:
    """The provider's command with the arguments for model and limits before the prompt's."""
    extra = (*(provider.model_arguments if model else ()), *limits)
    if not extra:
        return provider.command
    place = next(i for i, word in enumerate(provider.command) if PROMPT in word)
    place -= 1 if provider.command[place - 1] == "-p" else 0
    return (*provider.command[:place], *extra, *provider.command[place:])


@functools.cache
def _split_template(name: str, template: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(template))
    except ValueError as error:
        raise UsageError(
            f"{name}: {error}", remedy="balance the quotes; no shell reads the template"
        ) from None
    if not any(PROMPT in word for word in words):
        raise UsageError(f"{name}: has no {PROMPT}", remedy=f"put {PROMPT} where the prompt goes")
    return words


def _fill(word: str, prompt: str, model: str | None) -> str:
    """Put model and prompt in; a `{model}` that stands in the prompt itself stays.

    A prompt that is an argument of its own and begins with `-` gets a space before it: no CLI
    must take it for an option, and to a model it says the same.
    """
    head = word.replace(MODEL, model) if model else word
    if head == PROMPT and prompt.startswith("-"):
        return f" {prompt}"
    return head.replace(PROMPT, prompt)


def log_folders(provider: Provider, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The folders of `AGENT_<NAME>_LOG_DIRS`, separated as PATH is; empty where not set."""
    text = environ.get(f"AGENT_{provider.name.upper()}_LOG_DIRS", "")
    return tuple(part for part in text.split(":") if part.strip())
