"""Shows a text before and after an edit: short, around each difference, with nothing invisible."""

from __future__ import annotations

import difflib
import re
import textwrap
import unicodedata
from collections.abc import Iterator

_WORDS = re.compile(r"\w+|\s+|[^\w\s]")
_PIECES = (re.compile(r"\s*\w+|\s*[^\w\s]|\s+"), re.compile(r"[^.\n]*[.\n]|[^.\n]+"))
"""What texts are compared by: words, and sentences where there are too many words."""
_SENTENCE_ENDS = re.compile(r"(?<=[.;!?])\s+")
_DIFF_WIDTH = 38
_AROUND = 24
_MOST_PIECES = 3000
_LEAST = 16
_PLAIN_SPACES = " \n\t"
# Scripts whose letters pass for Latin ones, and the letters that do.
_SCRIPTS = ("CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU")
_LOOKALIKES = frozenset("асеорхуіјѕһԁԛԝӏАВЕКМНОРСТХУІЈЅԌԚԜοινυραΑΒΕΖΗΙΚΜΝΟΡΤΥΧ")
# Letters that Unicode has no category for that would tell: they are blank.
_BLANK = frozenset("\u115f\u1160\u3164\uffa0\u034f\u17b4\u17b5\u2800")


def show_change(before: str, after: str, limit: int) -> tuple[str, str]:
    """Both texts, each in about `limit` characters, with every difference in them.

    What cannot be seen, or passes for another letter, stands as its code point: `<U+200B>`.
    """
    shown = _shorten(before, after, limit)
    marked = mark_signs(shown[0]), mark_signs(shown[1])
    if marked[0] == marked[1] and before != after:
        return ascii(shown[0])[1:-1], ascii(shown[1])[1:-1]
    return marked


def draw_diff(before: str, after: str, limit: int) -> str:
    """Both texts as a unified diff in short lines; see `compare_sentences`."""
    return "\n".join(
        f"{sign} {line}"
        for sign, sentence in compare_sentences(before, after, limit)
        for line in textwrap.wrap(sentence, _DIFF_WIDTH, break_on_hyphens=False) or [""]
    )


def compare_sentences(before: str, after: str, limit: int) -> Iterator[tuple[str, str]]:
    """The sentences of both texts, each with ` `, `-` or `+` as in a unified diff.

    Each text has about `limit` characters, and signs as `show_change` shows them.
    """
    old, new = (_split_sentences(text) for text in show_change(before, after, limit))
    for kind, start, end, to_start, to_end in difflib.SequenceMatcher(
        None, old, new, autojunk=False
    ).get_opcodes():
        yield from ((" " if kind == "equal" else "-", one) for one in old[start:end])
        yield from (("+", one) for one in new[to_start:to_end] if kind != "equal")


def _split_sentences(text: str) -> list[str]:
    return [part for line in text.splitlines() for part in _SENTENCE_ENDS.split(line) if part]


def mark_signs(text: str) -> str:
    """The text with what is invisible, or only looks like a Latin letter, as code points."""
    if text.isascii() and text.isprintable():
        return text
    passing = {
        script for script in _SCRIPTS
        if (own := [sign for sign in text if _script(sign) == script])
        and all(sign in _LOOKALIKES for sign in own)
    }  # fmt: skip
    return "".join(_mark_word(word, passing) for word in _WORDS.findall(text))


def _mark_word(word: str, passing: set[str]) -> str:
    mixed = any("a" <= sign <= "z" for sign in word.lower())
    return "".join(
        f"<U+{ord(sign):04X}>" if _is_hidden(sign) or _passes(sign, passing, mixed=mixed) else sign
        for sign in word
    )


def _is_hidden(sign: str) -> bool:
    if sign in _PLAIN_SPACES:
        return False
    is_variation = unicodedata.name(sign, "").startswith("VARIATION SELECTOR")
    return not sign.isprintable() or is_variation or sign in _BLANK


def _passes(sign: str, passing: set[str], *, mixed: bool) -> bool:
    script = _script(sign)
    if script in ("FULLWIDTH", "MATHEMATICAL"):
        return True
    return script in _SCRIPTS and (mixed or script in passing)


def _script(sign: str) -> str:
    """The script of a letter by the first word of its name; "" for Latin letters."""
    return "" if sign.isascii() else unicodedata.name(sign, "").partition(" ")[0]


def _shorten(before: str, after: str, limit: int) -> tuple[str, str]:
    if len(before) <= limit and len(after) <= limit:
        return before, after
    old, new = next(
        (
            (old, new)
            for old, new in ((one.findall(before), one.findall(after)) for one in _PIECES)
            if len(old) + len(new) <= _MOST_PIECES
        ),
        ([], []),
    )
    if not (old and new):
        return _keep_ends(before, limit), _keep_ends(after, limit)
    codes = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    groups = sum(code[0] != "equal" for code in codes)
    room = max(_LEAST, limit // max(1, groups) - 2 * _AROUND)
    parts: tuple[list[str], list[str]] = ([], [])
    for kind, start, end, to_start, to_end in codes:
        texts = "".join(old[start:end]), "".join(new[to_start:to_end])
        if kind == "equal":
            both = _keep_near(texts[0], has_left=start > 0, has_right=end < len(old))
            texts = both, both
        else:
            texts = _keep_ends(texts[0], room), _keep_ends(texts[1], room)
        for own, text in zip(parts, texts, strict=True):
            own.append(text)
    return "".join(parts[0]), "".join(parts[1])


def _keep_near(text: str, *, has_left: bool, has_right: bool) -> str:
    """Of a text that stays the same the words beside the differences on its two sides."""
    if len(text) <= 2 * _AROUND + 3:
        return text
    left = _begin(text, _AROUND) if has_left else ""
    return f"{left} … {_end(text, _AROUND)}" if has_right else f"{left} …"


def _keep_ends(text: str, limit: int) -> str:
    """The beginning and the end of a long text."""
    if len(text) <= limit:
        return text
    half = max(1, (limit - 3) // 2)
    return f"{_begin(text, half)} … {_end(text, half)}"


def _begin(text: str, length: int) -> str:
    """The first words; a single word that is longer is cut."""
    head = text[:length]
    words = head if text[length].isspace() else head.rpartition(" ")[0]
    return words if words.strip() else head


def _end(text: str, length: int) -> str:
    tail = text[-length:]
    words = tail if text[-length - 1].isspace() else tail.partition(" ")[2]
    return words if words.strip() else tail
