"""opencode: `opencode run --format json` parts and the skill tool."""

from __future__ import annotations

import re
from collections.abc import Iterable

from routing_action.agents.provider import Provider, ReadContext
from routing_action.agents.reading.decoding import (
    Record,
    as_amount,
    as_count,
    as_record,
    as_text,
    called_skill,
    decode_value,
    flatten_text,
    render_arguments,
)
from routing_action.agents.reading.failures import StderrRule, retry_after_in
from routing_action.agents.reading.records import RecordReader
from routing_action.evidence.transcript import EvidenceLine, Usage

_QUIET = frozenset("step_start reasoning file snapshot patch agent retry".split())
_MOST_STEPS = 10_000


class OpencodeReader(RecordReader):
    """Reads opencode's parts: a tool part holds call and result together."""

    stderr_rules = (StderrRule(re.compile(r"^(?:Error: )?(?:AI_)?API(?:Call)?Error\b")),)

    def __init__(self, context: ReadContext) -> None:
        """Start counting tokens at zero."""
        super().__init__(context)
        self._counted: set[str] = set()

    def on_record(self, record: Record) -> Iterable[EvidenceLine] | None:
        """Dispatch by type."""
        kind = record.get("type")
        part = as_record(record.get("part"))
        if kind == "text":
            self.turn()
            return self.say(as_text(part.get("text")))
        if kind == "tool_use":
            self.turn()
            return self._tool(part)
        if kind == "step_finish":
            return self._step_finish(part)
        if kind == "error":
            return self._error(record.get("error"))
        return () if isinstance(kind, str) and kind in _QUIET else None

    def _tool(self, part: Record) -> Iterable[EvidenceLine]:
        name = as_text(part.get("tool"))
        state = as_record(part.get("state"))
        arguments = as_record(state.get("input"))
        metadata = as_record(state.get("metadata"))
        identity = part.get("callID")
        if name == "skill":
            self.call(identity, "skill", render_arguments(arguments), called_skill(arguments))
        elif name == "read":
            start = as_count(arguments.get("offset")) or 0
            path = as_text(arguments.get("filePath"))
            self.call(identity, "file", name, path, partial=start > 1)
        elif name == "bash":
            command = as_text(arguments.get("command"))
            self.call(identity, "shell", name, command, cwd=as_text(arguments.get("workdir")))
        else:
            self.call(identity, "tool", name, render_arguments(arguments))
        code = metadata.get("exit")
        ok = state.get("status") == "completed" and code in (None, 0) and not state.get("error")
        output = as_text(state.get("output")) or as_text(state.get("error"))
        if name == "bash" and isinstance(metadata.get("output"), str):
            output = metadata["output"]
        return self.result(identity, ok=ok, output=output, base=as_text(metadata.get("dir")))

    def _step_finish(self, part: Record) -> Iterable[EvidenceLine]:
        """A step that ends for another reason than tool calls ends the run."""
        if part.get("reason") not in ("tool-calls", None):
            self.end()
        identity = as_text(part.get("id"))
        if identity in self._counted:
            return ()
        if identity and len(self._counted) < _MOST_STEPS:
            self._counted.add(identity)
        tokens = as_record(part.get("tokens"))
        cache = as_record(tokens.get("cache"))
        used = Usage(
            input_tokens=as_count(tokens.get("input")) or 0,
            output_tokens=as_count(tokens.get("output")) or 0,
            cached_input_tokens=as_count(cache.get("read")) or 0,
            reasoning_tokens=as_count(tokens.get("reasoning")) or 0,
        )
        cost = (self.summary.cost_usd or 0.0) + (as_amount(part.get("cost")) or 0.0)
        self.note(usage=used.plus(self.summary.usage or Usage()), cost_usd=cost)
        return ()

    def _error(self, told: object) -> Iterable[EvidenceLine]:
        """An error is an object, or in kilo a sentence."""
        error = as_record(told)
        data = as_record(error.get("data"))
        message = as_text(data.get("message")) or flatten_text(error.get("message") or told)
        body = as_record(decode_value(as_text(data.get("responseBody"))))
        own = as_record(body.get("error"))
        kind = f"{as_text(error.get('name'))} {as_text(own.get('type'))} {as_text(own.get('code'))}"
        header = as_text(as_record(data.get("responseHeaders")).get("retry-after"))
        seconds = retry_after_in(f"retry-after: {header}")
        self.fail(message, kind=kind, status=data.get("statusCode"), seconds=seconds)
        self.end()
        return ()


PROVIDER = Provider(
    name="opencode",
    title="opencode",
    command=("opencode", "run", "--format", "json", "{prompt}"),
    model_arguments=("--model", "{model}"),
    reports_cost="during",
    record_flags=("--format json",),
    memory_mb=1200,
    tested_versions=("1.18.33", "1.18.33"),
    reader=OpencodeReader,
    credential_variables=("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY"),
    pass_variables=("OPENCODE_CONFIG_CONTENT",),
    set_variables={"OPENCODE_DISABLE_AUTOUPDATE": "true"},
    credential_files=(".local/share/opencode/auth.json",),
    skill_folders=(".opencode/skills", ".claude/skills", ".agents/skills"),
    has_unseen_login=True,  # some of its models need no key
    npm_package="opencode-ai",
    documentation="Loads skills with its skill tool; the state `completed` proves the load.",
)
