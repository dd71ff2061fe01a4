"""Large transcripts, made from the recorded runs under tests/recordings.

Each is one long run: the recorded load of a skill, then the turns of a recorded run that used the
shell, again and again, with as many deltas as a real answer has and with outputs of the length of
real ones (files of this repository).
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SKILL = "widget-testing"
DELTAS = 20
"""How many there are for each recorded one: the recordings' answers are a few words long."""
MEDIAN_OUTPUT, MOST_OUTPUT = 1_500, 30_000
_OUTPUT = (
    rb"---\nname: widget-testing\ndescription: Write and run tests for widgets. Use when the user "
    rb"asks to test a widget.\n---\n\n# widget-testing\n\nMarker: WT-ING-BODY. Write one test per "
    rb"widget."
)
_SKILL_FILE = re.compile(rb"(?:/repo/)?\.\w+/skills/widget-testing/SKILL\.md")


@dataclass(frozen=True)
class Shape:
    """The recording of an agent's turns; what marks records outside them, and deltas."""

    folder: str
    turn: str
    outside: tuple[bytes, ...]
    deltas: tuple[bytes, ...] = ()

    def lines(self, name: str) -> list[bytes]:
        """The records of a recording."""
        path = ROOT / "tests/recordings/cli" / self.folder / f"{name}.stdout"
        return path.read_bytes().splitlines(keepends=True)


SHAPES = {
    "claude": Shape(
        "claude/2.1.332",
        "d_sed",
        (b'"subtype":"init"', b'"type":"result"'),
        (b'"text":"', b'"partial_json":"'),
    ),
    "codex": Shape(
        "codex/0.171.0", "d_cat", (b'"type":"thread.', b'"type":"turn.', b'"type":"error"')
    ),
    "copilot": Shape(
        "copilot/1.0.102",
        "d_cat",
        (b'"type":"session.', b'"type":"user.', b'"type":"result"'),
        (b'"deltaContent":"', b'"inputDelta":"'),
    ),
    "gemini": Shape(
        "gemini/0.61.0",
        "d_cat",
        (b'"type":"init"', b'"role":"user"', b'"type":"result"'),
        (b'"content":"',),
    ),
    "opencode": Shape("opencode/1.18.33", "d_cat", ()),
}


def split_run(agent: str) -> tuple[list[bytes], list[bytes]]:
    """The records that begin a run and load SKILL, and those that end it."""
    load = SHAPES[agent].lines("a_skill")
    return load[:-1], load[-1:]


def write_session(agent: str, path: Path, size: int) -> None:
    """One long run of about `size` bytes that loads SKILL and then works on other things."""
    opening, ending = split_run(agent)
    left = size
    with path.open("wb") as file:
        file.writelines(opening)
        for line in make_work(agent):
            file.write(line)
            left -= len(line)
            if left <= 0:
                break
        file.writelines(ending)


def make_work(agent: str) -> Iterator[bytes]:
    """Records of turns without end."""
    shape = SHAPES[agent]
    turn = [line for line in shape.lines(shape.turn) if not any(w in line for w in shape.outside)]
    chance = random.Random(1)  # noqa: S311 - the same each time
    sources = sorted((*(ROOT / "src").rglob("*.py"), *(ROOT / "docs").rglob("*.md")))
    text = "".join(path.read_text(encoding="utf-8") for path in sources)
    number = 0
    while True:
        number += 1
        output = _quote(
            text, min(MOST_OUTPUT, int(MEDIAN_OUTPUT * chance.lognormvariate(0, 1.2))), chance
        )
        for line in turn:
            mark = next((mark for mark in shape.deltas if mark in line), None)
            if mark and b"delta" in line:
                yield from _split_delta(line, mark, text, chance)
                continue
            changed = line.replace(b"s0_0", b"s0_%d" % number)
            changed = changed.replace(b"item_", b"item_%d_" % number)
            changed = changed.replace(b'"reason":"stop"', b'"reason":"tool-calls"')
            changed = changed.replace(_OUTPUT, output)
            yield _SKILL_FILE.sub(b"src/module_%d.py" % number, changed)


def _split_delta(line: bytes, mark: bytes, text: str, chance: random.Random) -> Iterator[bytes]:
    """The recorded delta with other texts, some twenty times."""
    before, after = re.split(re.escape(mark) + rb'(?:[^"\\]|\\.)*', line, maxsplit=1)
    for _ in range(DELTAS):
        yield before + mark + _quote(text, 14, chance) + after


def _quote(text: str, length: int, chance: random.Random) -> bytes:
    """A piece of the text as it stands inside a JSON string."""
    place = chance.randrange(len(text) - length)
    return json.dumps(text[place : place + length], ensure_ascii=False)[1:-1].encode()
