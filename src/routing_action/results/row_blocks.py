"""Cuts a results.json in the layout that a run writes into its head and blocks of whole rows.

So it is never held in memory as a whole. Put together again the pieces are the file: where each is
valid JSON the file is, and where one is not the file has to be read in one piece to say why.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

BLOCK_BYTES = 2**20

_START = b'{\n  "'
_HEAD_END = b'\n  "results": [\n'
_ROW_END = b"\n    },\n"
_LAST_ROW_END = b"\n    }"
_FILE_END = b"\n  ]\n}"
_SPACE = b" \t\r\n"


def has_run_layout(stream: BinaryIO, limit: int) -> bool:
    """Whether a file of at most `limit` bytes has its rows last and indented by four.

    Only a line's start can look like it: a JSON string holds no raw line end, so what is looked
    for cannot occur inside one.
    """
    size = stream.seek(0, 2)
    stream.seek(max(0, size - 64))
    ends = stream.read().rstrip(_SPACE).endswith(_LAST_ROW_END + _FILE_END)
    stream.seek(0)
    starts = stream.read(64).startswith(_START)
    stream.seek(0)
    return ends and starts and size <= limit


def split_rows(stream: BinaryIO) -> tuple[bytes, Iterator[bytes]]:
    """The batch without its rows, and lists of whole rows, all as JSON.

    The stream stands at the start of a file that `has_run_layout`. Raises ValueError where the
    list of rows does not begin as it does there.
    """
    data = bytearray()
    while block := stream.read(BLOCK_BYTES):
        searched = max(0, len(data) - len(_HEAD_END))
        data += block
        place = data.find(_HEAD_END, searched)
        if place >= 0:
            cut = place + len(_HEAD_END)
            return bytes(data[:cut]) + b"]}", _cut_rows(stream, bytes(data[cut:]))
    raise ValueError("there is no list of results")


def _cut_rows(stream: BinaryIO, rest: bytes) -> Iterator[bytes]:
    parts = [b"[", rest]
    while block := stream.read(BLOCK_BYTES):
        cut = block.rfind(_ROW_END)
        if cut < 0:
            parts.append(block)
            continue
        # Without the comma and the line end behind the row.
        yield b"".join((*parts, memoryview(block)[: cut + len(_ROW_END) - 2], b"]"))
        parts = [b"[", block[cut + len(_ROW_END) :]]
    yield b"".join(parts).rstrip(_SPACE).removesuffix(_FILE_END) + b"]"
