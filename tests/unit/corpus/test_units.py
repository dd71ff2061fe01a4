"""Units come in case-then-provider order; shards cover the corpus and are balanced."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from routing_action.corpus.units import DEFAULT_DURATION_MS, build_shards, build_units
from tests.support.builders import case_of

CASES = [case_of(case_id=f"c{number}") for number in range(6)]


def test_units_stand_in_case_then_provider_order_with_trials_side_by_side() -> None:
    """Results are written in one order, whatever finishes first."""
    units = build_units(CASES[:2], ["claude", "codex"], trials=2)
    assert [unit.key for unit in units] == [
        "claude:c0",
        "claude:c0#2",
        "codex:c0",
        "codex:c0#2",
        "claude:c1",
        "claude:c1#2",
        "codex:c1",
        "codex:c1#2",
    ]
    assert [unit.index for unit in units] == list(range(8))
    assert [unit.trial for unit in units][:2] == [1, 2]


def test_a_single_shard_bears_the_providers_name() -> None:
    """A matrix without shards has one job a provider."""
    claude, codex = build_shards(CASES, ["claude", "codex"], 1, {})
    assert (claude.key, codex.key) == ("claude", "codex")
    assert claude.case_ids == tuple(case.case_id for case in CASES)
    assert claude.expected_ms == 6 * DEFAULT_DURATION_MS


def test_shards_are_named_by_their_place() -> None:
    """Each job's results can be told from the others'."""
    assert [shard.key for shard in build_shards(CASES, ["claude"], 2, {})] == [
        "claude-s1of2",
        "claude-s2of2",
    ]


def test_a_long_case_gets_a_shard_to_itself() -> None:
    """Recorded durations balance the jobs, so that the slowest one ends early."""
    slow = {("claude", "c3"): 10 * DEFAULT_DURATION_MS}
    first, second = build_shards(CASES, ["claude"], 2, slow)
    assert first.case_ids == ("c3",)
    assert second.case_ids == ("c0", "c1", "c2", "c4", "c5")


def test_there_are_never_more_shards_than_cases() -> None:
    """No job is started for nothing."""
    assert len(build_shards(CASES[:2], ["claude"], 5, {})) == 2
    assert build_shards([], ["claude"], 5, {}) == []
    assert len(build_shards(CASES, ["claude"], 0, {})) == 1


@given(
    durations=st.lists(st.integers(1, 600_000), min_size=1, max_size=30),
    shards=st.integers(1, 8),
)
def test_shards_cover_every_case_once_and_none_is_far_above_the_rest(
    durations: list[int], shards: int
) -> None:
    """Whatever the durations, together the shards are the corpus, in the file's order each."""
    cases = [case_of(case_id=f"c{number:02}") for number in range(len(durations))]
    known = {("claude", case.case_id): ms for case, ms in zip(cases, durations, strict=True)}
    planned = build_shards(cases, ["claude"], shards, known)

    ids = [name for shard in planned for name in shard.case_ids]
    assert sorted(ids) == [case.case_id for case in cases]
    assert all(list(shard.case_ids) == sorted(shard.case_ids) for shard in planned)
    assert sum(shard.expected_ms for shard in planned) == sum(durations)
    spread = max(shard.expected_ms for shard in planned) - min(s.expected_ms for s in planned)
    assert spread <= max(durations)
    assert planned == build_shards(cases, ["claude"], shards, known)
