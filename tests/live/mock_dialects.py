"""How four public APIs put one answer of a model: whole, or as server-sent events.

Pure: from a `Turn` to JSON. It knows no script, no network and no agent.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]
Event: TypeAlias = tuple[str | None, Json | str]


@dataclass(frozen=True, slots=True)
class Turn:
    """A step made concrete for one request: tool calls are (id, tool name, arguments)."""

    serial: int
    model: str
    text: str
    calls: tuple[tuple[str, str, Json], ...]
    input_tokens: int

    @property
    def output_tokens(self) -> int:
        """A rough count, four characters a token, so that usage differs from run to run."""
        return 1 + (len(self.text) + sum(len(json.dumps(call[2])) for call in self.calls)) // 4


def _pieces(text: str) -> Iterator[str]:
    """Cut between words only, so that a path is whole in some piece and can be rewritten."""
    return (found.group() for found in re.finditer(r"(?:\S+\s*){1,4}|\s+", text))


# --- Anthropic Messages -------------------------------------------------------------------


def anthropic_tools(request: Json) -> dict[str, Json]:
    """Return the schemas of the client's own tools by name."""
    return {tool["name"]: tool.get("input_schema", {}) for tool in request.get("tools") or ()}


def anthropic_message(turn: Turn) -> Json:
    """Build a whole answer."""
    content: list[Json] = [{"type": "text", "text": turn.text}] if turn.text else []
    content += [
        {"type": "tool_use", "id": f"toolu_{key}", "name": name, "input": arguments}
        for key, name, arguments in turn.calls
    ]
    return {
        "id": f"msg_mock_{turn.serial:03d}",
        "type": "message",
        "role": "assistant",
        "model": turn.model,
        "content": content,
        "stop_reason": "tool_use" if turn.calls else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": turn.input_tokens,
            "output_tokens": turn.output_tokens,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
        },
    }


def anthropic_events(turn: Turn) -> Iterator[Event]:
    """Cut the whole answer into server-sent events."""
    message = anthropic_message(turn)
    start = {**message, "content": [], "stop_reason": None}
    start["usage"] = {**message["usage"], "output_tokens": 1}

    def event(kind: str, **fields: object) -> Event:
        return kind, {"type": kind, **fields}

    yield event("message_start", message=start)
    for index, block in enumerate(message["content"]):
        is_text = block["type"] == "text"
        empty = {**block, "text": ""} if is_text else {**block, "input": {}}
        yield event("content_block_start", index=index, content_block=empty)
        for piece in _pieces(block["text"] if is_text else json.dumps(block["input"])):
            delta = (
                {"type": "text_delta", "text": piece}
                if is_text
                else {"type": "input_json_delta", "partial_json": piece}
            )
            yield event("content_block_delta", index=index, delta=delta)
        yield event("content_block_stop", index=index)
    stop = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield event("message_delta", delta=stop, usage=message["usage"])
    yield event("message_stop")


# --- OpenAI Responses ---------------------------------------------------------------------


def responses_tools(request: Json) -> dict[str, Json]:
    """Return the schemas of function tools by name, those in namespaces included."""
    found: dict[str, Json] = {}
    for tool in request.get("tools") or ():
        if tool.get("type") == "function":
            found[tool["name"]] = tool.get("parameters", {})
        elif tool.get("type") == "namespace":
            found |= {item["name"]: item.get("parameters", {}) for item in tool["tools"]}
    return found


def responses_response(turn: Turn) -> Json:
    """Build a whole answer."""
    output: list[Json] = []
    if turn.text:
        part = {"type": "output_text", "text": turn.text, "annotations": []}
        output.append(
            {
                "type": "message",
                "id": f"msg_mock_{turn.serial:03d}",
                "role": "assistant",
                "status": "completed",
                "content": [part],
            }
        )
    output += [
        {
            "type": "function_call",
            "id": f"fc_{key}",
            "call_id": f"call_{key}",
            "name": name,
            "arguments": json.dumps(arguments),
            "status": "completed",
        }
        for key, name, arguments in turn.calls
    ]
    return {
        "id": f"resp_mock_{turn.serial:03d}",
        "object": "response",
        "created_at": 0,
        "model": turn.model,
        "status": "completed",
        "output": output,
        "usage": {
            "input_tokens": turn.input_tokens,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": turn.output_tokens,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": turn.input_tokens + turn.output_tokens,
        },
    }


def responses_events(turn: Turn) -> Iterator[Event]:
    """Cut the whole answer into server-sent events."""
    response = responses_response(turn)

    def event(kind: str, **fields: object) -> Event:
        return kind, {"type": kind, **fields}

    yield event("response.created", response={**response, "status": "in_progress", "output": []})
    for index, item in enumerate(response["output"]):
        place = {"item_id": item["id"], "output_index": index}
        if item["type"] == "message":
            part = item["content"][0]
            place["content_index"] = 0
            yield event(
                "response.output_item.added", output_index=index, item={**item, "content": []}
            )
            yield event("response.content_part.added", **place, part={**part, "text": ""})
            for piece in _pieces(part["text"]):
                yield event("response.output_text.delta", **place, delta=piece)
            yield event("response.output_text.done", **place, text=part["text"])
            yield event("response.content_part.done", **place, part=part)
        else:
            added = {**item, "arguments": ""}
            yield event("response.output_item.added", output_index=index, item=added)
            for piece in _pieces(item["arguments"]):
                yield event("response.function_call_arguments.delta", **place, delta=piece)
            done = item["arguments"]
            yield event("response.function_call_arguments.done", **place, arguments=done)
        yield event("response.output_item.done", output_index=index, item=item)
    yield event("response.completed", response=response)


# --- OpenAI Chat Completions --------------------------------------------------------------


def chat_tools(request: Json) -> dict[str, Json]:
    """Return the schemas of function tools by name."""
    functions = [tool["function"] for tool in request.get("tools") or () if "function" in tool]
    return {function["name"]: function.get("parameters", {}) for function in functions}


def chat_completion(turn: Turn) -> Json:
    """Build a whole answer."""
    message: Json = {"role": "assistant", "content": turn.text or None}
    if turn.calls:
        message["tool_calls"] = [
            {
                "id": f"call_{key}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)},
            }
            for key, name, arguments in turn.calls
        ]
    finish = "tool_calls" if turn.calls else "stop"
    return {
        "id": f"chatcmpl-mock{turn.serial:03d}",
        "object": "chat.completion",
        "created": 0,
        "model": turn.model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {
            "prompt_tokens": turn.input_tokens,
            "completion_tokens": turn.output_tokens,
            "total_tokens": turn.input_tokens + turn.output_tokens,
        },
    }


def chat_events(turn: Turn) -> Iterator[Event]:
    """Cut the whole answer into server-sent events."""
    whole = chat_completion(turn)
    head = {key: whole[key] for key in ("id", "created", "model")}
    head["object"] = "chat.completion.chunk"
    choice = whole["choices"][0]

    def chunk(delta: Json, finish: str | None = None) -> Event:
        choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
        return None, {**head, "choices": choices}

    yield chunk({"role": "assistant", "content": ""})
    for piece in _pieces(turn.text):
        yield chunk({"content": piece})
    for index, call in enumerate(choice["message"].get("tool_calls", ())):
        opening = {**call, "index": index, "function": {**call["function"], "arguments": ""}}
        yield chunk({"tool_calls": [opening]})
        for piece in _pieces(call["function"]["arguments"]):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, choice["finish_reason"])
    yield None, {**head, "choices": [], "usage": whole["usage"]}
    yield None, "[DONE]"


# --- Gemini -------------------------------------------------------------------------------


def gemini_tools(request: Json) -> dict[str, Json]:
    """Return the schemas of function tools by name; none where JSON is asked for."""
    if request.get("generationConfig", {}).get("responseMimeType") == "application/json":
        return {}
    declared = [one for tool in request.get("tools") or () for one in tool["functionDeclarations"]]
    return {
        one["name"]: one.get("parametersJsonSchema") or one.get("parameters") or {}
        for one in declared
    }


def gemini_content(turn: Turn) -> Json:
    """Build a whole answer."""
    parts: list[Json] = [{"text": turn.text}] if turn.text else []
    parts += [
        {"functionCall": {"id": f"call_{key}", "name": name, "args": arguments}}
        for key, name, arguments in turn.calls
    ]
    return {
        "candidates": [
            {"content": {"role": "model", "parts": parts}, "index": 0, "finishReason": "STOP"}
        ],
        "usageMetadata": {
            "promptTokenCount": turn.input_tokens,
            "candidatesTokenCount": turn.output_tokens,
            "totalTokenCount": turn.input_tokens + turn.output_tokens,
        },
        "modelVersion": turn.model,
    }


def gemini_events(turn: Turn) -> Iterator[Event]:
    """One event with the whole answer, as the API may send it."""
    yield None, gemini_content(turn)


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one API names its conversation and tools, and how it answers whole or in events.

    `streams` is True where the address, not the request, asks for events. `side` is what it
    answers where no tools are offered.
    """

    conversation: str
    tools: Callable[[Json], dict[str, Json]]
    whole: Callable[[Turn], Json]
    events: Callable[[Turn], Iterator[Event]]
    streams: bool = False
    side: str = "Working on it"


# What Gemini's CLI asks on the side: which model is to answer, and who speaks next.
_GEMINI_SIDE = json.dumps(
    {
        "reasoning": "none",
        "model_choice": "flash",
        "next_speaker": "user",
        "complexity_reasoning": "none",
        "complexity_score": 10,
    }
)
_GEMINI = ("contents", gemini_tools, gemini_content, gemini_events)


DIALECTS = {
    "/messages": Dialect("messages", anthropic_tools, anthropic_message, anthropic_events),
    "/responses": Dialect("input", responses_tools, responses_response, responses_events),
    "/chat/completions": Dialect("messages", chat_tools, chat_completion, chat_events),
    ":generateContent": Dialect(*_GEMINI, side=_GEMINI_SIDE),
    ":streamGenerateContent": Dialect(*_GEMINI, streams=True, side=_GEMINI_SIDE),
}
