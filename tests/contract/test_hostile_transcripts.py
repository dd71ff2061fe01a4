"""Near misses that look like a load, and loads that look unusual: each judged by the mechanism."""

from __future__ import annotations

import json
from typing import Any

import pytest

from routing_action.agents.discovery import all_providers
from routing_action.agents.provider import ReadContext
from routing_action.evidence.evidence import EvidenceCollector
from routing_action.evidence.outcome import Outcome, RunEnd, decide_outcome
from routing_action.evidence.transcript import Reading

S = ".agents/skills/foo/SKILL.md"
FRONT = "---\nname: foo\ndescription: d\n---\n# foo\n"
OTHER = "---\nname: other\ndescription: d\n---\n"
TOKENS = ("foo", "docs/a.md")


def read(
    agent: str,
    *records: dict[str, Any],
    stderr: str = "",
    code: int = 0,
    **context: Any,  # noqa: ANN401
) -> tuple[EvidenceCollector, Reading]:
    """Everything that records prove."""
    provider = all_providers()[agent]
    reader = provider.reader(ReadContext(**context))
    found = EvidenceCollector(agent, TOKENS)
    for record in records:
        found.extend(reader.feed(json.dumps(record).encode()))
    for line in stderr.splitlines():
        reader.feed_stderr(line.encode())
    found.extend(reader.finish(code))
    return found, reader.reading


def codex(command: str, output: str, **item: Any) -> dict[str, Any]:  # noqa: ANN401
    """A completed command of codex."""
    done = {"id": "i", "type": "command_execution", "command": command, "exit_code": 0}
    return {
        "type": "item.completed",
        "item": {**done, "aggregated_output": output, "status": "completed", **item},
    }


def tier(evidence: EvidenceCollector, name: str = "foo") -> int | None:
    """The tier of a token, None where it has no hit."""
    hit = evidence.hits.get(name)
    return hit.tier if hit else None


@pytest.mark.parametrize(
    "command",
    [
        f"sed -n '80,200p' {S}", f"tail -n 40 {S}", f"awk 'NR>80' {S}", f"cat {S} | tail -n +80",
        f"sed 1,80d {S}", f"cat {S} | sed -n '9,$p'",
    ],
)  # fmt: skip
def test_a_read_of_later_lines_is_no_load_though_they_hold_an_example(command: str) -> None:
    """A skill about skills shows frontmatter in its body."""
    evidence, _ = read("codex", codex(command, f"text\n```\n{OTHER}```\n{FRONT}"))
    assert tier(evidence) == 3


@pytest.mark.parametrize(
    ("command", "output"),
    [
        (f"sed -n 1,3p {S}; sed -n 4,200p {S}", FRONT),
        (f"tail -n +1 {S}", FRONT),
        (f"cat AGENTS.md {S}", f"no newline at end{FRONT}"),
        (f"cat AGENTS.md {S}", "text\n---\nname: Foo Tool\ndescription: d\n---\n"),
        (f"python3 -c \"import sys; sys.stdout.write(open('{S}').read())\"", FRONT),
        (f"node -e \"process.stdout.write(require('fs').readFileSync('{S}','utf8'))\"", FRONT),
        (f'cat "$(git rev-parse --show-toplevel)/{S}"', FRONT),
        ("export D=.agents/skills/foo; cat $D/SKILL.md", FRONT),
        (f"rtk cat {S}", FRONT),
        (f"cat {S} {S.replace('foo', 'bar')}", f'---\n"name": foo # c\n---\n{OTHER}'),
    ],
)
def test_unusual_but_real_reads_are_loads(command: str, output: str) -> None:
    """What the agent was shown is the skill."""
    evidence, _ = read("codex", codex(command, output))
    assert tier(evidence) == 1


@pytest.mark.parametrize(
    ("command", "output"),
    [
        (f"cat {S} 2>/dev/null; cat .claude/agents/reviewer.md", OTHER),
        (f"cat {S}; cat other.md", f"cat: {S}: No such file or directory\n{FRONT}"),
        (f"sed -n 1,9p {S}; cat o", f"sed: can't read {S}: No such file or directory\n{FRONT}"),
    ],
)
def test_another_files_frontmatter_proves_nothing(command: str, output: str) -> None:
    """The file itself could not be read."""
    evidence, _ = read("codex", codex(command, output))
    assert tier(evidence) != 1


@pytest.mark.parametrize("item", [
    {"status": "failed"}, {"status": "errored"}, {"status": "in_progress"},
    {"exit_code": False}, {"exit_code": None}, {"exit_code": "0"},
])  # fmt: skip
def test_a_codex_command_counts_only_when_it_completed_with_0(item: dict[str, Any]) -> None:
    """Any other end is no load."""
    evidence, _ = read("codex", codex(f"cat {S}", FRONT, **item))
    assert tier(evidence) == 3


def test_the_completed_command_counts_not_the_one_that_was_started() -> None:
    """An id that is used for two commands credits the one whose output is shown."""
    item = {"id": "i", "type": "command_execution", "command": f"cat {S}"}
    first = {"type": "item.started", "item": item}
    evidence, _ = read("codex", first, codex("cat copy.md", FRONT))
    assert tier(evidence) == 3


@pytest.mark.parametrize(
    "output",
    ["cat: a.md: No such file or directory", "head: cannot open 'docs/a.md' for reading: No such",
     "FileNotFoundError: [Errno 2] No such file or directory: 'docs/a.md'"],
)  # fmt: skip
def test_a_failed_read_of_a_file_is_tier_3_whatever_the_exit_code(output: str) -> None:
    """`|| true` hides the exit code, not the message."""
    evidence, _ = read("codex", codex("cd docs && cat a.md || true", output))
    assert tier(evidence, "docs/a.md") in (None, 3)


def test_a_file_that_only_an_echo_stands_for_is_not_read() -> None:
    """`cat x || echo missing` printed the echo alone."""
    evidence, _ = read("codex", codex("cat docs/a.md 2>/dev/null || echo missing", "missing\n"))
    assert tier(evidence, "docs/a.md") == 3


def claude(call: dict[str, Any], result: dict[str, Any], **record: Any) -> list[dict[str, Any]]:  # noqa: ANN401
    """A tool call of claude and its result."""
    use = {"type": "tool_use", "id": "t", "name": "Skill", "input": {"skill": "foo"}, **call}
    done = {"type": "tool_result", "tool_use_id": "t", "content": "Launching skill: foo", **result}
    return [
        {"type": "assistant", "message": {"content": [use]}},
        {"type": "user", "message": {"content": [done]}, **record},
    ]


@pytest.mark.parametrize(
    ("result", "record"),
    [
        ({"is_error": "true"}, {}), ({"is_error": 1}, {}),
        ({}, {"tool_use_result": "Error: no"}), ({}, {"tool_use_result": {"success": False}}),
        ({"content": "<tool_use_error>Unknown skill: foo</tool_use_error>"}, {}),
        ({"tool_use_id": "u"}, {}),
    ],
)  # fmt: skip
def test_d1_every_shape_of_an_error_result_is_no_load(
    result: dict[str, Any], record: dict[str, Any]
) -> None:
    """The call is an attempt, tier 2."""
    evidence, _ = read("claude", *claude({}, result, **record))
    assert tier(evidence) == 2


@pytest.mark.parametrize(
    "arguments", [{"name": "foo"}, {"skill_name": "foo"}, '{"skill": "foo"}', {"command": "/foo"}]
)
def test_the_skills_name_is_found_under_any_key(arguments: object) -> None:
    """Releases renamed the argument before."""
    evidence, _ = read("claude", *claude({"input": arguments}, {}))
    assert tier(evidence) == 1


def test_a_call_without_a_name_is_tier_2_for_the_skill_that_it_mentions() -> None:
    """An unattributed invocation must not let a disallowed skill pass unseen."""
    evidence, _ = read("claude", *claude({"input": {"target": "foo"}}, {}))
    assert tier(evidence) == 2


@pytest.mark.parametrize(
    ("path", "root", "expected"),
    [
        ("skills/foo/SKILL.md", "/w/.agents/skills", 3),
        ("foo/SKILL.md", "/w/.agents/skills", 3),
        (S, "/w/.agents/skills", 1),
        ("docs/foo/SKILL.md", "/w", 3),
        (f"/w/{S}", "/w", 1),
    ],
)
def test_d7_a_relative_read_counts_only_where_it_can_be_the_staged_copy(
    path: str, root: str, expected: int
) -> None:
    """More knowledge of the root never makes a verdict better."""
    evidence, _ = read("codex", codex(f"cat {path}", FRONT), skills_roots=(root,))
    assert tier(evidence) == expected


def test_json_that_an_agent_prints_in_text_mode_is_text() -> None:
    """One line of JSON does not turn an answer into a broken record stream."""
    provider = all_providers()["copilot"]
    reader = provider.reader(ReadContext())
    found = EvidenceCollector("copilot", TOKENS)
    for line in ("Here:", '{"type":"module","name":"x"}', "", "● skill(foo)", "", "Done."):
        found.extend(reader.feed(line.encode()))
    found.extend(reader.finish(0))
    assert tier(found) == 1
    assert decide_outcome(reader.reading, RunEnd()) is Outcome.COMPLETED


def test_prose_on_codex_standard_error_is_no_failure() -> None:
    """In text mode the agent's words stand there."""
    reader = all_providers()["codex"].reader(ReadContext())
    reader.feed(b"Done.")
    reader.feed_stderr(b"ERROR: the status 429 handler is missing")
    list(reader.finish(1))
    assert reader.reading.failure is None


def test_a_failure_that_a_later_turn_recovered_from_is_not_final() -> None:
    """The last word of a run stands."""
    failed = {"type": "result", "is_error": True, "api_error_status": 500, "result": "x"}
    fine = {"type": "result", "is_error": False, "num_turns": 1, "result": "Done."}
    _, reading = read("claude", failed, fine)
    assert decide_outcome(reading, RunEnd()) is Outcome.COMPLETED


def test_a_stream_that_only_began_never_ran() -> None:
    """Session events without a turn, a tool or a word."""
    _, reading = read("codex", {"type": "thread.started"}, {"type": "turn.started"}, code=1)
    assert decide_outcome(reading, RunEnd(exit_code=1)) is Outcome.NEVER_RAN
