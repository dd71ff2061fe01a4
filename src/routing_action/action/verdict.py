"""Adds to a delta what the jobs of the workflow tell: a leg that was lost is never a pass."""

from __future__ import annotations

from collections.abc import Sequence

from routing_action.action.legs import Jobs
from routing_action.gate.model import Delta
from routing_action.gate.verdict import Conclusion

NOTHING_SELECTED = "nothing to measure: the plan selected no case"


def with_legs(delta: Delta, jobs: Jobs, reasons: Sequence[str]) -> Delta:
    """The delta with the legs' reasons in front; any of them makes it red.

    Where the plan had nothing to run, and nothing else is wrong, it is neutral.
    """
    if reasons:
        # What is wrong with the jobs explains the missing pairs, so it stands first.
        changed = {"conclusion": Conclusion.FAILURE, "reasons": (*reasons, *delta.reasons)}
        return delta.model_copy(update=changed)
    if jobs.nothing_to_run and not any(row.gates or row.got for row in delta.rows):
        changed = {"conclusion": Conclusion.NEUTRAL, "reasons": (NOTHING_SELECTED,)}
        return delta.model_copy(update=changed)
    return delta
