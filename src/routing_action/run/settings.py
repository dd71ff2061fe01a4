"""What a run is told, from flags and a mapping of variables; it never reads the environment."""

from __future__ import annotations

import functools
import math
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from routing_action.corpus.units import DEFAULT_TIMEOUT_SECONDS
from routing_action.errors import UsageError
from routing_action.evidence.reader_protocol import Provider, template_variable

DEFAULT_MAX_PARALLEL = 4
MAX_PARALLEL_LIMIT = 256
PROMPT = "{prompt}"


@dataclass(frozen=True, slots=True)
class RunSettings:
    """Everything about how units are run; what is run stands in the selection.

    Times are seconds, costs US dollars. `provider_lanes` are those that were asked for.
    `log_scan` None means: on when serial, off when parallel.
    """

    root: Path
    artifacts_root: Path
    max_parallel: int = DEFAULT_MAX_PARALLEL
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS
    idle_timeout_seconds: float | None = None
    provider_timeouts: Mapping[str, float] = field(default_factory=dict)
    provider_models: Mapping[str, str] = field(default_factory=dict)
    log_scan: bool | None = None
    allow_log_fallback_pass: bool = False
    log_max_files: int = 60
    log_max_bytes: int = 300_000
    workspace: str = "isolated"
    keep_workspace: bool = False
    skills: Path | None = None
    replay: Path | None = None
    commit: str | None = None
    replay_speed: float = math.inf
    confirm: int = 0
    fail_on_infra: bool = False
    count_subagents: bool = True
    stop_early: bool = False
    provider_lanes: Mapping[str, int] = field(default_factory=dict)
    max_cost_usd: float | None = None
    max_unit_cost_usd: float | None = None
    max_turns: int | None = None
    config_file: str | None = None
    config_sha256: str | None = None
    throttle_retries: int = 2
    no_progress: bool = False
    output: Path | None = None
    proof_log: Path | None = None
    environ: Mapping[str, str] = field(default_factory=dict)

    @property
    def scans_logs(self) -> bool:
        """Whether session logs are read: as asked, else only in a serial run."""
        return self.max_parallel == 1 if self.log_scan is None else self.log_scan

    @property
    def gates_on_logs(self) -> bool:
        """Whether log evidence may count: in a serial run, or where it is allowed."""
        return self.max_parallel == 1 or self.allow_log_fallback_pass

    def timeout_for(self, agent: str) -> float:
        """The wall deadline of a provider's units, in seconds."""
        return self.provider_timeouts.get(agent, self.timeout_seconds)


def resolve_max_parallel(flag: int | None, environ: Mapping[str, str]) -> int:
    """The flag, else MAX_CONCURRENCY, else 4."""
    if flag is not None:
        return _parallel(flag, "--max-parallel")
    text = environ.get("MAX_CONCURRENCY", "").strip()
    if not text:
        return DEFAULT_MAX_PARALLEL
    if not text.isdecimal():
        raise UsageError(
            f"MAX_CONCURRENCY={text!r}: not a whole number",
            remedy="set it to 1 or more, or unset it for the default of 4",
        )
    return _parallel(int(text), "MAX_CONCURRENCY")


def _parallel(value: int, name: str) -> int:
    if not 1 <= value <= MAX_PARALLEL_LIMIT:
        raise UsageError(f"{name} {value}: must be between 1 and {MAX_PARALLEL_LIMIT}")
    return value


def positive_seconds(text: str, name: str) -> float:
    """A number of seconds above zero."""
    return _above_zero(text, name, "number of seconds")


def positive_amount(text: str, name: str) -> float:
    """A number of US dollars above zero."""
    return _above_zero(text, name, "number of US dollars")


def _above_zero(text: str, name: str, what: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise UsageError(f"{name} {text!r}: not a {what} above 0")
    return value


def parse_lane(text: str, name: str) -> int:
    """How many units of a provider may run at once."""
    if not text.isdecimal():
        raise UsageError(f"{name} {text!r}: not a whole number")
    return _parallel(int(text), name)


def limit_arguments(provider: Provider, settings: RunSettings) -> tuple[str, ...]:
    """The arguments for the limits that the CLI enforces itself, empty where none was asked for."""
    turns, usd = settings.max_turns, settings.max_unit_cost_usd
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
    head = word.replace("{model}", model) if model else word
    if head == PROMPT and prompt.startswith("-"):
        return f" {prompt}"
    return head.replace(PROMPT, prompt)


def log_folders(provider: Provider, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The folders of `AGENT_<NAME>_LOG_DIRS`, separated as PATH is; empty where not set."""
    text = environ.get(f"AGENT_{provider.name.upper()}_LOG_DIRS", "")
    return tuple(part for part in text.split(":") if part.strip())
