"""Rules out, fast, the texts that can name no token; what is left goes to the exact rules.

Never wrong in one direction: a text that `names_token`, `path_is_file` or `path_is_skill` takes for
a token's is never ruled out. Two engines do it: plain searches, and google-re2 where it is installed
(the extra `fast`) and there is much to search for. Why: docs/decisions/0012-prefilter.md.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, TypeAlias

from routing_action.domain.naming import is_file_token, split_path

Prefilter: TypeAlias = Callable[[str], bool]
"""False only where the text can name no token."""

FOLD_TO_ASCII = "ßİıŉſǰẖẗẘẙẚẞKﬀﬁﬂﬃﬄﬅﬆ"
"""Every other letter that case folding, Python's or the regular expressions', takes for ASCII."""

_RE2_KNOWS = "ſK"
_FOLDS_TO_ASCII = re.compile(f"[{FOLD_TO_ASCII}]")
_WORTH_RE2 = 2_000
"""Characters to search times needles from which re2 wins: a call of it costs microseconds."""


def make_prefilter(tokens: Iterable[str], *, engine: str = "auto") -> Prefilter:
    """A prefilter for tokens: skills, files and activity words.

    `engine`: `auto` (re2 where it is installed and wins), `standard`, or `re2` (an ImportError
    where it is not installed).
    """
    needles = _needles(tokens)
    if needles is None:
        return lambda _text: True
    plain = _search_plainly(needles)
    if engine == "standard" or (engine == "auto" and not has_re2()):
        return plain
    if not all(map(str.isascii, needles)):
        return plain
    search = _compile_re2(needles)
    if engine == "re2":
        return search
    shortest = _WORTH_RE2 // max(len(needles), 1)
    return lambda text: search(text) if len(text) > shortest else plain(text)


@cache
def has_re2() -> bool:
    """True where google-re2 is installed."""
    try:
        importlib.import_module("re2")
    except ImportError:
        return False
    return True


def _needles(tokens: Iterable[str]) -> tuple[str, ...] | None:
    """What a text must hold, folded, to name any of the tokens; None where that rules out nothing.

    A needle that holds another one says nothing more.
    """
    found = {_needle(token).casefold() for token in tokens}
    if "" in found:
        return None
    kept: list[str] = []
    for needle in sorted(found, key=lambda one: (len(one), one)):
        if not any(shorter in needle for shorter in kept):
            kept.append(needle)
    return tuple(kept)


def _needle(token: str) -> str:
    """The longest part of a token that every text that names it holds in one piece."""
    if is_file_token(token):
        return max(split_path(token), key=len, default="")
    return token.rpartition(":")[2] or token


def _search_plainly(needles: tuple[str, ...]) -> Prefilter:
    if not all(map(str.isascii, needles)):
        return lambda text: _folded_holds(text, needles)
    encoded = tuple(needle.encode() for needle in needles)

    def may_name(text: str) -> bool:
        lowered = text.encode("utf-8", "replace").lower()
        for needle in encoded:
            if needle in lowered:
                return True
        return not text.isascii() and _FOLDS_TO_ASCII.search(text) is not None

    return may_name


def _folded_holds(text: str, needles: tuple[str, ...]) -> bool:
    """The dotted and the dotless i are an i to a regular expression, though not when folded."""
    folded = text.casefold()
    return "ı" in folded or "i̇" in folded or any(needle in folded for needle in needles)


def _compile_re2(needles: tuple[str, ...]) -> Prefilter:
    re2: Any = importlib.import_module("re2")
    options = re2.Options()
    options.case_sensitive = False
    options.never_capture = True
    options.log_errors = False
    others = "".join(letter for letter in FOLD_TO_ASCII if letter not in _RE2_KNOWS)
    pattern = "|".join((*map(re2.escape, needles), f"[{others}]"))
    search = re2.compile(pattern, options).search
    return lambda text: search(text.encode("utf-8", "replace")) is not None
