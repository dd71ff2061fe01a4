"""Which limits hold for which agent, and which lanes a batch has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from routing_action.agents.discovery import all_providers
from routing_action.run.bounds import describe_bounds, find_bounds
from routing_action.run.settings import RunSettings

GIB = 2**30
ALL = all_providers()


def settings_of(tmp_path: Path, **fields: Any) -> RunSettings:  # noqa: ANN401 - any setting
    return RunSettings(root=tmp_path, artifacts_root=tmp_path, **fields)


def test_every_limit_is_named_for_the_agents_that_do_not_have_it(tmp_path: Path) -> None:
    """By what each CLI was seen to offer: only claude has flags, only opencode tells on the way."""
    asked = settings_of(tmp_path, max_cost_usd=1.0, max_unit_cost_usd=1.0, max_turns=5)
    bounds = find_bounds(ALL, asked, None)
    assert bounds.not_enforced == {
        "--max-cost-usd": ("codex", "copilot", "gemini"),
        "--max-unit-cost-usd": ("codex", "copilot", "gemini"),
        "--max-turns": ("codex", "copilot", "gemini", "opencode"),
    }
    assert [line.split(" does not hold")[0] for line in describe_bounds(bounds)] == [
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
        tmp_path, max_cost_usd=1.0, replay=tmp_path, provider_lanes={"codex": 2}
    )  # fmt: skip
    bounds = find_bounds(ALL, asked, 1)
    assert {name: lane.room for name, lane in bounds.lanes.items()} == {"codex": 2}
    assert bounds.not_enforced == {"--max-cost-usd": tuple(ALL)}


def test_no_limit_asked_for_is_no_limit_missed(tmp_path: Path) -> None:
    """A plain run says nothing of bounds."""
    bounds = find_bounds(ALL, settings_of(tmp_path), 64 * GIB)
    assert list(describe_bounds(bounds)) == []


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
        (tmp_path / ".codex" / "auth.json").write_text("{}", encoding="utf-8")
    environ = {"HOME": str(tmp_path), "OPENAI_API_KEY": key}
    bounds = find_bounds(ALL, settings_of(tmp_path, environ=environ), None)
    lane = bounds.lanes.get("codex")
    assert (lane.room if lane else None) == room
    assert bool(list(describe_bounds(bounds))) == (room is not None)
