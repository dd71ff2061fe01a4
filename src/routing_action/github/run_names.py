"""The name of a run that a command started: which command, and which commit of which pull request.

The workflow's `run-name` gives it; by it alone GitHub tells whose run it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from routing_action.github.replies import Place

_NAME = re.compile(
    r"command (?P<comment>\d{1,19})/(?P<line>\d{1,6})"
    r" for #(?P<number>\d{1,10}) at (?P<head>[0-9a-f]{40,64})"
)


@dataclass(frozen=True, slots=True)
class NamedRun:
    """What the name of a run says."""

    place: Place
    number: int
    head: str


def name_run(mark: str, number: int, head: str) -> str:
    """How the name of a command's run ends; `mark` is comment and line, as `500/1`."""
    return f"command {mark} for {name_change(number, head)}"


def name_change(number: int, head: str) -> str:
    """How the names of all runs by command at a head end."""
    return f"#{number} at {head}"


def parse_run_name(title: str) -> NamedRun | None:
    """What a name says; None where no command has started the run."""
    found = _NAME.fullmatch(title[title.rfind("command ") :]) if "command " in title else None
    if found is None:
        return None
    place = Place(int(found["comment"]), int(found["line"]))
    return NamedRun(place, int(found["number"]), found["head"])
