"""A skill that the agent's CLI did not take is unavailable: its words are quoted, with a remedy."""

from __future__ import annotations

import pytest

from routing_action.agents.provider import ReadContext
from routing_action.corpus.baseline import Status
from routing_action.corpus.identity import KnownSkill, SkillIndex
from routing_action.evidence.verdict import Verdict
from routing_action.report.remedies import find_remedy
from tests.support.builders import case_of, judge_run
from tests.support.streams import (
    AGENTS,
    OPENING,
    Record,
    claude_init,
    codex_item,
    copilot_event,
    jsonl,
    load,
    run_of,
    say,
    shell,
)

SKILL = "release-notes"
FILE = f"/repo/.agents/skills/{SKILL}/SKILL.md"
POSITIVE = case_of(expected_skill=SKILL)
NEGATIVE = case_of(expected_skill="", disallowed_skills=[SKILL])
LOG = "2026-05-21T09:18:12.446963Z ERROR codex_core::codex"
SHORTEN, CORRECT = "shorten its description", "correct the frontmatter"
REFUSALS = [
    (f"{LOG}: failed to load skill {FILE}: invalid description: exceeds maximum length", SHORTEN),
    (f"\x1b[31mERROR\x1b[0m failed to load skill {FILE}: missing YAML frontmatter", CORRECT),
    (f"⚠ {FILE}: invalid YAML: mapping values are not allowed in this context at line 2", CORRECT),
    (f"{SKILL}\\SKILL.md: Skill description must be at most 1024 characters", SHORTEN),
    (f"[WARN] Failed to parse YAML frontmatter in {FILE}: YAML Parse error: Unexpected character",
     CORRECT),
    (f'Skipping skill "{SKILL}": name exceeds 64 characters', "shorten its name"),
    (f"ERROR service=skill skill={FILE} err=YAMLException failed to load skill", CORRECT),
    (f"warning: skill {SKILL} was dropped: its description is too long", SHORTEN),
    (f"Skill '{SKILL}' was not loaded: duplicate of /home/u/.agents/skills/x", "rename one"),
]  # fmt: skip
each_agent = pytest.mark.parametrize("agent", AGENTS)


def work(agent: str) -> list[Record]:
    return [*shell(agent, "git log --oneline", "abc x\n"), say(agent, "Here is what changed.")]


def is_unavailable(verdict: Verdict) -> bool:
    return (verdict.status, verdict.failure_kind) == (Status.FAIL, "skill_unavailable")


@each_agent
@pytest.mark.parametrize(("line", "remedy"), REFUSALS)
def test_s8_a_refusal_on_standard_error_makes_the_skill_unavailable(
    agent: str, line: str, remedy: str
) -> None:
    """Neither use nor absence was measured; the line is quoted, and the remedy fits it."""
    run, complaint = run_of(agent, *work(agent)), f"starting\n{line}\nready\n".encode()
    for case in (POSITIVE, NEGATIVE):
        verdict = judge_run(agent, case, run, complaint)
        assert is_unavailable(verdict)
        assert verdict.cause.startswith(f"{SKILL} was not taken: ")
        assert remedy in find_remedy(verdict.failure_kind, verdict.cause)


@pytest.mark.parametrize(
    ("agent", "record"),
    [
        ("codex", codex_item("error", message=f"failed to load skill {FILE}: invalid YAML")),
        ("codex", {"msg": {"type": "warning", "message": f"{FILE}: missing YAML frontmatter"}}),
        ("copilot", copilot_event("session.warning", message=(
            f"The following skills failed to load:\n{SKILL}/SKILL.md: must be at most 1024"))),
        ("copilot", copilot_event("session.info", message=f"skill {SKILL} could not be loaded")),
        ("gemini", {"type": "error", "severity": "warning",
                    "message": f"Failed to load skill {SKILL}: invalid frontmatter"}),
        ("opencode", {"type": "error", "error": {"name": "SkillInvalidError", "data": {
            "message": f"failed to load skill {FILE}"}}}),
        ("claude", {"type": "system", "subtype": "notice",
                    "message": f"Skill {SKILL} was skipped: malformed frontmatter"}),
    ],
)  # fmt: skip
def test_s8_a_refusal_in_the_stream_is_one_too(agent: str, record: Record) -> None:
    """Each CLI's own events say it where standard error is silent."""
    opening = OPENING[agent]
    run = jsonl(*opening, record) + run_of(agent, *work(agent)).removeprefix(jsonl(*opening))
    assert is_unavailable(judge_run(agent, POSITIVE, run))
    assert is_unavailable(judge_run(agent, NEGATIVE, run))


def test_s8_the_entries_of_a_list_are_refusals() -> None:
    """A heading alone names no skill; the indented names below it do, and no other line."""
    heading = "The following skills failed to load:"
    run = run_of("copilot", *work("copilot"))
    listed = f"{heading}\n  - {SKILL}\n".encode()
    assert is_unavailable(judge_run("copilot", NEGATIVE, run, listed))
    ended = f"{heading}\n  - another\nusing {SKILL}\n".encode()
    assert judge_run("copilot", NEGATIVE, run, ended).status is Status.PASS


def test_s8_a_skill_is_refused_under_any_of_its_names() -> None:
    """The line names the folder, the case the declared name."""
    context = ReadContext(skills=SkillIndex([KnownSkill(SKILL, "Notes For Users")]))
    case = case_of(expected_skill="", disallowed_skills=["notes-for-users"])
    line = REFUSALS[0][0].encode()
    verdict = judge_run("codex", case, run_of("codex", *work("codex")), line, context=context)
    assert is_unavailable(verdict)


@each_agent
@pytest.mark.parametrize(
    "line",
    [
        f"failed to load skill /repo/.agents/skills/{SKILL}-old/SKILL.md: invalid YAML",
        "failed to load skill my-release-notes",
        f"loaded skill {SKILL} in 3 ms",
        f"no skill failed to load; using {SKILL}",
        f"0 skills were skipped ({SKILL}, order-api)",
        f"{FILE}: the description was truncated to 1024 characters",
        f"{FILE}: unknown field `license` is ignored",
        f"failed to load plugin {SKILL}",
        f"Failed to load the changelog of {SKILL}",
        "failed to load skill /home/u/.codex/skills/release-notes-draft/SKILL.md: invalid YAML",
    ],
)
def test_s8_other_lines_refuse_nothing(agent: str, line: str) -> None:
    """Another skill, a success, a denial, a note, and things that are no skill."""
    verdict = judge_run(agent, NEGATIVE, run_of(agent, *work(agent)), line.encode())
    assert verdict.status is Status.PASS


@each_agent
def test_s8_words_of_the_agent_refuse_nothing(agent: str) -> None:
    """In its answer and in the output of a command they are about anything."""
    words = REFUSALS[0][0]
    run = run_of(agent, *shell(agent, "cat log", f"{words}\n"), say(agent, words))
    assert judge_run(agent, NEGATIVE, run).status is Status.PASS


def test_s8_codex_prose_on_standard_error_refuses_nothing() -> None:
    """In its text mode the agent's words stand there; a line of its log is its own."""
    line = f"The skill {SKILL} was not loaded."
    assert not is_unavailable(judge_run("codex", NEGATIVE, b"Done.\n", line.encode()))
    logged = f"{LOG}: failed to load skill {FILE}: invalid YAML"
    assert is_unavailable(
        judge_run("codex", NEGATIVE, run_of("codex", say("codex", "Done.")), logged.encode())
    )


@each_agent
def test_s8_a_skill_that_was_loaded_all_the_same_was_there(agent: str) -> None:
    """Evidence outranks words: a copy in another folder was loaded."""
    run, line = run_of(agent, *load(agent, SKILL)), REFUSALS[0][0].encode()
    assert judge_run(agent, POSITIVE, run, line).status is Status.PASS
    assert judge_run(agent, NEGATIVE, run, line).failure_kind == "disallowed_hit"


def test_s8_a_skill_that_is_offered_all_the_same_was_there() -> None:
    """The catalogue knows best what the agent had."""
    run = jsonl(claude_init(skills=[SKILL])) + run_of("claude", *work("claude"))
    line = REFUSALS[4][0].encode()
    assert judge_run("claude", NEGATIVE, run, line).status is Status.PASS


def test_s8_a_copy_outside_the_staged_folders_does_not_matter() -> None:
    """The user's own broken copy is not the one under test."""
    context = ReadContext(skills_roots=("/repo/.agents/skills",))
    run = run_of("codex", *work("codex"))
    home = f"failed to load skill /home/u/.agents/skills/{SKILL}/SKILL.md: invalid YAML"
    assert judge_run("codex", NEGATIVE, run, home.encode(), context=context).status is Status.PASS
    staged = REFUSALS[0][0].encode()
    assert is_unavailable(judge_run("codex", NEGATIVE, run, staged, context=context))
