"""An agent CLI that replays a recorded run: its bytes, its pace, its exit code or its signal.

A program of its own that imports little, and nothing but the standard library; `recordings.py`
builds its command line. It runs no prompt, reaches no network.

    replay_agent.py --recording STEM [--speed X] [--any-other-option VALUE] PROMPT

STEM names `STEM.stdout`, `STEM.stderr` and `STEM.json`, each of which may be missing, not all.
"""

from __future__ import annotations

import io
import json
import os
import resource
import signal
import sys
import time
from typing import NamedTuple, NoReturn

NO_RECORDING = 127  # what a shell exits with where a program is missing
_BLOCK = 1 << 18
_HANG_SECONDS = 24 * 3600.0
_MOST_SECONDS = 1e6
_MOST_BYTES = 1 << 40
_STOPS = {signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU}
_INTEGER, _NUMBER, _TEXT, _FLAG = (int,), (int, float), (str,), (bool,)
_FIELDS = {
    "exit_code": _INTEGER,
    "duration_s": _NUMBER,
    "cli_version": _TEXT,
    "model": _TEXT,
    "timings": (list,),
    "hang": _FLAG,
    "timeout_s": _NUMBER,
    "note": _TEXT,
}


class MalformedError(ValueError):
    """A recording's JSON that is not what it must be; `field` names the part, `line` the place."""

    def __init__(self, cause: str, *, field: str = "", line: int | None = None) -> None:
        super().__init__(f"{field}: {cause}" if field else cause)
        self.cause = cause
        self.field = field
        self.line = line


class Script(NamedTuple):
    """What to replay. `timings` are (seconds since the start, bytes of stdout until then in all).

    A negative `exit_code` is the signal that ended the run. With `hang` it never ends;
    `timeout_s` is the wall deadline that the harness then gives it, 0 for its own.
    """

    exit_code: int = 0
    duration_s: float = 0.0
    cli_version: str = ""
    model: str = ""
    timings: tuple[tuple[float, int], ...] = ()
    hang: bool = False
    timeout_s: float = 0.0


def parse_script(data: bytes) -> Script:
    """The script that a recording's JSON holds; raises MalformedError."""
    try:
        fields = json.loads(data)
    except json.JSONDecodeError as error:
        raise MalformedError(f"is not valid JSON: {error.msg}", line=error.lineno) from error
    except (ValueError, RecursionError) as error:
        raise MalformedError(f"is not valid JSON: {error}") from error
    if not isinstance(fields, dict):
        raise MalformedError("must be a JSON object")
    for name, value in fields.items():
        _check_field(name, value)
    timings = tuple((float(step[0]), int(step[1])) for step in fields.pop("timings", ()))
    fields.pop("note", None)
    return Script(timings=timings, **fields)


def _check_field(name: str, value: object) -> None:
    allowed = _FIELDS.get(name)
    if allowed is None:
        raise MalformedError(f"is no field; known are {', '.join(_FIELDS)}", field=name)
    if type(value) not in allowed:
        names = " or ".join(kind.__name__ for kind in allowed)
        raise MalformedError(f"must be {names}", field=name)
    if name == "exit_code" and not _is_exit_code(value):
        raise MalformedError("must be 0 to 255, or minus the number of a signal", field=name)
    if name == "duration_s" and not _is_seconds(value):
        raise MalformedError("must be seconds, 0 or more", field=name)
    if name == "timings" and not _are_timings(value):
        raise MalformedError(
            "must be pairs of seconds since the start and bytes until then, never falling",
            field=name,
        )


def _is_exit_code(value: object) -> bool:
    ends = signal.valid_signals() - _STOPS
    return isinstance(value, int) and (0 <= value <= 255 or -value in ends)


def _is_seconds(value: object) -> bool:
    return isinstance(value, int | float) and type(value) in _NUMBER and 0 <= value <= _MOST_SECONDS


def _are_timings(value: object) -> bool:
    latest: list[float] = [0, 0]
    for step in value if isinstance(value, list) else ():
        if not isinstance(step, list) or len(step) != 2 or not _is_seconds(step[0]):
            return False
        if type(step[1]) is not int or not latest[1] <= step[1] <= _MOST_BYTES:
            return False
        if step[0] < latest[0]:
            return False
        latest = step
    return True


def parse_options(arguments: list[str]) -> dict[str, str]:
    """The options by name, the first of each; a prompt that looks like one changes nothing.

    Options that are not known are taken too, as an agent CLI is given some.
    """
    options: dict[str, str] = {}
    waiting = list(reversed(arguments))
    while waiting:
        name, equals, value = waiting.pop().partition("=")
        if name.startswith("--"):
            if not equals and waiting and not waiting[-1].startswith("--"):
                value = waiting.pop()
            options.setdefault(name[2:], value)
    return options


def parse_pace(speed: str) -> float:
    """How many seconds pass for a recorded one: 1/speed, and none for `0` and `inf`."""
    factor = float(speed)
    if not factor >= 0:
        raise ValueError(f"--speed {speed} must be 0 or more")
    return 1 / factor if factor else 0.0


def read_script(stem: str) -> Script:
    """The script beside a recording, an empty one where there is no JSON.

    Raises OSError where nothing is recorded, MalformedError where the JSON is.
    """
    if os.path.lexists(f"{stem}.json"):
        with _open(f"{stem}.json") as file:
            return parse_script(file.read())
    if not os.path.lexists(f"{stem}.stdout") and not os.path.lexists(f"{stem}.stderr"):
        raise FileNotFoundError(f"there is no recording at {stem}.stdout")
    return Script()


def replay(stem: str, script: Script, pace: float) -> None:
    """Print what was recorded, exactly and at the recorded moments; then stderr, then wait."""
    started = time.monotonic()
    _print(f"{stem}.stdout", 1, [(at * pace + started, until) for at, until in script.timings])
    _print(f"{stem}.stderr", 2, [])
    _wait_until(started + (_HANG_SECONDS if script.hang else script.duration_s * pace))


def _print(path: str, descriptor: int, steps: list[tuple[float, int]]) -> None:
    """Print a file up to each step's byte when its moment comes, and the rest at once."""
    if not os.path.lexists(path):
        return
    with _open(path) as file:
        for moment, until in steps:
            _wait_until(moment)
            while block := file.read(min(_BLOCK, until - file.tell())):
                _write(descriptor, block)
        while block := file.read(_BLOCK):
            _write(descriptor, block)


def _open(path: str) -> io.BufferedReader:
    return open(path, "rb")  # noqa: PTH123 - `pathlib` costs start-up time


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _wait_until(moment: float) -> None:
    while (left := moment - time.monotonic()) > 0:
        time.sleep(left)


def end(exit_code: int) -> NoReturn:
    """End as the recorded run did; a signal ends this process too, and leaves no core file."""
    if exit_code < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if -exit_code != signal.SIGKILL:
            signal.signal(-exit_code, signal.SIG_DFL)
        os.kill(os.getpid(), -exit_code)
    os._exit(exit_code if exit_code >= 0 else 128 - exit_code)


def main(arguments: list[str]) -> NoReturn:
    """Replay the recording that the arguments name, and end as it did."""
    for number in (signal.SIGPIPE, signal.SIGINT):  # as a program that is no Python
        signal.signal(number, signal.SIG_DFL)
    options = parse_options(arguments)
    stem = options.get("recording", "")
    try:
        pace = parse_pace(options.get("speed", "inf"))
        script = read_script(stem)
        if "version" in options:
            _write(1, f"{script.cli_version or 'unknown'}\n".encode())
            end(0)
        replay(stem, script, pace)
    except (OSError, ValueError) as error:
        _write(2, f"replay agent: {error}\n".encode("utf-8", "replace"))
        end(NO_RECORDING)
    end(script.exit_code)


if __name__ == "__main__":
    main(sys.argv[1:])
