"""A comment's commands over HTTP: who may, at which commit, once, and one reply for each."""

from __future__ import annotations

import base64
import io
import json
import zipfile
from collections.abc import Iterator
from typing import Any

import pytest

from routing_action.bot.handle import Outcome, handle_comment
from routing_action.bot.payload import CommentEvent
from routing_action.bot.work import Settings
from routing_action.corpus.baseline import Status
from routing_action.gate.model import DeltaSkill
from routing_action.github.context import Context
from tests.fakes.github.artifacts import Upload
from tests.fakes.github.repository import NAME, Fault, Repository, Token
from tests.fakes.github.server import connect, serve
from tests.support.report_values import make_delta, make_entry, make_regression

HEAD, OLD = "a" * 40, "b" * 40
WRITTEN = "2026-11-29T12:00:00Z"
RIGHTS = {"pull-requests": "write", "actions": "write", "contents": "write", "checks": "write"}
MARKER = (
    "<!-- routing-action key=routing sha={sha} run=11 number=3 attempt=1 "
    "conclusion=failure news=1 -->\nred"
)


@pytest.fixture
def hub() -> Iterator[Repository]:
    """A pull request of this repository with a red report, a writer, a reader and a stranger."""
    repository = Repository(tokens={"t": Token(rights=RIGHTS)})
    repository.permissions = {"writer": "write", "reader": "read", "owner": "admin"}
    repository.pulls[7] = pull()
    repository.activities["refs/heads/topic"] = [
        {"after": HEAD, "before": OLD, "ref": "refs/heads/topic",
         "timestamp": "2026-11-29T11:00:00Z", "activity_type": "push"}
    ]  # fmt: skip
    repository.add_comment(7, MARKER.format(sha=HEAD))
    repository.add_run(11, HEAD)
    report(repository)
    kept = repository.storage
    with serve(Repository(), kept.routes()) as kept.url, serve(repository):
        yield repository
    assert repository.violations == []


def pull(head_of: str = NAME, author: str = "author", **more: object) -> dict[str, object]:
    return {
        "number": 7,
        "state": "open",
        "user": {"login": author},
        "head": {"sha": HEAD, "ref": "topic", "label": "octo:topic",
                 "repo": {"full_name": head_of, "default_branch": "main"}},
        "base": {"sha": OLD, "ref": "main", "label": "octo:main",
                 "repo": {"full_name": NAME, "default_branch": "main"}},
        **more,
    }  # fmt: skip


def report(repository: Repository, *errors: str, **more: Any) -> None:  # noqa: ANN401
    """The artifact of run 11: `red` is red on codex, `fine` passes everywhere."""
    delta = make_delta(
        make_regression("red", "codex", loaded_skills=("thief",), missing_evidence=("wanted",)),
        make_entry("fine", "codex", got=Status.PASS),
        make_entry("fine", "claude", got=Status.PASS),
        commit=HEAD,
        errors=errors,
        **more,
    )
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("delta.json", delta.model_dump_json())
    repository.storage.uploads = {
        1: Upload(1, "routing-report-routing-a1", made.getvalue(), run_id=11, sha=HEAD)
    }


def say(
    hub: Repository,
    body: str,
    author: str = "writer",
    worker: str = "run-1",
    **more: Any,  # noqa: ANN401
) -> list[Outcome]:
    """Deliver a comment."""
    event = {
        "action": "created",
        "issue": {"number": 7, "state": "open", "pull_request": {"url": "x"}},
        "comment": {"id": 500, "body": body, "created_at": WRITTEN,
                    "user": {"login": author, "type": "User"}, **more.pop("comment", {})},
        "repository": {"full_name": NAME, "default_branch": "main"},
        **more,
    }  # fmt: skip
    context = Context(repository=NAME, server_url="https://github.example", sha=HEAD)
    found = CommentEvent.model_validate(event)
    return handle_comment(found, connect(hub), Settings(), context, worker=worker)


def replies(hub: Repository) -> list[str]:
    """What we answered, without the first lines, which GitHub does not show."""
    return [body.partition("\n")[2] for body in hub.bodies() if " reply=" in body]


def test_rerun_of_what_failed_starts_one_run(hub: Repository) -> None:
    """At the head, with the red pairs, told with the run's own address."""
    (done,) = say(hub, "Please\n/routing rerun failed")
    assert done.ok
    assert hub.dispatched == [
        {
            "ref": "main",
            "inputs": {
                "command": "500/2",
                "pull_request": "7",
                "head_sha": HEAD,
                "earlier_run": "11",
                "pairs": "codex:red",
            },
            "return_run_details": True,
        }
    ]
    (reply,) = replies(hub)
    assert "measures 1 pair again" in reply
    assert f"https://github.example/{NAME}/actions/runs/9001" in reply
    assert [sign for _, sign in hub.reactions] == ["eyes"]  # the rest is for the run's end


@pytest.mark.parametrize(
    ("words", "pairs", "trials"),
    [
        ("rerun all", "codex:red,codex:fine,claude:fine", None),
        ("rerun fine", "codex:fine,claude:fine", None),
        ("rerun FINE --agents Claude --trials 3", "claude:fine", "3"),
        ("rerun --agents codex", "codex:red", None),
        ("rerun failed --trials 5", "codex:red", "5"),
    ],
)
def test_rerun_measures_what_is_named(
    hub: Repository, words: str, pairs: str, trials: str | None
) -> None:
    """Cases and agents in any case of letters; trials only where they are given."""
    say(hub, f"/routing {words}")
    (sent,) = hub.dispatched
    assert (sent["inputs"]["pairs"], sent["inputs"].get("trials")) == (pairs, trials)


@pytest.mark.parametrize(
    ("author", "body", "words"),
    [
        ("reader", "/routing rerun", "needs the right to write"),
        ("stranger", "/routing rerun", "needs the right to write"),
        ("stranger", "/routing status", "cannot read this repository"),
        ("reader", '/routing accept red --reason "x"', "needs the right to write"),
        ("reader", "/routing cancel", "needs the right to write"),
        ("writer", "/routing rerun nope", "there is no case nope"),
        ("writer", "/routing rerun rad", "did you mean red?"),
        ("writer", "/routing rerun --agents codes", "did you mean codex?"),
        ("writer", "/routing rerun fine --agents claude,nope", "there is no agent nope"),
        ("writer", f"/routing rerun --trust {OLD}", "`--trust` names `bbbbbbbbbbbb`"),
        ("writer", "/routing rerrun", "Did you mean `rerun`?"),
        (
            "writer",
            "/routing rerun --frob",
            "```text\n/routing rerun --frob\n               ^\n```\n",
        ),
        (
            "writer",
            "/routing accept red",
            "needs `--reason`: `/routing accept CASE",
        ),
        ("writer", "/routing explain nope", "the report has no case nope"),
    ],
)
def test_what_is_refused_is_told_and_starts_nothing(
    hub: Repository, author: str, body: str, words: str
) -> None:
    """One reply with the reason, and a confused sign."""
    (done,) = say(hub, body, author)
    assert not done.ok
    (reply,) = replies(hub)
    assert words in reply
    assert [*hub.dispatched, *hub.ended, *hub.again, *hub.commits] == []
    assert [sign for _, sign in hub.reactions] == ["eyes", "confused"]


def test_a_comment_delivered_twice_acts_once(hub: Repository) -> None:
    """The second delivery finds the reply of the first."""
    assert len(say(hub, "/routing rerun\n/routing status")) == 2
    assert say(hub, "/routing rerun\n/routing status") == []
    assert (len(hub.dispatched), len(replies(hub))) == (1, 2)


def test_a_reply_that_was_begun_is_continued(hub: Repository) -> None:
    """A bot that died after its first word finishes under the same reply."""
    hub.faults = [Fault("actions/create-workflow-dispatch", 500)]
    hub.add_comment(7, "<!-- routing-action reply=500/1 state=begun -->\nworking")
    say(hub, "/routing status")
    assert len(replies(hub)) == 1
    assert "working" not in replies(hub)[0]


@pytest.mark.parametrize(
    "more",
    [
        {"action": "edited"},
        {"action": "deleted"},
        {"issue": {"number": 7}},
        {"comment": {"user": {"login": "x[bot]", "type": "Bot"}}},
        {"comment": {"user": {"login": "robot", "type": "Bot"}}},
        {"comment": {"user": None}},
        {"comment": {"performed_via_github_app": {"id": 1}}},
        {"comment": {"body": None}},
        {"comment": {"body": "```\n/routing rerun\n```"}},
        {"comment": {"body": "> /routing rerun"}},
    ],
)
def test_what_is_no_command_is_passed_over(hub: Repository, more: dict[str, Any]) -> None:
    """Edits, issues, bots, apps, examples: no sign, no reply, no request."""
    assert say(hub, "/routing rerun", **more) == []
    assert hub.requests == []


def test_a_push_after_the_command_stops_it(hub: Repository) -> None:
    """The author has not seen what would run; the time is GitHub's, not the commit's."""
    hub.activities["refs/heads/topic"][0]["timestamp"] = "2026-11-29T12:00:05Z"
    say(hub, "/routing rerun")
    assert "a commit was pushed after this command was written" in replies(hub)[0]
    assert hub.dispatched == []


def test_a_report_of_another_commit_is_not_what_is_measured(hub: Repository) -> None:
    """Its red pairs may not be red any more."""
    hub.comments[min(hub.comments)]["body"] = MARKER.format(sha=OLD)
    say(hub, "/routing rerun")
    assert "the report is of `bbbbbbbbbbbb`, and the head is `aaaaaaaaaaaa`" in replies(hub)[0]
    assert hub.dispatched == []


@pytest.mark.parametrize("author", ["author", "writer"])
def test_a_fork_is_measured_only_at_the_commit_that_a_maintainer_names(
    hub: Repository, author: str
) -> None:
    """The author of the change cannot, whatever rights they have; a maintainer must name it."""
    hub.pulls[7] = pull(head_of="someone/demo")
    hub.permissions["author"] = "admin"
    say(hub, "/routing rerun", author)
    assert hub.dispatched == []
    say(hub, f"/routing rerun --trust {HEAD}", author, comment={"id": 501})
    assert len(hub.dispatched) == (author == "writer")
    first = replies(hub)[0]
    assert ("for maintainers" if author == "author" else f"--trust {HEAD}") in first


def test_a_fork_that_was_measured_by_a_command_is_completed_by_the_next(hub: Repository) -> None:
    """Before that all of it is measured, whatever was named: its own run proves nothing."""
    hub.pulls[7] = pull(head_of="someone/demo")
    say(hub, f"/routing rerun fine --trust {HEAD}")
    hub.runs[11]["event"] = "workflow_dispatch"
    say(hub, f"/routing rerun --trust {HEAD}", comment={"id": 501})
    first, second = (one["inputs"] for one in hub.dispatched)
    assert first == {"command": "500/1", "pull_request": "7", "head_sha": HEAD}
    assert (second["earlier_run"], second["pairs"]) == ("11", "codex:red")
    assert "measures every pair" in replies(hub)[0]


def test_a_report_in_doubt_is_not_completed_in_part(hub: Repository) -> None:
    """All of it can be measured anew, and then nothing of it counts."""
    report(hub, "job measure failed")
    say(hub, "/routing rerun fine")
    assert "in doubt" in replies(hub)[0]
    assert hub.dispatched == []
    say(hub, "/routing rerun all", comment={"id": 501})
    assert "earlier_run" not in hub.dispatched[0]["inputs"]


def test_legs_that_broke_begin_again_in_their_own_run(hub: Repository) -> None:
    """What was lost is no question of routing."""
    report(hub, "job measure failed")
    say(hub, "/routing rerun")
    assert (hub.again, hub.dispatched) == ([11], [])
    assert "broke" in replies(hub)[0]


def test_status_names_runs_jobs_and_the_last_verdict(hub: Repository) -> None:
    """Also the run that a rerun started, which GitHub files under the default branch."""
    hub.add_run(12, OLD, event="workflow_dispatch", status="in_progress", conclusion=None,
                display_title=f"routing for #7 at {HEAD}")  # fmt: skip
    hub.add_run(13, OLD, event="workflow_dispatch", display_title=f"routing for #17 at {HEAD}")
    hub.add_run(14, HEAD, path=".github/workflows/other.yml")
    hub.jobs[12] = [{"name": "measure (codex)", "status": "in_progress", "conclusion": None,
                     "html_url": "https://github.example/job"}]  # fmt: skip
    (done,) = say(hub, "/routing status", "reader")
    assert done.ok
    reply = replies(hub)[0]
    assert "says **failure**" in reply
    assert "measure (codex)" in reply
    assert "The verdict waits for `measure (codex)`." in reply
    assert "run 12" in reply
    assert "run 11" in reply
    assert "run 13" not in reply
    assert "run 14" not in reply


def test_cancel_ends_what_runs(hub: Repository) -> None:
    """And says so where nothing does."""
    hub.add_run(12, HEAD, status="in_progress", conclusion=None)
    say(hub, "/routing cancel")
    assert hub.ended == [12]
    hub.runs[12]["status"] = "completed"
    say(hub, "/routing cancel", comment={"id": 501})
    assert "no run" in replies(hub)[1]


def test_explain_shows_prompt_wanted_got_and_command(hub: Repository) -> None:
    """For the agents that are named, else for all."""
    say(hub, "/routing explain red", "reader")
    reply = replies(hub)[0]
    assert all(word in reply for word in ("red", "codex", "wanted", "thief", "--agents codex"))


def test_explain_shows_the_descriptions_before_and_after(hub: Repository) -> None:
    """Of the skill that took the prompt and was edited; of the wanted one as it is."""
    path = ".codex/skills/thief/SKILL.md"
    skills = (
        DeltaSkill(name="thief", agents=("codex",), path=path,
                   description="Takes red things too.", before="Takes nothing."),
        DeltaSkill(name="wanted", agents=("codex",), description="Red things."),
    )  # fmt: skip
    report(hub, skills=skills, prompts={"red": "Do the red thing"}, edits_known=True)
    say(hub, "/routing explain red", "reader")
    reply = replies(hub)[0]
    for words in ("Do the red thing", "- Takes nothing.", "+ Takes red things too.", "Red things.",
                  "codex --case-id red"):  # fmt: skip
        assert words in reply, words


def test_help_has_the_repositorys_own_names(hub: Repository) -> None:
    """Agents and cases of the newest report."""
    say(hub, "/routing", "reader")
    reply = replies(hub)[0]
    assert all(f"`{word}`" in reply for word in ("red", "fine", "codex", "claude", "/routing help"))
    assert "--trust COMMIT" in reply


@pytest.mark.parametrize("status", [403, 404, 422, 500])
def test_a_dispatch_that_starts_nothing_is_told(hub: Repository, status: int) -> None:
    """With what is missing; nothing is tried twice."""
    hub.faults = [Fault("actions/create-workflow-dispatch", status)]
    (done,) = say(hub, "/routing rerun")
    assert not done.ok
    assert "cannot start the workflow" in replies(hub)[0]
    sent = [path for verb, path in hub.requests if path.endswith("/dispatches")]
    assert len(sent) == 1


BASELINE = {
    "fine": {"claude": {"expected_status": "pass", "allow_timeout": False}},
    "red": {"codex": {"expected_status": "pass", "allow_timeout": False}},
}
BASELINE_TEXT = json.dumps(BASELINE, indent=2) + "\n"
ACCEPT = '/routing accept red --agent codex --reason "the thief is meant to take it"'


@pytest.fixture
def with_baseline(hub: Repository) -> Repository:
    """The baseline of the head, as GitHub gives it."""
    text = base64.b64encode(BASELINE_TEXT.encode()).decode()
    hub.files["provider-baseline.json", HEAD] = {
        "type": "file", "encoding": "base64", "content": text, "size": len(text),
        "path": "provider-baseline.json", "sha": "c" * 40,
    }  # fmt: skip
    return hub


def accepted(text: str) -> dict[str, Any]:
    """What a baseline says of the pair that was accepted."""
    entry: dict[str, Any] = json.loads(text)["red"]["codex"]
    return entry


LOWERED = {
    "expected_status": "fail",
    "allow_timeout": False,
    "reason": "the thief is meant to take it",
}


def test_accept_suggests_where_the_file_is_in_the_diff(with_baseline: Repository) -> None:
    """One click commits it; what the suggestion makes of the file is the baseline that accepts."""
    hub = with_baseline
    lines = BASELINE_TEXT.splitlines()
    patch = f"@@ -0,0 +1,{len(lines)} @@\n" + "\n".join(f"+{line}" for line in lines)
    hub.diffs[7] = [{"filename": "provider-baseline.json", "patch": patch}]
    (done,) = say(hub, ACCEPT)
    assert done.ok
    (made,) = hub.suggestions
    first, last = made.get("start_line", made["line"]), made["line"]
    block = made["body"].partition("```suggestion\n")[2].rpartition("\n```")[0]
    assert accepted("\n".join([*lines[: first - 1], block, *lines[last:]])) == LOWERED
    assert made["commit_id"] == HEAD
    assert hub.commits == []
    assert "takes effect when merged" in replies(hub)[0]


@pytest.mark.parametrize("diff", [[], [{"filename": "provider-baseline.json",
                                        "patch": "@@ -1,2 +1,2 @@\n a\n-b\n+c"}]])  # fmt: skip
def test_accept_commits_where_the_file_is_not_in_the_diff(
    with_baseline: Repository, diff: list[dict[str, Any]]
) -> None:
    """On the pull request's own branch, upon the version that was read."""
    hub = with_baseline
    hub.diffs[7] = diff
    say(hub, ACCEPT)
    (made,) = hub.commits
    assert (made["branch"], made["path"], made["sha"]) == (
        "topic", "provider-baseline.json", "c" * 40
    )  # fmt: skip
    assert accepted(made["content"].decode()) == LOWERED
    assert "the thief is meant to take it" in made["message"]
    assert "https://github.example/octo/demo/commit/" in replies(hub)[0]


def test_accept_shows_a_patch_where_it_cannot_write(with_baseline: Repository) -> None:
    """For a protected branch, and for a fork."""
    hub = with_baseline
    hub.protected = {"topic"}
    say(hub, ACCEPT)
    hub.pulls[7] = pull(head_of="someone/demo")
    say(hub, ACCEPT, comment={"id": 501})
    for reply in replies(hub):
        patch = reply.partition("```diff\n")[2].partition("\n```")[0]
        assert '+      "expected_status": "fail",' in patch
        assert patch.startswith("--- a/provider-baseline.json")
    assert len(replies(hub)) == 2
    assert hub.commits == []


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ('/routing accept fine --reason "x"', "there is nothing to accept"),
        ('/routing accept nope --reason "x"', "there is no case nope"),
        (f'/routing accept red --reason "{"x" * 501}"', "the reason is too long"),
        ("/routing accept red", "accept needs `--reason`"),
    ],
)
def test_accept_refuses_what_makes_no_sense(
    with_baseline: Repository, body: str, words: str
) -> None:
    """Nothing is written anywhere."""
    (done,) = say(with_baseline, body)
    assert not done.ok
    assert words in replies(with_baseline)[0]
    assert [*with_baseline.commits, *with_baseline.suggestions] == []


def test_accept_twice_says_that_it_is_there(with_baseline: Repository) -> None:
    """The change's own baseline holds it already."""
    hub = with_baseline
    entry = {"red": {"codex": LOWERED}, "fine": BASELINE["fine"]}
    text = json.dumps(dict(sorted(entry.items())), indent=2) + "\n"
    found = hub.files["provider-baseline.json", HEAD]
    found["content"] = base64.b64encode(text.encode()).decode()
    say(hub, ACCEPT)
    assert "holds this already" in replies(hub)[0]
