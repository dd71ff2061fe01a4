"""The middle of a flood: output of which nothing matters any more but how it ends."""

from __future__ import annotations

from collections import deque

EXACT_BYTES = 32 * 2**20
"""So much of a run's output is read to the last record in any case; a long run prints 5 MB."""
HELD_BYTES = 2**20
END_BYTES = 2**16
"""How far from the end of the output what ends a run is looked for at once."""


class Flood:
    """Holds the latest blocks, which may be the last ones, and gives older ones away."""

    def __init__(self) -> None:
        """Start with none."""
        self._held: deque[bytes] = deque()
        self._size = 0

    def hold(self, block: bytes) -> list[bytes]:
        """Take the next block; the blocks that come back are no longer among the last."""
        self._held.append(block)
        self._size += len(block)
        given = []
        while self._size - len(self._held[0]) >= HELD_BYTES:
            given.append(self._held.popleft())
            self._size -= len(given[-1])
        return given

    def take(self) -> list[bytes]:
        """All that is held, in order."""
        held = list(self._held)
        self._held.clear()
        self._size = 0
        return held
