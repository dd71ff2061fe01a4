"""Says which units of a batch may no longer start, and why; what is running is not touched."""

from __future__ import annotations

from routing_action.evidence.outcome import Outcome
from routing_action.results.model import UnitResult
from routing_action.run.budget import Budget

_USELESS = (Outcome.AUTH, Outcome.QUOTA)


class Brakes:
    """Stops an agent whose credentials or quota are gone, and all once the cost cap is reached."""

    def __init__(self, budget: Budget, *, live: bool = True) -> None:
        """A replay (not `live`) is never stopped: it needs no credentials and costs nothing."""
        self.budget = budget
        self._live = live
        self._stopped: dict[str, str] = {}

    def refusal(self, agent: str) -> str:
        """Why no further unit of an agent may start; "" while it may."""
        return self._stopped.get(agent, "") or self.budget.refusal

    def judge(self, row: UnitResult) -> None:
        """A unit ended: credentials and quota do not come back within a batch."""
        if row.outcome in _USELESS and self._live:
            reason = row.error or row.outcome.value
            cause = f"not run: {row.agent} was stopped after {row.outcome.value} ({reason})"
            self._stopped.setdefault(row.agent, cause)

    def carry(self, row: UnitResult) -> None:
        """A unit had ended in an earlier life of the batch."""
        self.budget.add(row.agent, row.cost_usd, row.ended_by)
        self.judge(row)
