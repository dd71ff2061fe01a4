"""Shorter forms of a comment are made only where they are asked for."""

from __future__ import annotations

import pytest

from routing_action.report.render_all import Forms


def test_only_what_is_asked_for_is_made_and_once() -> None:
    """The first form is there at once, so that a fault in it is seen early."""
    made: list[int] = []

    def draw(budget: int) -> str:
        made.append(budget)
        return "x" * budget

    forms = Forms(draw, (30, 20, 10))
    assert made == [30]
    assert (len(forms), forms[0]) == (3, "x" * 30)
    assert made == [30]
    assert [len(text) for text in forms] == [30, 20, 10]
    assert forms[1:] == ["x" * 20, "x" * 10]
    assert made == [30, 20, 10]
    with pytest.raises(IndexError):
        forms[3]
