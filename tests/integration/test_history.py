"""The commit to compare with is the merge base, in whatever way the repository was checked out."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from routing_action.errors import DocumentError, HarnessError, UsageError
from routing_action.git.base_commit import (
    BaseCommit,
    find_merge_base,
    is_edited,
    read_file_at,
    resolve_commit,
)
from routing_action.git.changes import list_tree, list_worktree
from routing_action.git.fetch import fetch, redact_addresses
from tests.support.repositories import Repository, check_out, create

BASELINE = "evals/provider-baseline.json"
ENVIRON: Mapping[str, str] = {
    "PATH": os.environ["PATH"],
    "HOME": os.devnull,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


def is_edited_since(
    commit: BaseCommit, path: Path, *, environ: Mapping[str, str] | None = None
) -> bool:
    """Whether the working tree's file is not the commit's."""
    return is_edited(path, read_file_at(commit, path, environ=environ))


def merge_base(clone: Repository, ref: str = "origin/main") -> BaseCommit:
    return find_merge_base(clone.path, ref, environ=ENVIRON)


def changes(clone: Repository, ref: str = "main") -> tuple[str, ...]:
    base = find_merge_base(clone.path, ref, environ=ENVIRON)
    before, (here, _) = list_tree(clone.path, base.sha), list_worktree(clone.path, lambda _: False)
    paths = before.keys() | here.keys()
    return tuple(sorted(path for path in paths if before.get(path) != here.get(path)))


class PullRequest:
    """A pull request on GitHub: main went on after the branch topic had left it."""

    def __init__(self, path: Path, *, ahead: int = 0, behind: int = 0) -> None:
        self.repository = create(path, {BASELINE: "old", "README.md": "read"})
        at_github = self.repository
        self.fork_point = at_github.commit({"shared.md": "1"}, day=1)
        at_github.start("topic")
        at_github.commit({BASELINE: "edited"}, day=2)
        self.head = at_github.commit({"topic.md": "1"}, day=3)
        if ahead:
            self.head = at_github.grow("refs/heads/topic", ahead, "refs/heads/topic", day=3)
        at_github.git("reset", "--quiet", "--hard", "main")
        at_github.git("checkout", "--quiet", "main")
        if behind:
            at_github.grow("refs/heads/main", behind, "refs/heads/main", day=4)
            at_github.git("reset", "--quiet", "--hard", "main")
        self.base_tip = at_github.commit({BASELINE: "newer", "main.md": "1"}, day=4)
        at_github.git("update-ref", "refs/heads/topic", self.head)
        at_github.git("checkout", "--quiet", "--detach", "main")
        merged = at_github.git(
            "commit-tree", "-p", self.base_tip, "-p", self.head, "-m", "merge", "topic^{tree}"
        )
        at_github.git("update-ref", "refs/pull/1/merge", merged)
        at_github.git("update-ref", "refs/pull/1/head", self.head)
        at_github.git("tag", "--annotate", "--message", "one", "v1", self.fork_point)
        at_github.git("config", "uploadpack.allowFilter", "true")
        at_github.git("checkout", "--quiet", "main")


@pytest.fixture(scope="module")
def pull_request(tmp_path_factory: pytest.TempPathFactory) -> PullRequest:
    """One for all tests that do not change it."""
    return PullRequest(tmp_path_factory.mktemp("pull request") / "origin")


# --- the merge base in a complete clone -------------------------------------------------------


def test_the_head_of_a_branch_behind_its_base_is_compared_with_the_fork_point(
    tmp_path: Path, pull_request: PullRequest
) -> None:
    """What main got later is not held against the branch; the report can name commit and date."""
    clone = check_out(pull_request.repository, tmp_path / "clone", "refs/heads/topic", depth=None)
    found = merge_base(clone)
    assert found == BaseCommit(
        sha=pull_request.fork_point,
        date="2023-11-15T23:13:20+01:00",
        how="merge base of origin/main and HEAD",
    )
    assert read_file_at(found, clone.path / BASELINE) == b"old"


def test_githubs_merge_commit_is_compared_with_the_tip_of_the_base(
    tmp_path: Path, pull_request: PullRequest
) -> None:
    """The tree under test holds main's newest changes, so these are the ones to compare with."""
    clone = check_out(pull_request.repository, tmp_path / "clone", "refs/pull/1/merge", depth=None)
    found = merge_base(clone)
    assert found.sha == pull_request.base_tip
    assert read_file_at(found, clone.path / BASELINE) == b"newer"


def test_a_branch_is_found_that_only_the_remote_has(
    tmp_path: Path, pull_request: PullRequest
) -> None:
    """`main` stands for origin/main where no local branch has that name."""
    clone = check_out(pull_request.repository, tmp_path / "clone", "refs/heads/topic", depth=None)
    found = merge_base(clone, "main")
    assert (found.sha, found.how) == (
        pull_request.fork_point,
        "merge base of origin/main and HEAD",
    )


def test_a_local_branch_goes_before_the_remotes(tmp_path: Path, pull_request: PullRequest) -> None:
    """Whoever names a ref that is there gets that one."""
    clone = check_out(pull_request.repository, tmp_path / "clone", "refs/heads/topic", depth=None)
    clone.git("branch", "main", f"{pull_request.fork_point}~1")
    found = merge_base(clone, "main")
    assert found.sha == clone.git("rev-parse", f"{pull_request.fork_point}~1")
    assert found.how == "merge base of main and HEAD"


def test_a_tag_does_not_pass_for_the_remotes_branch(
    tmp_path: Path, pull_request: PullRequest
) -> None:
    """A tag called origin/main cannot choose what a pull request is compared with."""
    clone = check_out(pull_request.repository, tmp_path / "clone", "refs/heads/topic", depth=None)
    clone.git("tag", "origin/main", pull_request.head)
    assert merge_base(clone).sha == pull_request.fork_point


def test_a_branch_that_merged_its_base_is_compared_with_what_it_merged(tmp_path: Path) -> None:
    """A merge commit inside the branch moves the merge base forward."""
    repository = create(tmp_path / "repo", {"a": "1"})
    repository.start("topic")
    repository.commit({"topic": "1"}, day=1)
    repository.switch("main")
    merged = repository.commit({"a": "2"}, day=2)
    repository.switch("topic")
    repository.merge("main", day=3)
    repository.commit({"topic": "2"}, day=4)
    repository.switch("main")
    repository.commit({"a": "3"}, day=5)
    repository.switch("topic")
    found = merge_base(repository, "main")
    assert found.sha == merged
    assert "youngest" not in found.how


def criss_cross(path: Path, days: tuple[int, int]) -> tuple[Repository, str, str]:
    """Main and topic have merged each other's first commit, made on the given days."""
    repository = create(path)
    repository.start("topic")
    on_topic = repository.commit({"topic": "1"}, day=days[0])
    repository.switch("main")
    on_main = repository.commit({"main": "1"}, day=days[1])
    repository.merge(on_topic, day=8)
    repository.switch("topic")
    repository.merge(on_main, day=8)
    return repository, on_topic, on_main


@pytest.mark.parametrize(("days", "youngest"), [((2, 5), 1), ((5, 2), 0)])
def test_of_several_merge_bases_the_youngest_is_taken(
    tmp_path: Path, days: tuple[int, int], youngest: int
) -> None:
    """After criss-cross merges the choice is always the same one, and the report says so."""
    repository, *bases = criss_cross(tmp_path / "repo", days)
    found = merge_base(repository, "main")
    assert found.sha == bases[youngest]
    assert found.others == (bases[1 - youngest],)
    assert found.how.startswith("merge base of main and HEAD, the youngest of 2, ")


def test_of_equally_old_merge_bases_the_lowest_id_is_taken(tmp_path: Path) -> None:
    """The choice does not depend on the order in which git lists them."""
    repository, *bases = criss_cross(tmp_path / "repo", (3, 3))
    assert merge_base(repository, "main").sha == min(bases)
    repository.switch("main")
    assert merge_base(repository, "topic").sha == min(bases)


def test_a_detached_head_has_a_merge_base(tmp_path: Path) -> None:
    """No branch needs to be checked out."""
    repository = create(tmp_path / "repo")
    first = repository.git("rev-parse", "HEAD")
    repository.commit({"a": "1"}, day=1)
    repository.git("checkout", "--quiet", "--detach", first)
    assert merge_base(repository, "main").sha == first


def test_a_push_to_the_base_itself_is_compared_with_itself(tmp_path: Path) -> None:
    """A ref that HEAD is at is its own merge base."""
    repository = create(tmp_path / "repo")
    assert merge_base(repository, "main").sha == repository.git("rev-parse", "HEAD")


# --- shallow clones ---------------------------------------------------------------------------


@pytest.mark.parametrize("ref", ["main", "origin/main", "refs/remotes/origin/main"])
def test_a_shallow_merge_ref_gets_its_base_fetched(
    tmp_path: Path, pull_request: PullRequest, ref: str
) -> None:
    """The default checkout of a pull request has one commit and no branch; it is enough."""
    clone = check_out(pull_request.repository, tmp_path / "clone", "refs/pull/1/merge")
    before = (clone.git("status", "--porcelain"), clone.git("branch", "--list"))
    found = merge_base(clone, ref)
    assert found.sha == pull_request.base_tip
    assert found.how == "merge base of origin/main (fetched from origin) and HEAD"
    assert read_file_at(found, clone.path / BASELINE) == b"newer"
    assert (clone.git("status", "--porcelain"), clone.git("branch", "--list")) == before


def test_a_shallow_head_is_deepened_to_its_fork_point(
    tmp_path: Path, pull_request: PullRequest
) -> None:
    """HEAD's own history is fetched as well as the base's."""
    clone = check_out(pull_request.repository, tmp_path / "clone", "refs/pull/1/head")
    assert merge_base(clone).sha == pull_request.fork_point


@pytest.mark.parametrize(
    ("ahead", "behind", "steps"),
    [(30, 0, 1), (100, 0, 2), (0, 100, 2), (700, 620, 3)],
    ids=["50", "500 for the head", "500 for the base", "all"],
)
def test_a_shallow_clone_is_deepened_step_by_step(
    tmp_path: Path, ahead: int, behind: int, steps: int
) -> None:
    """No more is fetched than the next step, until the merge base is there."""
    far = PullRequest(tmp_path / "origin", ahead=ahead, behind=behind)
    clone = check_out(far.repository, tmp_path / "clone", "refs/pull/1/head")
    environ = fake_git(tmp_path / "bin", f'echo "$@" >>\'{tmp_path}/log\'; exec "$GIT" "$@"')
    assert find_merge_base(clone.path, "origin/main", environ=environ).sha == far.fork_point
    fetches = (tmp_path / "log").read_text().splitlines()
    expected = ("--depth=51", "--deepen=50", "--deepen=500", "--unshallow")[: steps + 1]
    assert [option for line in fetches for option in expected if option in line.split()] == list(
        expected
    )
    assert len(fetches) == len(expected)


def test_old_history_is_left_where_it_is(tmp_path: Path) -> None:
    """A large repository is not fetched as a whole for a small pull request."""
    origin = create(tmp_path / "origin")
    origin.grow("refs/heads/main", 900, "refs/heads/main")
    origin.git("reset", "--quiet", "--hard", "main")
    fork_point = origin.git("rev-parse", "main")
    origin.start("topic")
    origin.commit({"a": "1"}, day=1)
    origin.grow("refs/heads/main", 20, fork_point, day=2)
    clone = check_out(origin, tmp_path / "clone", "refs/heads/topic")
    assert merge_base(clone).sha == fork_point
    assert clone.is_shallow
    assert clone.count() < 200


def test_a_cut_history_does_not_hide_the_better_merge_base(tmp_path: Path) -> None:
    """A common ancestor that is in sight is not taken while a nearer one may be beyond the cut."""
    origin = create(tmp_path / "origin")
    old = origin.commit({"a": "1"}, day=1)
    better = origin.grow("refs/heads/main", 5, old, day=2)
    origin.git("reset", "--quiet", "--hard", "main")
    # topic has a long way to the better one, and by a side branch a short way to the old one
    origin.start("topic")
    origin.grow("refs/heads/topic", 20, better, day=3)
    origin.git("reset", "--quiet", "--hard", "topic")
    origin.start("side", old)
    origin.commit({"side": "1"}, day=4)
    origin.switch("topic")
    origin.merge("side", day=5)
    clone = check_out(origin, tmp_path / "clone", "refs/heads/topic", depth=4)
    clone.git(
        "fetch", "--quiet", "--depth=10", "origin", "+refs/heads/main:refs/remotes/origin/main"
    )
    in_sight = clone.git("merge-base", "HEAD", "origin/main")
    assert in_sight == old
    assert merge_base(clone).sha == better


def test_a_shallow_clone_keeps_the_history_that_it_had(tmp_path: Path) -> None:
    """Fetching a base that is in sight already cuts nothing off."""
    request = PullRequest(tmp_path / "origin", behind=120)
    clone = check_out(request.repository, tmp_path / "clone", "refs/pull/1/merge", depth=100)
    before = clone.count()
    assert merge_base(clone).sha == request.base_tip
    assert clone.count() >= before


def test_criss_cross_merges_in_a_shallow_clone_are_all_seen(tmp_path: Path) -> None:
    """The same merge base is taken as in a complete clone."""
    origin, _, on_main = criss_cross(tmp_path / "origin", (2, 5))
    clone = check_out(origin, tmp_path / "clone", "refs/heads/topic")
    found = merge_base(clone, "main")
    assert found.sha == on_main
    assert len(found.others) == 1


def test_a_base_given_by_its_id_is_fetched(tmp_path: Path, pull_request: PullRequest) -> None:
    """The event of a merge group names its base by the commit's id."""
    clone = check_out(pull_request.repository, tmp_path / "clone", "refs/pull/1/merge")
    assert merge_base(clone, pull_request.base_tip).sha == pull_request.base_tip


@pytest.mark.parametrize(
    ("ref", "hint"),
    [("mian", "did you mean main? If not: `git branch --all`"), ("nope", "`git branch --all`")],
)
def test_a_misspelt_branch_without_a_remote_is_said_to_be_none(
    tmp_path: Path, ref: str, hint: str
) -> None:
    """A complete repository is not to be cloned anew."""
    repository = create(tmp_path / "desk", {"README.md": "read"})
    with pytest.raises(HarnessError, match=f"has no branch, tag or commit {ref}") as caught:
        merge_base(repository, ref)
    assert caught.value.remedy.startswith(hint)
    assert "anew" not in caught.value.remedy


def test_a_shallow_clone_without_a_remote_says_what_to_set(
    tmp_path: Path, pull_request: PullRequest
) -> None:
    """No fetch is proposed: without a remote it could bring nothing."""
    clone = check_out(pull_request.repository, tmp_path / "clone", "refs/pull/1/head")
    clone.git("fetch", "--quiet", "--depth=1", "origin", "+refs/heads/main:refs/heads/base")
    clone.git("remote", "remove", "origin")
    for ref in ("main", "base"):
        with pytest.raises(HarnessError, match="no remote to fetch it from") as caught:
            merge_base(clone, ref)
        assert "`git branch --all`" in caught.value.remedy
        assert "fetch" not in caught.value.remedy


def test_a_remote_that_cannot_be_reached_is_reported_with_gits_reason(
    tmp_path: Path, pull_request: PullRequest
) -> None:
    """The error tells what git complained about, and how to do without a fetch."""
    clone = check_out(pull_request.repository, tmp_path / "clone", "refs/pull/1/head")
    clone.git("remote", "set-url", "origin", (tmp_path / "gone").as_uri())
    with pytest.raises(HarnessError, match="git fetch from origin failed") as caught:
        merge_base(clone)
    assert "does not appear to be a git repository" in caught.value.cause
    assert "`fetch-depth: 0`" in caught.value.remedy


def test_a_remote_that_is_cut_itself_is_reported(tmp_path: Path, pull_request: PullRequest) -> None:
    """A mirror that lacks the history cannot complete a clone."""
    mirror = check_out(pull_request.repository, tmp_path / "mirror", "refs/pull/1/head")
    mirror.git("fetch", "--quiet", "--depth=1", "origin", "+refs/heads/main:refs/heads/main")
    mirror.git("branch", "topic")
    clone = check_out(mirror, tmp_path / "clone", "refs/heads/topic")
    with pytest.raises(HarnessError) as caught:
        merge_base(clone)
    assert "`fetch-depth: 0`" in caught.value.remedy


def test_a_server_that_gives_out_no_ids_is_asked_for_everything(
    tmp_path: Path,
) -> None:
    """Where commits cannot be fetched by id, the whole history is."""
    pull_request = PullRequest(tmp_path / "origin")
    clone = check_out(pull_request.repository, tmp_path / "clone", "refs/heads/topic")
    clone.git("config", "protocol.version", "0")
    for name in ("head", "merge"):
        pull_request.repository.git("update-ref", "-d", f"refs/pull/1/{name}")
    pull_request.repository.start("later", "topic")
    pull_request.repository.commit({"later": "1"}, day=9)
    pull_request.repository.git("branch", "--force", "topic", "later")
    assert merge_base(clone).sha == pull_request.fork_point
    assert not clone.is_shallow


# --- repositories and refs that do not do -----------------------------------------------------


def test_a_folder_without_a_repository_is_reported(tmp_path: Path) -> None:
    """The error says where git history is to come from."""
    with pytest.raises(HarnessError, match="in no git repository") as caught:
        find_merge_base(tmp_path, "main", environ=ENVIRON)
    assert "actions/checkout" in caught.value.remedy
    commit = BaseCommit("0" * 40, "", "")
    with pytest.raises(HarnessError, match="no file of a git repository"):
        read_file_at(commit, tmp_path / "baseline.json")


def test_a_repository_without_a_commit_is_reported(tmp_path: Path) -> None:
    """An unborn HEAD has nothing to compare."""
    (tmp_path / "repo").mkdir()
    repository = Repository(tmp_path / "repo")
    repository.git("init", "--quiet")
    with pytest.raises(HarnessError, match="no commit checked out"):
        merge_base(repository)
    with pytest.raises(HarnessError, match="no commit checked out"):
        changes(repository)


def test_unrelated_histories_are_reported(tmp_path: Path) -> None:
    """Two branches without a common commit cannot be compared."""
    repository = create(tmp_path / "repo")
    repository.git("checkout", "--quiet", "--orphan", "other")
    repository.commit({"a": "1"}, day=1)
    with pytest.raises(HarnessError, match="main and HEAD have no commit in common") as caught:
        merge_base(repository, "main")
    assert caught.value.remedy


def test_unrelated_histories_in_a_shallow_clone_are_reported(tmp_path: Path) -> None:
    """The history is completed before it is said that there is nothing in common."""
    origin = create(tmp_path / "origin")
    origin.commit({"a": "1"}, day=1)
    origin.git("checkout", "--quiet", "--orphan", "other")
    origin.commit({"a": "2"}, day=1)
    origin.commit({"a": "3"}, day=2)
    clone = check_out(origin, tmp_path / "clone", "refs/heads/other")
    with pytest.raises(HarnessError, match="no commit in common"):
        merge_base(clone)


HOSTILE = (
    "",
    "-h",
    "--upload-pack=touch x",
    "main\0",
    "main\nother",
    "ma\x1bin",
    "x" * 1001,
    "\ud800",
)
PATTERNS = (
    "a:b",
    "*",
    "a..b",
    "main main",
    "main;touch x",
    "$(touch x)",
    "^main",
    "+refs/*",
    "@{u}",
)


@pytest.mark.parametrize("ref", HOSTILE, ids=ascii)
def test_a_ref_that_is_none_is_refused_before_git_sees_it(
    pull_request: PullRequest, ref: str
) -> None:
    """A branch name from a payload is never taken for an option."""
    for use in (find_merge_base, resolve_commit):
        with pytest.raises(UsageError, match="the git ref") as caught:
            use(pull_request.repository.path, ref, environ={"PATH": "nowhere"})
        assert caught.value.cause.isprintable()


def test_a_ref_that_git_could_read_as_more_is_not_fetched(
    tmp_path: Path, pull_request: PullRequest
) -> None:
    """Nothing but one branch or tag is ever asked of the remote, and no shell is involved."""
    clone = check_out(pull_request.repository, tmp_path / "clone", "refs/pull/1/head")
    environ = fake_git(tmp_path / "bin", f"touch '{tmp_path}/fetched'")
    before = clone.git("for-each-ref")
    for ref in PATTERNS:
        with pytest.raises(UsageError, match="names no commit"):
            find_merge_base(clone.path, ref, environ=environ)
    assert not (tmp_path / "fetched").exists()
    assert clone.git("for-each-ref") == before
    assert clone.git("status", "--porcelain") == ""


def test_a_name_in_other_bytes_than_utf8_is_a_name(tmp_path: Path) -> None:
    """A branch may be called by any bytes."""
    repository = create(tmp_path / "repo")
    name = os.fsdecode(b"caf\xe9")
    repository.git("branch", name)
    assert merge_base(repository, name).sha == repository.git("rev-parse", "HEAD")


# --- a commit that the user names -------------------------------------------------------------


def test_a_commit_is_found_by_branch_tag_and_id(tmp_path: Path) -> None:
    """An annotated tag stands for its commit, and a part of an id for the whole."""
    repository = create(tmp_path / "repo")
    first = repository.git("rev-parse", "HEAD")
    repository.git("tag", "--annotate", "--message", "one", "v1")
    repository.commit({"a": "1"}, day=1)
    for ref in ("v1", first, first[:10], "main~1", "HEAD^"):
        found = resolve_commit(repository.path, ref, environ=ENVIRON)
        assert (found.sha, found.date) == (first, "2023-11-14T23:13:20+01:00")
        assert found.how == f"commit that {ref} names"


def test_a_commit_that_a_shallow_clone_lacks_is_fetched(
    tmp_path: Path, pull_request: PullRequest
) -> None:
    """By branch, by tag, by full ref and by its id."""
    origin = pull_request.repository
    head, tip, fork_point = pull_request.head, pull_request.base_tip, pull_request.fork_point
    attempts = (
        {"v1": fork_point, "main": tip, "refs/pull/1/head": head},
        {"refs/tags/v1": fork_point, "refs/heads/main": tip},
        {fork_point: fork_point},
    )
    for number, wanted in enumerate(attempts):
        clone = check_out(origin, tmp_path / str(number), "refs/pull/1/merge")
        for ref, sha in wanted.items():
            found = resolve_commit(clone.path, ref, environ=ENVIRON)
            assert found.sha == sha
            assert found.how.endswith("(fetched from origin) names")
            assert read_file_at(found, clone.path / BASELINE) is not None


def test_the_only_remote_is_asked_whatever_it_is_called(
    tmp_path: Path, pull_request: PullRequest
) -> None:
    """Without an origin, one remote is used; of several, the one that the ref begins with."""
    clone = check_out(pull_request.repository, tmp_path / "clone", "refs/pull/1/merge")
    clone.git("remote", "rename", "origin", "upstream")
    found = resolve_commit(clone.path, "main", environ=ENVIRON)
    assert found.how == "commit that upstream/main (fetched from upstream) names"
    clone.git("remote", "add", "fork", (tmp_path / "gone").as_uri())
    assert merge_base(clone, "upstream/topic").sha == pull_request.head
    with pytest.raises(HarnessError, match="no remote to fetch it from") as caught:
        resolve_commit(clone.path, "v9", environ=ENVIRON)
    assert "with its remote (fork/..., upstream/...)" in caught.value.remedy


@pytest.mark.parametrize("ref", ["no-such-branch", "0" * 39 + "1"])
def test_a_commit_that_nobody_knows_is_the_users_mistake(
    tmp_path: Path, pull_request: PullRequest, ref: str
) -> None:
    """A typing error in --baseline-ref is told as such."""
    clone = check_out(pull_request.repository, tmp_path / "clone", "refs/pull/1/merge")
    with pytest.raises(UsageError, match=f"{ref} names no commit of this clone"):
        resolve_commit(clone.path, ref, environ=ENVIRON)


@pytest.mark.parametrize(
    ("ref", "meant"),
    [("topik", "topic"), ("origin/mian", "origin/main"), ("0", ""), ("v11", "v1")],
)
def test_a_misspelt_ref_gets_the_nearest_name(
    tmp_path: Path, pull_request: PullRequest, ref: str, meant: str
) -> None:
    """A branch, a remote's branch or a tag of the clone, also where no remote can be asked."""
    clone = check_out(pull_request.repository, tmp_path / "clone", "refs/heads/main", depth=None)
    clone.git("branch", "topic")
    clone.git("tag", "v1", "--force")
    for path in ("", (tmp_path / "gone").as_uri()):
        if path:
            clone.git("remote", "set-url", "origin", path)
        with pytest.raises((UsageError, HarnessError)) as caught:
            merge_base(clone, ref)
        hint, _, rest = caught.value.remedy.rpartition("? If not: ")
        assert hint == (f"did you mean {meant}" if meant else "")
        assert rest


def test_what_is_no_commit_is_the_users_mistake(tmp_path: Path, pull_request: PullRequest) -> None:
    """The id of a file names no commit."""
    blob = pull_request.repository.git("rev-parse", f"main:{BASELINE}")
    clone = check_out(pull_request.repository, tmp_path / "clone", "refs/pull/1/merge")
    with pytest.raises(UsageError, match="no commit"):
        resolve_commit(clone.path, blob, environ=ENVIRON)


# --- files as they were -----------------------------------------------------------------------


def commit_of(repository: Repository, revision: str = "HEAD") -> BaseCommit:
    return resolve_commit(repository.path, revision, environ=ENVIRON)


def test_an_edited_baseline_is_read_as_it_was_and_told_to_be_edited(tmp_path: Path) -> None:
    """The pull request may change the baseline, and that is seen."""
    repository = create(tmp_path / "repo", {BASELINE: "old", "same.json": "same"})
    base = commit_of(repository)
    repository.commit({BASELINE: "new"}, day=1)
    assert read_file_at(base, repository.path / BASELINE) == b"old"
    assert is_edited_since(base, repository.path / BASELINE)
    assert not is_edited_since(base, repository.path / "same.json")


def test_a_baseline_that_was_not_there_is_none(tmp_path: Path) -> None:
    """No baseline at the base is an answer, and a file that came since was edited."""
    repository = create(tmp_path / "repo", {"a": "1", "folder": "a file at the base"})
    base = commit_of(repository)
    repository.write({"folder": None, BASELINE: "new"})
    repository.write({"folder/b.json": "1"})
    for name in (BASELINE, "folder/b.json"):
        assert read_file_at(base, repository.path / name) is None
        assert is_edited_since(base, repository.path / name)
    assert read_file_at(base, repository.path / "never.json") is None
    assert not is_edited_since(base, repository.path / "never.json")
    assert not is_edited_since(base, repository.path / "a" / "below a file")


def test_a_deleted_file_is_still_read(tmp_path: Path) -> None:
    """Also where its folders are gone, or another thing has taken its place."""
    repository = create(tmp_path / "repo", {"a/b/c.json": "old", "d.json": "old"})
    base = commit_of(repository)
    repository.write({"a/b/c.json": None, "d.json": None, "d.json/e": "1"})
    assert not (repository.path / "a").exists()
    for name in ("a/b/c.json", "d.json"):
        assert read_file_at(base, repository.path / name) == b"old"
        assert is_edited_since(base, repository.path / name)


def test_any_name_of_a_file_is_taken_literally(tmp_path: Path) -> None:
    """Spaces, letters of any language, and signs that git could read as a pattern."""
    names = (
        "my evals/the base line.json",
        "größe/基线.json",
        "quote'\"\t\n.json",
        ":(top)x.json",
        "*.json",
        "-f.json",
        os.fsdecode(b"caf\xe9/base.json"),
    )
    repository = create(tmp_path / "a repo", {name: name[-6:] for name in names})
    base = commit_of(repository)
    repository.commit(dict.fromkeys(names, "new"), day=1)
    for name in names:
        assert read_file_at(base, repository.path / name) == name[-6:].encode()
        assert is_edited_since(base, repository.path / name)
    assert changes(repository, base.sha) == tuple(sorted(names))


def test_bytes_come_as_they_were(tmp_path: Path) -> None:
    """No encoding, line ending or attribute is applied."""
    data = bytes(range(256)) + b"\r\n\r\n\n"
    repository = create(tmp_path / "repo", {".gitattributes": "*.json -text\n"})
    (repository.path / "a.json").write_bytes(data)
    repository.commit(day=1)
    base = commit_of(repository)
    assert read_file_at(base, repository.path / "a.json") == data
    assert not is_edited_since(base, repository.path / "a.json")


def test_a_path_may_be_relative_and_the_current_folder_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The repository is the one that the file lies in, not the one around the current folder."""
    repository = create(tmp_path / "repo", {"evals/deep/a.json": "old", "b.json": "top"})
    base = find_merge_base(repository.path / "evals" / "deep", "main", environ=ENVIRON)
    repository.commit({"evals/deep/a.json": "new"}, day=1)
    monkeypatch.chdir(repository.path / "evals")
    assert read_file_at(base, Path("deep/a.json")) == b"old"
    assert read_file_at(base, Path("../b.json")) == b"top"
    assert read_file_at(base, Path("gone/../deep/a.json")) == b"old"
    monkeypatch.chdir(tmp_path)
    assert read_file_at(base, Path("repo/evals/deep/a.json")) == b"old"
    (tmp_path / "link").symlink_to(repository.path / "evals")
    assert read_file_at(base, tmp_path / "link" / "deep" / "a.json") == b"old"
    below = Repository(repository.path / "evals")
    assert changes(below, base.sha) == ("evals/deep/a.json",)


def test_a_link_at_the_commit_is_not_followed(tmp_path: Path) -> None:
    """Neither one in place of the file nor one on the way to it."""
    repository = create(tmp_path / "repo", {"real/a.json": "1"})
    (repository.path / "linked").symlink_to("real")
    (repository.path / "b.json").symlink_to("real/a.json")
    repository.commit(day=1)
    base = commit_of(repository)
    repository.write({"linked": None})
    for name in ("b.json", "linked/a.json"):
        with pytest.raises(DocumentError, match="was a symbolic link, which is not followed"):
            read_file_at(base, repository.path / name)
    with pytest.raises(DocumentError):
        is_edited_since(base, repository.path / "b.json")


def test_a_file_that_became_a_link_or_a_pipe_was_edited(tmp_path: Path) -> None:
    """What a pull request put in its place is neither followed nor waited for."""
    repository = create(tmp_path / "repo", {"a.json": "1", "b.json": "1", "c.json": "1"})
    base = commit_of(repository)
    repository.write({"a.json": None, "b.json": None})
    (repository.path / "a.json").symlink_to("c.json")
    os.mkfifo(repository.path / "b.json")
    assert read_file_at(base, repository.path / "a.json") == b"1"
    assert is_edited_since(base, repository.path / "a.json")
    assert is_edited_since(base, repository.path / "b.json")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    """A folder at the commit is named as such; the top of the repository is in none."""
    repository = create(tmp_path / "repo", {"a/b.json": "1"})
    base = commit_of(repository)
    with pytest.raises(DocumentError, match="it was a folder"):
        read_file_at(base, repository.path / "a")
    for top in (repository.path, repository.path / "a" / ".."):
        with pytest.raises(HarnessError, match="no file of a git repository"):
            read_file_at(base, top)


def test_a_file_in_a_submodule_is_refused(tmp_path: Path) -> None:
    """It has a history of its own, checked out or not."""
    inner = create(tmp_path / "inner", {"a.json": "1"})
    outer = create(tmp_path / "outer", {"b.json": "1"})
    outer.git("submodule", "--quiet", "add", inner.path.as_uri(), "sub")
    outer.commit(day=1)
    base = commit_of(outer)
    for _ in range(2):
        with pytest.raises(DocumentError, match="sub was a submodule, which has its own history"):
            read_file_at(base, outer.path / "sub" / "a.json")
        outer.git("submodule", "--quiet", "deinit", "--force", "sub")


def test_a_submodule_is_listed_where_another_commit_is_checked_out(tmp_path: Path) -> None:
    """What changed inside is behind one path."""
    inner = create(tmp_path / "inner", {"a.json": "1"})
    outer = create(tmp_path / "outer", {"b.json": "1"})
    outer.git("submodule", "--quiet", "add", inner.path.as_uri(), "sub")
    outer.commit(day=1)
    assert changes(outer) == ()
    Repository(outer.path / "sub").commit({"a.json": "2"}, day=2)
    assert changes(outer) == ("sub",)


def test_a_file_of_another_repository_is_refused(tmp_path: Path) -> None:
    """A commit is looked for in the repository that the file lies in."""
    base = commit_of(create(tmp_path / "one", {"a.json": "1"}))
    other = create(tmp_path / "other", {"a.json": "2"})
    with pytest.raises(HarnessError, match="does not have commit"):
        read_file_at(base, other.path / "a.json")


def test_a_path_that_cannot_be_is_refused(tmp_path: Path) -> None:
    """A NUL character, a name that no file system takes, or links that lead in a circle."""
    repository = create(tmp_path / "repo")
    base = commit_of(repository)
    with pytest.raises(UsageError, match="NUL"):
        read_file_at(base, repository.path / "a\0b")
    (repository.path / "loop").symlink_to("loop")
    with pytest.raises(HarnessError):
        read_file_at(base, repository.path / "loop" / "a.json")
    with pytest.raises(HarnessError, match="could not be read"):
        is_edited_since(base, repository.path / ("x" * 300))


# --- what a pull request changed --------------------------------------------------------------


def test_every_kind_of_change_is_listed_once(tmp_path: Path) -> None:
    """As it is here: committed, staged, unstaged, untracked or deleted, but not ignored."""
    names = ("committed", "staged", "unstaged", "deleted", "removed", "old name", "undone", "same")
    repository = create(tmp_path / "repo", {**dict.fromkeys(names, "1"), ".gitignore": "*.log\n"})
    repository.start("topic")
    repository.commit({"committed": "2", "added/a.md": "1"}, day=1)
    repository.git("mv", "old name", "new name")
    repository.git("rm", "--quiet", "removed")
    repository.write({"staged": "2"})
    repository.git("add", "staged")
    repository.write({"undone": "2"})
    repository.git("add", "undone")
    repository.write({"undone": "1", "unstaged": "2", "deleted": None, "same": "1"})
    repository.write({"untracked/cases/ü.json": "1", "ignored.log": "1"})
    os.utime(repository.path / "same", (1, 1))
    assert changes(repository) == (
        "added/a.md",
        "committed",
        "deleted",
        "new name",
        "old name",
        "removed",
        "staged",
        "unstaged",
        "untracked/cases/ü.json",
    )


def test_a_renamed_case_file_is_listed_by_both_names(
    tmp_path: Path, pull_request: PullRequest
) -> None:
    """Whether renames are followed by the repository's configuration or not."""
    clone = check_out(pull_request.repository, tmp_path / "clone", "refs/heads/topic", depth=None)
    clone.git("config", "diff.renames", "copies")
    clone.git("config", "diff.relative", "true")
    clone.git("mv", "README.md", "LIESMICH.md")
    clone.commit(day=5)
    assert changes(clone) == ("LIESMICH.md", "README.md", BASELINE, "topic.md")


def test_what_the_base_got_later_is_no_change(tmp_path: Path, pull_request: PullRequest) -> None:
    """In the shallow checkout of a head, as in a complete one."""
    for number, depth in enumerate((1, None)):
        clone = check_out(
            pull_request.repository, tmp_path / str(number), "refs/pull/1/head", depth=depth
        )
        assert changes(clone) == (BASELINE, "topic.md")
        assert clone.git("status", "--porcelain") == ""


# --- fetching ---------------------------------------------------------------------------------


@contextmanager
def refusing_server() -> Iterator[tuple[int, list[str]]]:
    """An HTTP server that refuses everybody, and notes each request's Authorization header."""
    seen: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.headers.get("Authorization", ""))
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="test"')
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server.server_address[1], seen
        server.shutdown()
        thread.join()


def test_the_credentials_of_the_checkout_are_used_and_never_shown(
    tmp_path: Path, pull_request: PullRequest
) -> None:
    """An included file, the environment and the address may hold them; nobody is asked."""
    clone = check_out(pull_request.repository, tmp_path / "clone", "refs/pull/1/head")
    credentials = tmp_path / "credentials.config"
    credentials.write_text('[http]\n\textraheader = "Authorization: basic from-a-file"\n')
    with refusing_server() as (port, seen):
        url = f"http://somebody:hush-hush@127.0.0.1:{port}/repo.git?private_token=hush-hush"
        clone.git("remote", "set-url", "origin", url)
        clone.git("config", "include.path", str(credentials))
        with pytest.raises(HarnessError, match="git fetch from origin failed") as caught:
            merge_base(clone)
        clone.git("config", "--unset", "include.path")
        by_environment = {
            **ENVIRON,
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "http.extraheader",
            "GIT_CONFIG_VALUE_0": "Authorization: basic from-the-environment",
        }
        with pytest.raises(HarnessError):
            find_merge_base(clone.path, "origin/main", environ=by_environment)
    assert {"basic from-a-file", "basic from-the-environment"} <= set(seen)
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("at 'https://me:pass@host/a.git/'", "at 'https://[redacted]@host/a.git/'"),
        ("https://only-a-token@host/a", "https://[redacted]@host/a"),
        ("https://me:p@ss/w@host/a", "https://[redacted]@host/a"),
        ("https://host/a?private_token=abc&x=1 b", "https://host/a?[redacted] b"),
        ("https://host/t/ghs_16C7e42F292c/a", "https://host/t/[redacted]/a"),
        ("https://host/t/my-own-secret/a", "https://host/t/[redacted]/a"),
        ("git@host: Permission denied", "git@host: Permission denied"),
    ],
)
def test_an_address_is_shown_without_what_opens_it(text: str, shown: str) -> None:
    """User, password, query and token are taken out; host and path help to find the fault."""
    assert redact_addresses(text, {"DEPLOY_TOKEN": "my-own-secret"}) == shown


def fake_git(folder: Path, script: str) -> dict[str, str]:
    """An environment whose git is a shell script; `"$GIT"` in it is the real one."""
    folder.mkdir()
    real = next(
        path
        for entry in os.environ["PATH"].split(os.pathsep)
        if os.access(path := Path(entry) / "git", os.X_OK)
    )
    (folder / "git").write_text(f"#!/bin/sh\nGIT='{real}'\n{script}\n")
    (folder / "git").chmod(0o755)
    return {**ENVIRON, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


def test_a_fetch_that_does_not_end_is_given_up_with_all_its_processes(tmp_path: Path) -> None:
    """A server that does not answer cannot stop a job for ever."""
    environ = fake_git(tmp_path / "bin", f"sleep 60 & echo $! >'{tmp_path}/pid'\nwait")
    with pytest.raises(HarnessError, match=r"did not end within 0\.5 s"):
        fetch(tmp_path, "origin", ("main",), environ=environ, timeout_seconds=0.5)
    child = int((tmp_path / "pid").read_text())
    for _ in range(100):
        state = Path(f"/proc/{child}/stat")
        if not state.exists() or ") Z " in state.read_text():
            return
        time.sleep(0.02)
    pytest.fail("the process that git had started is still there")


def test_a_fetch_asks_nobody_and_is_about_its_own_repository(tmp_path: Path) -> None:
    """No prompt, no variable of a hook around it; the caller's proxy and configuration stay."""
    environ = fake_git(tmp_path / "bin", f"env >'{tmp_path}/env'; cat >'{tmp_path}/in'; exit 3")
    callers = {"GIT_DIR": "/a/b", "GIT_TRACE": "1", "https_proxy": "p", "GIT_CONFIG_COUNT": "0"}
    with pytest.raises(HarnessError, match="it gave no reason"):
        fetch(tmp_path, "origin", ("main",), environ={**environ, **callers})
    seen = (tmp_path / "env").read_text().splitlines()
    assert {"GIT_TERMINAL_PROMPT=0", "https_proxy=p", "GIT_CONFIG_COUNT=0"} <= set(seen)
    assert not any(line.startswith(("GIT_DIR=", "GIT_TRACE=")) for line in seen)
    assert (tmp_path / "in").read_text() == ""


def test_a_fetch_without_git_is_reported(tmp_path: Path) -> None:
    """The environment that was handed in decides which git runs."""
    with pytest.raises(HarnessError, match="git was not found"):
        fetch(tmp_path, "origin", ("main",), environ={"PATH": str(tmp_path)})


def test_a_fetch_runs_no_hook(tmp_path: Path, pull_request: PullRequest) -> None:
    """What lies in the repository's hooks folder stays there."""
    clone = check_out(pull_request.repository, tmp_path / "clone", "refs/pull/1/head")
    hook = clone.path / ".git" / "hooks" / "reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch '{tmp_path}/ran'\n")
    hook.chmod(0o755)
    assert merge_base(clone).sha == pull_request.fork_point
    assert not (tmp_path / "ran").exists()


def test_a_partial_clone_gets_the_file_that_it_lacks(
    tmp_path: Path, pull_request: PullRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`filter: blob:none` has the history without old contents; the baseline's is fetched."""
    uri = pull_request.repository.path.as_uri()
    Repository(tmp_path).git("clone", "--quiet", "--filter=blob:none", "-b", "topic", uri, "clone")
    clone = Repository(tmp_path / "clone")
    # git from 2.45 on fetches nothing by itself under GIT_NO_LAZY_FETCH, as no older one does here
    newer = '[ -z "$GIT_NO_LAZY_FETCH" ] || export GIT_ALLOW_PROTOCOL=none\nexec "$GIT" "$@"'
    environ = fake_git(tmp_path / "bin", newer)
    monkeypatch.setenv("PATH", environ["PATH"])
    found = merge_base(clone)
    clone.git("remote", "rename", "origin", "a")
    clone.git("remote", "add", "b", uri)
    with pytest.raises(HarnessError) as caught:
        read_file_at(found, clone.path / BASELINE)
    assert "`filter`" in caught.value.remedy
    clone.git("remote", "remove", "b")
    assert is_edited_since(found, clone.path / BASELINE, environ=environ)
    assert read_file_at(found, clone.path / BASELINE) == b"old"
