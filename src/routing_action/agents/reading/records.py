"""What every reader shares: from lines and blocks to records, text mode, and counting.

A provider's reader subclasses `RecordReader` and says what each record means; this module owns
the rules that hold for all of them, and never raises on any bytes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

from routing_action.agents.reading.decoding import Record, decode_known, decode_record
from routing_action.agents.reading.flood import END_BYTES, EXACT_BYTES, Flood
from routing_action.agents.reading.heads import Head, Heads, split_block
from routing_action.agents.reading.plain_text import (
    BLANK,
    HeldText,
    count_lines,
    count_newlines,
    may_hold_records,
)
from routing_action.agents.reading.proofs import QUOTE_LIMIT, ProofWriter
from routing_action.agents.reading.standard_error import StderrRule, find_failure
from routing_action.evidence.reader_protocol import Naming, ReadContext
from routing_action.evidence.transcript import (
    ApiFailure,
    EvidenceLine,
    Reading,
)

_PASSED = (
    "{:.0f} MB from the middle of the output were counted by the block: the verdict stood, and "
    "only the end could matter"
)
_ENVELOPE = frozenset({"type", "msg", "event", "sessionID", "session_id", "timestamp"})


class RecordReader(ProofWriter, ABC):
    """Reads one run. Subclasses implement `on_record`, and `on_text` for a text mode.

    `heads` says which records prove nothing and change nothing, so that blocks are read without
    decoding them. Where `end_mark` is given, which is near the end of what ends a run, blocks in
    the middle of a flood may be passed over, but for those with `load_mark`, the sign of a load.
    """

    heads = Heads()
    end_mark = b""
    load_mark = b""
    prose_on_stderr = False
    stderr_rules: tuple[StderrRule, ...] = ()

    def __init__(self, context: ReadContext) -> None:
        """Start at line 0; `context` resolves paths."""
        super().__init__(context)
        self._texts = 0
        self._held = HeldText()
        self._records = 0
        self._stderr: tuple[ApiFailure, str] | None = None
        self._finished = False
        self._bytes = 0
        self._flood = Flood()
        self._passed_bytes = 0

    # ---- the Reader protocol

    def feed(self, line: bytes) -> Iterable[EvidenceLine]:
        """Take the next stdout line; blank lines count for the numbering alone."""
        self.number += 1
        if not line.startswith(b"{") and not line.strip(BLANK):
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
        """Take whole lines at once: the same as `feed` of each, and fast where most are quiet.

        After EXACT_BYTES the counts of text, and all counts once the verdict stands, are taken by
        the block.
        """
        self._bytes += len(block)
        if self._bytes <= EXACT_BYTES or not self.end_mark:
            return self._read_block(block)
        if self.context.is_settled() and not self._may_matter(block):
            for passed in self._flood.hold(block):
                self._pass(passed)
            return []
        return [*self._read_held(), *self._read_block(block)]

    def _may_matter(self, block: bytes) -> bool:
        return self.load_mark in block or block.find(self.end_mark, -END_BYTES) >= 0

    def _read_held(self) -> list[EvidenceLine]:
        return [line for block in self._flood.take() for line in self._read_block(block)]

    def _pass(self, block: bytes) -> None:
        """Count the lines of a block: as records where it begins like one."""
        count = count_newlines(block)
        self.number += count
        self._passed_bytes += len(block)
        if block.startswith(b"{"):
            self._records += count
            self.recognised += count
        else:
            self._texts += count

    def _read_block(self, block: bytes) -> list[EvidenceLine]:
        if not may_hold_records(block):
            self._pass_text(block)
            return []
        lines = split_block(block)
        naming = self.context.naming_lines if self.heads.skims else None
        heads = self.heads.read(lines, skims=naming is not None)
        loud = stops = self.loud(heads)
        if naming is not None:
            stops = self._must_decode(naming, block, lines, heads, loud)
        take = self._skim if len(stops) < len(loud) else self._skip
        found: list[EvidenceLine] = []
        first, end = 0, len(lines)
        for stop in (*stops, end):
            while first < stop:
                first += take(heads, first, stop)
                if first < stop:
                    found += self._feed_loud(bytes(lines[first]), heads[first])
                    first += 1
            if stop < end:
                found += self._feed_loud(bytes(lines[stop]), heads[stop])
                first = stop + 1
        return found

    def _must_decode(
        self,
        naming: Naming,
        block: bytes,
        lines: Sequence[bytes | memoryview],
        heads: list[Any],
        loud: list[int],
    ) -> list[int]:
        """Of the loud lines those of which more is asked than a head, whatever was read before."""
        skims, asked = self.heads.skims, loud
        if self.heads.mentions and not self.context.needs_mentions():
            asked = [place for place in loud if heads[place].type not in self.heads.mentions]
        some = [bytes(lines[place]) for place in asked]
        if len(asked) < len(lines):
            heads = [heads[place] for place in asked]
            block = b"\n".join(some)
        named = naming(block, some)
        if skims.issuperset([head.type for head in heads]):
            return [asked[count] for count in sorted(named)]
        return [
            place
            for count, place in enumerate(asked)
            if heads[count].type not in skims or count in named
        ]

    def _feed_loud(self, line: bytes, head: Head) -> Iterable[EvidenceLine]:
        """Spare a line that is known to be a record what tells whether it is one."""
        record = decode_known(line) if head.type else None
        if record is None:
            return self.feed(line)
        self.number += 1
        return self._take(line, record)

    def loud(self, heads: Sequence[Any]) -> list[int]:
        """The places of the records that must be decoded."""
        return self.heads.loud(heads)

    def skim(self, heads: Sequence[Any], first: int, stop: int) -> int:
        """Take records from `first` on that name no token, by their heads: how many could be.

        Among them are quiet ones, which are counted by `pass_over` as the others are.
        """
        return stop - first

    def pass_over(self, heads: Sequence[Any]) -> None:
        """Count records that are not decoded, of which every one is recognised."""
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
        found = self._read_held()
        if self._passed_bytes:
            self.note(notes=(*self.summary.notes, _PASSED.format(self._passed_bytes / 1e6)))
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

    # ---- for subclasses

    @abstractmethod
    def on_record(self, record: Record) -> Iterable[EvidenceLine] | None:
        """What a record proves; None where it is not recognised."""

    def is_record(self, record: Record) -> bool:
        """True where a JSON object is an event of a CLI, not JSON that an agent wrote."""
        return not _ENVELOPE.isdisjoint(record)

    def on_text(self, text: str) -> Iterable[EvidenceLine]:
        """What a line of plain-text output proves; a mention unless a subclass knows better."""
        return self.mention(text)

    def in_subagent(self, record: Record) -> bool:
        """True where a record belongs to a sub-agent."""
        return False

    # ---- inside

    def _skip(self, heads: Sequence[Any], first: int, stop: int) -> int:
        self.pass_over(heads[first:stop])
        return stop - first

    def _skim(self, heads: Sequence[Any], first: int, stop: int) -> int:
        count = self.skim(heads, first, stop)
        self.pass_over(heads[first : first + count])
        return count

    def _hold_text(self, line: bytes) -> None:
        """A line that is no record: text mode if no record ever comes, else unrecognised."""
        self._texts += 1
        if not self.recognised:
            self._held.add(self.number, line)

    def _pass_text(self, block: bytes) -> None:
        """Lines of which none is a record: only the first of all are looked at one by one.

        In a flood blank ones are counted too.
        """
        if self._bytes > EXACT_BYTES:
            count = said = count_newlines(block)
        else:
            count, said = count_lines(block)
        if not self.recognised and not self._held.is_full:
            self._held.add_block(self.number + 1, block)
        self.number += count
        self._texts += said

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
                self._throttle(message)
        elif silent if self._records else self._text_failed(exit_code):
            self.note(failure=failure, failure_message=message)
            self._throttle(message)

    def _text_failed(self, exit_code: int | None) -> bool:
        """True where a text mode run ended badly by itself, and its errors are no prose."""
        ended_badly = exit_code is None or (exit_code > 0 and exit_code not in (137, 143))
        return ended_badly and not (self.prose_on_stderr and self._texts)
