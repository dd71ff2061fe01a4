"""Copilot CLI: `--output-format json` events, and the text mode of older releases."""

from __future__ import annotations

import re
from collections.abc import Iterable

from routing_action.agents.provider import Provider, ReadContext
from routing_action.agents.reading.decoding import (
    Record,
    as_amount,
    as_count,
    as_list,
    as_record,
    as_text,
    called_skill,
    decode_record,
    flatten_text,
    render_arguments,
)
from routing_action.agents.reading.failures import StderrRule
from routing_action.agents.reading.records import RecordReader
from routing_action.evidence.tiers import canonical_call
from routing_action.evidence.transcript import ApiFailure, EvidenceLine, LineKind, Usage

_FAMILIES = tuple(
    "session. assistant. model. tool. user. subagent. agent. skill. hook. permission. system. "
    "external_tool. command. mcp. pending_messages.".split()
)
_LOADED_LINE = re.compile(r"● skill\((?P<skill>[^()\s][^()]*)\)\s*")
_FAILED_LINE = re.compile(r"✗ skill\((?P<skill>[^()\s][^()]*)\).*")
_TEXT_NOTE = (
    "a load was read from plain text, where the agent's own words can look the same; "
    "start copilot with `--output-format json`"
)
_EXIT_MARK = re.compile(r"<(?:shellId: \S+ completed|exited) with exit code (-?\d{1,9})>\s*$")
_SHELLS = ("bash", "powershell", "shell", "local_shell")
_VIEWS = ("view", "read", "read_file")
_SUBAGENT_ENDS = ("completed", "failed", "cancelled", "stopped", "aborted")
_LIMIT_TYPES = ("max_turns", "turn_limit", "max_autopilot_continues")


class CopilotReader(RecordReader):
    """Reads Copilot's JSON events, or its text lines where it prints no JSON."""

    text_shows_loads = True
    stderr_rules = (
        StderrRule(re.compile(r"^Error: No authentication information found"), ApiFailure.AUTH),
        StderrRule(re.compile(r"^Authentication failed"), ApiFailure.AUTH),
        StderrRule(re.compile(r"^Authorization error"), ApiFailure.AUTH),
        StderrRule(re.compile(r"^Execution failed: ")),
        StderrRule(re.compile(r"^Failed to get response from the AI model")),
        StderrRule(
            re.compile(
                r"^Error: .*(?:\b[45]\d\d\b|quota|rate limit|\b[Aa]uth(?:entication|oriz\w+)?\b)"
            )
        ),
        StderrRule(
            re.compile(r"^You (?:have no|'ve (?:used|reached)).*", re.IGNORECASE), ApiFailure.QUOTA
        ),
    )

    def __init__(self, context: ReadContext) -> None:
        """Start with no abort seen."""
        super().__init__(context)
        self._aborted = False

    def in_subagent(self, record: Record) -> bool:
        """A sub-agent's records bear its id, or the call that started it."""
        return bool(record.get("agentId") or as_record(record.get("data")).get("parentToolCallId"))

    def on_record(self, record: Record) -> Iterable[EvidenceLine] | None:
        """Dispatch by event name; the catalogue and deltas prove nothing."""
        kind = as_text(record.get("type"))
        data = as_record(record.get("data"))
        handler = _HANDLERS.get(kind)
        if handler is not None:
            return handler(self, data)
        if kind == "result":
            return self._result(record)
        if kind.startswith("subagent."):
            self._subagent(kind, data)
        if kind == "abort":
            self._aborted = True
            return ()
        return () if kind.startswith(_FAMILIES) else None

    def on_text(self, text: str) -> Iterable[EvidenceLine]:
        """Text mode: `● skill(NAME)` alone between blank lines is a load (decision 0017)."""
        loaded = _LOADED_LINE.fullmatch(text) if self.number in self.lone else None
        match = loaded or _FAILED_LINE.fullmatch(text)
        if match is None:
            return super().on_text(text)
        self.tool_events += 1
        if loaded and _TEXT_NOTE not in self.summary.notes:
            self.note(notes=(*self.summary.notes, _TEXT_NOTE))
        kind = LineKind.LOAD if loaded else LineKind.ATTEMPT
        skill = match["skill"]
        return (self.line(kind, canonical_call(skill), skill=skill),)

    def _subagent(self, kind: str, data: Record) -> None:
        """One that was started and did not end may still load a skill."""
        if kind == "subagent.started":
            self.tasks.open(data.get("toolCallId"))
        elif kind.rpartition(".")[2] in _SUBAGENT_ENDS:
            self.tasks.close(data.get("toolCallId"))

    def _skills_loaded(self, data: Record) -> Iterable[EvidenceLine]:
        """The catalogue: every skill that is offered, in every run."""
        listed = map(as_record, as_list(data.get("skills")))
        offered = [skill for skill in listed if skill.get("enabled") is not False]
        self.offer(as_text(skill.get("name")) for skill in offered)
        for skill in offered:
            self.offer_at(as_text(skill.get("name")), as_text(skill.get("path")))
        return ()

    def _message(self, data: Record) -> Iterable[EvidenceLine]:
        self.turn()
        if not self.in_subagent(self._record):
            self.answered(data.get("model"))
        return self.say(flatten_text(data.get("content")))

    def _call_start(self, data: Record) -> Iterable[EvidenceLine]:
        self.note(model=self.summary.model or as_text(data.get("model")) or None)
        return ()

    def _tool_start(self, data: Record) -> Iterable[EvidenceLine]:
        name = as_text(data.get("toolName"))
        arguments = as_record(data.get("arguments"))
        identity = data.get("toolCallId")
        if name == "skill":
            raw = data.get("arguments")
            self.call(identity, "skill", render_arguments(arguments), called_skill(raw))
        elif name in _VIEWS:
            first = next(iter(as_list(arguments.get("view_range"))), 1)
            path = as_text(arguments.get("path")) or as_text(arguments.get("file_path"))
            self.call(identity, "file", name, path, partial=(as_count(first) or 0) > 1)
        elif name in _SHELLS:
            self.call(identity, "shell", name, as_text(arguments.get("command")))
        else:
            self.call(identity, "tool", name, render_arguments(arguments))
        return ()

    def _tool_complete(self, data: Record) -> Iterable[EvidenceLine]:
        """A failing command says success here: its exit code decides."""
        result = as_record(data.get("result"))
        output = flatten_text(result.get("content")) or as_text(data.get("result"))
        mark = _EXIT_MARK.search(output)
        code = as_record(data.get("shellExecution")).get("exitCode")
        if code is None and mark:
            code = int(mark[1])
        ok = data.get("success") is True and code in (None, 0) and not data.get("error")
        shown = _EXIT_MARK.sub("", output)
        return self.result(data.get("toolCallId"), ok=ok, output=shown)

    def _call_failure(self, data: Record) -> Iterable[EvidenceLine]:
        message = as_text(data.get("errorMessage"))
        self.retry(message, kind=as_text(data.get("failureKind")), status=data.get("statusCode"))
        return ()

    def _error(self, data: Record) -> Iterable[EvidenceLine]:
        kind = as_text(data.get("errorType"))
        if kind in _LIMIT_TYPES:
            self.note(limit=True)
        else:
            codes = (as_text(data.get(name)) for name in ("errorType", "errorCode", "code"))
            message = as_text(data.get("message"))
            self.fail(message, kind=" ".join(codes), status=data.get("statusCode"))
        return ()

    def _notice(self, data: Record) -> Iterable[EvidenceLine]:
        self.refuse(as_text(data.get("message")) or flatten_text(data.get("content")))
        return ()

    def _result(self, record: Record) -> Iterable[EvidenceLine]:
        usage = as_record(record.get("usage"))
        self.note(usage=Usage(premium_requests=as_amount(usage.get("premiumRequests"))))
        if not self._aborted:
            self.end()
        return ()


_HANDLERS = {
    "session.skills_loaded": CopilotReader._skills_loaded,
    "assistant.message": CopilotReader._message,
    "model.call_start": CopilotReader._call_start,
    "tool.execution_start": CopilotReader._tool_start,
    "tool.execution_complete": CopilotReader._tool_complete,
    "model.call_failure": CopilotReader._call_failure,
    "session.error": CopilotReader._error,
    "session.warning": CopilotReader._notice,
    "session.info": CopilotReader._notice,
}


def find_shutdown(line: bytes) -> Usage | None:
    """The tokens of a session's last log record, over all of its models; None for another line."""
    if b'"session.shutdown"' not in line:
        return None
    record = decode_record(line) or {}
    if record.get("type") != "session.shutdown":
        return None
    data = as_record(record.get("data"))
    metrics = as_record(as_record(data.get("accountingSnapshot")).get("modelMetrics"))
    if not metrics:
        metrics = as_record(data.get("modelMetrics"))
    used = [as_record(as_record(one).get("usage")) for one in metrics.values()]
    return Usage(
        input_tokens=_sum_of(used, "inputTokens"),
        output_tokens=_sum_of(used, "outputTokens"),
        cached_input_tokens=_sum_of(used, "cacheReadTokens"),
        reasoning_tokens=_sum_of(used, "reasoningTokens"),
    )


def _sum_of(records: Iterable[Record], name: str) -> int | None:
    counts = [count for one in records if (count := as_count(one.get(name))) is not None]
    return sum(counts) if counts else None


PROVIDER = Provider(
    name="copilot",
    title="Copilot CLI",
    command=(
        *"copilot -p {prompt} --allow-all-tools --no-ask-user".split(),
        *"--output-format json --log-level debug".split(),
    ),
    model_arguments=("--model", "{model}"),
    memory_mb=375,
    tested_versions=("1.0.102", "1.0.102"),
    reader=CopilotReader,
    home_variables={"COPILOT_HOME": ".copilot"},
    set_variables={"COPILOT_AUTO_UPDATE": "false"},
    credential_variables=("COPILOT_GITHUB_TOKEN", "COPILOT_PROVIDER_API_KEY"),
    pass_variables=(
        *("COPILOT_OFFLINE", "COPILOT_MODEL"),
        *("COPILOT_PROVIDER_BASE_URL", "COPILOT_PROVIDER_TYPE"),
    ),
    shared_caches=(".cache/copilot",),
    skill_folders=(".github/skills", ".claude/skills", ".agents/skills"),
    log_globs=(".copilot/session-state/*/events.jsonl",),
    log_reader=CopilotReader,
    usage_in_log=find_shutdown,
    has_unseen_login=True,  # that of gh
    npm_package="@github/copilot",
    documentation="Loads skills with its `skill` tool; `success: true` proves the load.",
)
