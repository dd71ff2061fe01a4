"""The server: the door, the queue, the workers, and how they begin and end together."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from aiohttp import web

from routing_action.bot.server.app import GitHubApp, describe_error
from routing_action.bot.server.events import EVENTS
from routing_action.bot.server.handler import Handler
from routing_action.bot.server.intake import Intake
from routing_action.bot.server.meter import Meter
from routing_action.bot.server.missed import ask_again, find_start
from routing_action.bot.server.page import PAGE_PATH, Links, Pages
from routing_action.bot.server.queue.deliveries import Queue
from routing_action.bot.server.queue.keeper import Keeper
from routing_action.bot.server.queue.open_queue import claim_file, is_shared, open_queue
from routing_action.bot.server.settings import ServerSettings
from routing_action.bot.server.worker import MOST_ATTEMPTS, Workers
from routing_action.errors import HarnessError
from routing_action.github.failures import ApiError

HOOK_PATH = "/webhook"
_MISSED_SECONDS = 600.0
_READY_SECONDS = 2.0
_LAST_ANSWERS_SECONDS = 5.0

_log = logging.getLogger("routing_action.bot")


def serve(settings: ServerSettings, tell: Callable[[str], None]) -> bool:
    """Serve until SIGTERM or SIGINT; `tell` hears the address. True where all work had ended.

    Raises UsageError for secrets that cannot be used, HarnessError for the queue or the port.
    """
    secrets, key = settings.read_webhook_secrets(), settings.read_private_key()
    app = GitHubApp(settings.api_url, settings.app_id, key)
    meter = Meter()
    links = Links(settings.page_address, secrets)
    handler = Handler(app, settings.api_url, settings.server_url, meter.tell_budget, links.make)
    address = settings.read_queue()
    with ExitStack() as stack:
        if not is_shared(address):
            stack.enter_context(claim_file(Path(address)))
        queue = open_queue(address)
        stack.callback(queue.close)
        door = queue
        if is_shared(address):
            door = open_queue(address)  # a connection of its own: workers do not delay answers
            stack.callback(door.close)
        else:
            # Nobody else works on the file: what was taken is lost.
            now = time.time()
            queue.recover(now + 1, now, MOST_ATTEMPTS)
        server = _Server(settings, secrets, app, meter, links)
        return asyncio.run(server.run(door, queue, handler, tell))


class _Server:
    def __init__(
        self,
        settings: ServerSettings,
        secrets: tuple[str, ...],
        app: GitHubApp,
        meter: Meter,
        links: Links,
    ) -> None:
        self._settings = settings
        self._secrets = secrets
        self._app = app
        self._meter = meter
        self._links = links

    async def run(
        self, door: Queue, queue: Queue, handle: Handler, tell: Callable[[str], None]
    ) -> bool:
        """All of it, until a signal comes."""
        settings = self._settings
        name = f"{socket.gethostname()}-{os.getpid()}-{time.time_ns()}"
        workers = Workers(
            queue, handle, name=name, size=settings.workers, count=self._meter.count_handled
        )
        keeper = Keeper(door)
        runner = web.AppRunner(
            self._routes(keeper, queue, handle),
            access_log=None,
            shutdown_timeout=_LAST_ANSWERS_SECONDS,
            auto_decompress=False,
        )
        await runner.setup()
        try:
            await self._listen(runner, tell)
            ends = asyncio.Event()
            loop = asyncio.get_running_loop()
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.add_signal_handler(number, ends.set)
            helpers = [loop.create_task(one) for one in (keeper.run(), self._find_missed(queue))]
            work = loop.create_task(workers.run(settings.grace_seconds))
            await asyncio.wait([work, loop.create_task(ends.wait())], return_when="FIRST_COMPLETED")
            _log.info("ending: nothing new is begun")
            workers.stop()
        finally:
            # Answers what is coming in, and takes nothing new.
            await runner.cleanup()
        is_done = await work
        for one in helpers:
            one.cancel()
        await asyncio.gather(*helpers, return_exceptions=True)
        return is_done

    def _routes(self, keeper: Keeper, queue: Queue, handler: Handler) -> web.Application:
        intake = Intake(keeper, self._secrets, EVENTS, self._meter.count_taken)

        async def healthz(_: web.Request) -> web.Response:
            return web.json_response({"alive": True})

        async def readyz(_: web.Request) -> web.Response:
            try:
                depth = asyncio.to_thread(queue.depth, time.time())
                await asyncio.wait_for(depth, _READY_SECONDS)
            except Exception as error:
                _log.error("not ready: the queue does not answer: %s", type(error).__name__)
                return web.json_response({"ready": False}, status=503)
            return web.json_response({"ready": True})

        async def metrics(_: web.Request) -> web.Response:
            depth = await asyncio.to_thread(queue.depth, time.time())
            kind = {"Content-Type": "text/plain; version=0.0.4; charset=utf-8"}
            return web.Response(body=self._meter.render(depth), headers=kind)

        app = web.Application()
        app.router.add_post(HOOK_PATH, intake.take)
        app.router.add_get("/healthz", healthz)
        app.router.add_get("/readyz", readyz)
        app.router.add_get("/metrics", metrics)
        if self._settings.page_address:
            pages = Pages(self._links, handler.find_report)
            app.router.add_get(PAGE_PATH, pages.show)
        return app

    async def _listen(self, runner: web.AppRunner, tell: Callable[[str], None]) -> None:
        host, port = self._settings.host, self._settings.port
        try:
            await web.TCPSite(runner, host, port).start()
        except OSError as error:
            raise HarnessError(
                f"cannot listen on {host}:{port}: {os.strerror(error.errno or 0)}",
                remedy="set host and port to what is free on this machine",
            ) from None
        bound = runner.addresses[0]
        tell(f"listening on http://{bound[0]}:{bound[1]}{HOOK_PATH}")

    async def _find_missed(self, queue: Queue) -> None:
        """At the start and from time to time: GitHub itself sends a delivery once."""
        since = await asyncio.to_thread(find_start, queue, time.time())
        while True:
            began = time.time()
            try:
                count = await asyncio.to_thread(
                    ask_again, self._app, queue, frozenset(EVENTS), since
                )
            except ApiError as error:
                _log.warning("cannot ask for missed deliveries: %s", describe_error(error))
            except Exception:
                _log.exception("cannot ask for missed deliveries")
            else:
                since = began - _MISSED_SECONDS
                if count:
                    _log.info("asked GitHub for %d missed deliveries again", count)
            await asyncio.sleep(_MISSED_SECONDS)
