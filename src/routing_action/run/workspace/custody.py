"""Sees to it that nobody but a unit's own agent changes what its verdict depends on.

Units run as the same user, so one can write to another's folders: what cannot be prevented is
noticed. docs/explanation/isolation.md, 'Units that run side by side', says what is not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from routing_action.corpus.influences import Influence, find_influence
from routing_action.run.workspace.seal import Seal, find_change
from routing_action.run.workspace.watch import Watch

_STEERING = frozenset({Influence.SKILL, Influence.INSTRUCTIONS, Influence.SETTINGS})


@dataclass(slots=True)
class Custody:
    """What a unit must find as it was made: `sealed` folders, and files that nobody may touch.

    `workspace` is the sealed folder that the agent works in; None where it has none of its own.
    """

    sealed: dict[Path, Seal] = field(default_factory=dict)
    workspace: Path | None = None
    watches: tuple[Watch, ...] = ()
    _steering: Watch | None = None

    def begin(self) -> str:
        """Right before the start: what was changed, "" where nothing was."""
        if self.workspace is not None:
            root = self.workspace
            steering = [root / path for path in self.sealed[root] if steers(path)]
            self._steering = Watch(lambda: steering)  # first, so that no moment is between
        for folder, seal in self.sealed.items():
            if change := find_change(folder, seal):
                return f"{change} in {folder}, before the agent was started"
        return self._watched()

    def end(self, is_named: Callable[[str], bool], *, alone: bool) -> str:
        """Once the unit has ended: what somebody else changed meanwhile, "" where nobody did.

        What the agent changes in its own workspace is its work. If units ran beside it, a change
        is its own only where its output names the file, with the folder that holds it.
        """
        if self._steering is not None and not alone:
            for path in self._steering.list_changes():
                if not is_named("/".join(PurePosixPath(path).parts[-2:])):
                    return (
                        f"{path} was changed while other units ran, and the agent's output does "
                        "not name it"
                    )
        return self._watched()

    def _watched(self) -> str:
        return next((change for one in self.watches if (change := one.find_change())), "")


def steers(path: str) -> bool:
    """True for a file that tells agents what to do: instructions, skills, settings of an agent."""
    return find_influence(path, {}) in _STEERING
