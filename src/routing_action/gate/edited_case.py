"""An edited case is also held to what it asked for before, as long as it asks the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from routing_action.corpus.baseline import Status


@dataclass(frozen=True, slots=True)
class EditedCase:
    """The names of the fields that a change edits, and whether the prompt is the same.

    `earlier` is the verdict of each agent's transcripts by the case as it was, with what was
    missing; an agent whose transcripts could not be judged so has none.
    """

    fields: tuple[str, ...]
    same_prompt: bool
    earlier: Mapping[str, tuple[Status, tuple[str, ...]]] = field(default_factory=dict)

    def judge(self, agent: str, expected: Status, why: str) -> tuple[bool, str]:
        """Whether the pair is red, and why; `expected` is what the base's baseline says."""
        why = f"the case was edited ({', '.join(self.fields)}); as edited: {why}"
        if not self.same_prompt:
            return False, f"{why}; with another prompt it cannot be judged as it was"
        is_held = expected is Status.PASS
        if agent not in self.earlier:
            why = f"{why}; it could not be judged as it was, since its transcript is cut or missing"
            return is_held, f"{why}: run it again" if is_held else why
        status, missing = self.earlier[agent]
        lacks = f" (missing {', '.join(missing)})" if missing else ""
        why = f"{why}; as it was before this change: {status}{lacks}"
        return is_held and status is not Status.PASS, why
