"""Options and converters that several commands share."""

from __future__ import annotations

import random
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from routing_action.agents.discovery import (
    DEFAULT_AGENTS,
    KnownAgents,
    all_providers,
    find_agents,
)
from routing_action.agents.provider import Provider
from routing_action.cli.place import TypedPath
from routing_action.corpus.baseline import iterate_pairs
from routing_action.corpus.naming import fold
from routing_action.errors import DocumentError, UsageError
from routing_action.files.nearest import suggest
from routing_action.files.program import own_program
from routing_action.gate.baselines import DEFAULT_BASELINE_FILES, read_baseline
from routing_action.report.terminal.layout import ConsoleStyle
from routing_action.results.batch_folder import one_line
from routing_action.results.past.history import NEWEST, History, read_history

Command = TypeVar("Command", bound=Callable[..., Any])

Agents = tuple[str, ...]

_CONFIG, _AGENTS = f"{__name__}.config", f"{__name__}.agents"

BASELINE_HELP = "The baseline. Default: provider-baseline.json, also below tests/agent-routing."
CASES_HELP = "The case file. Default: cases.json, else tests/agent-routing/cases.json."


def path_option(
    *names: str,
    metavar: str = "FILE",
    written: bool = False,
    **more: Any,  # noqa: ANN401 - what click takes
) -> Callable[[Command], Command]:
    """An option that takes the path of a file, or of what `metavar` says; `written`: is made."""
    kind = TypedPath(path_type=Path, written=written)
    return click.option(*names, type=kind, metavar=metavar, **more)


def format_option(
    *choices: str, **more: Any  # noqa: ANN401 - what click takes
) -> Callable[[Command], Command]:  # fmt: skip
    """`--format`, which is the first of the choices where it is not given."""
    known = choices or ("text", "json")
    return click.option("--format", "output_format", type=click.Choice(known), default=known[0],
                        show_default=True, **more)  # fmt: skip


def cases_option(command: Command) -> Command:
    """`--cases FILE`, with the earlier harness's name `--input`."""
    return path_option("--cases", "--input", "cases_file", help=CASES_HELP)(command)


def config_option(command: Command, *, expose: bool = False) -> Command:
    """`--config FILE`, which describes agents of the user's own; it counts for `known_agents`."""
    text = "Agents of your own. Default: routing.toml, if it exists."
    option: Callable[[Command], Command] = path_option(
        "--config", is_eager=True, callback=_keep_config, expose_value=expose, help=text
    )
    return option(command)


def _keep_config(
    context: click.Context, _option: click.Parameter, value: Path | None
) -> Path | None:
    context.meta[_CONFIG] = value
    context.meta.pop(_AGENTS, None)
    return value


def known_agents() -> KnownAgents:
    """Every agent of the command that runs: by its --config, else by the current folder's file."""
    context = click.get_current_context(silent=True)
    meta = context.meta if context else {}
    if _AGENTS not in meta:
        meta[_AGENTS] = find_agents(meta.get(_CONFIG), Path(), all_providers())
    agents: KnownAgents = meta[_AGENTS]
    return agents


def history_option(command: Command) -> Command:
    """`--history DIR`, what earlier runs measured."""
    text = "What earlier runs measured: a folder of YYYY-MM.jsonl files."
    return path_option("--history", "history_folder", metavar="DIR", help=text)(command)


def read_history_option(folder: Path | None, runs: int | None = NEWEST) -> History:
    """The history of a folder that was named; an empty one where none was.

    `runs` is how many of each pair are read, None for all.
    Raises DocumentError where it cannot be read.
    """
    named = find_history(folder)
    if named is None:
        return History()
    try:
        history = read_history(named, runs)
    except OSError as error:
        raise DocumentError(f"cannot be read: {error.strerror}", file=str(named)) from None
    if history.unread:
        lines = "1 line" if history.unread == 1 else f"{history.unread} lines"
        click.echo(
            f"routing-action: warning: {lines} of the history cannot be read, and are left out",
            err=True,
        )
    return history


def find_history(folder: Path | None) -> Path | None:
    """The folder that --history names, None without one; DocumentError where there is none."""
    if folder is not None and not folder.is_dir():
        raise DocumentError(
            "is no folder",
            file=str(folder),
            remedy="name the folder that holds YYYY-MM.jsonl files; "
            f"`{own_program()} history --history DIR --add BATCH` makes one",
        )
    return folder


def delta_option(command: Command) -> Command:
    """`--delta FILE`, which `compare` wrote."""
    text = "What `compare` wrote. Default: delta.json of the newest batch."
    return path_option("--delta", "delta_file", help=text)(command)


def agents_option(
    text: str = "The agent CLIs. Default: those of the baseline, else claude,codex,copilot.",
) -> Callable[[Command], Command]:
    """`--agents`, a list or given several times."""
    return click.option("--agents", multiple=True, metavar="NAMES", help=text)


def templates_option(command: Command) -> Command:
    """`--templates DIR` of the reports."""
    text = "Templates that extend or replace the built-in ones."
    return path_option("--templates", metavar="DIR", help=text)(command)


def subagents_option(command: Command) -> Command:
    """`--subagent-loads`."""
    text = "Whether a load inside a sub-agent is proof."
    return click.option("--subagent-loads", type=click.Choice(["count", "ignore"]), default="count",
                        show_default=True, help=text)(command)  # fmt: skip


def selection_options(command: Command) -> Command:
    """`--agents`, `--category`, `--case-id`, and a sample of these."""
    for option in (
        click.option("--seed", type=int, help="The seed of --sample; printed."),
        click.option("--sample", type=click.IntRange(min=1), metavar="N",
                     help="Draw N cases at random."),
        click.option("--case-id", "--case", "case_ids", multiple=True, metavar="IDS",
                     help="Only these cases (comma-separated, repeatable)."),
        click.option("--category", "--categories", "categories", multiple=True, metavar="NAMES",
                     help="Only cases of these categories."),
        agents_option(),
    ):  # fmt: skip
        command = option(command)
    return command


def split_list(values: tuple[str, ...]) -> tuple[str, ...]:
    """Comma-separated and repeated values as one list, each once, in order."""
    parts = [part.strip() for value in values for part in value.split(",")]
    found = tuple(dict.fromkeys(part for part in parts if part))
    if values and not found:
        raise UsageError(
            "a list option was given without a name in it",
            remedy="name something, or leave the option out to take everything",
        )
    return found


def find_provider(name: str) -> Provider:
    """The provider of a name, in any case."""
    return known_agents().find(name)


def choose_agents(names: tuple[str, ...], cases: str, baseline: Path | None = None) -> Agents:
    """The agents that were named, else those with entries beside the cases, else the default."""
    named = split_list(names)
    path = baseline or Path(cases).with_name(DEFAULT_BASELINE_FILES[0])
    if not named and path.is_file():
        entered = {agent: None for (_, agent), _ in iterate_pairs(read_baseline(path)[0])}
        strange = [one for one in entered if fold(one) not in known_agents().providers]
        if strange:
            raise UsageError(
                f"{path} has entries of {strange[0]!r}, and no agent has that name",
                remedy=suggest(
                    strange[0],
                    known_agents().providers,
                    "correct the name, describe the agent in routing.toml, or use --agents",
                ),
            )
        named = tuple(one for one in DEFAULT_AGENTS if one in entered)
        named += tuple(one for one in entered if one not in DEFAULT_AGENTS)
    return tuple(find_provider(name).name for name in named) or DEFAULT_AGENTS


def parse_pairs(values: tuple[str, ...], flag: str) -> dict[str, str]:
    """Values of the form `provider:value`, comma-separated or repeated."""
    pairs: dict[str, str] = {}
    for value in split_list(values):
        name, separator, rest = value.partition(":")
        if not separator or not rest:
            raise UsageError(f"{flag} {value!r}: not of the form provider:value")
        pairs[find_provider(name).name] = rest
    return pairs


def stdout_style(environ: Mapping[str, str]) -> ConsoleStyle:
    """Colour only on a terminal that has it, and without NO_COLOR; its width in columns."""
    plain = environ.get("NO_COLOR") or environ.get("TERM") == "dumb"
    colour = sys.stdout.isatty() and not plain
    return ConsoleStyle(colour, shutil.get_terminal_size((80, 24)).columns)


def full_commit(_context: click.Context, _option: click.Parameter, value: str | None) -> str | None:
    """A full commit id in lower case; a short one could name another commit tomorrow."""
    if value and not re.fullmatch(r"[0-9a-fA-F]{40}|[0-9a-fA-F]{64}", value):
        raise UsageError(
            f"--commit {value!r}: not a full commit id",
            remedy="give all 40 characters, as `git rev-parse HEAD` prints them",
        )
    return value.lower() if value else None


def seed_for(sample: int | None, seed: int | None) -> int | None:
    """The seed of a sample: the one that was given, else a new one."""
    if sample is None or seed is not None:
        return seed
    return random.SystemRandom().randrange(2**31)


def spell_names(names: Sequence[str], known: Iterable[str], cause: str, listed: str) -> set[str]:
    """The names as they are spelled where they are known; any other name is a mistake."""
    spelled = {fold(name): name for name in known}
    unknown = [name for name in names if fold(name) not in spelled]
    if unknown:
        guesses = " ".join(filter(None, (suggest(name, spelled.values()) for name in unknown)))
        every = one_line(", ".join(sorted(spelled.values())))
        raise UsageError(
            f"{cause} {', '.join(map(repr, unknown))}",
            remedy=guesses or f"{listed}: {every[:500]}",
        )
    return {spelled[fold(name)] for name in names}
