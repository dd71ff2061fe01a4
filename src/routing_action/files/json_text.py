"""JSON text with its places: strict decoding, and the line that a field stands on."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from routing_action.errors import DocumentError
from routing_action.files.json_slips import find_conflict, find_repeated_key, find_slip

_SPACE = re.compile(r"[ \t\r\n]*")
_COMMA = re.compile(r"\A\s*,")
_DIGITS = re.compile(r"\d{1000}")
_DECODER = json.JSONDecoder(strict=False)


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
            slip = find_conflict(self.text)
            if slip is None:
                slip = find_slip(self.text, error)
                slip = slip._replace(cause=f"no valid JSON: {slip.cause}")
            raise DocumentError(
                slip.cause, file=self.file, line=self.line_at(slip.offset), remedy=slip.remedy
            ) from None
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
        found = dict(pairs)
        if len(found) == len(pairs):
            return found
        names = [name for name, _ in pairs]
        first = next(name for name in found if names.count(name) > 1)
        key, at = find_repeated_key(self.text) or (first, None)
        raise DocumentError(
            f"the key {key[:100]!r} is given twice in one object",
            file=self.file,
            line=self.line_at(at) if at is not None else None,
            field=key[:100],
            remedy="keep one of them",
        )

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
        offset, _ = self.find(path)
        return self.line_at(offset)

    def lines_of_items(self, path: Sequence[str | int]) -> list[int]:
        """The line of each item of the list at a path, in one pass; empty where there is none."""
        start, whole = self.find(path)
        if not whole or self.text[start : start + 1] != "[":
            return []
        lines: list[int] = []
        line, counted = 1, 0
        for _, at in self.members(start):
            line, counted = line + self.text.count("\n", counted, at), at
            lines.append(line)
        return lines

    def members(self, offset: int) -> Iterator[tuple[str | int, int]]:
        """Key or index of each member of the container at or after an offset, and its offset.

        Nothing where there is no container.
        """
        start = _skip_space(self.text, offset)
        if self.text[start : start + 1] not in ("{", "["):
            return
        at, key = start + 1, cast("str | int", -1)
        while True:
            at = _skip_space(self.text, at)
            if self.text[at : at + 1] in ("]", "}", ""):
                return
            if self.text[start] == "{":
                key, at = _DECODER.raw_decode(self.text, at)
                at = _skip_space(self.text, _skip_space(self.text, at) + 1)
            else:
                key = int(key) + 1
            yield key, at
            _, at = _DECODER.raw_decode(self.text, at)
            at = _skip_space(self.text, at)
            at += self.text[at : at + 1] == ","

    def end_of(self, offset: int) -> int:
        """The offset behind the value that begins at another one."""
        return _DECODER.raw_decode(self.text, offset)[1]

    def without(self, offset: int, keys: Collection[str | int]) -> str:
        """The text without some members of the object at or after an offset; the rest stays."""
        start = _skip_space(self.text, offset)
        end, kept = start + 1, ""
        for key, at in self.members(start):
            _, stop = _DECODER.raw_decode(self.text, at)
            if key not in keys:
                kept += self.text[end:stop] if kept else _COMMA.sub("", self.text[end:stop])
            end = stop
        return self.text[: start + 1] + kept + self.text[end:]

    def find(self, path: Sequence[str | int]) -> tuple[int, bool]:
        """The offset of the value at a path, or of its nearest parent; and which it is."""
        offset = 0
        for step in path:
            found = next((at for key, at in self.members(offset) if key == step), None)
            if found is None:
                return _skip_space(self.text, offset), False
            offset = found
        return _skip_space(self.text, offset), True


def _skip_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at
