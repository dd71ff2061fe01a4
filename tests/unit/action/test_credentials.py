"""Which agents a leg can measure, known before anything is started."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from routing_action.action.credentials import missing_credentials, write_markers
from routing_action.agents.discovery import all_providers
from routing_action.results.unmeasured import read_unmeasured

CODEX = all_providers()["codex"]


def missing(**environ: str) -> dict[str, str]:
    """The reasons for codex alone."""
    return missing_credentials([CODEX], environ, from_fork=False)


def test_an_agent_without_a_secret_cannot_be_measured() -> None:
    """The reason names the variables; one of them is enough."""
    (reason,) = missing(OPENAI_API_KEY=" ").values()
    assert reason == (
        "OPENAI_API_KEY or CODEX_API_KEY is not set; give the secret to this step with env"
    )
    assert missing(CODEX_API_KEY="k") == {}


def test_a_pull_request_from_a_fork_is_named_as_the_cause() -> None:
    """Its author can do nothing about it."""
    reasons = missing_credentials([CODEX], {}, from_fork=True)
    assert reasons["codex"].startswith("a pull request from a fork gets no secrets")


def test_a_login_on_the_machine_is_enough(tmp_path: Path) -> None:
    """A runner of one's own may be logged in, also where a variable names the folder."""
    assert missing(HOME=str(tmp_path)) != {}
    for folder in (tmp_path / ".codex", tmp_path / "elsewhere"):
        folder.mkdir()
        (folder / "auth.json").touch()
    assert missing(HOME=str(tmp_path)) == {}
    there = str(tmp_path / "elsewhere")
    assert missing(HOME="/nowhere", **dict.fromkeys(CODEX.home_variables, there)) == {}


def test_an_own_command_brings_its_own_login() -> None:
    """What it needs is not known here."""
    assert missing(AGENT_CODEX_TEMPLATE="x {prompt}") == {}


def test_an_agent_that_needs_no_secret_is_measured() -> None:
    """Its record names none."""
    assert missing_credentials([replace(CODEX, credential_variables=())], {}, from_fork=True) == {}


def test_the_markers_are_what_the_comparison_reads(tmp_path: Path) -> None:
    """One for each agent of the leg."""
    reasons = {"codex": "a fork", "claude": "no key"}
    write_markers(tmp_path / "leg", reasons)
    assert read_unmeasured([tmp_path]) == reasons
