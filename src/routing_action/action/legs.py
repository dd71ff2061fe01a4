"""What became of the legs of a matrix: from the jobs' results and what was uploaded, to errors.

GitHub gives one result for all legs of a matrix job (`needs.<job>.result`), so a leg is known by
its results or its marker, and by the plan that made the matrix.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from routing_action.errors import UsageError
from routing_action.gate.conclusion import Conclusion
from routing_action.gate.deltas import reject
from routing_action.gate.model import Delta
from routing_action.gate.wording import name_few

NOTHING_TO_RUN = "nothing-to-run"
NOTHING_SELECTED = "nothing to measure: the plan selected no case"

_HOW = {
    "failure": "failed",
    "cancelled": "was cancelled",
    "skipped": "was skipped, and a skipped job does not pass",
}


class _Need(BaseModel):
    """An entry of the `needs` context (GitHub's "Contexts reference", needs context)."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    result: str
    outputs: dict[str, str] | None = None

    def output(self, name: str) -> str:
        """An output of the job; empty where it has none of the name."""
        return (self.outputs or {}).get(name, "")


class _Leg(BaseModel):
    """What is needed of an entry of a plan's matrix."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    key: str
    agent: str
    case_ids: str = ""
    changed_from: str = ""


class _Matrix(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    include: tuple[_Leg, ...]


@dataclass(frozen=True, slots=True)
class Digest:
    """The SHA-256 of the results.json that a leg wrote in an attempt of the run."""

    key: str
    attempt: int
    sha256: str


_DIGEST = re.compile(r"(?P<key>.+)-a(?P<attempt>[1-9]\d{0,5}):(?P<sha256>[0-9a-f]{64})")
_NEEDS = TypeAdapter(dict[str, _Need])


@dataclass(frozen=True, slots=True)
class Jobs:
    """The jobs before this one: how each ended, the legs that a plan asked for, and its status.

    `legs` has the agent of each key, `case_ids` its cases where the plan names them, `digests`
    what the legs' jobs pass on of their results. `by_change`: it asked for what a change can move,
    and left out the rest. `errors` says why jobs failed that pass a reason on.
    """

    results: Mapping[str, str]
    legs: Mapping[str, str]
    nothing_to_run: bool
    case_ids: Mapping[str, frozenset[str]] = field(default_factory=dict)
    digests: tuple[Digest, ...] = ()
    by_change: bool = False
    errors: tuple[str, ...] = ()

    @property
    def planned(self) -> frozenset[tuple[str, str]]:
        """Every pair of the plan, as far as it names the cases."""
        return frozenset(
            (case_id, self.legs[key]) for key, cases in self.case_ids.items() for case_id in cases
        )

    @property
    def agents(self) -> tuple[str, ...]:
        """The agents of the plan, each once, in its order; empty without a plan."""
        return tuple(dict.fromkeys(self.legs.values()))


def parse_jobs(text: str) -> Jobs:
    """The `needs` context as JSON; empty text means that nothing is known of the jobs.

    An output called `matrix` that a plan wrote holds the legs, `status` whether it had any, `error`
    why it failed. Each output whose name begins with `digest` may be that of a leg.
    """
    try:
        needs = _NEEDS.validate_json(text) if text.strip() else {}
    except ValidationError:
        raise UsageError(
            "input needs: not the JSON of a needs context",
            remedy="write `needs: ${{ toJSON(needs) }}`",
        ) from None
    legs = [leg for need in needs.values() for leg in _legs_of(need.output("matrix"))]
    return Jobs(
        results={name: need.result for name, need in needs.items()},
        legs={leg.key: leg.agent for leg in legs},
        nothing_to_run=any(need.output("status") == NOTHING_TO_RUN for need in needs.values()),
        case_ids={leg.key: frozenset(leg.case_ids.split(",")) for leg in legs if leg.case_ids},
        digests=tuple(one for need in needs.values() for one in _digests_of(need.outputs or {})),
        by_change=bool(legs) and all(leg.changed_from for leg in legs),
        errors=tuple(
            f"job {name} failed: {need.output('error')}"
            for name, need in needs.items()
            if need.result == "failure" and need.output("error")
        ),
    )


def _legs_of(text: str) -> tuple[_Leg, ...]:
    """The legs of a plan's matrix; none for an output of another kind."""
    try:
        return _Matrix.model_validate_json(text).include
    except ValidationError:
        return ()


def _digests_of(outputs: Mapping[str, str]) -> Iterator[Digest]:
    """A leg that wrote none, and an output of another kind, are passed over."""
    for name, value in outputs.items():
        match = _DIGEST.fullmatch(value.strip()) if name.startswith("digest") else None
        if match:
            yield Digest(match["key"], int(match["attempt"]), match["sha256"])


def judge_legs(jobs: Jobs, measured: Iterable[str], accounted: Collection[str]) -> tuple[str, ...]:
    """One sentence for each job that did not succeed, and one for legs that left nothing.

    `measured` are the keys with results, `accounted` the agents with a marker, or that may break.
    Empty means that every leg is accounted for. A leg whose job was skipped because the plan had
    nothing to run is.
    """
    known = frozenset(measured)
    lost = [key for key, agent in jobs.legs.items() if key not in known and agent not in accounted]
    reasons = [
        f"job {name} {_HOW.get(result, f'ended with {result}')}"
        for name, result in jobs.results.items()
        if result != "success" and not (result == "skipped" and jobs.nothing_to_run)
    ]
    if lost:
        reasons.append(f"no results of {name_few(lost, 20)}")
    return tuple(reasons)


def with_legs(delta: Delta, jobs: Jobs, reasons: Sequence[str]) -> Delta:
    """The delta with the legs' reasons in front; any of them makes it red.

    Where the plan had nothing to run, and nothing else is wrong, it is neutral.
    """
    if reasons:
        return reject(delta, reasons)
    if jobs.nothing_to_run and not any(row.gates or row.got for row in delta.rows):
        changed = {"conclusion": Conclusion.NEUTRAL, "reasons": (NOTHING_SELECTED,)}
        return delta.model_copy(update=changed)
    return delta
