"""A delivery of a webhook as it is kept, and what a queue of them does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


class State(StrEnum):
    """Where a delivery is: it waits, is worked on, is done, or was given up."""

    WAITING = "waiting"
    TAKEN = "taken"
    DONE = "done"
    DEAD = "dead"


@dataclass(frozen=True, slots=True)
class Delivery:
    """What GitHub sent once; `id` is its X-GitHub-Delivery, which a redelivery keeps.

    `installation` is 0 and `repository` empty where the payload names none.
    """

    id: str
    event: str
    installation: int
    repository: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Kept:
    """A delivery in the queue; times are seconds since the epoch."""

    delivery: Delivery
    state: State
    attempts: int
    received: float
    error: str = ""


@dataclass(frozen=True, slots=True)
class Depth:
    """How full a queue is; `oldest_seconds` is how long the oldest waiting delivery has waited."""

    waiting: int
    taken: int
    dead: int
    oldest_seconds: float


class Queue(Protocol):
    """Keeps deliveries on disk until they are handled; for any number of threads and processes.

    What `put` has returned for is not lost, whatever happens to the process or the machine. All
    other changes may be lost with the machine: a delivery is then handled once more.
    """

    def put(self, deliveries: Sequence[Delivery], now: float) -> int:
        """Keep deliveries in one step; how many of them were new. Known ones change nothing."""
        ...

    def take(self, worker: str, now: float, most_each: int) -> Kept | None:
        """The next delivery to work on, of the installation that was served longest ago.

        Passes over installations that have `most_each` deliveries at work, or that are paused.
        """
        ...

    def finish(self, delivery_id: str) -> None:
        """A delivery has been handled; its body is of no more use and is removed."""
        ...

    def fail(
        self, delivery_id: str, worker: str, error: str, now: float, *, again_at: float | None
    ) -> None:
        """Handling failed: try at a time again, or give it up where that is None.

        Nothing changes where another worker has taken the delivery over, or has handled it.
        """
        ...

    def pause(self, installation: int, until: float) -> None:
        """Begin nothing of an installation before a time, as its rate limit asks for."""
        ...

    def give_back(self, worker: str) -> int:
        """What a worker holds waits again, the attempt does not count; how many there were."""
        ...

    def extend(self, delivery_ids: Sequence[str], now: float) -> None:
        """Say that these are at work, so that nobody else takes them."""
        ...

    def recover(self, before: float, now: float, most_attempts: int) -> int:
        """What nobody has extended since `before` waits again, or is given up; how many."""
        ...

    def depth(self, now: float) -> Depth:
        """How full it is."""
        ...

    def newest(self) -> float:
        """When the newest delivery was received; 0 where there is none."""
        ...

    def list(self, state: State, most: int) -> Sequence[Kept]:
        """The newest deliveries in a state, without their bodies."""
        ...

    def show(self, delivery_id: str) -> Kept | None:
        """One delivery, with its body."""
        ...

    def retry(self, delivery_id: str, now: float) -> bool:
        """Let a delivery that was given up wait again; False where there is none."""
        ...

    def forget(self, before: float) -> int:
        """Remove what was done and received before a time; how many there were."""
        ...

    def close(self) -> None:
        """Let go of files and connections."""
        ...
