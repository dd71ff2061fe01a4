"""Proposes another text of a file on a pull request: suggestions, a commit, or a patch."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from routing_action.github.failures import ApiError, asking

if TYPE_CHECKING:
    from github.Commit import Commit as GitCommit
    from github.PullRequest import PullRequest
    from github.Repository import Repository

_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(?P<start>\d+)(?:,(?P<count>\d+))? @@")
_MOST_SUGGESTIONS = 10
_MOST_COMMITS = 10
_TRAILER = "Routing-Command"
_MARKED = re.compile(rf"^{_TRAILER}: (?P<comment>\d+)/(?P<line>\d+)\s*\Z", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A file's text at a commit; `blob` is the id of that version."""

    commit: str
    path: str
    text: str
    blob: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """Another text of a file; `mark` names the command that it is by, `authors` are our logins."""

    known: KnownFile
    text: str
    mark: str
    authors: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit that was made, its page, and the one before it."""

    sha: str
    url: str
    parent: str


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
    repository: Repository, pull: PullRequest, proposal: Proposal, *, is_again: bool
) -> tuple[str, ...]:
    """Put a suggestion on each place that changes; their addresses.

    Empty where a place is not in the pull request's diff, which GitHub then does not take.
    `is_again`: an earlier try may have made some of them.
    """
    known = proposal.known
    changes = list(_find_changes(known.text, proposal.text))
    with asking("read the files of the pull request", "pull-requests: read"):
        patches = [one.patch or "" for one in pull.get_files() if one.filename == known.path]
    shown = [span for patch in patches for span in _find_spans(patch)]
    for one in changes:
        if not any(first <= one.first and one.last <= last for first, last in shown):
            return ()
    if not 1 <= len(changes) <= _MOST_SUGGESTIONS:
        return ()
    made = _find_suggestions(pull, proposal) if is_again else {}
    commit = repository.get_commit(known.commit)
    return tuple(made.get(one.last) or _suggest(pull, commit, proposal, one) for one in changes)


def _suggest(pull: PullRequest, commit: GitCommit, proposal: Proposal, one: _Change) -> str:
    from github.GithubObject import NotSet  # noqa: PLC0415 - slow to import

    block = "\n".join(("```suggestion", *one.lines, "```"))
    is_long = one.first < one.last
    with asking("suggest a change", "pull-requests: write"):
        return pull.create_review_comment(
            f"{_marker(proposal.mark)}\nAccept what was measured:\n\n{block}",
            commit,
            proposal.known.path,
            line=one.last,
            side="RIGHT",
            start_line=one.first if is_long else NotSet,
            start_side="RIGHT" if is_long else NotSet,
        ).html_url


def _find_suggestions(pull: PullRequest, proposal: Proposal) -> dict[int, str]:
    """The addresses of those that were made for the same command, by their line."""
    with asking("read the suggestions", "pull-requests: read"):
        return {
            one.line: one.html_url
            for one in pull.get_review_comments()
            if getattr(one.user, "login", "") in proposal.authors
            and (one.body or "").startswith(f"{_marker(proposal.mark)}\n")
        }


def _marker(mark: str) -> str:
    return f"<!-- routing-action suggestion={mark} -->"


def commit_change(
    repository: Repository, branch: str, proposal: Proposal, message: str
) -> Commit | None:
    """Commit the text on a branch, with the proposal's mark; None where GitHub does not let us."""
    known = proposal.known
    message = f"{message}\n{_TRAILER}: {proposal.mark}\n"
    try:
        with asking(f"commit {known.path}", "contents: write"):
            made = repository.update_file(
                known.path, message, proposal.text, known.blob, branch=branch
            )["commit"]
            return Commit(made.sha, made.html_url, known.commit)
    except ApiError as error:
        if error.status in (403, 404, 409, 422):
            return None
        raise


def find_commit(repository: Repository, tip: str, mark: str) -> Commit | None:
    """The commit that was made with a mark, among those of one comment that end a branch."""
    found = _list_commits(repository, tip, mark.partition("/")[0])
    return next((one for one, its in found if its == mark), None)


def find_parent(repository: Repository, tip: str, comment: int) -> str:
    """The commit below those that commands of a comment have made; `tip` where there are none."""
    parent = tip
    for one, _ in _list_commits(repository, tip, str(comment)):
        parent = one.parent
    return parent


def _list_commits(repository: Repository, tip: str, comment: str) -> Iterator[tuple[Commit, str]]:
    """The commits with marks of a comment, newest first, each with its mark."""
    for _ in range(_MOST_COMMITS):
        with asking(f"read commit {tip[:12]}", "contents: read"):
            made = repository.get_commit(tip)
            match = _MARKED.search(made.commit.message)
            if match is None or match["comment"] != comment or len(made.parents) != 1:
                return
            found = Commit(made.sha, made.html_url, made.parents[0].sha)
        yield found, f"{comment}/{match['line']}"
        tip = found.parent


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
