"""Deliveries to an App, handled over HTTP: comments, and the buttons of its own check runs."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from routing_action.bot.server.app import GitHubApp
from routing_action.bot.server.buttons import ACTIONS, write_lines
from routing_action.bot.server.events import EVENTS, OF_INSTALLATION, CheckEvent
from routing_action.bot.server.handler import Handler
from routing_action.bot.server.queue.deliveries import Delivery, Kept, State
from routing_action.bot.server.repository_settings import FILE
from routing_action.errors import DocumentError
from routing_action.github.failures import ApiError
from tests.contract.test_bot_comments import HEAD, MARKER, OLD, RIGHTS, WRITTEN, pull, report
from tests.fakes.github.apps import APP_ID, SLUG, make_key
from tests.fakes.github.repository import NAME, Fault, Repository, Token
from tests.fakes.github.server import serve
from tests.support.webhooks import load_examples

OURS = "routing-action/routing/11/1"


@pytest.fixture
def hub() -> Iterator[Repository]:
    """A pull request with a red report, where the App is installed."""
    repository = Repository(tokens={"installed": Token(login=f"{SLUG}[bot]", rights=RIGHTS)})
    repository.permissions = {"writer": "write", "reader": "read"}
    repository.pulls[7] = pull()
    repository.activities["refs/heads/topic"] = [
        {"after": HEAD, "before": OLD, "ref": "refs/heads/topic",
         "timestamp": "2026-11-29T11:00:00Z", "activity_type": "push"}
    ]  # fmt: skip
    repository.add_comment(7, MARKER.format(sha=HEAD), f"{SLUG}[bot]")
    repository.add_run(11, HEAD)
    repository.known_commits[HEAD] = [7]
    report(repository)
    kept = repository.storage
    with serve(Repository(), kept.routes()) as kept.url, serve(repository):
        yield repository
    assert repository.violations == []


BUDGETS: list[tuple[int, int]] = []


def make_handler(hub: Repository) -> Handler:
    app = GitHubApp(hub.api_url, APP_ID, make_key()[0])
    return Handler(app, hub.api_url, "https://github.example", lambda *one: BUDGETS.append(one))


def deliver(
    hub: Repository,
    event: str,
    payload: dict[str, Any],
    number: str = "d-1",
    handler: Handler | None = None,
) -> None:
    body = json.dumps(payload).encode()
    delivery = Delivery(number, event, 7, NAME, body)
    (handler or make_handler(hub))(Kept(delivery, State.TAKEN, 1, 0))


def comment(body: str, **more: object) -> dict[str, Any]:
    return {
        "action": "created",
        "issue": {"number": 7, "state": "open", "pull_request": {}},
        "comment": {"id": 500, "body": body, "created_at": WRITTEN,
                    "user": {"login": "writer", "type": "User"}},
        "repository": {"full_name": NAME, "default_branch": "main"},
        **more,
    }  # fmt: skip


def check(wish: str, action: str = "requested_action", **more: Any) -> dict[str, Any]:  # noqa: ANN401
    run = {
        "id": 900,
        "head_sha": HEAD,
        "external_id": OURS,
        "conclusion": "failure",
        "started_at": "2026-11-29T11:10:00Z",
        "completed_at": "2026-11-29T11:20:00Z",
        "app": {"id": APP_ID},
        "pull_requests": [{"number": 7}],
        **more.pop("run", {}),
    }
    return {
        "action": action,
        "check_run": run,
        **({"requested_action": {"identifier": wish}} if wish else {}),
        "repository": {"full_name": NAME, "default_branch": "main"},
        "sender": {"login": "writer", "type": "User"},
        **more,
    }


def replies(hub: Repository) -> list[str]:
    return [body.partition("\n")[2] for body in hub.bodies() if " reply=" in body]


# --- comments ---------------------------------------------------------------------------------


def test_a_command_is_obeyed_as_the_app(hub: Repository) -> None:
    """The reply is the App's, the report is the App's too, and one token served it all."""
    deliver(hub, "issue_comment", comment("/routing rerun"))
    assert [one["inputs"]["pairs"] for one in hub.dispatched] == ["codex:red"]
    (reply,) = replies(hub)
    assert "measures 1 pair again" in reply
    assert hub.tokens_made == [7]
    made = [one for one in hub.comments.values() if " reply=" in one["body"]]
    assert made[0]["user"]["login"] == f"{SLUG}[bot]"


def test_the_same_delivery_acts_once(hub: Repository) -> None:
    """Also when another worker handles it, or the comment's event has another id."""
    for number in ("d-1", "d-1", "d-2"):
        deliver(hub, "issue_comment", comment("/routing rerun"), number)
    assert len(hub.dispatched) == len(replies(hub)) == 1


@pytest.mark.parametrize(
    "payload",
    [
        comment("Looks good"),
        comment("    /routing rerun"),
        comment("/routing rerun", action="edited"),
        comment("/routing rerun", action="deleted"),
    ],
)
def test_a_comment_that_is_not_for_the_bot_costs_no_request(
    hub: Repository, payload: dict[str, Any]
) -> None:
    """No token is asked for, and no limit is used up."""
    deliver(hub, "issue_comment", payload)
    assert hub.requests == []


def test_a_webhook_without_an_installation_is_passed_over(hub: Repository) -> None:
    """The bot is no App there."""
    body = json.dumps(comment("/routing rerun")).encode()
    make_handler(hub)(Kept(Delivery("d", "issue_comment", 0, NAME, body), State.TAKEN, 1, 0))
    assert hub.requests == []


@pytest.mark.parametrize("event", sorted(EVENTS.keys() - OF_INSTALLATION))
def test_a_payload_of_another_form_is_told_without_what_it_holds(
    hub: Repository, event: str
) -> None:
    """The error is kept and logged; people's words are not."""
    payload = {**comment("my private words"), "issue": "my private words", "action": []}
    with pytest.raises(DocumentError, match=f"payload of {event}") as caught:
        deliver(hub, event, payload)
    assert "private" not in str(caught.value)
    assert caught.value.__suppress_context__


def test_a_token_that_github_took_back_is_renewed(hub: Repository) -> None:
    """The delivery fails once, and is handled with a new token."""
    handler = make_handler(hub)
    deliver(hub, "issue_comment", comment("/routing status"), "a", handler)
    hub.faults.append(Fault("repos/get-content", 401))
    later = comment("/routing help")
    later["comment"]["id"] = 501
    with pytest.raises(ApiError):
        deliver(hub, "issue_comment", later, "b", handler)
    deliver(hub, "issue_comment", later, "b", handler)
    assert hub.tokens_made == [7, 7]
    assert len(replies(hub)) == 2


@pytest.mark.parametrize(
    ("status", "given", "least", "most"),
    [
        (429, {"Retry-After": "300"}, 300, 300),
        (403, {"Retry-After": "300"}, 300, 300),
        (403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(time.time()) + 900)},
         1, 900),
        (429, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(time.time()) + 900)},
         1, 900),
    ],
)  # fmt: skip
def test_a_used_up_limit_says_how_long_to_wait(
    hub: Repository, status: int, given: dict[str, str], least: float, most: float
) -> None:
    """The delivery is put off for as long, and nothing of it was done."""
    words = "API rate limit exceeded"
    hub.faults.append(Fault("pulls/get", status, times=9, headers=given, message=words))
    with pytest.raises(ApiError) as caught:
        deliver(hub, "issue_comment", comment("/routing help"))
    assert caught.value.status == status
    assert least <= caught.value.retry_after <= most
    assert replies(hub) == []


# --- settings of the repository ---------------------------------------------------------------


def test_a_repository_names_its_workflow(hub: Repository) -> None:
    """At its default branch; other tables of the file are not the bot's."""
    text = b'[providers.x]\ncommand = ["x"]\n[bot]\nworkflow = "measure.yml"\n'
    hub.files[FILE, "main"] = text
    hub.workflows = {"measure.yml"}
    deliver(hub, "issue_comment", comment("/routing rerun"))
    assert len(hub.dispatched) == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"[bot]\nkey = 3\n", (f"{FILE}:2", "bot.key")),
        (
            b"[bot]\n\nworkflows = 'x.yml'\n",
            (f"{FILE}:3", "bot.workflows", "did you mean workflow"),
        ),
        (b"[bot]\nworkflow = '../x.yml'\n", (f"{FILE}:2", "bot.workflow")),
        (b"[bot\n", (f"{FILE}:1", "not TOML")),
        (b"bot = 1\n", (FILE, "bot")),
    ],
)
@pytest.mark.parametrize("payload", [comment("/routing rerun"), check("rerun"), check("explain")])
def test_broken_settings_are_told_in_the_reply(
    hub: Repository, text: bytes, words: tuple[str, ...], payload: dict[str, Any]
) -> None:
    """With file, line and field; nothing is started."""
    hub.files[FILE, "main"] = text
    deliver(hub, "check_run" if "check_run" in payload else "issue_comment", payload)
    (reply,) = replies(hub)
    plain = reply.replace("\\", "")
    assert all(word in plain for word in words)
    assert hub.dispatched == []


# --- buttons ----------------------------------------------------------------------------------


@pytest.mark.parametrize("payload", [check("rerun"), check("", "rerequested")])
def test_rerun_measures_the_red_pairs(hub: Repository, payload: dict[str, Any]) -> None:
    """The button, and GitHub's own "Re-run"."""
    deliver(hub, "check_run", payload)
    assert [one["inputs"]["pairs"] for one in hub.dispatched] == ["codex:red"]
    assert "measures 1 pair again" in replies(hub)[0]


def test_each_click_counts_once(hub: Repository) -> None:
    """A click that is delivered twice acts once, and two clicks act twice."""
    for number in ("d-1", "d-1", "d-2"):
        deliver(hub, "check_run", check("rerun"), number)
    assert len(hub.dispatched) == len(replies(hub)) == 2


def test_explain_tells_of_the_red_cases(hub: Repository) -> None:
    """As the command would."""
    deliver(hub, "check_run", check("explain"))
    (reply,) = replies(hub)
    assert "red" in reply
    assert "thief" in reply


def test_accept_names_who_pressed_it(hub: Repository) -> None:
    """It needs the right to write, as the command does."""
    deliver(hub, "check_run", check("accept", sender={"login": "reader", "type": "User"}))
    assert "needs the right to write" in replies(hub)[0]


def test_a_button_of_an_earlier_commit_is_refused(hub: Repository) -> None:
    """The head that the person looked at is no longer there."""
    deliver(hub, "check_run", check("rerun", run={"head_sha": OLD}))
    assert hub.dispatched == []
    assert f"the head is now `{HEAD[:12]}`" in replies(hub)[0]


def test_a_button_on_a_forks_pull_request_finds_it(hub: Repository) -> None:
    """GitHub's payload names none there."""
    deliver(hub, "check_run", check("explain", run={"pull_requests": []}))
    assert len(replies(hub)) == 1


@pytest.mark.parametrize(
    "payload",
    [
        check("rerun", run={"app": {"id": APP_ID + 1}}),
        check("rerun", run={"app": None}),
        check("rerun", run={"external_id": "another/check"}),
        check("rerun", run={"external_id": "routing-action/other/11/1"}),
        check("delete everything"),
        check("rerun", sender={"login": "x[bot]", "type": "Bot"}),
        check("", "created"),
        check("", "completed", run={"conclusion": "success"}),
    ],
)
def test_what_is_no_button_of_ours_does_nothing(hub: Repository, payload: dict[str, Any]) -> None:
    """Checks of other Apps and other gates, unknown buttons, and machines."""
    deliver(hub, "check_run", payload)
    assert (replies(hub), hub.dispatched) == ([], [])


def test_a_closed_pull_request_has_no_buttons(hub: Repository) -> None:
    """Nothing is written there."""
    hub.pulls[7]["state"] = "closed"
    deliver(hub, "check_run", check("rerun"))
    assert replies(hub) == []


def test_a_red_check_run_of_ours_gets_its_buttons_once(hub: Repository) -> None:
    """Also where GitHub tells of the change that we made."""
    hub.checks[900] = {"id": 900, "annotations": [], "head_sha": HEAD, "name": "x"}
    handler = make_handler(hub)
    for number in ("a", "b"):
        deliver(hub, "check_run", check("", "completed"), number, handler)
    assert hub.checks[900]["actions"] == list(ACTIONS)
    assert sum(verb == "PATCH" for verb, _ in hub.requests) == 1


def test_a_hostile_name_of_a_case_writes_no_command(hub: Repository) -> None:
    """Whoever presses the button gives no order that the report has written."""
    from routing_action.bot.last_report import LastReport  # noqa: PLC0415
    from tests.support.report_values import make_delta, make_regression  # noqa: PLC0415

    row = make_regression("fine", "codex").model_copy(
        update={"case_id": 'x"\n/routing rerun --trust ' + HEAD}
    )
    found = LastReport(delta=make_delta(row, commit=HEAD))
    lines = [*write_lines("explain", found, "w"), *write_lines("accept", found, "w")]
    assert all("trust" not in line and "\n" not in line for line in lines)


@pytest.mark.parametrize(
    ("event", "example"),
    [one for one in load_examples() if one[0] in EVENTS],
)
def test_each_example_of_github_is_handled(
    hub: Repository, event: str, example: dict[str, Any]
) -> None:
    """None of them is for us, and none is a failure."""
    if event == "workflow_job":
        hub.add_run(example["workflow_job"]["run_id"], HEAD)
    deliver(hub, event, example)
    assert (replies(hub), hub.dispatched) == ([], [])


# --- other events -----------------------------------------------------------------------------


def of_repository(**more: Any) -> dict[str, Any]:  # noqa: ANN401
    return {
        "repository": {"full_name": NAME, "default_branch": "main"},
        "sender": {"login": "writer", "type": "User"},
        **more,
    }


def suite(**more: Any) -> dict[str, Any]:  # noqa: ANN401
    made = {"head_sha": HEAD, "updated_at": "2026-11-29T11:20:00Z", "app": {"id": APP_ID},
            "pull_requests": [{"number": 7}]}  # fmt: skip
    return of_repository(action="rerequested", check_suite={**made, **more})


def test_rerun_of_all_checks_measures_every_pair(hub: Repository) -> None:
    """GitHub's own button for all checks of the App."""
    deliver(hub, "check_suite", suite())
    (sent,) = hub.dispatched
    assert sent["inputs"]["pairs"] == "codex:red,codex:fine,claude:fine"
    deliver(hub, "check_suite", suite(app={"id": APP_ID + 1}), "d-2")
    deliver(hub, "check_suite", {**suite(), "sender": {"login": "x[bot]", "type": "Bot"}}, "d-3")
    assert len(hub.dispatched) == 1


def run_of(hub: Repository, action: str = "completed") -> dict[str, Any]:
    """The event of the run that a command started."""
    run = {key: hub.runs[9001][key] for key in ("id", "event", "display_title")}
    return of_repository(action=action, workflow_run=run)


def job_of(run_id: int, branch: str = "main") -> dict[str, Any]:
    job = {"run_id": run_id, "head_branch": branch}
    return of_repository(action="completed", workflow_job=job)


def test_the_end_of_a_run_is_told_below_its_command(hub: Repository) -> None:
    """The jobs on the way, and then the end; a delivery that comes twice changes nothing."""
    deliver(hub, "issue_comment", comment("/routing rerun"))
    hub.runs[9001]["status"] = "in_progress"
    hub.jobs[9001] = [{"name": "plan", "status": "completed", "conclusion": "success",
                       "html_url": "https://x.example"}]  # fmt: skip
    deliver(hub, "workflow_job", job_of(9001), "d-2")
    assert "goes on" in replies(hub)[0]
    assert "plan" in replies(hub)[0]
    hub.runs[9001] |= {"status": "completed", "conclusion": "success"}
    for number in ("d-3", "d-3"):
        deliver(hub, "workflow_run", run_of(hub), number)
    assert "ended: **success**" in replies(hub)[0]
    assert [sign for _, sign in hub.reactions][:2] == ["eyes", "rocket"]


def test_runs_of_others_cost_little(hub: Repository) -> None:
    """A run is asked about once; one of another branch, or of a pull request, never."""
    hub.add_run(12, HEAD)
    handler = make_handler(hub)
    for number in ("a", "b"):
        deliver(hub, "workflow_job", job_of(12), number, handler)
    asked = [path for _, path in hub.requests if path.endswith("/actions/runs/12")]
    assert len(asked) == 1
    hub.requests.clear()
    deliver(hub, "workflow_job", job_of(13, "topic"), "c", handler)
    run = {"id": 12, "event": "pull_request", "display_title": f"command 1/1 for #7 at {HEAD}"}
    deliver(hub, "workflow_run", of_repository(action="completed", workflow_run=run), "d", handler)
    assert hub.requests == []


def retarget(**changes: Any) -> dict[str, Any]:  # noqa: ANN401
    request = {
        "number": 7,
        "state": "open",
        "head": {"ref": "topic", "sha": HEAD},
        "base": {"ref": "release", "sha": OLD},
        "updated_at": "2026-11-29T13:00:00Z",
    }
    moved = {"base": {"ref": {"from": "main"}, "sha": {"from": OLD}}}
    return of_repository(action="edited", pull_request=request, changes=changes or moved)


def test_a_report_of_another_base_says_so_once(hub: Repository) -> None:
    """With the command that judges by the new base."""
    for number in ("d-1", "d-1"):
        deliver(hub, "pull_request", retarget(), number)
    (said,) = replies(hub)
    assert "is now `release`; it was `main`" in said
    assert "/routing rerun all" in said


def test_a_base_that_is_judged_by_already_needs_no_word(hub: Repository) -> None:
    """Only a title was edited, the workflow judges again by itself, or nothing was judged."""
    deliver(hub, "pull_request", retarget(title={"from": "x"}))
    hub.add_run(12, HEAD, status="queued", conclusion=None)
    deliver(hub, "pull_request", retarget(), "d-2")
    hub.runs[12] |= {"status": "completed", "created_at": "2026-11-29T13:00:01Z"}
    deliver(hub, "pull_request", retarget(), "d-3")
    del hub.runs[12], hub.comments[min(hub.comments)]
    deliver(hub, "pull_request", retarget(), "d-4")
    assert replies(hub) == []


@pytest.mark.parametrize("event", sorted(OF_INSTALLATION))
def test_an_installation_that_changed_gets_a_new_token(hub: Repository, event: str) -> None:
    """Permissions that were accepted hold at once."""
    handler = make_handler(hub)
    deliver(hub, "issue_comment", comment("/routing help"), "a", handler)
    body = json.dumps({"action": "new_permissions_accepted", "installation": {"id": 7}}).encode()
    handler(Kept(Delivery("b", event, 7, "", body), State.TAKEN, 1, 0))
    later = comment("/routing help")
    later["comment"]["id"] = 501
    deliver(hub, "issue_comment", later, "c", handler)
    assert hub.tokens_made == [7, 7]


def test_labels_of_buttons_fit() -> None:
    """GitHub refuses longer ones, and more than three."""
    assert len(ACTIONS) <= 3
    for one in ACTIONS:
        assert len(one["label"]) <= 20
        assert len(one["identifier"]) <= 20
        assert len(one["description"]) <= 40
        CheckEvent.model_validate(check(one["identifier"]))
