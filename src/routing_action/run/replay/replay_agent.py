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
from typing import Any, NoReturn

NO_RECORDING = 127  # what a shell exits with where a program is missing

_BLOCK = 1 << 18
_HANG_SECONDS = 24 * 3600.0


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


def read_facts(stem: str) -> dict[str, Any]:
    """What the JSON beside a recording says, as `recordings.Script` describes it; {} without one.

    Raises OSError where nothing is recorded, ValueError where the JSON is damaged.
    """
    if os.path.lexists(f"{stem}.json"):
        with _open(f"{stem}.json") as file:
            return dict(json.load(file))
    if not os.path.lexists(f"{stem}.stdout") and not os.path.lexists(f"{stem}.stderr"):
        raise FileNotFoundError(f"there is no recording at {stem}.stdout")
    return {}


def replay(stem: str, facts: dict[str, Any], pace: float) -> None:
    """Print what was recorded, exactly and at the recorded moments; then stderr, then wait."""
    started = time.monotonic()
    steps = [(at * pace + started, until) for at, until in facts.get("timings", ())]
    _print(f"{stem}.stdout", 1, steps)
    _print(f"{stem}.stderr", 2, [])
    seconds = _HANG_SECONDS if facts.get("hang") else facts.get("duration_s", 0) * pace
    _wait_until(started + seconds)


def _print(path: str, descriptor: int, steps: list[tuple[float, int]]) -> None:
    """Print a file up to each step's byte when its moment comes, and the rest at once."""
    if not os.path.lexists(path):
        return
    with _open(path) as file:
        for moment, until in steps:
            _wait_until(moment)
            while block := file.read(max(0, min(_BLOCK, until - file.tell()))):
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
        facts = read_facts(stem)
        if "version" in options:
            _write(1, f"{facts.get('cli_version') or 'unknown'}\n".encode())
            end(0)
        replay(stem, facts, pace)
    except (OSError, ValueError) as error:
        _write(2, f"replay agent: {error}\n".encode("utf-8", "replace"))
        end(NO_RECORDING)
    end(facts.get("exit_code", 0))


if __name__ == "__main__":
    main(sys.argv[1:])
