"""The notes of rows that others look for."""

from __future__ import annotations

from collections.abc import Iterable

from routing_action.evidence.transcript import FELL_BACK, OF_A_DESCRIPTION

KEPT_WORKSPACE = "the workspace was kept: "
"""How a row's note begins that tells where `--keep-workspace` left its workspace."""

GATE_DECIDED = "not run: the gate is decided"
"""How the error of a row begins whose pair `--fail-fast` did not start."""

FINDS_NO_SKILL = "finds no skill"
"""Stands in the note of a row whose agent looks for skills where the repository has none."""


def was_not_needed(error: str | None) -> bool:
    """Whether a pair was not run since another one had decided the gate."""
    return bool(error) and str(error).startswith(GATE_DECIDED)


def notes_of_agents(notes: Iterable[str]) -> tuple[str, ...]:
    """What concerns an agent rather than a case, each note once.

    No skill was offered, its description is wrong, or another model answered.
    """
    marks = (FINDS_NO_SKILL, OF_A_DESCRIPTION, FELL_BACK)
    return tuple(dict.fromkeys(note for note in notes if any(mark in note for mark in marks)))
