"""Commands in comments, by this repository's workflows: what starts, and what it comes to."""

from __future__ import annotations

import re

import pytest

from tests.e2e.demo import CODEX, GATE, GREEN, PLAN, RED, Demo

pytestmark = pytest.mark.slow

ANSWER = {"answer": "success"}
PUSHED, LATE = "2026-11-29T11:00:00Z", "2026-11-29T12:00:05Z"


def propose(demo: Demo, *, fork: bool = False, pushed: str = PUSHED) -> None:
    """A pull request, a writer and a reader; GitHub knows when the head was pushed."""
    demo.change({"skill.md": "worse"})
    demo.open_pull(fork=fork)
    hub = demo.github.repository
    hub.permissions = {"writer": "write", "reader": "read", "author": "read"}
    hub.activities["refs/heads/change"] = [
        {"after": demo.head, "ref": "refs/heads/change", "timestamp": pushed,
         "activity_type": "push"}
    ]  # fmt: skip
    owner = "stranger/demo" if fork else "octo/demo"
    hub.add_run(1, demo.head, head_repository={"full_name": owner})


def replies(demo: Demo) -> list[str]:
    """What the bot answered, without the first line, which GitHub does not show."""
    bodies = demo.github.repository.bodies(7)
    return [body.partition("\n")[2] for body in bodies if " reply=" in body]


def the_report(demo: Demo) -> str:
    """The only comment that is no reply."""
    (body,) = (one for one in demo.github.repository.bodies(7) if " reply=" not in one)
    return body


def test_rerun_of_a_red_pair_turns_the_comment_green_with_both_runs(small: Demo) -> None:
    """A command starts one run, however often it is delivered; it is judged as the request is."""
    propose(small)
    small.variables["ROUTING_REPLAY"] = RED
    red = small.pull_request()
    assert red.jobs[GATE] == "failure", red.log[-3000:]
    assert "conclusion=failure" in the_report(small)
    for _ in range(2):
        done = small.comment_on("Once more, please.\n\n/routing rerun failed")
        assert (done.code, dict(done.jobs)) == (0, ANSWER), done.log[-3000:]
    (sent,) = small.github.repository.dispatched
    assert sent["ref"] == "main"
    assert sent["inputs"] == {
        "command": "500/3", "pull_request": "7", "head_sha": small.head, "earlier_run": "1",
        "pairs": "codex:author-first-case",
    }  # fmt: skip
    (reply,) = replies(small)
    assert "measures 1 pair again" in reply
    small.variables["ROUTING_REPLAY"] = GREEN
    green = small.dispatch(sent["inputs"])
    assert dict(green.jobs) == {**PLAN, CODEX: "success", GATE: "success"}, green.log[-5000:]
    delta = small.delta(run_id="9001")
    assert (delta["pull_request"], delta["commit"]) == (7, small.head)
    found = {row["case_id"]: (row["got"], row["red_in_runs"]) for row in delta["rows"]}
    assert found == {"author-first-case": ("pass", ["1"]), "negative-shell-script": ("pass", [])}
    assert {one["run"] for one in delta["results"]} == {"1", "9001"}
    assert delta["baseline"]["commit"] == small.origin.git("merge-base", "main", small.head)
    body = the_report(small)
    assert "conclusion=success" in body
    assert re.search(r"red before.* in run 1\b", body), body
    assert small.checks[-1] == (small.head, "routing gate", "success")
    small.github.repository.runs[9001] |= {"status": "completed", "conclusion": "success"}
    for _ in range(2):
        done = small.end_run(9001)
        assert (done.code, dict(done.jobs)) == (0, ANSWER), done.log[-3000:]
    (reply,) = replies(small)
    assert "measures 1 pair again" in reply
    assert "ended: **success**" in reply
    assert "says **success**" in reply
    assert [sign for _, sign in small.github.repository.reactions][-1] == "rocket"


def test_who_may_not_or_has_not_seen_the_head_starts_nothing(small: Demo) -> None:
    """A reader is told so, an example is no command, and a push in between stops a writer."""
    propose(small, pushed=LATE)
    hub = small.github.repository
    done = small.comment_on("/routing rerun failed", "reader", 500)
    assert (done.code, dict(done.jobs)) == (0, ANSWER), done.log[-3000:]
    assert "needs the right to write" in replies(small)[0]
    small.comment_on("```\n/routing rerun failed\n```", "writer", 501)
    assert len(replies(small)) == 1
    small.comment_on("/routing rerun failed", "writer", 502)
    assert "a commit was pushed after this command" in replies(small)[1]
    assert hub.dispatched == []
    assert [sign for _, sign in hub.reactions] == ["eyes", "confused"] * 2


def test_a_run_that_a_push_overtook_measures_nothing_and_says_so(small: Demo) -> None:
    """Between the command and its run; the new head has a run of its own."""
    propose(small)
    asked = {"pull_request": "7", "head_sha": small.head, "pairs": "codex:author-first-case"}
    small.github.repository.pulls[7]["head"]["sha"] = "b" * 40
    done = small.dispatch(asked)
    assert dict(done.jobs) == {"plan": "failure", GATE: "failure"}, done.log[-5000:]
    cause = f"its head is bbbbbbbbbbbb, and the run was to measure {small.head[:12]}"
    assert cause in done.outputs("plan")["error"]
    assert cause in done.errors(GATE)[0]
    assert not small.has_posted


def test_a_fork_is_measured_at_the_commit_that_a_maintainer_trusts_alone(small: Demo) -> None:
    """Its own run measured nothing, so all of it is; what judges is of the default branch."""
    propose(small, fork=True)
    hub = small.github.repository
    small.comment_on("/routing rerun all", "writer", 500)
    small.comment_on(f"/routing rerun --trust {small.head}", "author", 501)
    small.comment_on(f"/routing rerun --trust {'b' * 40}", "writer", 502)
    assert hub.dispatched == []
    told = ("--trust " + small.head, "for maintainers", "`--trust` names `bbbbbbbbbbbb`")
    for words, reply in zip(told, replies(small), strict=True):
        assert words in reply
    small.comment_on(f"/routing rerun --trust {small.head}", "writer", 503)
    (sent,) = hub.dispatched
    assert sent["inputs"] == {"command": "503/1", "pull_request": "7", "head_sha": small.head}
    assert "measures every pair" in replies(small)[3]
    done = small.dispatch(sent["inputs"])
    assert dict(done.jobs) == {**PLAN, CODEX: "success", GATE: "success"}, done.log[-5000:]
    assert small.delta(run_id="9001")["counts"] == {"OK": 2}
    assert "conclusion=success" in the_report(small)
    assert small.checks == [(small.head, "routing gate", "success")]
