"""What the doctor makes of the facts about an agent CLI."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from routing_action.agents.diagnosis import (
    Counted,
    Facts,
    Finding,
    Level,
    diagnose,
    version_key,
)
from routing_action.agents.discovery import all_providers
from routing_action.agents.provider import Provider

CLAUDE = all_providers()["claude"]
CODEX = all_providers()["codex"]
COPILOT = all_providers()["copilot"]
WELL = Facts(
    provider=CLAUDE,
    program="claude",
    path="/bin/claude",
    version="2.1.0",
    variables=("ANTHROPIC_API_KEY",),
    skills={".claude/skills": 3},
    counted={"2.1.0": Counted(99, 1)},
)


def found(facts: Facts, check: str, **options: Any) -> Finding:  # noqa: ANN401 - threshold
    return next(one for one in diagnose(facts, **options) if one.check == check)


def levels(facts: Facts) -> dict[str, str]:
    return {one.check: one.level.value for one in diagnose(facts)}


def test_an_agent_that_is_well_has_nothing_but_ok() -> None:
    """Program, start, version, credentials, skills and drift."""
    assert levels(WELL) == dict.fromkeys(
        ("program", "starts", "version", "credentials", "skills", "drift"), "ok"
    )
    assert not any(one.remedy for one in diagnose(WELL))


def test_a_missing_program_is_a_problem_with_the_way_to_install_it() -> None:
    """Whether it would start is then not told."""
    gone = replace(WELL, path="", version=None)
    program = found(gone, "program")
    assert program.level is Level.PROBLEM
    assert "npm install --global @anthropic-ai/claude-code" in program.remedy
    assert "starts" not in levels(gone)
    own = Provider("acme", "Acme", ("acme", "{prompt}"), CLAUDE.reader)
    assert found(Facts(own, "acme"), "program").remedy.startswith(
        "install it, or set AGENT_ACME_TEMPLATE"
    )


@pytest.mark.parametrize(
    ("program", "own_command", "text", "remedy"),
    [
        ("claude", False, "`claude` is not on PATH", "set AGENT_CLAUDE_TEMPLATE to its command"),
        ("bin/x", False, "`bin/x` does not exist, or cannot be executed", "install it with"),
        ("x", True, "`x`, the program of AGENT_CLAUDE_TEMPLATE, is not on PATH", "unset it"),
        ("./x", True, "of AGENT_CLAUDE_TEMPLATE, does not exist", "correct AGENT_CLAUDE_TEMPLATE"),
    ],
)
def test_a_missing_program_is_named_with_what_names_it(
    program: str, text: str, remedy: str, *, own_command: bool
) -> None:
    """A command of one's own is corrected, not installed."""
    gone = replace(WELL, program=program, path="", own_command=own_command)
    finding = found(gone, "program")
    assert text in finding.text
    assert remedy in finding.remedy


def test_a_login_that_nobody_sees_may_be_there() -> None:
    """No credential is then a warning, and keeps no agent from its work."""
    finding = found(replace(WELL, variables=(), unseen_login=True), "credentials")
    assert finding.level is Level.WARNING
    assert finding.text.endswith("is not set, and there is no login file; it may log in without")
    assert finding.remedy.startswith("set ANTHROPIC_API_KEY")


def test_a_program_that_does_not_start_is_a_problem() -> None:
    """With what it said."""
    broken = replace(WELL, start_error="it ended with 1: no node", version=None)
    starts = found(broken, "starts")
    assert (starts.level, starts.text) == (Level.PROBLEM, "it ended with 1: no node")
    assert "claude --version" in starts.remedy


def test_a_command_of_the_users_own_is_not_started() -> None:
    """It may do anything."""
    own = replace(WELL, own_command=True, variables=(), version=None, counted=None)
    assert levels(own)["starts"] == "ok"
    assert "version" not in levels(own)
    assert found(own, "credentials").level is Level.OK


@pytest.mark.parametrize(
    ("version", "level", "told"),
    [
        ("2.0.77", Level.OK, "tested: 2.0.77 to 2.1.332"),
        ("2.1.332", Level.OK, ""),
        ("2.1.332-beta.1", Level.OK, ""),
        ("2.1.333", Level.WARNING, "newer than the tested versions"),
        ("2.0.9", Level.WARNING, "older than the tested versions"),
        ("10.0", Level.WARNING, "newer"),
        (None, Level.WARNING, "it prints no version"),
    ],
)
def test_a_version_outside_of_what_was_tested_is_a_warning(
    version: str | None, level: Level, told: str
) -> None:
    """Versions are compared by their numbers."""
    finding = found(replace(WELL, version=version), "version")
    assert finding.level is level
    assert told in finding.text
    assert bool(finding.remedy) == (level is Level.WARNING)


def test_a_single_tested_version_and_none_are_told() -> None:
    """Codex was recorded in one version; an agent of one's own perhaps in none."""
    codex = replace(WELL, provider=CODEX, version="0.171.0")
    assert found(codex, "version").text == "0.171.0 (tested: 0.171.0)"
    untested = replace(WELL, provider=replace(CODEX, tested_versions=None))
    assert found(untested, "version").level is Level.WARNING


def test_versions_are_compared_by_number() -> None:
    """Not by letter."""
    assert version_key("2.0.9") < version_key("2.0.77") < version_key("2.1")
    assert version_key("1.0.0-rc.1") == version_key("1.0.0+build.5") == (1, 0, 0)
    assert version_key("") == ()
    assert version_key("1" * 10_000)


@pytest.mark.parametrize(
    ("changes", "level", "told"),
    [
        (
            {},
            Level.PROBLEM,
            "OPENAI_API_KEY or CODEX_API_KEY is not set, and there is no login file",
        ),
        ({"variables": ("OPENAI_API_KEY",)}, Level.OK, "OPENAI_API_KEY"),
        ({"login_files": (".codex/auth.json",)}, Level.WARNING, "works once"),
        (
            {"variables": ("OPENAI_API_KEY",), "login_files": (".codex/auth.json",)},
            Level.OK,
            "OPENAI_API_KEY, .codex/auth.json",
        ),
        ({"provider": COPILOT}, Level.PROBLEM, "COPILOT_PROVIDER_API_KEY is not set"),
        ({"provider": CLAUDE, "login_files": ("x",)}, Level.OK, "x"),
        (
            {"provider": replace(COPILOT, credential_variables=(), credential_files=())},
            Level.OK,
            "it needs none",
        ),
    ],
)
def test_credentials_are_told_by_name(changes: dict[str, Any], level: Level, told: str) -> None:
    """One of them is enough; p7: a login alone is good for one unit at a time."""
    facts = Facts(**{"provider": CODEX, "program": "codex", **changes})
    finding = found(facts, "credentials")
    assert finding.level is level
    assert told in finding.text
    assert ("sign in" in finding.remedy) == (
        level is Level.PROBLEM and bool(facts.provider.credential_files)
    )


@pytest.mark.parametrize("skills", [{}, {".claude/skills": 0}])
def test_a_repository_without_skills_is_a_warning(skills: dict[str, int]) -> None:
    """They may be staged."""
    assert found(replace(WELL, skills=skills), "skills").level is Level.WARNING


def test_an_agent_without_skill_folders_is_a_warning() -> None:
    """It can find none in a repository."""
    bare = replace(WELL, provider=replace(CLAUDE, skill_folders=()))
    assert "no skill folder" in found(bare, "skills").text


def test_limits_that_do_not_hold_are_told() -> None:
    """Nothing is said where all of them do."""
    codex = found(replace(WELL, provider=CODEX), "limits").text
    assert (
        codex == "these options cannot limit it: --max-turns, --max-unit-cost-usd, --max-cost-usd"
    )
    opencode = found(replace(WELL, provider=all_providers()["opencode"]), "limits").text
    assert opencode == "these options cannot limit it: --max-turns"
    assert "limits" not in levels(WELL)


@pytest.mark.parametrize(
    ("counted", "level", "told"),
    [
        (None, Level.WARNING, "no results were given"),
        ({}, Level.WARNING, "no result is of it"),
        ({"2.0.9": Counted(9, 1)}, Level.WARNING, "unknown for 2.1.0; 2.0.9: 10.0% of 10"),
        ({"": Counted(9, 1)}, Level.WARNING, "unknown for 2.1.0; unknown: 10.0%"),
        ({"2.1.0": Counted()}, Level.OK, "0.0% of 0"),
        ({"2.1.0": Counted(95, 5)}, Level.PROBLEM, "5.0% of 100 records not recognised, the limit"),
        ({"2.1.0": Counted(951, 49)}, Level.OK, "4.9%"),
    ],
)
def test_drift_is_a_problem_from_the_threshold_on(
    counted: dict[str, Counted] | None, level: Level, told: str
) -> None:
    """Of the installed version alone."""
    finding = found(replace(WELL, counted=counted), "drift")
    assert finding.level is level
    assert told in finding.text


def test_the_threshold_can_be_chosen() -> None:
    """And a version that is not known is judged by results that do not know it either."""
    assert found(WELL, "drift", threshold=0.01).level is Level.PROBLEM
    nameless = replace(WELL, version=None, counted={"": Counted(1, 0)})
    assert found(nameless, "drift").text.startswith("unknown version: 0.0%")
    assert "this version" in found(replace(nameless, counted={}), "drift").text
