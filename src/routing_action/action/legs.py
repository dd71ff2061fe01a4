"""What became of the legs of a matrix: from the jobs' results and what was uploaded, to errors.

GitHub gives one result for all legs of a matrix job (`needs.<job>.result`), so a leg is known by
its results or its marker, and by the plan that made the matrix.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from routing_action.errors import UsageError
from routing_action.gate.conclusion import Conclusion
from routing_action.gate.model import Delta

NOTHING_TO_RUN = "nothing-to-run"
NOTHING_SELECTED = "nothing to measure: the plan selected no case"

_SHOWN = 20
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


class _Matrix(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    include: tuple[_Leg, ...]


_NEEDS = TypeAdapter(dict[str, _Need])


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

    An output called `matrix` that a plan wrote holds the legs, `status` whether it had any.
    """
    try:
        needs = _NEEDS.validate_json(text) if text.strip() else {}
    except ValidationError:
        raise UsageError(
            "input needs: not the JSON of a needs context",
            remedy="write `needs: ${{ toJSON(needs) }}`",
        ) from None
    legs: dict[str, str] = {}
    for need in needs.values():
        legs |= _legs_of(need.output("matrix"))
    return Jobs(
        results={name: need.result for name, need in needs.items()},
        legs=legs,
        nothing_to_run=any(need.output("status") == NOTHING_TO_RUN for need in needs.values()),
    )


def _legs_of(text: str) -> dict[str, str]:
    """The agent of each key in a plan's matrix; empty for an output of another kind."""
    try:
        matrix = _Matrix.model_validate_json(text)
    except ValidationError:
        return {}
    return {leg.key: leg.agent for leg in matrix.include}


def judge_legs(jobs: Jobs, measured: Iterable[str], unmeasured: Iterable[str]) -> tuple[str, ...]:
    """One sentence for each job that did not succeed, and one for legs that left nothing.

    `measured` are the keys with results, `unmeasured` the agents with a marker. Empty means that
    every leg is accounted for. A leg whose job was skipped because the plan had nothing to run is.
    """
    known, marked = frozenset(measured), frozenset(unmeasured)
    lost = [key for key, agent in jobs.legs.items() if key not in known and agent not in marked]
    reasons = [
        f"job {name} {_HOW.get(result, f'ended with {result}')}"
        for name, result in jobs.results.items()
        if result != "success" and not (result == "skipped" and jobs.nothing_to_run)
    ]
    if lost:
        more = f" and {len(lost) - _SHOWN} more" if len(lost) > _SHOWN else ""
        reasons.append(f"no results of {', '.join(lost[:_SHOWN])}{more}")
    return tuple(reasons)


def with_legs(delta: Delta, jobs: Jobs, reasons: Sequence[str]) -> Delta:
    """The delta with the legs' reasons in front; any of them makes it red.

    Where the plan had nothing to run, and nothing else is wrong, it is neutral.
    """
    if reasons:
        # What is wrong with the jobs explains the missing pairs, so it stands first.
        changed = {
            "conclusion": Conclusion.FAILURE,
            "reasons": (*reasons, *delta.reasons),
            "errors": (*reasons, *delta.errors),
        }
        return delta.model_copy(update=changed)
    if jobs.nothing_to_run and not any(row.gates or row.got for row in delta.rows):
        changed = {"conclusion": Conclusion.NEUTRAL, "reasons": (NOTHING_SELECTED,)}
        return delta.model_copy(update=changed)
    return delta
