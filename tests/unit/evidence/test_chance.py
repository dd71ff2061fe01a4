"""Tests of the arithmetic of trials."""

from __future__ import annotations

import pytest

from routing_action.evidence.chance import Record, wilson_interval


@pytest.mark.parametrize(
    ("record", "low", "high"),
    [
        (Record(), 0.0, 1.0),
        (Record(10, 10), 0.7225, 1.0),
        (Record(0, 10), 0.0, 0.2775),
        (Record(5, 10), 0.2366, 0.7634),
    ],
)
def test_a_rate_has_its_published_wilson_interval(record: Record, low: float, high: float) -> None:
    """The values stand in tables of the interval."""
    assert wilson_interval(record) == pytest.approx((low, high), abs=1e-4)


def test_records_add_up() -> None:
    """Two records of a pair are one."""
    assert Record(1, 2) + Record(3, 3) == Record(4, 5)
