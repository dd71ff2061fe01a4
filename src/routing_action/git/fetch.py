"""Fetches what a clone lacks of its history, with the caller's own git configuration.

Beside data_branch.py nothing here lets git reach a network. It never prompts, sets no local branch,
and shows no address with its credentials.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from routing_action.errors import HarnessError, UsageError
from routing_action.files.redaction import MASK, Redactor
from routing_action.files.secret_values import secret_values
from routing_action.git.command import first_complaint, run_git, start_git

FETCH_TIMEOUT_SECONDS = 600.0
FULL_HISTORY = (
    "get the whole history first: `fetch-depth: 0` for actions/checkout, or "
    "`git fetch --unshallow` (in a complete clone `git fetch`)"
)

CONFIGURATION = (
    "core.hooksPath=/dev/null",
    "gc.auto=0",
    "maintenance.auto=false",
    "safe.directory=*",
)
_OPTIONS = ("--quiet", "--no-tags", "--no-prune", "--no-recurse-submodules")

# What a hook or another tool set to point git at its own repository, and what makes git talkative
# (git(1), "Environment Variables"); a configuration by variables stays: it may hold credentials.
_OTHER_REPOSITORY = frozenset(
    f"GIT_{name}"
    for name in "DIR WORK_TREE COMMON_DIR INDEX_FILE OBJECT_DIRECTORY NAMESPACE PREFIX"
    " ALTERNATE_OBJECT_DIRECTORIES SHALLOW_FILE GRAFT_FILE CURL_VERBOSE NO_LAZY_FETCH".split()
)
_NO_PROMPT = {"GIT_TERMINAL_PROMPT": "0", "GCM_INTERACTIVE": "never", "LC_ALL": "C"}

_NOT_THERE = (b"couldn't find remote ref", b"not our ref", b"unadvertised object")
COMMIT_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?", re.IGNORECASE)
_USER_IN_URL = re.compile(r"(?<=://)[^\s'\"]*@")
_QUERY_OF_URL = re.compile(r"(://[^\s'\"?]*\?)[^\s'\"]+")
_TOKEN = re.compile(r"\b(?:gh[a-z]_|github_pat_|glpat-)[\w-]+")


class NotThereError(HarnessError):
    """The remote answered that it has no such ref or commit, or does not give it out."""


def fetch(
    top: Path,
    remote: str,
    refs: Sequence[str],
    *,
    environ: Mapping[str, str],
    options: Sequence[str] = (),
    timeout_seconds: float = FETCH_TIMEOUT_SECONDS,
) -> None:
    """Run `git fetch` with the caller's environment, configuration and credentials.

    actions/checkout keeps an `extraheader` in the repository's configuration, or in a file that
    this includes. Raises NotThereError where the remote does not have what was asked for,
    HarnessError where git is missing, takes too long or fails, with the first line that git
    complained in.
    """
    settings = [word for setting in CONFIGURATION for word in ("-c", setting)]
    words = (*settings, "fetch", *_OPTIONS, *options, "--", remote, *refs)
    ended = start_git(words, top, own_environment(environ), timeout_seconds)
    if ended.code is None:
        raise HarnessError(
            f"git fetch from {remote} did not end within {timeout_seconds:g} s",
            remedy=FULL_HISTORY,
        )
    if ended.code != 0:
        is_missing = any(reason in ended.stderr.lower() for reason in _NOT_THERE)
        error = NotThereError if is_missing else HarnessError
        shown = redact_addresses(ended.stderr.decode("utf-8", "replace"), environ)
        reason = first_complaint(shown.encode())
        raise error(f"git fetch from {remote} failed: {reason}", remedy=FULL_HISTORY)


def fetch_ref(
    top: Path, ref: str, *, environ: Mapping[str, str], options: Sequence[str] = ()
) -> tuple[str, str]:
    """Fetch a branch, a tag, a full ref or a commit's full id; gives its local name and the remote.

    `origin/main` is the branch main of the remote origin; a name without a remote is asked of
    `choose_remote`. Branches go to the remote-tracking refs. Raises UsageError where the ref is
    no name that can be fetched, or the remote has nothing of that name; else as `fetch` does.
    """
    remote, name = split_remote(top, ref)
    if not remote:
        raise HarnessError(
            f"this clone has no branch, tag or commit {ref}, and no remote to fetch it from",
            remedy=name_remotes(top)
            if _list_remotes(top)
            else "`git branch --all` and `git tag` list what it has",
        )
    for source, target in _sources(remote, name):
        if target and not _is_well_formed(top, source):
            break
        refspec = f"+{source}:{target}" if target else source
        try:
            fetch(top, remote, (refspec,), environ=environ, options=options)
        except NotThereError:
            continue
        return target or source, remote
    raise UsageError(
        f"{ref} names no commit of this clone, and no branch, tag or commit of {remote}",
        remedy="name a branch, a tag, or the full id of a commit that was pushed",
    )


def name_remotes(top: Path) -> str:
    """What to do where no remote can be asked: there is none, or it is not known which."""
    remotes = _list_remotes(top)
    if remotes:
        names = ", ".join(f"{one}/..." for one in remotes)
        return f"name the branch with its remote ({names}), or call one of them origin"
    return (
        "name a branch or a commit whose history is in this clone (`git branch --all` lists the "
        "branches), or clone the repository anew with all of its history"
    )


def choose_remote(top: Path) -> str:
    """`origin` where there is one, else the only remote; empty where there is no such."""
    remotes = _list_remotes(top)
    if "origin" in remotes:
        return "origin"
    return remotes[0] if len(remotes) == 1 else ""


def redact_addresses(text: str, environ: Mapping[str, str]) -> str:
    """The text without what its URLs carry before `@` and after `?`, tokens and known secrets."""
    text = _USER_IN_URL.sub(f"{MASK}@", text)
    text = _TOKEN.sub(MASK, _QUERY_OF_URL.sub(rf"\1{MASK}", text))
    return Redactor(secret_values(environ)).text(text)


def _list_remotes(top: Path) -> list[str]:
    return run_git(("remote",), top).splitlines()


def split_remote(top: Path, ref: str) -> tuple[str, str]:
    """The remote to ask (empty: none), and what the ref is called there."""
    for remote in sorted(_list_remotes(top), key=len, reverse=True):
        for prefix in (f"{remote}/", f"refs/remotes/{remote}/"):
            if ref.startswith(prefix):
                return remote, ref.removeprefix(prefix)
    return choose_remote(top), ref


def _sources(remote: str, name: str) -> Iterator[tuple[str, str]]:
    """What the name may be on the remote, and the local ref for it; none for a commit's id."""
    if COMMIT_ID.fullmatch(name):
        yield name, ""
    elif name.startswith("refs/tags/"):
        yield name, name
    elif name.startswith("refs/"):
        short = name.removeprefix("refs/").removeprefix("heads/")
        yield name, f"refs/remotes/{remote}/{short}"
    else:
        yield f"refs/heads/{name}", f"refs/remotes/{remote}/{name}"
        yield f"refs/tags/{name}", f"refs/tags/{name}"


def _is_well_formed(top: Path, source: str) -> bool:
    """True for a name that git allows, so for none that a refspec would read as more (`:`, `*`)."""
    try:
        run_git(("check-ref-format", source), top)
    except HarnessError:
        return False
    return True


def own_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The caller's environment, without what points git elsewhere, and with no way to ask."""
    kept = {
        name: value
        for name, value in environ.items()
        if name not in _OTHER_REPOSITORY and not name.startswith("GIT_TRACE")
    }
    return {**kept, **_NO_PROMPT}
