"""Draws the progress of a batch as lines for a terminal; the only module that shapes rich text.

Pure: the same progress, size and look give the same lines. No line is wider than the terminal.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import ConsoleDimensions as ViewSize
from rich.text import Text

from routing_action.corpus.baseline import Status
from routing_action.gate.wording import count
from routing_action.report.terminal.cells import cell_width, shorten, shorten_middle, visible
from routing_action.report.terminal.progress import Progress, RunningUnit

__all__ = [
    "ViewLook", "ViewSize", "clock_text", "remaining_text", "render_outcome", "render_progress"
]  # fmt: skip

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

    def name(self, key: str, width: int) -> str:
        """A unit's name within a width in cells."""
        name = visible(key)
        if self.ascii_only:
            name = name.encode("ascii", "replace").decode()
        return shorten_middle(name, max(width, 0), ellipsis=self.ellipsis)


def render_progress(progress: Progress, size: ViewSize, look: ViewLook) -> list[Text]:
    """The lines of the view: bar, counts, what runs, and what did not pass of late.

    One column stays free on the right, and one line below, so that nothing wraps or scrolls.
    """
    width = max(size.width - 1, 1)
    room = max(size.height - 1, 1)
    lines = [_head(progress, width, look), *_flow(_counts(progress), width)]
    latest = list(_latest(progress, width, look)) if room >= _ROOM_FOR_LATEST else []
    lines += _running(progress.running, width, room - len(lines) - len(latest), look)
    lines = (lines + latest)[:room]
    for line in lines:
        line.truncate(width, overflow="crop")  # a terminal too narrow even for the shortest names
    return lines


def render_outcome(progress: Progress, size: ViewSize) -> list[Text]:
    """What stays of the view once the batch is over: the totals, in one line or two."""
    over = f"{progress.done} of {count(progress.total, 'unit')} in {clock_text(progress.elapsed)}:"
    return list(_flow([Text(over), *_statuses(progress), *_cost(progress)], size.width - 1))


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


def _head(progress: Progress, width: int, look: ViewLook) -> Text:
    if progress.ending is not None:
        return _ending(progress, progress.ending, width, look)
    is_over = progress.done == progress.total > 0
    left = "finishing" if is_over else remaining_text(progress.remaining)
    words = f"{progress.done:>{len(str(progress.total))}}/{progress.total}{_GAP}{left}"
    # The bar must not change its length with each other estimate.
    room = width - cell_width(words) - max(_ESTIMATE - len(left), 0) - len(_GAP)
    if room < _LEAST_BAR:
        return Text(shorten(words, width, ellipsis=look.ellipsis))
    return Text.assemble(_bar(progress, min(room, _WIDEST_BAR), look), _GAP, words)


def _ending(progress: Progress, seconds: float, width: int, look: ViewLook) -> Text:
    running = len(progress.running)
    what = count(running, "running unit") if running else "the batch"
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
    full, half, thin = "#=-" if look.ascii_only else "━╍─"
    parts = [(number, full, _STYLES[status]) for status, number in progress.counts.items()]
    parts += [(len(progress.running), half, "cyan"), (progress.queued, thin, _QUIET)]
    total = progress.total
    shares = [max(number * width // total, 1) if number else 0 for number, _, _ in parts]
    # What rounding took or gave goes to or comes from the widest; all of it where nothing is known.
    shares[shares.index(max(shares)) if total else -1] += width - sum(shares)
    return Text.assemble(
        *((sign * cells, style) for cells, (_, sign, style) in zip(shares, parts, strict=True))
    )


def _counts(progress: Progress) -> list[Text]:
    return [
        *_statuses(progress),
        Text(f"{len(progress.running)} running", "cyan"),
        Text(f"{progress.queued} queued", _QUIET),
        Text(f"{clock_text(progress.elapsed)} elapsed"),
        *_cost(progress),
    ]


def _statuses(progress: Progress) -> list[Text]:
    return [
        Text(f"{number} {_WORDS[status]}", _STYLES[status] if number else _QUIET)
        for status, number in progress.counts.items()
    ]


def _cost(progress: Progress) -> list[Text]:
    """Nothing where no agent has reported what it spent."""
    spent = progress.cost_usd
    return [] if spent is None else [Text(f"{spent:.4f} USD so far")]


def _flow(pieces: Sequence[Text], width: int) -> Iterator[Text]:
    """The pieces side by side, on as many lines as they need; a piece alone may be cut."""
    line = Text()
    for piece in pieces:
        if line and line.cell_len + len(_GAP) + piece.cell_len > width:
            yield line
            line = Text()
        line.append(_GAP if line else "").append_text(piece)
    yield line


def _running(units: Sequence[RunningUnit], width: int, room: int, look: ViewLook) -> Iterator[Text]:
    """One line for each unit, in columns where they would not fit below each other."""
    if room < 1:
        return
    columns = 1 if len(units) <= room else max(min(width // _COLUMN, -(-len(units) // room)), 1)
    shown = units if len(units) <= room * columns else units[: (room - 1) * columns]
    rows = -(-len(shown) // columns)
    cell = (width - len(_GAP) * (columns - 1)) // columns
    for row in range(rows):
        line = Text()
        for place, unit in enumerate(shown[row::rows]):
            line.pad_right(place * (cell + len(_GAP)) - line.cell_len)
            clock = clock_text(unit.seconds).rjust(_CLOCK)
            name = look.name(unit.key, cell - cell_width(clock) - len(_GAP))
            line.append(clock, "cyan").append(_GAP + name)
        yield line
    if len(units) > len(shown):
        more = f"{'':{_CLOCK}}{_GAP}and {len(units) - len(shown)} more"
        yield Text(shorten(more, width, ellipsis=look.ellipsis), _QUIET)


def _latest(progress: Progress, width: int, look: ViewLook) -> Iterator[Text]:
    """The units that were the last not to pass, the latest first."""
    for failure in reversed(progress.latest):
        word = _WORDS[failure.status].rjust(_CLOCK)
        kind = shorten(visible(failure.kind), max(width // 3, 1), ellipsis=look.ellipsis)
        room = width - cell_width(word) - cell_width(kind) - 2 * len(_GAP)
        name = look.name(failure.key, room)
        yield Text.assemble((word, _STYLES[failure.status]), _GAP, name, _GAP, (kind, _QUIET))
