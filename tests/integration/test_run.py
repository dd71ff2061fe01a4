"""`routing-action run` from the outside: a fake agent CLI, real processes, real files."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from routing_action.cli.schema import render_schema
from tests.support.command_line import Project, loads
from tests.support.own_agent import DESCRIPTION

UUID4 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """An empty project in a folder with a space in its name."""
    root = tmp_path / "my project"
    root.mkdir()
    return Project(root)


def test_a_proven_load_passes_and_everything_is_on_disk(project: Project) -> None:
    """results.json, proof log and transcripts stand in the batch's own folder."""
    project.write_cases(loads("one"), {**loads("two"), "prompt": "mention:foo"})
    done = project.run()
    assert done.code == 1
    assert done.column("status") == ["pass", "fail"]
    assert done.column("failure_kind") == [None, "weak_evidence_only"]
    assert done.column("cli_version") == ["9.9.9", "9.9.9"]
    proof = (done.artifacts / "tool-use-proof.log").read_text("utf-8")
    assert '"name": "Skill"' in proof
    assert "foo: tier 1 score 1000 cli_output (load at stdout line 3)" in proof
    for unit in done.column("unit_run_id"):
        assert (done.artifacts / "transcripts" / f"{unit}.stdout").stat().st_size > 0
        assert (done.artifacts / "transcripts" / f"{unit}.stderr").exists()
    assert "verdict: 1 pair failed" in done.stdout


def test_results_follow_the_published_schema(project: Project) -> None:
    """Any consumer can validate the file; ids are unique UUIDs of version 4."""
    project.write_cases(loads("one"), loads("two"))
    done = project.run("--trials", "2", "--format", "json")
    Draft202012Validator(json.loads(render_schema("results"))).validate(done.results)
    assert json.loads(done.stdout) == done.results
    ids = [done.results["batch_run_id"], *done.column("unit_run_id")]
    assert len(set(ids)) == 5
    assert all(UUID4.fullmatch(one) for one in ids)
    assert done.artifacts.name == done.results["batch_run_id"]
    assert done.results["summary"] == {"total": 4, "pass": 4, "fail": 0, "infra_error": 0}


@pytest.mark.parametrize("variable", ["CI", "GITHUB_ACTIONS", "AT_A_DESK"])
def test_in_a_log_each_unit_has_one_line_with_short_ids(project: Project, variable: str) -> None:
    """The log of a job is short; the folder and the files have the full ids."""
    project.write_cases(loads("one"), loads("two"))
    project.variables[variable] = "true"
    done = project.run("--max-parallel", "1")
    first, *lines = done.stderr.splitlines()
    assert first == f"ARTIFACT_DIR={done.artifacts}"
    for number, (line, unit) in enumerate(
        zip(lines[:2], done.column("unit_run_id"), strict=True), start=1
    ):
        assert f"[unit:{unit[:8]}]" in line
        assert f"-> completed [{number}/2] " in line
        assert line.endswith(f"summary(pass={number}, fail=0, infra=0)")
    assert len(lines) == 3
    assert done.artifacts.name not in "\n".join(lines)


def test_no_progress_leaves_the_artifact_folder_alone_on_stderr(project: Project) -> None:
    """Scripts read one raw line; nothing else is printed there."""
    project.write_cases(loads("one"))
    done = project.run("--no-progress", "--artifacts-root", "else where")
    assert done.stderr.splitlines() == [f"ARTIFACT_DIR={done.artifacts}"]
    assert done.artifacts.parent == project.root / "else where"


def test_copies_are_additional_and_two_runs_never_collide(project: Project) -> None:
    """--output and --proof-log copy; the batch folder is complete all the same."""
    project.write_cases(loads("one"))
    first = project.run("--output", "out/r.json", "--proof-log", "out/p.log")
    second = project.run("--output", "out/r.json")
    assert first.artifacts != second.artifacts
    assert (first.artifacts / "results.json").exists()
    assert json.loads((project.root / "out/r.json").read_text("utf-8")) == second.results
    copied = (project.root / "out/p.log").read_text("utf-8")
    assert copied == (first.artifacts / "tool-use-proof.log").read_text("utf-8")


def peak_overlap(stamps: Path) -> int:
    """How many agents were alive at once, from their own start and end stamps."""
    moments = []
    for line in stamps.read_text("utf-8").splitlines():
        begun, ended = map(float, line.split())
        moments += [(begun, 1), (ended, -1)]
    alive = peak = 0
    for _, change in sorted(moments):
        alive += change
        peak = max(peak, alive)
    return peak


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "variable", "expected"),
    [((), "", 4), ((), "2", 2), (("--max-parallel", "3"), "2", 3)],
)
def test_so_many_agents_run_at_once(
    project: Project, arguments: tuple[str, ...], variable: str, expected: int
) -> None:
    """Four by default, two by the variable, three by the flag, seen from the agents."""
    stamps = project.root / "stamps.txt"
    project.options = ("--stamps", str(stamps), "--sleep", "0.4")
    project.variables = {"MAX_CONCURRENCY": variable}
    project.write_cases(*(loads(f"c{n}") for n in range(8)))
    done = project.run(*arguments)
    assert done.code == 0, done.stderr
    assert peak_overlap(stamps) == expected


def test_results_stand_in_case_then_provider_order(project: Project) -> None:
    """Whatever finishes first: the slow case comes first in the file."""
    slow = {**loads("slow"), "prompt": "load:foo sleep:0.5"}
    project.write_cases(slow, loads("quick"))
    done = project.run()
    assert done.column("case_id") == ["slow", "quick"]


def test_trials_are_rows_and_a_majority_decides(project: Project) -> None:
    """Three trials of a pair give three rows and one verdict."""
    project.write_cases(loads("one"))
    done = project.run("--trials", "3")
    assert done.column("trial") == [1, 2, 3]
    (pair,) = done.results["pairs"]
    assert (pair["status"], pair["flaky"], pair["passed"]) == ("pass", False, 3)


def test_a_sample_prints_and_stores_its_seed(project: Project) -> None:
    """A drawn sample can be drawn again."""
    project.write_cases(*(loads(f"c{n}") for n in range(9)))
    first = project.run("--sample", "2")
    seed = str(first.results["options"]["seed"])
    assert f"sample=2 seed={seed}" in first.stderr
    again = project.run("--sample", "2", "--seed", seed)
    assert again.column("case_id") == first.column("case_id")


def test_ctrl_c_keeps_what_had_ended_and_leaves_no_agent(project: Project) -> None:
    """Exit 130; the running unit is marked cancelled, the rest was never started."""
    marker = str(project.root / "stamps.txt")
    project.options = ("--stamps", marker)
    project.write_cases(loads("done"), {**loads("hangs"), "prompt": "sleep:60"}, loads("never"))
    running = subprocess.Popen(
        project.command("run", "--agents", "claude", "--max-parallel", "1"),
        cwd=project.root,
        env=project.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert running.stderr is not None
    stderr = ""
    while "claude:done -> completed" not in stderr:
        stderr += running.stderr.readline()
    time.sleep(1)
    running.send_signal(signal.SIGINT)
    stdout, rest = running.communicate(timeout=30)
    assert running.returncode == 130, rest
    folder = Path(stderr.splitlines()[0].removeprefix("ARTIFACT_DIR="))
    results = json.loads((folder / "results.json").read_text("utf-8"))
    assert results["complete"] is False
    command = f"`routing-action run --resume {shlex.quote(str(folder))}` continues it"
    assert command in " ".join(stdout.split())
    assert [(row["case_id"], row["outcome"]) for row in results["results"]] == [
        ("done", "completed"),
        ("hangs", "cancelled"),
    ]
    assert alive(marker) == []


def alive(marker: str) -> list[str]:
    """Processes whose command line holds the marker."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            text = entry.read_bytes().decode("utf-8", "replace")
        except OSError:
            continue
        if marker in text:
            found.append(text)
    return found


def test_a_deadline_is_a_timeout_and_a_proven_load_still_passes(project: Project) -> None:
    """The gate judges timed_out; the verdict keeps what was proven."""
    late = {**loads("late"), "prompt": "sleep:30"}
    project.write_cases(late)
    done = project.run("--timeout-seconds", "1")
    assert done.column("failure_kind") == ["timeout"]
    assert done.column("failure_category") == ["timeout"]
    assert done.column("timed_out") == [True]
    assert done.column("ended_by") == ["wall_deadline"]


def test_i8_a_silent_agent_is_ended_by_the_idle_deadline(project: Project) -> None:
    """Hours of silence cost seconds."""
    project.write_cases({**loads("silent"), "prompt": "sleep:30"})
    done = project.run("--idle-timeout-seconds", "1", "--provider-timeout", "claude:25")
    assert done.column("ended_by") == ["idle_deadline"]


def test_i3_an_agent_that_always_fails_makes_nothing_green(project: Project) -> None:
    """Neither a negative case nor the run passes where /bin/false is the agent."""
    project.variables = {"AGENT_CLAUDE_TEMPLATE": "/bin/false {prompt}"}
    project.write_cases({"case_id": "n", "prompt": "p", "disallowed_skills": ["foo"]})
    done = project.run()
    assert (done.code, done.column("status")) == (1, ["infra_error"])
    assert done.column("outcome") == ["no_output"]
    assert "not measured" in done.stdout


@pytest.mark.parametrize(
    ("template", "outcome", "cause"),
    [
        ("timeout 60 no-such-cli {prompt}", "cli_missing", "no-such-cli"),
        ("sh -c no-such-cli {prompt}", "cli_missing", "no-such-cli"),
        ("python3 no-such-script.py {prompt}", "no_output", "no-such-script.py"),
        ("sh -c 'exit 3' {prompt}", "no_output", "printed nothing, neither an answer nor an error"),
    ],
)
def test_i1_a_template_that_cannot_work_repeats_what_it_said(
    project: Project, template: str, outcome: str, cause: str
) -> None:
    """The program or the script that is missing; nothing is guessed about credentials."""
    project.variables = {"AGENT_CLAUDE_TEMPLATE": template}
    project.write_cases(loads("one"))
    done = project.run()
    assert done.column("outcome") == [outcome]
    assert cause in done.column("error")[0]
    assert cause in " ".join(done.stdout.split())
    assert "credential" not in done.stdout


def test_i4_after_a_refused_key_the_rest_is_not_run(project: Project) -> None:
    """Credentials do not come back within a batch: the other units cost nothing."""
    refused = {**loads("one"), "prompt": "status:401"}
    project.write_cases(refused, loads("two"), loads("three"))
    done = project.run("--max-parallel", "1")
    assert done.column("outcome") == ["auth", "not_run", "not_run"]
    assert "stopped after auth" in done.column("error")[1]
    assert done.code == 1


def test_secrets_reach_neither_agent_nor_artifact(project: Project) -> None:
    """The workflow's token is not in the agent's environment; its own key is redacted."""
    project.options = ("--print-environment",)
    token, key = "ghs_0123456789abcdef0123", "sk-ant-0123456789abcdef"
    project.variables = {"GITHUB_TOKEN": token, "ANTHROPIC_API_KEY": key, "OTHER": "not-allowed"}
    project.write_cases(loads("one"))
    done = project.run()
    assert done.code == 0, done.stderr
    written = "".join(
        path.read_text("utf-8") for path in done.artifacts.rglob("*") if path.is_file()
    )
    assert "ANTHROPIC_API_KEY" in written
    for hidden in (token, key, "not-allowed", "GITHUB_TOKEN"):
        assert hidden not in written + done.stdout + done.stderr


LOGGED = {"case_id": "logged", "prompt": "logged:foo", "expected_skill": "foo"}


def with_log(project: Project) -> Path:
    """A log folder with a stale proof in it, and the fake agent writing there."""
    logs = project.root / "logs"
    logs.mkdir()
    stale = {"type": "tool_use", "id": "x", "name": "Skill", "input": {"skill": "foo"}}
    result = {"type": "tool_result", "tool_use_id": "x", "content": "Launching skill: foo"}
    (logs / "old.jsonl").write_text(
        "".join(
            json.dumps({"type": kind, "message": {"content": [block]}}) + "\n"
            for kind, block in (("assistant", stale), ("user", result))
        ),
        encoding="utf-8",
    )
    project.options = ("--log", str(logs / "session.jsonl"))
    project.variables = {"AGENT_CLAUDE_LOG_DIRS": str(logs)}
    return logs


def test_log_evidence_is_tier_two_and_belongs_to_one_unit(project: Project) -> None:
    """Only the first of two units wrote proof; the second, and a stale log, give none."""
    with_log(project)
    quiet = {**LOGGED, "case_id": "quiet", "prompt": "nothing"}
    project.write_cases(LOGGED, quiet)
    done = project.run("--max-parallel", "1")
    hits = [row["token_hits"]["foo"] for row in done.results["results"]]
    assert (hits[0]["tier"], hits[0]["source_kind"]) == (2, "log_fallback")
    assert hits[1] is None
    assert done.column("status") == ["fail", "fail"]
    assert done.column("source") == ["log_fallback", "none"]
    assert done.column("matched_log_file")[0].endswith("session.jsonl")


def test_log_evidence_passes_only_where_the_case_opts_out_of_tier_one(project: Project) -> None:
    """expected_skill_min_tier 2 accepts it in a serial run."""
    with_log(project)
    project.write_cases({**LOGGED, "expected_skill_min_tier": 2})
    assert project.run("--max-parallel", "1").column("status") == ["pass"]


def test_in_a_parallel_run_logs_are_diagnostics_unless_allowed(project: Project) -> None:
    """Units that run side by side cannot be told apart by their logs."""
    with_log(project)
    project.write_cases({**LOGGED, "expected_skill_min_tier": 2})
    scanned = project.run("--enable-log-scan")
    assert scanned.column("status") == ["fail"]
    assert scanned.column("source") == ["none"]
    assert scanned.column("tool_use_proof_lines") == [[]]
    (hit,) = (hits["foo"] for hits in scanned.column("token_hits"))
    assert (hit["tier"], hit["source_kind"]) == (2, "log_fallback")
    place = f"{project.root / 'logs' / 'session.jsonl'} line 1; not counted: units ran in parallel"
    assert hit["source_detail"].endswith(place)
    shown = " ".join(scanned.stdout.split())
    assert "foo at tier 2 (load at" in shown
    assert "not counted: units ran in parallel" in shown
    assert place in (scanned.artifacts / "tool-use-proof.log").read_text("utf-8")
    assert project.run("--disable-log-scan").column("token_hits") == [{"foo": None}]
    allowed = project.run("--enable-log-scan", "--allow-log-fallback-pass")
    assert allowed.column("status") == ["pass"]


@pytest.mark.parametrize("template", ["sh", "timeout 60 sh", "env A=b sh", "python3"])
def test_the_version_is_never_that_of_the_program_that_starts_a_command(
    project: Project, template: str
) -> None:
    """Nor is a script asked, for which `--version` would be a prompt."""
    asked = project.root / "asked.txt"
    script = project.root / "claude.sh"
    script.write_text(f'echo "$@" >>{shlex.quote(str(asked))}\n', encoding="utf-8")
    project.variables = {
        "AGENT_CLAUDE_TEMPLATE": f"{template} {shlex.quote(str(script))} claude {{prompt}}"
    }
    project.write_cases(loads("one"))
    assert project.run().column("cli_version") == [None]
    assert "--version" not in (asked.read_text("utf-8") if asked.exists() else "")


def test_the_agent_cannot_read_the_answer_key(project: Project) -> None:
    """cases.json is not in the workspace of an isolated run."""
    script = "import os,sys;print(sorted(os.listdir('.')), os.getcwd())"
    project.variables = {"AGENT_CLAUDE_TEMPLATE": f'python3 -c "{script}" {{prompt}}'}
    project.write_cases(loads("one"))
    (project.root / "README.md").write_text("hello", encoding="utf-8")
    done = project.run()
    (excerpt,) = done.column("output_excerpt")
    assert "README.md" in excerpt
    assert "cases.json" not in excerpt
    assert str(project.root) not in excerpt


def test_confirm_runs_only_would_be_regressions_again(project: Project) -> None:
    """The red pair gets two more trials; the green one is not paid for twice."""
    project.write_cases(loads("green"), {**loads("red"), "prompt": "mention:foo"})
    entries = {name: {"claude": {"expected_status": "pass"}} for name in ("green", "red")}
    (project.root / "provider-baseline.json").write_text(json.dumps(entries), encoding="utf-8")
    done = project.run("--confirm", "2")
    assert list(zip(done.column("case_id"), done.column("trial"), strict=True)) == [
        ("green", 1),
        ("red", 1),
        ("red", 2),
        ("red", 3),
    ]
    assert done.code == 1


BAD_INPUT = {
    "unknown agent": (("--agents", "gpt"), "unknown agent 'gpt'"),
    "misspelt agent": (("--agents", "claud"), "did you mean claude?"),
    "no agent": (("--agents", "gpt"), "known agents: claude, codex, copilot"),
    "misspelt case": (("--case-id", "one,onne"), "did you mean one?"),
    "misspelt category": (("--category", "smoke,somke"), "did you mean smoke?"),
    "unknown category": (("--category", "smoke,zzz"), "the categories are: smoke"),
    "unknown case in a list": (("--case-id", "one,nope"), "no case 'nope'"),
    "bad deadline": (("--timeout-seconds", "soon"), "--timeout-seconds"),
    "bad provider deadline": (("--provider-timeout", "claude"), "provider:value"),
    "bad parallel": (("--max-parallel", "0"), "--max-parallel 0"),
    "missing case file": (("--cases", "none.json"), "none.json: no such file"),
    "missing recordings": (("--replay=nowhere",), "nowhere"),
    "unknown flag": (("--agent", "claude"), "No such option"),
    "bad speed": (("--speed", "-1"), "--speed"),
    "bad skills": (("--skills", "nowhere"), "--skills"),
}


@pytest.mark.parametrize("name", BAD_INPUT)
def test_bad_input_is_exit_2_with_what_to_mend_and_no_traceback(
    project: Project, name: str
) -> None:
    """Each names the flag, the file or the value."""
    arguments, expected = BAD_INPUT[name]
    project.write_cases(loads("one", category="smoke"))
    done = project.call("run", "--agents", "claude", *arguments)
    assert done.code == 2
    assert expected in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["plan", "run"])
@pytest.mark.parametrize(
    ("option", "given", "meant", "code"),
    [
        ("--agents", "copilt", "copilot", 2),
        ("--case-id", "Onne", "one", 2),
        ("--category", "somke", "smoke", 2),
    ],
)
def test_a_misspelt_name_is_offered_the_one_that_was_meant(
    project: Project, command: str, option: str, given: str, meant: str, code: int
) -> None:
    """For agents, cases and categories, whatever would be done with them."""
    project.write_cases(loads("one", category="smoke"), loads("two"))
    done = project.call(command, option, given)
    assert (done.code, f"remedy: did you mean {meant}?" in done.stderr) == (code, True)


@pytest.mark.parametrize(
    ("template", "arguments", "told"),
    [
        (
            "agent {prompt}",
            ("--provider-model", "claude:opus"),
            "--provider-model claude:opus has no effect: AGENT_CLAUDE_TEMPLATE has no {model}",
        ),
        ("agent -m {model} {prompt}", (), "add --provider-model claude:NAME"),
        (
            "agent -m {model} {prompt}",
            ("--provider-model", "codex:gpt"),
            "AGENT_CLAUDE_TEMPLATE has {model}, and no model is given",
        ),
    ],
)
def test_a_model_that_would_not_reach_the_agent_is_exit_2(
    project: Project, template: str, arguments: tuple[str, ...], told: str
) -> None:
    """Results never name a model that was not asked for; nothing is started."""
    project.variables = {"AGENT_CLAUDE_TEMPLATE": template}
    project.write_cases(loads("one"))
    done = project.run(*arguments)
    assert (done.code, told in done.stderr) == (2, True), done.stderr
    assert "ARTIFACT_DIR" not in done.stderr


@pytest.mark.parametrize("form", ["-m {model}", "--model={model}", "'say {model}'"])
def test_a_template_gets_the_model_where_it_has_a_place_for_it(project: Project, form: str) -> None:
    """As a word of its own, or in one."""
    project.variables = {"AGENT_CLAUDE_TEMPLATE": f"sh -c 'echo \"$@\"' {form} {{prompt}}"}
    project.write_cases(loads("one"))
    done = project.run("--provider-model", "claude:opus-9")
    assert "opus-9" in " ".join(done.column("command")[0])
    assert done.results["options"]["provider_models"] == {"claude": "opus-9"}


def test_an_agent_of_ones_own_that_takes_no_model_is_not_given_one(project: Project) -> None:
    """Its description has no place for it."""
    text = DESCRIPTION.replace('model_arguments = ["--model", "{model}"]\n', "")
    assert text != DESCRIPTION
    (project.root / "routing.toml").write_text(text, encoding="utf-8")
    project.write_cases(loads("one"))
    done = project.call("run", "--agents", "acme", "--provider-model", "acme:x")
    assert (done.code, "the command of acme has no {model}" in done.stderr) == (2, True)


def test_a_bad_variable_or_template_is_exit_2(project: Project) -> None:
    """Variables are settings like flags."""
    project.write_cases(loads("one"))
    for variables in ({"MAX_CONCURRENCY": "many"}, {"AGENT_CLAUDE_TEMPLATE": "claude 'x"}):
        project.variables = variables
        done = project.run()
        assert (done.code, next(iter(variables)) in done.stderr) == (2, True), done.stderr


def test_a_damaged_recording_is_exit_2_and_names_the_file(project: Project) -> None:
    """Nothing is started on half a set."""
    folder = project.root / "rec" / "claude"
    folder.mkdir(parents=True)
    (folder / "one.stdout").write_text("x", encoding="utf-8")
    (folder / "one.json").write_text('{"exit_code": "no"}', encoding="utf-8")
    project.write_cases(loads("one"))
    done = project.run("--replay=rec")
    assert done.code == 2
    assert "one.json" in done.stderr
    (folder / "one.json").unlink()
    project.write_cases(loads("one"), loads("two"))
    missing = project.run("--replay=rec")
    assert (missing.code, "two.stdout" in missing.stderr) == (2, True)


def test_nothing_left_to_run_is_exit_3(project: Project) -> None:
    """A filter that matches nothing is told from a failure."""
    project.write_cases(loads("one", category="a"), loads("two", category="b"))
    done = project.run("--category", "b", "--case-id", "one")
    assert (done.code, "passes the filters" in done.stderr) == (3, True)


def test_an_artifact_folder_that_cannot_be_made_is_exit_4(project: Project) -> None:
    """The harness says which folder and how to name another."""
    project.write_cases(loads("one"))
    (project.root / "taken").write_text("a file", encoding="utf-8")
    done = project.run("--artifacts-root", "taken/x")
    assert (done.code, "--artifacts-root" in done.stderr) == (4, True)


def test_the_self_test_passes_and_needs_no_case_file(project: Project) -> None:
    """An operator can check an installation with it."""
    done = project.call("run", "--self-test")
    assert (done.code, "every fixture holds" in done.stdout) == (0, True)


def test_line_numbers_of_the_lifecycle_only_go_up(project: Project) -> None:
    """The log reads in time order."""
    project.write_cases(*(loads(f"c{n}") for n in range(4)))
    stamps = re.findall(r"^\[routing-action\] (\S+) ", project.run().stderr, re.MULTILINE)
    assert all(before <= after for before, after in pairwise(stamps)) or "00:00" in stamps[-1]


def write_skill(project: Project, folder: str) -> None:
    path = project.root / folder / "SKILL.md"
    path.parent.mkdir(parents=True)
    name = path.parent.name
    path.write_text(f"---\nname: {name}\ndescription: Some.\n---\n", encoding="utf-8")


def use_silent_codex(project: Project) -> None:
    """A codex that answers without any tool, and tells no catalogue, as the real one does."""
    events: list[dict[str, object]] = [
        {"type": "thread.started"},
        {"type": "turn.started"},
        {"type": "item.completed", "item": {"type": "agent_message", "text": "Done."}},
        {"type": "turn.completed", "usage": {}},
    ]
    code = "import json;" + "".join(f"print(json.dumps({event!r}));" for event in events)
    program = shlex.join([sys.executable, "-c", code])
    project.variables["AGENT_CODEX_TEMPLATE"] = f"{program} {{prompt}}"


def test_a_skill_that_was_never_offered_is_told_where_the_stream_does_not(project: Project) -> None:
    """Codex prints no catalogue; what lies where it looks is all that it can offer."""
    write_skill(project, ".agents/skills/bar")
    use_silent_codex(project)
    project.write_cases(loads("one"), loads("two", expected_skill="bar"))
    done = project.call("run", "--agents", "codex")
    assert done.column("catalogue") == [["bar"], ["bar"]]
    assert done.column("failure_kind") == ["skill_unavailable", "answered_directly"]


def test_the_results_tell_what_each_offered_skill_says(project: Project) -> None:
    """Isolated and shared alike; a secret in a description is not written."""
    write_skill(project, ".agents/skills/bar")
    file = project.root / ".agents/skills/bar/SKILL.md"
    file.write_text(file.read_text("utf-8").replace("Some.", "Use sk-secret-0123456789."), "utf-8")
    project.variables["OPENAI_API_KEY"] = "sk-secret-0123456789"
    use_silent_codex(project)
    project.write_cases(loads("one", expected_skill="bar"))
    for workspace in ("isolated", "shared"):
        done = project.call("run", "--agents", "codex", "--workspace", workspace)
        (skill,) = done.results["skills"]
        assert (skill["name"], skill["agents"]) == ("bar", ["codex"])
        assert skill["path"] == ".agents/skills/bar"
        assert skill["description"].startswith("Use ")
        assert "sk-secret" not in json.dumps(done.results)


def test_tokens_that_the_stream_does_not_tell_come_from_the_session_log(project: Project) -> None:
    """Copilot's, which lie in the unit's own home; the user's home is never searched for them."""
    shutdown = {"modelMetrics": {"m": {"usage": {"inputTokens": 7, "outputTokens": 2}}}}
    said = {"type": "result", "exitCode": 0, "usage": {"premiumRequests": 1}}
    code = (
        "import json, os, pathlib\n"
        "folder = pathlib.Path(os.environ['COPILOT_HOME'], 'session-state', 'one')\n"
        "folder.mkdir(parents=True, exist_ok=True)\n"
        f"record = json.dumps({{'type': 'session.shutdown', 'data': {shutdown!r}}})\n"
        "(folder / 'events.jsonl').write_text(record)\n"
        f"print(json.dumps({said!r}))\n"
    )
    program = shlex.join([sys.executable, "-c", code])
    project.variables["AGENT_COPILOT_TEMPLATE"] = f"{program} {{prompt}}"
    project.variables["COPILOT_HOME"] = str(project.root / "own")
    project.write_cases(loads("one"))
    done = project.call("run", "--agents", "copilot")
    (usage,) = done.column("usage")
    assert (usage["input_tokens"], usage["output_tokens"]) == (7, 2)
    assert usage["premium_requests"] == 1
    done = project.call("run", "--agents", "copilot", "--workspace", "shared")
    (usage,) = done.column("usage")
    assert (usage["input_tokens"], usage["premium_requests"]) == (None, 1)


@pytest.mark.parametrize(
    ("fields", "kind"),
    [({}, "missing_required"), ({"optional_skills": ["bar"]}, "optional_only")],
)
def test_what_took_the_prompt_is_proven_too(
    project: Project, fields: dict[str, Any], kind: str
) -> None:
    """Its line stands in the row, under the run's reasons and in the comparison."""
    project.write_cases(loads("one", prompt="please load:bar", **fields), loads("two"))
    done = project.call("run", "--agents", "claude", "--workspace", "shared")
    failed, passed = done.results["results"]
    assert failed["failure_kind"] == kind
    hit = failed["token_hits"]["bar"]
    assert (hit["tier"], hit["source_kind"]) == (1, "cli_output")
    assert '"skill": "bar"' in hit["proof_line"]
    assert list(passed["token_hits"]) == ["foo"]
    assert f"found    bar at tier 1 ({hit['source_detail']}):" in done.stdout
    (project.root / "provider-baseline.json").write_text(
        json.dumps({"one": {"claude": {"expected_status": "pass"}}}), encoding="utf-8"
    )
    results = str(done.artifacts)
    compared = project.call("compare", "--results-dir", results, "--format", "json")
    (row,) = [row for row in json.loads(compared.stdout)["rows"] if row["case_id"] == "one"]
    assert [proof["token"] for proof in row["proofs"]][-1] == "bar"


def test_an_agent_that_looks_where_no_skill_lies_is_told_so(project: Project) -> None:
    """Also where it runs alone, as each leg of a matrix does; the agent's routing is not blamed."""
    write_skill(project, ".claude/skills/foo")
    use_silent_codex(project)
    project.write_cases(loads("one"))
    done = project.call("run", "--agents", "codex")
    assert done.column("failure_kind") == ["skill_unavailable"], done.results["results"]
    ((note, *_),) = done.column("notes")
    assert note.startswith("codex finds no skill: it looks in ")
    assert ".claude/skills" in note
    assert "codex finds no skill" in done.stdout
    results = str(done.artifacts)
    (project.root / "provider-baseline.json").write_text(
        json.dumps({"one": {"codex": {"expected_status": "pass"}}}), encoding="utf-8"
    )
    compared = project.call("compare", "--results-dir", results, "--format", "json")
    notes = json.loads(compared.stdout)["notes"]
    assert any(note.startswith("codex finds no skill") for note in notes)


def test_a_skill_that_could_not_be_staged_blames_no_agent(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pull request did not break it, so the pair is infra_error, and no agent is started."""
    write_skill(project, ".claude/skills/foo")
    project.write_cases(loads("one"))
    stuck = ("a: Operation not permitted",)
    monkeypatch.setattr("routing_action.run.workspace.staging.remove_tree", lambda _: stuck)
    done = project.run("--skills", ".claude/skills")
    assert (done.column("status"), done.column("outcome")) == (["infra_error"], ["not_run"])
    assert "could not be replaced by the staged skill" in done.column("error")[0]


def test_a_prompt_that_is_still_to_be_written_is_not_paid_for(project: Project) -> None:
    """`cases init` leaves such prompts; no agent is started for one."""
    project.write_cases(loads("one"), {**loads("two"), "prompt": "FILL IN what a user would ask"})
    done = project.run()
    assert done.code == 2
    assert "two: the prompt is still to be written" in done.stderr
    assert project.run("--case-id", "one").code == 0


@pytest.mark.parametrize("shard", ["3/2", "0/1", "1/0", "x", "1/2/3"])
def test_a_shard_that_cannot_be_is_refused(project: Project, shard: str) -> None:
    """It would be stored, and a comparison would look for shards that never come."""
    project.write_cases(loads("one"))
    done = project.run("--shard", shard)
    assert (done.code, f"--shard {shard}: must be I/N" in done.stderr) == (2, True)


def test_a_folder_below_the_root_is_told_where_the_cases_are(project: Project) -> None:
    """The remedy names the folder to run from."""
    project.write_cases(loads("one"))
    below = Project(project.root / "src" / "deep")
    below.root.mkdir(parents=True)
    done = below.run()
    assert done.code == 2
    assert f"run from {project.root.resolve()}" in done.stderr
