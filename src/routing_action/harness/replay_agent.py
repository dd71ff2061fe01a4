"""An agent CLI that replays a recorded run: its bytes, its pace, its exit code or its signal.

A program of its own that imports the standard library alone, so that it starts as fast as Python
can; `replay.py` builds its command line. It runs no prompt and reaches no network.

    replay_agent.py --recording STEM [--speed X] [--any-other-option VALUE] PROMPT

STEM names `STEM.stdout`, `STEM.stderr` and `STEM.json`, each of which may be missing (not all).
"""

import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from typing import NamedTuple, NoReturn

NO_RECORDING = 127  # what a shell exits with where the program is missing
_BLOCK = 1 << 18
_HANG_SECONDS = 3600.0


class Script(NamedTuple):
    """What to replay, and how. `steps` are (seconds since the start, bytes of stdout) in order."""

    stem: str
    pace: float
    exit_code: int = 0
    duration_seconds: float = 0.0
    version: str = ""
    steps: tuple[tuple[float, int], ...] = ()
    hang: bool = False


def parse_arguments(arguments: list[str]) -> dict[str, str]:
    """The options by name; the last argument is the prompt, whatever it looks like.

    Options that are not known are taken with their value, as an agent CLI is given some.
    """
    options: dict[str, str] = {}
    waiting = list(reversed(arguments))
    while waiting:
        word = waiting.pop()
        name, equals, value = word.partition("=")
        if not name.startswith("--"):
            continue
        if equals:
            options[name[2:]] = value
        else:
            options[name[2:]] = waiting.pop() if waiting else ""
    return options


def parse_pace(speed: str) -> float:
    """How many seconds pass for a recorded one: 1/speed, and 0 for `0` and `inf`."""
    factor = float(speed)
    if factor < 0 or factor != factor:
        raise ValueError(f"--speed {speed} is no speed")
    return 1 / factor if factor else 0.0


def read_script(stem: str, pace: float) -> Script:
    """The recording; raises OSError where it is missing and ValueError where it is malformed."""
    ...


def main() -> NoReturn: ...
