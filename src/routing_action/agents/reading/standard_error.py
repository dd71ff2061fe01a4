"""Finds on standard error why a run failed, by a provider's anchored patterns; never evidence."""

from __future__ import annotations

import re
from dataclasses import dataclass

from routing_action.agents.reading.failures import classify_failure
from routing_action.evidence.transcript import ApiFailure

_ANSI = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")


@dataclass(frozen=True, slots=True)
class StderrRule:
    """An anchored pattern on a standard-error line, and the failure it stands for."""

    pattern: re.Pattern[str]
    failure: ApiFailure | None = None


def find_failure(line: bytes, rules: tuple[StderrRule, ...]) -> tuple[ApiFailure, str] | None:
    """The failure that a line tells of, and the line, cut; None where no pattern finds one."""
    text = clean_text(line)
    for rule in rules:
        if rule.pattern.search(text):
            return rule.failure or classify_failure(text[:2000]), text[:500]
    return None


def clean_text(line: bytes) -> str:
    """A line of text without BOM, carriage return, NUL and colours."""
    text = line.decode("utf-8", "replace").removeprefix("\ufeff").replace("\x00", "")
    return _ANSI.sub("", text).rstrip("\r")
