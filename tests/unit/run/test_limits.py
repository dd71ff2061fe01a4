"""Which limits hold for which agent, which lanes a batch has, and what it may cost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from routing_action.agents.discovery import all_providers
from routing_action.agents.provider import Provider
from routing_action.evidence.transcript import EndedBy
from routing_action.run.limits import Brakes, find_bounds, plan_lanes
from routing_action.run.settings import Limits, Outputs, Replay, RunSettings
from tests.support.streams import AGENTS

GIB = 2**30
ALL = {name: all_providers()[name] for name in AGENTS}
EVERY = tuple(ALL.values())
THREE = tuple(ALL[name] for name in ("claude", "codex", "copilot"))
EXIT = EndedBy.EXIT


def settings_of(
    tmp_path: Path,
    *,
    environ: dict[str, str] | None = None,
    replay: Replay | None = None,
    **limits: Any,  # noqa: ANN401 - any limit
) -> RunSettings:
    return RunSettings(
        tmp_path, Outputs(tmp_path), Limits(**limits), replay=replay, environ=environ or {}
    )


def test_every_limit_is_named_for_the_agents_that_do_not_have_it(tmp_path: Path) -> None:
    """By what each CLI was seen to offer: only claude has flags, only opencode tells on the way."""
    asked = settings_of(tmp_path, max_cost_usd=1.0, max_unit_cost_usd=1.0, max_turns=5)
    bounds = find_bounds(ALL, asked, None)
    assert bounds.not_enforced == {
        "--max-cost-usd": ("codex", "copilot", "gemini"),
        "--max-unit-cost-usd": ("codex", "copilot", "gemini"),
        "--max-turns": ("codex", "copilot", "gemini", "opencode"),
    }
    assert [line.split(" is not enforced")[0] for line in bounds.describe()] == [
        "--max-cost-usd", "--max-unit-cost-usd", "--max-turns"
    ]  # fmt: skip


def test_a_command_of_the_users_own_gets_no_flags(tmp_path: Path) -> None:
    """So the limits of claude do not hold there, and that is said."""
    own = {"AGENT_CLAUDE_TEMPLATE": "mine {prompt}"}
    asked = settings_of(tmp_path, max_unit_cost_usd=1.0, max_turns=5, environ=own)
    assert find_bounds({"claude": ALL["claude"]}, asked, None).not_enforced == {
        "--max-unit-cost-usd": ("claude",),
        "--max-turns": ("claude",),
    }


def test_a_replay_is_bounded_by_nothing_that_it_does_not_use(tmp_path: Path) -> None:
    """It spends nothing, has no turns, and needs little memory."""
    asked = settings_of(
        tmp_path, max_cost_usd=1.0, replay=Replay(tmp_path), provider_lanes={"codex": 2}
    )  # fmt: skip
    bounds = find_bounds(ALL, asked, 1)
    assert bounds.rooms == {"codex": 2}
    assert bounds.not_enforced == {"--max-cost-usd": tuple(ALL)}


def test_no_limit_asked_for_is_no_limit_missed(tmp_path: Path) -> None:
    """A plain run says nothing of bounds."""
    bounds = find_bounds(ALL, settings_of(tmp_path), 64 * GIB)
    assert list(bounds.describe()) == []


@pytest.mark.parametrize(
    ("key", "login", "room"),
    [("", True, 1), ("sk-1", True, None), ("", False, None)],
)
def test_p7_a_login_file_with_single_use_tokens_is_not_shared_by_parallel_units(
    tmp_path: Path, key: str, login: bool, room: int | None
) -> None:
    """Parallel jobs on one refresh token end in 401: an API key, or one unit at a time."""
    if login:
        (tmp_path / ".codex").mkdir()
        (tmp_path / ".codex" / "auth.json").write_text('{"tokens": {"id_token": "t"}}', "utf-8")
    environ = {"HOME": str(tmp_path), "OPENAI_API_KEY": key}
    bounds = find_bounds(ALL, settings_of(tmp_path, environ=environ), None)
    lane = bounds.lanes.get("codex")
    assert (lane.room if lane else None) == room
    assert bool(list(bounds.describe())) == (room is not None)


# ---- lanes


def rooms(providers: tuple[Provider, ...], **given: Any) -> dict[str, int]:  # noqa: ANN401
    settings = {"asked": {}, "max_parallel": 4, "free_bytes": None, **given}
    lanes = plan_lanes(providers, settings.pop("asked"), **settings)
    return {name: lane.room for name, lane in lanes.items()}


def test_a_roomy_machine_has_no_lanes() -> None:
    """The batch's own number of slots is enough of a bound."""
    assert rooms(THREE, free_bytes=16 * GIB) == {}


def test_the_greediest_agent_gets_fewer_slots() -> None:
    """Memory is shared evenly between the agents of the batch."""
    assert rooms(EVERY, free_bytes=14 * GIB) == {"opencode": 1}


@pytest.mark.parametrize("free", [0, 1, 2**20])
def test_without_memory_every_agent_still_runs(free: int) -> None:
    """One unit at a time: a default makes nobody wait for ever."""
    assert rooms(EVERY, free_bytes=free) == dict.fromkeys((one.name for one in EVERY), 1)


def test_where_memory_is_not_known_nothing_is_assumed() -> None:
    """A machine without /proc."""
    assert rooms(EVERY) == {}


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
    assert rooms(EVERY, free_bytes=1, max_parallel=1) == {}


# ---- costs


def test_no_further_unit_starts_once_the_cap_is_reached() -> None:
    """Reaching it is enough; the reason names cost and cap."""
    brakes = Brakes(0.5)
    brakes.spend("claude", 0.25, EXIT)
    assert brakes.refusal("claude") == ""
    brakes.spend("claude", 0.25, EXIT)
    assert brakes.refusal("claude") == (
        "not run: the batch has cost 0.5000 USD, its cap is 0.5 USD (--max-cost-usd)"
    )


def test_without_a_cap_nothing_is_refused() -> None:
    """Whatever it costs."""
    brakes = Brakes()
    brakes.spend("claude", 1e6, EXIT)
    assert brakes.refusal("claude") == ""


def test_only_what_is_known_is_counted_and_the_rest_is_named() -> None:
    """A run that never started cost nothing, and is not missed."""
    brakes = Brakes(1.0)
    assert brakes.describe_cost() == "cost known: 0.0000 USD of 0 runs"
    brakes.spend("claude", 0.5, EXIT)
    for _ in range(2):
        brakes.spend("codex", None, EndedBy.WALL_DEADLINE)
    brakes.spend("copilot", None, EXIT)
    brakes.spend("gemini", None, EndedBy.NOT_STARTED)
    brakes.spend("gemini", None, EndedBy.START_FAILED)
    assert brakes.known_usd == 0.5
    assert brakes.describe_cost() == (
        "cost known: 0.5000 USD of 1 run; not reported, so not counted: codex 2, copilot 1"
    )
