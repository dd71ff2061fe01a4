"""Damages inputs: bytes, lines, and the values of JSON; the same for the same random numbers."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

NOISE = (
    b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\x1b[31m", b"\xed\xa0\x80", b"\xc3", b"\n",
    b"\\", b'"', b"{", b"}", b"[", b"]", b",", b":", b"\\u0061", b"\\ud800", b"\\/", b"\\\\",
    "ſ".encode(), "\u212a".encode(), "İ".encode(), "ß".encode(), b"9" * 5_000, b"1e999", b"[" * 300,
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 10**30, 1e308, "", " ", "x" * 5_000, "\x00", "\ud800", "ß",
    [], {}, [[]], [None], {"": None}, {"type": "x"}, ["x"] * 50, float("nan"), float("inf"),
)  # fmt: skip


def damage(data: bytes, chance: random.Random, other: bytes = b"") -> bytes:
    """A few changes, each of another sort; `other` is an input to take parts of."""
    for _ in range(chance.choice([1, 1, 1, 2, 3, 6])):
        data = chance.choice(CHANGES)(data, chance, other)
    return data


def _change_bytes(data: bytes, chance: random.Random, other: bytes) -> bytes:
    place = chance.randrange(len(data) + 1)
    return data[:place] + chance.randbytes(chance.randint(1, 3)) + data[place + 1 :]


def _insert_noise(data: bytes, chance: random.Random, other: bytes) -> bytes:
    place = chance.randrange(len(data) + 1)
    return data[:place] + chance.choice(NOISE) + data[place + chance.randint(0, 2) :]


def _cut(data: bytes, chance: random.Random, other: bytes) -> bytes:
    start, end = sorted((chance.randrange(len(data) + 1), chance.randrange(len(data) + 1)))
    return data[:start] + data[end:] if chance.random() < 0.7 else data[:end]


def _repeat_part(data: bytes, chance: random.Random, other: bytes) -> bytes:
    start = chance.randrange(len(data) + 1)
    part = data[start : start + chance.randint(1, 200)]
    return data[:start] + part * chance.choice([2, 3, 30]) + data[start:]


def _change_lines(data: bytes, chance: random.Random, other: bytes) -> bytes:
    lines = data.split(b"\n")
    others = other.split(b"\n")
    place = chance.randrange(len(lines))
    how = chance.randrange(5)
    if how == 0:
        del lines[place]
    elif how == 1:
        lines[place:place] = [lines[place]] * chance.choice([1, 5])
    elif how == 2:
        chance.shuffle(lines)
    elif how == 3:
        lines.insert(place, chance.choice(others))
    else:
        lines[place] = lines[place][::-1] if chance.random() < 0.5 else b""
    return b"\n".join(lines)


def _change_value(data: bytes, chance: random.Random, other: bytes) -> bytes:
    """Another value somewhere in the document, or in one of its lines."""
    lines = [data] if chance.random() < 0.5 else data.split(b"\n")
    place = chance.randrange(len(lines))
    try:
        value = json.loads(lines[place])
    except (ValueError, RecursionError):
        return data
    lines[place] = json.dumps(_replaced(value, chance), ensure_ascii=chance.random() < 0.5).encode(
        "utf-8", "surrogatepass"
    )
    return b"\n".join(lines)


def _replaced(value: Any, chance: random.Random) -> Any:  # noqa: ANN401 - any JSON
    inner = list(value.items()) if isinstance(value, dict) else []
    inner = list(enumerate(value)) if isinstance(value, list) else inner
    if not inner or chance.random() < 0.15:
        return chance.choice(VALUES)
    key, item = chance.choice(inner)
    if isinstance(value, dict) and chance.random() < 0.15:
        del value[key]
        if chance.random() < 0.5:
            value[f"{key}x"] = item
    else:
        value[key] = _replaced(item, chance)
    return value


CHANGES: tuple[Callable[[bytes, random.Random, bytes], bytes], ...] = (
    _change_bytes,
    _insert_noise,
    _cut,
    _repeat_part,
    _change_lines,
    _change_value,
)
