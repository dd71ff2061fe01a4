"""Rules out, fast, the texts that can name no token; what is left goes to the exact rules.

Never wrong in one direction: a text that `names_token`, `path_is_file` or `path_is_skill` takes for
a token's is never ruled out. The same for every agent; it looks at decoded text alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from routing_action.corpus.naming import fold, is_file_token, split_path

_SIGNS = "-_/.: "
"""Signs that names have, and that are the same in every case."""
_FEW = 8
"""So many names are looked for one after the other; more of them among the words of a text."""
_WORD = re.compile(r"[\w-]+")
_WORDS_ALONE = bytes(
    ord(chr(code).lower()) if _WORD.fullmatch(chr(code)) and code < 128 else ord(" ")
    for code in range(256)
)
"""Lower case of what names are of, and a blank for each sign that ends one."""


class Prefilter:
    """Says of texts whether they may name one of some tokens: skills, files, activity words."""

    def __init__(self, tokens: Iterable[str]) -> None:
        self._needles = {token: needle_of(token) for token in tokens}
        self._all = self._loose = _shortest(self._needles.values())
        self._sign = next((sign for sign in _SIGNS if all(sign in one for one in self._all)), "")
        self._words: set[str] = set()
        if len(self._all) > _FEW:
            words = {token: _longest_word(token, one) for token, one in self._needles.items()}
            self._words = set(filter(None, words.values()))
            self._loose = _shortest(one for token, one in self._needles.items() if not words[token])

    def may_name(self, text: str) -> bool:
        """False only where the text can name none of the tokens."""
        if self._sign not in text:
            return False
        if not text.isascii():
            return any(map(_fold(text).__contains__, self._all))
        if self._words:
            words = text.encode().translate(_WORDS_ALONE).decode().split()
            if not self._words.isdisjoint(words):
                return True
        return any(map(text.lower().__contains__, self._loose))

    def among(self, text: str, tokens: Iterable[str]) -> list[str]:
        """Those of the tokens that the text may name, in their order."""
        folded, needles = _fold(text), self._needles
        return [token for token in tokens if needles[token] in folded]


def needle_of(token: str) -> str:
    """The longest part of a token, folded, that every text that names it holds in one piece."""
    if is_file_token(token):
        return _fold(max(split_path(token), key=len, default=""))
    return _fold(token.rpartition(":")[2] or token)


def _longest_word(token: str, needle: str) -> str:
    """A word that stands alone in every text that names a token; "" where none need be."""
    if not token[-1:].isalnum():  # an activity word such as `Bash(` may follow on a letter
        return ""
    return max(_WORD.findall(needle), key=len, default="")


def _shortest(needles: Iterable[str]) -> tuple[str, ...]:
    """The needles that hold no other one; with an empty one, that alone."""
    kept: list[str] = []
    for needle in sorted(set(needles), key=lambda one: (len(one), one)):
        if not any(shorter in needle for shorter in kept):
            kept.append(needle)
    return tuple(kept)


def _fold(text: str) -> str:
    """Folded; the dotted and the dotless i too, which are an i to a regular expression alone."""
    return fold(text).replace("ı", "i").replace("i̇", "i")
