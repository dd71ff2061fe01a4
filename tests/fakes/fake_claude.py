"""A stand-in for Claude Code: prints its record stream, and does what the options say.

Used through AGENT_CLAUDE_TEMPLATE as `python fake_claude.py [OPTIONS] PROMPT`; the prompt may
carry words for it: `load:NAME`, `mention:NAME`, `status:401`, `fail`, `sleep:SECONDS` (before all
of that), `dwell:SECONDS` (after the load), `cost:USD`, and `throttled:N`: the first N runs with
this `--starts FILE` end with 429, and ask to be called again in 0.05 seconds (`after:SECONDS`).
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path


def say(record: dict[str, object]) -> None:
    """Print one record."""
    sys.stdout.write(json.dumps(record) + "\n")
    sys.stdout.flush()


def load(skill: str) -> None:
    """A Skill call with its successful result."""
    call = {"type": "tool_use", "id": "t1", "name": "Skill", "input": {"skill": skill}}
    say({"type": "assistant", "message": {"content": [call]}})
    result = {"type": "tool_result", "tool_use_id": "t1", "content": f"Launching skill: {skill}"}
    say({"type": "user", "message": {"content": [result]}})


def finish(status: int | None, cost: float | None, text: str = "") -> int:
    """The terminal record; an API status makes it a failure."""
    told = {} if cost is None else {"total_cost_usd": cost, "usage": {"output_tokens": 10}}
    if status is None:
        say({"type": "result", "subtype": "success", "is_error": False, "num_turns": 1, **told})
        return 0
    failure = {"is_error": True, "api_error_status": status, "result": f"API Error: {status}{text}"}
    say({"type": "result", "subtype": "success", **failure, **told})
    return 1


def count_start(path: Path | None) -> int:
    """How many runs there were before this one."""
    if path is None:
        return 0
    with path.open("a+", encoding="utf-8") as file:
        file.seek(0)
        earlier = len(file.readlines())
        file.write("started\n")
    return earlier


def main() -> int:
    """Act as the prompt says."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--stamps", type=Path, help="append start and end times here")
    parser.add_argument("--starts", type=Path, help="append a line for each run here")
    parser.add_argument("--log", type=Path, help="write the load to this session log instead")
    parser.add_argument("--print-environment", action="store_true")
    parser.add_argument("--sleep", type=float, default=0.0)
    parser.add_argument("prompt")
    options = parser.parse_args()
    words = dict(word.partition(":")[::2] for word in options.prompt.split())
    begun = time.monotonic()
    earlier = count_start(options.starts)
    cost = float(words["cost"]) if "cost" in words else None
    say({"type": "system", "subtype": "init", "claude_code_version": "9.9.9", "model": "fake"})
    time.sleep(float(words.get("sleep", options.sleep)))
    if earlier < int(words.get("throttled", 0)):
        after = words.get("after", "0.05")
        return finish(429, cost, f" Rate limit reached, retry after {after} seconds")
    text = f"I could use {words.get('mention', 'nothing')}."
    say({"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}})
    if options.print_environment:
        seen = {"type": "text", "text": json.dumps(dict(os.environ))}
        say({"type": "assistant", "message": {"content": [seen]}})
    if "load" in words:
        load(words["load"])
    time.sleep(float(words.get("dwell", 0)))
    if options.log and "logged" in words:
        write_log(options.log, words["logged"])
    code = finish(int(words["status"]) if "status" in words else None, cost)
    if options.stamps:
        with options.stamps.open("a", encoding="utf-8") as file:
            file.write(f"{begun} {time.monotonic()}\n")
    return code


def write_log(path: Path, skill: str) -> None:
    """Leave the load in a session log, in the format of the stream."""
    call = {"type": "tool_use", "id": "l1", "name": "Skill", "input": {"skill": skill}}
    result = {"type": "tool_result", "tool_use_id": "l1", "content": f"Launching skill: {skill}"}
    with path.open("a", encoding="utf-8") as file:
        for kind, block in (("assistant", call), ("user", result)):
            file.write(json.dumps({"type": kind, "message": {"content": [block]}}) + "\n")


if __name__ == "__main__":
    sys.exit(main())
