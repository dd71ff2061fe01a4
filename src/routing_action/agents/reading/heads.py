"""Tells what kind of record each line is without decoding it: the prefilter of block reading.

msgspec checks the whole line as JSON and builds nothing but the few fields of a head, so that a
line that is passed over is known to be a record, of a known kind. What it refuses is left to the
slow and lenient way (`decode_record`), which accepts all that is accepted here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from routing_action.evidence.transcript import split_lines

_MOST_KINDS = 1_000
_LONG = 1_000
"""Bytes of the lines of a block, on average, from which heads are not read first."""
_FEW = 8
_REFUSALS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


def split_block(block: bytes) -> Sequence[bytes | memoryview]:
    """The lines of a block, without their newlines; where they are long, without copies of them."""
    view, lines, start = memoryview(block), [], 0
    while (end := block.find(b"\n", start)) >= 0:
        lines.append(view[start:end])
        start = end + 1
        if len(lines) == _FEW and start < _FEW * _LONG:
            return split_lines(block)
    if start < len(block):
        lines.append(view[start:])
    return lines


class Head(msgspec.Struct, gc=False):
    """The field that decides for most readers; "" where a record has none."""

    type: str = ""


class Heads:
    """Which records of a provider are quiet: recognised, proving nothing and changing nothing.

    `is_quiet` is asked for the type of a record, once for each; "" is never quiet. `shape` is the
    head to read where the type alone does not decide; the reader then overrides `loud`.

    `skims` are types of which most records are no more than counts, where no string of theirs names
    a token: a reader's `skim` takes those by heads of the `shape`. A line that does not fit it is
    read as a `simple` head; one of these types then has no head. `mentions` are those of them that
    can do no more than mention a token, where `skim` takes them.
    """

    def __init__(
        self,
        is_quiet: Callable[[str], bool] | None = None,
        shape: type[Any] = Head,
        simple: type[Any] | None = None,
        skims: Iterable[str] = (),
        mentions: Iterable[str] = (),
    ) -> None:
        self.skims = frozenset(skims)
        self.mentions = frozenset(mentions)
        self._is_quiet = is_quiet
        self._unknown = shape()
        self._decode = msgspec.json.Decoder(shape).decode
        self._decode_simply = msgspec.json.Decoder(simple).decode if simple else None
        self._quiet: set[str] = set()

    def read(self, lines: Sequence[bytes | memoryview], *, skims: bool = False) -> list[Any]:
        """A head for each line; one without a type where none could be told, or it does not pay.

        Long lines are outputs of tools, which are decoded anyway unless the reader skims them.
        """
        if self._is_quiet is None or (not skims and sum(map(len, lines)) > _LONG * len(lines)):
            return [self._unknown] * len(lines)
        try:
            return list(map(self._decode, lines))
        except _REFUSALS:
            return [self._try(line) for line in lines]

    def loud(self, heads: Sequence[Any]) -> list[int]:
        """The places of the records that must be decoded."""
        quiet = self._quiet
        loud = [place for place, head in enumerate(heads) if head.type not in quiet]
        return [place for place in loud if not self._learn(heads[place].type)]

    def _learn(self, kind: str) -> bool:
        """True where a kind is quiet; a stream of ever new kinds does not fill the memory."""
        if not kind or self._is_quiet is None or not self._is_quiet(kind):
            return False
        if len(self._quiet) < _MOST_KINDS:
            self._quiet.add(kind)
        return True

    def _try(self, line: bytes | memoryview) -> Any:  # noqa: ANN401 - the shape is the reader's
        try:
            return self._decode(line)
        except _REFUSALS:
            return self._try_simply(line) if self._decode_simply else self._unknown

    def _try_simply(self, line: bytes | memoryview) -> Any:  # noqa: ANN401 - as above
        try:
            head = self._decode_simply(line) if self._decode_simply else self._unknown
        except _REFUSALS:
            return self._unknown
        return self._unknown if head.type in self.skims else head
