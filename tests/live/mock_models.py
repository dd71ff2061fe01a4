"""A scripted model server on loopback, so that real agent CLIs can run without a real model.

Speaks as much of four public APIs as the CLIs need: Anthropic Messages, OpenAI Responses, OpenAI
Chat Completions and Gemini. It plays the scripts of `mock_scripts` and judges nothing.
"""

import argparse
import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from aiohttp import web

from tests.live.mock_dialects import DIALECTS, Dialect, Event, Json
from tests.live.mock_scripts import Script, Scripts, Step, build_turn, parse_script

# --- the server ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that came in. The first part of the path says which agent it is."""

    agent: str
    path: str
    headers: str
    text: str


@dataclass(slots=True)
class MockModels:
    """The request handlers; `asked` keeps what was asked, oldest first."""

    scripts: Scripts
    think_seconds: float = 0.0
    event_seconds: float = 0.0
    asked: list[Asked] = field(default_factory=list)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer any request: a known dialect by the script, a list of models, or 404."""
        body = await request.text()
        agent = request.path.split("/")[1]
        self.asked.append(Asked(agent, request.path, repr(dict(request.headers)), body))
        for suffix, dialect in DIALECTS.items():
            if request.method == "POST" and request.path.endswith(suffix):
                return await self._answer(request, dialect, agent, json.loads(body))
        if request.path.endswith("/count_tokens"):
            return web.json_response({"input_tokens": len(body) // 4})
        if request.path.endswith("/models"):
            return web.json_response({"object": "list", "data": []})
        return web.json_response(
            {"error": {"message": "not found", "type": "not_found"}}, status=404
        )

    async def _answer(
        self, request: web.Request, dialect: Dialect, agent: str, body: Json
    ) -> web.StreamResponse:
        text, tools = json.dumps(body.get(dialect.conversation)), dialect.tools(body)
        script = self.scripts.script_for(agent, text)
        model = body.get("model", "mock")
        turn = build_turn(script, model, text, tools, len(self.asked), side=dialect.side)
        await asyncio.sleep(self.think_seconds)
        if isinstance(turn, Step):
            return await _refuse(turn)
        if not (dialect.streams or body.get("stream")):
            return web.json_response(dialect.whole(turn))
        return await self._stream(request, dialect.events(turn))

    async def _stream(self, request: web.Request, events: Iterator[Event]) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        with contextlib.suppress(ConnectionError):  # a CLI may hang up after the last event
            for name, data in events:
                label = f"event: {name}\n" if name else ""
                text = data if isinstance(data, str) else json.dumps(data)
                await response.write(f"{label}data: {text}\n\n".encode())
                await asyncio.sleep(self.event_seconds)
            await response.write_eof()
        return response


async def _refuse(step: Step) -> web.Response:
    if step.hang:
        await asyncio.Event().wait()
    error = {"type": step.error, "code": step.error, "message": step.say or "scripted error"}
    soon = {"Retry-After": "1"}  # no CLI is to wait for long
    return web.json_response(
        {"type": "error", "error": error}, status=step.status or 500, headers=soon
    )


@contextlib.asynccontextmanager
async def serve(
    scripts: Scripts | Sequence[Step],
    place: int | Path = 0,
    *,
    think_seconds: float = 0.0,
    event_seconds: float = 0.0,
    asked: list[Asked] | None = None,
) -> AsyncIterator[str]:
    """Play scripts on 127.0.0.1 and yield the base URL, without a path; port 0 picks a free one.

    A path as the place is that of a Unix socket, which is yielded as it is. `think_seconds` pass
    before each answer and `event_seconds` after each event of it. A list given as `asked` is
    filled with the requests.
    """
    played = Script(tuple(scripts)) if isinstance(scripts, Sequence) else scripts
    models = MockModels(played, think_seconds, event_seconds, [] if asked is None else asked)
    application = web.Application(client_max_size=64 * 2**20)
    application.router.add_route("*", "/{path:.*}", models.handle)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.2)
    await runner.setup()
    try:
        if isinstance(place, Path):
            await web.UnixSite(runner, str(place)).start()
            yield str(place)
        else:
            await web.TCPSite(runner, "127.0.0.1", place).start()
            yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def _serve_for_ever(script: Script, port: int) -> None:
    async with serve(script, port, think_seconds=0.2, event_seconds=0.01) as url:
        sys.stdout.write(f"{url}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve one script file until interrupted; prints the base URL on stdout."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("script", type=Path, help='JSON file: {"steps": [...]}')
    parser.add_argument("--port", type=int, default=0, help="0 picks a free one")
    options = parser.parse_args(arguments)
    script = parse_script(json.loads(options.script.read_text(encoding="utf-8")))
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve_for_ever(script, options.port))
    return 0


if __name__ == "__main__":
    sys.exit(main())
