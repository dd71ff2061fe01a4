"""Scripts for a scripted model: what it says and does, step by step, whichever API is spoken.

Pure: from a conversation to the turn that is due. A script must not judge anything: no rule about
skills, tiers or verdicts belongs here.

A conversation says by itself which step is due: every tool call has an id that holds the number
of its step::

    {"steps": [{"say": "I look first.", "do": [["shell", "ls"]]},
               {"do": [["skill", "widget-testing"]]},
               {"say": "Done."}]}
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from tests.live.mock_dialects import Json, Turn

SKILL_FILE = ".agents/skills/{name}/SKILL.md"
_STEP_IDS = re.compile(r"(?:toolu|call)_([a-z]+)_(\d+)_\d+")
_TOOLS = {
    "skill": ("Skill", "skill", "skills", "activate_skill"),
    "shell": (
        "Bash",
        "bash",
        "exec_command",
        "shell_command",
        "run_shell_command",
        "shell",
        "Execute",
        "run_commands",
    ),
    "read": ("Read", "view", "read_file", "read", "read_files"),
    "task": ("Agent", "Task", "task", "agent", "spawn_agent"),
}
_PARAMETERS = {
    "skill": ("skill", "name"),
    "shell": ("command", "cmd", "commands"),
    "read": ("file_path", "filePath", "path", "files"),
    "task": ("prompt", "task"),
}  # fmt: skip
_EXTRAS: dict[str, Json] = {
    "shell": {"description": "Run a command", "summary": "Run a command", "riskLevel": "low"},
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

    def script_for(self, agent: str, conversation: str) -> Script:
        """The same script for everybody."""
        return self


class Scripts(Protocol):
    """Which script is played to whom, where one server plays several at once."""

    def script_for(self, agent: str, conversation: str) -> Script:
        """The script of a conversation (its JSON text) with an agent."""
        ...


@dataclass(frozen=True, slots=True)
class Book:
    """Scripts by the prompt that they answer; a prompt can have another script for one agent.

    Which is meant is known by the prompt, or by that of a sub-agent's task, in the conversation.
    """

    scripts: Mapping[str, Script]
    own: Mapping[tuple[str, str], Script] = field(default_factory=dict)

    def script_for(self, agent: str, conversation: str) -> Script:
        """The script whose prompt stands in the conversation; LookupError where none does."""
        for prompt, shared in self.scripts.items():
            script = self.own.get((agent, prompt), shared)
            if any(_quoted(words) in conversation for words in (prompt, *script.tasks)):
                return script
        raise LookupError(f"no script for what {agent} says: {conversation[:300]}")


def _quoted(words: str) -> str:
    return json.dumps(words)[1:-1]


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
            if _quoted(prompt) in conversation:
                thread, steps = "sub", task_steps
    number = max((number for name, number in seen if name == thread), default=-1) + 1
    return thread, number, steps[min(number, len(steps) - 1)]


def translate_call(call: Call, tools: Mapping[str, Json], skill_file: str) -> tuple[str, Json]:
    """Return the tool's name and arguments for a call, given the schemas the CLI offered.

    Where there is no tool for skills, the file is read; where there is none for that, the shell
    prints it. Raises
    LookupError where no offered tool can do it.
    """
    if isinstance(call.argument, dict):
        return call.kind, call.argument
    if name := next((name for name in _TOOLS[call.kind] if name in tools), None):
        return name, _build_arguments(call.kind, call.argument, tools[name].get("properties", {}))
    if call.kind == "skill":
        path = skill_file.format(name=call.argument.rpartition(":")[2])
        if any(name in tools for name in _TOOLS["read"]):
            return translate_call(Call("read", path), tools, skill_file)
        return translate_call(Call("shell", f"sed -n '1,240p' {path}"), tools, skill_file)
    if call.kind == "read":
        return translate_call(Call("shell", f"cat {call.argument}"), tools, skill_file)
    raise LookupError(f"no tool for {call.kind} among {sorted(tools)}")


def _build_arguments(kind: str, argument: str, properties: Json) -> Json:
    """Fill the main parameter, under the name this CLI has for it, and those that go with it."""
    parameter = next((name for name in _PARAMETERS[kind] if name in properties), None)
    extra = _EXTRAS.get(kind, {})
    chosen = {key: value for key, value in extra.items() if key in properties}
    parameter = parameter or _PARAMETERS[kind][0]
    lists: Json = {"commands": [argument], "files": [{"path": argument}]}
    return {parameter: lists.get(parameter, argument), **chosen}


def build_turn(
    script: Script, model: str, text: str, tools: Mapping[str, Json], serial: int, *, side: str
) -> Turn | Step:
    """Return the turn to stream, or the bare step where it is an error or a hang.

    `text` is the conversation. A request that offers no tools (a title, a summary) gets the
    answer `side` and uses up no step.
    """
    thread, number, step = choose_step(script, text)
    if step.status is not None or step.hang:
        return step
    tokens = len(text) // 4
    if not tools:
        return Turn(serial, model, side, (), tokens)
    calls = tuple(
        (f"{thread}_{number}_{index}", *translate_call(call, tools, script.skill_file))
        for index, call in enumerate(step.do)
    )
    return Turn(serial, model, step.say, calls, tokens)
