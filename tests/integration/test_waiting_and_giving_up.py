"""Through `run`: what is waited for, what stops an agent, and what a run says at its start."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from routing_action.results.past.history import HistoryLine
from tests.support.command_line import ROOT, Finished, Project
from tests.support.past import write_history
from tests.support.streams import jsonl

AGENT = ROOT / "tests" / "fakes" / "scripted_agent.py"
INIT = {"type": "system", "subtype": "init", "model": "m", "claude_code_version": "2.1.332"}
RESULT = {"type": "result", "subtype": "success", "is_error": False, "num_turns": 1}
TASK = {"type": "system", "subtype": "task_started", "task_id": "b1", "task_type": "local_agent"}
TASK_END = {
    "type": "system",
    "subtype": "task_notification",
    "task_id": "b1",
    "status": "completed",
}


def said(block: dict[str, Any]) -> dict[str, Any]:
    return {"type": "assistant", "message": {"content": [block]}}


TALK = said({"type": "text", "text": "I have looked."})
LOAD = (
    said({"type": "tool_use", "id": "t1", "name": "Skill", "input": {"skill": "foo"}}),
    {
        "type": "user",
        "message": {"content": [{"type": "tool_result", "tool_use_id": "t1", "content": "ok"}]},
    },
)


def failure(message: str, status: int | None) -> str:
    failed = {**RESULT, "is_error": True, "result": message, "api_error_status": status}
    return script(INIT, failed) + "# exit 1\n"


def script(*records: dict[str, Any]) -> str:
    return jsonl(*records).decode()


class Scripts:
    """A project whose agents play scripts; each case's prompt names its own."""

    def __init__(self, root: Path) -> None:
        self.folder = root / "the scripts"
        self.folder.mkdir()
        (root / "tree").mkdir()
        self.project = Project(root / "tree")
        for agent in ("CLAUDE", "CODEX"):
            words = shlex.join([sys.executable, str(AGENT), str(self.folder)])
            self.project.variables[f"AGENT_{agent}_TEMPLATE"] = f"{words} {{prompt}}"

    def run(self, scripts: dict[str, str], *arguments: str, agent: str = "claude") -> Finished:
        """Every script is a case that expects the skill, one that begins with `no-` its absence."""
        cases: list[dict[str, Any]] = []
        for name, text in scripts.items():
            (self.folder / name).write_text(text, encoding="utf-8")
            absent = {"disallowed_skills": ["foo"]} if name.startswith("no-") else {}
            expected = {} if absent else {"expected_skill": "foo", "require_skill_file": False}
            cases.append({"case_id": name, "prompt": f"{name} please", **expected, **absent})
        self.project.write_cases(*cases)
        return self.project.call("run", "--agents", agent, "--max-parallel", "1", *arguments)

    @property
    def starts(self) -> list[str]:
        return (self.folder / "starts.txt").read_text(encoding="utf-8").splitlines()


@pytest.fixture
def scripts(tmp_path: Path) -> Scripts:
    return Scripts(tmp_path)


PASS = script(INIT, *LOAD, RESULT)


# ---- what stops an agent


@pytest.mark.parametrize(
    ("text", "outcome", "shown"),
    [
        (failure("You've hit your session limit · resets 3:30am", 429), "quota", "resets 3:30am"),
        (failure("Weekly limit reached · resets 10am (Asia/Seoul)", 429), "quota", "resets 10am"),
        (failure("Credit balance is too low", 400), "quota", "Credit balance"),
        (failure("Invalid API key · Please run /login", 401), "auth", "API key"),
        ("! Error: Invalid MCP configuration: no such file\n# exit 1\n", "mcp_server", "MCP"),
        ("# exit 127\n", "cli_missing", ""),
    ],
)
def test_s2_an_agent_that_cannot_work_is_stopped(
    scripts: Scripts, text: str, outcome: str, shown: str
) -> None:
    """Its other units are not run, and say why; with --confirm too."""
    baseline = {name: {"claude": {"expected_status": "pass"}} for name in ("a", "b")}
    (scripts.project.root / "provider-baseline.json").write_text(json.dumps(baseline), "utf-8")
    done = scripts.run({"a": text, "b": PASS}, "--confirm", "2")

    assert done.column("outcome") == [outcome, "not_run"]
    assert f"claude was stopped after {outcome}" in done.column("error")[1]
    assert shown in done.column("error")[1]
    assert shown in done.stdout
    assert scripts.starts == ["a"]


@pytest.mark.parametrize(
    ("message", "status"), [("Internal server error", 500), ("bad model", 404)]
)
def test_s2_five_service_errors_in_a_row_stop_an_agent(
    scripts: Scripts, message: str, status: int
) -> None:
    """Four do not, and one that works in between starts the count anew."""
    wrong = failure(message, status)
    done = scripts.run({f"c{n}": wrong for n in range(7)}, "--throttle-retries", "0")
    assert done.column("outcome")[5:] == ["not_run"] * 2
    assert len(scripts.starts) == 5
    assert "5 failures of its service in a row" in done.column("error")[6]

    mixed = {f"c{n}": PASS if n == 3 else wrong for n in range(8)}
    assert "not_run" not in scripts.run(mixed, "--throttle-retries", "0").column("outcome")


SILENT = {
    "server error": failure("Internal server error", 500),
    "api error": failure("bad model", 404),
    "never ran": script(INIT, {**RESULT, "num_turns": 0}),
    "nothing printed": "# exit 1\n",
    "no answer in time": script(INIT) + "# sleep\n",
}


@pytest.mark.parametrize(
    ("kind", "parallel"), [("server error", 1), *((kind, 16) for kind in SILENT)]
)
def test_an_outage_costs_five_units_and_no_confirming_runs(
    scripts: Scripts, kind: str, parallel: int
) -> None:
    """However the service fails, and however many units may run at once."""
    names = [f"c{n}" for n in range(8)]
    baseline = {name: {"claude": {"expected_status": "pass"}} for name in names}
    (scripts.project.root / "provider-baseline.json").write_text(json.dumps(baseline), "utf-8")
    seconds = "1" if kind == "no answer in time" else "60"
    options = ("--confirm", "2", "--throttle-retries", "0", "--timeout-seconds", seconds)
    done = scripts.run(
        dict.fromkeys(names, SILENT[kind]), *options, "--max-parallel", str(parallel)
    )

    assert len(scripts.starts) == 5
    assert done.column("outcome").count("not_run") == 3
    told = next(text for text in done.column("error") if text and "not run" in text)
    assert "claude was stopped after 5 failures of its service in a row" in told


def test_a_service_that_fails_fewer_units_than_that_is_not_confirmed_either(
    scripts: Scripts,
) -> None:
    """Nothing of the agent worked: another try costs a unit, and tells nothing of routing."""
    baseline = {"a": {"claude": {"expected_status": "pass"}}}
    (scripts.project.root / "provider-baseline.json").write_text(json.dumps(baseline), "utf-8")
    wrong = failure("Internal server error", 500)
    scripts.run({"a": wrong}, "--confirm", "2", "--throttle-retries", "0")
    assert scripts.starts == ["a"]


def test_how_many_failures_stop_an_agent_can_be_set(scripts: Scripts) -> None:
    """With 0 none does."""
    wrong = dict.fromkeys([f"c{n}" for n in range(7)], failure("Internal server error", 500))
    scripts.run(wrong, "--throttle-retries", "0", "--outage-after", "2")
    assert len(scripts.starts) == 2
    scripts.run(wrong, "--throttle-retries", "0", "--outage-after", "0")
    assert len(scripts.starts) == 2 + 7


def test_a_service_that_works_lets_all_units_run_at_once(scripts: Scripts) -> None:
    """The caution ends with the first unit that the model answered, whatever its verdict is."""
    done = scripts.run(
        {f"c{n}": script(INIT, TALK, RESULT) if n % 2 else PASS for n in range(12)},
        *("--max-parallel", "12"),
    )
    assert len(scripts.starts) == 12
    assert set(done.column("outcome")) == {"completed"}


def test_s1_a_limit_that_lifts_in_seconds_stops_nobody(scripts: Scripts) -> None:
    """It says that it is no usage limit; the other units run."""
    throttled = failure("temporarily limiting requests (not your usage limit) · Rate limited", 429)
    done = scripts.run({"a": throttled, "b": PASS}, "--throttle-retries", "0")
    assert done.column("outcome") == ["rate_limit", "completed"]


def test_s2_a_prompt_that_is_too_long_fails_alone(scripts: Scripts) -> None:
    """The agent works on with the next case."""
    done = scripts.run({"a": failure("Prompt is too long", 400), "b": PASS})
    assert done.column("failure_kind") == ["context", None]
    assert done.column("status") == ["fail", "pass"]


def test_s13_the_remedy_of_an_mcp_server_speaks_of_that_server(scripts: Scripts) -> None:
    """Not of credentials, which are right."""
    error = "! Error: thread/start failed: required MCP servers failed to initialize: dbx: closed\n"
    done = scripts.run({"a": f"{error}# exit 1\n", "b": PASS}, agent="codex")
    assert done.column("outcome") == ["mcp_server", "not_run"]
    assert "dbx" in done.stdout
    assert "MCP server" in done.stdout
    assert "credential" not in done.stdout


# ---- waiting for the background


@pytest.mark.slow
def test_s3_a_run_is_not_ended_while_a_background_agent_works(scripts: Scripts) -> None:
    """The result of the first turn is no end, however long the second one takes to come."""
    first = script(INIT, TALK, TASK, RESULT)
    later = f"# wait {scripts.folder / 'go'}\n" + script(TASK_END, INIT, *LOAD, RESULT)
    text = first + later

    timer = threading.Timer(7.0, (scripts.folder / "go").touch)
    timer.start()
    done = scripts.run({"yes": text, "no-load": text})
    timer.join()

    assert done.column("status") == ["pass", "fail"]
    assert done.column("failure_kind") == [None, "disallowed_hit"]
    assert done.column("ended_by") == ["exit", "exit"]


@pytest.mark.slow
def test_s3_a_run_that_is_cut_there_proves_no_absence(scripts: Scripts) -> None:
    """An agent that never ends is ended by the deadline of the unit."""
    text = script(INIT, TALK, TASK, RESULT) + "# sleep\n"
    done = scripts.run({"no-load": text}, "--timeout-seconds", "8")
    assert done.column("ended_by") == ["wall_deadline"]
    assert done.column("status") == ["fail"]
    assert done.column("failure_kind") == ["timeout"]


def test_s3_a_stream_that_ends_with_an_agent_at_work_is_not_complete(scripts: Scripts) -> None:
    """The CLI exits by itself, and never says what became of it."""
    done = scripts.run({"no-load": script(INIT, TALK, TASK, RESULT)})
    assert done.column("outcome") == ["killed"]
    assert "1 agent in the background had not ended" in done.column("error")[0]


# ---- what can show a load


@pytest.mark.parametrize(
    ("agent", "template", "flag"),
    [
        ("claude", "claude -p {prompt}", "--output-format stream-json"),
        ("claude", "claude -p --output-format json {prompt}", "--output-format stream-json"),
        ("codex", "codex exec {prompt}", "--json"),
        ("gemini", "npx gemini -p {prompt}", "--output-format stream-json"),
        ("opencode", "sh -c 'opencode run \"$0\"' {prompt}", "--format json"),
        ("claude", "claude -p --output-format=stream-json --verbose {prompt}", ""),
        ("codex", "codex exec --experimental-json {prompt}", ""),
        ("copilot", "copilot -p {prompt}", ""),
        ("claude", "python3 my-claude.py {prompt}", ""),
    ],
)
def test_s4_a_run_says_at_its_start_that_a_template_prints_plain_text(
    scripts: Scripts, agent: str, template: str, flag: str
) -> None:
    """It names the option, and how many cases cannot be measured without it."""
    programs = scripts.folder / "bin"
    programs.mkdir()
    (programs / "git").symlink_to(shutil.which("git") or "git")  # and no agent
    scripts.project.variables |= {
        f"AGENT_{agent.upper()}_TEMPLATE": template,
        "PATH": str(programs),
    }
    done = scripts.run({"no-load": "", "yes": ""}, agent=agent)
    line = f"{agent}: AGENT_{agent.upper()}_TEMPLATE has no {flag}, and plain text shows no load"
    assert (line in done.stderr) == bool(flag)
    assert ("1 case depends on absence" in done.stderr) == bool(flag)


def test_s4_plain_text_is_no_proof_of_absence(scripts: Scripts) -> None:
    """The case is not measured; the remedy names the option of the template."""
    done = scripts.run({"no-load": "I have started the build.\n"})
    assert done.column("outcome") == ["not_measurable"]
    assert done.column("status") == ["infra_error"]
    assert "no load of a skill shows" in done.column("error")[0]
    assert "let the agent print records" in done.stdout


# ---- the order, and a gate that is decided


def baseline_of(scripts: Scripts, *names: str) -> None:
    """All of them are expected to pass."""
    entries = {name: {"claude": {"expected_status": "pass"}} for name in names}
    (scripts.project.root / "provider-baseline.json").write_text(json.dumps(entries), "utf-8")


WRONG = script(INIT, TALK, RESULT)


def test_pairs_that_failed_before_run_first(scripts: Scripts, tmp_path: Path) -> None:
    """The results keep the order of the cases; a new pair comes before those that always pass."""
    lines = [
        HistoryLine(
            at="2026-01-01T00:00:00Z", commit="c" * 40, run="1", batch="b", case_id=name,
            agent="claude", passes=passes, measured=4, trials=4,
        )
        for name, passes in {"a": 4, "b": 3, "c": 0}.items()
    ]  # fmt: skip
    write_history(tmp_path / "past", lines)
    done = scripts.run(dict.fromkeys("abcd", PASS), "--history", str(tmp_path / "past"))
    assert scripts.starts == ["c", "d", "b", "a"]
    assert done.column("case_id") == ["a", "b", "c", "d"]


def test_with_fail_fast_nothing_starts_once_a_pair_is_red(scripts: Scripts) -> None:
    """It is confirmed first; the other units say why they did not run."""
    names = [f"c{n}" for n in range(8)]
    baseline_of(scripts, *names)
    cases = {name: WRONG if name == "c1" else PASS for name in names}
    done = scripts.run(cases, "--fail-fast", "--confirm", "2")
    assert scripts.starts == ["c0", "c1", "c1", "c1"]
    assert done.column("outcome")[4:] == ["not_run"] * 6
    assert "claude:c1 failed 3 of 3" in done.column("error")[-1]
    assert done.code == 1


def test_a_failure_that_is_expected_or_not_confirmed_ends_nothing(scripts: Scripts) -> None:
    """Nor does a pair that could not be measured."""
    names = [f"c{n}" for n in range(5)]
    baseline_of(scripts, *names[1:])
    broken = failure("Internal server error", 500)
    cases = {name: {"c0": WRONG, "c2": broken}.get(name, PASS) for name in names}
    scripts.run(cases, "--fail-fast", "--throttle-retries", "0")
    assert scripts.starts == names
