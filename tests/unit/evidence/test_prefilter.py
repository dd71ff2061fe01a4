"""What is ruled out could never have been a hit."""

from __future__ import annotations

import json
import re
import string
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routing_action.corpus.naming import names_token, path_is_file, path_is_skill
from routing_action.evidence import prefilter
from routing_action.evidence.evidence import EvidenceCollector, build_hit
from routing_action.evidence.prefilter import FOLD_TO_ASCII, Engine, Prefilter, has_re2, needle_of
from routing_action.evidence.transcript import EvidenceLine, LineKind
from tests.support.builders import mention_line, read_line
from tests.support.ways import ENGINES

each_engine = pytest.mark.parametrize("engine", ENGINES)
LETTERS = "aAkKsSiIßẞſ\u212aıİ\u0307ﬁéÉςΣ-_/\\.:x \n'\""


@pytest.mark.slow
def test_the_letters_that_fold_to_ascii_are_all_known() -> None:
    """Every letter that a regular expression, or folding, takes for an ASCII letter."""
    every = "".join(map(chr, range(128, sys.maxunicode + 1)))
    found = {one for one in every if any(ord(sign) < 128 for sign in one.casefold())}
    for letter in string.ascii_lowercase:
        found.update(re.findall(letter, every, re.IGNORECASE))
    assert "".join(sorted(found)) == FOLD_TO_ASCII


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


@each_engine
@settings(deadline=None)
@given(token=tokens, before=texts, after=texts, case=st.sampled_from([str, str.upper, str.lower]))
def test_no_text_that_names_a_token_is_ruled_out(
    engine: Engine, token: str, before: str, after: str, case: type
) -> None:
    """Whatever letters, separators and case it is written in."""
    text = before + case(token) + after
    for other in (text, text.replace("/", "\\"), text.replace("k", "\u212a").replace("i", "ı")):
        named = names_token(other, token) or path_is_file(other, token)
        if named or path_is_skill(other, token):
            found = Prefilter((token,), engine)
            assert found.may_name(other)
            assert found.among(other, (token,)) == [token]


@each_engine
def test_a_dotted_i_is_an_i(engine: Engine) -> None:
    """A capital dotted I is an i with a dot above in lower case, and rules nothing out."""
    for token, text in (("\u0130:", "i\u0307:"), ("x-i", "X-\u0130"), ("x-\u0130", "x-i\u0307")):
        found = Prefilter((token,), engine)
        assert found.may_name(text)
        assert found.among(text, (token,)) == [token]


@each_engine
def test_most_texts_are_ruled_out(engine: Engine) -> None:
    """Else it would be of no use."""
    found = Prefilter(("widget-test", "order-api/SKILL.md", "maße"), engine)
    plain = Prefilter(("widget-test", "order-api/SKILL.md"), engine)
    for text in ("", "I use a skill.", "widget test", "order_api", "ordner-api — ja"):
        assert not found.may_name(text)
        assert not plain.may_name(text)
        assert plain.among(text, ("widget-test", "order-api/SKILL.md")) == []
    assert plain.among("the ORDER-API", ("widget-test", "order-api/SKILL.md")) == [
        "order-api/SKILL.md"
    ]


def test_a_token_that_says_nothing_rules_nothing_out() -> None:
    """Every text may name it."""
    assert Prefilter(("./",)).may_name("anything")


def test_many_tokens_are_found_by_re2_where_it_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """And without it by plain searches: what is installed changes no answer."""
    names = [f"skill-{number}-x" for number in range(40)]
    long = "word " * 500 + "SKILL-31-X"
    assert Prefilter(names).may_name(long)
    assert not Prefilter(names).may_name(long[:-1])
    monkeypatch.setattr(prefilter, "has_re2", lambda: False)
    assert Prefilter(names).may_name(long)
    assert not Prefilter(names).may_name(long[:-1])


@pytest.mark.skipif(has_re2(), reason="it is installed")
def test_an_engine_that_is_missing_is_an_error() -> None:
    """Where it was asked for by name."""
    with pytest.raises(ImportError):
        Prefilter(("x",), "re2")


def test_a_missing_engine_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is optional."""
    monkeypatch.setitem(sys.modules, "re2", None)
    has_re2.cache_clear()
    assert not has_re2()
    monkeypatch.undo()
    has_re2.cache_clear()


# ---- lines that are not decoded

strings = st.lists(
    st.text(st.sampled_from('wWiıİdD-kK\u212asſ.é\n\t"\\ \x1b'), max_size=6).map(
        lambda text: text + "-k"
    ),
    min_size=1,
    max_size=4,
)


@each_engine
@settings(deadline=None)
@given(found=st.lists(strings, max_size=6), ascii_only=st.booleans(), escaped=st.booleans())
def test_no_line_that_names_a_token_is_left_out(
    engine: Engine, found: list[list[str]], ascii_only: bool, escaped: bool
) -> None:
    """Whatever letters it is written in, escaped or not."""
    one = Prefilter(("wid", "acme:i-k"), engine)
    assert one.knows_lines
    lines = [json.dumps(texts, ensure_ascii=ascii_only).encode() for texts in found]
    if escaped:
        lines = [line.replace(b"d", b"\\u0064").replace(b"I", b"\\u0049") for line in lines]
    naming = one.naming_lines(b"\n".join(lines), lines)
    for place, texts in enumerate(found):
        assert place in naming or not any(map(one.may_name, texts))


@each_engine
def test_most_lines_are_left_out(engine: Engine) -> None:
    """Else it would be of no use; each that names a token is found, however often it does."""
    lines = [
        b'"none"',
        b'"WIDGET-TEST widget-test"',
        b'"\xc3\xa9"',
        b'"\\u001b"',
        b'"\\u00e9"',
        b"",
    ]
    block = b"\n".join(lines)
    assert Prefilter(("widget-test",), engine).naming_lines(block, lines) == {1, 4}
    assert Prefilter(("none", "widget-test"), engine).naming_lines(block, lines) == {0, 1, 4}


names = st.text(st.sampled_from("ab-"), min_size=1, max_size=5).filter(lambda name: "-" in name)


@settings(deadline=None)
@given(
    found=st.lists(names, min_size=6, max_size=12),
    block=st.text(st.sampled_from("abAB- \n"), max_size=80).map(str.encode),
)
def test_many_names_with_one_sign_are_found_in_one_pass(found: list[str], block: bytes) -> None:
    """As they are one after the other, wherever they overlap."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prefilter, "_JOINED_NEEDLES", 1)
        joined = Prefilter(found, "standard")
    assert joined._joint is not None
    lines = block.split(b"\n")
    wanted = {
        place
        for place, line in enumerate(lines)
        if any(name.encode() in line.lower() for name in found)
    }
    assert joined.naming_lines(block, lines) == wanted


def test_few_names_are_searched_for_one_by_one() -> None:
    """And those that have no sign in common."""
    many = [f"order-api-{letter}" for letter in "abcdef"]
    assert Prefilter(many, "standard")._joint is not None
    assert Prefilter(many[:5], "standard")._joint is None
    assert Prefilter([*many, "plain"], "standard")._joint is None


@pytest.mark.parametrize(
    ("token", "known"),
    [
        ("widget-test", True),
        ("a_b.md", True),
        ("x/SKILL.md", True),
        ("mcp:", False),
        ("Grep ", False),
        ("straße", True),
        ("größe", False),
        ("./", False),
        (".git", False),
    ],
)
def test_only_words_are_told_from_bytes(token: str, known: bool) -> None:
    """Readers put other signs between strings that they join."""
    assert Prefilter((token,)).knows_lines == known


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
    every = EvidenceCollector("claude", names, ("read",))
    some = EvidenceCollector("claude", names, ("read",), prefilter=Prefilter((*names, "read")))
    every.extend(found)
    some.extend(found)
    assert some.hits == every.hits
    assert some.wrong_copies == every.wrong_copies
    assert (some.loads, some.attempts, some.activity) == (
        every.loads,
        every.attempts,
        every.activity,
    )
    assert set(some.any_hits) == set(every.any_hits)


def test_a_later_mention_is_not_judged_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A token that was mentioned is open for better lines alone."""
    judged: list[str] = []

    def note(agent: str, token: str, line: EvidenceLine) -> object:
        judged.append(line.text)
        return build_hit(agent, token, line)

    monkeypatch.setattr("routing_action.evidence.evidence.build_hit", note)
    collector = EvidenceCollector("claude", ("foo",), prefilter=Prefilter(("foo",)))
    for line in (mention_line("foo 1"), mention_line("foo 2"), read_line("a/foo/SKILL.md")):
        collector.add(line)
    assert judged == ["foo 1", "read a/foo/SKILL.md"]
