"""JSON text with its places: strict decoding, and the line that a field stands on."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from routing_action.errors import DocumentError

_SPACE = re.compile(r"[ \t\r\n]*")
_DIGITS = re.compile(r"\d{1000}")


@dataclass(frozen=True, slots=True)
class JsonText:
    """A JSON document's text and file name."""

    file: str
    text: str

    def decode(self) -> object:
        """The value; duplicate keys, NaN and anything that is no JSON are refused with a line."""
        try:
            return json.loads(
                self.text, object_pairs_hook=self._unique, parse_constant=self._no_constant
            )
        except json.JSONDecodeError as error:
            remedy = "check for a missing comma, quote or bracket just before this place"
            cause = f"no valid JSON: {error.msg} (column {error.colno})"
            raise DocumentError(cause, file=self.file, line=error.lineno, remedy=remedy) from None
        except ValueError:  # Python refuses to make a number of thousands of digits
            digits = _DIGITS.search(self.text)
            line = self.line_at(digits.start()) if digits else None
            raise DocumentError(
                "a number has thousands of digits", file=self.file, line=line, remedy="shorten it"
            ) from None
        except RecursionError:
            raise DocumentError(
                "nested too deeply", file=self.file, remedy="use plain lists and objects"
            ) from None

    def _unique(self, pairs: list[tuple[str, object]]) -> dict[str, object]:
        found: dict[str, object] = {}
        for key, value in pairs:
            if key in found:
                raise DocumentError(
                    f"the key {key!r} is given twice in one object",
                    file=self.file,
                    line=self._line_of_second(key),
                    field=key,
                    remedy="keep one of them",
                )
            found[key] = value
        return found

    def _line_of_second(self, key: str) -> int | None:
        places = [match.start() for match in _key_pattern(key).finditer(self.text)]
        return self.line_at(places[1]) if len(places) > 1 else None

    def _no_constant(self, name: str) -> object:
        place = self.text.find(name)
        raise DocumentError(
            f"{name} is no JSON number", file=self.file, line=self.line_at(max(place, 0))
        )

    def line_at(self, offset: int) -> int:
        """The line, from 1, that an offset of the text stands on."""
        return self.text.count("\n", 0, offset) + 1

    def line_of(self, path: Sequence[str | int]) -> int | None:
        """The line of the value at a path of keys and indexes; the nearest parent's where lost."""
        offset, _ = self._follow(path)
        return self.line_at(offset)

    def lines_of_items(self, path: Sequence[str | int]) -> list[int]:
        """The line of each item of the list at a path, in one pass; empty where there is none."""
        start, whole = self._follow(path)
        if not whole or self.text[start : start + 1] != "[":
            return []
        lines: list[int] = []
        line, counted = 1, 0
        at = _skip_space(self.text, start + 1)
        while self.text[at : at + 1] not in ("]", ""):
            line, counted = line + self.text.count("\n", counted, at), at
            lines.append(line)
            at = _skip_space(self.text, self._after_value(at))
        return lines

    def _follow(self, path: Sequence[str | int]) -> tuple[int, bool]:
        """The offset of the value at a path, or of its nearest parent; and which it is."""
        offset = 0
        for step in path:
            found = self._enter(offset, step)
            if found is None:
                return _skip_space(self.text, offset), False
            offset = found
        return _skip_space(self.text, offset), True

    def _enter(self, offset: int, step: str | int) -> int | None:
        """The offset of a member of the container that starts at or after `offset`."""
        start = _skip_space(self.text, offset)
        if self.text[start : start + 1] not in ("{", "["):
            return None
        at, index = start + 1, 0
        while True:
            at = _skip_space(self.text, at)
            if self.text[at : at + 1] in ("]", "}", ""):
                return None
            key: str | int = index
            if self.text[start] == "{":
                key, at = json.JSONDecoder(strict=False).raw_decode(self.text, at)
                at = _skip_space(self.text, _skip_space(self.text, at) + 1)
            if key == step:
                return at
            at = self._after_value(at)
            index += 1

    def _after_value(self, at: int) -> int:
        _, end = json.JSONDecoder(strict=False).raw_decode(self.text, at)
        end = _skip_space(self.text, end)
        return end + 1 if self.text[end : end + 1] == "," else end


def _skip_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _key_pattern(key: str) -> re.Pattern[str]:
    return re.compile(re.escape(json.dumps(key, ensure_ascii=False)) + r"\s*:")
