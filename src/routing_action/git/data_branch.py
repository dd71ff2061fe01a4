"""Reads and appends to a branch of data at the remote, without touching the clone that asks.

All happens in a bare repository of its own: a clone would become a shallow one by a fetch of depth
1. A push never overwrites what another run has pushed meanwhile.
"""

from __future__ import annotations

import base64
import os
import random
import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from routing_action.errors import HarnessError
from routing_action.files.atomic import unwritable
from routing_action.git.command import first_complaint, run_git, start_git
from routing_action.git.fetch import (
    CONFIGURATION,
    FETCH_TIMEOUT_SECONDS,
    NotThereError,
    choose_remote,
    fetch,
    own_environment,
    redact_addresses,
)

DATA_BRANCH = "routing-action-data"
MONTH_FILE = re.compile(r"\d{4}-\d\d\.jsonl")
KEPT_MONTHS = 24
"""Months whose files stay when the branch begins anew, once a month."""

TRIES = 5
_AUTHOR = "github-actions[bot] <41898282+github-actions[bot]@users.noreply.github.com>"
_DENIED = re.compile(
    r"\b40[13]\b|denied|not allowed|protected|declined|read[- ]only|GH0\d\d|authentication failed"
    r"|could not read username|permission|not permitted",
    re.IGNORECASE,
)

Files = Mapping[str, bytes]


class DeniedError(HarnessError):
    """The remote does not let this token or this person push."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """A line of a tree: mode, kind, and the object's id."""

    mode: str
    kind: str
    sha: str


@dataclass
class DataBranch:
    """A copy of the branch's newest commit; `commit` is "" where the remote has no such branch."""

    url: str
    folder: Path
    environ: Mapping[str, str]
    commit: str = ""
    entries: dict[str, _Entry] = field(default_factory=dict)

    def fetch(self) -> bool:
        """Bring the newest commit; False where the remote has no such branch.

        Raises HarnessError where it cannot be asked.
        """
        try:
            fetch(
                self.folder,
                self.url,
                (f"refs/heads/{DATA_BRANCH}",),
                environ=self.environ,
                options=("--depth=1",),
            )
        except NotThereError:
            self.commit, self.entries = "", {}
            return False
        except HarnessError as error:
            remedy = "see whether this machine can read the remote: `git ls-remote`"
            raise HarnessError(error.cause, remedy=remedy) from None
        self.commit = run_git(("rev-parse", "FETCH_HEAD"), self.folder).strip()
        listed = run_git(("ls-tree", "-z", self.commit), self.folder).split("\0")
        self.entries = {}
        for line in filter(None, listed):
            head, _, name = line.partition("\t")
            self.entries[name] = _Entry(*head.split(" "))
        return True

    def read(self) -> dict[str, bytes]:
        """The files of the months."""
        return {
            name: os.fsencode(run_git(("cat-file", "blob", entry.sha), self.folder))
            for name, entry in self.entries.items()
            if MONTH_FILE.fullmatch(name) and entry.mode.startswith("100")
        }

    def push(self, files: Files, message: str, now: datetime) -> None:
        """Commit these files beside what the branch has, and push that.

        With the first file of a month the branch begins anew: one commit without a parent, and no
        month before the last `KEPT_MONTHS`; where the remote does not allow that, it just grows.
        Raises DeniedError where the remote does not allow the push, HarnessError where it did not
        take it: mostly since another run has pushed meanwhile.
        """
        new = any(MONTH_FILE.fullmatch(name) and name not in self.entries for name in files)
        if new and self.commit:
            with suppress(HarnessError):
                return self._send(self._commit(files, message, now, begins=True))
        return self._send(self._commit(files, message, now, begins=False))

    def _commit(self, files: Files, message: str, now: datetime, *, begins: bool) -> str:
        """A commit of what the branch has and these files; its id."""
        kept = {name: one for name, one in self.entries.items()
                if not (begins and MONTH_FILE.fullmatch(name) and name < _oldest(now))}  # fmt: skip
        for name, data in files.items():
            kept[name] = _Entry("100644", "blob", self._store("blob", data))
        lines = [f"{one.mode} {one.kind} {one.sha}\t{name}\0" for name, one in kept.items()]
        tree = run_git(("mktree", "-z"), self.folder, stdin="".join(lines)).strip()
        parent = f"parent {self.commit}\n" if self.commit and not begins else ""
        who = f"{_AUTHOR} {int(now.timestamp())} +0000"
        text = f"tree {tree}\n{parent}author {who}\ncommitter {who}\n\n{message}\n"
        return self._store("commit", text.encode())

    def _store(self, kind: str, data: bytes) -> str:
        args = ("hash-object", "-t", kind, "-w", "--stdin")
        return run_git(args, self.folder, stdin=os.fsdecode(data)).strip()

    def _send(self, commit: str) -> None:
        """Push only if the branch is still what was fetched."""
        settings = [word for setting in CONFIGURATION for word in ("-c", setting)]
        ref = f"refs/heads/{DATA_BRANCH}"
        lease = f"--force-with-lease={ref}:{self.commit}"
        words = (*settings, "push", "--quiet", lease, "--", self.url, f"{commit}:{ref}")
        environ = own_environment(self.environ)
        ended = start_git(words, self.folder, environ, FETCH_TIMEOUT_SECONDS)
        if ended.code == 0:
            return
        if ended.code is None:
            raise HarnessError(f"git push did not end within {FETCH_TIMEOUT_SECONDS:g} s")
        text = redact_addresses(ended.stderr.decode("utf-8", "replace"), self.environ)
        told = "\n".join(line for line in text.splitlines() if not line.startswith("To "))
        error = DeniedError if _DENIED.search(told) else HarnessError
        raise error(f"git push to {DATA_BRANCH} failed: {first_complaint(told.encode())}")


def _oldest(now: datetime) -> str:
    """The name that no kept file comes before."""
    months = now.year * 12 + now.month - KEPT_MONTHS
    return f"{months // 12:04}-{months % 12 + 1:02}.jsonl"


def open_data_branch(top: Path, folder: Path, environ: Mapping[str, str]) -> DataBranch | None:
    """The branch at a clone's remote, to work on in an empty folder; None without a remote."""
    remote = choose_remote(top)
    if not remote:
        return None
    url = run_git(("remote", "get-url", remote), top).strip()
    if (top / url).exists():
        url = str((top / url).resolve())
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(folder, error) from None
    run_git(("init", "--quiet", "--bare", "--template="), folder)
    return DataBranch(url, folder, environ)


def with_token(environ: Mapping[str, str], server_url: str, token: str) -> dict[str, str]:
    """An environment in which git shows this token to the server, and no other one.

    Source: actions/checkout, src/git-auth-helper.ts (an `extraheader`); git-config(1),
    `http.extraHeader`: an empty value clears the earlier ones, and `GIT_CONFIG_COUNT` comes after
    all files.
    """
    if not (token and server_url):
        return dict(environ)
    number = int(environ.get("GIT_CONFIG_COUNT") or 0)
    key = f"http.{server_url}/.extraheader"
    basic = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    found = dict(environ)
    for value in ("", f"AUTHORIZATION: basic {basic}"):
        found |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
        number += 1
    return found | {"GIT_CONFIG_COUNT": str(number)}


def append(
    branch: DataBranch,
    update: Callable[[Files], Files],
    message: str,
    now: Callable[[], datetime],
    wait: Callable[[float], None] = time.sleep,
) -> bool:
    """Push what `update` makes of the months' files; False where it changes none of them.

    Where another run was faster, the branch is fetched again and `update` asked again, up to
    `TRIES` times with growing pauses. Raises as `DataBranch.push` does.
    """
    tries = 1
    while True:
        try:
            branch.fetch()
            files = update(branch.read())
            if files:
                branch.push(files, message, now())
            return bool(files)
        except HarnessError as error:
            if isinstance(error, DeniedError) or tries == TRIES:
                raise
        wait(2 ** (tries - 1) * random.uniform(0.5, 1.5))  # noqa: S311 - only keeps runs apart
        tries += 1
