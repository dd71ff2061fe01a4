"""Load on the bot's server: how fast it acknowledges, and what kills of the process lose.

usage: python -m benchmarks.bot_load [--seconds N] [--rate N] [--queue sqlite|postgres]

Sends signed comments of 20 installations at a fixed rate to a server of its own, kills it by
SIGKILL three times and starts it again, and waits until the queue is empty. One comment of 20 is a
command, which the server answers at a stand-in for GitHub here. Prints what came of it as JSON, and
exits with 1 where an acknowledged delivery was not handled, a reply is missing or there twice, or
p99 is 250 ms or more.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import re
import signal
import socket
import statistics
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from aiohttp import ClientError, ClientSession, ClientTimeout, TCPConnector, web

from routing_action.bot.server.queue.deliveries import State
from routing_action.bot.server.queue.open_queue import open_queue
from tests.fakes.github.apps import APP_ID, SLUG
from tests.support.bot_server import run_server, write_config
from tests.support.postgres import run_postgres, why_not
from tests.support.webhooks import headers

INSTALLATIONS = 20
COMMANDS_EVERY = 20
KILLS = 3
MOST_P99_SECONDS = 0.25
PATIENCE_SECONDS = 400
NAME = "octo/demo"
TEXT = "A remark of the usual length about a change. " * 20


class Hub:
    """As much of GitHub as `/routing help` asks for, at `url`; keeps the replies."""

    def __init__(self) -> None:
        self.url = ""
        self.replies: dict[int, str] = {}

    def routes(self) -> list[web.RouteDef]:
        """What it answers."""
        root = "/repos/{owner}/{repo}"
        return [
            web.get("/app", self._app),
            web.get("/app/hook/deliveries", self._nothing),
            web.post("/app/installations/{id}/access_tokens", self._token),
            web.get(root + "/pulls/{id}", self._pull),
            web.get(root + "/issues/{id}/comments", self._listed),
            web.post(root + "/issues/{id}/comments", self._reply),
            web.patch(root + "/issues/comments/{id}", self._edit),
            web.get(root + "/collaborators/{login}/permission", self._permission),
            web.get("/{path:.*}", self._missing),
            web.post("/{path:.*}", self._missing),
        ]

    async def _app(self, _: web.Request) -> web.Response:
        return web.json_response({"id": APP_ID, "slug": SLUG, "permissions": {}, "events": []})

    async def _token(self, _: web.Request) -> web.Response:
        made = {"token": "t", "expires_at": "2099-01-01T00:00:00Z"}
        return web.json_response(made, status=201)

    async def _pull(self, request: web.Request) -> web.Response:
        place = {"full_name": NAME, "default_branch": "main"}
        pull = {"number": int(request.match_info["id"]), "state": "open",
                "user": {"login": "author"},
                "head": {"sha": "a" * 40, "ref": "topic", "repo": place},
                "base": {"sha": "b" * 40, "ref": "main", "repo": place}}  # fmt: skip
        return web.json_response(pull)

    async def _listed(self, request: web.Request) -> web.Response:
        # Each comment is on a pull request of its own, so that a list stays short.
        wanted = f"reply={request.match_info['id']}/"
        found = [self._shown(number) for number, body in self.replies.items() if wanted in body]
        return web.json_response(found)

    async def _reply(self, request: web.Request) -> web.Response:
        body = (await request.json())["body"]
        number = len(self.replies) + 1
        self.replies[number] = body
        return web.json_response(self._shown(number), status=201)

    async def _edit(self, request: web.Request) -> web.Response:
        number = int(request.match_info["id"])
        self.replies[number] = (await request.json())["body"]
        return web.json_response(self._shown(number))

    def _shown(self, number: int) -> dict[str, Any]:
        url = f"{self.url}/repos/{NAME}/issues/comments/{number}"
        return {"id": number, "body": self.replies[number], "url": url, "html_url": "",
                "user": {"login": f"{SLUG}[bot]", "type": "Bot"}}  # fmt: skip

    async def _permission(self, _: web.Request) -> web.Response:
        return web.json_response({"permission": "write", "role_name": "write"})

    async def _nothing(self, _: web.Request) -> web.Response:
        return web.json_response([])

    async def _missing(self, _: web.Request) -> web.Response:
        return web.json_response({"message": "Not Found"}, status=404)


def make_payload(number: int) -> bytes:
    """Comment `number`, on a pull request of the same number."""
    text = "/routing help" if number % COMMANDS_EVERY == 0 else TEXT
    return json.dumps(
        {
            "action": "created",
            "issue": {"number": number, "state": "open", "pull_request": {}},
            "comment": {
                "id": number,
                "body": text,
                "created_at": "2026-11-29T12:00:00Z",
                "user": {"login": "writer", "type": "User"},
            },
            "repository": {"full_name": NAME, "default_branch": "main"},
            "installation": {"id": 1 + number % INSTALLATIONS},
        }
    ).encode()


class Load:
    """Sends at a fixed rate, whatever the server does."""

    def __init__(self, url: str) -> None:
        self._url = url
        self.seconds: list[float] = []
        self.kept: list[int] = []
        self.statuses: Counter[str] = Counter()

    async def run(self, rate: int, seconds: int) -> None:
        """All of it."""
        connector = TCPConnector(limit=0)
        async with ClientSession(connector=connector, timeout=ClientTimeout(30)) as session:
            start = time.perf_counter()
            tasks = []
            for number in range(1, rate * seconds + 1):
                await asyncio.sleep(max(0.0, start + number / rate - time.perf_counter()))
                tasks.append(asyncio.create_task(self._send(session, number)))
            await asyncio.gather(*tasks)

    async def _send(self, session: ClientSession, number: int) -> None:
        body = make_payload(number)
        sent = headers(body, f"d-{number}")
        began = time.perf_counter()
        try:
            async with session.post(self._url, data=body, headers=sent) as answer:
                await answer.read()
                status = answer.status
        except (ClientError, ConnectionError, TimeoutError):
            self.statuses["no answer"] += 1
            return
        self.statuses[str(status)] += 1
        self.seconds.append(time.perf_counter() - began)
        if status == 202:
            self.kept.append(number)


async def measure(config: Path, hub: Hub, load: Load, rate: int, seconds: int) -> float:
    """Seconds that the server took to end what was left when the load ended."""
    runs = ExitStack()
    start = asyncio.to_thread(runs.enter_context, run_server(config))
    server = await start
    sending = asyncio.create_task(load.run(rate, seconds))
    for _ in range(KILLS):
        await asyncio.sleep(seconds / (KILLS + 1))
        await asyncio.to_thread(server.stop, signal.SIGKILL)
        server = await asyncio.to_thread(runs.enter_context, run_server(config))
    await sending
    ended = time.monotonic()
    while time.monotonic() < ended + PATIENCE_SECONDS:
        _, page = await asyncio.to_thread(server.get, "/metrics")
        left = re.findall(r'^routing_bot_queue_deliveries\{state="(?:waiting|taken)"\} (\S+)', page,
                          re.MULTILINE)  # fmt: skip
        if not sum(map(float, left)):
            break
        await asyncio.sleep(0.5)
    took = time.monotonic() - ended
    await asyncio.to_thread(server.stop)
    await asyncio.to_thread(runs.close)
    return took


async def run(address: str, rate: int, seconds: int) -> dict[str, Any]:
    """The figures."""
    hub = Hub()
    app = web.Application()
    app.add_routes(hub.routes())
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    hub.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    with tempfile.TemporaryDirectory() as folder:
        where = address or str(Path(folder, "queue.db"))
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        config = write_config(Path(folder), hub.url, queue=where, port=port)
        load = Load(f"http://127.0.0.1:{port}/webhook")
        took = await measure(config, hub, load, rate, seconds)
        queue = open_queue(where)
        done = {int(one.delivery.id[2:]) for one in queue.list(State.DONE, 10**7)}
        queue.close()
    await runner.cleanup()
    answered = Counter(int(re.findall(r"reply=(\d+)/", body)[0]) for body in hub.replies.values())
    wanted = {one for one in load.kept if one % COMMANDS_EVERY == 0}
    cuts = statistics.quantiles(load.seconds, n=1000)
    return {
        "sent": rate * seconds,
        "answers": dict(load.statuses),
        "acknowledged": len(load.kept),
        "not handled": len(set(load.kept) - done),
        "commands": len(wanted),
        "without a reply": len(wanted - set(answered)),
        "replies that are there twice": sum(count > 1 for count in answered.values()),
        "replies not ended": sum("state=done" not in body for body in hub.replies.values()),
        "p50 ms": round(cuts[499] * 1000, 1),
        "p99 ms": round(cuts[989] * 1000, 1),
        "slowest ms": round(max(load.seconds) * 1000, 1),
        "seconds until the queue was empty": round(took, 1),
    }


def main() -> int:
    """Run it, and judge it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--rate", type=int, default=200)
    parser.add_argument("--queue", choices=("sqlite", "postgres"), default="sqlite")
    given = parser.parse_args()
    with ExitStack() as stack:
        address = ""
        if given.queue == "postgres":
            if reason := why_not():
                parser.error(reason)
            address = stack.enter_context(run_postgres(syncs=True)).new_address()
        found = asyncio.run(run(address, given.rate, given.seconds))
    print(json.dumps({"queue": given.queue, **found}, indent=2))  # noqa: T201
    wrong = ("not handled", "without a reply", "replies that are there twice", "replies not ended")
    is_fast = found["p99 ms"] < MOST_P99_SECONDS * 1000
    return 0 if is_fast and not any(found[one] for one in wrong) else 1


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        sys.exit(main())
