"""Draws the progress of a batch as lines for a terminal; the only module that shapes rich text.

Pure: the same progress, size and look give the same lines. No line is wider than the terminal.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.text import Text

from routing_action.corpus.baseline import Status
from routing_action.report.cells import cell_width, printable, shorten, shorten_middle
from routing_action.report.progress import Progress, RunningUnit

_WORDS = {Status.PASS: "pass", Status.FAIL: "fail", Status.INFRA_ERROR: "infra"}
_STYLES = {Status.PASS: "green", Status.FAIL: "red", Status.INFRA_ERROR: "yellow"}
_QUIET = "bright_black"
_GAP = "  "
_WIDEST_BAR = 60
_LEAST_BAR = 10
_ESTIMATE = len("a few seconds left")
_COLUMN = 58
_CLOCK = 7
_ROOM_FOR_LATEST = 14


@dataclass(frozen=True, slots=True)
class ViewSize:
    """The terminal's size in cells."""

    width: int
    height: int


@dataclass(frozen=True, slots=True)
class ViewLook:
    """What may be shown: `ascii_only` where the terminal's encoding is no Unicode one.

    `ending_seconds` is how long it takes at most to end what runs after an interrupt.
    """

    ascii_only: bool = False
    ending_seconds: float = 10.0

    @property
    def ellipsis(self) -> str:
        """What stands for the part of a name that is left out."""
        return "..." if self.ascii_only else "…"


@dataclass(frozen=True, slots=True)
class _Piece:
    """A text with its style; pieces are put side by side as long as they fit."""

    text: str
    style: str = ""


def render_progress(progress: Progress, size: ViewSize, look: ViewLook) -> list[Text]:
    """The lines of the view: bar, counts, what runs, and what did not pass of late.

    One column stays free on the right, and one line below, so that nothing wraps or scrolls.
    """
    width = max(size.width - 1, 1)
    room = max(size.height - 1, 1)
    lines = [_head(progress, width, look), *_flow(_counts(progress), width)]
    latest = _latest(progress, width, look) if room >= _ROOM_FOR_LATEST else []
    lines += _running(progress.running, width, room - len(lines) - len(latest), look)
    lines = (lines + latest)[:room]
    for line in lines:
        line.truncate(width, overflow="crop")  # a terminal too narrow even for the shortest names
    return lines


def render_outcome(progress: Progress, size: ViewSize) -> list[Text]:
    """What stays of the view once the batch is over: the totals, in one line or two."""
    over = f"{progress.done} of {progress.total} units in {clock_text(progress.elapsed)}:"
    return list(_flow([_Piece(over), *_statuses(progress), *_cost(progress)], size.width - 1))


def clock_text(seconds: float) -> str:
    """Seconds as `M:SS`, or `H:MM:SS` from an hour on."""
    minutes, rest = divmod(int(max(seconds, 0)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def remaining_text(seconds: float | None) -> str:
    """An estimate in words, no finer than it can be."""
    if seconds is None:
        return "estimating"
    if seconds < 10:
        return "a few seconds left"
    if seconds < 90:
        return f"about {round(seconds / 10) * 10} s left"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"about {minutes} min left"
    return f"about {minutes // 60} h {minutes % 60:02d} min left"


# --- the first lines


def _head(progress: Progress, width: int, look: ViewLook) -> Text:
    if progress.ending is not None:
        return _ending(progress, progress.ending, width, look)
    left = "finishing" if _is_over(progress) else remaining_text(progress.remaining)
    words = f"{progress.done:>{len(str(progress.total))}}/{progress.total}{_GAP}{left}"
    # The bar must not change its length with each other estimate.
    room = width - cell_width(words) - max(_ESTIMATE - len(left), 0) - len(_GAP)
    if room < _LEAST_BAR:
        return Text(shorten(words, width, ellipsis=look.ellipsis))
    return Text.assemble(_bar(progress, min(room, _WIDEST_BAR), look), _GAP, words)


def _is_over(progress: Progress) -> bool:
    return progress.done == progress.total > 0


def _ending(progress: Progress, seconds: float, width: int, look: ViewLook) -> Text:
    count = len(progress.running)
    what = f"{count} running unit{'' if count == 1 else 's'}" if count else "the batch"
    if progress.hurried:
        text = f"ending {what} at once: {clock_text(seconds)}"
    else:
        most = clock_text(math.ceil(look.ending_seconds))
        text = f"ending {what}: {clock_text(seconds)} of at most {most}"
        again = " (Ctrl-C again: at once)"
        text += again if cell_width(text + again) <= width else ""
    return Text(shorten(text, width, ellipsis=look.ellipsis), "bold yellow")


def _bar(progress: Progress, width: int, look: ViewLook) -> Text:
    """What ended, by status, then what runs, then what waits; each that there is gets a cell."""
    full, thin = ("#", "-") if look.ascii_only else ("━", "─")
    parts = [(count, full, _STYLES[status]) for status, count in progress.counts.items()]
    parts.append((len(progress.running), "=" if look.ascii_only else "╍", "cyan"))
    parts.append((progress.queued, thin, _QUIET))
    bar = Text()
    for cells, (_, sign, style) in zip(
        _shares([count for count, _, _ in parts], width), parts, strict=True
    ):
        bar.append(sign * cells, style)
    return bar


def _shares(counts: Sequence[int], width: int) -> list[int]:
    """The width in parts that are as the counts are; none that counts is lost."""
    total = sum(counts)
    if not total:
        return [*(0 for _ in counts[1:]), width]
    shares = [max(count * width // total, 1 if count else 0) for count in counts]
    # What rounding took or gave goes to or comes from the widest.
    widest = shares.index(max(shares))
    shares[widest] += width - sum(shares)
    return shares


def _counts(progress: Progress) -> list[_Piece]:
    return [
        *_statuses(progress),
        _Piece(f"{len(progress.running)} running", "cyan"),
        _Piece(f"{progress.queued} queued", _QUIET),
        _Piece(f"{clock_text(progress.elapsed)} elapsed"),
        *_cost(progress),
    ]


def _statuses(progress: Progress) -> list[_Piece]:
    return [
        _Piece(f"{count} {_WORDS[status]}", _STYLES[status] if count else _QUIET)
        for status, count in progress.counts.items()
    ]


def _cost(progress: Progress) -> list[_Piece]:
    """Nothing where no agent has reported what it spent."""
    spent = progress.cost_usd
    return [] if spent is None else [_Piece(f"{spent:.4f} USD so far")]


def _flow(pieces: Sequence[_Piece], width: int) -> Iterator[Text]:
    """The pieces side by side, on as many lines as they need; none is cut but by the terminal."""
    line = Text()
    for piece in pieces:
        if line and line.cell_len + len(_GAP) + cell_width(piece.text) > width:
            yield line
            line = Text()
        line.append(_GAP if line else "").append(shorten(piece.text, width), piece.style)
    yield line


# --- the units


def _running(units: Sequence[RunningUnit], width: int, room: int, look: ViewLook) -> list[Text]:
    """One line for each unit, in columns where they would not fit below each other."""
    if room < 1:
        return []
    columns = 1 if len(units) <= room else max(min(width // _COLUMN, -(-len(units) // room)), 1)
    fits = room * columns
    shown, rest = (units, 0) if len(units) <= fits else (units[: (room - 1) * columns], 1)
    if rest:
        rest = len(units) - len(shown)
    rows = -(-len(shown) // columns)
    cell = (width - len(_GAP) * (columns - 1)) // columns
    lines = []
    for row in range(rows):
        cells = [_unit(unit, cell, look) for unit in shown[row::rows]]
        lines.append(_side_by_side(cells, cell))
    if rest:
        more = f"{'':{_CLOCK}}{_GAP}and {rest} more"
        lines.append(Text(shorten(more, width, ellipsis=look.ellipsis), _QUIET))
    return lines


def _side_by_side(cells: Sequence[Text], width: int) -> Text:
    line = Text()
    for place, cell in enumerate(cells):
        if place:
            line.append(" " * (place * (width + len(_GAP)) - line.cell_len))
        line.append_text(cell)
    return line


def _unit(unit: RunningUnit, width: int, look: ViewLook) -> Text:
    clock = clock_text(unit.seconds).rjust(_CLOCK)
    name = _name(unit.key, width - cell_width(clock) - len(_GAP), look)
    return Text.assemble((clock, "cyan"), _GAP, name)


def _latest(progress: Progress, width: int, look: ViewLook) -> list[Text]:
    """The units that were the last not to pass, the latest first."""
    lines = []
    for failure in reversed(progress.latest):
        word = _WORDS[failure.status].rjust(_CLOCK)
        kind = shorten(printable(failure.kind), max(width // 3, 1), ellipsis=look.ellipsis)
        room = width - cell_width(word) - cell_width(kind) - 2 * len(_GAP)
        name = _name(failure.key, room, look)
        lines.append(
            Text.assemble((word, _STYLES[failure.status]), _GAP, name, _GAP, (kind, _QUIET))
        )
    return lines


def _name(key: str, width: int, look: ViewLook) -> str:
    name = printable(key)
    if look.ascii_only:
        name = name.encode("ascii", "replace").decode()
    return shorten_middle(name, max(width, 0), ellipsis=look.ellipsis)
