"""What users of such tools reported, each as its smallest input in the agents' real formats.

D: did the skill really load? I: infra or verdict? P: processes and isolation. The faults of
processes and of case files (D12, the harness' part of I4, I6, I8, all of P but the texts of P7) are
tested where those are.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

import pytest

from routing_action.agents.provider import ReadContext
from routing_action.corpus.baseline import Status
from routing_action.evidence.evidence import EvidenceCollector
from routing_action.evidence.outcome import Outcome, RunEnd
from tests.support.builders import case_of, judge_run, read
from tests.support.streams import (
    AGENTS,
    OPENING,
    Record,
    claude_base,
    claude_call,
    claude_end,
    claude_init,
    claude_result,
    codex_item,
    copilot_event,
    jsonl,
    load,
    other_tool,
    run_of,
    say,
    shell,
    skill_path,
    skill_text,
    view,
)

SKILL = "widget-testing"
NEGATIVE = case_of(expected_skill="", disallowed_skills=["order-api"])
each_agent = pytest.mark.parametrize("agent", AGENTS)
each_agent_with_a_skill_tool = pytest.mark.parametrize(
    "agent", [agent for agent in AGENTS if agent != "codex"]
)


# ---- did the skill really load?


@each_agent_with_a_skill_tool
def test_d1_skill_call_with_error_result_is_no_load(agent: str) -> None:
    """The call is there, its result is an error: the body never loaded."""
    loaded = judge_run(agent, case_of(), run_of(agent, *load(agent, SKILL)))
    failed = judge_run(agent, case_of(), run_of(agent, *load(agent, SKILL, ok=False)))
    assert loaded.status is Status.PASS
    assert (failed.status, failed.failure_kind) == (Status.FAIL, "invoked_but_not_loaded")


@pytest.mark.parametrize("agent", ["claude", "copilot", "gemini"])
def test_d1_skill_call_without_any_result_is_no_load(agent: str) -> None:
    """The run was killed between the call and its result; opencode prints the two together."""
    opened = jsonl(*OPENING[agent], *load(agent, SKILL)[:-1])
    assert read(agent, opened, exit_code=-9).tier(SKILL) == 2


@each_agent
@pytest.mark.parametrize("exit_code", [1, 126, 127])
def test_d2_reading_the_skill_file_with_an_error_is_no_use(agent: str, exit_code: int) -> None:
    """The command that should have read SKILL.md failed, whatever it printed before."""
    command = f"cat {skill_path(agent, SKILL)}; missing-tool"
    run = read(agent, run_of(agent, *shell(agent, command, skill_text(SKILL), exit_code)))
    assert run.tier(SKILL) == 3
    assert run.evidence.loads == []


@each_agent
def test_d3_other_tool_calls_before_the_skill_do_not_end_the_search(agent: str) -> None:
    """A command and a read of another file come first, the skill afterwards."""
    before = [*shell(agent, "ls src", "a.py"), *view(agent, "/repo/README.md", "# Readme")]
    verdict = judge_run(agent, case_of(), run_of(agent, *before, *load(agent, SKILL)))
    assert verdict.status is Status.PASS


@each_agent
def test_d4_a_meta_skill_that_fires_first_does_not_hide_the_skill(agent: str) -> None:
    """All calls count; their order is told apart."""
    both = run_of(agent, *load(agent, "using-skills"), *load(agent, SKILL))
    assert judge_run(agent, case_of(), both).status is Status.PASS
    assert read(agent, both).evidence.loads == ["using-skills", SKILL]


@each_agent
@pytest.mark.parametrize("skill", ["my-foo", "foo-bar", "foo2"])
def test_d5_a_longer_name_does_not_credit_the_shorter_one(agent: str, skill: str) -> None:
    """`my-foo` is not `foo`, neither as a call nor as a path."""
    steps = [*load(agent, skill), *view(agent, skill_path(agent, skill), skill_text(skill))]
    run = read(agent, run_of(agent, *steps), tokens=("foo", "foo/SKILL.md"))
    assert run.tiers() == {"foo": None, "foo/SKILL.md": None}


@each_agent
def test_d5_a_backup_of_the_skill_file_is_not_the_skill_file(agent: str) -> None:
    """SKILL.md.bak beside SKILL.md is another file."""
    backup = skill_path(agent, SKILL) + ".bak"
    text = skill_text(SKILL)
    steps = [*view(agent, backup, text), *shell(agent, f"head {backup}", text)]
    run = read(agent, run_of(agent, *steps), tokens=(SKILL, f"{SKILL}/SKILL.md"))
    assert run.tier(SKILL) in (None, 3)
    assert run.tier(f"{SKILL}/SKILL.md") is None


@each_agent
@pytest.mark.parametrize(
    "command", ["ls -R skills", "rg --files", "find . -name SKILL.md", "grep -rn name: skills"]
)
def test_d6_a_listing_of_skill_files_is_no_read(agent: str, command: str) -> None:
    """A listing or a search shows paths and lines of every skill, and proves none."""
    output = "".join(f"{skill_path(agent, name)}\n" for name in (SKILL, "order-api"))
    run = read(agent, run_of(agent, *shell(agent, command, output)))
    assert run.tier(SKILL) == 3
    assert run.tier("order-api") == 3


@each_agent
def test_d6_the_result_of_a_glob_tool_is_no_read(agent: str) -> None:
    """A tool that lists files by a pattern reads none of them."""
    step = other_tool(agent, "Glob", {"pattern": "**/SKILL.md"}, skill_path(agent, SKILL))
    assert read(agent, run_of(agent, *step)).tier(SKILL) == 3


@each_agent
@pytest.mark.parametrize("home", ["/home/user", "~", "$HOME"])
def test_d7_a_stale_copy_in_the_home_is_not_the_staged_skill(agent: str, home: str) -> None:
    """The skill that was read is not the one that the pull request changed."""
    root = skill_path(agent, SKILL).removesuffix(f"/{SKILL}/SKILL.md")
    context = ReadContext(skills_roots=(root,), cwd="/repo", home="/home/user")
    stale = shell(agent, f"cat {home}/.agents/skills/{SKILL}/SKILL.md", skill_text(SKILL))
    verdict = judge_run(agent, case_of(), run_of(agent, *stale), context=context)
    assert (verdict.status, verdict.failure_kind) == (Status.FAIL, "wrong_copy")


@each_agent
def test_d7_the_staged_copy_counts_by_its_absolute_and_its_relative_path(agent: str) -> None:
    """The read that resolves under the staged root is the right copy."""
    staged = skill_path(agent, SKILL)
    context = ReadContext(skills_roots=(staged.removesuffix(f"/{SKILL}/SKILL.md"),), cwd="/repo")
    case = case_of(expected_skill_min_tier=2, require_skill_file=False)
    for path in (staged, staged.removeprefix("/repo/"), f"./{staged.removeprefix('/repo/')}"):
        stdout = run_of(agent, *shell(agent, f"cat {path}", skill_text(SKILL)))
        assert judge_run(agent, case, stdout, context=context).status is Status.PASS, path


def nested(identity: str, skill: str, parent: str | None) -> tuple[Record, Record]:
    """A skill call and its result, in the sub-agent that `parent` started."""
    return (
        claude_call(identity, "Skill", parent=parent, skill=skill),
        claude_result(identity, f"Launching skill: {skill}", parent=parent),
    )


def test_d8_a_skill_that_ran_in_a_sub_agent_is_found() -> None:
    """The events of agent and sub-agent are interleaved, and two result lines end the run."""
    inner, outer = nested("t2", SKILL, "t1"), nested("t3", "order-api", None)
    task = claude_call("t1", "Task", prompt="do it")
    stdout = run_of(
        "claude", task, inner[0], outer[0], outer[1], inner[1], claude_result("t1", "ok"),
        claude_end(),
    )  # fmt: skip
    run = read("claude", stdout)
    assert run.tiers() == {SKILL: 1, "widget-test": None, "order-api": 1}
    assert {line.skill: line.subagent for line in run.lines if line.skill} == {
        "order-api": False,
        SKILL: True,
    }


def test_d8_loads_of_sub_agents_can_be_left_out() -> None:
    """Whoever asks for a load by the agent itself gets no credit for its sub-agent's."""
    lines = read("claude", run_of("claude", *nested("t2", SKILL, "t1"))).lines
    own = EvidenceCollector("claude", (SKILL,), count_subagents=False)
    own.extend(lines)
    assert own.hits[SKILL].tier == 2


def test_d8_copilots_sub_agents_are_told_by_their_id() -> None:
    """Copilot marks each event of a sub-agent."""
    steps = [{**record, "agentId": "a1"} for record in load("copilot", SKILL)]
    run = read("copilot", run_of("copilot", *steps))
    assert run.tier(SKILL) == 1
    assert [line.subagent for line in run.lines if line.skill] == [True]


GENERATIONS = {
    "items": load("codex", SKILL)[1:],
    "item_type": [
        {
            "type": "item.completed",
            "item": {
                "id": "item_1",
                "item_type": "command_execution",
                "command": f"bash -lc 'cat .agents/skills/{SKILL}/SKILL.md'",
                "aggregated_output": skill_text(SKILL),
                "exit_code": 0,
                "status": "completed",
            },
        }
    ],
    "protocol": [
        {
            "id": "0",
            "msg": {
                "type": "exec_command_begin",
                "call_id": "c1",
                "command": ["bash", "-lc", f"cat .agents/skills/{SKILL}/SKILL.md"],
                "cwd": "/repo",
            },
        },
        {
            "id": "0",
            "msg": {
                "type": "exec_command_end",
                "call_id": "c1",
                "exit_code": 0,
                "aggregated_output": skill_text(SKILL),
            },
        },
        {"id": "0", "msg": {"type": "task_complete", "last_agent_message": "Done."}},
    ],
}


@pytest.mark.parametrize("generation", GENERATIONS)
def test_d9_each_known_generation_of_the_stream_is_read(generation: str) -> None:
    """Codex changed its JSON twice without a version in it."""
    run = read("codex", run_of("codex", *GENERATIONS[generation]))
    assert run.tier(SKILL) == 1
    assert run.reading.unrecognised == 0


@each_agent
def test_d9_a_changed_schema_is_infra_and_never_a_failed_routing(agent: str) -> None:
    """Where under half of what was printed is recognised, the unit says nothing."""
    unknown: list[Record] = [{"type": "v2", "kind": n, "name": SKILL} for n in range(9)]
    verdict = judge_run(agent, case_of(), run_of(agent, *unknown))
    assert (verdict.status, verdict.failure_kind) == (Status.INFRA_ERROR, "schema_drift")


@each_agent
def test_d9_a_few_new_events_are_counted_and_change_nothing(agent: str) -> None:
    """A new event type in a stream that is otherwise known is reported as a share."""
    stdout = run_of(agent, {"type": "brand-new"}, *load(agent, SKILL))
    assert judge_run(agent, case_of(), stdout).status is Status.PASS
    assert read(agent, stdout).reading.unrecognised == 1


@each_agent
def test_d10_an_answer_without_any_tool_is_told_as_such(agent: str) -> None:
    """The model just answers from its own knowledge."""
    verdict = judge_run(agent, case_of(), run_of(agent, say(agent, "42, surely.")))
    assert (verdict.status, verdict.failure_kind) == (Status.FAIL, "answered_directly")


def test_d11_a_skill_that_claude_was_never_offered_is_told_apart() -> None:
    """The catalogue of the stream does not name the skill: no misrouting of the model's."""
    answer = [say("claude", "42"), claude_end()]
    without = judge_run("claude", case_of(), jsonl(claude_init(skills=["order-api"]), *answer))
    offered = judge_run("claude", case_of(), jsonl(claude_init(skills=[SKILL]), *answer))
    assert (without.status, without.failure_kind) == (Status.FAIL, "skill_unavailable")
    assert offered.failure_kind == "answered_directly"


@pytest.mark.parametrize(
    "skills",
    [[], [{"name": "order-api", "enabled": True}], [{"name": SKILL, "enabled": False}]],
    ids=["none at all", "another", "switched off"],
)
def test_d11_a_skill_that_copilot_dropped_is_told_apart(skills: list[Record]) -> None:
    """Copilot lists what it loaded; names may come without descriptions."""
    catalogue = copilot_event("session.skills_loaded", skills=skills)
    verdict = judge_run("copilot", case_of(), run_of("copilot", catalogue, say("copilot", "42")))
    assert (verdict.status, verdict.failure_kind) == (Status.FAIL, "skill_unavailable")


def test_d11_a_catalogue_that_names_the_skill_proves_no_load() -> None:
    """Every copilot run lists every skill."""
    entry = {"name": SKILL, "description": "d", "path": skill_path("copilot", SKILL)}
    catalogue = copilot_event("session.skills_loaded", skills=[entry])
    run = read("copilot", run_of("copilot", catalogue, say("copilot", "42")))
    assert run.tier(SKILL) is None


# ---- infra or verdict?

NOISE = (
    "ls: cannot access 'x': No such file or directory\nPermission denied\nclaude: command not found"
)


@each_agent
def test_i1_a_failing_ls_in_a_good_run_is_no_missing_cli(agent: str) -> None:
    """Whether the CLI is there is known from its own start, never from what a tool printed."""
    steps = [*shell(agent, "ls x", NOISE, 2), say(agent, NOISE), *load(agent, SKILL)]
    verdict = judge_run(agent, case_of(), run_of(agent, *steps))
    assert (verdict.status, verdict.outcome) == (Status.PASS, Outcome.COMPLETED)


@each_agent
def test_i1_a_cli_that_is_not_there_is_a_missing_cli(agent: str) -> None:
    """Exit code 127 with no event of the CLI, or no start at all."""
    stderr = f"sh: 1: {agent}: not found\n".encode()
    for end in (RunEnd(exit_code=127), RunEnd(started=False, exit_code=None)):
        verdict = judge_run(agent, case_of(), b"", stderr, end=end)
        assert (verdict.status, verdict.failure_kind) == (Status.INFRA_ERROR, "cli_missing")


def test_i2_a_rate_limit_that_says_success_is_a_rate_limit() -> None:
    """Claude ends with subtype success, is_error true and exit code 0."""
    text = "API Error: 429 Rate limit reached"
    ended = claude_end(is_error=True, api_error_status=429, result=text, num_turns=1)
    verdict = judge_run("claude", case_of(), jsonl(claude_init(), ended))
    assert (verdict.status, verdict.failure_kind) == (Status.INFRA_ERROR, "rate_limit")


@each_agent
def test_i2_an_agent_that_writes_about_429_hit_no_rate_limit(agent: str) -> None:
    """Words of the agent and of its tools are no errors of the API."""
    prose = "HTTP 429 Too Many Requests: rate limit exceeded, unauthorized, quota exceeded"
    steps = [say(agent, prose), *shell(agent, "cat api.log", prose)]
    verdict = judge_run(agent, case_of(), run_of(agent, *steps), prose.encode())
    assert (verdict.status, verdict.outcome) == (Status.FAIL, Outcome.COMPLETED)


@each_agent
@pytest.mark.parametrize("stdout", [b"", b"\n\n"], ids=["nothing", "blank lines"])
@pytest.mark.parametrize("exit_code", [0, 1])
def test_i3_a_cli_that_does_nothing_passes_no_negative_case(
    agent: str, stdout: bytes, exit_code: int
) -> None:
    """/bin/false as the agent loads no forbidden skill either: absence needs proof of life."""
    verdict = judge_run(agent, NEGATIVE, stdout, end=RunEnd(exit_code=exit_code))
    assert (verdict.status, verdict.failure_kind) == (Status.INFRA_ERROR, "no_output")


@each_agent
def test_i3_an_opening_line_alone_is_no_proof_of_life(agent: str) -> None:
    """A stream that stops before the model's first word proves no absence."""
    stdout = jsonl(OPENING[agent][0])
    verdict = judge_run(agent, NEGATIVE, stdout, end=RunEnd(exit_code=1))
    assert verdict.status is Status.INFRA_ERROR


@each_agent
def test_i3_a_real_answer_passes_a_negative_case(agent: str) -> None:
    """A run with a model's turn and its end proves that the forbidden skill stayed out."""
    verdict = judge_run(agent, NEGATIVE, run_of(agent, say(agent, "42")))
    assert verdict.status is Status.PASS


CREDIT = "Your credit balance is too low to access the Anthropic API."
NO_CREDIT: dict[str, Iterable[Record]] = {
    "claude": [claude_end(is_error=True, result=CREDIT, num_turns=1)],
    "codex": [{"type": "turn.failed", "error": {"message": CREDIT}}],
    "copilot": [copilot_event("session.error", errorType="query", message=CREDIT, statusCode=400)],
    "gemini": [{"type": "result", "status": "error", "error": {"type": "x", "message": CREDIT}}],
    "opencode": [
        {
            "type": "error",
            "sessionID": "s",
            "error": {"name": "APIError", "data": {"message": CREDIT, "statusCode": 400}},
        }
    ],
}


@each_agent
def test_i4_a_quota_error_is_told_from_a_transient_one(agent: str) -> None:
    """An account without credit is its own kind, so that nobody retries it."""
    stdout = jsonl(*OPENING[agent], *NO_CREDIT[agent])
    verdict = judge_run(agent, case_of(), stdout, end=RunEnd(exit_code=1))
    assert (verdict.status, verdict.failure_kind) == (Status.INFRA_ERROR, "quota")


@each_agent
def test_i4_a_unit_that_was_not_run_after_a_quota_error_says_so(agent: str) -> None:
    """The rest of that provider's units are marked, not judged."""
    verdict = judge_run(agent, NEGATIVE, b"", end=RunEnd(not_run=True, exit_code=None))
    assert (verdict.status, verdict.failure_kind) == (Status.INFRA_ERROR, "not_run")


@each_agent
def test_i5_exit_code_0_proves_nothing(agent: str) -> None:
    """A run that ends with 0 and never loaded the skill fails."""
    stdout = run_of(agent, *shell(agent, "make", "boom", 2), say(agent, "All done!"))
    assert judge_run(agent, case_of(), stdout).status is Status.FAIL


@each_agent
def test_i5_exit_code_1_takes_no_proof_away(agent: str) -> None:
    """A run that loaded the skill and then ended with 1 passes."""
    stdout = run_of(agent, *load(agent, SKILL), say(agent, "The build is broken."))
    assert judge_run(agent, case_of(), stdout, end=RunEnd(exit_code=1)).status is Status.PASS


@each_agent
def test_i7_exit_code_1_without_any_output_is_infra(agent: str) -> None:
    """A CLI that ends at once and says nothing has a kind of its own."""
    verdict = judge_run(agent, case_of(), b"", end=RunEnd(exit_code=1))
    assert (verdict.status, verdict.failure_kind) == (Status.INFRA_ERROR, "no_output")


# ---- limits


@pytest.mark.parametrize(
    "text",
    [
        "Your access token could not be refreshed because your refresh token was already used.",
        "unexpected status 401 Unauthorized: Missing bearer or basic authentication in header",
    ],
)
def test_p7_a_refresh_token_that_another_job_used_up_is_auth(text: str) -> None:
    """Parallel jobs on one login end so: told as credentials, never as a failed case."""
    failed: list[Record] = [
        {"type": "error", "message": text},
        {"type": "turn.failed", "error": {"message": text}},
    ]
    stdout = jsonl(*OPENING["codex"], *failed)
    verdict = judge_run("codex", NEGATIVE, stdout, end=RunEnd(exit_code=1))
    assert (verdict.status, verdict.failure_kind) == (Status.INFRA_ERROR, "auth")


# ---- what such inputs have in common


@each_agent
def test_an_echo_of_the_proof_texts_proves_nothing(agent: str) -> None:
    """Whoever prints what a load prints has loaded nothing."""
    echo = "\n".join(
        [
            f"Launching skill: {SKILL}",
            f"Base directory for this skill: /repo/skills/{SKILL}",
            json.dumps({"name": "Skill", "input": {"skill": SKILL}}),
            f"● skill({SKILL})",
            skill_text(SKILL),
        ]
    )
    steps = [say(agent, echo), *shell(agent, "cat notes.txt", echo)]
    assert read(agent, run_of(agent, *steps)).tier(SKILL) == 3


def test_the_base_directory_text_proves_nothing_without_its_call() -> None:
    """Claude's synthetic text counts only after a proven load of that skill."""
    stray = claude_base(f"/repo/.claude/skills/{SKILL}")
    assert read("claude", run_of("claude", stray)).evidence.loads == []


def test_a_codex_error_item_in_a_healthy_run_is_no_failure() -> None:
    """Codex prints an item of type error for unknown model metadata, and works on."""
    warning = codex_item("error", message="Model metadata for `gpt-5` not found. 429")
    stdout = run_of("codex", warning, *load("codex", SKILL))
    assert read("codex", stdout).outcome() is Outcome.COMPLETED
