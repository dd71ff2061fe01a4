"""The two ways to read a transcript: all that it says, and what the prefilter leaves of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any

from routing_action.agents.discovery import all_providers
from routing_action.agents.provider import ReadContext
from routing_action.evidence.evidence import EvidenceCollector, Hit, better
from routing_action.evidence.outcome import RunEnd, decide_outcome
from routing_action.evidence.transcript import EvidenceLine
from routing_action.run.output.capture import LineSplitter


def split_at(data: bytes, places: Iterable[int]) -> list[bytes]:
    """The data in pieces, cut at some places."""
    cuts = [0, *sorted(min(place, len(data)) for place in places), len(data)]
    return [data[start:end] for start, end in pairwise(cuts)]


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
    """Nothing is ruled out, and every evidence line is judged for every token by itself."""
    found: list[EvidenceLine] = []
    hits: dict[str, Hit] = {}

    def judge(lines: Iterable[EvidenceLine]) -> None:
        for line in lines:
            found.append(line)
            for token in tokens:
                alone = EvidenceCollector(agent, (token,))
                alone.extend([line])
                hit = better(hits.get(token), alone.hits.get(token))
                hits.update({token: hit} if hit else {})

    said = _read(agent, ReadContext(), lines_of_stream(data), stderr, judge, exit_code)
    collector = EvidenceCollector(agent, tuple(tokens), tuple(words))
    collector.extend(found)
    return {**said, **_collected(collector), "hits": hits}


def read_filtered(
    agent: str,
    pieces: Iterable[bytes],
    stderr: bytes,
    tokens: Sequence[str],
    words: Sequence[str] = (),
    exit_code: int | None = 0,
) -> dict[str, Any]:
    """The path of `run` and `evaluate`."""
    collector = EvidenceCollector(agent, tuple(tokens), tuple(words))
    lines: list[bytes] = []
    splitter = LineSplitter(lines.append)
    for piece in pieces:
        splitter.feed(piece)
    splitter.finish()
    context = ReadContext(may_name=collector.prefilter.may_name)
    said = _read(agent, context, lines, stderr, collector.extend, exit_code)
    return {**said, **_collected(collector)}


def _read(
    agent: str,
    context: ReadContext,
    lines: Iterable[bytes],
    stderr: bytes,
    judge: Callable[[Iterable[EvidenceLine]], None],
    exit_code: int | None,
) -> dict[str, Any]:
    reader = all_providers()[agent].reader(context)
    for line in lines:
        judge(reader.feed(line))
    for line in lines_of_stream(stderr):
        reader.feed_stderr(line)
    judge(reader.finish(exit_code))
    return {
        "reading": reader.reading,
        "terminal": reader.terminal_seen,
        "outcome": decide_outcome(reader.reading, RunEnd(exit_code=exit_code)),
    }


def _collected(collector: EvidenceCollector) -> dict[str, Any]:
    return {
        "hits": dict(collector.hits),
        "loads": collector.loads,
        "attempts": collector.attempts,
        "wrong copies": collector.wrong_copies,
        "activity": collector.activity,
        "words": collector.activity or bool(collector.any_hits),
    }
