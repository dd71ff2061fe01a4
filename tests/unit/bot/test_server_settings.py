"""The server's settings: a file, variables, or both; errors name the place and show no secret."""

from __future__ import annotations

from pathlib import Path

import pytest

from routing_action.bot.server.settings import ServerSettings, read_settings
from routing_action.errors import DocumentError, RoutingActionError, UsageError

KEY = "-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----"


def read(tmp_path: Path, text: str, **variables: str) -> ServerSettings:
    file = tmp_path / "my bot.toml"
    file.write_text(text, encoding="utf-8")
    return read_settings(file, variables)


def test_a_file_names_secrets_beside_it(tmp_path: Path) -> None:
    """Wherever the server is started."""
    (tmp_path / "app.pem").write_text(f"{KEY}\n")
    (tmp_path / "new").write_text("one\n")
    (tmp_path / "old").write_text("two")
    found = read(
        tmp_path,
        'app_id = 3\nprivate_key_file = "app.pem"\nwebhook_secret_files = ["new", "old"]\n'
        'queue = "kept/q.db"\n',
    )
    assert found.read_private_key() == f"{KEY}\n"
    assert found.read_webhook_secrets() == ("one", "two")
    assert found.read_queue() == str(tmp_path / "kept" / "q.db")


def test_variables_alone_are_enough() -> None:
    """As containers have them; several secrets have blanks between them."""
    found = read_settings(
        None,
        {
            "ROUTING_BOT_APP_ID": "3",
            "ROUTING_BOT_PRIVATE_KEY": KEY.replace("\n", "\\n"),
            "ROUTING_BOT_WEBHOOK_SECRETS": "new old",
            "ROUTING_BOT_QUEUE": "postgresql://u:p@h/d",
            "ROUTING_BOT_PORT": "80",
        },
    )
    assert found.read_private_key() == f"{KEY}\n"
    assert found.read_webhook_secrets() == ("new", "old")
    assert (found.read_queue(), found.port, found.workers) == ("postgresql://u:p@h/d", 80, 8)


def test_a_variable_replaces_what_the_file_says(tmp_path: Path) -> None:
    """An empty one does not."""
    found = read(tmp_path, "app_id = 3\nport = 1\n", ROUTING_BOT_PORT="2", ROUTING_BOT_APP_ID="")
    assert (found.app_id, found.port) == (3, 2)


def test_an_address_is_read_from_a_file(tmp_path: Path) -> None:
    """It holds a password."""
    (tmp_path / "dsn").write_text("postgresql://u:p@h/d\n")
    assert read(tmp_path, 'app_id = 3\nqueue_address_file = "dsn"\n').read_queue() == (
        "postgresql://u:p@h/d"
    )


@pytest.mark.parametrize(
    ("text", "line", "field"),
    [
        ("port = 1\n", None, "app_id"),
        ("app_id = 1\nport = 'x'\n", 2, "port"),
        ("app_id = 1\n\nport = 99999\n", 3, "port"),
        ("app_id = 1\nprot = 1\n", 2, "prot"),
        ("app_id = 0\n", 1, "app_id"),
        ("app_id = 1\nworkers = 0\n", 2, "workers"),
        ("app_id = 1\nwebhook_secrets = 3\n", 2, "webhook_secrets"),
        ("app_id = 1\napi_url = 'ftp://x'\n", 2, "api_url"),
        ("app_id = 1\nprivate_key_file = 3\n", 2, "private_key_file"),
        ("app_id = \n", 1, ""),
    ],
)
def test_what_is_wrong_in_a_file_is_named(
    tmp_path: Path, text: str, line: int | None, field: str
) -> None:
    """With file, line and field."""
    with pytest.raises(DocumentError) as caught:
        read(tmp_path, text)
    assert (caught.value.line, caught.value.field) == (line, field)
    assert caught.value.file.endswith("my bot.toml")


def test_a_name_that_is_misspelt_gets_the_nearest(tmp_path: Path) -> None:
    """As everywhere."""
    with pytest.raises(DocumentError, match="did you mean workers"):
        read(tmp_path, "app_id = 1\nworker = 1\n")


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({}, "ROUTING_BOT_APP_ID: is missing"),
        ({"ROUTING_BOT_APP_ID": "x"}, "ROUTING_BOT_APP_ID"),
        ({"ROUTING_BOT_APP_ID": "1", "ROUTING_BOT_PORT": "-1"}, "ROUTING_BOT_PORT"),
        (
            {"ROUTING_BOT_APP_ID": "1", "ROUTING_BOT_PAGE_ADDRESS": "bot.example.com"},
            "ROUTING_BOT_PAGE_ADDRESS: must begin with https://",
        ),
    ],
)
def test_a_wrong_variable_is_named(variables: dict[str, str], words: str) -> None:
    """Also one that replaces what a file says."""
    with pytest.raises(UsageError, match=words):
        read_settings(None, variables)


@pytest.mark.parametrize("key", ["", "hunter2", "ssh-rsa hunter2"])
@pytest.mark.parametrize("secrets", ["", "hunter2"])
def test_no_error_and_no_picture_shows_a_secret(key: str, secrets: str, tmp_path: Path) -> None:
    """Whatever is missing or wrong."""
    variables = {"ROUTING_BOT_PRIVATE_KEY": key, "ROUTING_BOT_WEBHOOK_SECRETS": secrets}
    found = read(tmp_path, "app_id = 1\n", **variables)
    assert "hunter2" not in repr(found)
    with pytest.raises(UsageError, match="private") as caught:
        found.read_private_key()
    assert "hunter2" not in str(caught.value)
    if not secrets:
        with pytest.raises(UsageError, match="webhook"):
            found.read_webhook_secrets()


@pytest.mark.parametrize("content", [None, "", "\n"])
def test_an_empty_secret_is_none(tmp_path: Path, content: str | None) -> None:
    """Neither is a file that is not there."""
    if content is not None:
        (tmp_path / "secret").write_text(content)
    found = read(tmp_path, 'app_id = 1\nwebhook_secret_files = ["secret"]\n')
    with pytest.raises(RoutingActionError):
        found.read_webhook_secrets()
