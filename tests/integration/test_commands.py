"""evaluate, plan, cases, providers and schema from the outside."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from routing_action import __version__
from routing_action.__main__ import main
from routing_action.agents.discovery import our_providers
from tests.support.command_line import ROOT, Finished, Project, loads, run_command
from tests.support.pull_request import PullRequest
from tests.support.result_rows import make_results, make_row

RECORDED = ROOT / "tests" / "recordings" / "cli"
CLAUDE = RECORDED / "claude" / "2.1.332"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """An empty project."""
    return Project(tmp_path)


def evaluate(project: Project, recording: Path, *arguments: str) -> Finished:
    """`evaluate` on a recording of claude."""
    stdout = str(recording.with_name(recording.name + ".stdout"))
    return project.call("evaluate", "--agent", "claude", "--stdout", stdout, *arguments)


def test_evaluate_gives_hits_outcome_usage_and_catalogue(project: Project) -> None:
    """The documented JSON, with null for a token without a hit."""
    done = evaluate(project, CLAUDE / "a_skill", "--token", "widget-testing", "--token", "nope")
    answer = json.loads(done.stdout)
    assert done.code == 0
    assert answer["token_hits"]["nope"] is None
    hit = answer["token_hits"]["widget-testing"]
    assert set(hit) == {"tier", "best_score", "source_kind", "source_detail", "proof_line"}
    assert (hit["tier"], hit["best_score"], hit["source_kind"]) == (1, 1000, "cli_output")
    assert set(answer["run"]) == {"outcome", "recognised_events", "unrecognised_events"}
    assert answer["run"]["outcome"] == "completed"
    assert "widget-testing" in answer["catalogue"]
    assert answer["usage"]["input_tokens"] == 2500


def test_evaluate_explains_for_people(project: Project) -> None:
    """The deciding line with its number, the rule, and what would have been needed."""
    done = evaluate(project, CLAUDE / "d_read", "--token", "widget-testing", "--format", "text")
    assert "tier 2 (score 60): a successful read of a file, which is no native load" in done.stdout
    assert "needed: a native load with a successful result (tier 1)" in done.stdout
    assert "read at stdout line" in done.stdout


def test_evaluate_judges_a_case_and_its_exit_code_is_the_verdict(project: Project) -> None:
    """The same verdict path as a live run."""
    project.write_cases(loads("good", expected_skill="widget-testing"), loads("bad"))
    cases = ("--cases", "cases.json", "--case-id")
    good = evaluate(project, CLAUDE / "a_skill", *cases, "good")
    bad = evaluate(project, CLAUDE / "a_skill", *cases, "BAD", "--format", "text")
    assert (good.code, json.loads(good.stdout)["verdict"]["status"]) == (0, "pass")
    assert (bad.code, "verdict: fail (skill_unavailable); missing: foo" in bad.stdout) == (1, True)


def test_evaluate_takes_the_way_the_run_ended(project: Project) -> None:
    """A deadline, a signal and standard error decide the outcome."""
    late = evaluate(
        project, CLAUDE / "i_hang", "--token", "x", "--timed-out", "--exit-code", "143",
        "--stderr", str(CLAUDE / "i_hang.stderr"),
    )  # fmt: skip
    killed = evaluate(project, CLAUDE / "k_kill", "--token", "x", "--exit-code", "-9")
    stopped = evaluate(
        project, CLAUDE / "k_kill", "--token", "x", "--exit-code", "-9", "--stopped-early"
    )
    assert json.loads(late.stdout)["run"]["outcome"] == "timeout"
    assert json.loads(killed.stdout)["run"]["outcome"] == "killed"
    assert json.loads(stopped.stdout)["run"]["outcome"] == "completed"


def test_d8_loads_in_a_sub_agent_count_unless_the_policy_says_no(project: Project) -> None:
    """The operator decides; the default counts them."""
    recording = CLAUDE / "w_subagent"
    counted = evaluate(project, recording, "--token", "widget-testing")
    ignored = evaluate(
        project, recording, "--token", "widget-testing", "--subagent-loads", "ignore"
    )
    tiers = [json.loads(done.stdout)["token_hits"]["widget-testing"]["tier"]
             for done in (counted, ignored)]  # fmt: skip
    assert tiers == [1, 2]


def test_d7_a_read_outside_the_staged_root_is_no_load(project: Project) -> None:
    """Codex read another copy: the root decides."""
    stdout = str(RECORDED / "codex" / "0.171.0" / "d_cat.stdout")
    tiers = []
    for root in ("/repo/.agents/skills", "/elsewhere/.agents/skills/x"):
        done = project.call(
            "evaluate", "--agent", "codex", "--stdout", stdout,
            "--token", "widget-testing", "--skills-root", root,
        )  # fmt: skip
        tiers.append(json.loads(done.stdout)["token_hits"]["widget-testing"]["tier"])
    assert tiers == [1, 3]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((), "either --case-id"),
        (("--case-id", "a", "--token", "b"), "either --case-id"),
        (("--case-id", "a"), "has no case 'a'"),
        (("--case-id", "a", "--cases", "cases.json"), "has no case 'a'"),
        (("--token", "a", "--stderr", "none"), "none: cannot be read"),
    ],
)
def test_evaluate_refuses_what_it_cannot_judge(
    project: Project, arguments: tuple[str, ...], expected: str
) -> None:
    """Exit 2 and the remedy."""
    project.write_cases(loads("one"))
    done = evaluate(project, CLAUDE / "a_skill", *arguments)
    assert (done.code, expected in done.stderr) == (2, True), done.stderr


def test_plan_shows_units_and_a_matrix(project: Project) -> None:
    """The same selection as a run, without starting anything."""
    project.write_cases(loads("one"), loads("two"), loads("three"))
    text = project.call("plan", "--agents", "claude", "--shards", "2").stdout
    assert "3 cases on claude, 3 units" in text
    done = project.call("plan", "--shards", "2", "--trials", "2", "--format", "json")
    planned = json.loads(done.stdout)
    assert planned["units"] == 18
    assert [job["key"] for job in planned["matrix"]["include"]][:2] == [
        "claude-s1of2",
        "claude-s2of2",
    ]
    assert {"key", "agent", "shard", "case_ids", "expected_seconds"} == set(
        planned["matrix"]["include"][0]
    )


def test_plan_takes_pairs_in_place_of_other_filters(project: Project) -> None:
    """Each job has its agent's own cases; names count in any case of letters."""
    project.write_cases(loads("one"), loads("two"))
    pairs = ("--pairs", "codex:TWO,Claude:one", "--pairs", "codex:one")
    done = project.call("plan", "--agents", "copilot", *pairs, "--format", "json")
    planned = json.loads(done.stdout)
    found = [(job["agent"], job["case_ids"]) for job in planned["matrix"]["include"]]
    assert (planned["units"], found) == (3, [("codex", "one,two"), ("claude", "one")])


@pytest.mark.parametrize(
    ("pairs", "told"),
    [
        ("codex:won", "no such case"),
        ("codx:one", "did you mean codex?"),
        ("one", "write it as agent:case"),
        ("codex:one,codex:nothing-like-it", "'codex:nothing-like-it'"),
        (" , ", "without a name in it"),
    ],
)
def test_a_pair_that_is_not_there_is_one_clear_error(
    project: Project, pairs: str, told: str
) -> None:
    """And nothing is planned."""
    project.write_cases(loads("one"), loads("two"))
    done = project.call("plan", "--pairs", pairs)
    assert (done.code, done.stdout, done.stderr.count("error:")) == (2, "", 1)
    assert told in done.stderr


def test_plan_takes_durations_from_earlier_results(project: Project) -> None:
    """A recorded batch balances the next one."""
    project.write_cases(loads("one"), loads("two"))
    results = project.run().artifacts / "results.json"
    done = project.call("plan", "--agents", "claude", "--results", str(results))
    recorded = json.loads(results.read_text("utf-8"))["results"]
    seconds = round(sum(row["duration_ms"] for row in recorded) / 1000)
    assert f"claude: about {seconds} s" in done.stdout


@pytest.mark.parametrize(
    ("milliseconds", "told"),
    [
        (None, "estimate, without earlier results (--results): 30.0 s of agent time"),
        (0, "estimate, as in earlier results: less than 1 s of agent time"),
        (1500, "estimate, as in earlier results: 2.0 s of agent time"),
        (125_000, "estimate, as in earlier results: 2 min 5 s of agent time"),
    ],
)
def test_a_plan_says_what_its_estimate_rests_on(
    project: Project, milliseconds: int | None, told: str
) -> None:
    """Never zero minutes: in the unit that fits."""
    project.write_cases(loads("one"))
    given = []
    if milliseconds is not None:
        results = make_results(make_row(case_id="one", duration_ms=milliseconds))
        path = project.root / "earlier.json"
        path.write_text(results.model_dump_json(by_alias=True), encoding="utf-8")
        given = ["--results", str(path)]
    done = project.call("plan", "--agents", "claude", *given)
    assert told in done.stdout


def test_a_plan_with_nothing_to_run_is_no_error(change: PullRequest) -> None:
    """Exit code 3 tells scripts; a person reads what is so, and how to run all the same."""
    change.propose({"README.md": "Another one."})
    done = run_command(
        ["plan", "--changed-from", "origin/main"], change.checkout.path, dict(os.environ)
    )
    assert (done.code, done.stdout) == (3, "")
    assert "error" not in done.stderr
    assert "nothing to run: nothing that a case depends on changed since origin/main" in done.stderr
    assert "to run all cases, leave --changed-from out" in done.stderr


def test_cases_check_warns_and_is_strict_on_demand(project: Project) -> None:
    """Warnings name the line; --strict makes them an error."""
    project.write_cases({**loads("one"), "prompt": "/foo bar"})
    done = project.call("cases", "check")
    assert (done.code, "cases.json:1: warning: one: the prompt starts" in done.stdout) == (0, True)
    assert project.call("cases", "check", "--strict").code == 1
    answer = json.loads(project.call("cases", "check", "--format", "json").stdout)
    assert answer["warnings"][0]["rule"] == "explicit-prompt"


def test_this_repositorys_own_cases_have_no_warnings(project: Project) -> None:
    """We follow our own advice."""
    done = project.call("cases", "check", "--strict", "--cases", str(ROOT / "cases.json"))
    assert done.code == 0, done.stdout


def test_providers_list_names_commands_and_credentials(project: Project) -> None:
    """What an operator must install and set."""
    text = project.call("providers", "list").stdout
    assert "claude (default): Claude Code, npm @anthropic-ai/claude-code" in text
    listed = json.loads(project.call("providers", "list", "--format", "json").stdout)
    assert [one["name"] for one in listed] == list(our_providers())


def test_schema_prints_what_is_published(project: Project) -> None:
    """The published schemas are the models'."""
    for name in ("cases", "results"):
        printed = project.call("schema", name).stdout
        published = ROOT / "docs" / "schema" / f"{name}.schema.json"
        assert printed == published.read_text(encoding="utf-8")


def test_version_and_help_are_answered(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the process and outside; an unknown command is usage."""
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"routing-action {__version__}\n"
    assert project.call("--help").stdout.startswith("Usage: routing-action")
    done = project.call("frobnicate")
    assert (done.code, "No such command" in done.stderr) == (2, True)


def test_a_bug_of_ours_is_exit_70(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The traceback is shown for the report, with a code of its own."""
    monkeypatch.setattr("routing_action.cli.providers.known_agents", lambda: 1 / 0)
    assert main(["providers", "list"]) == 70
    assert "this is a bug" in capsys.readouterr().err
