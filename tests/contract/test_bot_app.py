"""A GitHub App over HTTP: its key, tokens that are kept and renewed, and its log of webhooks."""

from __future__ import annotations

import pytest

from routing_action.bot.server.app import GitHubApp
from routing_action.github.failures import ApiError
from tests.fakes.github.apps import APP_ID, SLUG, make_key
from tests.fakes.github.repository import Fault, Repository

NOON = 1_795_953_600.0  # 2026-11-29T12:00:00Z


def connect(repository: Repository, app_id: int = APP_ID, now: float = NOON) -> GitHubApp:
    return GitHubApp(repository.api_url, app_id, make_key()[0], lambda: now)


def test_an_app_learns_who_it_is_once(repository: Repository) -> None:
    """Its slug names the author of its comments."""
    repository.app_rights = {"checks": "write"}
    repository.app_events = ["push", "check_run"]
    app = connect(repository)
    found = app.identify()
    assert app.identify() == found
    assert (found.id, found.slug, found.events) == (APP_ID, SLUG, ("check_run", "push"))
    assert found.permissions == {"checks": "write"}
    assert len(repository.requests) == 1


def test_a_key_of_another_app_is_told(repository: Repository) -> None:
    """With what to check."""
    with pytest.raises(ApiError, match="does not take the App's key") as caught:
        connect(repository, APP_ID + 1).identify()
    assert caught.value.status == 401


def test_a_token_is_kept_for_its_installation(repository: Repository) -> None:
    """And asked for again when GitHub took it back."""
    repository.app_tokens[8] = "other"
    app = connect(repository)
    tokens = [app.get_token(one) for one in (7, 8, 7, 8)]
    assert tokens == ["installed", "other"] * 2
    assert repository.tokens_made == [7, 8]
    app.forget_token(7)
    app.get_token(7)
    assert repository.tokens_made == [7, 8, 7]


@pytest.mark.parametrize(
    ("ends", "asked"), [("2026-11-29T12:09:59Z", 2), ("2026-11-29T12:10:00Z", 1)]
)
def test_a_token_is_renewed_before_it_ends(repository: Repository, ends: str, asked: int) -> None:
    """No command is begun with a token that holds for less than ten minutes."""
    repository.app_token_ends = ends
    app = connect(repository)
    for _ in range(2):
        app.get_token(7)
    assert len(repository.tokens_made) == asked


def test_an_installation_that_is_gone_is_told(repository: Repository) -> None:
    """So is a GitHub that does not answer."""
    with pytest.raises(ApiError, match="installation 9"):
        connect(repository).get_token(9)
    repository.faults.append(Fault("apps/create-installation-access-token", 0))
    with pytest.raises(ApiError, match="no answer"):
        connect(repository).get_token(7)


@pytest.mark.parametrize("page", [1, 2, 100])
def test_the_log_is_read_back_to_a_time(repository: Repository, page: int) -> None:
    """Newest first, over as many pages as there are."""
    repository.log_page = page
    for hour, status in ((11, 202), (10, 503), (9, 0), (8, 500)):
        repository.add_attempt(hour, f"g{hour}", f"2026-11-29T{hour:02}:00:00Z", status, "push")
    found = list(connect(repository).list_deliveries(NOON - 3 * 3600))
    assert [(one.guid, one.ok) for one in found] == [("g11", True), ("g10", False), ("g9", False)]
    connect(repository).redeliver(found[1])
    assert repository.asked_again == [10]


def test_the_address_of_the_webhook_is_read(repository: Repository) -> None:
    """Empty where webhooks are switched off."""
    assert connect(repository).read_hook_url() == "https://bot.example/webhook"
    repository.hook_url = ""
    assert connect(repository).read_hook_url() == ""
