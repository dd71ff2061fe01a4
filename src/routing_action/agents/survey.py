"""What a reader makes of a recorded stream, kind by kind, and the shape of its records.

For those who describe an agent, and to compare one version of a CLI with another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from routing_action.agents.described.paths import kind_of
from routing_action.agents.provider import Provider, ReadContext
from routing_action.agents.reading.decoding import Record, as_record, as_text, decode_record
from routing_action.evidence.outcome import Outcome, RunEnd, decide_outcome
from routing_action.evidence.transcript import EvidenceLine, LineKind, Reading

_TELLS = ("type", "subtype", "kind", "role", "event")
"""Fields that say what a record, or a part of it, is: their values count as its shape."""
_LONGEST_NAME = 60
_DEPTH = 6
_MOST_SHAPES = 400


@dataclass(slots=True)
class Seen:
    """The records of one kind: how many, how many were read, the first one, and their shapes.

    A shape is a path of a field, `message.content[].text`, or such a path with its value.
    """

    count: int = 0
    read: int = 0
    example: str = ""
    number: int = 0
    shapes: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class Survey:
    """One run. `texts` are the lines that are no records, with their numbers."""

    kinds: dict[str, Seen]
    texts: list[tuple[int, str]]
    found: list[EvidenceLine]
    reading: Reading
    outcome: Outcome
    ends: tuple[int, ...] = ()

    def lines(self, kind: LineKind) -> list[EvidenceLine]:
        """The evidence lines of a kind."""
        return [line for line in self.found if line.kind is kind]

    @property
    def unread(self) -> dict[str, Seen]:
        """The kinds of which a record was not read."""
        return {name: one for name, one in self.kinds.items() if one.read < one.count}


def survey(
    provider: Provider,
    stdout: Iterable[bytes],
    stderr: Iterable[bytes] = (),
    *,
    end: RunEnd | None = None,
    prompt: str = "",
) -> Survey:
    """Read a run as `run` does, and look at each of its records."""
    reader = provider.reader(ReadContext(prompt=prompt))
    kinds: dict[str, Seen] = {}
    texts: list[tuple[int, str]] = []
    found: list[EvidenceLine] = []
    ends: list[int] = []
    for number, line in enumerate(stdout, 1):
        before = reader.reading
        found += reader.feed(line)
        after = reader.reading
        record = decode_record(line)
        if record is None:
            texts += [(number, line.decode("utf-8", "replace"))] if line.strip() else []
        else:
            seen = kinds.setdefault(kind_of_record(provider, record), Seen())
            seen.count += 1
            seen.read += after.recognised > before.recognised
            seen.number, seen.example = (
                seen.number or number,
                seen.example or line.decode("utf-8", "replace"),
            )
            seen.shapes.update(set(_shapes(record)))
        if after.terminal and not before.terminal:
            ends.append(number)
    for line in stderr:
        reader.feed_stderr(line)
    end = end or RunEnd()
    found += reader.finish(end.exit_code)
    outcome = decide_outcome(reader.reading, end)
    return Survey(kinds, texts, found, reader.reading, outcome, tuple(ends))


def kind_of_record(provider: Provider, record: Record) -> str:
    """What a record is: by the agent's description, else by the fields that CLIs use for it."""
    if provider.described is not None and (kind := kind_of(record, provider.described().records)):
        return kind
    own = [as_text(record.get(name)) for name in _TELLS]
    inner = [as_text(as_record(record.get(name)).get("type")) for name in ("item", "msg")]
    return "/".join(part for part in (*own, *inner) if part)[:_LONGEST_NAME] or "(no kind)"


def _shapes(value: object, path: str = "", depth: int = 0) -> Iterator[str]:
    """The paths of all fields, to a depth; of one that says what its object is also the value."""
    if isinstance(value, dict) and depth < _DEPTH:
        for name, inner in list(value.items())[:_MOST_SHAPES]:
            at = f"{path}.{name}" if path else str(name)
            yield at
            if name in _TELLS and isinstance(inner, str) and len(inner) <= _LONGEST_NAME:
                yield f"{at}={inner}"
            yield from _shapes(inner, at, depth + 1)
    elif isinstance(value, list) and depth < _DEPTH:
        for inner in value[:_MOST_SHAPES]:
            yield from _shapes(inner, f"{path}[]", depth + 1)
