"""A scripted model server on loopback, so that real agent CLIs can run without a real model.

Speaks as much of three public APIs as the CLIs need: Anthropic Messages, OpenAI Responses and
OpenAI Chat Completions. It plays a script and must not judge anything: no rule about skills,
tiers or verdicts belongs here.

The server keeps no conversation. Every tool call it makes has an id that holds the number of
its step, so that the next request says by itself which step is due::

    {"steps": [{"say": "I look first.", "do": [["shell", "ls"]]},
               {"do": [["skill", "widget-testing"]]},
               {"say": "Done."}]}
"""

import argparse
import asyncio
import contextlib
import json
import re
import sys
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web

from tests.live.mock_dialects import DIALECTS, Dialect, Event, Json, Turn

SKILL_FILE = ".agents/skills/{name}/SKILL.md"
SIDE_ANSWER = "Working on it"
_STEP_IDS = re.compile(r"(?:toolu|call)_([a-z]+)_(\d+)_\d+")
_TOOLS = {
    "skill": ("Skill", "skill", "activate_skill"),
    "shell": ("Bash", "bash", "exec_command", "shell_command", "run_shell_command", "shell"),
    "read": ("Read", "view", "read_file"),
    "task": ("Agent", "Task", "task"),
}
_PARAMETERS = {
    "skill": ("skill", "name"),
    "shell": ("command", "cmd"),
    "read": ("file_path", "path"),
    "task": ("prompt",),
}
_EXTRAS: dict[str, Json] = {
    "shell": {"description": "Run a command"},
    "task": {
        "description": "Look into it",
        "subagent_type": "general-purpose",
        "agent_type": "general-purpose",
        "name": "helper",
        "mode": "sync",
        "run_in_background": False,
    },
}


@dataclass(frozen=True, slots=True)
class Call:
    """One thing to do, told without a CLI's own tool name.

    `kind` is skill, shell, read, task, or the exact name of a tool; `argument` is what it is
    done to, or for an exact tool name its JSON arguments.
    """

    kind: str
    argument: str | Json


@dataclass(frozen=True, slots=True)
class Step:
    """One answer of the model: words, then calls; or an HTTP error; or silence for ever."""

    say: str = ""
    do: tuple[Call, ...] = ()
    status: int | None = None
    error: str = "api_error"
    hang: bool = False


@dataclass(frozen=True, slots=True)
class Script:
    """The steps of the main agent, and those of a sub-agent, known by the prompt it was given.

    The last step repeats. `skill_file` is what is printed by the shell where a CLI has no tool
    for skills, with `{name}` for the skill.
    """

    steps: tuple[Step, ...]
    tasks: Mapping[str, tuple[Step, ...]] = field(default_factory=dict)
    skill_file: str = SKILL_FILE


def parse_script(document: Mapping[str, Any]) -> Script:
    """Read the JSON form shown in the module's docstring; raises KeyError or TypeError."""
    return Script(
        steps=_parse_steps(document["steps"]),
        tasks={key: _parse_steps(value) for key, value in document.get("tasks", {}).items()},
        skill_file=document.get("skill_file", SKILL_FILE),
    )


def _parse_steps(documents: Iterable[Mapping[str, Any]]) -> tuple[Step, ...]:
    return tuple(
        Step(**{**document, "do": tuple(Call(*call) for call in document.get("do", ()))})
        for document in documents
    )


# --- from a request to a turn -------------------------------------------------------------


def choose_step(script: Script, conversation: str) -> tuple[str, int, Step]:
    """Return thread name, number and step due for a conversation (its JSON text).

    A sub-agent's conversation holds the prompt of its task but no call of the main agent.
    """
    seen = [(name, int(number)) for name, number in _STEP_IDS.findall(conversation)]
    thread, steps = "main", script.steps
    if not any(name == "main" for name, _ in seen):
        for prompt, task_steps in script.tasks.items():
            if json.dumps(prompt)[1:-1] in conversation:
                thread, steps = "sub", task_steps
    number = max((number for name, number in seen if name == thread), default=-1) + 1
    return thread, number, steps[min(number, len(steps) - 1)]


def translate_call(call: Call, tools: Mapping[str, Json], skill_file: str) -> tuple[str, Json]:
    """Return the tool's name and arguments for a call, given the schemas the CLI offered.

    Where there is no tool for skills or for reading, the shell prints the file. Raises
    LookupError where no offered tool can do it.
    """
    if isinstance(call.argument, dict):
        return call.kind, call.argument
    if name := next((name for name in _TOOLS[call.kind] if name in tools), None):
        return name, _build_arguments(call.kind, call.argument, tools[name].get("properties", {}))
    if call.kind == "skill":
        path = skill_file.format(name=call.argument.rpartition(":")[2])
        return translate_call(Call("shell", f"sed -n '1,240p' {path}"), tools, skill_file)
    if call.kind == "read":
        return translate_call(Call("shell", f"cat {call.argument}"), tools, skill_file)
    raise LookupError(f"no tool for {call.kind} among {sorted(tools)}")


def _build_arguments(kind: str, argument: str, properties: Json) -> Json:
    """Fill the main parameter, under the name this CLI has for it, and those that go with it."""
    parameter = next((name for name in _PARAMETERS[kind] if name in properties), None)
    extra = _EXTRAS.get(kind, {})
    chosen = {key: value for key, value in extra.items() if key in properties}
    return {parameter or _PARAMETERS[kind][0]: argument, **chosen}


def build_turn(
    script: Script, request: Json, conversation: object, tools: Mapping[str, Json], serial: int
) -> Turn | Step:
    """Return the turn to stream, or the bare step where it is an error or a hang.

    A request that offers no tools (a title, a summary) gets a short answer and uses up no step.
    """
    text = json.dumps(conversation)
    thread, number, step = choose_step(script, text)
    if step.status is not None or step.hang:
        return step
    tokens = len(text) // 4
    if not tools:
        return Turn(serial, request["model"], SIDE_ANSWER, (), tokens)
    calls = tuple(
        (f"{thread}_{number}_{index}", *translate_call(call, tools, script.skill_file))
        for index, call in enumerate(step.do)
    )
    return Turn(serial, request["model"], step.say, calls, tokens)


# --- the server ---------------------------------------------------------------------------


@dataclass(slots=True)
class MockModels:
    """The request handlers for one script; `requests` keeps what was asked, oldest first."""

    script: Script
    think_seconds: float = 0.0
    event_seconds: float = 0.0
    requests: list[Json] = field(default_factory=list)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer any request: a known dialect by the script, a list of models, or 404."""
        for suffix, dialect in DIALECTS.items():
            if request.method == "POST" and request.path.endswith(suffix):
                return await self._answer(request, dialect)
        if request.path.endswith("/count_tokens"):
            return web.json_response({"input_tokens": len(await request.read()) // 4})
        if request.path.endswith("/models"):
            return web.json_response({"object": "list", "data": []})
        return web.json_response(
            {"error": {"message": "not found", "type": "not_found"}}, status=404
        )

    async def _answer(self, request: web.Request, dialect: Dialect) -> web.StreamResponse:
        body: Json = await request.json()
        self.requests.append(body)
        conversation, tools = body.get(dialect.conversation), dialect.tools(body)
        turn = build_turn(self.script, body, conversation, tools, len(self.requests))
        await asyncio.sleep(self.think_seconds)
        if isinstance(turn, Step):
            return await _refuse(turn)
        if not body.get("stream"):
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
    return web.json_response({"type": "error", "error": error}, status=step.status or 500)


@contextlib.asynccontextmanager
async def serve(
    steps: Script | Sequence[Step],
    port: int = 0,
    *,
    think_seconds: float = 0.0,
    event_seconds: float = 0.0,
    requests: list[Json] | None = None,
) -> AsyncIterator[str]:
    """Play a script on 127.0.0.1 and yield the base URL, without a path; port 0 picks a free one.

    `think_seconds` passes before each answer and `event_seconds` after each event of it. A list
    given as `requests` is filled with the bodies received.
    """
    script = steps if isinstance(steps, Script) else Script(tuple(steps))
    models = MockModels(script, think_seconds, event_seconds, [] if requests is None else requests)
    application = web.Application(client_max_size=64 * 2**20)
    application.router.add_route("*", "/{path:.*}", models.handle)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.2)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", port)
        await site.start()
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
