"""Finds the agents: ours, those of entry points, and those that a routing.toml describes."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path

import routing_action.agents as package
from routing_action.agents.described.build import build_provider, described_providers
from routing_action.agents.provider import Provider
from routing_action.corpus.units import DEFAULT_CONFIG_FILE
from routing_action.errors import DocumentError, UsageError
from routing_action.files.nearest import suggest

ENTRY_POINT_GROUP = "routing_action.providers"
DEFAULT_AGENTS = ("claude", "codex", "copilot")
"""The agents of a run that names none."""


@cache
def our_providers() -> dict[str, Provider]:
    """The providers of this package by name: a module or a description each."""
    found: dict[str, Provider] = {}
    for module in sorted(info.name for info in pkgutil.iter_modules(package.__path__)):
        provider = getattr(
            importlib.import_module(f"{package.__name__}.{module}"), "PROVIDER", None
        )
        if isinstance(provider, Provider):
            found[provider.name] = provider
    return found | {provider.name: provider for provider in described_providers()}


@cache
def all_providers() -> dict[str, Provider]:
    """Every known provider by name; an entry point may add one, never replace one of ours."""
    found = dict(our_providers())
    for point in entry_points(group=ENTRY_POINT_GROUP):
        provider = point.load()
        if isinstance(provider, Provider):
            found.setdefault(provider.name, provider)
    return found


@dataclass(frozen=True, slots=True)
class KnownAgents:
    """Every agent by name; `file` and `sha256` are those of the configuration, None without one."""

    providers: Mapping[str, Provider] = field(default_factory=dict)
    file: str | None = None
    sha256: str | None = None

    def find(self, name: str) -> Provider:
        """The provider of a name, in any case; UsageError for one that is not known."""
        provider = self.providers.get(name.casefold())
        if provider is None:
            known = f"known agents: {', '.join(self.providers)}"
            remedy = f"{suggest(name, self.providers)} {known}".strip()
            raise UsageError(f"unknown agent {name!r}", remedy=remedy)
        return provider


def find_agents(config: Path | None, root: Path, ours: Mapping[str, Provider]) -> KnownAgents:
    """Ours and those of the file that is named, else of `routing.toml` in `root` if it is there.

    DocumentError where the file cannot be used, or describes an agent that is known already.
    """
    path = config or root / DEFAULT_CONFIG_FILE
    if config is None and not path.is_file():
        return KnownAgents(dict(ours))
    # Slow to import, and seldom needed.
    from routing_action.agents.described.routing_file import read_routing_file  # noqa: PLC0415

    described, sha256 = read_routing_file(path)
    for name in described:
        if name in ours:
            raise DocumentError(
                "a provider with this name exists already",
                file=str(path),
                field=f"providers.{name}",
                remedy=f"use another name, for example my_{name}"[:200],
            )
    built = {name: build_provider(name, one) for name, one in described.items()}
    return KnownAgents(
        {**ours, **built}, config.as_posix() if config else DEFAULT_CONFIG_FILE, sha256
    )
