"""The model of provider-baseline.json: what is expected of each case on each provider."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

Pair = tuple[str, str]
"""A case id and a provider's name."""

ShortText = Annotated[str, StringConstraints(strip_whitespace=True, max_length=500)]


class Status(StrEnum):
    """The verdict's status."""

    PASS = "pass"  # noqa: S105 - a status, no password
    FAIL = "fail"
    INFRA_ERROR = "infra_error"


_DAY = r"^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$"
Day = Annotated[str, StringConstraints(pattern=_DAY)]


class MadeWith(BaseModel):
    """What an expectation was recorded with; every part may be missing."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    cli_version: ShortText | None = None
    model: ShortText | None = None
    corpus_sha256: ShortText | None = None
    recorded_on: Annotated[str, StringConstraints(pattern=r"^\d{4}-\d\d-\d\d$")] | None = None

    def differences(self, cli_version: str | None, model: str | None) -> tuple[str, ...]:
        """What a run had otherwise, in words; a part that either side lacks is not compared."""
        return tuple(
            f"{name} was {then}, is {now}"
            for name, then, now in (
                ("CLI version", self.cli_version, cli_version),
                ("model", self.model, model),
            )
            if then is not None and now is not None and then != now
        )


class Flaky(BaseModel):
    """A pair that is known to pass in a share of its runs only; nobody is excused after `until`."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    rate: Annotated[float, Field(ge=0.5, lt=1)]
    until: Day
    reason: Annotated[ShortText, Field(min_length=1)]


class BaselineEntry(BaseModel):
    """What is expected of one pair. `reason` says why it is not simply `pass`."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    expected_status: Status
    allow_timeout: bool = False
    reason: ShortText = ""
    made_with: MadeWith | None = None
    flaky: Flaky | None = None


Baseline = Mapping[str, Mapping[str, BaselineEntry]]
"""Entries by case id, then by provider."""


def iterate_pairs(baseline: Baseline) -> Iterator[tuple[Pair, BaselineEntry]]:
    """Every entry with its pair, in the file's order."""
    for case_id, entries in baseline.items():
        for agent, entry in entries.items():
            yield (case_id, agent), entry


def count_passing(baseline: Baseline) -> int:
    """The pairs that are expected to pass."""
    return sum(entry.expected_status is Status.PASS for _, entry in iterate_pairs(baseline))


def find_entry(baseline: Baseline, pair: Pair) -> BaselineEntry | None:
    """The entry of a pair, None where there is none."""
    entries = baseline.get(pair[0])
    return None if entries is None else entries.get(pair[1])
