"""What prepares units, what it gives for one, and the other parts that a batch works with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from routing_action.agents.provider import ReadContext
from routing_action.corpus.units import Unit
from routing_action.evidence.transcript import Reading
from routing_action.files.redaction import Redactor
from routing_action.results.batch_folder import BatchFolder
from routing_action.results.model import OfferedSkill
from routing_action.run.lifecycle import Ports, Stop
from routing_action.run.workspace.custody import Custody


@dataclass(slots=True)
class Launch:
    """One unit, ready to start. `new_log_lines` gives what session logs gained since the start.

    `wall_seconds` is a deadline of this unit's own; None takes the settings'. `output_bytes` is
    how much it is going to print, where that is known: in a replay. `supplement` adds what is
    known of a run apart from its output. `custody` knows what it must find. `close` takes
    everything away again and gives notes about what it could not.
    """

    argv: tuple[str, ...]
    cwd: Path
    env: dict[str, str]
    context: ReadContext
    notes: tuple[str, ...] = ()
    cli_version: str | None = None
    model: str | None = None
    wall_seconds: float | None = None
    output_bytes: int | None = None
    supplement: Callable[[Reading], Reading] = field(default=lambda reading: reading)
    new_log_lines: Callable[[], Sequence[tuple[str, bytes]]] | None = None
    custody: Custody = field(default_factory=Custody)
    close: Callable[[], Sequence[str]] = field(default=lambda: ())


class Launcher(Protocol):
    """Prepares units; live or from recordings."""

    def prepare(self, unit: Unit, unit_run_id: str) -> Launch:
        """Make everything that the unit needs, in a thread; HarnessError where that fails."""
        ...

    def missing_skills(self) -> tuple[str, ...]:
        """What this checkout lacks of the repository's skills, in sentences."""
        return ()

    def offered_skills(self) -> tuple[OfferedSkill, ...]:
        """The skills that lie where the agents look; none where that is not known."""
        return ()

    def fingerprint(self, unit: Unit, cli_version: str) -> str | None:
        """The digest of all that the agent can see for a unit; None where it is not known."""
        return None


@dataclass(frozen=True, slots=True)
class Parts:
    """What a batch works with: where it writes, what starts its units, and the outside world."""

    folder: BatchFolder
    launcher: Launcher
    redactor: Redactor
    ports: Ports
    stop: Stop
