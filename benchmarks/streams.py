"""Made-up record streams of claude, for the benchmarks that run fake agents."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

SKILL = "widget-testing"
WORDS = "the tests of the widget show that its state is kept between two calls of the handler "


def make_stream(lines: int) -> bytes:
    """A run that loads a skill, then answers and uses tools; so many lines in all."""
    return make_opening() + make_work(lines - 4) + make_ending()


def make_opening() -> bytes:
    """The beginning of a run that has just loaded the skill."""
    return _lines(_opening())


def make_work(lines: int, *, output_bytes: int = 0) -> bytes:
    """What a run does then; with `output_bytes` each tool's output is at least as long."""
    return _lines(_work(lines, output_bytes))


def make_ending() -> bytes:
    """The last record of a run."""
    return _lines([_ending()])


def _lines(records: Iterable[Mapping[str, Any]]) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def _opening() -> Iterator[Mapping[str, Any]]:
    yield {
        "type": "system",
        "subtype": "init",
        "claude_code_version": "2.1.332",
        "model": "model-large",
        "cwd": "/home/agent/repo",
        "tools": ["Bash", "Edit", "Read", "Skill", "Write"],
        "skills": [SKILL, "another-skill", "one-more-skill"],
    }
    yield _message(
        "assistant", {"type": "tool_use", "id": "t0", "name": "Skill", "input": {"skill": SKILL}}
    )
    yield _message(
        "user",
        {"type": "tool_result", "tool_use_id": "t0", "content": f"Launching skill: {SKILL}"},
    )


def _work(count: int, output_bytes: int = 0) -> Iterator[Mapping[str, Any]]:
    """Prose, calls and results in turns."""
    for number in range(count):
        name = f"t{number // 3 + 1}"
        if number % 3 == 0:
            yield _message("assistant", {"type": "text", "text": f"{number}: {WORDS * 3}"})
        elif number % 3 == 1:
            call = {"command": f"pytest -q tests/test_{number}.py", "description": WORDS}
            yield _message(
                "assistant", {"type": "tool_use", "id": name, "name": "Bash", "input": call}
            )
        else:
            output = WORDS * max(6, output_bytes // len(WORDS) + 1)
            yield _message("user", {"type": "tool_result", "tool_use_id": name, "content": output})


def _ending() -> Mapping[str, Any]:
    return {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "num_turns": 3,
        "result": WORDS,
        "total_cost_usd": 0.0123,
        "usage": {"input_tokens": 2500, "output_tokens": 310},
    }


def _message(role: str, block: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"type": role, "message": {"role": role, "content": [block]}, "session_id": "s1"}
