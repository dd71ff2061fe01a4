"""Large transcripts for the benchmarks, made from the recorded runs under tests/recordings.

`recorded` repeats whole recorded runs as they are: short runs, each with its opening and its end,
in which nearly every line names a skill. `session` is one long run: the recorded load of a skill,
then the turns of a recorded run that used the shell, again and again, with as many deltas as a real
answer has and with outputs of the length of real ones (files of this repository).
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RECORDINGS = ROOT / "tests/recordings"
DELTAS = 20
"""How many there are for each recorded one: the recordings' answers are a few words long."""
MEDIAN_OUTPUT = 1_500
MOST_OUTPUT = 30_000


@dataclass(frozen=True)
class Shape:
    """Where a provider's session comes from, and what opens, ends and fills its stream."""

    folder: str
    turn: str
    outside: tuple[str, ...]
    deltas: tuple[str, ...] = ()


SHAPES = {
    "claude": Shape(
        "cli/claude/2.1.332",
        "d_sed",
        ('"subtype":"init"', '"type":"result"'),
        ('"text":"', '"partial_json":"'),
    ),
    "codex": Shape(
        "cli/codex/0.171.0", "d_cat", ('"type":"thread.', '"type":"turn.', '"type":"error"')
    ),
    "copilot": Shape(
        "cli/copilot/1.0.102",
        "d_cat",
        ('"type":"session.', '"type":"user.', '"type":"result"'),
        ('"deltaContent":"', '"inputDelta":"'),
    ),
    "gemini": Shape(
        "cli/gemini/0.61.0",
        "d_cat",
        ('"type":"init"', '"role":"user"', '"type":"result"'),
        ('"content":"',),
    ),
    "opencode": Shape("cli/opencode/1.18.33", "d_cat", ()),
}


def write_recorded(agent: str, path: Path, size: int) -> None:
    """Whole recorded runs that completed, in random order, until there are `size` bytes."""
    runs = []
    for folder in ("cli", "other"):
        labels = json.loads((RECORDINGS / folder / "labels.json").read_text(encoding="utf-8"))
        for key, label in labels.items():
            told = (label["provider"], label["format"], label["run"])
            if told == (agent, "json", "completed"):
                runs.append((RECORDINGS / folder / f"{key}.stdout").read_bytes())
    chance = random.Random(1)  # noqa: S311 - the same each time
    _write(path, size, iter(lambda: chance.choice(runs), None))


def write_session(agent: str, path: Path, size: int) -> None:
    """One long run that loads `widget-testing` and then works on other things."""
    shape = SHAPES[agent]
    load = _lines(shape, "a_skill")
    opening, ending = load[:-1], load[-1:]
    turn = [line for line in _lines(shape, shape.turn) if not _holds(line, shape.outside)]
    _write(path, size, _session(shape, opening, turn), b"".join(ending))


def _lines(shape: Shape, name: str) -> list[bytes]:
    data = (RECORDINGS / shape.folder / f"{name}.stdout").read_bytes()
    return data.splitlines(keepends=True)


def _holds(line: bytes, words: tuple[str, ...]) -> bool:
    return any(word.encode() in line for word in words)


def _session(shape: Shape, opening: list[bytes], turn: list[bytes]) -> Iterator[bytes]:
    yield b"".join(opening)
    chance = random.Random(1)  # noqa: S311 - the same each time
    text = "".join(
        path.read_text(encoding="utf-8")
        for path in sorted((*(ROOT / "src").rglob("*.py"), *(ROOT / "docs").rglob("*.md")))
    )
    number = 0
    while True:
        number += 1
        yield b"".join(_turn(shape, turn, text, chance, number))


def _turn(
    shape: Shape, turn: list[bytes], text: str, chance: random.Random, number: int
) -> Iterator[bytes]:
    """The recorded turn with other ids, another command, another output and more deltas."""
    length = min(MOST_OUTPUT, int(MEDIAN_OUTPUT * chance.lognormvariate(0, 1.2)))
    place = chance.randrange(len(text) - length)
    output = json.dumps(text[place : place + length], ensure_ascii=False)[1:-1].encode()
    for line in turn:
        if b"delta" in line and _holds(line, shape.deltas):
            yield from _deltas(shape, line, text, chance)
            continue
        changed = line.replace(b"s0_0", b"s0_%d" % number).replace(b"item_", b"item_%d_" % number)
        changed = changed.replace(b'"reason":"stop"', b'"reason":"tool-calls"')
        changed = changed.replace(_RECORDED_OUTPUT + rb"\n", output).replace(
            _RECORDED_OUTPUT, output
        )
        yield _COMMAND_FILE.replace(changed, number)


def _deltas(shape: Shape, line: bytes, text: str, chance: random.Random) -> Iterator[bytes]:
    for mark in shape.deltas:
        head, found, tail = line.partition(mark.encode())
        if found and b'"' in tail:
            rest = tail[_end_of_string(tail) :]
            for _ in range(DELTAS):
                place = chance.randrange(len(text) - 20)
                piece = json.dumps(text[place : place + 14], ensure_ascii=False)[1:-1]
                yield head + found + piece.encode() + rest
            return


def _end_of_string(text: bytes) -> int:
    place = 0
    while text[place : place + 1] != b'"':
        place += 2 if text[place : place + 1] == b"\\" else 1
    return place


class _Path:
    """The path in the recorded command, which names a skill."""

    def __init__(self, folders: tuple[bytes, ...]) -> None:
        self._folders = folders

    def replace(self, line: bytes, number: int) -> bytes:
        for folder in self._folders:
            line = line.replace(folder + b"/widget-testing/SKILL.md", b"src/module_%d.py" % number)
        return line


_COMMAND_FILE = _Path(
    tuple(
        root + folder + b"/skills"
        for folder in (b".claude", b".agents", b".github", b".gemini", b".opencode")
        for root in (b"/repo/", b"")
    )
)
_RECORDED_OUTPUT = (
    rb"---\nname: widget-testing\ndescription: Write and run tests for widgets. Use when the user "
    rb"asks to test a widget.\n---\n\n# widget-testing\n\nMarker: WT-ING-BODY. Write one test per "
    rb"widget."
)


def _write(path: Path, size: int, parts: Iterator[bytes], ending: bytes = b"") -> None:
    written = len(ending)
    with path.open("wb") as file:
        for part in parts:
            file.write(part)
            written += len(part)
            if written >= size:
                break
        file.write(ending)
