"""What is ruled out could never have been a hit."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routing_action.corpus.naming import names_token, path_is_file, path_is_skill
from routing_action.evidence.evidence import EvidenceCollector, Hit, better, build_hit
from routing_action.evidence.prefilter import Prefilter, needle_of
from routing_action.evidence.transcript import EvidenceLine, LineKind
from tests.support.builders import mention_line, read_line

LETTERS = "aAkKsSiIßẞſ\u212aıİ\u0307ﬁéÉςΣ-_/\\.:x \n'\""
OTHERS = tuple(f"another{number}" for number in range(10))
"""So many names that those of a text are looked for among its words."""
each_count = pytest.mark.parametrize("others", [(), OTHERS], ids=["few", "many"])


@pytest.mark.parametrize(
    ("token", "needle"),
    [
        ("Widget-Test", "widget-test"),
        ("acme:widget-test", "widget-test"),
        ("widget-test/SKILL.md", "widget-test"),
        ("a\\references\\x.md", "references"),
        ("mcp:", "mcp:"),
        ("Bash(", "bash("),
        ("straße", "strasse"),
        ("./", ""),
    ],
)
def test_a_needle_is_the_longest_part_that_stays_whole(token: str, needle: str) -> None:
    """A path can be written with other separators, a skill without its plugin."""
    assert needle_of(token) == needle


tokens = st.text(st.sampled_from(LETTERS), min_size=1, max_size=8)
texts = st.text(st.sampled_from(LETTERS), max_size=40)


@each_count
@settings(deadline=None)
@given(token=tokens, before=texts, after=texts, case=st.sampled_from([str, str.upper, str.lower]))
def test_no_text_that_names_a_token_is_ruled_out(
    others: tuple[str, ...], token: str, before: str, after: str, case: type
) -> None:
    """Whatever letters, separators and case it is written in."""
    text = before + case(token) + after
    for other in (text, text.replace("/", "\\"), text.replace("k", "\u212a").replace("i", "ı")):
        named = names_token(other, token) or path_is_file(other, token)
        if named or path_is_skill(other, token):
            found = Prefilter((token, *others))
            assert found.may_name(other)
            assert found.among(other, (token,)) == [token]


@each_count
@settings(deadline=None)
@given(token=st.sampled_from(["Bash(", "mcp:", "Glob "]), before=texts, after=texts)
def test_no_text_that_holds_an_activity_word_is_ruled_out(
    others: tuple[str, ...], token: str, before: str, after: str
) -> None:
    """Such a word may follow on any letter."""
    assert Prefilter((token, *others)).may_name(before + token + after)


@each_count
def test_a_dotted_i_is_an_i(others: tuple[str, ...]) -> None:
    """A capital dotted I is an i with a dot above in lower case, and rules nothing out."""
    for token, text in (("\u0130:", "i\u0307:"), ("x-i", "X-\u0130"), ("x-\u0130", "x-i\u0307")):
        found = Prefilter((token, *others))
        assert found.may_name(text)
        assert found.among(text, (token,)) == [token]


@each_count
def test_most_texts_are_ruled_out(others: tuple[str, ...]) -> None:
    """Else it would be of no use."""
    found = Prefilter(("widget-test", "order-api/SKILL.md", "maße", *others))
    for text in ("", "I use a skill.", "widget test", "order_api", "ordner-api — ja"):
        assert not found.may_name(text)
    among = ("widget-test", "order-api/SKILL.md")
    assert found.among("the ORDER-API", among) == ["order-api/SKILL.md"]


def test_of_many_names_only_whole_words_are_found() -> None:
    """`widget-test` is part of a longer word; each word that is named is found."""
    found = Prefilter(("widget-test", *OTHERS))
    assert not found.may_name("my-widget-tests, widget-test-2 and Another11")
    for text in ("(WIDGET-TEST)", "acme:widget-test", "a\nanother9", "another0/SKILL.md"):
        assert found.may_name(text)


@each_count
def test_a_token_that_says_nothing_rules_nothing_out(others: tuple[str, ...]) -> None:
    """Every text may name it."""
    assert Prefilter(("./", *others)).may_name("anything")


# ---- lines that cannot be better than what there is


lines = st.builds(
    EvidenceLine,
    kind=st.sampled_from(LineKind),
    text=st.sampled_from(
        ["foo", "x", '"name":"Skill" foo', "Launching skill: foo", "read a/skills/foo/SKILL.md"]
    ),
    number=st.integers(1, 9),
    skill=st.sampled_from(["", "foo", "bar"]),
    path=st.sampled_from(["", "a/skills/foo/SKILL.md", "notes.md"]),
    partial=st.booleans(),
    wrong_copy=st.booleans(),
    detail=st.sampled_from(["", "tool", "command"]),
)


@settings(deadline=None)
@given(st.lists(lines, max_size=8))
def test_the_best_hit_is_kept_though_not_every_line_is_judged(found: list[EvidenceLine]) -> None:
    """Lines are passed over only where they could not have been better."""
    names = ("foo", "foo/SKILL.md", "notes.md")
    some = EvidenceCollector("claude", names, ("read",))
    some.extend(found)
    best: dict[str, Hit] = {}
    wrong: set[str] = set()
    for line, name in itertools.product(found, names):
        alone = EvidenceCollector("claude", (name,))
        alone.add(line)
        hit = better(best.get(name), alone.hits.get(name))
        best |= {name: hit} if hit else {}
        wrong |= alone.wrong_copies
    assert some.hits == best
    assert some.wrong_copies == wrong


def test_a_later_mention_is_not_judged_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A token that was mentioned is open for better lines alone."""
    judged: list[str] = []

    def note(agent: str, token: str, line: EvidenceLine) -> object:
        judged.append(line.text)
        return build_hit(agent, token, line)

    monkeypatch.setattr("routing_action.evidence.evidence.build_hit", note)
    collector = EvidenceCollector("claude", ("foo",))
    for line in (mention_line("foo 1"), mention_line("foo 2"), read_line("a/foo/SKILL.md")):
        collector.add(line)
    assert judged == ["foo 1", "read a/foo/SKILL.md"]
