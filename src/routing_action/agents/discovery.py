"""Finds the providers: every module of this package that holds a `PROVIDER`, and entry points."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from importlib.metadata import entry_points

import routing_action.agents as package
from routing_action.evidence.reader_protocol import Provider

ENTRY_POINT_GROUP = "routing_action.providers"
DEFAULT_AGENTS = ("claude", "codex", "copilot")
"""The agents of a run that names none."""
_OF_USERS = "custom"
"""The module for agents of routing.toml: it has none of its own, and is slow to import."""


@cache
def all_providers() -> dict[str, Provider]:
    """Every known provider by name; an entry point may add one, never replace one of ours."""
    found: dict[str, Provider] = {}
    ours = {info.name for info in pkgutil.iter_modules(package.__path__)} - {_OF_USERS}
    for module in sorted(ours):
        provider = getattr(
            importlib.import_module(f"{package.__name__}.{module}"), "PROVIDER", None
        )
        if isinstance(provider, Provider):
            found[provider.name] = provider
    for point in entry_points(group=ENTRY_POINT_GROUP):
        provider = point.load()
        if isinstance(provider, Provider):
            found.setdefault(provider.name, provider)
    return found
