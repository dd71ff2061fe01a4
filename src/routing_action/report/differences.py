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
    """Both texts as a unified diff, sentence by sentence, in short lines.

    Each text has about `limit` characters, and signs as `show_change` shows them.
    """
    old, new = (_split_sentences(text) for text in show_change(before, after, limit))
    lines: list[str] = []
    for kind, start, end, to_start, to_end in difflib.SequenceMatcher(
        None, old, new, autojunk=False
    ).get_opcodes():
        if kind == "equal":
            lines += _wrap(old[start:end], " ")
        else:
            lines += (*_wrap(old[start:end], "-"), *_wrap(new[to_start:to_end], "+"))
    return "\n".join(lines)


def _split_sentences(text: str) -> list[str]:
    return [part for line in text.splitlines() for part in _SENTENCE_ENDS.split(line) if part]


def _wrap(sentences: list[str], sign: str) -> Iterator[str]:
    for sentence in sentences:
        for line in textwrap.wrap(sentence, _DIFF_WIDTH) or [""]:
            yield f"{sign} {line}"


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
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    groups = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    room = max(_LEAST, limit // max(1, len(groups)) - 2 * _AROUND)
    parts: tuple[list[str], list[str]] = ([], [])
    for _, start, end, to_start, to_end in groups:
        lead = "".join(old[max(0, start - 8) : start])[-_AROUND:]
        tail = "".join(old[end : end + 8])[:_AROUND]
        for own, middle in zip(parts, (old[start:end], new[to_start:to_end]), strict=True):
            own.append(f"{lead}{_keep_ends(''.join(middle), room)}{tail}")
    return " … ".join(parts[0]), " … ".join(parts[1])


def _keep_ends(text: str, limit: int) -> str:
    """The beginning and the end of a long text."""
    if len(text) <= limit:
        return text
    half = max(1, (limit - 3) // 2)
    return f"{text[:half]} … {text[-half:]}"
