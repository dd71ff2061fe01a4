"""A run looks for garbage less often, and leaves the collector as it was."""

from __future__ import annotations

import gc

import pytest

from routing_action.cli.garbage import loading, rare_collections


def test_the_collector_is_as_before_afterwards() -> None:
    """Also where the run ends by an error."""
    before, frozen = gc.get_threshold(), gc.get_freeze_count()
    with pytest.raises(ValueError, match="stop"), rare_collections():  # noqa: PT012
        assert gc.get_threshold()[0] > before[0]
        assert gc.get_freeze_count() > frozen
        raise ValueError("stop")
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0


def test_what_is_loaded_is_not_looked_through_later() -> None:
    """The collector is on again afterwards, and has nothing to look through."""
    try:
        with loading():
            assert not gc.isenabled()
            loaded = [[place] for place in range(5000)]
        assert gc.isenabled()
        assert gc.get_freeze_count() > len(loaded)
        assert not any(one is loaded for one in gc.get_objects())
    finally:
        gc.unfreeze()
