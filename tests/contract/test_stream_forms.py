"""A stream is read in whatever form it was stored; what can show no load proves no absence."""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Iterable

import pytest

from routing_action.corpus.baseline import Status
from routing_action.evidence.outcome import Outcome, RunEnd
from routing_action.evidence.verdict import Verdict
from tests.support.builders import Run, case_of, judge_run, lines_of, read
from tests.support.recorded import recording

LOADED = "widget-testing"
RUNS = {
    "claude": "cli/claude/2.1.332/a_skill",
    "codex": "cli/codex/0.171.0/a_skill",
    "copilot": "cli/copilot/1.0.102/a_skill",
    "gemini": "cli/gemini/0.61.0/a_skill",
    "opencode": "cli/opencode/1.18.33/a_skill",
}
each_agent = pytest.mark.parametrize("agent", RUNS)
ABSENT = case_of(expected_skill="", disallowed_skills=(LOADED,))
STAMP = "2026-05-21T09:18:12.4469630Z"


def recorded(agent: str) -> list[bytes]:
    """The lines of a run that loaded the skill."""
    return [line for line in lines_of(recording(RUNS[agent]).stdout) if line.strip()]


def before(text: str) -> Callable[[list[bytes]], bytes]:
    return lambda lines: b"\n".join(text.encode() + line for line in lines) + b"\n"


def joined(lines: Iterable[bytes]) -> bytes:
    return b"\n".join(lines) + b"\n"


def objects(lines: list[bytes]) -> list[object]:
    return [json.loads(line) for line in lines]


def in_parts(lines: list[bytes]) -> bytes:
    """As a container runtime cuts long lines."""
    cut = []
    for line in lines:
        cut += [
            f"{STAMP} stdout P ".encode() + line[:100],
            f"{STAMP} stdout F ".encode() + line[100:],
        ]
    return joined(cut)


def docker_json(lines: list[bytes]) -> bytes:
    entries = [{"log": line.decode() + "\n", "stream": "stdout", "time": STAMP} for line in lines]
    return joined(json.dumps(entry).encode() for entry in entries)


FORMS: dict[str, Callable[[list[bytes]], bytes]] = {
    "array on one line": lambda lines: b"[" + b",".join(lines) + b"]",
    "array, a record a line": lambda lines: b"[\n" + b",\n".join(lines) + b"\n]\n",
    "array over many lines": lambda lines: json.dumps(objects(lines), indent=2).encode(),
    "array in another style": lambda lines: (
        b"[{\n"
        + b"\n}, {\n".join(json.dumps(one, indent=1)[1:-1].encode() for one in objects(lines))
        + b"\n}]"
    ),
    "records over many lines": lambda lines: joined(
        json.dumps(one, indent=4).encode() for one in objects(lines)
    ),
    "UTF-16 LE with a mark": lambda lines: (
        codecs.BOM_UTF16_LE + joined(lines).decode().encode("utf-16-le")
    ),
    "UTF-16 BE with a mark": lambda lines: (
        codecs.BOM_UTF16_BE + joined(lines).decode().encode("utf-16-be")
    ),
    "UTF-16 LE": lambda lines: joined(lines).decode().encode("utf-16-le"),
    "UTF-16 BE": lambda lines: joined(lines).decode().encode("utf-16-be"),
    "UTF-16 LE array": lambda lines: (
        codecs.BOM_UTF16_LE + json.dumps(objects(lines), indent=1).encode("utf-16-le")
    ),
    "UTF-16 with CRLF": lambda lines: (
        codecs.BOM_UTF16_LE + b"\r\n".join(lines).decode().encode("utf-16-le")
    ),
    "UTF-8 with a mark": lambda lines: codecs.BOM_UTF8 + joined(lines),
    "CRLF": b"\r\n".join,
    "kubernetes": before(f"{STAMP} stdout F "),
    "kubernetes, lines cut": in_parts,
    "docker compose": before("agent-1  | "),
    "docker compose in colours": before("\x1b[36magent-1  |\x1b[0m "),
    "docker's json-file": docker_json,
    "a time": before("[12:00:01] "),
    "a GitHub job log": before(f"{STAMP} "),
    "a downloaded job log": before(f"build\tRun agent\t{STAMP} "),
    "syslog": before("Nov 29 09:00:01 host-1 agent[123]: "),
    "a level": before("INFO [agent] 2026-05-21 09:18:12,446 - "),
    "an event stream": before("data: "),
    "colours around": lambda lines: joined(b"\x1b[32m" + line + b"\x1b[0m" for line in lines),
    "after a banner": lambda lines: before("agent-1  | ")(
        [b"Starting.", b"Listening on 8080", *lines]
    ),
}


def judged(agent: str, stdout: bytes) -> Verdict:
    return judge_run(agent, ABSENT, stdout)


@each_agent
@pytest.mark.parametrize("form", FORMS)
def test_s4_a_load_shows_in_every_form(agent: str, form: str) -> None:
    """A disallowed skill that was loaded fails its case, however the stream was stored."""
    stdout = FORMS[form](recorded(agent))
    assert judged(agent, stdout).disallowed_hits == (LOADED,)


@each_agent
@pytest.mark.parametrize("form", FORMS)
def test_s4_a_run_reads_the_same_in_every_form(agent: str, form: str) -> None:
    """Counts, usage, catalogue and the end do not depend on the form."""
    lines = recorded(agent)
    plain, other = read(agent, joined(lines)), read(agent, FORMS[form](lines))
    foreign = other.reading.foreign
    assert foreign <= 2
    assert other.reading.recognised == plain.reading.recognised
    assert other.outcome() is plain.outcome()
    assert _facts(other) == _facts(plain)


def _facts(run: Run) -> tuple[object, ...]:
    reading = run.reading
    return reading.terminal, reading.usage, reading.catalogue, reading.model, run.evidence.loads


# ---- what cannot show a load


@pytest.mark.parametrize(
    ("agent", "stdout"),
    [
        ("claude", b"I have started the build.\n"),
        (
            "claude",
            b'{"type":"result","subtype":"success","is_error":false,"num_turns":3,"result":"ok"}',
        ),
        ("codex", b"I have started the build.\n"),
        ("gemini", b"I have started the build.\nAll done.\n"),
        ("opencode", "\x1b[0m\n> build · gpt\n\nI have started the build.\n".encode()),
    ],
)
def test_s4_plain_text_proves_no_absence(agent: str, stdout: bytes) -> None:
    """Where no load can show, a case that depends on absence is not measured, and says so."""
    verdict = judged(agent, stdout)
    assert (verdict.status, verdict.outcome) == (Status.INFRA_ERROR, Outcome.NOT_MEASURABLE)
    assert verdict.failure_kind == "not_measurable"


def test_s4_plain_text_in_which_loads_show_proves_absence() -> None:
    """Copilot's text mode prints a line for each skill."""
    verdict = judged("copilot", "● shell(ls)\n\nI have started the build.\n".encode())
    assert verdict.status is Status.PASS


@pytest.mark.parametrize("agent", RUNS)
def test_s4_a_recorded_run_without_a_load_proves_absence(agent: str) -> None:
    """The honest case stays green, in JSON lines and in a container's log."""
    lines = lines_of(recording(RUNS[agent].replace("a_skill", "c_mention")).stdout)
    for stdout in (joined(lines), before("agent-1  | ")(lines)):
        assert judged(agent, stdout).status is Status.PASS


@pytest.mark.parametrize("agent", RUNS)
def test_s4_prose_that_quotes_a_record_is_no_record(agent: str) -> None:
    """Only the form of a log stands before records, not an answer that shows one."""
    load = recorded("claude")[1].decode()
    prose = f"The stream looks like this, for example: {load}\n"
    run = read(agent, f"I have looked.\n{prose}".encode())
    assert run.reading.is_record_stream is False


# ---- formats that are not known


@pytest.mark.parametrize(
    "messages",
    [
        ["task_started", "task_complete"],
        ["task_started", "agent_reasoning", "turn_diff", "task_complete"],
        ["task_begun", "tool_ran", "task_over"],
        ["session_configured", "task_started", "token_count"],
    ],
)
@pytest.mark.parametrize("noise", [b"", b"Reading prompt from stdin...\n"])
def test_s4_a_stream_of_nothing_known_is_drift(messages: list[str], noise: bytes) -> None:
    """The old protocol without any event that is understood is not a completed run."""
    lines = [json.dumps({"id": "0", "msg": {"type": kind, "x": 1}}).encode() for kind in messages]
    verdict = judged("codex", noise + joined(lines))
    assert verdict.status is Status.INFRA_ERROR
    assert verdict.outcome in (Outcome.SCHEMA_DRIFT, Outcome.NEVER_RAN)


@each_agent
def test_s4_records_that_are_all_unknown_are_drift(agent: str) -> None:
    """A release that renames its events is not taken for plain text."""
    lines = [
        json.dumps({"type": f"x.{n}", "data": {}, "msg": {"type": f"y{n}"}}).encode()
        for n in range(6)
    ]
    assert judged(agent, b"Welcome!\n" + joined(lines)).outcome is Outcome.SCHEMA_DRIFT


# ---- lines of others


@each_agent
@pytest.mark.parametrize("count", [1, 40, 400])
def test_s15_a_complete_run_stays_one_beside_the_lines_of_servers(agent: str, count: int) -> None:
    """What servers print on standard output is counted, and spoils nothing."""
    lines = lines_of(recording(RUNS[agent].replace("a_skill", "c_mention")).stdout)
    noise = [
        b"[mcp] listening on stdio",
        b"DEBUG tools/list took 3 ms",
        b'{"jsonrpc":"2.0","id":1}',
    ]
    stdout = joined([*lines[:1], *(noise * count)[:count], *lines[1:]])
    run = read(agent, stdout)
    assert run.outcome() is Outcome.COMPLETED
    assert run.reading.foreign == count
    assert judged(agent, stdout).status is Status.PASS


@each_agent
def test_s15_noise_without_a_complete_run_is_drift(agent: str) -> None:
    """A stream that breaks off under noise is no measurement."""
    lines = recorded(agent)[:2]
    verdict = judge_run(agent, ABSENT, joined([*lines, *[b"[mcp] tick"] * 40]), end=RunEnd())
    assert verdict.status is Status.INFRA_ERROR
    assert verdict.outcome in (Outcome.SCHEMA_DRIFT, Outcome.KILLED)


@each_agent
def test_s15_a_load_behind_noise_on_its_line_is_seen(agent: str) -> None:
    """A server that prints no newline hides no record."""
    lines = recorded(agent)
    stdout = joined([lines[0], *(b"[mcp] tick " + line for line in lines[1:])])
    assert judged(agent, stdout).disallowed_hits == (LOADED,)


@pytest.mark.parametrize("text", ["1:11:", "a:", "[x]", "- ", "2026-05-21 ", '{"a":', "[{", '\\"'])
def test_s4_what_looks_like_the_form_of_a_log_costs_bounded_work(text: str) -> None:
    """A line of nothing else is text, however long it is."""
    stdout = joined([b"Starting.", text.encode() * 20_000, text.encode() * 50 + b'! {"type":"x"}'])
    assert read("claude", stdout).reading.is_record_stream is False
