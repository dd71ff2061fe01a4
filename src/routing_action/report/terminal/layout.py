"""How text stands on a terminal: words that wrap between words, labels, commands, colours."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from routing_action.report.terminal.cells import cell_width, visible

RED, GREEN, YELLOW, MAGENTA, BOLD = "31", "32", "33", "35", "1"
LEAST_WIDTH = 40
_WORDS = re.compile(r"(?:`[^`]{1,200}`|\S)+")
LABEL_WIDTH = 11
"""What stands beside a label begins in this column."""


@dataclass(frozen=True, slots=True)
class ConsoleStyle:
    """How the text may look; `width` is the terminal's in columns."""

    colour: bool = False
    width: int = 80

    def paint(self, text: str, colour: str) -> str:
        """The text in a colour (SGR number), where colours are wanted."""
        return f"\x1b[{colour}m{text}\x1b[0m" if self.colour and colour else text


def flow(parts: Iterable[str], width: int, *, indent: str = "") -> list[str]:
    """The parts side by side, on as many lines as the width asks for; none is broken or cut."""
    lines: list[str] = []
    for part in parts:
        if lines and cell_width(f"{lines[-1]} {part}") <= width:
            lines[-1] += f" {part}"
        else:
            lines.append((indent if lines else "") + part)
    return lines


def wrap(text: str, width: int, *, indent: str = "") -> list[str]:
    """A text on lines that end between words; all but the first begin with the indent."""
    return flow(split_words(text), width, indent=indent)


def split_words(text: str) -> list[str]:
    """The words; what stands between backticks is a command or a name, and stays whole."""
    return _WORDS.findall(visible(text))


def labelled(label: str, text: str, width: int) -> Iterator[str]:
    """A label and what it is about, below each other on as many lines as it needs."""
    for number, line in enumerate(wrap(text, width - LABEL_WIDTH)):
        yield f"  {'' if number else label:<{LABEL_WIDTH - 2}}{line}"


def command(label: str, text: str, width: int) -> Iterator[str]:
    """A label and a command, which is never broken: below the label where it does not fit."""
    if LABEL_WIDTH + cell_width(text) <= width:
        yield f"  {label:<{LABEL_WIDTH - 2}}{text}"
    else:
        yield from (f"  {label}", f"    {text}")
