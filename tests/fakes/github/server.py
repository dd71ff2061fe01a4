"""Serves the stand-in over HTTP on a thread of its own, for real clients."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from aiohttp import web

import github.Repository
from routing_action.github.client import open_repository
from tests.fakes.github.repository import NAME, DisconnectedError, Repository


@contextmanager
def serve(repository: Repository, more: Sequence[web.RouteDef] = ()) -> Iterator[str]:
    """The address of the API; `more` are further routes of the same server."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    runner, url = asyncio.run_coroutine_threadsafe(_start(repository, more), loop).result(30)
    repository.api_url = url
    try:
        yield url
    finally:
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(30)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(30)
        loop.close()


async def _start(repository: Repository, more: Sequence[web.RouteDef]) -> tuple[web.AppRunner, str]:
    app = web.Application(client_max_size=64 * 2**20)
    app.add_routes([*more, web.route("*", "/{path:.*}", _answer(repository))])
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    return runner, f"http://{host}:{port}"


def _answer(repository: Repository) -> Any:
    async def answer(request: web.Request) -> web.StreamResponse:
        data = await request.read()
        token = request.headers.get("Authorization", "").rpartition(" ")[2]
        body = json.loads(data) if data else None
        try:
            found = repository.send(request.method, str(request.rel_url), body, token)
        except DisconnectedError:
            assert request.transport is not None
            request.transport.abort()
            raise
        if found.status == 204:
            return web.Response(status=204)
        return web.json_response(found.body, status=found.status, headers=dict(found.headers))

    return answer


def connect(served: Repository, token: str = "t") -> github.Repository.Repository:  # noqa: S107
    """The stand-in as PyGithub sees it, without PyGithub's own pauses."""
    return open_repository(served.api_url, NAME, token, pause_seconds=0, write_seconds=0)
