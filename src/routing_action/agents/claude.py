"""Claude Code: stream-json records, the Skill tool, and results paired by tool_use id."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from routing_action.agents.claude_tasks import follow_launch, follow_notice, follow_tasks
from routing_action.agents.provider import Provider, ReadContext
from routing_action.agents.reading.decoding import (
    Record,
    as_amount,
    as_count,
    as_list,
    as_record,
    as_text,
    called_skill,
    flatten_text,
    render_arguments,
)
from routing_action.agents.reading.failures import StderrRule
from routing_action.agents.reading.records import RecordReader
from routing_action.corpus.naming import same_skill, skill_folder, split_path
from routing_action.evidence.tiers import canonical_call
from routing_action.evidence.transcript import ApiFailure, EvidenceLine, LineKind, Usage

_BASE = "Base directory for this skill:"
_LIMITS = ("error_max_turns", "error_max_budget_usd")
_SHELLS = ("Bash", "PowerShell")
_QUIET = frozenset(
    "stream_event summary file-history-snapshot queue-operation "
    "control_request control_response control_cancel_request keep_alive tool_progress "
    "tool_use_summary auth_status progress attachment last-prompt mode permission-mode "
    "ai-title custom-title".split()
)


class ClaudeReader(RecordReader):
    """Reads `claude -p --output-format stream-json`, and the same records in session logs."""

    stderr_rules = (StderrRule(re.compile(r"^Error: .*\bMCP\b")),)

    def __init__(self, context: ReadContext) -> None:
        """Start without any load; one is held until the CLI tells the folder that it came from."""
        super().__init__(context)
        self._is_stream = False
        self._kind = ""
        self._loaded: dict[str, list[EvidenceLine]] = {}
        self._plugins: dict[str, str] = {}

    def in_subagent(self, record: Record) -> bool:
        """A sub-agent's records name the call that started it."""
        return bool(record.get("parent_tool_use_id")) or record.get("isSidechain") is True

    def finish(self, exit_code: int | None = None) -> Iterable[EvidenceLine]:
        """Give the loads whose folder was never told.

        `--output-format json` prints the result alone, in which no load shows.
        """
        found = [*self._release(), *super().finish(exit_code)]
        if self.recognised and not self._is_stream:
            self.note(shows_loads=False)
        return found

    def _release(self, thread: str = "") -> list[EvidenceLine]:
        """The loads that are held, of one conversation or of all."""
        threads = [thread] if thread else list(self._loaded)
        held = [load for one in threads for load in self._loaded.pop(one, [])]
        return [load for load in held if self._is_open(load)]

    def on_record(self, record: Record) -> Iterable[EvidenceLine] | None:
        """Dispatch by type; deltas and system lines prove nothing."""
        kind = record.get("type")
        if kind == "assistant":
            return self._assistant(record)
        if kind == "user":
            return self._user(record)
        if kind == "system":
            return self._system(record)
        if kind == "result":
            return self._result(record)
        if kind == "rate_limit_event":
            return self._limit(as_record(record.get("rate_limit_info")))
        return () if isinstance(kind, str) and kind in _QUIET else None

    def _limit(self, info: Record) -> Iterable[EvidenceLine]:
        """A used-up limit of the plan, with the time of its reset (seconds since 1970)."""
        if info.get("status") == "rejected":
            self.resets_at = as_amount(info.get("resetsAt"))
        return ()

    def _system(self, record: Record) -> Iterable[EvidenceLine]:
        subtype = record.get("subtype")
        if subtype == "init":
            self._init(record)
        elif subtype == "api_retry":
            message = f"retry {record.get('attempt')}: {as_text(record.get('error'))}"
            self.retry(
                message, kind=as_text(record.get("error")), status=record.get("error_status")
            )
        else:
            follow_tasks(self.tasks, record, ended=self.summary.terminal)
            self.refuse(as_text(record.get("message")) or as_text(record.get("content")))
        return ()

    def _init(self, record: Record) -> None:
        self._is_stream = True  # a stream; `--output-format json` prints no such record
        self.reopen()
        cwd = as_text(record.get("cwd"))
        if cwd and not self.context.cwd:
            self.context = replace(self.context, cwd=cwd)
        for plugin in map(as_record, as_list(record.get("plugins"))):
            self._plugins[as_text(plugin.get("path"))] = as_text(plugin.get("name"))
        if isinstance(record.get("skills"), list):
            listed = record["skills"]
            named = [as_text(s) or as_text(as_record(s).get("name")) for s in listed]
            if any(named) or not listed:
                self.offer(named)
        self.note(
            model=as_text(record.get("model")) or self.summary.model,
            cli_version=as_text(record.get("claude_code_version")) or None,
        )

    def _assistant(self, record: Record) -> Iterable[EvidenceLine]:
        message = as_record(record.get("message"))
        if record.get("error") or record.get("isApiErrorMessage") is True:
            text = flatten_text(message.get("content"))
            status = record.get("apiErrorStatus") or record.get("api_error_status")
            self._kind = as_text(record.get("error"))
            self.retry(text, kind=self._kind, status=status)
            return ()
        self.turn()
        if not self.in_subagent(record):
            self.answered(message.get("model"))
        self._is_stream = True
        found = self._release(_thread(record) if self.in_subagent(record) else "")
        content = message.get("content")
        for block in [content] if isinstance(content, str) else as_list(content):
            found += self._block(block)
        return found

    def _block(self, block: object) -> list[EvidenceLine]:
        if isinstance(block, str):
            return self.say(block)
        fields = as_record(block)
        if fields.get("type") == "text":
            return self.say(as_text(fields.get("text")))
        if fields.get("type") in ("tool_use", "server_tool_use", "mcp_tool_use"):
            return self._tool_use(fields)
        return []

    def _tool_use(self, block: Record) -> list[EvidenceLine]:
        name = as_text(block.get("name"))
        arguments = as_record(block.get("input"))
        identity = block.get("id")
        if name == "Skill":
            raw = block.get("input")
            self.call(identity, "skill", render_arguments(as_record(raw)), called_skill(raw))
        elif name == "Read":
            partial = (as_count(arguments.get("offset")) or 0) > 1
            path = as_text(arguments.get("file_path"))
            self.call(identity, "file", name, path, partial=partial)
        elif name in _SHELLS:
            command = as_text(arguments.get("command"))
            self.call(identity, "shell", name, command, cwd=self.context.cwd)
        else:
            self.call(identity, "tool", name, render_arguments(arguments))
        return []

    def _user(self, record: Record) -> Iterable[EvidenceLine]:
        content = as_record(record.get("message")).get("content")
        found: list[EvidenceLine] = []
        if isinstance(content, str):
            content = {"type": "text", "text": content}
        for block in [content] if isinstance(content, dict) else as_list(content):
            fields = as_record(block)
            if fields.get("type") == "tool_result":
                found += self._tool_result(fields, record)
            elif fields.get("type") == "text":
                text = as_text(fields.get("text"))
                follow_notice(self.tasks, text, ended=self.summary.terminal)
                found += self._base_directory(text, record)
        return found

    def _tool_result(self, block: Record, record: Record) -> list[EvidenceLine]:
        details = record.get("tool_use_result") or record.get("toolUseResult")
        output = flatten_text(block.get("content"))
        failed = (
            block.get("is_error") not in (None, False, 0, "false")
            or as_record(details).get("success") in (False, "false")
            or as_text(details).startswith("Error")
            or output.lstrip().startswith("<tool_use_error>")
        )
        if not failed:
            follow_launch(self.tasks, output)
        found = self.result(block.get("tool_use_id"), ok=not failed, output=output)
        loads = [line for line in found if line.kind is LineKind.LOAD]
        if loads:
            self._loaded.setdefault(_thread(record), []).extend(loads)
        return [line for line in found if line not in loads or not self._is_open(line)]

    def _is_open(self, load: EvidenceLine) -> bool:
        """True where the folder could tell that another skill than the called one was loaded."""
        several = self.summary.catalogue is not None or len(self.context.skills.skills) > 1
        return several or ":" in load.skill

    def _base_directory(self, text: str, record: Record) -> list[EvidenceLine]:
        """The synthetic text after a proven load tells the folder, and so the skill, of it."""
        first = text.partition("\n")[0].strip()
        held = self._loaded.get(_thread(record))
        if not first.startswith(_BASE) or not held:
            return []
        path = first.removeprefix(_BASE).strip()
        name = (skill_folder(path) or ("",))[-1]
        named = (at for at, load in enumerate(held) if same_skill(load.skill, name))
        load = held.pop(next(named, 0))
        plugin = next((p for root, p in self._plugins.items() if _is_below(path, root)), "")
        skill = self.loaded_name(load.skill, path)
        return [replace(load, text=canonical_call(skill), skill=skill, path=path, plugin=plugin)]

    def _result(self, record: Record) -> Iterable[EvidenceLine]:
        subtype = as_text(record.get("subtype"))
        text = as_text(record.get("result"))
        self._usage(record)
        if subtype in _LIMITS:
            self.note(limit=True)
        elif record.get("is_error") is True:
            errors = " ".join(as_text(error) for error in as_list(record.get("errors")))
            self._failed(text or errors, record)
        else:
            self.note(retrying=None, failure=None)
            if as_count(record.get("num_turns")):
                self.turns = max(self.turns, 1)
        self.end()
        said = self.say(text) if record.get("is_error") is not True else []
        return [*self._release(), *said]

    def _failed(self, message: str, record: Record) -> None:
        """A final failure; where its own fields do not say which, it is what was being retried."""
        pending, kind = self.summary.retrying, as_text(record.get("error")) or self._kind
        self.fail(message, kind=kind, status=record.get("api_error_status"))
        if self.summary.failure is ApiFailure.API_ERROR and pending is not None:
            self.note(failure=pending)

    def _usage(self, record: Record) -> None:
        """The last result stands: with sub-agents each result repeats the whole."""
        usage = as_record(record.get("usage"))
        fields = ("input_tokens", "output_tokens", "cache_read_input_tokens")
        counts = [as_count(usage.get(name)) for name in fields]
        self.note(usage=Usage(*counts), cost_usd=as_amount(record.get("total_cost_usd")))


def _thread(record: Record) -> str:
    """The conversation that a record belongs to: the main agent's, or that of one sub-agent."""
    return as_text(record.get("parent_tool_use_id")) or str(record.get("isSidechain") is True)


def _is_below(path: str, root: str) -> bool:
    parts, above = split_path(path), split_path(root)
    return bool(above) and parts[: len(above)] == above


PROVIDER = Provider(
    name="claude",
    title="Claude Code",
    command=(
        *"claude -p --verbose --output-format stream-json".split(),
        *"--permission-mode bypassPermissions {prompt}".split(),
    ),
    model_arguments=("--model", "{model}"),
    turn_arguments=("--max-turns", "{turns}"),
    budget_arguments=("--max-budget-usd", "{usd}"),
    record_flags=("--output-format stream-json",),
    reports_cost="end",
    memory_mb=210,
    tested_versions=("2.0.77", "2.1.332"),
    reader=ClaudeReader,
    home_variables={"CLAUDE_CONFIG_DIR": ".claude"},
    set_variables={
        **dict.fromkeys("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC IS_SANDBOX".split(), "1"),
        **dict.fromkeys("DISABLE_AUTOUPDATER DISABLE_TELEMETRY".split(), "1"),
        "DISABLE_ERROR_REPORTING": "1",
        "CLAUDE_CODE_MAX_RETRIES": "2",
    },
    credential_variables=("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"),
    pass_variables=(
        *("ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL", "ANTHROPIC_CUSTOM_HEADERS"),
        *("CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX"),
    ),
    credential_files=(".claude/.credentials.json",),
    skill_folders=(".claude/skills",),
    log_globs=(".claude/projects/*/*.jsonl",),
    log_reader=ClaudeReader,
    drops_skill_file_tokens=True,
    npm_package="@anthropic-ai/claude-code",
    documentation="Loads skills with its Skill tool; the tool's result proves the load.",
)
