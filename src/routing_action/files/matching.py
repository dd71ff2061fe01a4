"""Finds any of many byte strings in a stream: as they are, or in a view that leaves out bytes.

Plain searches come first: they run ten times as fast as one pattern of many branches.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator

from routing_action.files.encodings import blank_bytes, fold_bytes

Spans = list[tuple[int, int]]

_KEY_BYTES = 4
_WORD_BYTES = 8
_STRIDE = 2
_SAMPLED_LENGTH = _WORD_BYTES * (_STRIDE + 1) - 1
"""Every second word of the data is looked up; a string of so many bytes covers one of them."""
_MANY = 12

_SPREAD = 16
_LEAST_SPREAD = 4096
"""A value may be so many times as long by what stands between its letters (margins, `fold -w1`)."""
_MOST_BACKSLASHES = 16

# A row of a dump: xxd, hexdump and od print the address before the bytes, and some the text after
# them. In the first MiB the addresses begin with 000.
_ROW = re.compile(
    rb"(?P<address>000[0-9a-f]{3,13}:?(?= ))"
    rb"(?:(?P<bytes>(?: {1,3}(?:[0-9a-f]{8}|[0-9a-f]{6}|[0-9a-f]{2,4})(?=[ \\\"\n]|\Z)){1,64})"
    rb"(?P<text>(?:\\+[^\\n]|[^\\\"\n]){0,60})(?=[\"\n]|\\+n|\Z))?"
)
_ADDRESS = re.compile(rb"0[0-9a-f]{1,16}:?")
_MOST_ROW = 400


class ExactForms:
    """Strings that are found as they are."""

    def __init__(self, forms: Iterable[bytes]) -> None:
        self.forms = sorted(set(forms), key=lambda form: (-len(form), form))
        self.longest = len(self.forms[0]) if self.forms else 0
        self._heads = {form[:size] for form in self.forms for size in range(1, _KEY_BYTES)}
        long = [form for form in self.forms if len(form) >= _SAMPLED_LENGTH]
        self._sampled = long if len(long) >= _MANY else []
        self._searched = self.forms[len(self._sampled) :]
        self._words = {
            int.from_bytes(form[at : at + _WORD_BYTES], sys.byteorder)
            for form in self._sampled
            for at in range(len(form) - _WORD_BYTES + 1)
        }

    def pattern(self, data: bytes) -> re.Pattern[bytes] | None:
        """What finds the strings that occur, the longest at each place; None where none does."""
        found = [form for form in self._searched if form in data]
        if self._sampled:
            words = memoryview(data)[: len(data) // _WORD_BYTES * _WORD_BYTES].cast("Q")
            if not self._words.isdisjoint(words[::_STRIDE]):
                found += [form for form in self._sampled if form in data]
        found.sort(key=lambda form: (-len(form), form))
        return re.compile(b"|".join(map(re.escape, found))) if found else None

    def hold(self, data: bytes, start: int = 0) -> int:
        """Where the longest end begins that is a proper beginning of a string; else the length."""
        best = len(data)
        for form in self.forms:
            key = form[:_KEY_BYTES]
            at = data.find(key, max(start, len(data) - len(form) + 1))
            while -1 < at < best:
                if form.startswith(data[at:]):
                    best = at
                at = data.find(key, at + 1)
        for size in range(1, min(_KEY_BYTES, len(data) - start + 1)):
            if data[-size:] in self._heads:
                best = min(best, len(data) - size)
        return best

    def find(self, data: bytes, *, is_last: bool) -> tuple[Spans, int]:
        """Where strings stand, and from where on the data must wait for more.

        A match that begins before that is final: if a longer string could still match at the same
        place, the rest would begin there.
        """
        spans: Spans = []
        hold = len(data) if is_last else self.hold(data)
        pattern = self.pattern(data)
        for match in pattern.finditer(data) if pattern else ():
            if match.start() >= hold:
                break
            spans.append(match.span())
            if match.end() > hold:
                hold = self.hold(data, match.end())
        return spans, hold


class FoldedForms:
    """Strings that are found in the view of `fold_bytes`."""

    def __init__(self, forms: Iterable[bytes]) -> None:
        self._finder = ExactForms(forms)
        self._spread = max(_LEAST_SPREAD, _SPREAD * self._finder.longest)

    def find(self, data: bytes, *, is_last: bool) -> tuple[Spans, int]:
        """As ExactForms.find; a span begins before the backslashes of an escape."""
        finder = self._finder
        if not finder.forms:
            return [], len(data)
        known = data if is_last else data[: _end_of_known(data)]
        rows = list(_ROW.finditer(known)) if b"000" in known else []
        clean = _without_margins(known, rows)
        view = fold_bytes(clean)
        hold = len(view) if is_last else finder.hold(view)
        spans: Spans = []
        for start, end, raw in self._matches(clean, view):
            if start >= hold:
                break
            begin = _before_escape(data, raw[0], spans[-1][1] if spans else 0)
            spans.append((begin, _end_of_row(raw[1], rows)))
            if end > hold:
                hold = finder.hold(view, end)
        if is_last:
            return spans, len(data)
        least = spans[-1][1] if spans else 0
        place = self._place(clean, len(view) - hold)
        place = next((row.start() for row in rows if row.start() < place < row.end()), place)
        return spans, max(least, _before_escape(data, place, least))

    def _matches(self, clean: bytes, view: bytes) -> Iterator[tuple[int, int, tuple[int, int]]]:
        """Where strings stand: in the view, and in the data; not where they are spread too far."""
        pattern = self._finder.pattern(view)
        if pattern is None:
            return
        blanked = blank_bytes(clean)
        at = seen = place = 0
        while match := pattern.search(view, at):
            place = _locate(blanked, match.start() - seen, place)
            raw = place, _locate(blanked, len(match[0]) - 1, place) + 1
            seen = match.start()
            too_far = raw[1] - raw[0] > self._spread
            at = match.start() + 1 if too_far else match.end()
            if not too_far:
                yield *match.span(), raw

    def _place(self, clean: bytes, back: int) -> int:
        """Where in the data the last `back` bytes of its view begin; no further than the spread."""
        size = _LEAST_SPREAD
        while back:
            tail = blank_bytes(clean[-size:])
            kept = len(tail) - tail.count(b" ")
            if back <= kept:
                return max(
                    len(clean) - self._spread, len(clean) - len(tail) + _locate(tail, kept - back)
                )
            size *= 4
        return len(clean)


def _locate(blanked: bytes, rank: int, low: int = 0) -> int:
    """The place of the byte of that rank, from 0, among those from `low` on that are no blank."""
    size = 64
    while low + size < len(blanked):
        count = size - blanked.count(b" ", low, low + size)
        if rank < count:
            break
        rank, low, size = rank - count, low + size, 2 * size
    high = min(low + size, len(blanked))
    while high - low > 1:
        middle = (low + high) // 2
        count = middle - low - blanked.count(b" ", low, middle)
        if rank < count:
            high = middle
        else:
            rank -= count
            low = middle
    return low


def _before_escape(data: bytes, place: int, least: int) -> int:
    """The place, or that of the escape that it stands in: half of one would break a JSON string."""
    head = data[max(least, place - _MOST_BACKSLASHES) : place]
    return place - len(head) + len(head.rstrip(b"\\"))


def _without_margins(data: bytes, rows: list[re.Match[bytes]]) -> bytes:
    """The data with blanks for the addresses and the texts of a dump's rows."""
    if not rows:
        return data
    changed = bytearray(data)
    for row in rows:
        for start, end in (row.span("address"), row.span("text")):
            changed[start:end] = b" " * (end - start)
    return bytes(changed)


def _end_of_row(place: int, rows: list[re.Match[bytes]]) -> int:
    """The end of the dump's row that the place lies in, whose text shows the value too."""
    return next(
        (row.end() for row in rows if row["bytes"] and row.start() < place < row.end()), place
    )


def _end_of_known(data: bytes) -> int:
    """Where a dump's row begins that has not come to its end; the length where none does."""
    line, escaped = data.rfind(b"\n") + 1, data.rfind(b"\\n") + 2
    cut = max(line, escaped if escaped > 1 else 0, len(data) - _MOST_ROW)
    tail = data[cut:]
    return cut if b"000" in tail or tail.endswith(b"0") or _ADDRESS.fullmatch(tail) else len(data)
