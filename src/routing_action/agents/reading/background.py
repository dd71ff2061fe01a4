"""Work that a CLI announced and left to the background: until it ends, no turn is the last one."""

from __future__ import annotations

from collections.abc import Iterable

_MOST_TASKS = 1_000


class BackgroundTasks:
    """What is open, by its id. An id that is no text, and one that has ended, opens nothing."""

    def __init__(self) -> None:
        """Nothing was announced."""
        self._open: dict[str, bool] = {}
        self._ended: set[str] = set()
        self._turn_follows = False

    @property
    def open_agents(self) -> int:
        """How many agents did not end; a shell command can load no skill."""
        return sum(self._open.values())

    @property
    def awaited(self) -> bool:
        """True while something is open, or a turn is to come that answers what has ended."""
        return bool(self._open) or self._turn_follows

    def open(self, identity: object, *, is_agent: bool = True) -> None:
        """Work begins, after which the CLI may begin another turn by itself."""
        known = isinstance(identity, str) and identity not in self._ended
        if isinstance(identity, str) and known and len(self._open) < _MOST_TASKS:
            self._open[identity] = is_agent

    def close(self, identity: object, *, turn_follows: bool = False) -> None:
        """It has ended, however; `turn_follows` where the CLI answers that with another turn."""
        if isinstance(identity, str) and len(self._ended) < _MOST_TASKS:
            self._ended.add(identity)
            self._turn_follows |= turn_follows
            self._open.pop(identity, None)

    def keep(self, identities: Iterable[object]) -> None:
        """The CLI lists what is open: nothing else is."""
        listed = {one for one in identities if isinstance(one, str)}
        for identity in self._open.keys() - listed:
            self._open.pop(identity)

    def turn_ended(self) -> None:
        """A terminal event came: the turn that was to follow is over."""
        self._turn_follows = False
