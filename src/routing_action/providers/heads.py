"""Tells what kind of record each line is without decoding it: the prefilter of block reading.

msgspec checks the whole line as JSON and builds nothing but the few fields of a head, so that a
line that is passed over is known to be a record, of a known kind. What it refuses is left to the
slow and lenient way (`decode_record`), which accepts all that is accepted here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

_MOST_KINDS = 1_000


class Head(msgspec.Struct, gc=False):
    """The field that decides for most readers; "" where a record has none."""

    type: str = ""


class Heads:
    """Which records of a provider are quiet: recognised, proving nothing and changing nothing.

    `is_quiet` is asked for the type of a record, once for each. `shape` is the head to read where
    the type alone does not decide; the reader then overrides `loud`.
    """

    def __init__(
        self, is_quiet: Callable[[str], bool] | None = None, shape: type[Any] = Head
    ) -> None:
        self._quiet = _Memory(is_quiet) if is_quiet else None
        self._decode = msgspec.json.Decoder(shape).decode

    def read(self, lines: list[bytes]) -> list[Any]:
        """A head for each line, None where none could be told."""
        if self._quiet is None:
            return [None] * len(lines)
        try:
            return list(map(self._decode, lines))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return [self._try(line) for line in lines]

    def loud(self, heads: Sequence[Any]) -> list[int]:
        """The places of the records that must be decoded."""
        quiet = self._quiet
        if quiet is None:
            return list(range(len(heads)))
        return [at for at, head in enumerate(heads) if head is None or not quiet[head.type]]

    def _try(self, line: bytes) -> Any:  # noqa: ANN401 - the shape is the reader's
        try:
            return self._decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None


class _Memory(dict[str, bool]):
    """Answers by type; a hostile stream of ever new types does not fill the memory."""

    def __init__(self, ask: Callable[[str], bool]) -> None:
        super().__init__()
        self._ask = ask

    def __missing__(self, kind: str) -> bool:
        answer = self._ask(kind)
        if len(self) < _MOST_KINDS:
            self[kind] = answer
        return answer
