"""Finds what a person's own command needs to ask GitHub: the repository and a token.

The token goes to GitHub's own API address alone, whatever a remote is called.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

from routing_action.errors import HarnessError, UsageError
from routing_action.git.command import run_git
from routing_action.git.fetch import choose_remote
from routing_action.github.context import Context

_API_URL = "https://api.github.com"
_SERVER_URL = "https://github.com"
_GH_SECONDS = 20
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+")
_ADDRESS = re.compile(
    r"(?:\w+://)?(?:[^@/]*@)?(?P<host>[^/:]+)(?::\d+)?[:/](?P<name>.+?)(?:\.git)?/?"
)


def find_repository(named: str, root: Path, environ: Mapping[str, str]) -> Context:
    """Where `owner/name` is asked about: the named one, else this run's, else the remote's.

    Raises UsageError where the name is none, or nothing says which it is.
    """
    server = environ.get("GITHUB_SERVER_URL", "") or _SERVER_URL
    name = named or environ.get("GITHUB_REPOSITORY", "") or _ask_remote(root, server)
    if not _NAME.fullmatch(name):
        cause = f"--repo {name!r}: no repository" if name else "which repository is not known"
        raise UsageError(cause, remedy="name it as `--repo OWNER/NAME`")
    api_url = environ.get("GITHUB_API_URL", "") or _API_URL
    return Context(repository=name, api_url=api_url.rstrip("/"), server_url=server.rstrip("/"))


def _ask_remote(root: Path, server: str) -> str:
    """The repository that the remote is, where it is one of this GitHub; else ""."""
    with suppress(HarnessError):
        address = run_git(("remote", "get-url", choose_remote(root)), root).strip()
        match = _ADDRESS.fullmatch(address)
        if match and match["host"].casefold() == urlsplit(server).hostname:
            return match["name"].strip("/")
    return ""


def find_token(environ: Mapping[str, str]) -> str:
    """A token for GitHub, else the one that its command line keeps; UsageError without any."""
    token = environ.get("GH_TOKEN") or environ.get("GITHUB_TOKEN") or _ask_command(environ)
    if not token:
        raise UsageError(
            "no token for GitHub: GH_TOKEN and GITHUB_TOKEN are not set, and `gh` has none",
            remedy="log in with `gh auth login`, or set GH_TOKEN to a token that may read actions",
        )
    return token


def _ask_command(environ: Mapping[str, str]) -> str:
    program = shutil.which("gh", path=environ.get("PATH"))
    if program is None:
        return ""
    with suppress(OSError, subprocess.SubprocessError, ValueError):
        done = subprocess.run(
            (program, "auth", "token"),
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_GH_SECONDS,
            check=True,
        )
        return done.stdout.decode("ascii").strip()
    return ""
