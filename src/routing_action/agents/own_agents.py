"""The agents that are known here: ours, those of entry points, and those of routing.toml."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from routing_action.corpus.units import DEFAULT_CONFIG_FILE
from routing_action.errors import DocumentError, UsageError
from routing_action.evidence.reader_protocol import Provider


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
            known = ", ".join(self.providers)
            raise UsageError(f"unknown agent {name!r}", remedy=f"known agents: {known}")
        return provider


def find_agents(config: Path | None, root: Path, ours: Mapping[str, Provider]) -> KnownAgents:
    """Ours and those of the file that is named, else of `routing.toml` in `root` if it is there.

    DocumentError where the file cannot be used, or describes an agent that is known already.
    """
    path = config or root / DEFAULT_CONFIG_FILE
    if config is None and not path.is_file():
        return KnownAgents(dict(ours))
    # Slow to import, and hardly ever needed.
    from routing_action.agents.custom import build_provider  # noqa: PLC0415
    from routing_action.agents.routing_file import read_routing_file  # noqa: PLC0415

    own = read_routing_file(path)
    for name in own.providers:
        if name in ours:
            raise DocumentError(
                "there is a provider of this name already",
                file=own.file,
                field=f"providers.{name}",
                remedy=f"name it otherwise, for example my_{name}"[:200],
            )
    built = {name: build_provider(name, one) for name, one in own.providers.items()}
    return KnownAgents(
        {**ours, **built}, config.as_posix() if config else DEFAULT_CONFIG_FILE, own.sha256
    )
