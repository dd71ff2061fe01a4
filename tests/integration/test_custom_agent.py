"""An agent of the user's own, by the description in the documentation, from file to verdict."""

from __future__ import annotations

import json
import shlex
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from routing_action.cli.schema import render_schema
from tests.support.builders import NO_CONTEXT, read
from tests.support.command_line import ROOT, Finished, Project, loads
from tests.support.own_agent import DESCRIPTION, STREAM, own_provider

ACME = ROOT / "tests" / "fakes" / "acme_agent.py"
KEY = "acme-key-0123456789"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A repository with one skill, the description, and `acme` on the path."""
    skill = tmp_path / ".acme" / "skills" / "foo"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: foo\n---\nBe good.\n", encoding="utf-8")
    (tmp_path / "routing.toml").write_text(DESCRIPTION, encoding="utf-8")
    programs = tmp_path / "bin"
    programs.mkdir()
    program = programs / "acme"
    command = shlex.join([sys.executable, str(ACME)])
    program.write_text(f'#!/bin/sh\nexec {command} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    project = Project(tmp_path)
    path = f"{programs}:{project.environment()['PATH']}"
    project.variables = {"PATH": path, "ACME_API_KEY": KEY}
    return project


def acme(project: Project, *arguments: str) -> Finished:
    """`run` on the agent of the user's own."""
    return project.call("run", "--agents", "acme", *arguments)


def test_the_worked_example_passes_a_load_and_fails_a_mention(project: Project) -> None:
    """The proof is the agent's own line, and usage and cost are counted once."""
    project.write_cases(loads("loads"), loads("mentions", prompt="mention:foo"))
    done = acme(project, "--provider-model", "acme:acme-2")
    passed, failed = done.results["results"]
    assert (passed["status"], passed["outcome"]) == ("pass", "completed")
    assert '"event": "tool.start"' in passed["tool_use_proof_lines"][0]
    assert passed["token_hits"]["foo"]["tier"] == 1
    assert passed["usage"]["input_tokens"] == 150
    assert (passed["cost_usd"], passed["model"], passed["cli_version"]) == (
        0.25, "acme-2", "1.2.3"
    )  # fmt: skip
    assert passed["catalogue"] == ["foo"]
    assert (failed["status"], failed["failure_kind"]) == ("fail", "weak_evidence_only")
    assert passed["unrecognised_events"] == failed["unrecognised_events"] == 0
    assert done.code == 1


def test_the_stream_of_the_guide_is_read_to_the_last_record() -> None:
    """What the page shows is what the page describes; editors can check it by the schema."""
    run = read("claude", STREAM, reader=own_provider().reader(NO_CONTEXT))
    assert run.tier("widget-testing") == 1
    assert (run.reading.unrecognised, run.reading.cost_usd) == (0, 0.125)
    schema = json.loads(render_schema("routing"))
    Draft202012Validator(schema).validate(tomllib.loads(DESCRIPTION))


def test_a_skill_that_its_tool_did_not_find_is_no_load(project: Project) -> None:
    """The call is there, its result says no."""
    project.write_cases(loads("a", prompt="load:bar", expected_skill="bar"))
    assert acme(project).column("failure_kind") == ["invoked_but_not_loaded"]


def test_a_wrong_path_of_the_description_is_told(project: Project) -> None:
    """Under the matrix and in the comparison: it would look like a skill that was not taken."""
    described = DESCRIPTION.replace('success = "call.ok"', 'success = "call.okay"')
    assert described != DESCRIPTION
    (project.root / "routing.toml").write_text(described, encoding="utf-8")
    project.write_cases(loads("a"), loads("b"))
    done = acme(project)
    note = 'routing.toml: acme: records.result.success = "call.okay": no record of the run has any'
    assert " ".join(done.stdout.split()).count(note) == 1
    assert done.column("failure_kind") == ["invoked_but_not_loaded"] * 2
    (project.root / "provider-baseline.json").write_text(
        json.dumps({"a": {"acme": {"expected_status": "pass"}}}), encoding="utf-8"
    )
    results = str(done.artifacts)
    compared = project.call("compare", "--results-dir", results, "--format", "json")
    assert [one[: len(note)] for one in json.loads(compared.stdout)["notes"]].count(note) == 1


def test_a_refused_key_stops_the_agent(project: Project) -> None:
    """Told as `auth`; the rest is not run."""
    del project.variables["ACME_API_KEY"]
    project.write_cases(loads("a"), loads("b"))
    done = acme(project, "--max-parallel", "1")
    assert done.column("outcome") == ["auth", "not_run"]
    assert done.column("status") == ["infra_error", "infra_error"]


def test_throttling_and_caps_hold_for_it_too(project: Project) -> None:
    """It tells its cost step by step, so that a unit can be ended by it."""
    project.write_cases(loads("a", prompt="busy"))
    assert acme(project, "--throttle-retries", "1").column("throttle_retries") == [1]
    project.write_cases(loads("a"), loads("b"))
    done = acme(project, "--max-cost-usd", "0.25", "--max-parallel", "1")
    assert done.column("outcome") == ["completed", "not_run"]
    assert done.results["options"]["not_enforced"] == {}


def test_its_key_reaches_it_and_no_artifact(project: Project) -> None:
    """Credentials are redacted by value; the workflow's token is never passed on."""
    project.write_cases(loads("a"))
    done = acme(project)
    written = b"".join(path.read_bytes() for path in done.artifacts.rglob("*") if path.is_file())
    assert KEY.encode() not in written


def test_results_tell_which_description_measured_them(project: Project) -> None:
    """By its SHA-256; a batch goes on with the same one alone."""
    project.write_cases(loads("a"))
    elsewhere = project.root / "my agents.toml"
    (project.root / "routing.toml").rename(elsewhere)
    done = acme(project, "--config", "my agents.toml")
    options = done.results["options"]
    assert options["config_file"] == "my agents.toml"
    assert len(options["config_sha256"]) == 64
    journal = done.artifacts / "journal.jsonl"
    plan = journal.read_text("utf-8").splitlines(keepends=True)[0]
    journal.write_text(plan, encoding="utf-8")
    elsewhere.write_text(DESCRIPTION + "\n# changed\n", encoding="utf-8")
    again = project.call("run", "--resume", str(done.artifacts))
    assert again.code == 2
    assert "my agents.toml back" in again.stderr


def test_every_command_knows_it(project: Project) -> None:
    """plan, evaluate, baseline and compare take its name, and its pairs are judged."""
    project.write_cases(loads("a"))
    done = acme(project)
    unit = done.column("unit_run_id")[0]
    transcript = done.artifacts / "transcripts" / f"{unit}.stdout"
    judged = project.call(
        "evaluate", "--agent", "acme", "--stdout", str(transcript), "--token", "foo"
    )
    assert json.loads(judged.stdout)["token_hits"]["foo"]["tier"] == 1
    assert project.call("plan", "--agents", "acme").code == 0
    results = str(done.artifacts / "results.json")
    updated = project.call("baseline", "update", "--init", "--from", results)
    assert updated.code == 0, updated.stderr
    assert project.call("baseline", "check", "--agents", "acme").code == 0
    compared = project.call("compare", "--results", results)
    assert compared.code == 0, compared.stdout + compared.stderr
    (project.root / "routing.toml").unlink()
    assert "acme" in project.call("baseline", "check").stdout


def test_a_run_that_names_no_agents_leaves_it_out(project: Project) -> None:
    """A description alone starts nothing."""
    project.write_cases(loads("a"))
    assert "acme" not in project.call("plan", "--format", "json").stdout


def refuse(project: Project, text: str) -> str:
    """What is said of a file that cannot be used."""
    (project.root / "routing.toml").write_text(text, encoding="utf-8")
    project.write_cases(loads("a"))
    done = acme(project)
    assert done.code == 2, done.stderr
    assert "remedy: " in done.stderr
    return done.stderr


@pytest.mark.parametrize(
    ("old", "new", "field", "cause"),
    [
        ("[providers.acme]", "[providers.acme", "routing.toml:1", "not TOML"),
        ('title = "Acme agent"', "titel = 1", "providers.acme.titel", "unknown field"),
        ('title = "Acme agent"', "title = 1", "providers.acme.title", "must be a text"),
        ('["acme", "run", "--json", "{prompt}"]', '"acme {prompt}"', "acme.command", "a list"),
        ('"{prompt}"]', '"now"]', "providers.acme", "{prompt} is missing"),
        ('"{prompt}"]', '"do {prompt}"]', "providers.acme", "argument of its own"),
        ('["acme", ', '["bash", "-lc", ', "providers.acme", "run its text as a command"),
        ('".acme/skills"', '"../skills"', "acme.skill_folders[0]", "relative path"),
        ('"ACME_API_KEY"', '"GITHUB_TOKEN"', "credential_variables[0]", "belongs to the workflow"),
        ('"^acme', '"acme', "stderr_failures[0].pattern", "start with ^"),
        ('success = "call.ok"\n', "", "providers.acme.records.result.success", "is missing"),
    ],
)
def test_a_file_that_cannot_be_used_is_told_by_file_field_and_remedy(
    project: Project, old: str, new: str, field: str, cause: str
) -> None:
    """Before anything is started."""
    text = DESCRIPTION
    assert old in text
    said = refuse(project, text.replace(old, new, 1))
    for part in ("routing.toml", field, cause):
        assert part in said


@pytest.mark.parametrize("name", ["claude", "codex", "opencode"])
def test_a_name_that_is_known_already_is_refused(project: Project, name: str) -> None:
    """Nobody's results are measured by another description than their name says."""
    said = refuse(project, DESCRIPTION.replace("providers.acme", f"providers.{name}"))
    assert f"field providers.{name}: a provider with this name exists already" in said


@pytest.mark.parametrize("name", ["Acme", "acme-2", "a.b", "../x", ""])
def test_a_name_that_no_variable_can_bear_is_refused(project: Project, name: str) -> None:
    """AGENT_<NAME>_TEMPLATE must be possible."""
    refuse(project, DESCRIPTION.replace("providers.acme", f'providers."{name}"'))


@pytest.mark.parametrize(
    "text", ["a = " + "[" * 100_000, "a = " + "9" * 10_000, "a = 2020-13-45", "\ufeff = 1", "\0"]
)
def test_a_hostile_file_is_told_as_such(project: Project, text: str) -> None:
    """Deep nesting and giant numbers are no bug of ours."""
    assert "routing.toml" in refuse(project, text)


def test_a_file_that_was_named_must_be_there(project: Project) -> None:
    """The default may be missing, a named one not."""
    project.write_cases(loads("a"))
    done = acme(project, "--config", "none.toml")
    assert (done.code, "none.toml: no such file" in done.stderr) == (2, True)


def test_no_prompt_of_a_case_meets_a_shell(project: Project) -> None:
    """Whatever the prompt holds reaches the agent as one argument."""
    marker = project.root / "ran"
    nasty: dict[str, Any] = loads("a", prompt=f"load:foo '; touch {marker}; $(touch {marker}) `x`")
    project.write_cases(nasty)
    done = acme(project)
    assert done.column("status") == ["pass"]
    assert done.column("command")[0][-1] == nasty["prompt"]
    assert not marker.exists()
