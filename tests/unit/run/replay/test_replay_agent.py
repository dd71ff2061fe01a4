"""The replay agent's options are read, and the names that its recordings can have."""

from __future__ import annotations

import pytest

from routing_action.errors import UsageError
from routing_action.run.replay.recordings import check_name
from routing_action.run.replay.replay_agent import parse_options, parse_pace


@pytest.mark.parametrize(
    ("words", "options"),
    [
        (["--recording", "a b", "--speed", "2", "prompt"], {"recording": "a b", "speed": "2"}),
        (["--recording=a=b", "prompt"], {"recording": "a=b"}),
        (["--recording", "a", "--format", "json", "--yolo", "p"],
         {"recording": "a", "format": "json", "yolo": "p"}),
        (["--recording", "a", "--speed", "1", "--recording=other"],
         {"recording": "a", "speed": "1"}),
        (["--recording", "a", "-p", "--version"], {"recording": "a", "version": ""}),
        (["prompt"], {}),
        ([], {}),
    ],
)  # fmt: skip
def test_options_are_read_as_an_agent_cli_is_given_them(
    words: list[str], options: dict[str, str]
) -> None:
    """Unknown ones are taken; a prompt that looks like an option overrides nothing."""
    assert parse_options(words) == options


@pytest.mark.parametrize(
    ("speed", "pace"), [("0", 0), ("inf", 0), ("1", 1), ("2", 0.5), ("0.5", 2)]
)
def test_speed_two_is_twice_as_fast(speed: str, pace: float) -> None:
    """0 and inf leave out all waiting."""
    assert parse_pace(speed) == pace


@pytest.mark.parametrize("speed", ["-1", "nan", "fast", ""])
def test_a_speed_must_be_a_number(speed: str) -> None:
    """Anything else is refused."""
    with pytest.raises(ValueError, match=r".*"):
        parse_pace(speed)


@pytest.mark.parametrize("name", ["case-1", "Ünïcode case", "a.b", "a@b", "x" * 200])
def test_a_name_that_can_be_a_file_s_is_taken(name: str) -> None:
    """Dots, spaces and letters of any language."""
    check_name(name, "case id")


@pytest.mark.parametrize(
    "name", ["", ".", "..", ".hidden", "a/b", "../a", "a\\b", "a\0b", "a\nb", "a@2", "x" * 201]
)
def test_a_name_that_cannot_be_a_file_s_is_refused(name: str) -> None:
    """No case id leads to another folder, and none is taken for a trial."""
    with pytest.raises(UsageError, match="cannot name a recording"):
        check_name(name, "case id")
