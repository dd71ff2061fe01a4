"""What every reader shares: lines to records, calls paired with their results, and counting.

A provider's reader subclasses `RecordReader` and says what each record means; this module owns
the rules that hold for all of them, and never raises on any bytes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from routing_action.domain.naming import is_skill_file, skill_folder
from routing_action.domain.provider import ReadContext
from routing_action.domain.tiers import canonical_base, canonical_call
from routing_action.domain.transcript import (
    ApiFailure,
    EvidenceLine,
    LineKind,
    Reading,
)
from routing_action.providers.calls import Call, PendingCalls, quote_line
from routing_action.providers.decoding import Record, decode_known, decode_record, is_blank
from routing_action.providers.heads import Head, Heads
from routing_action.providers.roots import lies_under
from routing_action.providers.skill_files import in_a_skills_root, shown_files
from routing_action.providers.standard_error import StderrRule, clean_text, find_failure
from routing_action.providers.summary import RunSummary

QUOTE_LIMIT = 4_000
TEXT_LIMIT = 200_000
_TARGET_LIMIT = 4_000
_HELD_BYTES = 8 * 2**20
_SHELL_SIGNS = "'\"\\`^\n"
_ENVELOPE = frozenset({"type", "msg", "event", "sessionID", "session_id", "timestamp"})
_BLANK = b" \t\r\x00\xef\xbb\xbf"


class RecordReader(RunSummary, ABC):
    """Reads one run. Subclasses implement `on_record`, and `on_text` for a text mode.

    `shell_loads` is True where a shell read of SKILL.md is the native load (codex). `heads` says
    which records prove nothing and change nothing, so that blocks are read without decoding them.
    """

    shell_loads = False
    heads = Heads()
    prose_on_stderr = False
    stderr_rules: tuple[StderrRule, ...] = ()

    def __init__(self, context: ReadContext) -> None:
        """Start at line 0; `context` resolves paths."""
        super().__init__()
        self.context = context
        self.number = 0
        self._may_name = context.may_name or _always
        self._line = b""
        self._quote: str | None = ""
        self._texts = 0
        self._held: list[tuple[int, str]] = []
        self._held_bytes = 0
        self._records = 0
        self._calls = PendingCalls()
        self._stderr: tuple[ApiFailure, str] | None = None
        self._subagent = False
        self._active = False
        self._finished = False

    # ---- the Reader protocol

    def feed(self, line: bytes) -> Iterable[EvidenceLine]:
        """Take the next stdout line; blank lines count for the numbering alone."""
        self.number += 1
        if not line.startswith(b"{") and not line.strip(_BLANK):
            return ()
        record = decode_record(line)
        if record is None or not self.is_record(record):
            self._hold_text(line)
            return ()
        return self._take(line, record)

    def _take(self, line: bytes, record: Record) -> Iterable[EvidenceLine]:
        self._records += 1
        self._line, self._quote = line[:QUOTE_LIMIT], None
        self._subagent = self.in_subagent(record)
        found = self.on_record(record)
        if found is None:
            self.unrecognised += 1
            return ()
        self.recognised += 1
        return list(found)

    def feed_block(self, block: bytes) -> list[EvidenceLine]:
        """Take whole lines at once: the same as `feed` of each, but far faster where most are quiet."""
        lines = block.split(b"\n")
        if not lines[-1]:
            lines.pop()
        found: list[EvidenceLine] = []
        heads = self.heads.read(lines)
        first = 0
        for place in self.loud(heads):
            if place > first:
                self.pass_over(heads[first:place])
            found += self._feed_loud(lines[place], heads[place])
            first = place + 1
        if len(heads) > first:
            self.pass_over(heads[first:])
        return found

    def _feed_loud(self, line: bytes, head: Head) -> Iterable[EvidenceLine]:
        """Spare a line that is known to be a record what tells whether it is one."""
        record = decode_known(line) if head.type else None
        if record is None:
            return self.feed(line)
        self.number += 1
        return self._take(line, record)

    def loud(self, heads: Sequence[Head]) -> list[int]:
        """The places of the records that must be decoded."""
        return self.heads.loud(heads)

    def pass_over(self, heads: Sequence[Head]) -> None:
        """Count quiet records, of which every one is recognised."""
        self.number += len(heads)
        self._records += len(heads)
        self.recognised += len(heads)

    def feed_stderr(self, line: bytes) -> None:
        """Keep the last failure that an anchored pattern finds."""
        self._stderr = find_failure(line, self.stderr_rules) or self._stderr

    def finish(self, exit_code: int | None = None) -> Iterable[EvidenceLine]:
        """Settle what only the end decides: text mode, unanswered calls, standard error."""
        if self._finished:
            return ()
        self._finished = True
        found: list[EvidenceLine] = []
        if self._records and not (self._texts and self.recognised == 0):
            self.unrecognised += self._texts
        else:  # text mode, in which an agent may have printed JSON of its own
            self.recognised, self.unrecognised = self._texts + self._records, 0
            self._records = 0
            for number, text in self._held:
                self.number, self._quote = number, text[:QUOTE_LIMIT]
                found += self.on_text(text)
            if self._texts:
                self.note(has_text=True)
                self.turns += 1
        unanswered = self._calls.take_all()
        for call in unanswered:
            found += self.settle(call, ok=False)
        self._settle_stderr(exit_code, busy=bool(unanswered))
        return found

    @property
    def reading(self) -> Reading:
        """The summary so far."""
        return self.summarise(is_record_stream=self._records > 0)

    @property
    def quote(self) -> str:
        """The current source line, cut to a bounded length."""
        if self._quote is None:
            self._quote = quote_line(self._line)
        return self._quote

    # ---- for subclasses

    @abstractmethod
    def on_record(self, record: Record) -> Iterable[EvidenceLine] | None:
        """What a record proves; None where it is not recognised."""

    def is_record(self, record: Record) -> bool:
        """True where a JSON object is an event of a CLI, not JSON that an agent wrote."""
        return not _ENVELOPE.isdisjoint(record)

    def on_text(self, text: str) -> Iterable[EvidenceLine]:
        """What a line of plain-text output proves; a mention unless a subclass knows better."""
        return (self.line(LineKind.MENTION, text),)

    def in_subagent(self, record: Record) -> bool:
        """True where a record belongs to a sub-agent."""
        return False

    def line(self, kind: LineKind, text: str, **fields: Any) -> EvidenceLine:  # noqa: ANN401
        """An evidence line at the current source line."""
        fields.setdefault("number", self.number)
        fields.setdefault("quote", self.quote)
        fields.setdefault("subagent", self._subagent)
        return EvidenceLine(kind, text[:TEXT_LIMIT], **fields)

    def mention(self, text: str, kind: LineKind = LineKind.MENTION) -> list[EvidenceLine]:
        """Text that proves nothing, or no line at all where it is empty or cannot name a token."""
        if is_blank(text) or not self._may_name(text):
            return []
        return [self.line(kind, text)]

    def say(self, text: str) -> list[EvidenceLine]:
        """Text that the assistant wrote."""
        if not self.summary.has_text and not is_blank(text):
            self.note(has_text=True)
        return self.mention(text)

    def call(
        self,
        identity: object,
        kind: str,
        name: str,
        target: str,
        *,
        partial: bool = False,
        cwd: str = "",
    ) -> None:
        """Remember a tool call until its result comes."""
        self.tool_events += 1
        target = target if kind == "shell" else target[:_TARGET_LIMIT]
        place = (self.number, self._line, self._subagent)
        self._calls.open(identity, Call(kind, name, target, *place, partial, cwd))

    def pending(self, identity: object) -> Call | None:
        """The call of an id that still waits for its result."""
        return self._calls.find(identity)

    def forget(self, identity: object) -> None:
        """Drop a call that its completion told otherwise."""
        self._calls.close(identity)

    def result(
        self, identity: object, *, ok: bool, output: str = "", base: str = ""
    ) -> list[EvidenceLine]:
        """Pair a result with its call: what the two prove together."""
        call = self._calls.close(identity)
        found = [] if call is None else list(self.settle(call, ok=ok, output=output, base=base))
        return found + self.mention(output, LineKind.TOOL_RESULT)

    def settle(
        self, call: Call, *, ok: bool, output: str = "", base: str = ""
    ) -> Iterator[EvidenceLine]:
        """The evidence lines of a call whose result is known."""
        matters = call.kind == "skill" or self._matters(call)
        if not matters and self._active:
            return
        self._active = True
        place = {"number": call.number, "quote": call.quote, "subagent": call.subagent}
        if call.kind == "skill" and not call.target:
            text = f'"name":"Skill" {call.name} {output[:500]}'
            yield self.line(LineKind.ATTEMPT, text, **place)
            return
        if call.kind == "skill":
            kind = LineKind.LOAD if ok else LineKind.ATTEMPT
            yield self.line(
                kind, canonical_call(call.target), skill=call.target, path=base, **place
            )
            return
        if ok and matters and call.kind == "file":
            yield self._read(call.target, partial=call.partial, place=place)
        if ok and matters and call.kind == "shell":
            yield from self._shell_reads(call, output, place)
        is_command = call.kind == "shell" or call.name.startswith("mcp")
        detail = "command" if is_command else "tool"
        text = f"{call.name} {call.target}".strip()
        path = call.target if call.kind == "file" else ""
        yield self.line(LineKind.TOOL_CALL, text, path=path, detail=detail, **place)

    # ---- the shell rule

    def _shell_reads(self, call: Call, output: str, place: Record) -> Iterator[EvidenceLine]:
        shown = shown_files(call.target, call.cwd, output)
        for path in shown.files:
            yield self._read(path, partial=False, place=place)
        for path, proven in shown.skills:
            yield self._skill_read(path, proven=proven, place=place)

    def _matters(self, call: Call) -> bool:
        """False only where a call names no token and reads no SKILL.md: it is activity alone.

        In a command a variable can put a name together, and quotes and escapes inside of a name
        are dropped.
        """
        text = f"{call.name} {call.target}"
        if call.kind != "shell":
            return self._may_name(text)
        bare = f"{call.cwd} {call.target}"
        for sign in _SHELL_SIGNS:
            bare = bare.replace(sign, "")
        return "$" in text or "skill" in bare.casefold() or self._may_name(f"{text}\n{bare}")

    def _skill_read(self, path: str, *, proven: bool, place: Record) -> EvidenceLine:
        """A SKILL.md that a shell printed: the native load where the CLI has no skill tool."""
        read = self._read(path, partial=not proven, place=place)
        rooted = in_a_skills_root(path, roots_known=bool(self.context.skills_roots))
        if not (self.shell_loads and proven and rooted) or read.wrong_copy:
            return read
        folder = skill_folder(path)
        return replace(read, kind=LineKind.LOAD, text=canonical_base(path), skill=folder[-1])

    def _read(self, path: str, *, partial: bool, place: Record) -> EvidenceLine:
        wrong = is_skill_file(path) and not lies_under(path, self.context)
        return self.line(
            LineKind.READ, f"read {path}", path=path, partial=partial, wrong_copy=wrong, **place
        )

    # ---- inside

    def _hold_text(self, line: bytes) -> None:
        """A line that is no record: text mode if no record ever comes, else unrecognised."""
        self._texts += 1
        if not self.recognised and self._held_bytes < _HELD_BYTES:
            self._held.append((self.number, clean_text(line)[:TEXT_LIMIT]))
            self._held_bytes += min(len(line), TEXT_LIMIT)

    def _settle_stderr(self, exit_code: int | None, *, busy: bool) -> None:
        """Standard error counts only where the run did not end well by its own account.

        Not where a tool was still running (`busy`), nor in the text mode of a CLI that writes
        the agent's prose there.
        """
        if self._stderr is None or self.summary.failure is not None:
            return
        failure, message = self._stderr
        silent = self.turns == 0 and not self.summary.has_text
        if self._records and not self.summary.terminal:
            if not busy:
                self.note(retrying=failure, failure_message=message)
        elif silent if self._records else self._text_failed(exit_code):
            self.note(failure=failure, failure_message=message)

    def _text_failed(self, exit_code: int | None) -> bool:
        """True where a text mode run ended badly by itself, and its errors are no prose."""
        ended_badly = exit_code is None or (exit_code > 0 and exit_code not in (137, 143))
        return ended_badly and not (self.prose_on_stderr and self._texts)


def _always(_text: str) -> bool:
    return True
