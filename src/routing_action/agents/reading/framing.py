"""Finds the records in what a CLI printed, in whatever form it was passed on or stored.

JSON lines are taken as they are. UTF-16, arrays, records over several lines, colours, and what
containers and job logs put before each line are undone here, and nowhere else. It never raises,
and does not know what a record means.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from routing_action.agents.reading.decoding import Record, decode_objects, decode_record
from routing_action.agents.reading.failures import clean_text
from routing_action.evidence.transcript import LINE_LIMIT

BLANK = b" \t\r\x00\xef\xbb\xbf"
"""A line of these alone says nothing."""
_HELD_CHARACTERS = 8 * 2**20
_LONGEST_PREFIX = 300
_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"?|[{}\[\]]')
_CUT_LINE = re.compile(r"^\S+ (?:stdout|stderr) (?P<end>[PF]) ")
"""CRI logging, kubernetes.io, 'Logging Architecture': P is a part of a line, F its last one."""
_LOG_PREFIX = re.compile(
    r"(?>\s*(?>"
    r"\d{4}-\d\d-\d\d[T ][\d:.,]+(?:Z| ?[+-]\d\d:?\d\d)?"  # a date and a time
    r"|[A-Z][a-z]{2} +\d{1,2} [\d:.]{8,15}"  # the same in syslog
    r"|\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d+)?"  # a time alone
    r"|\[[^\[\]{}]{1,60}\]|\([^(){}]{1,60}\)|<[^<>{}]{1,60}>"
    r"|[\w./-]+(?:\[[\w.]+\])?\s*[|:>]|std(?:out|err)\b|[FP]\b"
    r"|(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|LOG)\b|[|>#:-]"
    r"))++\s*"
)


class Frame(NamedTuple):
    """A record with the text that it was decoded from, or a line that is none (`record` None).

    `number` is its line, from 1; of a record over several lines the first.
    """

    number: int
    line: bytes
    record: Record | None = None


class Framing:
    """Takes a stream line by line, and gives its records and its other lines in order."""

    def __init__(self, is_record: Callable[[Record], bool]) -> None:
        """`is_record` tells an event of a CLI from JSON that an agent wrote."""
        self._is_record = is_record
        self._number = 0
        self._has_records = self._has_lines = self._seen_text = False
        self._decoder: codecs.IncrementalDecoder | None = None
        self._undecoded = ""
        self._cut = ""
        self._open: list[Frame] = []
        self._open_parts: list[str] = []
        self._depth = self._held = 0

    def feed(self, line: bytes) -> Iterable[Frame]:
        """Take the next line, without its newline; blank lines count for the numbering alone."""
        if self._number == 0 and not self._decoder and (name := _utf16(line)):
            self._decoder = codecs.getincrementaldecoder(name)("replace")
        if self._decoder is None:
            return self._line(line)
        *lines, self._undecoded = (self._undecoded + self._decoder.decode(line + b"\n")).split("\n")
        return [frame for text in lines for frame in self._line(text.encode("utf-8", "replace"))]

    def finish(self) -> Iterator[Frame]:
        """What was held back, since more of it could have come."""
        left, self._undecoded = self._undecoded.rstrip("\ufffd"), ""
        if left:
            yield from self._line(left.encode("utf-8", "replace"))
        if self._cut:
            cut, self._cut = self._cut, ""
            yield from self._text(cut, cut.encode())
        yield from self._give_up()

    def _line(self, line: bytes) -> Iterable[Frame]:
        self._number += 1
        if len(line) > LINE_LIMIT:
            return [*self._give_up(), Frame(self._number, line)]
        record = decode_record(line)
        if record is None or (self._open and line[:1] != b"{"):
            return self._text(clean_text(line), line) if line.strip(BLANK) or self._open else ()
        if self._is_record(record):
            self._has_records = self._has_lines = True
            return [*self._give_up(), Frame(self._number, line, record)]
        if isinstance(record.get("log"), str) and isinstance(record.get("stream"), str):
            return self._logged(record["log"], record["log"].endswith("\n"))  # Docker's json-file
        return self._text(clean_text(line), line)

    def _logged(self, text: str, is_whole: bool) -> Iterable[Frame]:
        """A line that a container's log kept in parts, once its last part is there."""
        self._cut += text
        if not is_whole and len(self._cut) <= LINE_LIMIT:
            return ()
        whole, self._cut = self._cut.strip(), ""
        return self._text(whole, whole.encode("utf-8", "replace"))

    def _text(self, text: str, line: bytes) -> Iterable[Frame]:
        """A line that is no record by itself."""
        if self._open:
            return self._continue(text, line)
        part = _CUT_LINE.match(text)
        if part and (self._cut or part["end"] == "P"):
            return self._logged(text[part.end() :], part["end"] == "F")
        start = text.find("{", 0, _LONGEST_PREFIX)
        prefix = (text[:start] if start >= 0 else text).strip(" \t[],")
        found, rest = decode_objects(text, start) if start >= 0 and '"' not in prefix else ([], "")
        is_array = text.lstrip().startswith("[") and not rest.strip(" \t\r],")
        is_whole = is_array or (len(found) == 1 and "}" not in rest)
        if is_whole and found and self._is_record(found[0][0]) and self._may_stand_before(prefix):
            self._has_records = True
            return [Frame(self._number, source.encode(), one) for one, source in found]
        if not prefix and not found and not self._has_lines:
            if text[start:].strip() == "{":
                return self._continue(text[start:], line)
            if start < 0:
                self._open.append(Frame(self._number, line))
                return () if text.strip() == "[" else self._end_array()
        self._seen_text = True
        return (Frame(self._number, line),)

    def _end_array(self) -> Iterable[Frame]:
        """A line of brackets and commas alone: nothing after records, else text."""
        if self._has_records:
            self._open.clear()
        return list(self._give_up())

    def _may_stand_before(self, prefix: str) -> bool:
        """Prose that quotes a record is none: before the first record only a log's own form is."""
        known = not prefix or self._has_records or not self._seen_text
        return known or _LOG_PREFIX.fullmatch(prefix) is not None

    # ---- a record over several lines

    def _continue(self, text: str, line: bytes) -> list[Frame]:
        """Take a line into the object that is open, and give those that it ends."""
        self._open.append(Frame(self._number, line))
        self._held += len(text)
        sources = [one.encode("utf-8", "replace") for one in self._ended_objects(text)]
        records = [decode_record(source) or {} for source in sources]
        is_one = bool(sources or self._depth) and all(map(self._is_record, records))
        if not is_one or self._held > _HELD_CHARACTERS:
            return list(self._give_up())
        if sources:
            number = next(one.number for one in self._open if b"{" in one.line)
            self._open, self._held = self._open[-1:] if self._depth else [], 0
            self._has_records = True
            return [Frame(number, *pair) for pair in zip(sources, records, strict=True)]
        return []

    def _ended_objects(self, text: str) -> list[str]:
        """The objects that end in a line; what it begins is kept."""
        ended, begin = [], 0
        for token in _TOKENS.finditer(text):
            if token[0] in "{[":
                begin = token.start() if self._depth == 0 else begin
                self._depth += 1
            elif token[0] in "}]" and self._depth:
                self._depth -= 1
                if self._depth == 0:
                    ended.append("\n".join([*self._open_parts, text[begin : token.end()]]))
                    self._open_parts = []
        if self._depth:
            self._open_parts.append(text[begin:])
        return ended

    def _give_up(self) -> Iterator[Frame]:
        """The lines of an object that turned out to be none, as they are."""
        if self._open:
            lines, self._open, self._open_parts = self._open, [], []
            self._depth = self._held = 0
            self._seen_text = True
            yield from (frame for frame in lines if frame.line.strip(BLANK))


def _utf16(line: bytes) -> str:
    """The encoding of a stream that begins as UTF-16, by its mark or its zeros; else ""."""
    is_marked = line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    begin = line[2 * is_marked : 40]
    even, odd = begin[0::2], begin[1::2]
    if len(odd) < (1 if is_marked else 4):
        return ""
    if not any(odd) and all(even):
        return "utf-16-le"
    return "utf-16-be" if not any(even) and all(odd) else ""
