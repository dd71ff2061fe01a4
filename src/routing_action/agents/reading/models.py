"""Which models answered, by the names that CLIs print.

A CLI can start with one model and be answered by another: a fallback, when the service is busy or
the account may not use it. The names of one model differ by date, prefix and context size.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from routing_action.evidence.transcript import FELL_BACK

# claude-sonnet-4-5-20250929, gpt-4.1-2025-04-14, claude-3-5-haiku-latest, and Bedrock's -v1:0;
# Claude Code adds the size of the context, `[1m]`.
_VERSION = re.compile(r"(?:-(?:\d{8}|\d{4}-\d\d-\d\d|latest|v\d+(?::\d+)?)|\[[^\]]*\])+$")
_PREFIX = re.compile(r"^(?:.*/|(?:[a-z]+\.)?anthropic\.)")
# What leaves the choice to the CLI is no model.
_CHOICES = re.compile(r"(?:default|auto|pro|flash|flash-lite)(?:-.*)?")


def is_same_model(one: str, other: str) -> bool:
    """True where two names mean one model: `claude-sonnet-4-5` and `claude-sonnet-4-5-20250929`."""
    return _plain(one) == _plain(other)


def _plain(name: str) -> str:
    return _VERSION.sub("", _PREFIX.sub("", name.strip().casefold()))


def describe_models(asked: str | None, answered: Iterable[str]) -> tuple[str | None, str]:
    """The model of a run, and a note where it was not, or not always, the one that was asked for.

    Several that answered are joined by a comma, in the order of their first answers. `asked` is
    what the CLI says that it starts with.
    """
    names = [
        asked if asked is not None and is_same_model(asked, name) else name for name in answered
    ]
    models = tuple(dict.fromkeys(names))
    if not models:
        return asked, ""
    others = [name for name in models if name != asked]
    if asked is None or not others or _CHOICES.fullmatch(asked.casefold()):
        return ", ".join(models), ""
    some = "answered some turns" if asked in models else "answered"
    note = f"{', '.join(others)} {some}, though {asked} was asked for: {FELL_BACK}"
    return ", ".join(models), note
