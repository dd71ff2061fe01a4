"""Rules out, fast, the texts that can name no token; what is left goes to the exact rules.

Never wrong in one direction: a text that `names_token`, `path_is_file` or `path_is_skill` takes for
a token's is never ruled out. Two engines do it: plain searches, and google-re2 where it is
installed (the extra `fast`) and there is much to search for; see docs/decisions/0012-prefilter.md.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from typing import Any, Literal, TypeAlias

from routing_action.corpus.naming import is_file_token, split_path

Engine: TypeAlias = Literal["auto", "standard", "re2"]

FOLD_TO_ASCII = "ßİıŉſǰẖẗẘẙẚẞ\u212aﬀﬁﬂﬃﬄﬅﬆ"
"""Every other letter that folding, Python's or that of regular expressions, takes for ASCII.

The escape is the Kelvin sign, which looks like a K.
"""

_OTHERS = f"{FOLD_TO_ASCII}\u0307"
"""The dot above too: an i with it is what a capital dotted I folds to, and `_fold` drops it."""
_SIGNS = "-_/.: "
"""Signs that names have, and that are the same in every case."""
_RE2_FOLDS = "ſ\u212a"
# What a needle must be of to stand in one JSON string: readers join strings by other signs.
_WORD = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*")
# An escape that may stand for a letter; the others stand for signs that no word has.
_ESCAPED_LETTER = re.compile(rb"\\u(?!00[01])")
_JOINED_NEEDLES = 6
"""From so many on one pass for the sign that all of them have is faster than one for each."""
_MANY_NEEDLES = 8
_WORTH_RE2 = 6_000
"""From so many needles, and needles times characters, on re2 wins: a call takes microseconds."""


class Prefilter:
    """Says of texts whether they may name one of some tokens: skills, files, activity words.

    `engine`: `auto` takes re2 where it is installed and wins; `re2` raises ImportError where it is
    not installed.
    """

    def __init__(self, tokens: Iterable[str], engine: Engine = "auto") -> None:
        self._needles = {token: needle_of(token) for token in tokens}
        self._encoded = {token: needle.encode() for token, needle in self._needles.items()}
        needles = _shortest(self._needles.values())
        self._ascii = all(map(str.isascii, needles))
        self._plain = needles
        self._mark = next((sign for sign in _SIGNS if all(sign in one for one in needles)), "")
        self._search: Callable[..., Any] | None = None
        wins = engine == "auto" and len(needles) >= _MANY_NEEDLES and has_re2()
        if self._ascii and (engine == "re2" or wins):
            self._search = _compile_re2(needles)
        self.knows_lines = self._ascii and all(map(_WORD.fullmatch, needles))
        joins = self._mark and len(needles) >= _JOINED_NEEDLES and self.knows_lines
        self._joint = _compile_joint(needles, self._mark) if joins else None
        self._re2_from = 0 if engine == "re2" else _WORTH_RE2 // max(1, len(needles))

    def may_name(self, text: str) -> bool:
        """False only where the text can name none of the tokens."""
        if self._mark not in text:
            return False
        if not self._ascii:
            folded = _fold(text)
            return any(needle in folded for needle in self._needles.values())
        if self._search is not None and len(text) >= self._re2_from:
            return self._search(_encode(text)) is not None
        if text.isascii():
            return any(map(text.lower().__contains__, self._plain))
        lowered = _encode(text).lower()
        return any(map(lowered.__contains__, self._encoded.values())) or _has_other_letters(text)

    def naming_lines(self, block: bytes, lines: Sequence[bytes]) -> set[int]:
        """The places of the JSON lines of which a decoded string may name one of the tokens.

        They are those of the block. To be asked only where `knows_lines` is True: where every
        needle is a plain word.
        """
        found: set[int] = set()
        if not block.isascii():
            found.update(place for place, line in enumerate(lines) if _has_other_bytes(line))
        for find in self._finders(block):
            place, seen, start = 0, 0, find(0)
            while start >= 0:
                place += block.count(b"\n", seen, start)
                found.add(place)
                seen = start
                end = block.find(b"\n", start)
                start = find(end) if end >= 0 else -1
        return found

    def _finders(self, block: bytes) -> Iterator[Callable[[int], int]]:
        """Searches of a block that go on from a place, and give -1 where they find nothing."""
        if b"\\" in block and b"\\u" in block:
            yield partial(_find, _ESCAPED_LETTER.search, block)
        if self._search is not None:
            yield partial(_find, self._search, block)
            return
        lowered = block.lower()
        if self._joint is not None:
            yield partial(_find, self._joint.search, lowered)
            return
        for needle in self._plain:
            yield partial(lowered.find, needle.encode())

    def among(self, text: str, tokens: Iterable[str]) -> list[str]:
        """Those of the tokens that the text may name, in their order."""
        if not self._ascii or _has_other_letters(text):
            folded, needles = _fold(text), self._needles
            return [token for token in tokens if needles[token] in folded]
        lowered, encoded = _encode(text).lower(), self._encoded
        return [token for token in tokens if encoded[token] in lowered]


@cache
def has_re2() -> bool:
    """True where google-re2 is installed."""
    try:
        importlib.import_module("re2")
    except ImportError:
        return False
    return True


def needle_of(token: str) -> str:
    """The longest part of a token, folded, that every text that names it holds in one piece."""
    if is_file_token(token):
        return _fold(max(split_path(token), key=len, default=""))
    return _fold(token.rpartition(":")[2] or token)


def _shortest(needles: Iterable[str]) -> tuple[str, ...]:
    """The needles that hold no other one; with an empty one, that alone."""
    kept: list[str] = []
    for needle in sorted(set(needles), key=lambda one: (len(one), one)):
        if not any(shorter in needle for shorter in kept):
            kept.append(needle)
    return tuple(kept)


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _has_other_letters(text: str) -> bool:
    return not text.isascii() and any(map(text.__contains__, _OTHERS))


def _has_other_bytes(line: bytes) -> bool:
    return not line.isascii() and _has_other_letters(line.decode("utf-8", "replace"))


def _find(search: Callable[[bytes, int], Any], block: bytes, start: int) -> int:
    match = search(block, start)
    return match.start() if match else -1


def _fold(text: str) -> str:
    """Folded; the dotted and the dotless i too, which are an i to a regular expression alone."""
    return text.casefold().replace("ı", "i").replace("i̇", "i")


def _compile_joint(needles: Iterable[str], mark: str) -> re.Pattern[bytes]:
    """Finds the sign that all needles have where one of them stands around it, in one pass.

    So most of a text is passed over by the search for a single sign.
    """
    around = (
        f"{re.escape(needle.partition(mark)[2])}(?<={re.escape(needle)})" for needle in needles
    )
    return re.compile(f"{re.escape(mark)}(?:{'|'.join(around)})".encode())


def _compile_re2(needles: Iterable[str]) -> Callable[..., Any]:
    re2: Any = importlib.import_module("re2")
    options = re2.Options()
    options.case_sensitive = False
    options.never_capture = True
    options.log_errors = False
    others = "".join(letter for letter in _OTHERS if letter not in _RE2_FOLDS)
    pattern = "|".join((*map(re2.escape, needles), f"[{others}]"))
    search: Callable[..., Any] = re2.compile(pattern, options).search
    return search
