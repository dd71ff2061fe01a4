"""What a person may do in a repository, as GitHub knows it, and by whom our comments are."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from routing_action.errors import UsageError
from routing_action.github.failures import ApiError, asking

if TYPE_CHECKING:
    from github.Repository import Repository


WORKFLOW_AUTHOR = "github-actions[bot]"

_SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,98}")


def name_authors(app_slug: str) -> tuple[str, ...]:
    """The logins that our comments can bear: the workflow's token's, and an App's where one is.

    No person and no other App is among them: a copy of our marker by them counts for nothing.
    Raises UsageError where the slug is none.
    """
    if app_slug and not _SLUG.fullmatch(app_slug):
        raise UsageError(
            f"app-slug {app_slug[:100]!r} is no name of an App",
            remedy="give the output app-slug of actions/create-github-app-token",
        )
    return (WORKFLOW_AUTHOR, *((f"{app_slug}[bot]",) if app_slug else ()))


def fetch_permission(repository: Repository, login: str) -> str:
    """GitHub's word: `admin`, `write`, `read` or `none`, also for roles that an organisation made.

    `maintain` counts as `write` and `triage` as `read` (GitHub's "Get repository permissions for
    a user"). Raises ApiError where GitHub does not tell.
    """
    try:
        with asking("read what the comment's author may do", "metadata: read"):
            return repository.get_collaborator_permission(login)
    except ApiError as error:
        if error.status == 404:
            return "none"
        raise
