"""Codex' session logs (`rollout-*.jsonl`), for the log fallback: calls paired with outputs."""

from __future__ import annotations

import re
from collections.abc import Iterable

from routing_action.agents.reading.decoding import (
    Record,
    as_record,
    as_text,
    command_text,
    decode_value,
    flatten_text,
)
from routing_action.agents.reading.records import RecordReader
from routing_action.evidence.transcript import EvidenceLine

_EXIT_LINE = re.compile(
    r"^(?:Process )?exited with code (-?\d{1,9})$|^Exit code: (-?\d{1,9})$",
    re.MULTILINE | re.IGNORECASE,
)


class CodexSessionReader(RecordReader):
    """Reads the response items of a session log."""

    shell_loads = True

    def on_record(self, record: Record) -> Iterable[EvidenceLine] | None:
        """Only response items count; event messages repeat them."""
        payload = as_record(record.get("payload"))
        if record.get("type") != "response_item":
            return ()
        kind = payload.get("type")
        if kind in ("function_call", "custom_tool_call", "local_shell_call"):
            self._function_call(payload)
        elif kind in ("function_call_output", "custom_tool_call_output"):
            return self._function_output(payload)
        return ()

    def _function_call(self, payload: Record) -> None:
        from_json = as_record(_parse(payload.get("arguments")) or payload.get("action"))
        command = command_text(from_json.get("cmd") or from_json.get("command"))
        script = as_text(payload.get("input"))
        self.call(
            payload.get("call_id"),
            "shell",
            as_text(payload.get("name")),
            command or _wrapped_command(script),
            cwd=as_text(from_json.get("workdir")),
        )

    def _function_output(self, payload: Record) -> list[EvidenceLine]:
        raw = payload.get("output")
        nested = as_record(_parse(raw))
        output = as_text(nested.get("output")) or flatten_text(raw)
        code = as_record(nested.get("metadata")).get("exit_code")
        match = _EXIT_LINE.search(output)
        if match:
            code = int(match[1] or match[2])
        return self.result(payload.get("call_id"), ok=code == 0, output=output)


_WRAPPED = re.compile(r"""\bcmd\s*:\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`)""")


def _wrapped_command(script: str) -> str:
    """The shell commands that a JavaScript `exec` program of newer releases runs."""
    parts = []
    for match in _WRAPPED.finditer(script):
        text = match[1]
        parts.append(str(_parse(text) or "") if text[0] == '"' else text[1:-1])
    return "\n".join(parts)


def _parse(value: object) -> object:
    return decode_value(value) if isinstance(value, str) else None
