"""What a batch has cost as far as agents tell, and whether it may go on."""

from __future__ import annotations

from routing_action.evidence.transcript import EndedBy

_NEVER_STARTED = (EndedBy.START_FAILED, EndedBy.NOT_STARTED)


class Budget:
    """Adds up what is known in US dollars; what an agent does not tell counts as nothing."""

    def __init__(self, cap_usd: float | None = None) -> None:
        """Start at zero; without a cap the batch may always go on."""
        self._cap = cap_usd
        self._told = 0
        self._untold: dict[str, int] = {}
        self.known_usd = 0.0

    def add(self, agent: str, cost_usd: float | None, ended_by: EndedBy) -> None:
        """A unit ended, or an attempt of it."""
        if cost_usd is not None:
            self._told += 1
            self.known_usd += cost_usd
        elif ended_by not in _NEVER_STARTED:
            self._untold[agent] = self._untold.get(agent, 0) + 1

    @property
    def refusal(self) -> str:
        """Why no further unit may start; "" while it may."""
        if self._cap is None or self.known_usd < self._cap:
            return ""
        return (
            f"not run: the batch has cost {self.known_usd:.4f} USD, "
            f"its cap is {self._cap:g} USD (--max-cost-usd)"
        )

    def describe(self) -> str:
        """One line for people: what is known, and whose cost is not."""
        runs = "1 run" if self._told == 1 else f"{self._told} runs"
        line = f"cost known: {self.known_usd:.4f} USD of {runs}"
        if not self._untold:
            return line
        rest = ", ".join(f"{agent} {count}" for agent, count in sorted(self._untold.items()))
        return f"{line}; not told and not counted: {rest}"
