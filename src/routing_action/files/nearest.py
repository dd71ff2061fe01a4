"""The known name that a misspelt one is most like, for every message that offers one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_LONGEST = 200
"""Characters that are compared: a name from a hostile file may be of any length."""


def find_nearest(name: object, known: Iterable[str]) -> str:
    """The known name most like another, upper and lower case alike; "" where none is like it."""
    spelled = {one.casefold(): one for one in known}
    close = difflib.get_close_matches(str(name)[:_LONGEST].casefold(), spelled, n=1)
    return spelled[close[0]] if close else ""


def suggest(name: object, known: Iterable[str], otherwise: str = "") -> str:
    """`did you mean NAME?`, or what is to be said where no known name is like it."""
    nearest = find_nearest(name, known)
    return f"did you mean {nearest}?" if nearest else otherwise
