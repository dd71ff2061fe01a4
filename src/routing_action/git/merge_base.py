"""Finds commits by name and their best common ancestors, in clones whose history is cut as well.

What is missing is fetched; no file of a working tree is read here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from routing_action.errors import HarnessError, RoutingActionError, UsageError
from routing_action.files.nearest import find_nearest
from routing_action.git.command import resolve, run_git
from routing_action.git.fetch import (
    COMMIT_ID,
    FULL_HISTORY,
    NotThereError,
    fetch,
    fetch_ref,
    name_remotes,
    split_remote,
)

_FIRST_DEPTH = 50
_DEEPENING = ("--deepen=50", "--deepen=500", "--unshallow")
_LONGEST_REF = 1000


@dataclass(frozen=True, slots=True)
class Found:
    """A commit that a ref names, the name that was understood, and where it was fetched from."""

    sha: str
    name: str
    remote: str = ""

    def __str__(self) -> str:
        return f"{self.name} (fetched from {self.remote})" if self.remote else self.name


def _check_ref(ref: str) -> None:
    """Stop, before git sees it, what git could take for an option or nothing can be named."""
    is_printable = all(sign.isprintable() or "\udc80" <= sign <= "\udcff" for sign in ref)
    if ref.startswith("-") or not is_printable or not 0 < len(ref) <= _LONGEST_REF:
        raise UsageError(
            f"the git ref {ref[:100]!a} cannot be the name of a branch, tag or commit",
            remedy="name a branch, a tag or a commit, such as origin/main",
        )


def find_commit(top: Path, ref: str, environ: Mapping[str, str]) -> Found:
    """The commit of REF, or else of `origin/REF`, in this clone; or else fetched.

    Raises UsageError where REF cannot be a ref or nobody knows it, HarnessError where nothing
    can be fetched.
    """
    _check_ref(ref)
    # A tag or a local branch called origin/main must not stand in for the remote's main.
    if "/" in ref and (sha := resolve(top, f"refs/remotes/{ref}")):
        return Found(sha, ref)
    # An id means the commit itself: a branch of that name must not stand in for it.
    for name in (ref,) if COMMIT_ID.fullmatch(ref) else (ref, f"origin/{ref}"):
        if sha := resolve(top, name):
            return Found(sha, name)
    try:
        name, remote = fetch_ref(top, ref, environ=environ, options=_depth_of_a_new_ref(top))
    except RoutingActionError as error:
        if nearest := find_nearest(ref, _known_names(top)):
            error.remedy = f"did you mean {nearest}? If not: {error.remedy}"
        raise
    sha = resolve(top, name)
    if sha is None:
        raise UsageError(f"{ref} of {remote} is no commit", remedy="name a branch, tag or commit")
    return Found(sha, name.removeprefix("refs/remotes/").removeprefix("refs/tags/"), remote)


def _known_names(top: Path) -> list[str]:
    """The branches and tags of this clone, and what it knows of its remotes' branches."""
    return run_git(("for-each-ref", "--format=%(refname:lstrip=2)"), top).splitlines()


def _depth_of_a_new_ref(top: Path) -> tuple[str, ...]:
    """How much of its history comes with a ref: all of it in a clone that is complete.

    In a shallow one a little more than HEAD has, as git cuts off what it knew beyond that depth.
    """
    if not _shallow_commits(top):
        return ()
    known = int(run_git(("rev-list", "--count", "HEAD"), top)) if resolve(top, "HEAD") else 0
    return (f"--depth={known + _FIRST_DEPTH}",)


def find_merge_bases(
    top: Path, base: Found, head: str, environ: Mapping[str, str]
) -> tuple[str, ...]:
    """The best common ancestors, sorted; empty where the histories are unrelated.

    A shallow clone is deepened by 50 and 500 commits, then wholly, until no better one can be
    hidden in what it lacks. Raises HarnessError where it cannot be completed.
    """
    for step in (*_DEEPENING, ""):
        # `git merge-base --all` would not tell "none" apart from a failure
        lines = run_git(("rev-parse", f"{base.sha}...{head}"), top).split()
        bases = tuple(sorted(line[1:] for line in lines if line.startswith("^")))
        if not _may_hide_more(top, base.sha, head, bases):
            return bases
        if step:
            _deepen(top, base, head, step, environ)
    raise HarnessError(
        f"the merge base of {base.name} and HEAD is unknown: the remote's history is cut as well",
        remedy=FULL_HISTORY,
    )


def _shallow_commits(top: Path) -> frozenset[str]:
    """The commits whose parents the clone does not have; empty where it is complete."""
    listing = top / run_git(("rev-parse", "--git-path", "shallow"), top).removesuffix("\n")
    return frozenset(listing.read_text("ascii").split()) if listing.is_file() else frozenset()


def _open_ends(top: Path, *revisions: str) -> tuple[str, ...]:
    """The commits at which the history of these revisions is cut off; git shows them as roots."""
    roots = run_git(("rev-list", "--max-parents=0", *revisions), top).split()
    return tuple(sorted(_shallow_commits(top).intersection(roots)))


def _may_hide_more(top: Path, base: str, head: str, bases: tuple[str, ...]) -> bool:
    """True while the cut history could hold a better merge base than those in sight.

    One in sight is the best where it is a tip itself, or where no path from a tip is cut off
    before it has reached it. Of several, one may turn out to be an ancestor of another.
    """
    if base in bases or head in bases:
        return False
    reached = [f"^{sha}" for sha in bases] if len(bases) == 1 else []
    return bool(_open_ends(top, base, head, *reached))


def _deepen(top: Path, base: Found, head: str, step: str, environ: Mapping[str, str]) -> None:
    """Fetch more history below every cut on the way from the base and from HEAD."""
    remote = base.remote or split_remote(top, base.name)[0]
    if not remote:
        raise HarnessError(
            f"the merge base of {base.name} and HEAD is not in this shallow clone, "
            "and there is no remote to fetch it from",
            remedy=name_remotes(top),
        )
    # --unshallow completes all cuts, whatever is asked for.
    refs = ("HEAD",) if step == "--unshallow" else _open_ends(top, base.sha, head)
    try:
        fetch(top, remote, refs, environ=environ, options=(step,))
    except NotThereError:
        # Not every server gives out commits by id; the last step asks for none.
        if step == "--unshallow":
            raise


def read_dates(top: Path, commits: tuple[str, ...]) -> list[tuple[int, str]]:
    """The committer date of each, in seconds and as text; 0 and empty where git reads none."""
    args = ("rev-list", "--no-walk=unsorted", "--format=%ct %cI", *commits)
    lines = run_git(args, top).splitlines()
    stamps = (line.partition(" ") for line in lines if not line.startswith("commit "))
    return [(int(seconds or 0), text) for seconds, _, text in stamps]


def list_outside(top: Path, commits: Iterable[str]) -> list[str]:
    """The commits that are on no default branch that this clone knows; none where it knows none."""
    branches = [name for name in ("origin/HEAD", "main", "master") if resolve(top, name)]
    known = [one for one in dict.fromkeys(commits) if branches and one and resolve(top, one)]
    return [one for one in known if not any(_contains(top, name, one) for name in branches)]


def _contains(top: Path, branch: str, commit: str) -> bool:
    try:
        return run_git(("merge-base", commit, branch), top).strip() == resolve(top, commit)
    except HarnessError:  # no common history
        return False
