"""What a recording says besides its output is checked, and the agent's options are read."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing_action.errors import UsageError
from routing_action.run.replay.recordings import check_name
from routing_action.run.replay.replay_agent import (
    MalformedError,
    parse_options,
    parse_pace,
    parse_script,
)


def test_a_full_script_is_read() -> None:
    """All fields that a recorder writes."""
    script = parse_script(
        b'{"exit_code": -9, "duration_s": 2, "cli_version": "1.2", "model": "m", "hang": true,'
        b'"timings": [[0, 5], [0.5, 5], [1.5, 9]], "note": "by hand"}'
    )
    assert (script.exit_code, script.duration_s, script.hang) == (-9, 2.0, True)
    assert (script.cli_version, script.model) == ("1.2", "m")
    assert script.timings == ((0.0, 5), (0.5, 5), (1.5, 9))


def test_an_empty_script_exits_well_and_does_not_wait() -> None:
    """Every field may be missing."""
    script = parse_script(b"{}")
    assert (script.exit_code, script.duration_s, script.timings, script.hang) == (0, 0, (), False)


@pytest.mark.parametrize(
    ("data", "field"),
    [
        (b"", ""),
        (b"[]", ""),
        (b"\xff", ""),
        (b"[" * 100_000, ""),
        (b'{"exitcode": 1}', "exitcode"),
        (b'{"exit_code": true}', "exit_code"),
        (b'{"exit_code": "1"}', "exit_code"),
        (b'{"exit_code": 256}', "exit_code"),
        (b'{"exit_code": -999}', "exit_code"),
        (b'{"exit_code": -19}', "exit_code"),
        (b'{"duration_s": -1}', "duration_s"),
        (b'{"duration_s": NaN}', "duration_s"),
        (b'{"duration_s": 1e400}', "duration_s"),
        (b'{"duration_s": 1%s}' % (b"0" * 400), "duration_s"),
        (b'{"hang": 1}', "hang"),
        (b'{"model": null}', "model"),
        (b'{"timings": {}}', "timings"),
        (b'{"timings": [1]}', "timings"),
        (b'{"timings": [[1]]}', "timings"),
        (b'{"timings": [["0", 1]]}', "timings"),
        (b'{"timings": [[0, 1.5]]}', "timings"),
        (b'{"timings": [[0, -1]]}', "timings"),
        (b'{"timings": [[0, 5], [1, 4]]}', "timings"),
        (b'{"timings": [[2, 1], [1, 2]]}', "timings"),
    ],
)
def test_a_malformed_script_names_its_field(data: bytes, field: str) -> None:
    """A typing error in a recording must not replay something else."""
    with pytest.raises(MalformedError) as caught:
        parse_script(data)
    assert caught.value.field == field
    assert caught.value.cause


def test_a_malformed_script_names_its_line() -> None:
    """Where the JSON breaks."""
    with pytest.raises(MalformedError) as caught:
        parse_script(b'{\n"exit_code": 0,\n}')
    assert caught.value.line == 3


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists))
def test_no_value_of_a_field_breaks_the_check(value: object) -> None:
    """Whatever stands there, it is taken or refused, and nothing else is raised."""
    for field in ("exit_code", "duration_s", "timings", "hang", "model"):
        with suppress(MalformedError):
            parse_script(json.dumps({field: value}).encode())


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
