"""What all readers share: lines, calls paired with their results, counting, and standard error."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

import pytest

from routing_action.agents.provider import ReadContext
from routing_action.agents.reading.decoding import Record, as_text
from routing_action.agents.reading.failures import StderrRule
from routing_action.agents.reading.proofs import QUOTE_LIMIT, TEXT_LIMIT
from routing_action.agents.reading.records import RecordReader
from routing_action.evidence.transcript import LINE_LIMIT, ApiFailure, EvidenceLine, LineKind
from tests.support.streams import jsonl, skill_text

PATH = "/r/.agents/skills/w/SKILL.md"


class PlainReader(RecordReader):
    """The smallest reader: `call`, `result`, `say` and `end` records as they are."""

    stderr_rules = (
        StderrRule(re.compile(r"^Fatal: ")),
        StderrRule(re.compile(r"^No login"), ApiFailure.AUTH),
    )

    def on_record(self, record: Record) -> Iterable[EvidenceLine] | None:
        kind = record.get("type")
        if kind == "call":
            self.call(record["id"], record["kind"], "tool", as_text(record.get("target")))
        elif kind == "result":
            output = as_text(record.get("output"))
            return self.result(record["id"], ok=record["ok"], output=output)
        elif kind == "say":
            return self.say(as_text(record.get("text")))
        elif kind == "end":
            self.end()
        else:
            return None
        return ()


class ShellReader(PlainReader):
    """The same for an agent that loads by the shell."""

    shell_loads = True


def call(identity: object, kind: str, target: str) -> Record:
    return {"type": "call", "id": identity, "kind": kind, "target": target}


def result(identity: object, output: str = "", *, ok: bool = True) -> Record:
    return {"type": "result", "id": identity, "ok": ok, "output": output}


def read(*records: Record, reader: RecordReader | None = None) -> list[EvidenceLine]:
    used = reader or PlainReader(ReadContext())
    lines = jsonl(*records).splitlines()
    return [found for line in lines for found in used.feed(line)] + list(used.finish())


def kinds(lines: Iterable[EvidenceLine]) -> list[str]:
    return [line.kind.value for line in lines]


# ---- calls and results


def test_a_call_and_its_result_are_paired_by_id_in_any_order() -> None:
    """Calls that run side by side each get their own result."""
    found = read(
        call("a", "skill", "one"), call("b", "skill", "two"), result("b", ok=False), result("a")
    )
    assert [(line.kind, line.skill) for line in found] == [
        (LineKind.ATTEMPT, "two"),
        (LineKind.LOAD, "one"),
    ]


def test_a_load_points_at_the_line_of_its_call() -> None:
    """The proof quotes the call, not the result that came later."""
    (load,) = read(call("a", "skill", "one"), {"type": "end"}, result("a"))
    assert load.number == 1
    assert '"target": "one"' in load.quote


def test_a_result_counts_once() -> None:
    """A repeated result, or one without a call, proves nothing more."""
    found = read(call("a", "skill", "one"), result("a"), result("a"), result("x", "text"))
    assert kinds(found) == ["load", "tool_result"]


def test_a_call_that_waits_at_the_end_is_an_attempt() -> None:
    """Whether it would have loaded is not known."""
    assert kinds(read(call("a", "skill", "one"))) == ["attempt"]
    assert kinds(read(call("a", "file", PATH))) == ["tool_call"]


def test_ids_of_any_type_are_paired() -> None:
    """A number is an id as good as a word; what has no id is never paired."""
    assert kinds(read(call(7, "skill", "w"), result(7))) == ["load"]
    assert kinds(read(call(1, "skill", "w"), result("1"))) == ["attempt"]
    for identity in (None, ["x"]):
        assert kinds(read(call(identity, "skill", "w"), result(identity))) == ["attempt"]


def test_a_call_whose_id_is_used_again_is_an_attempt() -> None:
    """Two calls of one id cannot share a result."""
    found = read(call("a", "skill", "v"), call("a", "skill", "w"), result("a"))
    assert sorted((line.kind.value, line.skill) for line in found) == [
        ("attempt", "v"),
        ("load", "w"),
    ]


def test_calls_without_end_take_bounded_memory() -> None:
    """A stream of calls that never get a result does not grow for ever."""
    reader = PlainReader(ReadContext())
    calls = read(*(call(number, "tool", "x") for number in range(10_050)), reader=reader)
    assert len(calls) == 1_000
    assert reader.reading.tool_events == 10_050


# ---- files and commands


def test_a_successful_file_tool_is_a_read() -> None:
    """The tool call is there in any case, the read only with success."""
    assert kinds(read(call("a", "file", "x.md"), result("a"))) == ["read", "tool_call"]
    assert kinds(read(call("a", "file", "x.md"), result("a", ok=False))) == ["tool_call"]


def test_a_command_is_read_only_where_it_ended_well() -> None:
    """Exit code and output decide what a command has read."""
    cat = call("a", "shell", f"cat {PATH}")
    good = read(cat, result("a", skill_text("w")))
    assert [(line.kind.value, line.path) for line in good[:2]] == [
        ("read", PATH),
        ("tool_call", ""),
    ]
    assert kinds(read(cat, result("a", skill_text("w"), ok=False))) == ["tool_call", "tool_result"]


def test_a_shell_read_is_a_load_only_where_there_is_no_skill_tool() -> None:
    """The same command is codex' load and a hand read for the others."""
    steps = (call("a", "shell", f"cat {PATH}"), result("a", skill_text("w")))
    (load,) = [line for line in read(*steps, reader=ShellReader(ReadContext())) if line.skill]
    assert (load.kind, load.skill, load.text) == (
        LineKind.LOAD,
        "w",
        "Base directory for this skill: /r/.agents/skills/w",
    )
    assert "load" not in kinds(read(*steps))


@pytest.mark.parametrize(
    ("path", "context", "kind"),
    [
        ("/r/.agents/skills/w/SKILL.md", ReadContext(("/r/.agents/skills",)), LineKind.LOAD),
        ("/home/u/.agents/skills/w/SKILL.md", ReadContext(("/r/.agents/skills",)), LineKind.READ),
        ("/r/odd/w/SKILL.md", ReadContext(("/r/odd",)), LineKind.LOAD),
        ("/r/odd/w/SKILL.md", ReadContext(), LineKind.READ),
    ],
)
def test_a_shell_load_must_lie_in_a_skills_root(
    path: str, context: ReadContext, kind: LineKind
) -> None:
    """A copy elsewhere is read, not loaded."""
    steps = (call("a", "shell", f"cat {path}"), result("a", skill_text("w")))
    found = [line for line in read(*steps, reader=ShellReader(context)) if line.path]
    assert [line.kind for line in found] == [kind]


def test_only_skill_files_can_be_wrong_copies() -> None:
    """Any other file may be read wherever it lies."""
    context = ReadContext(("/r/.agents/skills",))
    reader = PlainReader(context)
    found = read(
        call("a", "file", "/home/skills/w/SKILL.md"), result("a"),
        call("b", "file", "/home/notes.md"), result("b"),
        reader=reader,
    )  # fmt: skip
    assert [line.wrong_copy for line in found if line.kind is LineKind.READ] == [True, False]


def test_calls_that_name_no_token_are_activity_alone() -> None:
    """One of them says so; a command that may read a SKILL.md, or builds a name, is looked at."""
    reader = ShellReader(ReadContext(may_name=lambda text: False))
    found = read(
        call("a", "file", "notes.md"), result("a", "text"),
        call("b", "tool", "query"), result("b", "text"),
        call("c", "shell", "ls docs"), result("c", "text"),
        call("d", "shell", f"cat {PATH}"), result("d", skill_text("w")),
        call("e", "shell", "cat $x"), result("e", "text"),
        call("f", "skill", "other"), result("f", "text"),
        reader=reader,
    )  # fmt: skip
    assert kinds(found) == ["tool_call", "load", "tool_call", "tool_call", "load"]
    assert reader.reading.tool_events == 6


# ---- counting, text mode and the end


def test_every_line_is_counted_once() -> None:
    """Known records, unknown records and text between them are told apart; blank lines are none."""
    reader = PlainReader(ReadContext())
    for line in (b'{"type": "end"}', b'{"type": "new"}', b"text", b"", b" \r", b"[1]", b'{"a": 1}'):
        reader.feed(line)
    reader.finish()
    assert (reader.reading.recognised, reader.reading.unrecognised) == (1, 4)
    assert reader.number == 7
    assert reader.terminal_seen


def test_output_without_any_record_is_plain_text() -> None:
    """Each line is then recognised, is text of the agent, and proves nothing by itself."""
    reader = PlainReader(ReadContext())
    for line in (
        b"\xef\xbb\xbf\x1b[1mI use widget-testing\x1b[0m\r",
        b"",
        b'{"json": "of the agent"}',
    ):
        assert list(reader.feed(line)) == []
    found = list(reader.finish())
    assert [(line.kind.value, line.text, line.number) for line in found] == [
        ("mention", "I use widget-testing", 1),
        ("mention", '{"json": "of the agent"}', 3),
    ]
    reading = reader.reading
    assert (reading.recognised, reading.unrecognised, reading.has_text) == (2, 0, True)
    assert not reading.is_record_stream


def test_plain_text_without_end_takes_bounded_memory() -> None:
    """Only the first megabytes of a text are kept, but all lines are counted."""
    reader = PlainReader(ReadContext())
    for _ in range(100):
        reader.feed(b"x" * 200_000)
    assert len(list(reader.finish())) == 42
    assert reader.reading.recognised == 100


@pytest.mark.parametrize(
    ("count", "said"), [(1, "1 line of more than 8 MiB"), (2, "2 lines of more than 8 MiB")]
)
def test_a_line_that_is_too_long_is_counted_and_not_read(count: int, said: str) -> None:
    """It is not recognised, whatever it is, and the row has a note that says so."""
    reader = PlainReader(ReadContext())
    giant = json.dumps(call("a", "skill", "w")).encode() + b" " * LINE_LIMIT
    for line in (b"", *[giant] * count, b'{"type": "end"}'):
        assert list(reader.feed(line)) == []
    assert list(reader.finish()) == []
    reading = reader.reading
    assert (reading.recognised, reading.unrecognised) == (1, count)
    (note,) = reading.notes
    assert said in note
    assert "stdout line 2" in note


def test_a_text_of_one_giant_line_is_not_recognised() -> None:
    """Without any other line there is nothing to judge."""
    reader = PlainReader(ReadContext())
    reader.feed(b"x" * (LINE_LIMIT + 1))
    reader.finish()
    assert (reader.reading.recognised, reader.reading.unrecognised) == (0, 1)


def test_finishing_twice_adds_nothing() -> None:
    """The end of the output is told once."""
    reader = PlainReader(ReadContext())
    reader.feed(json.dumps(call("a", "skill", "w")).encode())
    assert kinds(reader.finish()) == ["attempt"]
    assert list(reader.finish()) == []


def test_quotes_and_texts_are_cut() -> None:
    """A giant line costs bounded memory."""
    (line,) = read({"type": "say", "text": "x" * 300_000})
    assert (len(line.quote), len(line.text)) == (QUOTE_LIMIT, TEXT_LIMIT)


def test_silence_of_the_assistant_is_no_text() -> None:
    """Blank text says nothing."""
    reader = PlainReader(ReadContext())
    assert read({"type": "say", "text": " \n"}, reader=reader) == []
    assert not reader.reading.has_text


def test_a_turn_after_a_retry_means_that_it_recovered() -> None:
    """A rate limit that passed is no failure of the run."""
    reader = PlainReader(ReadContext())
    reader.retry("429", status=429)
    assert reader.reading.retrying is ApiFailure.RATE_LIMIT
    reader.turn()
    assert reader.reading.retrying is None


# ---- standard error


def stderr_after(lines: list[bytes], errors: list[bytes], exit_code: int | None) -> RecordReader:
    reader = PlainReader(ReadContext())
    for line in lines:
        reader.feed(line)
    for line in errors:
        reader.feed_stderr(line)
    reader.finish(exit_code)
    return reader


def test_an_error_line_explains_a_run_without_output() -> None:
    """The CLI's own words tell why it never ran; the last of them counts."""
    reading = stderr_after([], [b"Fatal: rate limit", b"x", b"No login\x00"], 1).reading
    assert (reading.failure, reading.failure_message) == (ApiFailure.AUTH, "No login")
    assert stderr_after([], [b"\x1b[31mFatal: quota exceeded\r"], 1).reading.failure is (
        ApiFailure.QUOTA
    )


@pytest.mark.parametrize(
    ("lines", "exit_code", "failure", "retrying"),
    [
        ([], 1, ApiFailure.AUTH, None),
        ([], None, ApiFailure.AUTH, None),
        ([], 0, None, None),
        ([b"some text"], 1, ApiFailure.AUTH, None),
        ([b'{"type": "say"}'], 1, None, ApiFailure.AUTH),
        ([b'{"type": "say", "text": "42"}', b'{"type": "end"}'], 1, None, None),
        ([b'{"type": "say"}', b'{"type": "end"}'], 0, ApiFailure.AUTH, None),
    ],
)
def test_an_error_line_counts_only_where_the_run_did_not_end_well(
    lines: list[bytes],
    exit_code: int | None,
    failure: ApiFailure | None,
    retrying: ApiFailure | None,
) -> None:
    """A run that spoke and ended outranks standard error; one that only ended does not."""
    reading = stderr_after(lines, [b"No login"], exit_code).reading
    assert (reading.failure, reading.retrying) == (failure, retrying)


def test_a_failure_in_the_stream_outranks_standard_error() -> None:
    """The CLI's own field says it better than a line of text."""
    reader = PlainReader(ReadContext())
    reader.fail("credit balance")
    reader.feed_stderr(b"No login")
    reader.finish(1)
    assert reader.reading.failure is ApiFailure.QUOTA


def test_an_error_line_in_the_middle_of_a_sentence_is_none() -> None:
    """Patterns are anchored: prose that quotes an error explains nothing."""
    assert stderr_after([], [b"I saw 'Fatal: quota'", b"> No login"], 1).reading.failure is None


@pytest.mark.parametrize(
    ("line", "failure"),
    [
        (b'API Error: 401 {"type":"error"} invalid x-api-key', ApiFailure.AUTH),
        (b"[API Error: 529 overloaded]", ApiFailure.SERVER_ERROR),
        (b"API Error: Connection error.", ApiFailure.API_ERROR),
        (b"acme: error: HTTP 429 Too Many Requests", ApiFailure.RATE_LIMIT),
        (b"Error: 402 Payment Required", ApiFailure.QUOTA),
        (b"Invalid API key \xc2\xb7 Please run /login", ApiFailure.AUTH),
        (b"Error: Not logged in", ApiFailure.AUTH),
        (b"the API Error: 401 means that a key was rejected", None),
        (b"> API Error: 401", None),
        (b"Error: cannot find module authentication.js", None),
        (b"Error: 4010 files", None),
    ],
)
def test_an_agent_that_only_says_on_standard_error_why_it_failed_is_heard(
    line: bytes, failure: ApiFailure | None
) -> None:
    """Where it printed nothing else and exits with an error; prose that quotes one counts not."""
    assert stderr_after([], [line, b"bye"], 1).reading.failure is failure
    assert stderr_after([], [line], 0).reading.failure is None
    assert stderr_after([b"some text"], [line], 1).reading.failure is None
