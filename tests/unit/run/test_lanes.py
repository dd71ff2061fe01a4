"""How many units of an agent run at once where nobody said."""

from __future__ import annotations

from typing import Any

import pytest

from routing_action.agents.discovery import all_providers
from routing_action.evidence.reader_protocol import Provider
from routing_action.run.lanes import plan_lanes

GIB = 2**30
ALL = tuple(all_providers().values())
THREE = tuple(all_providers()[name] for name in ("claude", "codex", "copilot"))


def rooms(providers: tuple[Provider, ...], **given: Any) -> dict[str, int]:  # noqa: ANN401
    settings = {"asked": {}, "max_parallel": 4, "free_bytes": None, **given}
    lanes = plan_lanes(providers, settings.pop("asked"), **settings)
    return {name: lane.room for name, lane in lanes.items()}


def test_a_roomy_machine_has_no_lanes() -> None:
    """The batch's own number of slots is enough of a bound."""
    assert rooms(THREE, free_bytes=16 * GIB) == {}


def test_the_greediest_agent_gets_fewer_slots() -> None:
    """Memory is shared evenly between the agents of the batch."""
    assert rooms(ALL, free_bytes=14 * GIB) == {"opencode": 1}


@pytest.mark.parametrize("free", [0, 1, 2**20])
def test_without_memory_every_agent_still_runs(free: int) -> None:
    """One unit at a time: a default makes nobody wait for ever."""
    assert rooms(ALL, free_bytes=free) == dict.fromkeys((one.name for one in ALL), 1)


def test_where_memory_is_not_known_nothing_is_assumed() -> None:
    """A machine without /proc."""
    assert rooms(ALL) == {}


def test_a_number_that_was_asked_for_stands() -> None:
    """Also where memory would allow fewer; one that does not bind is no lane."""
    assert rooms(THREE, asked={"claude": 2, "codex": 9}, free_bytes=1) == {
        "claude": 2,
        "copilot": 1,
    }


def test_one_login_file_is_used_by_one_unit_at_a_time() -> None:
    """Unless the user asks for more."""
    assert rooms(THREE, serial_logins=["codex"], free_bytes=64 * GIB) == {"codex": 1}
    assert rooms(THREE, serial_logins=["codex"], asked={"codex": 3}) == {"codex": 3}


def test_a_serial_batch_needs_no_lanes() -> None:
    """One at once is one at once."""
    assert rooms(ALL, free_bytes=1, max_parallel=1) == {}
