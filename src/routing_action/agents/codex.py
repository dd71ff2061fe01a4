"""Codex CLI: `codex exec --json` items; a load is a proven shell read of SKILL.md.

Three generations of the stream are read: items with `type`, items with `item_type`, and the
older protocol events under `msg`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from routing_action.agents.codex_sessions import CodexSessionReader
from routing_action.agents.provider import Provider, ReadContext
from routing_action.agents.reading.decoding import (
    Record,
    as_count,
    as_list,
    as_record,
    as_text,
    command_text,
    flatten_text,
    render_arguments,
)
from routing_action.agents.reading.failures import StderrRule
from routing_action.agents.reading.records import RecordReader
from routing_action.evidence.transcript import EvidenceLine, Usage

_QUIET = frozenset({"thread.started", "turn.started", "item.updated"})
_PROTOCOL_QUIET = frozenset(
    "task_started user_message agent_message_delta agent_reasoning "
    "agent_reasoning_delta agent_reasoning_raw_content agent_reasoning_section_break "
    "agent_reasoning_raw_content_delta exec_command_output_delta exec_approval_request "
    "apply_patch_approval_request patch_apply_begin patch_apply_end turn_diff background_event "
    "plan_update web_search_begin web_search_end mcp_startup_update mcp_startup_complete "
    "warning stream_info item_started item_completed raw_response_item "
    "deprecation_notice entered_review_mode exited_review_mode shutdown_complete "
    "agent_message_content_delta reasoning_content_delta".split()
)
_HEADER = frozenset({"prompt", "workdir", "sandbox"})


class CodexReader(RecordReader):
    """Reads the JSON lines of `codex exec`."""

    shell_loads = True
    prose_on_stderr = True
    stderr_rules = (
        StderrRule(re.compile(r"^(?:\[[^\]]*\] )?ERROR:? .*(?:status|error|limit|Unauthorized)")),
        StderrRule(re.compile(r"^(?:\S+ )?(?:Error:|ERROR) .*required MCP servers? failed")),
        StderrRule(
            re.compile(r"^Error: .*(?:not logged in|API key|Missing environment)", re.IGNORECASE)
        ),
    )

    def __init__(self, context: ReadContext) -> None:
        """Start with a stream that has a terminal event."""
        super().__init__(context)
        self._ends_silently = False

    def is_record(self, record: Record) -> bool:
        """The older protocol opens with an echo of its settings and of the prompt."""
        return super().is_record(record) or bool(_HEADER & record.keys())

    def finish(self, exit_code: int | None = None) -> Iterable[EvidenceLine]:
        """Older releases print no terminal event: exit 0 with no failure pending is the end."""
        if self._ends_silently and exit_code == 0 and self.summary.retrying is None:
            self.end()
        return super().finish(exit_code)

    def on_record(self, record: Record) -> Iterable[EvidenceLine] | None:
        """Dispatch by generation."""
        kind = as_text(record.get("type"))
        if isinstance(record.get("msg"), dict):
            self._ends_silently = True
            return self._protocol(as_record(record["msg"]))
        if kind == "session.created":
            self._ends_silently = True
            return ()
        if not kind and _HEADER & record.keys():
            return ()
        if kind in _QUIET:
            return ()
        if kind == "item.started":
            return self._started(as_record(record.get("item")))
        if kind == "item.completed":
            return self._completed(as_record(record.get("item")))
        return self._ending(kind, record)

    def _ending(self, kind: str, record: Record) -> Iterable[EvidenceLine] | None:
        if kind == "turn.completed":
            self._usage(as_record(record.get("usage")))
            self.note(retrying=None)
            self.end()
        elif kind == "turn.failed":
            error = record.get("error")
            self.fail(_message(error), kind=_info(as_record(error).get("codex_error_info")))
            self.end()
        elif kind == "error":
            self.retry(_message(record.get("message")) or _message(record.get("error")))
        else:
            return None
        return ()

    def _started(self, item: Record) -> Iterable[EvidenceLine]:
        """A command that has begun; its completion repeats it with the exit code."""
        if _item_type(item) == "command_execution":
            self.call(item.get("id"), "shell", "shell", command_text(item.get("command")))
        return ()

    def _completed(self, item: Record) -> Iterable[EvidenceLine]:
        kind = _item_type(item)
        if kind != "error":
            self.turn()
        if kind == "command_execution":
            return self._executed(item)
        if kind in ("agent_message", "assistant_message"):
            return self.say(as_text(item.get("text")))
        if kind == "mcp_tool_call":
            return self._mcp(item)
        if kind in ("file_change", "web_search", "todo_list", "collab_tool_call"):
            return self._tool(item, kind)
        if kind == "error":
            self.refuse(_message(item.get("message")))
        return ()

    def _executed(self, item: Record) -> list[EvidenceLine]:
        identity = item.get("id")
        command = command_text(item.get("command"))
        started = self.calls.close(identity)
        if started is None or (command and started.target != command):
            self.call(identity, "shell", "shell", command, cwd=as_text(item.get("cwd")))
        else:
            self.calls.open(identity, started)
        code = item.get("exit_code")
        ok = type(code) is int and code == 0 and item.get("status") in ("completed", None)
        output = as_text(item.get("aggregated_output"))
        return self.result(identity, ok=ok, output=output)

    def _mcp(self, item: Record) -> list[EvidenceLine]:
        identity = item.get("id")
        self._call_mcp(identity, item)
        ok = item.get("status") == "completed"
        output = flatten_text(as_record(item.get("result")).get("content"))
        return self.result(identity, ok=ok, output=output)

    def _call_mcp(self, identity: object, call: Record) -> None:
        name = f"mcp:{as_text(call.get('server'))}.{as_text(call.get('tool'))}"
        self.call(identity, "tool", name, render_arguments(as_record(call.get("arguments"))))

    def _tool(self, item: Record, name: str) -> list[EvidenceLine]:
        paths = [as_text(as_record(change).get("path")) for change in as_list(item.get("changes"))]
        target = as_text(item.get("query")) or " ".join(paths)
        self.call(item.get("id"), "tool", name, target)
        for agent, state in as_record(item.get("agents_states")).items():
            status = as_text(as_record(state).get("status"))
            if status in ("pending_init", "running"):
                self.tasks.open(agent)
            else:
                self.tasks.close(agent)
        return self.result(item.get("id"), ok=True)

    def _usage(self, usage: Record) -> None:
        """Codex counts cumulatively: the last word stands."""
        self.note(
            usage=Usage(
                input_tokens=as_count(usage.get("input_tokens")),
                output_tokens=as_count(usage.get("output_tokens")),
                cached_input_tokens=as_count(usage.get("cached_input_tokens")),
                reasoning_tokens=as_count(usage.get("reasoning_output_tokens")),
            )
        )

    # ---- the older protocol

    def _protocol(self, msg: Record) -> Iterable[EvidenceLine] | None:
        kind = as_text(msg.get("type"))
        if kind == "exec_command_begin":
            self.call(
                msg.get("call_id"),
                "shell",
                "shell",
                command_text(msg.get("command")),
                cwd=as_text(msg.get("cwd")),
            )
        elif kind == "exec_command_end":
            self.turn()
            return self._protocol_executed(msg)
        elif kind == "agent_message":
            self.turn()
            return self.say(as_text(msg.get("message")))
        elif kind in ("mcp_tool_call_begin", "mcp_tool_call_end"):
            return self._protocol_mcp(kind, msg)
        else:
            return self._protocol_ending(kind, msg)
        return ()

    def _protocol_executed(self, msg: Record) -> list[EvidenceLine]:
        output = as_text(msg.get("aggregated_output")) or as_text(msg.get("stdout"))
        output = output or as_text(msg.get("formatted_output"))
        return self.result(msg.get("call_id"), ok=msg.get("exit_code") == 0, output=output)

    def _protocol_mcp(self, kind: str, msg: Record) -> Iterable[EvidenceLine]:
        invocation = as_record(msg.get("invocation"))
        if kind == "mcp_tool_call_begin":
            self._call_mcp(msg.get("call_id"), invocation)
            return ()
        self.turn()
        result = as_record(as_record(msg.get("result")).get("Ok"))
        return self.result(
            msg.get("call_id"), ok=bool(result), output=flatten_text(result.get("content"))
        )

    def _protocol_ending(self, kind: str, msg: Record) -> Iterable[EvidenceLine] | None:
        if kind in ("task_complete", "turn_complete"):
            if self.summary.retrying is None:
                self.end()
            else:
                self.fail(self.summary.failure_message)
                self.end()
        elif kind in ("error", "stream_error"):
            self.retry(_message(msg.get("message")), kind=_info(msg.get("codex_error_info")))
        elif kind == "token_count":
            total = as_record(as_record(msg.get("info")).get("total_token_usage"))
            self._usage(total or msg)
        elif kind == "session_configured":
            self.note(model=as_text(msg.get("model")) or None)
        elif kind == "turn_aborted":
            self.note(notes=(*self.summary.notes, "the turn was aborted"))
        else:
            return self._protocol_notice(kind, msg)
        return ()

    def _protocol_notice(self, kind: str, msg: Record) -> Iterable[EvidenceLine] | None:
        """Other events prove nothing; a warning can say that a skill was not taken."""
        if kind == "warning":
            self.refuse(_message(msg.get("message")))
        return () if kind in _PROTOCOL_QUIET else None


def _item_type(item: Record) -> str:
    return as_text(item.get("type")) or as_text(item.get("item_type"))


def _info(value: object) -> str:
    """The protocol's own name of an error, alone or with its status."""
    return as_text(value) or " ".join(as_record(value))


def _message(value: object) -> str:
    return as_text(value) or as_text(as_record(value).get("message"))


PROVIDER = Provider(
    name="codex",
    title="Codex CLI",
    command=(
        *"codex -a never exec --json -s danger-full-access".split(),
        *"-c analytics.enabled=false {prompt}".split(),
    ),
    model_arguments=("-c", "model={model}"),
    record_flags=("--json", "--experimental-json"),
    memory_mb=200,
    tested_versions=("0.171.0", "0.171.0"),
    serial_login=True,
    reader=CodexReader,
    home_variables={"CODEX_HOME": ".codex"},
    set_variables={"RUST_LOG": "error"},
    credential_variables=("OPENAI_API_KEY", "CODEX_API_KEY"),
    pass_variables=("OPENAI_BASE_URL",),
    credential_files=(".codex/auth.json",),
    skill_folders=(".agents/skills", ".codex/skills"),
    log_globs=(".codex/sessions/*/*/*/rollout-*.jsonl",),
    log_reader=CodexSessionReader,
    npm_package="@openai/codex",
    documentation=(
        "Has no skill tool: a load is a shell read of the skill's SKILL.md that exits 0 and shows "
        "its frontmatter."
    ),
)
