"""Messages lead to the documentation by a full address, or say where its pages are."""

from __future__ import annotations

import importlib.metadata
import json
from typing import Any

import pytest

from routing_action.errors import DocumentError, UsageError
from routing_action.github import documentation
from routing_action.github.documentation import explain_error, find_docs_url

ERROR = UsageError("no", remedy="yes", page="reference/cases.md#fields")
ACTION = {
    "GITHUB_SERVER_URL": "https://github.example/",
    "GITHUB_ACTION_REPOSITORY": "octo/routing-action",
    "GITHUB_ACTION_REF": "v1",
}


class Installed:
    """An installed package with a record of where it came from."""

    def __init__(self, record: Any) -> None:  # noqa: ANN401 - any JSON
        self.text = record if isinstance(record, str | None) else json.dumps(record)

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        return self.text


def install(monkeypatch: pytest.MonkeyPatch, record: Any) -> None:  # noqa: ANN401 - any JSON
    monkeypatch.setattr(importlib.metadata, "distribution", lambda _: Installed(record))


def test_an_action_leads_to_its_own_documents() -> None:
    """At the version that the workflow uses."""
    assert explain_error(ERROR, ACTION) == (
        "no\n  remedy: yes\n  documentation: "
        "https://github.example/octo/routing-action/blob/v1/docs/reference/cases.md#fields"
    )


def test_the_published_address_is_set_in_one_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once the project has an address, every message has it."""
    monkeypatch.setattr(documentation, "DOCS_URL", "https://docs.example/ra")
    assert "documentation: https://docs.example/ra/reference/cases.md" in explain_error(ERROR, {})


@pytest.mark.parametrize(
    "url", ["https://git.example/octo/ra", "https://u:secret@git.example/octo/ra.git"]
)
def test_an_installation_from_git_leads_to_its_commit(
    monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    """The documents are those of what is installed, and no credentials are shown."""
    install(monkeypatch, {"url": url, "vcs_info": {"vcs": "git", "commit_id": "a1b2"}})
    assert find_docs_url({}) == "https://git.example/octo/ra/blob/a1b2/docs"


@pytest.mark.parametrize(
    "record",
    [
        None,
        "{",
        "[]",
        {"url": "file:///home/me/ra", "dir_info": {}},
        {"url": "file:///home/me/ra", "vcs_info": {"commit_id": "a"}},
        {"url": "git@git.example:octo/ra", "vcs_info": {"commit_id": "a"}},
    ],
)
def test_where_no_address_is_known_the_page_and_its_folder_are_named(
    monkeypatch: pytest.MonkeyPatch, record: Any  # noqa: ANN401 - any JSON
) -> None:  # fmt: skip
    """A package holds no pages, so no path of the machine stands in for an address."""
    install(monkeypatch, record)
    where = "reference/cases.md#fields in the repository's docs folder"
    assert explain_error(ERROR, {}).endswith(f"\n  documentation: {where}")


def test_an_error_without_a_page_names_none() -> None:
    """Most errors say all there is to say."""
    error = DocumentError("no", file="f", line=3, owner="case one", field="prompt")
    assert explain_error(error, ACTION) == "f:3: case one: field prompt: no"
