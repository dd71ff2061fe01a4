"""How near two texts are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing_action.corpus.similarity import Similarity

TEXTS = ("Deploy a service to production.", "Write release notes.", "Review a change.")


def test_a_text_is_nearest_to_itself() -> None:
    """The same words in another form are near, others are not."""
    likeness = Similarity(TEXTS)
    same, form = (likeness.measure(TEXTS[0], one) for one in (TEXTS[0], "deploying services"))
    assert same == pytest.approx(1.0)
    assert 0.2 < form < same
    assert likeness.measure(TEXTS[0], "xyz qqq") == 0.0


def test_a_rare_word_weighs_more_than_a_common_one() -> None:
    """What stands in every text tells nothing."""
    likeness = Similarity([f"service {name}" for name in ("alpha", "beta", "gamma", "delta")])
    rare = likeness.measure("service alpha", "alpha")
    assert rare > likeness.measure("service alpha", "service")


@given(st.text(), st.text())
def test_any_two_texts_have_a_similarity(one: str, other: str) -> None:
    """From 0 to 1, the same both ways."""
    likeness = Similarity([one, other, "word"])
    found = likeness.measure(one, other)
    assert -1e-9 <= found <= 1 + 1e-9
    assert found == pytest.approx(likeness.measure(other, one))
