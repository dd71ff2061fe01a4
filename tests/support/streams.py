"""Small transcripts in the real formats of the agent CLIs, built from one vocabulary for all five.

The shapes are those of tests/recordings; only fields that a reader could look at are kept.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

Record = dict[str, Any]

AGENTS = ("claude", "codex", "copilot", "gemini", "opencode")
ROOTS = {
    "claude": "/repo/.claude/skills",
    "codex": "/repo/.agents/skills",
    "copilot": "/repo/.github/skills",
    "gemini": "/repo/.gemini/skills",
    "opencode": "/repo/.opencode/skills",
}


def skill_path(agent: str, skill: str) -> str:
    return f"{ROOTS[agent]}/{skill}/SKILL.md"


def skill_text(skill: str) -> str:
    return f"---\nname: {skill}\ndescription: Use for {skill}.\n---\n\n# {skill}\n\nBody.\n"


def jsonl(*records: Record) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


# ---- one function a fact, the same for every agent


def run_of(agent: str, *records: Record) -> bytes:
    """A whole healthy run: what opens the stream, the records, and the terminal event."""
    return jsonl(*OPENING[agent], *records, *ENDING[agent])


def say(agent: str, text: str) -> Record:
    """Text that the assistant wrote."""
    return _SAY[agent](text)


def shell(agent: str, command: str, output: str = "", exit_code: int = 0) -> list[Record]:
    """A shell command with its result."""
    return _SHELL[agent](command, output, exit_code)


def view(agent: str, path: str, content: str = "", *, ok: bool = True) -> list[Record]:
    """A file read by the agent's own tool, or by `cat` where it has none."""
    content = content or skill_text("widget-testing")
    if agent == "codex":
        return codex_shell(f"cat {path}", content if ok else "No such file", 0 if ok else 1)
    return _tool(agent, _VIEWERS[agent][0], {_VIEWERS[agent][1]: path}, content, ok=ok)


def load(agent: str, skill: str, *, ok: bool = True) -> list[Record]:
    """A native load of a skill; with `ok` off, the same call with an error as its result."""
    if agent == "codex":
        path = skill_path(agent, skill)
        missing = f"sed: can't read {path}: No such file or directory"
        output = skill_text(skill) if ok else missing
        return codex_shell(f"sed -n '1,200p' {path}", output, 0 if ok else 2)
    name, argument = _SKILL_TOOLS[agent]
    outputs = {
        "claude": f"Launching skill: {skill}",
        "gemini": f"Skill **{skill}** activated. Resources loaded from `{ROOTS[agent]}/{skill}`:",
    }
    output = outputs.get(agent, "loaded") if ok else f"Unknown skill: {skill}"
    return _tool(agent, name, {argument: skill}, output, ok=ok)


def other_tool(agent: str, name: str, arguments: Record, output: str = "") -> list[Record]:
    """A call of some other tool, with success."""
    if agent == "codex":
        item = {"id": "m1", "type": "mcp_tool_call", "server": "files", "tool": name}
        result = {"content": [{"type": "text", "text": output}]}
        fields = {"arguments": arguments, "status": "completed", "result": result}
        return [{"type": "item.completed", "item": {**item, **fields}}]
    return _tool(agent, name, arguments, output, ok=True)


def _tool(agent: str, name: str, arguments: Record, output: str, *, ok: bool) -> list[Record]:
    identity = f"call:{name}:{json.dumps(arguments)}"
    return _TOOL[agent](identity, name, arguments, output, ok)


_SKILL_TOOLS = {
    "claude": ("Skill", "skill"),
    "copilot": ("skill", "skill"),
    "gemini": ("activate_skill", "name"),
    "opencode": ("skill", "name"),
}
_VIEWERS = {
    "claude": ("Read", "file_path"),
    "copilot": ("view", "path"),
    "gemini": ("read_file", "file_path"),
    "opencode": ("read", "filePath"),
}

# ---- claude


def claude_says(*blocks: Record, parent: str | None = None) -> Record:
    """An assistant message; `parent` is the call that started the sub-agent it belongs to."""
    message = {"role": "assistant", "model": "m", "content": list(blocks)}
    return {"type": "assistant", "message": message, "parent_tool_use_id": parent}


def claude_call(identity: str, name: str, parent: str | None = None, **arguments: Any) -> Record:  # noqa: ANN401
    block = {"type": "tool_use", "id": identity, "name": name, "input": arguments}
    return claude_says(block, parent=parent)


def claude_result(
    identity: str, content: object, *, is_error: bool = False, parent: str | None = None
) -> Record:
    block = {"type": "tool_result", "tool_use_id": identity, "content": content}
    message = {"role": "user", "content": [{**block, "is_error": is_error}]}
    return {"type": "user", "message": message, "parent_tool_use_id": parent}


def claude_base(path: str) -> Record:
    """The synthetic text that follows a real load."""
    text = f"Base directory for this skill: {path}\n\n# body\n"
    message = {"role": "user", "content": [{"type": "text", "text": text}]}
    return {"type": "user", "message": message, "parent_tool_use_id": None, "isSynthetic": True}


def claude_init(**fields: object) -> Record:
    init = {"type": "system", "subtype": "init", "cwd": "/repo", "model": "m"}
    return {**init, "claude_code_version": "2.1.0", **fields}


def claude_end(**fields: object) -> Record:
    end = {"type": "result", "subtype": "success", "is_error": False, "num_turns": 2}
    return {**end, "result": "Done.", "usage": {"input_tokens": 3, "output_tokens": 2}, **fields}


def _claude_tool(
    identity: str, name: str, arguments: Record, output: str, ok: bool
) -> list[Record]:
    return [
        claude_call(identity, name, **arguments),
        claude_result(identity, output, is_error=not ok),
    ]


def _claude_shell(command: str, output: str, exit_code: int) -> list[Record]:
    return _claude_tool(command, "Bash", {"command": command}, output, exit_code == 0)


# ---- codex


def codex_item(kind: str, **fields: object) -> Record:
    return {"type": "item.completed", "item": {"id": f"item:{fields}", "type": kind, **fields}}


def codex_shell(command: str, output: str = "", exit_code: int = 0) -> list[Record]:
    item = {"id": f"item:{command}", "type": "command_execution", "command": command}
    started = {**item, "aggregated_output": "", "exit_code": None, "status": "in_progress"}
    status = "completed" if exit_code == 0 else "failed"
    done = {**item, "aggregated_output": output, "exit_code": exit_code, "status": status}
    return [{"type": "item.started", "item": started}, {"type": "item.completed", "item": done}]


# ---- copilot


def copilot_event(kind: str, **data: object) -> Record:
    return {"type": kind, "data": data, "id": "e", "timestamp": "2026-11-27T21:24:17.403Z"}


def _copilot_tool(
    identity: str, name: str, arguments: Record, output: str, ok: bool
) -> list[Record]:
    start = {"toolCallId": identity, "toolName": name, "arguments": arguments}
    end = {"toolCallId": identity, "success": ok, "result": {"content": output}}
    request = {"toolCallId": identity, "name": name, "arguments": arguments}
    return [
        copilot_event("assistant.message", content="", toolRequests=[request]),
        copilot_event("tool.execution_start", **start),
        copilot_event("tool.execution_complete", **end),
    ]


def _copilot_shell(command: str, output: str, exit_code: int) -> list[Record]:
    marked = f"{output}<shellId: 0 completed with exit code {exit_code}>"
    return _copilot_tool(command, "bash", {"command": command}, marked, True)


# ---- gemini


def _gemini_tool(
    identity: str, name: str, arguments: Record, output: str, ok: bool
) -> list[Record]:
    call = {"type": "tool_use", "tool_name": name, "tool_id": identity, "parameters": arguments}
    status = "success" if ok else "error"
    return [call, {"type": "tool_result", "tool_id": identity, "status": status, "output": output}]


def _gemini_shell(command: str, output: str, exit_code: int) -> list[Record]:
    told = output if exit_code == 0 else f"{output}\nExit Code: {exit_code}"
    return _gemini_tool(command, "run_shell_command", {"command": command}, told, True)


# ---- opencode


def opencode_part(kind: str, **part: object) -> Record:
    return {"type": kind, "timestamp": 1, "sessionID": "ses_1", "part": part}


def _opencode_tool(
    identity: str, name: str, arguments: Record, output: str, ok: bool
) -> list[Record]:
    state = {"status": "completed" if ok else "error", "input": arguments, "metadata": {}}
    told = {"output": output} if ok else {"error": output}
    return [opencode_part("tool_use", tool=name, callID=identity, state={**state, **told})]


def _opencode_shell(command: str, output: str, exit_code: int) -> list[Record]:
    metadata = {"output": output, "exit": exit_code}
    state = {"status": "completed", "input": {"command": command}, "metadata": metadata}
    part = {"tool": "bash", "callID": command, "state": {**state, "output": output}}
    return [opencode_part("tool_use", **part)]


# ---- the tables behind the vocabulary

OPENING: dict[str, tuple[Record, ...]] = {
    "claude": (claude_init(),),
    "codex": ({"type": "thread.started", "thread_id": "t"}, {"type": "turn.started"}),
    "copilot": (copilot_event("user.message", content="prompt"),),
    "gemini": (
        {"type": "init", "session_id": "s", "model": "m"},
        {"type": "message", "role": "user", "content": "prompt"},
    ),
    "opencode": (opencode_part("step_start"),),
}
ENDING: dict[str, tuple[Record, ...]] = {
    "claude": (claude_end(),),
    "codex": ({"type": "turn.completed", "usage": {"input_tokens": 3, "output_tokens": 2}},),
    "copilot": ({"type": "result", "sessionId": "s", "exitCode": 0, "usage": {}},),
    "gemini": ({"type": "result", "status": "success", "stats": {"total_tokens": 5}},),
    "opencode": (opencode_part("step_finish", reason="stop", tokens={"input": 3, "output": 2}),),
}
_SAY: dict[str, Callable[[str], Record]] = {
    "claude": lambda text: claude_says({"type": "text", "text": text}),
    "codex": lambda text: codex_item("agent_message", text=text),
    "copilot": lambda text: copilot_event("assistant.message", content=text, toolRequests=[]),
    "gemini": lambda text: {"type": "message", "role": "assistant", "content": text, "delta": True},
    "opencode": lambda text: opencode_part("text", text=text),
}
_SHELL: dict[str, Callable[[str, str, int], list[Record]]] = {
    "claude": _claude_shell,
    "codex": codex_shell,
    "copilot": _copilot_shell,
    "gemini": _gemini_shell,
    "opencode": _opencode_shell,
}
_TOOL: dict[str, Callable[[str, str, Record, str, bool], list[Record]]] = {
    "claude": _claude_tool,
    "copilot": _copilot_tool,
    "gemini": _gemini_tool,
    "opencode": _opencode_tool,
}
