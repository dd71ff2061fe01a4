"""A step before the gate cannot choose the commit, or the baseline, that a change is held to."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.action_stages import Job
from tests.support.pull_request import CASES, FILES, STEAL, PullRequest
from tests.support.repositories import check_out


@dataclass
class Announced(PullRequest):
    """A pull request whose event names its commits, in a run that names the merge commit."""

    sha: str = ""

    def propose(self, *changes: dict[str, str | None]) -> None:  # type: ignore[override]
        """Propose, and announce."""
        super().propose(*changes)
        git = self.origin.git
        self.announce(git("rev-parse", "merge"), git("rev-parse", "change"))

    def announce(self, sha: str, head: str) -> None:
        """What the runner and the event say from now on."""
        self.sha = sha
        base = self.origin.git("rev-parse", "main")
        self.event = {"pull_request": {"head": {"sha": head}, "base": {"sha": base}}}

    def job(self, name: str, *, attempt: int = 1) -> Job:
        """A job that knows its commit."""
        job = super().job(name, attempt=attempt)
        return dataclasses.replace(job, variables={**job.variables, "GITHUB_SHA": self.sha})


@pytest.fixture
def change(tmp_path: Path) -> Announced:
    """A pull request that proposes nothing yet."""
    return Announced(tmp_path)


def lowered() -> dict[str, str | None]:
    """The baseline with one expectation less."""
    entries = json.loads(FILES["provider-baseline.json"] or "")
    entries["deploy"]["claude"]["expected_status"] = "fail"
    return {"provider-baseline.json": json.dumps(entries)}


def test_g4_an_honest_checkout_is_compared_with_the_base(change: Announced) -> None:
    """The first parent of GitHub's merge commit is the base branch at that time."""
    change.propose({"README.md": "x"})
    found = change.check()
    assert found.conclusion == "success"
    assert found.delta["baseline"]["commit"] == change.origin.git("rev-parse", "main")


def test_g4_the_head_of_the_pull_request_is_compared_with_its_fork_point(
    change: Announced,
) -> None:
    """A workflow may check the head out, with all history or a part of it."""
    change.propose({**STEAL, **lowered()})
    fork_point = change.origin.git("rev-parse", "main")
    change.origin.commit({"later.txt": "x"}, day=40)
    change.announce(change.sha, change.origin.git("rev-parse", "change"))
    for depth in (None, 1):
        folder = change.folder / f"head-{depth}"
        change.checkout = check_out(change.origin, folder / "c", "refs/heads/change", depth=depth)
        change.folder = folder
        found = change.check()
        assert found.is_red
        assert found.delta["baseline"]["commit"] == fork_point


@pytest.mark.parametrize("ref", ["refs/remotes/origin/main", "refs/heads/origin/main"])
def test_g4_a_branch_that_a_step_moved_does_not_count(change: Announced, ref: str) -> None:
    """It now stands at the change itself, where the baseline is lowered."""
    change.propose({**STEAL, **lowered()})
    change.checkout.git("update-ref", ref, "HEAD")
    found = change.check()
    assert found.is_red
    assert found.row("deploy")["kind"] == "REGRESSION"


def test_g4_a_branch_that_is_called_like_the_base_commit_does_not_count(
    change: Announced,
) -> None:
    """An id means the commit itself."""
    change.propose({**STEAL, **lowered()})
    base = change.origin.git("rev-parse", "main")
    for ref in (f"refs/remotes/origin/{base}", f"refs/heads/{base}", f"refs/tags/{base}"):
        change.checkout.git("update-ref", ref, "HEAD")
    found = change.check()
    assert found.is_red
    assert found.row("deploy")["kind"] == "REGRESSION"


def test_g4_another_remote_has_no_other_base_commit(change: Announced) -> None:
    """Its address was rewritten to a repository whose branch main holds the lowered baseline."""
    change.propose({**STEAL, **lowered()})
    evil = change.folder / "evil"
    change.origin.git("clone", "--quiet", "--bare", str(change.origin.path), str(evil))
    change.checkout.git("push", "--quiet", "--force", str(evil), "HEAD:refs/heads/main")
    change.checkout.git("config", f"url.{evil.as_uri()}.insteadOf", change.origin.path.as_uri())
    found = change.check()
    assert found.is_red
    assert found.row("deploy")["kind"] == "REGRESSION"


@pytest.mark.parametrize("how", ["replace", "grafts"])
def test_g4_a_forged_parent_does_not_count(change: Announced, how: str) -> None:
    """Replacements and grafts are no part of what was committed."""
    change.propose({**STEAL, **lowered()})
    head = change.head
    git = change.checkout.git
    git("config", "user.name", "x")
    git("config", "user.email", "x@example.org")
    orphan = git("commit-tree", "HEAD^{tree}", "-m", "x")
    if how == "replace":
        forged = git("commit-tree", "HEAD^{tree}", "-p", orphan, "-p", orphan, "-m", "x")
        git("replace", "--force", head, forged)
    else:
        (change.checkout.path / ".git/info").mkdir(exist_ok=True)
        (change.checkout.path / ".git/info/grafts").write_text(f"{head} {orphan}\n", "utf-8")
    found = change.check()
    assert found.is_red
    assert found.row("deploy")["kind"] == "REGRESSION"


@pytest.mark.parametrize("edit", [{"x.txt": "x"}, {}])
def test_g4_a_commit_that_a_step_made_is_an_error(
    change: Announced, edit: dict[str, str | None]
) -> None:
    """The gate judges what the event is about."""
    change.propose(STEAL)
    change.checkout.commit(edit, day=50)
    found = change.check()
    assert found.is_red
    assert found.conclusion == "error"
    assert "neither the head of the pull request" in found.outputs["log"]


NAMED: dict[str, str | None] = {
    **{name: text for name, text in FILES.items() if name.startswith(".claude")},
    "cases.json": FILES["cases.json"],
    "evals/expected.json": FILES["provider-baseline.json"],
}


@pytest.mark.parametrize("stays", [True, False])
@pytest.mark.parametrize(
    "place", ["evals/other.json", "provider-baseline.json", "other/provider-baseline.json"]
)
def test_g4_a_baseline_of_another_name_is_found_by_what_it_says(
    tmp_path: Path, place: str, *, stays: bool
) -> None:
    """Only the workflow of the change names the new place."""
    change = Announced(tmp_path, NAMED)
    old = {} if stays else {"evals/expected.json": None}
    change.propose({**STEAL, **old, place: lowered()["provider-baseline.json"]})
    change.measure()
    found = change.judge(baseline=place)
    assert found.is_red
    assert found.row("deploy")["kind"] == "REGRESSION"
    assert "evals/expected.json" in found.text("comment.md")
    assert place in found.text("comment.md")


def test_g4_cases_and_baseline_that_move_together_are_named(tmp_path: Path) -> None:
    """Both places stand in the report, and the old ones decide."""
    change = Announced(tmp_path)
    weaker = json.dumps([{**CASES[0], "expected_skill": ""}, CASES[1]])
    change.propose(
        {
            **STEAL,
            "cases.json": None,
            "provider-baseline.json": None,
            "evals/cases.json": weaker,
            "evals/provider-baseline.json": FILES["provider-baseline.json"],
        }
    )
    change.measure(cases="evals/cases.json")
    found = change.judge(cases="evals/cases.json")
    assert found.is_red
    assert found.row("deploy")["kind"] == "CASE EDITED"
    comment = found.text("comment.md")
    assert "before in `cases.json`" in comment
    assert "before in `provider-baseline.json`" in comment


def test_g4_a_baseline_that_was_a_link_is_red_with_its_path(tmp_path: Path) -> None:
    """It is not followed, so nothing decides."""
    change = Announced(tmp_path, {**FILES, "b.json": "{}"})
    place = change.origin.path / "provider-baseline.json"
    place.unlink()
    place.symlink_to("b.json")
    change.origin.commit(day=0)
    place.unlink()
    change.propose(lowered())
    found = change.check()
    assert found.is_red
    assert "symbolic link" in found.outputs["log"]
    assert "provider-baseline.json" in found.outputs["log"]


def test_g4_a_first_baseline_beside_samples_of_others_is_new(tmp_path: Path) -> None:
    """A repository may hold baselines of other corpora."""
    samples = {
        f"samples/{name}/provider-baseline.json": json.dumps(
            {f"{name}-case": {"claude": {"expected_status": "fail"}}}
        )
        for name in ("a", "b")
    }
    base = {name: text for name, text in FILES.items() if name != "provider-baseline.json"}
    change = Announced(tmp_path, {**base, **samples})
    change.propose({"provider-baseline.json": FILES["provider-baseline.json"]})
    found = change.check()
    assert found.conclusion == "success"
    assert {row["kind"] for row in found.delta["rows"]} == {"NEW"}


@pytest.mark.parametrize("ref", ["HEAD", "origin/change"])
def test_g4_another_deciding_commit_hides_no_edit(change: Announced, ref: str) -> None:
    """Its workflow has its own baseline decide; what it edits is named all the same."""
    change.propose({**STEAL, **lowered(), ".github/workflows/gate.yml": f"baseline-ref: {ref}"})
    change.measure()
    comment = change.judge(baseline_ref=ref).text("comment.md")
    for text in ("workflow **added**", "expected_status: pass → fail", "skill `writing-notes`"):
        assert text in comment
