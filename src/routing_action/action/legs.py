"""What became of the legs of a matrix: from the jobs' results and what was uploaded, to errors.

GitHub gives one result for all legs of a matrix job (`needs.<job>.result`), so a leg is known by
its results or its marker, and by the plan that made the matrix.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, ValidationError

from routing_action.errors import UsageError

NOTHING_TO_RUN = "nothing-to-run"

_SHOWN = 20
_HOW = {
    "failure": "failed",
    "cancelled": "was cancelled",
    "skipped": "was skipped, which is no pass",
}


class _Need(BaseModel):
    """An entry of the `needs` context (GitHub's "Contexts reference", needs context)."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    result: str
    outputs: dict[str, str] | None = None


class _Entry(BaseModel):
    """What is needed of an entry of a plan's matrix."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    key: str
    agent: str


class _Matrix(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    include: tuple[_Entry, ...]


@dataclass(frozen=True, slots=True)
class Jobs:
    """The jobs before this one: how each ended, the legs that a plan asked for, and its status."""

    results: Mapping[str, str]
    legs: Mapping[str, str]
    nothing_to_run: bool

    @property
    def agents(self) -> tuple[str, ...]:
        """The agents of the plan, each once, in its order; empty without a plan."""
        return tuple(dict.fromkeys(self.legs.values()))


def parse_jobs(text: str) -> Jobs:
    """The `needs` context as JSON; empty text means that nothing is known of the jobs.

    An output called `matrix` that a plan wrote tells the legs, `status` whether it had any.
    """
    if not text.strip():
        return Jobs({}, {}, False)
    try:
        value = json.loads(text)
        needs = {name: _Need.model_validate(found) for name, found in value.items()}
    except (ValueError, AttributeError, RecursionError):
        raise UsageError(
            "input needs: not the JSON of a needs context",
            remedy="write `needs: ${{ toJSON(needs) }}`",
        ) from None
    legs: dict[str, str] = {}
    for need in needs.values():
        legs.update(_legs_of((need.outputs or {}).get("matrix", "")))
    return Jobs(
        results={name: need.result for name, need in needs.items()},
        legs=legs,
        nothing_to_run=any(
            (need.outputs or {}).get("status") == NOTHING_TO_RUN for need in needs.values()
        ),
    )


def _legs_of(text: str) -> dict[str, str]:
    """The agent of each key in a plan's matrix; empty for an output of another kind."""
    try:
        matrix = _Matrix.model_validate_json(text)
    except ValidationError:
        return {}
    return {entry.key: entry.agent for entry in matrix.include}


def judge_legs(jobs: Jobs, measured: Iterable[str], unmeasured: Iterable[str]) -> tuple[str, ...]:
    """One sentence for each job that did not succeed, and one for legs that left nothing.

    `measured` are the keys with results, `unmeasured` the agents with a marker. Empty means that
    every leg is accounted for. A leg whose job was skipped because the plan had nothing to run is.
    """
    lost = _lost(jobs.legs, frozenset(measured), frozenset(unmeasured))
    reasons = list(_job_reasons(jobs))
    if lost:
        more = f" and {len(lost) - _SHOWN} more" if len(lost) > _SHOWN else ""
        reasons.append(f"no results of {', '.join(lost[:_SHOWN])}{more}")
    return tuple(reasons)


def _lost(legs: Mapping[str, str], measured: frozenset[str], marked: frozenset[str]) -> list[str]:
    return [key for key, agent in legs.items() if key not in measured and agent not in marked]


def _job_reasons(jobs: Jobs) -> Iterator[str]:
    for name, result in jobs.results.items():
        if result == "success" or (result == "skipped" and jobs.nothing_to_run):
            continue
        yield f"job {name} {_HOW.get(result, f'ended with {result}')}"
