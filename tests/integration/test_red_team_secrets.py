"""Secrets do not leave the harness, in whatever form an agent prints them."""

from __future__ import annotations

import base64
import codecs
import json
import shlex
import shutil
from pathlib import Path

import pytest

from tests.support.command_line import run_command
from tests.support.pull_request import PullRequest, skill

SECRET = "oat01-Zq8vT1xkLm93bWcRpYd7"
ADDRESS = "https://someone:{}@models.example.org/v1"


def told(*commands: str) -> dict[str, str | None]:
    """A skill whose text has the agent run commands."""
    path = ".claude/skills/deploying/SKILL.md"
    return {path: skill("deploying", "Bring a service to production.", *commands)}


def leaks(folder: Path, *forms: str) -> list[str]:
    """The files below a folder that hold one of the forms, line breaks and blanks left out."""
    found = []
    for path in folder.rglob("*"):
        if path.is_file():
            text = path.read_text("utf-8", "replace")
            text = "".join(text.replace("\\n", "").split())
            found += [f"{form} in {path.name}" for form in forms if form in text]
    return found


def every_file(folder: Path) -> str:
    """All that stands in the files of a folder."""
    return "".join(
        path.read_text("utf-8", "replace") for path in folder.rglob("*") if path.is_file()
    )


def test_s1_a_token_of_a_copied_login_file_is_redacted(change: PullRequest) -> None:
    """The agent reads its own login, and prints it."""
    change.propose(told('cat "$CLAUDE_CONFIG_DIR/.credentials.json"'))
    job = change.job("claude")
    login = job.files / "home" / ".claude" / ".credentials.json"
    login.parent.mkdir(parents=True)
    tokens = {"claudeAiOauth": {"accessToken": SECRET, "expiresAt": 1793000000000}}
    login.write_text(json.dumps(tokens), encoding="utf-8")
    found = job.use("run", agents="claude", matrix_key="claude")
    folder = Path(found["folder"])
    assert "1793000000000" in "".join(p.read_text() for p in folder.rglob("*.stdout"))
    assert leaks(folder, SECRET) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        pytest.param("ANTHROPIC_CUSTOM_HEADERS", f"X-Gateway: {SECRET}", id="a header"),
        pytest.param("HTTPS_PROXY", f"http://me:{SECRET}@proxy.example.org:3128", id="a proxy"),
        pytest.param("ANTHROPIC_BASE_URL", ADDRESS.format(SECRET), id="an address"),
    ],
)
def test_s2_a_secret_inside_a_variable_is_redacted(
    change: PullRequest, name: str, value: str
) -> None:
    """It reaches the agent, which prints its environment."""
    change.propose(told(f'printf "%s" "${name}"'))
    job = change.job("claude")
    job.variables = {**job.variables, name: value}
    found = job.use("run", agents="claude", matrix_key="claude")
    assert leaks(Path(found["folder"]), SECRET) == []


@pytest.mark.parametrize(
    "command",
    [
        pytest.param('printf "%s" "$ANTHROPIC_API_KEY" | base64 -w 12', id="base64 over lines"),
        pytest.param('printf "x%s" "$ANTHROPIC_API_KEY" | base64 -w 8', id="base64, shifted"),
        pytest.param('printf "%s" "$ANTHROPIC_API_KEY" | od -An -v -tx1', id="hex with blanks"),
        pytest.param('printf "%s" "$ANTHROPIC_API_KEY" | od -An -v -tx1 | tr -d " \\n"', id="hex"),
        pytest.param('printf "%s" "$ANTHROPIC_API_KEY" | rev', id="reversed"),
    ],
)
def test_s2_a_secret_is_found_in_what_a_shell_makes_of_it(
    change: PullRequest, command: str
) -> None:
    """Encodings that are one command away."""
    change.propose(told(command))
    job = change.job("claude")
    job.variables = {**job.variables, "ANTHROPIC_API_KEY": SECRET}
    found = job.use("run", agents="claude", matrix_key="claude")
    forms = [
        base64.b64encode(SECRET.encode()).decode()[4:28],
        base64.b64encode(b"x" + SECRET.encode()).decode()[4:28],
        SECRET.encode().hex()[4:40],
        SECRET[::-1],
    ]
    assert leaks(Path(found["folder"]), *forms) == []


@pytest.mark.parametrize(
    ("agent", "path", "text"),
    [
        ("claude", ".git-credentials", "https://me:{}@github.com\n"),
        ("claude", ".netrc", "machine github.com login me password {}\n"),
        ("claude", ".npmrc", "//packages.example.org/:_authToken={}\n"),
        ("claude", ".copilot/config.json", '{{"copilot_tokens": {{"github.com:me": "{}"}}}}'),
        ("claude", ".config/gh/hosts.yml", "github.com:\n    oauth_token: {}\n"),
        ("codex", ".codex/auth.json", '{{"tokens": {{"access_token": "{}"}}}}'),
        ("gemini", ".gemini/oauth_creds.json", '{{"refresh_token": "{}"}}'),
        ("opencode", ".local/share/opencode/auth.json", '{{"x": {{"key": "{}"}}}}'),
    ],
)
def test_s1_logins_of_every_agent_of_the_batch_are_redacted(
    change: PullRequest, agent: str, path: str, text: str
) -> None:
    """Also what no unit gets a copy of: an agent may find the user's own file."""
    login = change.runner("claude") / "home" / path
    login.parent.mkdir(parents=True)
    login.write_text(text.format(SECRET), encoding="utf-8")
    change.propose(told(f"cat {shlex.quote(str(login))}; echo claude-sonnet-4-5 max"))
    job = change.job("claude")
    template = job.variables["AGENT_CLAUDE_TEMPLATE"] or ""
    job.variables = {**job.variables, f"AGENT_{agent.upper()}_TEMPLATE": template}
    agents = "claude" if agent == "claude" else f"claude,{agent}"
    folder = Path(job.use("run", agents=agents, matrix_key="claude")["folder"])
    assert leaks(folder, SECRET) == []
    assert "claude-sonnet-4-5 max" in every_file(folder)


def test_s1_a_token_that_is_renewed_while_the_unit_runs_is_redacted(change: PullRequest) -> None:
    """The login file of the agent's home is read again at the end."""
    renewed = "$CLAUDE_CONFIG_DIR/.credentials.json"
    token = f'{{"claudeAiOauth": {{"accessToken": "{SECRET}"}}}}'
    change.propose(told(f"printf '%s' '{token[:50]}''{token[50:]}' > {renewed}; cat {renewed}"))
    folder = Path(change.job("claude").use("run", agents="claude", matrix_key="claude")["folder"])
    assert "claudeAiOauth" in every_file(folder)
    assert leaks(folder, SECRET) == []


def test_s1_an_agent_cannot_have_evidence_taken_out(change: PullRequest) -> None:
    """It writes its skill's name into its login file; the transcript still shows the skill."""
    renewed = "$CLAUDE_CONFIG_DIR/.credentials.json"
    change.propose(told(f"printf '%s' '{{\"token\": \"deploying\"}}' > {renewed}"))
    found = change.job("claude").use("run", agents="claude", matrix_key="claude")
    assert '"skill": "deploying"' in every_file(Path(found["folder"]))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("http.https://github.com/.extraheader", "AUTHORIZATION: bearer {}"),
        ("http.https://github.com/.extraheader", "AUTHORIZATION: basic {basic}"),
        ("url.https://x-access-token:{}@github.com/.insteadOf", "https://github.com/"),
        ("remote.other.url", "https://x-access-token:{}@github.com/o/r.git"),
    ],
)
def test_s2_what_the_checkout_keeps_is_redacted_and_warned_of(
    change: PullRequest, key: str, value: str
) -> None:
    """In its own configuration, or in a file that this includes, as actions/checkout v6 does."""
    basic = base64.b64encode(f"x-access-token:{SECRET}".encode()).decode()
    change.propose(told(f"echo {SECRET[:10]}''{SECRET[10:]}"))
    included = change.folder / "credentials.config"
    parts = [part.format(SECRET, basic=basic) for part in (key, value)]
    change.checkout.git("config", "--file", str(included), *parts)
    git = change.checkout.git("rev-parse", "--absolute-git-dir")
    change.checkout.git("config", f"includeIf.gitdir:{git}.path", str(included))
    found = change.job("claude").use("run", agents="claude", matrix_key="claude")
    assert leaks(Path(found["folder"]), SECRET, basic) == []
    assert "persist-credentials: false" in found["stderr"]
    assert SECRET not in found["stderr"] + found["log"]


def test_s2_a_checkout_without_a_credential_is_not_warned_of(change: PullRequest) -> None:
    """The honest case."""
    change.propose({"README.md": "x"})
    found = change.job("claude").use("run", agents="claude", matrix_key="claude")
    assert "persist-credentials" not in found["stderr"] + found["log"]


def test_s2_the_doctor_warns_of_a_credential_too(change: PullRequest) -> None:
    """Before anything is run."""
    change.propose({"README.md": "x"})
    header = "AUTHORIZATION: basic eC1hY2Nlc3MtdG9rZW46Z2hzX2FiY2RlZg=="
    change.checkout.git("config", "http.https://github.com/.extraheader", header)
    environ = change.job("claude").environment({})
    done = run_command(["providers", "doctor"], change.checkout.path, environ)
    assert "persist-credentials: false" in done.stdout


def test_s2_nothing_that_is_reported_shows_a_secret(change: PullRequest) -> None:
    """Neither results and journal nor comment, page, JUnit and log, in any of many forms."""
    commands = (
        'printf "%s" "$ANTHROPIC_API_KEY" | tr a-z A-Z',
        'printf "%s" "$ANTHROPIC_API_KEY" | fold -w1',
        'printf "%s" "$ANTHROPIC_API_KEY" | sed "s/./& /g"',
        'printf "%s" "$ANTHROPIC_API_KEY" | base32 -w 11',
        'printf "%s" "$ANTHROPIC_API_KEY" | od -c',
        'printf "%s" "$ANTHROPIC_API_KEY" | od -b',
        'printf "%s" "$ANTHROPIC_API_KEY" | od',
        'printf "%s" "$ANTHROPIC_API_KEY" >&2',
        'printf "%s" "$ANTHROPIC_API_KEY" | tr A-Za-z N-ZA-Mn-za-m',
        'cat "/$ANTHROPIC_API_KEY"',
    )
    change.propose(told(*commands))
    job = change.job("claude")
    job.variables = {**job.variables, "ANTHROPIC_API_KEY": SECRET}
    found = job.use("run", agents="claude", matrix_key="claude")
    shutil.copytree(found["folder"], change.gate.legs / found["artifact-name"])
    verdict = change.judge()
    parts = (SECRET[6:16], SECRET[6:16].upper(), base64.b32encode(SECRET.encode()).decode()[4:20])
    more = (codecs.encode(SECRET, "rot13")[6:16], "".join(f"{ord(c):03o}" for c in SECRET[:8]))
    for folder in (Path(found["folder"]), Path(verdict.outputs["report-dir"])):
        assert leaks(folder, *parts, *more) == []
    assert SECRET not in found["log"] + found["stderr"] + verdict.outputs["log"]


def test_s2_a_checkout_that_keeps_a_credential_is_warned_of(change: PullRequest) -> None:
    """actions/checkout writes the token into the configuration unless it is told not to."""
    change.propose({"README.md": "x"})
    header = "AUTHORIZATION: basic eC1hY2Nlc3MtdG9rZW46Z2hzX2FiY2RlZg=="
    change.checkout.git("config", "http.https://github.com/.extraheader", header)
    found = change.job("claude").use("run", agents="claude", matrix_key="claude")
    assert "persist-credentials: false" in found["log"] + found["stderr"]
