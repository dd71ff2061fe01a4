"""Keeps a report within a budget of bytes: says less in steps, and never cuts through markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

_FEW_PROOFS = 3
_FEW_DETAILS = 5
_LEAST_BYTES = {"rows": 40, "evidence": 150, "matrix": 15}
_LONG, _SHORT, _SHORTEST = 400, 120, 60


@dataclass(frozen=True, slots=True)
class Space:
    """How much of each part is shown: counts from the front, which holds the red rows.

    `rows` of the table, `evidence` of red rows in full, `proofs` among those with proof lines,
    `matrix` cases (all or none), and `width`, the longest text from outside in characters.
    """

    rows: int
    evidence: int
    proofs: int
    matrix: int
    width: int = _LONG


def count_bytes(text: str) -> int:
    """The length in UTF-8, which is what GitHub's limits count."""
    return len(text.encode("utf-8", "replace"))


def cut_bytes(text: str, limit: int) -> str:
    """At most `limit` bytes of UTF-8 and no half character; an ellipsis ends what was cut."""
    data = text.encode("utf-8", "replace")
    if len(data) <= limit:
        return data.decode("utf-8")
    return data[: max(limit - 3, 0)].decode("utf-8", "ignore") + "…"


def fit(draw: Callable[[Space], str], everything: Space, budget: int) -> str | None:
    """The fullest drawing that has at most `budget` bytes; None where not even the least has.

    The steps: shorter texts, proof lines of fewer rows, no matrix, evidence of fewer rows, fewer
    rows. `draw` must give less for less space.
    """
    drawn = _Drawn(draw, budget)
    rungs = list(_climb_down(_possible(everything, budget)))
    low, high = 0, len(rungs)  # the first rung whose least fits; most often it is the very first
    middle = 0
    while low < high:
        if drawn.fits(rungs[middle](0)):
            high = middle
        else:
            low = middle + 1
        middle = (low + high) // 2
    if low == len(rungs):
        return None
    rung = rungs[low]
    return drawn.text(rung(_SCALE if drawn.fits(rung(_SCALE)) else _search(drawn, rung)))


class _Drawn:
    """Drawings by their space, each made once."""

    def __init__(self, draw: Callable[[Space], str], budget: int) -> None:
        self.budget = budget
        self._draw = draw
        self._texts: dict[Space, str] = {}
        self._sizes: dict[Space, int] = {}

    def text(self, space: Space) -> str:
        if space not in self._texts:
            self._texts[space] = self._draw(space)
        return self._texts[space]

    def size(self, space: Space) -> int:
        if space not in self._sizes:
            self._sizes[space] = count_bytes(self.text(space))
            if self._sizes[space] > self.budget:
                self._texts[space] = ""  # it is not asked for again
        return self._sizes[space]

    def fits(self, space: Space) -> bool:
        return self.size(space) <= self.budget


_SCALE = 1024
"""The fineness of a search: a rung is a way from nothing to all of one count in so many parts."""

_Rung = Callable[[int], Space]


def _possible(everything: Space, budget: int) -> Space:
    """No more than could ever fit, so that huge deltas are not drawn in vain."""
    matrix = everything.matrix
    return replace(
        everything,
        rows=min(everything.rows, budget // _LEAST_BYTES["rows"]),
        evidence=min(everything.evidence, budget // _LEAST_BYTES["evidence"]),
        proofs=min(everything.proofs, budget // _LEAST_BYTES["evidence"]),
        matrix=matrix if matrix <= budget // _LEAST_BYTES["matrix"] else 0,
    )


def _climb_down(full: Space) -> Iterator[_Rung]:
    short = replace(full, width=_SHORT)
    bare = replace(short, matrix=0)
    proofs, details = min(full.proofs, _FEW_PROOFS), min(full.evidence, _FEW_DETAILS)
    yield lambda _: full
    yield lambda _: short
    yield lambda part: replace(short, proofs=_share(proofs, full.proofs, part))
    yield lambda part: replace(bare, proofs=_share(proofs, full.proofs, part))
    yield lambda part: replace(bare, proofs=proofs, evidence=_share(details, full.evidence, part))
    few = replace(bare, proofs=proofs, evidence=details, width=_SHORTEST)
    yield lambda part: replace(few, rows=_share(min(details, full.rows), full.rows, part))
    none = replace(few, proofs=0, evidence=0)
    yield lambda part: replace(none, rows=_share(0, full.rows, part))


def _share(least: int, most: int, part: int) -> int:
    return least + (most - least) * part // _SCALE


def _search(drawn: _Drawn, rung: _Rung) -> int:
    """How far up a rung there is room, of which the lower end fits and the upper does not.

    Sizes grow nearly evenly with what is shown, so each look is where the budget should be met;
    every third one halves what is left, however sizes grow.
    """
    low, high = 0, _SCALE
    looks = 0
    while high - low > 1:
        looks += 1
        middle = (low + high) // 2
        if looks % 3:
            least, most = drawn.size(rung(low)), drawn.size(rung(high))
            met = low + (high - low) * (drawn.budget - least) // (most - least)
            middle = min(max(met, low + 1), high - 1)
        if drawn.fits(rung(middle)):
            low = middle
        else:
            high = middle
    return low
