"""What is taken for a secret in variables, login files and configurations, and what is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from routing_action.files.secret_values import read_secrets, secret_values, secrets_in

JWT = "eyJhbGciOi.eyJzdWIiOiIxMjM0NTY3ODkwIn0.SflKxwRJSMeKKF2QT4"
FILES = {
    "claude": (
        json.dumps({"claudeAiOauth": {"accessToken": "tok1a", "refreshToken": "ort01-ZZZZ",
                    "expiresAt": 1793000000000, "subscriptionType": "max"}}),
        {"ort01-ZZZZ"},
    ),
    "codex": (
        json.dumps({"auth_mode": "chatgpt", "tokens": {"id_token": JWT, "access_token": "shorttok"},
                    "last_refresh": "2026-11-20T10:00:00.123Z"}),
        {JWT, "shorttok"},
    ),
    "opencode": (
        json.dumps({"anthropic": {"type": "oauth", "refresh": "ort01-abc", "access": "oat-7-def"},
                    "openai": {"type": "api", "key": "sk-proj-q1w2e3"}}),
        {"ort01-abc", "oat-7-def", "sk-proj-q1w2e3"},
    ),
    "gemini": (
        json.dumps({"access_token": "ya29.a0AfH6SMBx", "token_type": "Bearer",
                    "scope": "https://www.googleapis.com/auth/cloud-platform"}),
        {"ya29.a0AfH6SMBx"},
    ),
    "copilot": (
        json.dumps({"copilot_tokens": {"https://github.com:octocat": "gho_16C7e42F292c6912"},
                    "last_logged_in_user": {"login": "octocat"}, "trusted_folders": ["/repo"]}),
        {"gho_16C7e42F292c6912"},
    ),
    "hosts": ("github.com:\n    user: octocat\n    oauth_token: gho_abcd1234\n", {"gho_abcd1234"}),
    "npm": (
        "//packages.example.org/:_authToken=npm_abc123\nemail=me@example.org\nalways-auth=true\n",
        {"npm_abc123"},
    ),
    "netrc": ("machine github.com login octocat password hunter22\n", {"hunter22"}),
    "git": (
        "https://octocat:ghp_12345abc@github.com\nhttps://x-access-token:ghs_z%2Fy@github.com\n",
        {"ghp_12345abc", "ghs_z%2Fy", "ghs_z/y"},
    ),
    "toml": (
        "[auth]\naccess = \"a1b2c3d4\"\napi_key = 'k-9182'\nmax_tokens = 409600\n",
        {"a1b2c3d4", "k-9182"},
    ),
    "dotenv": (
        'export API_KEY="sk-777aaa"\nM=claude-opus-4-5-20250929\nURL=https://u:p4ssw0rd@h/?sig=zzz999\n',
        {"sk-777aaa", "p4ssw0rd", "zzz999"},
    ),
    "plain": ("abc-token-998877\n", {"abc-token-998877"}),
    "words": (
        json.dumps({
            "model": "claude-sonnet-4-5", "url": "https://api.anthropic.com", "plan": "max",
            "key": "deploying", "mail": "a.b@example.org", "on": "2026-11-28T20:26:11Z",
            "id": "3f1c2d4e-1111-2222-3333-444455556666", "auth": "oauth-personal",
            "security": {"auth": {"selectedType": "gemini-api-key"}}, "env_key": "MOCK_KEY",
        }),
        set(),
    ),
    "references": ("token: ${GITHUB_TOKEN}\nkey: claude-sonnet-4-5\n", set()),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_the_secrets_of_a_login_file_are_found_and_nothing_else(name: str) -> None:
    """By name, by place or by shape, in any of the usual formats."""
    text, secrets = FILES[name]
    assert set(secrets_in(text)) == secrets


VARIABLES = {
    "ANTHROPIC_CUSTOM_HEADERS": (
        "X-Api: abcdef\nAuthorization: Bearer t0ken99\nContent-Type: application/json",
        {"abcdef", "Bearer t0ken99", "t0ken99"},
    ),
    "OTEL_EXPORTER_OTLP_HEADERS": (
        "authorization=Bearer%20abc123,x-team=deploying",
        {"Bearer abc123", "abc123"},
    ),
    "EXTRA_HEADERS": ('{"X-Key": "k-123456"}', {"k-123456"}),
    "HTTPS_PROXY": ("http://me:p%40ss99@proxy:3128", {"p%40ss99", "p@ss99"}),
    "http_proxy": ("me:secretpw@proxy:80", {"secretpw"}),
    "NO_PROXY": ("localhost,127.0.0.1", set()),
    "STORAGE_URL": (
        "https://x.blob.core.windows.net/c?sv=2024&sig=aB%2Fc9d%3D&se=2026-01-01",
        {"aB%2Fc9d%3D", "aB/c9d="},
    ),
    "ANTHROPIC_BASE_URL": ("https://tok3n99@models.example.org/v1", {"tok3n99"}),
    "GIT_REMOTE": ("git@github.com:o/r.git", set()),
    "BOT_COOKIE": ("sid=abcd1234; Path=/", {"sid=abcd1234; Path=/", "abcd1234"}),
    "MAX_THINKING_TOKENS": ("128000", set()),
}


@pytest.mark.parametrize("name", VARIABLES)
def test_the_credentials_inside_of_a_variable_are_found(name: str) -> None:
    """In headers, addresses, proxies and cookies."""
    value, secrets = VARIABLES[name]
    assert set(secret_values({name: value})) == secrets


def test_of_an_agents_own_file_only_what_looks_random_counts(tmp_path: Path) -> None:
    """An agent could write a skill's name into it, to have that taken out of the evidence."""
    path = tmp_path / "auth.json"
    path.write_text('{"token": "deploying", "refresh_token": "rt-Zq8vT1xkLm93bWcRpYd7"}')
    assert read_secrets(path, random_alone=True) == ("rt-Zq8vT1xkLm93bWcRpYd7",)
    assert read_secrets(tmp_path / "none.json") == ()
