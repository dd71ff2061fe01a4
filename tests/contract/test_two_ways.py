"""However a transcript is cut, and whatever is ruled out of it, it says the same."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from routing_action.corpus.case import DEFAULT_ACTIVITY_TOKENS
from routing_action.evidence.outcome import Outcome
from tests.support.recorded import Recording, recordings
from tests.support.streams import AGENTS, jsonl, load, run_of, say, shell, skill_path, view
from tests.support.ways import lines_of_stream, read_filtered, read_plainly, split_at

EVERY = (*recordings("cli"), *recordings("other"))
FOLDERS = {
    folder: [one for one in EVERY if one.key.rpartition("/")[0] == folder]
    for folder in dict.fromkeys(one.key.rpartition("/")[0] for one in EVERY)
}
TOKENS = (
    "widget-testing",
    "widget-test",
    "order-api",
    "acme:widget-testing",
    "widget-testing/SKILL.md",
    "notes.md",
)
each_agent = pytest.mark.parametrize("agent", AGENTS)
thorough = settings(
    max_examples=int(os.environ.get("PROPERTY_EXAMPLES", "12")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    database=None,
)


def agree(
    agent: str,
    data: bytes,
    tokens: Sequence[str] = TOKENS,
    *,
    stderr: bytes = b"",
    places: Sequence[int] = (),
    exit_code: int | None = 0,
) -> dict[str, Any]:
    """What both ways say, once it is known that they agree."""
    plain: dict[str, Any] = {}
    for words in (DEFAULT_ACTIVITY_TOKENS, ()):
        plain = read_plainly(agent, data, stderr, tokens, words, exit_code=exit_code)
        pieces = split_at(data, places)
        said = read_filtered(agent, pieces, stderr, tokens, words, exit_code=exit_code)
        assert said == plain
    return plain


# ---- recordings


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_recording_says_the_same_in_both_ways(folder: str) -> None:
    """Hits, proofs, counts, usage, cost, catalogue, terminal event and outcome."""
    for one in FOLDERS[folder]:
        tokens = (*TOKENS, *one.tokens)
        agree(one.provider, one.stdout, tokens, stderr=one.stderr, exit_code=one.exit_code)


one_recording = st.integers(0, len(EVERY) - 1).map(lambda place: EVERY[place])
places = st.lists(st.integers(0, 30_000), max_size=12)


@st.composite
def mutated(draw: st.DrawFn) -> tuple[Recording, bytes]:
    """A recording with bytes changed, lines repeated or taken out, or its end cut off."""
    one = draw(one_recording)
    lines = lines_of_stream(one.stdout)
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, len(lines))) if lines else 0
        lines[place:place] = lines[place : place + 1] * draw(st.integers(0, 2))
        del lines[place : place + draw(st.integers(0, 1))]
    data = bytearray(b"\n".join(lines))
    for _ in range(draw(st.integers(0, 4))):
        if data:
            start = draw(st.integers(0, len(data) - 1))
            length = draw(st.integers(0, 2))
            data[start : start + length] = draw(st.binary(max_size=3))
    return one, bytes(data[: draw(st.integers(0, len(data)))] if draw(st.booleans()) else data)


@thorough
@given(changed=mutated(), places=places)
def test_a_damaged_stream_says_the_same_in_both_ways(
    changed: tuple[Recording, bytes], places: list[int]
) -> None:
    """Whatever happened to a transcript, no way raises and both agree."""
    one, data = changed
    agree(one.provider, data, stderr=one.stderr, places=places, exit_code=one.exit_code)


# ---- traps, each by its name


def tier_in_both_ways(agent: str, data: bytes, token: str) -> int | None:
    hit = agree(agent, data, (token,))["hits"].get(token)
    return hit.tier if hit else None


def mention(agent: str, text: str, token: str) -> int | None:
    """The tier of a token in a run in which the assistant says a text."""
    return tier_in_both_ways(agent, run_of(agent, say(agent, text)), token)


@each_agent
@pytest.mark.parametrize(
    ("text", "token", "named"),
    [
        ("I use ORDER-API.", "order-api", True),
        ("I use wıdget-test.", "widget-test", True),
        ("I use WİDGET-TEST.", "widget-test", True),
        ("I use widget-teſt.", "widget-test", True),
        ("I use mar\u212a-up.", "mark-up", True),
        ("I use maſſe-api.", "masse-api", True),
        ("I use maße-api.", "masse-api", False),
        ("Café-Größe", "café-größe", True),
        ("CAFÉ-GRÖSSE", "café-größe", False),
        ("I use ÉCOLE-API.", "école-api", True),
        ("ΣΟΦΟΣ-api", "σοφος-api", True),
        ("my-order-api and order-apis", "order-api", False),
    ],
)
def test_letters_are_folded_as_the_rules_fold_them(
    agent: str, text: str, token: str, named: bool
) -> None:
    """Latin-1 engines and plain bytes miss these; one letter can also fold to two."""
    assert mention(agent, text, token) == (3 if named else None)


@each_agent
@pytest.mark.parametrize("escape", ["\\u0064", "\\u0044"])
def test_an_escaped_letter_hides_no_token(agent: str, escape: str) -> None:
    r"""`wi\u0064get-test` is the name that it decodes to."""
    data = run_of(agent, say(agent, "I use widget-test.")).replace(
        b"widget-test", f"wi{escape}get-test".encode()
    )
    assert tier_in_both_ways(agent, data, "widget-test") == 3


@each_agent
def test_an_escaped_letter_hides_no_type(agent: str) -> None:
    r"""`"typ\u0065"` is a type, also of the record that proves a load."""
    data = run_of(agent, *load(agent, "widget-test")).replace(b'"type"', b'"typ\\u0065"')
    assert tier_in_both_ways(agent, data, "widget-test") == 1
    hidden = run_of(agent, *load(agent, "widget-test"))
    for kind in (b"assistant", b"item.completed", b"tool.execution_complete", b"tool_use"):
        hidden = hidden.replace(b'"' + kind, b'"\\u00%02x' % kind[0] + kind[1:])
    assert b"\\u00" in hidden
    assert tier_in_both_ways(agent, hidden, "widget-test") == 1


@each_agent
def test_escaped_slashes_and_doubled_backslashes_hide_no_path(agent: str) -> None:
    """A path is what it decodes to."""
    path = skill_path(agent, "widget-test")
    plain = run_of(agent, *shell(agent, f"cat {path}", "---\nname: widget-test\n---\n"))
    for written in (path.replace("/", "\\/"), path.replace("/", "\\\\")):
        data = plain.replace(path.encode(), written.encode())
        assert tier_in_both_ways(agent, data, "widget-test/SKILL.md") is not None


@each_agent
def test_the_last_of_two_types_counts(agent: str) -> None:
    """A record that repeats a key is what JSON decoders make of it."""
    quiet = {"claude": "stream_event", "codex": "turn.started", "copilot": "assistant.idle"}
    kind = quiet.get(agent, "step_start" if agent == "opencode" else "init")
    lines = lines_of_stream(run_of(agent, *load(agent, "widget-test")))
    doubled = b"\n".join(b'{"type":"%s",%s' % (kind.encode(), line[1:]) for line in lines)
    assert tier_in_both_ways(agent, doubled, "widget-test") == 1
    hidden = b"\n".join(b'%s,"type":"%s"}' % (line[:-1], kind.encode()) for line in lines)
    assert tier_in_both_ways(agent, hidden, "widget-test") is None


@each_agent
def test_a_name_over_two_lines_is_none(agent: str) -> None:
    """What is looked at ends with its line."""
    data = run_of(agent, say(agent, "I use widget-"), say(agent, "test."))
    assert tier_in_both_ways(agent, data, "widget-test") is None


@each_agent
@pytest.mark.parametrize(
    "noise",
    [b"\x00", b"\xff\xfe", b"\xc3", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\x1b[31m", b"\r", b"\t"],
)
def test_noise_inside_and_around_records_stops_nothing(agent: str, noise: bytes) -> None:
    """NUL, invalid UTF-8, a byte order mark, colours and carriage returns."""
    lines = lines_of_stream(run_of(agent, *load(agent, "widget-test"), say(agent, "Fine so far")))
    text = b"\n".join(lines)
    for data in (
        noise + text,
        text + noise,
        b"\n".join(noise + line for line in lines),
        b"\n".join(line + noise for line in lines),
        text.replace(b"Fine ", b"Fine " + noise),
        text.replace(b'":', b'":' + noise),
    ):
        agree(agent, data)


@each_agent
@pytest.mark.parametrize(
    "line",
    [
        b"",
        b" ",
        b"\r",
        b"{}",
        b"[]",
        b'"x"',
        b"null",
        b'{"type":"stream_event"',
        b'{"type":"stream_event"} {"type":"stream_event"}',
        b'{"type":"stream_event"}{"type":"stream_event"}',
        b'{"type":"stream_event","n":01}',
        b'{"type":"stream_event","n":NaN}',
        b'{"type":"stream_event","n":1e999}',
        b'{"type":"stream_event","n":' + b"9" * 5000 + b"}",
        b'{"type":"stream_event","n":"\\ud800"}',
        b'{"type":"stream_event","n":"\\x"}',
        b'{"type":"stream_event","n":"\t"}',
        b'{"type":null}',
        b'{"type":["stream_event"]}',
        b'{"msg":{"type":"agent_message_delta"}}',
        b'{"msg":null,"type":"turn.started"}',
        b'{"msg":[],"type":"turn.started"}',
        b'{"type":"message","role":"assistant","content":null}',
        b'{"type":"message","role":"assistant","content":[{"text":"order-api"}]}',
        b'{"type":"message","role":"assistant","content":"  "}',
        b'{"type":"message","role":null,"content":"order-api"}',
        b'{"type":"system","subtype":null}',
        b'{"type":"stream_event","n":' + b"[" * 400 + b"]" * 400 + b"}",
        b'{"type":"stream_event","n":"\xff","n":1}',
    ],
)
def test_odd_lines_are_counted_alike(agent: str, line: bytes) -> None:
    """What is and what is no record does not depend on the way; the drift rule counts both."""
    for lines in ([line], [line] * 3, [*lines_of_stream(run_of(agent)), line]):
        agree(agent, b"\n".join(lines))
        agree(agent, b"\n".join(lines) + b"\n")


def test_a_value_over_two_lines_is_no_record() -> None:
    """Only whole lines are records, though a decoder of many values would take it for one."""
    data = b'{"type":"stream_event","event":\n{}}\n{"type":"stream_event"}{"type":"stream_event"}\n'
    reading = agree("claude", data)["reading"]
    assert (reading.recognised, reading.unrecognised) == (3, 0)  # plain text, none is a record


@pytest.mark.parametrize(
    ("command", "token"),
    [
        ("cat docs/or'der'-api/notes.md", "order-api/notes.md"),
        ('cat "docs/order"-api/notes.md', "order-api/notes.md"),
        ("cat docs/order\\-api/notes.md", "order-api/notes.md"),
        ("x=order; cat docs/$x-api/notes.md", "order-api/notes.md"),
        ("d=order-api; cat docs/$d/notes.md", "order-api/notes.md"),
        ("cat docs/order-api/notes.md", "order-api/notes.md"),
        ("cd docs && cd order-api && cat notes.md", "order-api/notes.md"),
    ],
)
@each_agent
def test_a_name_that_a_shell_puts_together_is_found(agent: str, command: str, token: str) -> None:
    """Quotes, escapes and variables take a name apart."""
    data = run_of(agent, say(agent, "First."), *shell(agent, "true"), *shell(agent, command, "x"))
    assert tier_in_both_ways(agent, data, token) == 2


def test_a_call_without_an_id_waits_for_its_result_for_ever() -> None:
    """Its result pairs with nothing, so that standard error does not explain the end."""
    (call,) = shell("opencode", "true")
    call = {**call, "part": {**call["part"], "callID": None}}
    begun = jsonl(say("opencode", "First."), *shell("opencode", "true"), call)
    said = agree("opencode", begun, stderr=b"APIError: 429\n", exit_code=1)
    assert said["outcome"] is Outcome.KILLED


def test_a_read_is_paired_with_a_result_that_names_nothing() -> None:
    """The token stands in the call alone."""
    data = run_of("claude", *shell("claude", "true"), *view("claude", "/repo/notes.md", "text"))
    assert agree("claude", data)["hits"]["notes.md"].tier == 2


@each_agent
def test_a_skill_that_no_token_names_is_listed_as_loaded(agent: str) -> None:
    """What else was loaded is part of the result."""
    said = agree(agent, run_of(agent, *shell(agent, "true"), *load(agent, "deep-research")))
    assert said["loads"] == ["deep-research"]


@each_agent
def test_a_recovered_failure_is_forgotten_in_order(agent: str) -> None:
    """Quiet messages between a failure and a turn change nothing of what came last."""
    failures: dict[str, dict[str, Any]] = {
        "claude": {"type": "system", "subtype": "api_retry", "error": "rate_limit"},
        "codex": {"type": "error", "message": "429 rate limit"},
        "copilot": {"type": "model.call_failure", "data": {"failureKind": "rate_limit"}},
        "gemini": {"type": "error", "message": "429 rate limit"},
        "opencode": {"type": "error", "error": {"data": {"message": "rate limit"}}},
    }
    failed = jsonl(failures[agent])
    words = jsonl(*[say(agent, "word ")] * 3)
    assert agree(agent, words + failed + words)["reading"].retrying is None
    last = agree(agent, words + failed)["reading"]
    assert (last.retrying or last.failure) is not None


def test_a_text_of_the_agent_that_is_json_is_text() -> None:
    """A record of no CLI does not turn into one by being read in a block."""
    reading = agree("copilot", json.dumps({"kind": "x"}).encode() + b"\nplain\n")["reading"]
    assert (reading.recognised, reading.is_record_stream) == (2, False)
