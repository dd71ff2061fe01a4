"""The bot's server as people run it: from a signed webhook to the reply, through ends and kills."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from routing_action.bot.server.queue.deliveries import Delivery, State
from routing_action.bot.server.queue.open_queue import open_queue
from routing_action.bot.server.setup import SUBSCRIBED
from tests.contract.test_bot_comments import HEAD
from tests.contract.test_bot_deliveries import check, comment, hub, replies, run_of
from tests.fakes.github.apps import SLUG
from tests.fakes.github.repository import Fault, Repository
from tests.support.bot_server import Server, run_cli, run_server, wait_until, write_config
from tests.support.command_line import Finished, run_command
from tests.support.postgres import run_postgres, why_not
from tests.support.webhooks import SECRET

__all__ = ["hub"]


@pytest.fixture
def config(hub: Repository, tmp_path: Path) -> Path:
    return write_config(tmp_path / "a folder", hub.api_url)


@pytest.fixture
def server(config: Path) -> Iterator[Server]:
    with run_server(config) as made:
        yield made


def say(number: int, text: str = "/routing help") -> dict[str, object]:
    made = comment(text)
    made["comment"]["id"] = number
    made["installation"] = {"id": 7}
    return made


def test_a_webhook_becomes_a_reply(hub: Repository, server: Server) -> None:
    """Acknowledged first, handled then; the pages tell of it; SIGTERM ends the server well."""
    assert server.post(say(1), "d-1") == 202
    assert server.post({"zen": "x"}, "d-2", "ping") == 202
    wait_until(lambda: replies(hub), "the reply")
    assert server.get("/healthz")[0] == server.get("/readyz")[0] == 200
    done = 'routing_bot_handling_seconds_count{event="issue_comment",result="done"} 1.0'
    wait_until(lambda: done in server.get("/metrics")[1], "the count")
    page = server.get("/metrics")[1]
    assert 'routing_bot_deliveries_total{result="kept"} 1.0' in page
    assert 'routing_bot_deliveries_total{result="ignored"} 1.0' in page
    assert 'routing_bot_queue_deliveries{state="waiting"} 0.0' in page
    assert server.get("/other")[0] == 404
    assert server.stop() == 0


@pytest.mark.slow
def test_logs_are_json_and_hold_no_secret(hub: Repository, server: Server) -> None:
    """Neither tokens, nor the webhook's secret, nor what people wrote, also where things fail."""
    hub.faults.append(Fault("pulls/get", 403, message="Resource not accessible"))
    hub.faults.append(Fault("repos/get-content", 401))
    server.post(say(1, "/routing help\n\nmy private words"), "d-1")
    server.post([], "d-2")
    wait_until(lambda: any("not handled" in line for line in server.lines), "the failure")
    server.stop()
    told = [json.loads(line) for line in server.lines]
    failure = next(one for one in told if "not handled" in one["message"])
    assert (failure["delivery"], failure["event"], failure["attempt"]) == (
        "d-1",
        "issue_comment",
        1,
    )
    text = "".join(server.lines)
    for secret in (SECRET, "installed", "private words", "PRIVATE KEY", "Bearer"):
        assert secret not in text


def test_a_button_from_the_red_check_to_the_end_of_its_run(hub: Repository, server: Server) -> None:
    """The App's check run gets buttons; one is pressed, a run starts, and its end is told."""
    hub.checks[900] = {"id": 900, "annotations": [], "head_sha": HEAD, "name": "routing gate"}
    of_app = {"installation": {"id": 7}}
    assert server.post({**check("", "completed"), **of_app}, "d-1", "check_run") == 202
    wait_until(lambda: hub.checks[900].get("actions"), "the buttons")
    (rerun, *_) = hub.checks[900]["actions"]
    assert server.post({**check(rerun["identifier"]), **of_app}, "d-2", "check_run") == 202
    wait_until(lambda: _ended(hub), "the reply")
    assert "measures 1 pair again" in replies(hub)[0]
    (sent,) = hub.dispatched
    assert sent["inputs"]["pairs"] == "codex:red"
    hub.runs[9001] |= {"status": "completed", "conclusion": "success"}
    assert server.post({**run_of(hub), **of_app}, "d-3", "workflow_run") == 202
    wait_until(lambda: "ended: **success**" in replies(hub)[0], "the end")
    made = [one for one in hub.comments.values() if " reply=" in one["body"]]
    assert [one["user"]["login"] for one in made] == [f"{SLUG}[bot]"]


@pytest.mark.slow
def test_what_was_acknowledged_is_handled_after_a_kill(hub: Repository, config: Path) -> None:
    """Each once, though the server was killed in the middle of them three times."""
    sent = 0
    for turn in range(3):
        with run_server(config) as server:
            for _ in range(5):
                sent += 1
                assert server.post(say(sent), f"d-{sent}") == 202
            wait_until(partial(_has_replies, hub, 2 * turn + 1), "some replies")
            server.stop(signal.SIGKILL)
    with run_server(config):
        wait_until(lambda: _ended(hub) == sent, "all replies")
    assert len(replies(hub)) == sent


def send(server: Server, payload: dict[str, object], number: str) -> None:
    """Deliver, again where the server asks for it, as a machine with much to do can."""
    wait_until(lambda: server.post(payload, number) == 202, "it is acknowledged")


def _has_replies(hub: Repository, count: int) -> bool:
    return len(replies(hub)) >= count


def _ended(hub: Repository) -> int:
    return sum("state=done" in body for body in hub.bodies())


@pytest.mark.slow
def test_a_server_that_ends_gives_back_what_runs(hub: Repository, tmp_path: Path) -> None:
    """It does not wait for longer than its grace, and the next one handles it."""
    config = write_config(tmp_path / "short", hub.api_url, grace_seconds=0.1)
    held, begun = threading.Event(), threading.Event()

    def hold() -> None:
        begun.set()
        held.wait(60)

    hub.before["pulls/get"] = hold
    with run_server(config) as server:
        server.post(say(1), "d-1")
        wait_until(begun.is_set, "the delivery is begun")
        assert server.stop() == 0
        assert any("gave back 1" in line for line in server.lines)
    held.set()
    queue = open_queue(str(config.parent / "queue.db"))
    (kept,) = queue.list(State.WAITING, 9)
    queue.close()
    assert kept.attempts == 0
    with run_server(config):
        wait_until(lambda: _ended(hub), "the reply")
    assert len(replies(hub)) == 1


@pytest.mark.slow
def test_what_was_missed_is_asked_for_again(hub: Repository, config: Path) -> None:
    """Only what no attempt brought, of events that are handled, since the last known one."""
    queue = open_queue(str(config.parent / "queue.db"))
    noon = 1_795_953_600.0
    queue.put([Delivery("known", "push", 7, "octo/demo", b"{}")], noon)
    queue.finish("known")
    queue.close()
    for number, guid, status, event in (
        (9, "lost", 502, "issue_comment"),
        (8, "arrived", 202, "issue_comment"),
        (7, "arrived", 502, "issue_comment"),
        (6, "other", 502, "push"),
        (5, "known", 502, "check_run"),
        (4, "lost-too", 0, "check_run"),
    ):
        hub.add_attempt(number, guid, "2030-01-01T12:00:00Z", status, event)
    hub.add_attempt(3, "old", "2020-11-29T10:00:00Z", 502, "issue_comment")
    with run_server(config):
        wait_until(lambda: len(hub.asked_again) == 2, "both are asked for")
    assert hub.asked_again == [4, 9]


@pytest.mark.slow
def test_a_second_server_leaves_the_queue_alone(server: Server, config: Path) -> None:
    """It says what to do, and does not start."""
    assert server.get("/healthz")[0] == 200
    outcome = run_cli("bot", "serve", "--config", str(config))
    assert outcome.returncode == 4
    assert "another server uses the queue" in outcome.stderr
    assert "PostgreSQL" in outcome.stderr


@pytest.mark.slow
def test_a_port_that_is_taken_is_told(server: Server, tmp_path: Path) -> None:
    """With the settings that change it."""
    port = int(server.url.split(":")[2].partition("/")[0])
    config = write_config(tmp_path / "second", "http://127.0.0.1:1", port=port)
    outcome = run_cli("bot", "serve", "--config", str(config))
    assert outcome.returncode == 4
    assert f"127.0.0.1:{port}" in outcome.stderr


@pytest.mark.slow
def test_two_servers_share_a_postgresql(hub: Repository, tmp_path: Path) -> None:
    """Each delivery is handled once, and one server alone goes on where the other one dies."""
    if reason := why_not():
        pytest.skip(reason)
    with run_postgres() as database:
        queue = database.new_address()
        configs = [
            write_config(tmp_path / name, hub.api_url, queue=queue) for name in ("one", "two")
        ]
        with run_server(configs[0]) as first, run_server(configs[1]) as second:
            for number in range(12):
                # GitHub sends one again, to the other server.
                for server in (first, second)[:: 1 if number % 2 else -1]:
                    send(server, say(number + 1), f"d-{number}")
            wait_until(lambda: _ended(hub) == 12, "all replies")
            # Two deliveries of one comment at the same moment, as by two webhooks.
            posts = [
                threading.Thread(target=send, args=(server, say(99, "/routing rerun"), name))
                for server, name in ((first, "e-1"), (second, "e-2"))
            ]
            for post in posts:
                post.start()
            for post in posts:
                post.join()
            wait_until(lambda: _ended(hub) == 13, "the reply")
            depth = open_queue(queue)
            wait_until(lambda: not depth.list(State.TAKEN, 9), "both are handled")
            assert len(depth.list(State.DONE, 99)) == 14
            depth.close()
            assert len(hub.dispatched) == 1
            assert len(replies(hub)) == 13
            first.stop(signal.SIGKILL)
            send(second, say(13), "d-13")
            wait_until(lambda: _ended(hub) == 14, "the reply")
            database.stop()
            wait_until(lambda: second.get("/readyz")[0] == 503, "the server is not ready")
            assert second.post(say(14), "d-14") == 503
            assert second.get("/healthz")[0] == 200
            database.start()
            wait_until(lambda: second.get("/readyz")[0] == 200, "the server is ready")
            send(second, say(14), "d-14")
            wait_until(lambda: _ended(hub) == 15, "the reply")
            assert second.stop() == 0
    assert len(replies(hub)) == 15


# --- what people do around it -----------------------------------------------------------------


def ask(*arguments: str) -> Finished:
    return run_command(arguments, Path(), {**os.environ, "NO_PROXY": "127.0.0.1"})


def test_dead_deliveries_are_listed_shown_and_tried_again(config: Path) -> None:
    """Hostile texts reach no terminal as they are."""
    queue = open_queue(str(config.parent / "queue.db"))
    queue.put([Delivery("d-1", "push", 7, "octo/demo", b'{"a": "\\u001b[31m"}')], 1e9)
    queue.take("w", 1e9, 9)
    queue.fail("d-1", "w", "ApiError: \x1b[31m no", 1e9, again_at=None)
    queue.close()
    named = ("--config", str(config))
    listed = ask("bot", "deliveries", "list", *named)
    assert listed.stdout.split()[:3] == ["d-1", "2001-09-09T01:46:40+00:00", "push"]
    shown = ask("bot", "deliveries", "show", "d-1", *named)
    assert json.loads(shown.stdout)["payload"] == {"a": "\x1b[31m"}
    assert "\x1b" not in listed.stdout + shown.stdout
    again = ask("bot", "deliveries", "retry", "d-1", *named)
    assert again.stdout == "d-1 waits again\n"
    waiting = ask("bot", "deliveries", "list", "--state", "waiting", "--format", "json", *named)
    assert [one["id"] for one in json.loads(waiting.stdout)] == ["d-1"]
    for command in (("retry", "d-1"), ("show", "none")):
        unknown = ask("bot", "deliveries", *command, *named)
        assert unknown.code == 2
        assert "bot deliveries list" in unknown.stderr
        assert ("not dead" in unknown.stderr) == (command[0] == "retry")
    assert "no delivery is dead" in ask("bot", "deliveries", "list", *named).stderr


def test_the_manifest_asks_for_what_is_used() -> None:
    """As GitHub takes it."""
    outcome = ask("bot", "manifest", "--hook-url", "https://bot.example/webhook")
    made = json.loads(outcome.stdout)
    assert made["default_events"] == list(SUBSCRIBED)
    assert not any(event.startswith("installation") for event in SUBSCRIBED)
    assert made["hook_attributes"] == {"url": "https://bot.example/webhook", "active": True}
    assert made["default_permissions"]["pull_requests"] == "write"


@pytest.mark.parametrize(
    "address",
    [
        "bot.example/webhook",
        "http://bot.example/webhook",
        "https://bot.example",
        "https:///webhook",
    ],
)
def test_a_manifest_needs_an_address_that_github_reaches(address: str) -> None:
    """An App made from it would never hear of anything."""
    outcome = ask("bot", "manifest", "--hook-url", address)
    assert (outcome.code, outcome.stdout) == (2, "")
    assert "https://HOST/webhook" in outcome.stderr


def test_the_doctor_names_no_job(hub: Repository, config: Path) -> None:
    """Where GitHub does not answer: there is none on a server."""
    closed = config.with_name("closed.toml")
    closed.write_text(config.read_text().replace(hub.api_url, "http://127.0.0.1:1"))
    outcome = ask("bot", "doctor", "--config", str(closed))
    assert "check DNS and proxy" in outcome.stdout
    assert "job" not in outcome.stdout


def test_the_doctor_finds_what_is_missing(hub: Repository, server: Server, config: Path) -> None:
    """One line each, and the remedy; then all is well."""
    hub.app_rights = {"checks": "read", "metadata": "read"}
    hub.app_events = ["issue_comment"]
    hub.hook_url = server.url.replace("/webhook", "/healthz")
    outcome = ask("bot", "doctor", "--config", str(config))
    assert outcome.code == 4
    lines = [line for line in outcome.stdout.splitlines() if line.startswith("FAIL")]
    assert [line.split(": ")[0].split()[1] for line in lines] == [
        *["permission"] * 5, *["event"] * (len(SUBSCRIBED) - 1), "webhook"
    ]  # fmt: skip
    hub.app_rights = json.loads(
        ask("bot", "manifest", "--hook-url", "https://x/webhook").stdout
    )["default_permissions"]  # fmt: skip
    hub.app_events = list(SUBSCRIBED)
    hub.hook_url = server.url
    outcome = ask("bot", "doctor", "--config", str(config))
    assert "FAIL" not in outcome.stdout
    assert outcome.code == 0


@pytest.mark.parametrize("package", ["aiohttp", "prometheus_client"])
def test_a_server_without_its_packages_says_how_to_install_them(config: Path, package: str) -> None:
    """The action's own environment has none of them, and needs none for `bot try`."""
    script = (
        "import sys\n"
        f"sys.modules[{package!r}] = None\n"
        "from routing_action.__main__ import main\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    outcome = subprocess.run(
        [sys.executable, "-c", script, "bot", "serve", "--config", str(config)],
        check=False,
        capture_output=True,
        text=True,
    )
    assert outcome.returncode == 2
    assert f"package {package} is not installed" in outcome.stderr
    assert "requirements-bot.lock" in outcome.stderr
