"""Makes docs/images/how-sure.svg: three pairs that failed, and what decides about them.

usage: python -m tests.rendering.how_sure_picture
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from routing_action.evidence.chance import Record
from routing_action.evidence.chance_sequence import Finding, Sequential, believe

PICTURE = Path(__file__).resolve().parents[2] / "docs" / "images" / "how-sure.svg"
RECORD, PAIRS = Record(29, 30), 60
STORIES = (
    ("FFFF", "#b42318", "broken: failed 4 of 4, red"),
    ("FPFPPP", "#9a6700", "failed 2 of 6: not proven, green"),
    ("FPPPP", "#1a7f37", "bad luck: failed 1 of 5, green"),
)
_LEFT, _BOTTOM, _STEP, _MOST = 76, 340, 50, 6
_TEXT = 'font-family="system-ui, sans-serif" font-size="15"'
_WIDTH, _HEIGHT = 700, 400


def draw() -> str:
    """The picture as SVG: trials to the right, failed ones upwards, and the red field above."""
    bounds = Sequential().find_bounds(believe(RECORD), PAIRS)
    parts = (*_field(bounds.worse), *_axes(len(bounds.worse)), *_stories())
    body = "\n".join(f"  {part}" for part in parts)
    title = "Three pairs that passed 29 of 30 runs and failed their first trial, among 60 pairs"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">\n'
        f"  <title>{title}</title>\n"
        f'  <rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>\n{body}\n</svg>\n'
    )


def _x(trials: float) -> float:
    return _LEFT + _STEP * trials


def _y(failed: float) -> float:
    return _BOTTOM - _STEP * failed


def _field(worse: tuple[int, ...]) -> Iterator[str]:
    """Where a fall is proven: for each number of trials, as many fails or more."""
    for trials, least in enumerate(worse, start=1):
        if least <= min(trials, _MOST):
            top = min(trials, _MOST)
            height = _STEP * (top - least + 1)
            yield (
                f'<rect x="{_x(trials - 0.5):g}" y="{_y(top + 0.5):g}" width="{_STEP}" '
                f'height="{height}" fill="#ffdcd7" shape-rendering="crispEdges"/>'
            )
    yield f'<text x="{_x(6.6):g}" y="{_y(6.1):g}" {_TEXT} fill="#b42318">proven: red</text>'


def _axes(most: int) -> Iterator[str]:
    yield f'<path d="M{_x(0.4):g} {_y(-0.1):g}H{_x(most + 0.6):g}" stroke="#57606a"/>'
    yield f'<path d="M{_x(0.4):g} {_y(-0.1):g}V{_y(_MOST + 0.5):g}" stroke="#57606a"/>'
    for trials in range(1, most + 1):
        yield (
            f'<text x="{_x(trials):g}" y="{_y(-0.5):g}" {_TEXT} text-anchor="middle">'
            f"{trials}</text>"
        )
    for failed in range(_MOST + 1):
        yield (
            f'<text x="{_x(0.15):g}" y="{_y(failed - 0.1):g}" {_TEXT} text-anchor="end">'
            f"{failed}</text>"
        )
    yield f'<text x="{_x(5):g}" y="{_y(-0.95):g}" {_TEXT} text-anchor="middle">trials</text>'
    middle = _y(_MOST / 2)
    yield (
        f'<text transform="translate({_LEFT - 40} {middle:g}) rotate(-90)" {_TEXT} '
        f'text-anchor="middle">failed trials</text>'
    )


def _stories() -> Iterator[str]:
    for number, (trials, colour, text) in enumerate(STORIES):
        counts = [trials[: place + 1].count("F") for place in range(len(trials))]
        shift = 0.06 * (number - 1)
        points = [(_x(n + shift), _y(count + shift)) for n, count in enumerate(counts, start=1)]
        path = " ".join(f"{x:g},{y:g}" for x, y in points)
        yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="3"/>'
        yield from (f'<circle cx="{x:g}" cy="{y:g}" r="5" fill="{colour}"/>' for x, y in points)
        at_x, at_y = points[-1]
        yield (
            f'<text x="{at_x + 14:g}" y="{at_y + 5:g}" {_TEXT} fill="{colour}" '
            f'font-weight="600">{text}</text>'
        )


def judge(trials: str) -> Finding:
    """What the product says of a story."""
    return Sequential().judge(believe(RECORD), PAIRS, [one == "F" for one in trials])


if __name__ == "__main__":
    PICTURE.write_text(draw(), encoding="utf-8")
