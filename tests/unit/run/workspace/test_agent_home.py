"""An agent's environment holds what is allowed, and never the workflow's token."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing_action.agents.discovery import all_providers
from routing_action.run.workspace.agent_home import AgentHome, build_environment
from tests.support.sandbox import provider

HOME = AgentHome(Path("/h"))
TOKEN = "ghs_0123456789abcdef"
COPILOT = provider(
    credential_variables=("COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"),
    pass_variables=("COPILOT_MODEL", "GITHUB_API_URL", "RUNNER_TEMP", "ACTIONS_STEP_DEBUG"),
)


@pytest.mark.parametrize(
    "name",
    ["PATH", "LANG", "LC_ALL", "LC_TIME", "TZ", "HTTPS_PROXY", "https_proxy", "NO_PROXY",
     "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "COPILOT_MODEL", "COPILOT_GITHUB_TOKEN"],
)  # fmt: skip
def test_an_allowed_variable_passes(name: str) -> None:
    """Language, path, proxies, CA files, and what the record names."""
    assert build_environment(COPILOT, HOME, {name: "v"})[name] == "v"


@pytest.mark.parametrize(
    "name",
    ["GITHUB_TOKEN", "GITHUB_API_URL", "GITHUB_WORKSPACE", "RUNNER_TEMP", "ACTIONS_STEP_DEBUG",
     "ACTIONS_RUNTIME_TOKEN", "INPUT_TOKEN", "OPENAI_API_KEY", "SECRET", "VIRTUAL_ENV",
     "PYTHONPATH", "NODE_OPTIONS", "LD_PRELOAD", "PWD", "BASH_ENV", "LCX"],
)  # fmt: skip
def test_any_other_variable_is_left_out(name: str) -> None:
    """Also the workflow's own variables that a record asks for."""
    assert name not in build_environment(COPILOT, HOME, {name: "v"})


@pytest.mark.parametrize("value", [TOKEN, f" {TOKEN}\n", f"https://x:{TOKEN}@example.org"])
@pytest.mark.parametrize("name", ["GH_TOKEN", "COPILOT_GITHUB_TOKEN", "HTTPS_PROXY"])
def test_the_workflow_s_token_passes_under_no_name(name: str, value: str) -> None:
    """A variable that shows the token is withheld."""
    base = {"GITHUB_TOKEN": TOKEN, name: value}
    environment = build_environment(COPILOT, HOME, base)
    assert TOKEN not in "".join(environment.values())
    assert not {"GITHUB_TOKEN", name} & set(environment)


def test_an_own_token_of_the_agent_passes_beside_the_workflow_s() -> None:
    """Copilot has a token of its own."""
    base = {"GITHUB_TOKEN": TOKEN, "COPILOT_GITHUB_TOKEN": "github_pat_of_copilot"}
    environment = build_environment(COPILOT, HOME, base)
    assert environment["COPILOT_GITHUB_TOKEN"] == "github_pat_of_copilot"


def test_a_short_or_empty_token_hides_nothing_by_chance() -> None:
    """A made-up token of one letter is not looked for inside other values."""
    for token in ("", "b"):
        base = {"GITHUB_TOKEN": token, "PATH": "/usr/bin", "TZ": "UTC"}
        assert build_environment(COPILOT, HOME, base)["PATH"] == "/usr/bin"


def test_fixed_values_win_over_the_base_and_folders_over_all() -> None:
    """A record's values are fixed, and no agent leaves its home."""
    record = provider(
        pass_variables=("HOME", "TERM", "X"),
        set_variables={"X": "fixed", "TMPDIR": "/tmp"},
        home_variables={"FAKE_HOME": ".fake", "FAKE_ROOT": "."},
    )
    environment = build_environment(
        record,
        HOME,
        {"HOME": "/home/somebody", "TERM": "xterm", "X": "1", "FAKE_HOME": "/home/somebody/.fake"},
    )
    assert environment["HOME"] == "/h"
    assert environment["TERM"] == "dumb"
    assert environment["NO_COLOR"] == "1"
    assert environment["X"] == "fixed"
    assert environment["TMPDIR"] == "/h/tmp"
    assert environment["FAKE_HOME"] == "/h/.fake"
    assert environment["FAKE_ROOT"] == "/h"


@given(
    st.dictionaries(st.text(min_size=1, max_size=12), st.text(max_size=12)),
    st.text("abcdef0123456789", min_size=20, max_size=40),
)
def test_no_provider_ever_gets_the_token(base: dict[str, str], token: str) -> None:
    """Whatever the environment, no value of any agent's environment holds the token."""
    dirty = {**base, "GITHUB_TOKEN": token, "GH_TOKEN": token, "PATH": f"/bin:{token}"}
    for record in all_providers().values():
        assert token not in "\n".join(build_environment(record, HOME, dirty).values())
