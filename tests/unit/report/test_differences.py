"""What a reader sees of a text before and after an edit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing_action.report.differences import draw_diff, mark_signs, show_change

LONG = " ".join(f"word{number}" for number in range(400))


def test_short_texts_are_shown_whole() -> None:
    """Nothing is marked in plain text."""
    assert show_change("Bring it.", "Sing it.", 100) == ("Bring it.", "Sing it.")


def test_every_difference_of_long_texts_is_shown() -> None:
    """Each with what stands around it."""
    old = f"A first. {LONG} A second. {LONG} A third."
    new = f"No first. {LONG} No second. {LONG} No third."
    before, after = show_change(old, new, 300)
    assert [before.count(f"A {word}") for word in ("first", "second", "third")] == [1, 1, 1]
    assert [after.count(f"No {word}") for word in ("first", "second", "third")] == [1, 1, 1]
    assert max(len(before), len(after)) < 400


def test_texts_that_are_too_long_to_compare_keep_both_ends() -> None:
    """What is new at the end is still there."""
    before, after = show_change(LONG * 50, f"{LONG * 50} and the end", 100)
    assert before.startswith("word0")
    assert after.endswith("and the end")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u200bb", "a<U+200B>b"),
        ("a\u2066b", "a<U+2066>b"),
        ("a\ufe0fb", "a<U+FE0F>b"),
        ("p\u0430ypal", "p<U+0430>ypal"),
        ("\u0430 b", "<U+0430> b"),
        ("\uff41b", "<U+FF41>b"),
        ("\u03bf", "<U+03BF>"),
        ("Привет, мир", "Привет, мир"),
        ("日本語 und Übung", "日本語 und Übung"),
        ("two\nlines\tof it", "two\nlines\tof it"),
    ],
)
def test_what_cannot_be_seen_or_passes_for_latin_is_marked(text: str, shown: str) -> None:
    """Other languages stay readable."""
    assert mark_signs(text) == shown


def test_texts_that_look_the_same_are_told_apart() -> None:
    """An accent as a letter of its own, for example."""
    before, after = show_change("caf\u00e9", "cafe\u0301", 100)
    assert before != after


@given(st.text(max_size=400), st.text(max_size=400), st.integers(16, 60))
def test_a_difference_never_disappears(before: str, after: str, limit: int) -> None:
    """Whatever the texts are, two that differ do not look the same."""
    if before != after and max(len(before), len(after)) <= limit:
        one, other = show_change(before, after, limit)
        assert one != other


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        ("Use it. Not here.", "Use it. But here.", ["  Use it.", "- Not here.", "+ But here."]),
        ("", "New.", ["+ New."]),
        ("Gone.", "", ["- Gone."]),
        ("a: one\nb: two", "a: one\nb: six", ["  a: one", "- b: two", "+ b: six"]),
        ("same", "sa\u200bme", ["- same", "+ sa<U+200B>me"]),
        ("word " * 10, "", ["- word word word word word word word", "- word word word"]),
    ],
)
def test_a_diff_keeps_what_stays_and_has_short_lines(
    before: str, after: str, lines: list[str]
) -> None:
    """Sentence by sentence, and nothing invisible is lost."""
    assert draw_diff(before, after, 600).splitlines() == lines


def test_a_diff_of_long_texts_is_short_and_shows_the_difference() -> None:
    """As all that is shown of them."""
    text = "A sentence of some words. " * 80
    drawn = draw_diff(text, text.replace("some", "many", 1), 600)
    assert len(drawn) < 1500
    assert "many" in drawn


SKILL = (
    "Write customer-facing release notes from merged changes. Use it for each release, and when "
    "asked what is new for customers or what an announcement should say. "
)


@pytest.mark.parametrize("times", [1, 3, 12])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Not for changelogs of developers.", "Also for changelogs and version histories."),
        ("It never summarises commits, pull requests or tickets.", "It summarises commits."),
        ("Say release.", "Say release, changelog, release notes, CHANGELOG.md."),
    ],
)
def test_no_word_is_cut_and_no_line_holds_what_is_not_in_its_text(
    times: int, old: str, new: str
) -> None:
    """Each removed line comes from the text before, each added one from the text after."""
    before, after = (f"{SKILL * times}{text} {SKILL * times}" for text in (old, new))
    drawn = draw_diff(before, after, 300).splitlines()
    for sign, text in (("-", before), ("+", after)):
        lines = " ".join(line[2:] for line in drawn if line[0] in (sign, " "))
        words = set(text.split())
        assert [word for word in lines.split() if word not in {*words, "…"}] == []
    kept = " ".join(line[2:] for line in drawn if line[0] != "-").split()
    assert len(kept) <= len(after.split()) + kept.count("…")


def test_a_changed_part_that_is_too_long_keeps_its_ends_in_whole_words() -> None:
    """A single word that is longer than the room is cut all the same."""
    before, after = show_change("x", f"begin {LONG} end", 100)
    assert (before, after.split()[0], after.split()[-1]) == ("x", "begin", "end")
    assert {*after.split()} <= {*LONG.split(), "begin", "end", "…"}
    assert len(show_change("x", "y" * 500, 100)[1]) <= 101
