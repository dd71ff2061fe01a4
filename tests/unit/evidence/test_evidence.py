"""The best hit of each token: lower tier, then score, then CLI output, then the first seen."""

from __future__ import annotations

from dataclasses import replace

import pytest

from routing_action.evidence.evidence import (
    PROOF_LIMIT,
    EvidenceCollector,
    Hit,
    as_log_line,
    better,
    build_hit,
    explain_hit,
)
from routing_action.evidence.transcript import LineKind, SourceKind
from tests.support.builders import (
    attempt_line,
    hits_of,
    line_of,
    load_line,
    mention_line,
    read_line,
)

TOKEN = "widget-testing"
HIT = Hit(
    tier=2,
    score=60,
    kind=LineKind.READ,
    source=SourceKind.CLI_OUTPUT,
    detail="",
    proof_line="",
    number=1,
    text_tier=2,
)
LOGGED = replace(HIT, source=SourceKind.LOG_FALLBACK)


@pytest.mark.parametrize(
    ("winner", "loser"),
    [
        (replace(HIT, tier=1, score=10), replace(HIT, tier=2, score=1000)),
        (replace(HIT, score=100), replace(HIT, score=60)),
        (replace(LOGGED, tier=1), replace(HIT, tier=2)),
        (replace(LOGGED, score=61), HIT),
        (HIT, LOGGED),
    ],
    ids=["tier before score", "score", "tier before source", "score before source", "CLI output"],
)
def test_the_stronger_hit_stays_whichever_comes_first(winner: Hit, loser: Hit) -> None:
    """The proof that a report shows is the strongest, in any order of the transcript."""
    assert better(winner, loser) is winner
    assert better(loser, winner) is winner


def test_of_two_equal_hits_the_first_seen_stays() -> None:
    """The proof points at the first place that shows it."""
    later = replace(HIT, number=9)
    assert better(HIT, later) is HIT
    assert better(later, HIT) is later


def test_a_hit_is_better_than_none() -> None:
    """A token without any hit has none."""
    assert better(None, HIT) is HIT
    assert better(HIT, None) is HIT
    assert better(None, None) is None


def test_a_load_after_a_mention_and_a_failed_call_is_the_proof() -> None:
    """A skill that loads at the second try counts as loaded, with that line as its proof."""
    lines = [
        mention_line("widget-testing may help", number=1),
        attempt_line(number=2),
        load_line(number=3, quote="the source line"),
        load_line(number=4),
    ]
    hit = hits_of("claude", lines, TOKEN)[TOKEN]
    assert (hit.tier, hit.number, hit.proof_line) == (1, 3, "the source line")
    assert hit.detail == "load at stdout line 3"


def test_a_proof_line_is_cut_to_a_bounded_length() -> None:
    """A line of megabytes does not make the proof log one of megabytes."""
    hit = build_hit("claude", TOKEN, load_line(quote="x" * (PROOF_LIMIT + 1)))
    assert hit is not None
    assert len(hit.proof_line) == PROOF_LIMIT


def test_the_proof_of_a_long_line_is_the_part_that_names_the_token() -> None:
    """A reader sees why it is a hit, not the first thousand characters of a record."""
    long = "ß" * 3 * PROOF_LIMIT  # longer once its case is folded
    quoted = build_hit("claude", TOKEN, load_line(quote=f"{long} {TOKEN} {long}"))
    said = build_hit("claude", TOKEN, replace(mention_line(f"{long} {TOKEN} {long}"), quote="{"))
    for hit in (quoted, said):
        assert hit is not None
        assert TOKEN in hit.proof_line
        assert len(hit.proof_line) == PROOF_LIMIT


def test_a_session_log_is_worth_tier_2_at_best() -> None:
    """A load that only a log shows is no direct proof, and the log is named."""
    hit = build_hit("claude", TOKEN, as_log_line(load_line(number=7), "projects/s.jsonl"))
    assert hit is not None
    assert (hit.tier, hit.source) == (2, SourceKind.LOG_FALLBACK)
    assert hit.detail == "load at projects/s.jsonl line 7"


def test_merging_keeps_the_strongest_hit_of_each_token() -> None:
    """Evidence of the output and of the logs is one: each token's best."""
    first = EvidenceCollector("claude", (TOKEN, "order-api"), ("tool_use", "Grep"))
    first.extend([attempt_line(TOKEN), load_line("order-api"), mention_line("tool_use")])
    second = EvidenceCollector("claude", (TOKEN, "order-api"), ("tool_use", "Grep"))
    second.extend([load_line(TOKEN), attempt_line("order-api"), attempt_line("new")])
    second.add(mention_line("tool_use Grep", number=9))
    second.add(read_line("/home/skills/order-api/SKILL.md", wrong_copy=True))

    first.merge(second)

    assert {token: hit.tier for token, hit in first.hits.items()} == {TOKEN: 1, "order-api": 1}
    assert first.loads == ["order-api", TOKEN]
    assert first.attempts == [TOKEN, "order-api", "new"]
    assert first.wrong_copies == {"order-api"}
    assert {token: line.number for token, line in first.any_hits.items()} == {
        "tool_use": 1,
        "Grep": 9,
    }


def test_merging_nothing_changes_nothing() -> None:
    """An empty log leaves the evidence of the output as it was."""
    first = EvidenceCollector("claude", (TOKEN,))
    first.add(load_line())
    first.merge(EvidenceCollector("claude", (TOKEN,)))
    assert first.loads == [TOKEN]
    assert first.hits[TOKEN].tier == 1
    assert first.activity


def test_what_was_loaded_beside_the_tokens_is_a_hit_of_its_own() -> None:
    """Of the first few; a token under its qualified name is none of them."""
    collector = EvidenceCollector("claude", (TOKEN,))
    collector.add(load_line(f"acme:{TOKEN}"))
    names = [f"other-{number}" for number in range(10)]
    collector.extend(load_line(name) for name in names)
    beside = collector.loads_beside((TOKEN,))
    assert list(beside) == names[:7]
    assert {hit.tier for hit in beside.values()} == {1}
    assert collector.loads == [f"acme:{TOKEN}", *names]


def test_loads_are_listed_once_and_in_order() -> None:
    """A report tells which skills fired, in which order, however often each did."""
    collector = EvidenceCollector("claude", ())
    collector.extend(load_line(name) for name in ("meta", TOKEN, "meta"))
    collector.extend([attempt_line("no"), attempt_line("no"), line_of(LineKind.LOAD, "nameless")])
    assert collector.loads == ["meta", TOKEN]
    assert collector.attempts == ["no"]


@pytest.mark.parametrize(
    ("kind", "active"),
    [
        (LineKind.LOAD, True),
        (LineKind.ATTEMPT, True),
        (LineKind.READ, True),
        (LineKind.TOOL_CALL, True),
        (LineKind.TOOL_RESULT, False),
        (LineKind.MENTION, False),
    ],
)
def test_any_tool_or_skill_event_is_activity(kind: LineKind, active: bool) -> None:
    """Whether the agent did anything at all is told by its calls, not by its words."""
    collector = EvidenceCollector("claude", ())
    collector.add(line_of(kind, "text"))
    assert collector.activity is active


def test_an_activity_token_is_found_in_text_whole_or_with_its_sign() -> None:
    """Tokens such as `Bash(` and `mcp:` end in a sign, the others stand for themselves."""
    collector = EvidenceCollector("claude", (), ("Bash(", "mcp:", "tool_use", "read_file"))
    collector.add(mention_line("I ran bash(ls) through MCP:files and my_tool_use"))
    assert set(collector.any_hits) == {"Bash(", "mcp:"}


def test_a_load_in_a_sub_agent_can_be_worth_an_attempt() -> None:
    """Where sub-agents do not count, what they loaded was not loaded by the agent."""
    nested = load_line(subagent=True)
    counted, uncounted = (
        EvidenceCollector("claude", (TOKEN,), count_subagents=counts) for counts in (True, False)
    )
    counted.extend([nested])
    uncounted.extend([nested])
    assert (counted.hits[TOKEN].tier, uncounted.hits[TOKEN].tier) == (1, 2)
    assert uncounted.loads == []


def test_what_a_sub_agent_alone_loaded_is_told_apart() -> None:
    """In the order of use; a skill that the agent loads itself, before or after, is its own."""
    first, second = (EvidenceCollector("claude", ()) for _ in range(2))
    nested = [load_line(name, subagent=True) for name in ("one", "two", "three")]
    first.extend([load_line("two"), *nested])
    assert (first.loads, first.subagent_loads) == (["two", "one", "three"], ("one", "three"))
    second.add(load_line("three"))
    first.merge(second)
    assert first.subagent_loads == ("one",)


def test_the_best_hit_of_several_names_is_the_tokens() -> None:
    """An alias proves what its canonical name asks for."""
    collector = EvidenceCollector("claude", ("wt", TOKEN))
    collector.extend([mention_line(TOKEN), load_line("wt")])
    best = collector.best_of((TOKEN, "wt"))
    assert best is not None
    assert best.tier == 1
    assert collector.best_of(("unknown",)) is None


def test_a_read_outside_the_staged_folder_is_remembered_as_a_wrong_copy() -> None:
    """A stale copy in the user's home is told apart from no read at all."""
    collector = EvidenceCollector("codex", (TOKEN,))
    collector.add(read_line("/home/u/.agents/skills/widget-testing/SKILL.md", wrong_copy=True))
    assert collector.wrong_copies == {TOKEN}
    assert collector.hits[TOKEN].tier == 3


@pytest.mark.parametrize(
    ("hit", "needed", "told"),
    [
        (None, 1, "no line of the transcript names it as its target; needed: a native load"),
        (None, 3, "no line of the transcript names it as its target"),
        (HIT, 2, "tier 2 (score 60): a successful read of a file"),
        (HIT, 1, "needed: a native load with a successful result (tier 1)"),
        (replace(HIT, tier=3), 2, "needed: a load, or a successful read of the file itself"),
        (replace(HIT, wrong_copy=True), 2, "outside the folder that the skills were staged in"),
        (replace(HIT, partial=True), 2, "did not show the file's first lines"),
        (LOGGED, 2, "found in a session log alone"),
    ],
)
def test_a_hit_is_explained_with_what_was_needed(hit: Hit | None, needed: int, told: str) -> None:
    """A user reads why a hit has its tier, and what would have been enough."""
    assert told in explain_hit(hit, needed)


def test_a_hit_that_is_good_enough_asks_for_nothing_more() -> None:
    """Where the requirement is met, the explanation names no need."""
    assert "needed" not in explain_hit(HIT, 2)
