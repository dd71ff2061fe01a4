"""Gemini CLI: `--output-format stream-json` records and the activate_skill tool."""

from __future__ import annotations

import re
from collections.abc import Iterable

from routing_action.agents.provider import Provider
from routing_action.agents.reading.decoding import (
    Record,
    as_count,
    as_record,
    as_text,
    called_skill,
    flatten_text,
    render_arguments,
)
from routing_action.agents.reading.failures import StderrRule
from routing_action.agents.reading.models import is_same_model
from routing_action.agents.reading.records import RecordReader
from routing_action.evidence.transcript import EvidenceLine, Usage

_BASE = re.compile(r"Resources loaded from `(?P<path>[^`]+)`")
_EXIT_LINE = re.compile(r"^Exit Code: (-?\d{1,9})\s*$", re.MULTILINE)
_SHELLS = ("run_shell_command", "shell")
_LIMITS = ("FatalTurnLimitedError", "max_turns", "turn_limit", "MaxSessionTurns")


class GeminiReader(RecordReader):
    """Reads Gemini's stream; a failing shell command says success, so its output decides."""

    stderr_rules = (
        StderrRule(re.compile(r"^Attempt \d+ failed(?: with status \d+)?")),
        StderrRule(re.compile(r"^Error when talking to Gemini API")),
        StderrRule(
            re.compile(r"^When using Gemini API, you must specify|^GEMINI_API_KEY not found")
        ),
        StderrRule(re.compile(r"^Please set an Auth method|^Invalid auth method", re.IGNORECASE)),
        StderrRule(re.compile(r"^\[API Error:")),
    )

    def on_record(self, record: Record) -> Iterable[EvidenceLine] | None:
        """Dispatch by type; the prompt's echo proves nothing."""
        kind = record.get("type")
        if kind == "init":
            self.note(model=as_text(record.get("model")) or None)
            return ()
        if kind == "message":
            return self._message(record)
        if kind == "tool_use":
            self.turn()
            return self._tool_use(record)
        if kind == "tool_result":
            return self._tool_result(record)
        if kind == "result":
            return self._result(record)
        if kind == "error":
            return self._error(record)
        return None

    def _message(self, record: Record) -> Iterable[EvidenceLine]:
        if record.get("role") == "user":
            return ()
        self.turn()
        return self.say(flatten_text(record.get("content")))

    def _tool_use(self, record: Record) -> Iterable[EvidenceLine]:
        name = as_text(record.get("tool_name"))
        arguments = as_record(record.get("parameters"))
        identity = record.get("tool_id")
        if name == "activate_skill":
            raw = record.get("parameters")
            self.call(identity, "skill", render_arguments(arguments), called_skill(raw))
        elif name in ("read_file", "read_many_files"):
            path = as_text(arguments.get("file_path")) or as_text(arguments.get("absolute_path"))
            path = path or as_text(arguments.get("path"))
            start = as_count(arguments.get("start_line")) or as_count(arguments.get("offset")) or 0
            self.call(identity, "file", name, path, partial=start > 1)
        elif name in _SHELLS:
            folder = as_text(arguments.get("dir_path")) or as_text(arguments.get("directory"))
            command = as_text(arguments.get("command"))
            self.call(identity, "shell", name, command, cwd=folder)
        else:
            self.call(identity, "tool", name, render_arguments(arguments))
        return ()

    def _tool_result(self, record: Record) -> Iterable[EvidenceLine]:
        output = flatten_text(record.get("output"))
        ok = record.get("status") == "success" and not record.get("error")
        code = _EXIT_LINE.search(output) if "Exit Code: " in output else None
        if code and int(code[1]) != 0:
            ok = False
        base = _BASE.search(output)
        return self.result(
            record.get("tool_id"), ok=ok, output=output, base=base["path"] if base else ""
        )

    def _error(self, record: Record) -> Iterable[EvidenceLine]:
        """An error event is final only where its severity says so; a warning is none."""
        message = as_text(record.get("message")) or as_text(
            as_record(record.get("error")).get("message")
        )
        if any(name in message for name in _LIMITS) or "maximum session turns" in message.lower():
            self.note(limit=True)
        elif record.get("severity") != "warning":
            self.retry(message)
        else:
            self.refuse(message)
        return ()

    def _result(self, record: Record) -> Iterable[EvidenceLine]:
        stats = as_record(record.get("stats"))
        self.note(
            usage=Usage(
                input_tokens=as_count(stats.get("input_tokens")),
                output_tokens=as_count(stats.get("output_tokens")),
                cached_input_tokens=as_count(stats.get("cached")),
            )
        )
        self._models(as_record(stats.get("models")))
        error = as_record(record.get("error"))
        kind = as_text(error.get("type"))
        if kind in _LIMITS:
            self.note(limit=True)
        elif record.get("status") == "error" or error:
            self.fail(as_text(error.get("message")), kind=kind, status=error.get("code"))
        else:
            self.note(retrying=None)
        self.end()
        return ()

    def _models(self, used: Record) -> None:
        """Beside the model that was asked for, small ones route and summarise: no fallback."""
        names = [
            name for name, usage in used.items() if as_count(as_record(usage).get("total_tokens"))
        ]
        asked = self.summary.model or ""
        own = [name for name in names if is_same_model(asked, name)]
        for name in own or names:
            self.answered(name)


PROVIDER = Provider(
    name="gemini",
    title="Gemini CLI",
    command=("gemini", "-p", "{prompt}", "--output-format", "stream-json", "--yolo"),
    model_arguments=("--model", "{model}"),
    record_flags=("--output-format stream-json", "-o stream-json"),
    memory_mb=245,
    tested_versions=("0.61.0", "0.61.0"),
    reader=GeminiReader,
    home_variables={"GEMINI_CLI_HOME": "."},
    set_variables={"GEMINI_CLI_TRUST_WORKSPACE": "true"},
    credential_variables=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    pass_variables=("GOOGLE_GEMINI_BASE_URL", "GEMINI_MODEL", "GOOGLE_CLOUD_PROJECT"),
    credential_files=(".gemini/oauth_creds.json", ".gemini/settings.json"),
    # Without it the CLI does not look at its API key.
    home_files={
        ".gemini/settings.json": '{"security": {"auth": {"selectedType": "gemini-api-key"}}}\n'
    },
    credential_fields={".gemini/settings.json": "security.auth"},
    skill_folders=(".gemini/skills", ".agents/skills"),
    npm_package="@google/gemini-cli",
    state=(
        "Since 2026-06-18 it serves no individual Google accounts, so their login files are "
        "likely dead; API keys work (google-gemini/gemini-cli#27997)."
    ),
    documentation="Loads skills with its activate_skill tool; a result with success proves it.",
)
