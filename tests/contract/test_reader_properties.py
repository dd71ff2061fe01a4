"""Whatever an agent prints, no reader raises, loses a line or yields what cannot be written."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from routing_action.agents.codex_sessions import CodexSessionReader
from routing_action.agents.discovery import all_providers
from routing_action.agents.provider import ReadContext, Reader
from routing_action.agents.reading.decoding import decode_record
from routing_action.evidence.evidence import EvidenceCollector, build_hit
from routing_action.evidence.outcome import RunEnd, decide_outcome
from routing_action.evidence.transcript import EvidenceLine, Reading
from routing_action.results.model import UsageTotals
from tests.support.builders import SKILLS, lines_of
from tests.support.own_agent import STREAM, own_provider
from tests.support.recorded import FOLDER, recordings

READERS = (*all_providers(), "codex-sessions", "own")
CONTEXTS = (ReadContext(), ReadContext(("/repo/.agents/skills",), "/repo", "/home/user"))
BLANK = b" \t\r\x00\xef\xbb\xbf"

each_reader = pytest.mark.parametrize("name", READERS)
# ./check.sh --full asks for many more.
thorough = settings(
    max_examples=int(os.environ.get("PROPERTY_EXAMPLES", "12")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    database=None,
)


def reader_of(name: str, context: ReadContext = CONTEXTS[0]) -> Reader:
    if name == "own":
        return own_provider().reader(context)
    return (CodexSessionReader if name == "codex-sessions" else all_providers()[name].reader)(
        context
    )


@cache
def recorded_lines(name: str) -> tuple[bytes, ...]:
    """One recorded line of each shape: its keys, event names and tools decide."""
    if name == "own":
        found = lines_of(STREAM)
    elif name == "codex-sessions":
        files = sorted(FOLDER.glob("cli/codex/*/*.sessions/*.jsonl"))
        found = [line for path in files for line in lines_of(path.read_bytes())]
    else:
        chosen = [one for one in (*recordings("cli"), *recordings("other")) if one.provider == name]
        found = [line for one in chosen for line in lines_of(one.stdout) if len(line) < 4000]
    return tuple({_shape(decode_record(line)): line for line in found if line[:1] == b"{"}.values())


def _shape(value: object, depth: int = 0) -> str:
    if isinstance(value, dict) and depth < 4:
        named = {
            key: value.get(key) for key in ("type", "subtype", "name", "toolName", "tool_name")
        }
        inner = [f"{key}:{_shape(item, depth + 1)}" for key, item in sorted(value.items())]
        return f"{[v for v in named.values() if isinstance(v, str)]}{inner}"
    return type(value).__name__


# ---- what is fed


def one_line(name: str) -> st.SearchStrategy[bytes]:
    """A recorded line, by its place, so that a failing example stays readable."""
    last = len(recorded_lines(name)) - 1
    return st.integers(0, last).map(lambda place: recorded_lines(name)[place])


any_text = st.text(st.characters(codec=None), max_size=30)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | any_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=6,
)
known_words = st.sampled_from(
    ["assistant", "tool_use", "Skill", "item.completed", "result", "success", "skill", "error"]
)


@st.composite
def mutated_lines(draw: st.DrawFn, name: str) -> bytes:
    """A recorded line in which one value, wherever it stands, is another JSON value."""
    value: Any = json.loads(draw(one_line(name)))
    place: Any = value
    for _ in range(draw(st.integers(0, 6))):
        children = [key for key, item in _items(place) if isinstance(item, dict | list) and item]
        if not children:
            break
        place = place[draw(st.sampled_from(children))]
    keys = [key for key, _ in _items(place)]
    if keys:
        place[draw(st.sampled_from(keys))] = draw(json_values | known_words)
    return json.dumps(value).encode()


def _items(place: Any) -> Iterable[tuple[Any, Any]]:  # noqa: ANN401
    return enumerate(place) if isinstance(place, list) else place.items()


@st.composite
def damaged_lines(draw: st.DrawFn, name: str) -> bytes:
    """A recorded line that was cut, or into which bytes of another kind came."""
    line = draw(one_line(name))
    start, end = sorted((draw(st.integers(0, len(line))), draw(st.integers(0, len(line)))))
    noise = draw(
        st.sampled_from(
            [b"", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\x1b[31m", b"\xed\xa0\x80"]
        )
    )
    return draw(
        st.sampled_from(
            [line[start:], line[:end], line[:start] + noise + line[start:], noise + line]
        )
    )


def any_lines(name: str) -> st.SearchStrategy[list[bytes]]:
    line = (
        one_line(name)
        | mutated_lines(name)
        | damaged_lines(name)
        | st.binary(max_size=40).map(lambda data: data.replace(b"\n", b" "))
        | json_values.map(lambda value: json.dumps({"type": value, "msg": value}).encode())
        | st.sampled_from([b"", b" ", b"\r", b"{}", b"[]", b"null", b'{"type":', b"{" * 2000])
    )
    return st.lists(line, max_size=12)


def read_all(reader: Reader, lines: Iterable[bytes]) -> tuple[list[EvidenceLine], Reading]:
    found: list[EvidenceLine] = []
    for line in lines:
        found += reader.feed(line)
        reader.feed_stderr(line)
    found += reader.finish(1)
    return found, reader.reading


# ---- what holds


@each_reader
@thorough
@given(data=st.data(), context=st.sampled_from(CONTEXTS))
def test_any_output_is_read_counted_and_judged(
    name: str, data: st.DataObject, context: ReadContext
) -> None:
    """Broken, foreign or changed output never stops a run, and each line of it is counted once."""
    lines = data.draw(any_lines(name))
    found, reading = read_all(reader_of(name, context), lines)

    filled = [line for line in lines if line.strip(BLANK)]
    said = [
        line for line in filled if line.strip(BLANK + b"[],")
    ]  # an array's brackets say nothing
    assert len(said) <= reading.recognised + reading.unrecognised <= len(filled)

    collector = EvidenceCollector(name, (*SKILLS, "acme:x", "a/SKILL.md"), ("tool_use", "Bash("))
    collector.extend(found)
    decide_outcome(reading, RunEnd(exit_code=1))
    assert all(1 <= line.number <= len(lines) for line in found)


@each_reader
@thorough
@given(data=st.data())
def test_what_a_reader_tells_can_be_written(name: str, data: st.DataObject) -> None:
    """Half a surrogate pair in an agent's output breaks no report, and no number is negative."""
    found, reading = read_all(reader_of(name), data.draw(any_lines(name)))

    texts = [part for line in found for part in (line.text, line.quote, line.path, line.skill)]
    texts += [reading.failure_message, reading.model or "", reading.cli_version or ""]
    texts += [*(reading.catalogue or ()), *reading.notes]
    for text in texts:
        text.encode("utf-8")
    if reading.usage is not None:
        UsageTotals.model_validate(reading.usage, from_attributes=True)
    assert reading.cost_usd is None or reading.cost_usd >= 0


@each_reader
@thorough
@given(data=st.data())
def test_colours_and_line_ends_prove_nothing_more(name: str, data: st.DataObject) -> None:
    """A terminal's colours or a carriage return around a line give it no other proof."""
    lines = data.draw(st.lists(one_line(name), max_size=8))
    plain, _ = read_all(reader_of(name), lines)
    ended, _ = read_all(reader_of(name), [line + b"\r" for line in lines])
    coloured, _ = read_all(reader_of(name), [b"\x1b[32m" + line + b"\x1b[0m" for line in lines])

    tiers = [
        {
            t: h.tier
            for t in SKILLS
            for line in found
            if (h := build_hit(name, t, line)) and h.tier == 1
        }
        for found in (plain, ended, coloured)
    ]
    assert tiers[1] == tiers[0]
    assert tiers[2].items() <= tiers[0].items()


@each_reader
def test_a_separator_of_unicode_inside_a_string_ends_no_record(name: str) -> None:
    """U+2028 and U+0085 may stand in a JSON string; only LF ends a record."""
    line = json.dumps({"type": "zz", "text": "a\u2028b\u0085c"}, ensure_ascii=False).encode()
    _, reading = read_all(reader_of(name), [line])
    assert reading.recognised + reading.unrecognised == 1


@each_reader
def test_a_line_of_many_megabytes_is_cut_in_the_evidence(name: str) -> None:
    """Memory stays bounded: neither quote nor text of a giant line is kept whole."""
    text = "widget-testing " * 200_000
    lines = [text.encode(), json.dumps({"type": "text", "part": {"text": text}}).encode()]
    for line in lines:
        found, _ = read_all(reader_of(name), [line])
        assert all(len(one.quote) <= 4_000 and len(one.text) <= 200_000 for one in found)
