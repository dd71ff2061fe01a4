"""What a command does is done once: after a kill, and where two workers have the same comment."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from github.Issue import Issue
from github.IssueComment import IssueComment
from github.Workflow import Workflow

from routing_action.bot.follow import follow_run
from routing_action.bot.work import Settings
from routing_action.github.failures import ApiError
from tests.contract.test_bot_comments import (
    ACCEPT,
    BASELINE_TEXT,
    HEAD,
    LOWERED,
    MARKER,
    OLD,
    accepted,
    hub,
    replies,
    report,
    say,
    with_baseline,
)
from tests.fakes.github.repository import Fault, Repository
from tests.fakes.github.server import connect

__all__ = ["hub", "with_baseline"]


def die(hub: Repository, body: str, **more: Any) -> None:  # noqa: ANN401
    """Obey a comment, and end before the first reply says so."""
    hub.faults.append(Fault("issues/update-comment", 403))
    with pytest.raises(ApiError):
        say(hub, body, **more)
    assert "working on it" in replies(hub)[-1]


def just_before(
    monkeypatch: pytest.MonkeyPatch, owner: type, name: str, work: Callable[[], object]
) -> None:
    """Do something once, when a method of PyGithub is called and before it asks GitHub."""
    real, due = getattr(owner, name), [work]

    def call(self: object, *values: object, **named: object) -> object:
        if due:
            due.pop()()
        return real(self, *values, **named)

    monkeypatch.setattr(owner, name, call)


def in_the_diff(hub: Repository) -> None:
    """The whole baseline is in the pull request's diff."""
    lines = BASELINE_TEXT.splitlines()
    patch = f"@@ -0,0 +1,{len(lines)} @@\n" + "\n".join(f"+{line}" for line in lines)
    hub.diffs[7] = [{"filename": "provider-baseline.json", "patch": patch}]


# --- killed between the effect and the reply --------------------------------------------------


def test_a_run_that_was_started_before_a_kill_is_found(hub: Repository) -> None:
    """The reply links to it, and no second one starts."""
    die(hub, "/routing rerun")
    (done,) = say(hub, "/routing rerun")
    assert done.ok
    assert len(hub.dispatched) == 1
    assert "actions/runs/9001" in replies(hub)[0]
    assert len(replies(hub)) == 1


def test_a_kill_before_the_run_was_started_starts_it(hub: Repository) -> None:
    """What was only announced is done, though another command has a run of its own."""
    say(hub, "/routing rerun", comment={"id": 499})
    hub.add_comment(7, "<!-- routing-action reply=500/1 state=begun by=run-1 -->\nworking")
    say(hub, "/routing rerun")
    assert [one["inputs"]["command"] for one in hub.dispatched] == ["499/1", "500/1"]


def test_jobs_that_began_again_before_a_kill_do_not_begin_once_more(hub: Repository) -> None:
    """The run has a later attempt than the report."""
    report(hub, "job measure failed")
    die(hub, "/routing rerun")
    (done,) = say(hub, "/routing rerun")
    assert done.ok
    assert hub.again == [11]


def test_a_commit_that_was_made_before_a_kill_is_found(with_baseline: Repository) -> None:
    """The bot's own commit is no push of somebody else."""
    hub = with_baseline
    die(hub, ACCEPT)
    (done,) = say(hub, ACCEPT)
    assert done.ok
    (made,) = hub.commits
    assert accepted(made["content"].decode()) == LOWERED
    assert f"/commit/{1:040x}" in replies(hub)[0]
    assert "pass → fail" in replies(hub)[0]


def test_a_push_upon_the_bots_commit_stops_the_command(with_baseline: Repository) -> None:
    """Whoever wrote it has not seen that."""
    hub = with_baseline
    die(hub, ACCEPT)
    hub.pulls[7]["head"]["sha"] = OLD
    hub.activities["refs/heads/topic"].insert(
        0, {"after": OLD, "before": f"{1:040x}", "timestamp": "2026-11-29T12:01:00Z"}
    )
    say(hub, ACCEPT)
    assert len(hub.commits) == 1
    assert "a commit was pushed after this command" in replies(hub)[0]


def test_suggestions_that_were_made_before_a_kill_are_found(with_baseline: Repository) -> None:
    """No line gets two."""
    hub = with_baseline
    in_the_diff(hub)
    die(hub, ACCEPT)
    (done,) = say(hub, ACCEPT)
    assert done.ok
    assert len(hub.suggestions) == 1
    assert "#discussion_r1" in replies(hub)[0]


def test_runs_that_were_cancelled_before_a_kill_are_named(hub: Repository) -> None:
    """Though nothing is left to cancel."""
    hub.add_run(12, HEAD, status="in_progress", conclusion=None)
    die(hub, "/routing cancel")
    hub.runs[12] |= {"status": "completed", "conclusion": "cancelled"}
    (done,) = say(hub, "/routing cancel")
    assert done.ok
    assert "actions/runs/12" in replies(hub)[0]


def test_a_dispatch_whose_answer_got_lost_is_found(hub: Repository) -> None:
    """GitHub started the run, and then failed."""
    hub.faults.append(Fault("actions/create-workflow-dispatch", 502, after=True))
    (done,) = say(hub, "/routing rerun")
    assert done.ok
    assert len(hub.dispatched) == 1
    assert "actions/runs/9001" in replies(hub)[0]


def test_an_older_server_that_does_not_name_the_run_starts_it_once(hub: Repository) -> None:
    """The run is found by its name."""
    hub.is_older = True
    (done,) = say(hub, "/routing rerun")
    assert done.ok
    assert len(hub.dispatched) == 1
    assert "actions/runs/9001" in replies(hub)[0]


# --- two at once ------------------------------------------------------------------------------


def test_another_worker_leaves_alone_what_was_begun(hub: Repository) -> None:
    """Its own worker is tried until it has ended."""
    die(hub, "/routing rerun")
    assert say(hub, "/routing rerun", worker="run-2") == []
    assert "working on it" in replies(hub)[0]
    assert len(hub.dispatched) == 1


@pytest.mark.parametrize(
    ("owner", "name"), [(Issue, "create_comment"), (Workflow, "create_dispatch")]
)
def test_two_deliveries_of_one_comment_at_once_act_once(
    hub: Repository, monkeypatch: pytest.MonkeyPatch, owner: type, name: str
) -> None:
    """Whichever began first goes on, and its reply stays."""
    told: list[object] = []
    other = partial(say, hub, "/routing rerun", worker="other")
    just_before(monkeypatch, owner, name, lambda: told.append(other()))
    say(hub, "/routing rerun")
    assert told
    assert len(hub.dispatched) == 1
    (reply,) = replies(hub)
    assert "measures 1 pair again" in reply


def test_many_workers_act_once_on_each_line(with_baseline: Repository) -> None:
    """In the order of the lines, whoever answers which."""
    hub = with_baseline
    body = f"/routing status\n{ACCEPT}\n/routing help"
    with ThreadPoolExecutor(8) as threads:
        for one in [threads.submit(say, hub, body, worker=f"d-{number}") for number in range(8)]:
            one.result()
    assert len(hub.commits) == 1
    assert len(replies(hub)) == 3
    assert not any("working on it" in reply for reply in replies(hub))


# --- several commands -------------------------------------------------------------------------


def test_a_rerun_and_then_an_accept_measure_and_show_a_patch(with_baseline: Repository) -> None:
    """A commit would void the run; that holds for a run of another comment too."""
    hub = with_baseline
    first = say(hub, f"/routing rerun\n{ACCEPT}")
    second = say(hub, ACCEPT, comment={"id": 501})
    assert [one.ok for one in (*first, *second)] == [True] * 3
    assert (len(hub.dispatched), hub.commits) == (1, [])
    assert replies(hub)[1] == replies(hub)[2]
    assert "A run measures this head, and a commit would end it" in replies(hub)[1]
    hub.runs[9001] |= {"status": "completed", "conclusion": "failure"}
    say(hub, ACCEPT, comment={"id": 502})
    assert len(hub.commits) == 1


def test_an_accept_and_then_a_rerun_commit_and_start_nothing(with_baseline: Repository) -> None:
    """The head is the bot's own commit, which has no report yet."""
    hub = with_baseline
    assert [one.ok for one in say(hub, f"{ACCEPT}\n/routing rerun")] == [True, False]
    assert (len(hub.commits), hub.dispatched) == (1, [])
    assert "has made the commit `000000000000`" in replies(hub)[1]


@pytest.mark.parametrize("is_killed", [False, True])
def test_each_accept_of_a_comment_builds_on_the_one_before(
    with_baseline: Repository, is_killed: bool
) -> None:
    """Also where the process was killed between them."""
    hub = with_baseline
    red = "/routing accept red --agents codex --reason {}"
    body = f"{red.format('one')}\n{red.format('two')}"
    if is_killed:
        die(hub, body)
    say(hub, body)
    assert [accepted(one["content"].decode())["reason"] for one in hub.commits] == ["one", "two"]
    assert [f"/commit/{number:040x}" in reply for number, reply in enumerate(replies(hub), 1)] == [
        True, True
    ]  # fmt: skip


# --- what becomes of a run --------------------------------------------------------------------


def follow(hub: Repository, run_id: int = 9001) -> bool:
    return follow_run(connect(hub), run_id, Settings())


@pytest.mark.parametrize(
    ("conclusion", "sign"),
    [("success", "rocket"), ("failure", "confused"), ("cancelled", "confused")],
)
def test_the_end_of_a_run_is_told_once_below_its_command(
    hub: Repository, conclusion: str, sign: str
) -> None:
    """However often GitHub tells of it; jobs that did not succeed are named."""
    say(hub, "/routing rerun")
    hub.runs[9001] |= {"status": "completed", "conclusion": conclusion}
    hub.jobs[9001] = [
        {"name": name, "status": "completed", "conclusion": end, "html_url": "https://x.example/j"}
        for name, end in (("plan", "success"), ("measure (codex)", conclusion))
    ]
    hub.comments[min(hub.comments)]["body"] = MARKER.format(sha=HEAD).replace("failure", "success")
    assert follow(hub)
    (first,) = replies(hub)
    assert follow(hub)
    assert replies(hub) == [first]
    assert "measures 1 pair again" in first
    assert f"ended: **{conclusion}**" in first
    assert "says **success**" in first
    assert ("measure (codex)" in first) == (conclusion != "success")
    assert "plan" not in first
    assert [one for _, one in hub.reactions] == ["eyes", sign, sign]


def test_a_run_that_goes_on_names_its_jobs_until_it_ends(
    hub: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was told before the end does not come after it."""
    say(hub, "/routing rerun")
    hub.runs[9001]["status"] = "in_progress"
    hub.jobs[9001] = [{"name": "measure (codex)", "status": "in_progress", "conclusion": None,
                       "html_url": "https://x.example/j"}]  # fmt: skip
    assert follow(hub)
    assert "goes on" in replies(hub)[0]
    assert "measure (codex)" in replies(hub)[0]

    def end() -> None:
        hub.runs[9001] |= {"status": "completed", "conclusion": "success"}
        follow(hub)

    hub.jobs[9001][0]["status"] = "queued"
    just_before(monkeypatch, IssueComment, "edit", end)
    follow(hub)
    assert "ended: **success**" in replies(hub)[0]
    assert "goes on" not in replies(hub)[0]


@pytest.mark.parametrize(
    "change",
    [
        {"event": "pull_request"},
        {"path": ".github/workflows/other.yml"},
        {"display_title": f"routing for #7 at {HEAD}"},
        {"display_title": f"command 500/1 for #7 at {HEAD} or so"},
        {"display_title": "command 500/1"},
    ],
)
def test_a_run_that_no_command_has_started_changes_nothing(
    hub: Repository, change: dict[str, str]
) -> None:
    """A pull request's title is its author's, whatever it says."""
    say(hub, "/routing rerun")
    hub.runs[9001] |= {"status": "completed", "conclusion": "success", **change}
    before = replies(hub)
    assert not follow(hub)
    assert replies(hub) == before


def test_an_end_that_comes_before_the_reply_stays(hub: Repository) -> None:
    """The process was killed after it had started the run, which ended meanwhile."""
    die(hub, "/routing rerun")
    hub.runs[9001] |= {"status": "completed", "conclusion": "success"}
    follow(hub)
    say(hub, "/routing rerun")
    (reply,) = replies(hub)
    assert "measures 1 pair again" in reply
    assert "ended: **success**" in reply


def test_a_forged_reply_of_a_person_is_passed_over(hub: Repository) -> None:
    """Its first line is ours, and its author is not."""
    hub.add_comment(7, "<!-- routing-action reply=500/1 state=done -->\nnothing to do", "reader")
    say(hub, "/routing rerun")
    assert len(hub.dispatched) == 1
