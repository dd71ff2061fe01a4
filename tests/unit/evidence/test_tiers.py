"""The tier of a line: direct invocation (1), proxy (2) or weak hint (3), the same for all uses."""

from __future__ import annotations

import pytest

from routing_action.evidence.tiers import (
    BASE_DIRECTORY_SCORE,
    COMMAND_SCORE,
    LAUNCHING_SCORE,
    MENTION_SCORE,
    SKILL_CALL_SCORE,
    TOOL_USE_SCORE,
    canonical_base,
    canonical_call,
    compute_tier,
    effective_tier,
    score_proof_line,
)
from routing_action.evidence.transcript import EvidenceLine, LineKind, SourceKind
from tests.support.builders import (
    attempt_line,
    base_line,
    line_of,
    load_line,
    mention_line,
    read_line,
)

CALL = '{"type":"tool_use","name":"Skill","input":{"skill":"widget-testing"}}'
BASE = "Base directory for this skill: /repo/.agents/skills/widget-testing"


@pytest.mark.parametrize(
    ("agent", "line", "token"),
    [
        ("claude", CALL, "widget-testing"),
        ("claude", CALL, "Widget-Testing"),
        ("claude", '{"name" : "Skill", "input": {"command": "widget-testing"}}', "widget-testing"),
        ("claude", canonical_call("acme:widget-testing"), "widget-testing"),
        ("claude", canonical_call("acme:widget-testing"), "acme:widget-testing"),
        ("claude", canonical_call('odd"name\\ü'), 'odd"name\\ü'),
        ("claude", "Launching skill: widget-testing", "widget-testing"),
        ("claude", "Launching skill:widget-testing", "WIDGET-TESTING"),
        ("claude", r'"Launching skill: widget-testing\n"', "widget-testing"),
        ("codex", BASE, "widget-testing"),
        ("codex", BASE + "/SKILL.md", "widget-testing"),
        ("codex", r"Base directory for this skill: C:\r\skills\Widget-Testing", "widget-testing"),
        ("codex", "Base directory for this skill: widget-testing", "widget-testing"),
        ("codex", "Base directory for this skill: /p/acme/skills/w", "acme:w"),
        ("copilot", BASE, "widget-testing"),
        ("copilot", canonical_call("widget-testing"), "widget-testing"),
        ("gemini", canonical_call("widget-testing"), "widget-testing"),
        ("opencode", canonical_call("widget-testing"), "widget-testing"),
        ("some-custom-agent", canonical_call("widget-testing"), "widget-testing"),
    ],
)
def test_a_direct_invocation_is_tier_1(agent: str, line: str, token: str) -> None:
    """Each agent's own way to load a skill is Tier 1 for exactly that skill."""
    assert compute_tier(agent, token, line, 0) == 1


@pytest.mark.parametrize(
    ("agent", "line", "token"),
    [
        ("claude", CALL, "widget-test"),
        ("claude", CALL, "acme:widget-testing"),
        ("claude", '{"name":"Skill","input":{}}', "widget-testing"),
        ("claude", r'{"name":"Skill","input":{"skill":"\q"}}', "widget-testing"),
        ("claude", "Launching skill: widget-testing-2", "widget-testing"),
        ("codex", BASE, "widget-test"),
        ("codex", "Base directory for this skill: /widget-testing/skills/other", "widget-testing"),
        ("codex", "Base directory for this skill: /p/other/skills/w", "acme:w"),
        ("copilot", BASE, "order-api"),
        ("gemini", CALL, "order-api"),
    ],
)
def test_a_direct_invocation_that_is_not_the_tokens_is_tier_2(
    agent: str, line: str, token: str
) -> None:
    """An invocation of another skill, or one whose name cannot be read, is a proxy at best."""
    assert compute_tier(agent, token, line, 0) == 2


@pytest.mark.parametrize(
    ("agent", "line"),
    [
        ("claude", "cat .claude/skills/widget-testing/SKILL.md"),
        ("claude", BASE),
        ("codex", "cat .agents/skills/widget-testing/SKILL.md"),
        ("codex", CALL),
        ("codex", "Launching skill: widget-testing"),
        ("copilot", "Launching skill: widget-testing"),
        ("gemini", BASE),
        ("opencode", "Launching skill: widget-testing"),
    ],
)
def test_a_line_without_the_agents_pattern_is_ranked_by_its_score(agent: str, line: str) -> None:
    """What is no invocation for this agent is Tier 2 from 60 points on, else Tier 3."""
    assert compute_tier(agent, "widget-testing", line, COMMAND_SCORE) == 2
    assert compute_tier(agent, "widget-testing", line, COMMAND_SCORE - 1) == 3


@pytest.mark.parametrize(
    ("line", "token", "score"),
    [
        (load_line("widget-testing"), "widget-testing", SKILL_CALL_SCORE),
        (load_line("widget-testing"), "widget-test", 0),
        (load_line("widget-testing"), "widget-testing/SKILL.md", BASE_DIRECTORY_SCORE),
        (load_line("widget-testing"), "skills/widget-testing/SKILL.md", BASE_DIRECTORY_SCORE),
        (load_line("widget-testing"), "skills/widget-test/SKILL.md", 0),
        (load_line("widget-testing"), "SKILL.md", 0),
        (load_line("w", path="/r/skills/w"), "skills/w/SKILL.md", BASE_DIRECTORY_SCORE),
        (load_line("widget-testing"), "README.md", 0),
        (
            load_line("w", path="/r/.gemini/skills/w"),
            ".agents/skills/w/SKILL.md",
            BASE_DIRECTORY_SCORE,
        ),
        (load_line("alias", path="/r/skills/w"), "w/SKILL.md", BASE_DIRECTORY_SCORE),
        (load_line("alias", path="/r/skills/w"), "v/SKILL.md", 0),
        (base_line("/r/skills/w/SKILL.md"), "w", BASE_DIRECTORY_SCORE),
        (base_line("/r/skills/w/SKILL.md"), "skills/w/SKILL.md", BASE_DIRECTORY_SCORE),
        (base_line("r1/w/SKILL.md"), "skills/w/SKILL.md", BASE_DIRECTORY_SCORE),
        (base_line("r1/w/SKILL.md"), "skills/v/SKILL.md", 0),
        (
            line_of(LineKind.LOAD, canonical_call("w") + " Launching skill: w"),
            "w",
            SKILL_CALL_SCORE + LAUNCHING_SCORE,
        ),
        (read_line("/r/skills/w/SKILL.md"), "w", COMMAND_SCORE),
        (read_line("/r/skills/w/SKILL.md"), "w/SKILL.md", COMMAND_SCORE),
        (read_line("/r/skills/w/notes.md"), "w", MENTION_SCORE),
        (read_line("/r/w/notes.md"), "w", 0),
        (read_line("/r/w/notes.md"), "notes.md", COMMAND_SCORE),
        (line_of(LineKind.TOOL_CALL, "bash ls skills/w"), "w", COMMAND_SCORE),
        (line_of(LineKind.TOOL_CALL, "Glob w", detail="tool"), "w", TOOL_USE_SCORE),
        (line_of(LineKind.TOOL_CALL, "Read x", path="/r/skills/w/x"), "w", COMMAND_SCORE),
        (line_of(LineKind.TOOL_CALL, "bash ls skills/other"), "w", 0),
        (line_of(LineKind.TOOL_RESULT, "skills/w"), "w", MENTION_SCORE),
        (mention_line("I could use w."), "w", MENTION_SCORE),
        (mention_line("I could use w-2."), "w", 0),
    ],
)
def test_points_are_given_for_the_token_in_the_calls_target(
    line: EvidenceLine, token: str, score: int
) -> None:
    """A call counts for the skill or file that it names, and for no other."""
    assert score_proof_line(line, token) == score


@pytest.mark.parametrize(
    ("agent", "line", "tier"),
    [
        ("claude", load_line(), 1),
        ("claude", load_line(source=SourceKind.LOG_FALLBACK), 2),
        ("claude", load_line(wrong_copy=True), 3),
        ("claude", attempt_line(), 2),
        ("claude", read_line(".claude/skills/widget-testing/SKILL.md"), 2),
        ("claude", read_line(".claude/skills/widget-testing/SKILL.md", partial=True), 3),
        ("claude", read_line("elsewhere/widget-testing/SKILL.md", wrong_copy=True), 3),
        ("claude", read_line(".claude/skills/widget-testing/notes.md"), 3),
        ("claude", line_of(LineKind.TOOL_CALL, "bash ls skills/widget-testing"), 3),
        ("claude", line_of(LineKind.TOOL_RESULT, "Launching skill: widget-testing"), 3),
        ("claude", mention_line("Launching skill: widget-testing"), 3),
        ("claude", mention_line(CALL), 3),
        ("codex", mention_line(BASE), 3),
        ("codex", base_line("/r/skills/widget-testing/SKILL.md"), 1),
    ],
)
def test_no_line_is_better_than_its_kind_may_be(agent: str, line: EvidenceLine, tier: int) -> None:
    """Only a load is Tier 1: echoes, failed calls, searches and logs never are."""
    judged = effective_tier(agent, "widget-testing", line)
    assert judged is not None
    assert judged[0] == tier


@pytest.mark.parametrize(
    ("line", "token"),
    [
        (load_line("widget-testing"), "widget-test"),
        (load_line("widget-test"), "widget-testing"),
        (load_line("widget-testing"), "acme:widget-testing"),
        (load_line("other:widget-testing"), "acme:widget-testing"),
        (attempt_line("widget-testing"), "widget-test"),
        (mention_line("my-foo and foo-bar"), "foo"),
        (base_line("/widget-testing/.agents/skills/order-api/SKILL.md"), "widget-testing"),
        (line_of(LineKind.TOOL_CALL, "bash cat /ci/foo/README.md"), "foo"),
    ],
)
def test_a_line_that_is_another_skills_is_no_hit_at_all(line: EvidenceLine, token: str) -> None:
    """A longer name, another plugin or a checkout folder of that name is not even a weak hint."""
    assert effective_tier("claude", token, line) is None


def test_a_read_names_the_skill_file_as_a_requirement() -> None:
    """A required file is met by a successful read of exactly that file."""
    line = read_line("/repo/.agents/skills/widget-testing/SKILL.md")
    assert effective_tier("codex", "widget-testing/SKILL.md", line) == (2, COMMAND_SCORE)
    assert effective_tier("codex", "widget-test/SKILL.md", line) is None


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("/r/skills/w/SKILL.md", "Base directory for this skill: /r/skills/w"),
        ("r1/w/SKILL.md", "Base directory for this skill: r1/w"),
        ("C:\\r\\skills\\w\\SKILL.md", "Base directory for this skill: C:/r/skills/w"),
        ("\\\\host\\skills\\w", "Base directory for this skill: /host/skills/w"),
    ],
)
def test_a_shell_read_is_rendered_as_the_skills_base_directory(path: str, line: str) -> None:
    """The proof of a codex load is one canonical line, whatever the separators."""
    assert canonical_base(path) == line
