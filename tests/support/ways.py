"""The three ways to read a transcript: every line decoded, and blocks with either search engine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from routing_action.agents.discovery import all_providers
from routing_action.evidence.evidence import EvidenceCollector
from routing_action.evidence.outcome import RunEnd, decide_outcome
from routing_action.evidence.prefilter import Engine, Prefilter, has_re2
from routing_action.evidence.reader_protocol import ReadContext, Reader
from routing_action.run.output.capture import LineBlocks

ENGINES: tuple[Engine, ...] = ("standard", "re2") if has_re2() else ("standard",)


def split_at(data: bytes, places: Iterable[int]) -> list[bytes]:
    """The data in pieces, cut at some places."""
    cuts = [0, *sorted(min(place, len(data)) for place in places), len(data)]
    return [data[start:end] for start, end in pairwise(cuts)]


def blocks_of(pieces: Iterable[bytes]) -> list[bytes]:
    """The blocks that a reader gets of a stream that comes in pieces."""
    blocks: list[bytes] = []
    lines = LineBlocks(blocks.append)
    for piece in pieces:
        lines.feed(piece)
    lines.finish()
    return blocks


def lines_of_stream(data: bytes) -> list[bytes]:
    """The lines of a stream, without their newlines."""
    lines = data.split(b"\n")
    return lines if lines[-1] else lines[:-1]


def read_plainly(
    agent: str,
    data: bytes,
    stderr: bytes,
    tokens: Sequence[str],
    words: Sequence[str] = (),
    exit_code: int | None = 0,
) -> dict[str, Any]:
    """Every line is decoded, and every evidence line judged for every token."""
    collector = EvidenceCollector(agent, tuple(tokens), tuple(words))
    reader = all_providers()[agent].reader(ReadContext())
    for line in lines_of_stream(data):
        collector.extend(reader.feed(line))
    return _finish(reader, collector, stderr, exit_code)


def read_in_blocks(
    agent: str,
    pieces: Iterable[bytes],
    stderr: bytes,
    tokens: Sequence[str],
    words: Sequence[str] = (),
    *,
    engine: Engine,
    exit_code: int | None = 0,
) -> dict[str, Any]:
    """The path of `run` and `evaluate`."""
    prefilter = Prefilter((*tokens, *words), engine)
    collector = EvidenceCollector(agent, tuple(tokens), tuple(words), prefilter=prefilter)
    context = ReadContext(
        may_name=collector.may_name,
        naming_lines=collector.naming_lines,
        needs_mentions=collector.needs_mentions,
    )
    reader = all_providers()[agent].reader(context)
    for block in blocks_of(pieces):
        collector.extend(reader.feed_block(block))
    return _finish(reader, collector, stderr, exit_code)


def _finish(
    reader: Reader, collector: EvidenceCollector, stderr: bytes, exit_code: int | None
) -> dict[str, Any]:
    for line in lines_of_stream(stderr):
        reader.feed_stderr(line)
    collector.extend(reader.finish(exit_code))
    return {
        "hits": dict(collector.hits),
        "loads": collector.loads,
        "attempts": collector.attempts,
        "wrong copies": collector.wrong_copies,
        "activity": collector.activity,
        "words": collector.activity or bool(collector.any_hits),
        "reading": reader.reading,
        "terminal": reader.terminal_seen,
        "outcome": decide_outcome(reader.reading, RunEnd(exit_code=exit_code)),
    }
