"""The web address of this project's documentation, for messages and reports that lead there."""

from __future__ import annotations

import json
from collections.abc import Mapping
from urllib.parse import quote, urlsplit

from routing_action.errors import RoutingActionError

DOCS_URL = ""
"""Where the folder docs/ is published, without a slash at its end.

The one place to set it, once the project has an address. While it is empty, only an action that a
workflow names by its repository, and an installation from a git address, know where theirs is.
"""


def find_docs_url(environ: Mapping[str, str]) -> str:
    """The folder of the documents of the version in use, without a slash at its end; or ""."""
    server = environ.get("GITHUB_SERVER_URL", "").rstrip("/")
    action, ref = environ.get("GITHUB_ACTION_REPOSITORY"), environ.get("GITHUB_ACTION_REF")
    if server and action and ref:  # a step with `uses: ./` names none
        return f"{server}/{quote(action)}/blob/{quote(ref)}/docs"
    return DOCS_URL or _installed_from()


def explain_error(error: RoutingActionError, environ: Mapping[str, str]) -> str:
    """Cause and remedy, and the address of the page that says more; else its file."""
    if not error.page:
        return str(error)
    base = find_docs_url(environ)
    where = f"{base}/{error.page}" if base else f"{error.page} in the repository's docs folder"
    return f"{error}\n  documentation: {where}"


def _installed_from() -> str:
    """By the record of an installation from git (PEP 610); no credentials are shown."""
    import importlib.metadata  # noqa: PLC0415 - slow to import, and hardly ever needed

    try:
        text = importlib.metadata.distribution("routing-action").read_text("direct_url.json")
        record = json.loads(text or "{}")
        address, commit = urlsplit(record["url"]), record["vcs_info"]["commit_id"]
    except (importlib.metadata.PackageNotFoundError, ValueError, LookupError, TypeError):
        return ""
    if address.scheme != "https" or not address.hostname:
        return ""
    path = address.path.rstrip("/").removesuffix(".git")
    return f"https://{address.hostname}{path}/blob/{quote(str(commit))}/docs"
