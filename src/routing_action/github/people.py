"""What a person may do in a repository, as GitHub knows it at this moment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from routing_action.github.failures import ApiError, asking

if TYPE_CHECKING:
    from github.Repository import Repository


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
