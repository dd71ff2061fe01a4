"""Names the slip in a text that is no JSON, in words for the person who wrote it, and its place."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

MAX_SCANNED = 32 * 2**20
"""Characters; in a longer text, which no person wrote, brackets and keys are not searched."""

_CONFLICT = re.compile(r"^(?:<{7}|\|{7}|={7}|>{7})(?:[ \r].*)?$", re.MULTILINE)
_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"?|[\[\]{}]', re.DOTALL)
_COLON = re.compile(r"[ \t\r\n]*:")
_WORD = re.compile(r"[A-Za-z_$][\w$.-]*")
_SPACE = " \t\r\n"
_CLOSING = {"{": "}", "[": "]"}
_QUOTES = "'`‘’‚“”„«»"
_JSON_WORDS = {"true": "true", "false": "false", "none": "null", "nil": "null", "undefined": "null"}


class Slip(NamedTuple):
    """What is wrong, what to do, and the offset in the text where it is."""

    cause: str
    remedy: str
    offset: int


def find_conflict(text: str) -> Slip | None:
    """The first line with which git marks an unresolved merge."""
    marker = _CONFLICT.search(text)
    if marker is None:
        return None
    cause = f"holds an unresolved merge conflict ({marker[0].strip()[:40]})"
    remedy = "keep one side of each conflict, and remove the lines that mark it"
    return Slip(cause, remedy, marker.start())


def find_repeated_key(text: str) -> tuple[str, int] | None:
    """The first key that its object has had already, and its offset; of text that is JSON so far.

    None where the text is too long to be searched.
    """
    seen: list[set[str] | None] = []
    for token in _TOKEN.finditer(text) if len(text) <= MAX_SCANNED else ():
        if token[0] in _CLOSING:
            seen.append(set() if token[0] == "{" else None)
        elif token[0] in "]}":
            seen.pop()
        elif (keys := seen[-1] if seen else None) is not None and _COLON.match(text, token.end()):
            key = json.loads(token[0])
            if key in keys:
                return key, token.start()
            keys.add(key)
    return None


def find_slip(text: str, error: json.JSONDecodeError) -> Slip:
    """What a person did that made the decoder stop; in general words where nothing is known."""
    fault = _Fault(text, error)
    found = (rule(fault) for rule in _RULES)
    return next((slip for slip in found if slip), fault.general)


class _Fault:
    """The place where the decoder stopped, and what stands around it.

    `before` is the offset of the last sign before it that is no space, -1 where there is none;
    `opened` are those of the brackets that are open there, the innermost last.
    """

    def __init__(self, text: str, error: json.JSONDecodeError) -> None:
        self.text, self.message = text, error.msg
        self.at = len(text) - len(text[error.pos :].lstrip(_SPACE))
        if error.msg.startswith("Invalid"):  # inside a text, where a space is one
            self.at = error.pos
        self.before = len(text[: self.at].rstrip(_SPACE)) - 1
        self.opened = list(_open_brackets(text, self.at)) if len(text) <= MAX_SCANNED else []

    @property
    def sign(self) -> str:
        """The sign at the place; "" at the end of the text."""
        return self.text[self.at : self.at + 1]

    @property
    def last(self) -> str:
        """The last sign before the place that is no space; "" where there is none."""
        return self.text[self.before] if self.before >= 0 else ""

    @property
    def line(self) -> int:
        return self.line_at(self.at)

    def line_at(self, offset: int) -> int:
        return self.text.count("\n", 0, offset) + 1

    def expects(self, what: str) -> bool:
        return self.message.startswith(f"Expecting {what}")

    @property
    def general(self) -> Slip:
        """What holds of any place: the decoder expects something else there."""
        sign = self.sign
        if sign.isspace() or not sign.isprintable():
            cause = f"an invisible character (U+{ord(sign):04X}) on line {self.line}"
            return Slip(cause, "remove it, or write a plain space", self.at)
        cause = f"an unexpected {sign or 'end'} on line {self.line}"
        return Slip(cause, "check the comma, quote or bracket just before this place", self.at)


def _open_brackets(text: str, end: int) -> Iterator[int]:
    opened: list[int] = []
    for token in _TOKEN.finditer(text, 0, end):
        if token[0] in _CLOSING:
            opened.append(token.start())
        elif token[0] in "]}" and opened:
            opened.pop()
    return iter(opened)


def _empty(fault: _Fault) -> Slip | None:
    if fault.text.strip(_SPACE):
        return None
    return Slip("the file is empty", "write the file's content, or remove the file", 0)


def _quote(fault: _Fault) -> Slip | None:
    """A text that does not end on its line, or that holds what must be written otherwise."""
    if fault.message.startswith(("Unterminated", "Invalid control")) and fault.sign in '\r\n"':
        line = fault.text.rfind("\n", 0, fault.at) + 1
        strings = [one.start() for one in _TOKEN.finditer(fault.text, line) if one[0][0] == '"']
        start = max([one for one in strings if one <= fault.at], default=fault.at)
        cause = f"a text without its closing quote on line {fault.line}"
        return Slip(cause, 'end the text with ", and write a line break in it as \\n', start)
    if fault.message.startswith("Invalid control"):
        shown = "a tab" if fault.sign == "\t" else f"the control character U+{ord(fault.sign):04X}"
        written = "\\t" if fault.sign == "\t" else f"\\u{ord(fault.sign):04x}"
        return Slip(f"{shown} in a text on line {fault.line}", f"write it as {written}", fault.at)
    if fault.message.startswith("Invalid \\"):
        cause = f"a single backslash in a text on line {fault.line}"
        return Slip(cause, "write each backslash twice: \\\\", fault.at)
    return None


def _end(fault: _Fault) -> Slip | None:
    """The text ends too early."""
    if fault.sign or not fault.opened:
        return None
    return _not_closed(fault, "at the end of the file")


def _not_closed(fault: _Fault, before: str) -> Slip:
    start = fault.opened[-1]
    sign = fault.text[start]
    cause = f"the {sign} of line {fault.line_at(start)} is not closed {before}"
    return Slip(cause, f"add the missing {_CLOSING[sign]}", start)


def _comma(fault: _Fault) -> Slip | None:
    """A comma before a closing bracket, before another comma, or after an opening bracket."""
    if fault.sign == "," and fault.last != ":" and not fault.expects("':'"):
        place = fault.at
    elif fault.last == "," and fault.sign in _CLOSING.values():
        place = fault.before
    else:
        return None
    return Slip(f"a comma too many on line {fault.line_at(place)}", "remove the comma", place)


def _comment(fault: _Fault) -> Slip | None:
    if not fault.text.startswith(("//", "/*", "#", "<!--"), fault.at):
        return None
    return Slip(f"a comment on line {fault.line}, which JSON has not", "remove it", fault.at)


def _other_quotes(fault: _Fault) -> Slip | None:
    if fault.sign not in _QUOTES:
        return None
    kind = "single quotes" if fault.sign == "'" else f"the quotation mark {fault.sign}"
    return Slip(f"{kind} on line {fault.line}", 'write double quotes: "text"', fault.at)


def _bracket(fault: _Fault) -> Slip | None:
    """A bracket that closes another one than the last that was opened, or none; a missing one."""
    if fault.message == "Extra data" and fault.sign in _CLOSING.values():
        return Slip(f"a {fault.sign} too many on line {fault.line}", "remove it", fault.at)
    if not fault.opened:
        return None
    opening = fault.text[fault.opened[-1]]
    other = fault.sign in _CLOSING.values() and fault.sign != _CLOSING[opening]
    inside = (fault.sign == ":" and opening == "[") or (
        fault.sign == "{" and fault.expects("property name")
    )
    where = f"before the {fault.sign} of line {fault.line}"
    return _not_closed(fault, where) if other or inside else None


def _word(fault: _Fault) -> Slip | None:
    """A word outside of quotes: a name, a value of another language, or the rest of a text."""
    word = _WORD.match(fault.text, fault.at)
    if word is None:
        return None
    name = word[0][:60]
    if fault.last == '"' and fault.expects("','"):
        cause = f"a quote inside a text on line {fault.line}, before {name}"
        return Slip(cause, 'write \\" for a quote in a text', fault.at)
    if fault.expects("property name"):
        cause = f"the name {name} without double quotes on line {fault.line}"
        return Slip(cause, f'write "{name}"', fault.at)
    known = _JSON_WORDS.get(name.lower())
    remedy = f"write {known}" if known else "write a text in double quotes"
    return Slip(f"{name} is no JSON value on line {fault.line}", remedy, fault.at)


def _separator(fault: _Fault) -> Slip | None:
    """A comma or a colon that is missing after what stands before the place."""
    if fault.message == "Extra data":
        cause = f"more after the end of the document, on line {fault.line}"
        return Slip(cause, "keep one list or object in the file", fault.at)
    unusual = fault.sign not in '"-[{' and not fault.sign.isdigit()
    if fault.expects("':'"):
        cause = f"no colon after the name on line {fault.line_at(fault.before)}"
        return Slip(cause, 'write "name": value', fault.before)
    if unusual or not fault.expects("','"):
        return None
    cause = f"a missing comma at the end of line {fault.line_at(fault.before)}"
    if fault.line == fault.line_at(fault.before):
        cause = f"a missing comma on line {fault.line}"
    return Slip(cause, "add a comma between the two", fault.before)


_RULES: tuple[Callable[[_Fault], Slip | None], ...] = (
    _empty, _quote, _end, _comment, _comma, _bracket, _other_quotes, _word, _separator,
)  # fmt: skip
