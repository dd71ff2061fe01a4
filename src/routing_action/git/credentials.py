"""Finds the credentials that git's configuration keeps, with what it includes.

It reads; it changes nothing. actions/checkout keeps its token there unless it is told not to.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from routing_action.errors import HarnessError
from routing_action.files.secret_values import (
    address_secrets,
    header_secrets,
    read_secrets,
    secrets_in,
)
from routing_action.git.command import start_git

_TIMEOUT_SECONDS = 30.0
_STORE = re.compile(r"--file[= ]\s*[\"']?([^\s\"']+)")
_OF_THE_CHECKOUT = ("local", "worktree")


@dataclass(frozen=True, slots=True)
class StoredCredentials:
    """All secrets that git knows of in a folder, and the settings of the checkout that hold one."""

    values: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()

    @property
    def warning(self) -> str:
        """A line for people, with the remedy; empty where the checkout holds none."""
        if not self.settings:
            return ""
        return (
            f"warning: the checkout holds a credential ({', '.join(self.settings)}), which an agent"
            " can read; set `persist-credentials: false` for actions/checkout"
        )


def find_credentials(folder: Path, environ: Mapping[str, str]) -> StoredCredentials:
    """What the configuration that acts in a folder holds; nothing where git cannot read it."""
    words = ("-c", "safe.directory=*", "config", "--show-scope", "--null", "--list")
    try:
        ended = start_git(words, folder, {**environ, "GIT_TRACE": "0"}, _TIMEOUT_SECONDS)
    except (HarnessError, OSError):
        return StoredCredentials()
    if ended.code != 0:
        return StoredCredentials()
    parts = os.fsdecode(ended.stdout).split("\0")
    values: set[str] = set()
    settings: dict[str, None] = {}
    for scope, setting in zip(parts[::2], parts[1::2], strict=False):
        key, _, value = setting.partition("\n")
        found = {one for one in _secrets_of(key, value, folder) if one}
        values |= found
        if found and scope in _OF_THE_CHECKOUT:
            settings[f"{key.partition('.')[0]}.{key.rpartition('.')[2]}"] = None
    return StoredCredentials(tuple(sorted(values)), tuple(settings))


def _secrets_of(key: str, value: str, folder: Path) -> Iterator[str]:
    yield from address_secrets(f"{key} {value}")
    if key.endswith(".extraheader"):
        yield from header_secrets(value)
    if key.startswith("credential."):
        yield from secrets_in(value)
        for path in _STORE.findall(value):
            yield from read_secrets(folder / Path(path).expanduser())
