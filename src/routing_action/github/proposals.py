"""Proposes another text of a file on a pull request: suggestions, a commit, or a patch."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from routing_action.github.failures import ApiError, asking

if TYPE_CHECKING:
    from github.PullRequest import PullRequest
    from github.Repository import Repository

_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(?P<start>\d+)(?:,(?P<count>\d+))? @@")
_MOST_SUGGESTIONS = 10


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A file's text at a commit; `blob` is the id of that version."""

    commit: str
    path: str
    text: str
    blob: str


@dataclass(frozen=True, slots=True)
class _Change:
    """Lines of the old text, counted from 1, and what is to stand in their place."""

    first: int
    last: int
    lines: tuple[str, ...]


def read_file(repository: Repository, path: str, commit: str) -> KnownFile | None:
    """A file at a commit; None where it is not there, or is no text of at most a megabyte."""
    try:
        with asking(f"read {path}", "contents: read"):
            found = repository.get_contents(path, ref=commit)
            if isinstance(found, list) or found.encoding != "base64":
                return None
            return KnownFile(commit, path, found.decoded_content.decode("utf-8"), found.sha)
    except ApiError as error:
        if error.status == 404:
            return None
        raise


def suggest_change(
    repository: Repository, pull: PullRequest, known: KnownFile, text: str, remark: str
) -> tuple[str, ...]:
    """Put a suggestion on each place that changes; their addresses.

    Empty where a place is not in the pull request's diff, which GitHub then does not take.
    """
    from github.GithubObject import NotSet  # noqa: PLC0415 - slow to import

    changes = list(_find_changes(known.text, text))
    with asking("read the files of the pull request", "pull-requests: read"):
        patches = [one.patch or "" for one in pull.get_files() if one.filename == known.path]
    shown = [span for patch in patches for span in _find_spans(patch)]
    for one in changes:
        if not any(first <= one.first and one.last <= last for first, last in shown):
            return ()
    if not 1 <= len(changes) <= _MOST_SUGGESTIONS:
        return ()
    commit = repository.get_commit(known.commit)
    urls = []
    for one in changes:
        block = "\n".join(("```suggestion", *one.lines, "```"))
        is_long = one.first < one.last
        with asking("suggest a change", "pull-requests: write"):
            made = pull.create_review_comment(
                f"{remark}\n\n{block}",
                commit,
                known.path,
                line=one.last,
                side="RIGHT",
                start_line=one.first if is_long else NotSet,
                start_side="RIGHT" if is_long else NotSet,
            )
        urls.append(made.html_url)
    return tuple(urls)


def commit_change(
    repository: Repository, branch: str, known: KnownFile, text: str, message: str
) -> str:
    """Commit the text on a branch; the commit's address, "" where GitHub does not let us."""
    try:
        with asking(f"commit {known.path}", "contents: write"):
            made = repository.update_file(known.path, message, text, known.blob, branch=branch)
            return made["commit"].html_url
    except ApiError as error:
        if error.status in (403, 404, 409, 422):
            return ""
        raise


def make_patch(known: KnownFile, text: str) -> str:
    """The change as `git apply` takes it."""
    old, new = known.text.splitlines(), text.splitlines()
    lines = difflib.unified_diff(old, new, f"a/{known.path}", f"b/{known.path}", lineterm="")
    return "\n".join(lines) + "\n"


def _find_changes(old: str, new: str) -> Iterator[_Change]:
    """Each place that changes; where lines only come in, with the line before them."""
    before, after = old.splitlines(), new.splitlines()
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for kind, start, end, to_start, to_end in matcher.get_opcodes():
        if kind == "equal":
            continue
        lines = after[to_start:to_end]
        first = max(0, start - 1) if start == end else start
        yield _Change(first + 1, max(end, first + 1), (*before[first:start], *lines))


def _find_spans(patch: str) -> Iterator[tuple[int, int]]:
    """The lines of the new side that a diff shows, first and last of each hunk."""
    for match in _HUNK.finditer(patch):
        start, count = int(match["start"]), int(match["count"] or 1)
        yield start, start + count - 1
