"""Measures and cuts text by terminal cells: a wide character takes two, a combining one none."""

from __future__ import annotations

from rich.cells import cell_len as cell_width

__all__ = ["cell_width", "pad", "shorten", "shorten_middle", "visible"]


def visible(text: str) -> str:
    """One line on which every sign is seen as it is; controls and bidi marks become spaces.

    Joiners and variation selectors go the same way: terminals disagree about their width.
    """
    return "".join(
        char if char.isprintable() and not "\ufe00" <= char <= "\ufe0f" else " " for char in text
    )


def pad(text: str, width: int) -> str:
    """The text with spaces after it up to a width in cells; a longer one stays as it is."""
    return text + " " * (width - cell_width(text))


def shorten(text: str, width: int, *, ellipsis: str = "…", tail_share: float = 0.0) -> str:
    """The text within a width in cells; a longer one loses its end.

    `tail_share` is how much of the room its last part keeps.
    """
    if cell_width(text) <= width:
        return text
    room = width - cell_width(ellipsis)
    if room <= 0:
        return _head(text, max(width, 0))
    tail = _head(text[::-1], int(room * tail_share))[::-1]
    return _head(text, room - cell_width(tail)) + ellipsis + tail


def shorten_middle(text: str, width: int, *, ellipsis: str = "…") -> str:
    """The text within a width in cells; a longer one loses its middle and keeps both ends.

    Names of one family differ at their end, and begin with what they are about.
    """
    return shorten(text, width, ellipsis=ellipsis, tail_share=0.5)


def _head(text: str, width: int) -> str:
    """As much of the beginning as takes at most so many cells."""
    taken = 0
    for place, char in enumerate(text):
        taken += cell_width(char)
        if taken > width:
            return text[:place]
    return text
