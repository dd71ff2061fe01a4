"""What every reader shares: from lines to records, text mode, and counting.

A provider's reader subclasses `RecordReader` and says what each record means; this module owns
the rules that hold for all of them, and never raises on any bytes.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

from routing_action.agents.provider import ReadContext
from routing_action.agents.reading.decoding import Record
from routing_action.agents.reading.failures import (
    SILENT_RULES,
    StderrRule,
    clean_text,
    find_failure,
)
from routing_action.agents.reading.framing import Frame, Framing
from routing_action.agents.reading.proofs import TEXT_LIMIT, ProofWriter
from routing_action.evidence.transcript import LINE_LIMIT, ApiFailure, EvidenceLine, Reading

HELD_BYTES = 8 * 2**20
"""So much of the beginning of a text is kept until it is known whether records come."""
_LINE_COST = 100
"""Bytes that a line of it takes beside its own."""
_ENVELOPE = frozenset({"type", "msg", "event", "sessionID", "session_id", "timestamp"})
_LOGGED = re.compile(rb"\W{0,8}(?:\d{4}-\d\d-\d\d\S* +)?(?:\x1b\[[0-9;]*m)*(?:ERROR|WARN)")
_FENCE = re.compile(r"(?:[\s>*+-]|\d+[.)])*(`{3,}|~{3,})")
_ANNOUNCES = re.compile(
    r"\b(?:e\.?g|examples?|for instance|samples?|such|prints?|printed|shows?|shown|displays?|says?"
    r"|output|looks?|logs?|format|like|line)\b.*[:：]\W*$",
    re.IGNORECASE,
)

_Line = tuple[int, str]
"""A line that is not blank, with its number."""


class RecordReader(ProofWriter, ABC):
    """Reads one run. Subclasses implement `on_record`, and `on_text` for a text mode."""

    prose_on_stderr = False
    text_shows_loads = False
    """Whether a load of a skill shows in the CLI's plain text."""
    stderr_rules: tuple[StderrRule, ...] = ()

    def __init__(self, context: ReadContext) -> None:
        """Start at line 0; `context` resolves paths."""
        super().__init__(context)
        self.lone: set[int] = set()
        self._framing = Framing(self.is_record)
        self._texts = 0
        self._held: list[tuple[int, bytes]] = []
        self._held_bytes = 0
        self._records = 0
        self._too_long: list[int] = []
        self._stderr: tuple[ApiFailure, str] | None = None
        self._last_words: tuple[ApiFailure, str] | None = None
        self._finished = False

    # ---- the Reader protocol

    def feed(self, line: bytes) -> Iterable[EvidenceLine]:
        """Take the next stdout line; blank lines count for the numbering alone."""
        frames = self._framing.feed(line)
        return [found for frame in frames for found in self._take(frame)]

    def _take(self, frame: Frame) -> Iterable[EvidenceLine]:
        self.number, line, record = frame
        if len(line) > LINE_LIMIT:
            self._too_long.append(self.number)
            return ()
        if record is None:
            self._hold_text(line)
            return ()
        self._records += 1
        self._line, self._record = line, record
        found = self.on_record(record)
        if found is None:
            self.unrecognised += 1
            return ()
        self.recognised += 1
        return found

    def feed_stderr(self, line: bytes) -> None:
        """Keep the last failure that an anchored pattern finds."""
        self._stderr = find_failure(line, self.stderr_rules) or self._stderr
        if not (self._records or self._texts or self.prose_on_stderr):
            self._last_words = find_failure(line, SILENT_RULES) or self._last_words
        if self._records or not self.prose_on_stderr or _LOGGED.match(line):
            self.refuse(clean_text(line[:TEXT_LIMIT]))

    def finish(self, exit_code: int | None = None) -> Iterable[EvidenceLine]:
        """Settle what only the end decides: text mode, unanswered calls, standard error."""
        if self._finished:
            return ()
        self._finished = True
        rest = self._framing.finish()
        found = [one for frame in rest for one in self._take(frame)]
        if self.recognised or self._records > self._texts:
            self.unrecognised += self._texts
            self.note(foreign=self._texts)
        else:
            found += self._read_text()
        self._count_too_long()
        unanswered = self.calls.take_all()
        for call in unanswered:
            found += self.settle(call, ok=False)
        self._settle_stderr(exit_code, busy=bool(unanswered))
        return found

    @property
    def reading(self) -> Reading:
        """The summary so far."""
        return self.summarise(is_record_stream=self._records > 0)

    # ---- for subclasses

    @abstractmethod
    def on_record(self, record: Record) -> Iterable[EvidenceLine] | None:
        """What a record proves; None where it is not recognised."""

    def is_record(self, record: Record) -> bool:
        """True where a JSON object is an event of a CLI, not JSON that an agent wrote."""
        return not _ENVELOPE.isdisjoint(record)

    def on_text(self, text: str) -> Iterable[EvidenceLine]:
        """What a line of plain text outside of a fence proves; a mention unless a subclass knows.

        `lone` has the numbers of the lines that stand between blank lines.
        """
        return self.mention(text)

    # ---- inside

    def _hold_text(self, line: bytes) -> None:
        """A line that is no record: text mode if no record ever comes, else unrecognised."""
        self._texts += 1
        if not self.recognised and self._held_bytes < HELD_BYTES:
            kept = line[:TEXT_LIMIT]
            self._held_bytes += len(kept) + _LINE_COST
            self._held.append((self.number, kept))

    def _count_too_long(self) -> None:
        """Lines of more than LINE_LIMIT bytes: not recognised, whatever they are."""
        count = len(self._too_long)
        self.unrecognised += count
        if count:
            what = "1 line of" if count == 1 else f"{count} lines of"
            first = f"{'' if count == 1 else 'the first is '}stdout line {self._too_long[0]}"
            text = f"not read and not recognised: {what} more than 8 MiB ({first})"
            self.note(notes=(*self.summary.notes, text))

    def _read_text(self) -> list[EvidenceLine]:
        """Text mode, in which an agent may have printed JSON of its own."""
        self.recognised, self.unrecognised = self._texts + self._records, 0
        self._records = 0
        found: list[EvidenceLine] = []
        lines = [(number, clean_text(line)) for number, line in self._held]
        fenced = _fenced_lines(lines)
        self.lone = _lone_lines(lines, self.number) - fenced
        for number, text in lines:
            self.number, self._line, self._record = number, text.encode(), {}
            found += self.mention(text) if number in fenced else self.on_text(text)
        if self._texts:
            self.note(has_text=True, shows_loads=self.text_shows_loads)
            self.turns += 1
        return found

    def _settle_stderr(self, exit_code: int | None, *, busy: bool) -> None:
        """Standard error counts only where the run did not end well by its own account.

        Not where a tool was still running (`busy`), nor in the text mode of a CLI that writes
        the agent's prose there.
        """
        is_mute = not (self._records or self._texts)
        found = self._stderr or (self._last_words if is_mute else None)
        if found is None or self.summary.failure is not None:
            return
        failure, message = found
        silent = self.turns == 0 and not self.summary.has_text
        if self._records and not self.summary.terminal:
            name, counts = "retrying", not busy
        else:
            name, counts = "failure", silent if self._records else self._text_failed(exit_code)
        if counts:
            self.note(**{name: failure}, failure_message=message)
            self._throttle(failure, message)

    def _text_failed(self, exit_code: int | None) -> bool:
        """True where a text mode run ended badly by itself, and its errors are no prose."""
        ended_badly = exit_code is None or (exit_code > 0 and exit_code not in (137, 143))
        return ended_badly and not (self.prose_on_stderr and self._texts)


# ---- where lines of plain text stand: agents write between a CLI's lines


def _fenced_lines(lines: Sequence[_Line]) -> set[int]:
    """The numbers of the lines in a fence, and of those that open and close one."""
    found: set[int] = set()
    fence = ""
    for number, text in lines:
        mark = _FENCE.match(text)
        if fence or mark:
            found.add(number)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence) and not text[mark.end() :].strip():
            fence = ""
    return found


def _lone_lines(lines: Sequence[_Line], last: int) -> set[int]:
    """The numbers of the lines that stand alone: between blank lines, and announced by none.

    Indented lines below one belong to it. `last` is the number of the output's last line; a line
    that no other follows is not known to stand alone.
    """
    found: set[int] = set()
    for place, (number, _) in enumerate(lines):
        before = lines[place - 1] if place else (-1, "")
        after = lines[place + 1] if place + 1 < len(lines) else (last + 1, "")
        is_ended = after[0] > number + 1 or after[1][:1] in (" ", "\t")
        is_announced = _ANNOUNCES.search(before[1])
        if before[0] != number - 1 and is_ended and number < last and not is_announced:
            found.add(number)
    return found
