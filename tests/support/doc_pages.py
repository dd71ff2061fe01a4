"""What the pages of the documents, and the helper skills, tell a reader to type and to save."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.support.command_line import ROOT

DOCS = ROOT / "docs"
_FENCE = re.compile(
    r"^(?:<!-- (?P<mark>[^\n]+) -->\n)?```(?P<kind>\w*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_SAVED = re.compile(r"[Ss]ave\s+this\b.*?`(?P<name>[\w./-]+)`", re.DOTALL)
NOT_RUN = "not run: "
EXIT_CODE = "exit code "


@dataclass(frozen=True, slots=True)
class Step:
    """A block of commands with what they print, or a file to save.

    `mark` is the comment above the block: `not run: REASON`, or `exit code N` of its last command.
    """

    mark: str
    commands: tuple[str, ...] = ()
    printed: tuple[str, ...] = ()
    file: str = ""
    text: str = ""

    @property
    def reason(self) -> str:
        """Why the commands cannot be run in a test; empty where they are."""
        return self.mark.removeprefix(NOT_RUN) if self.mark.startswith(NOT_RUN) else ""

    @property
    def exit_code(self) -> int:
        """How the last command ends."""
        return int(self.mark.removeprefix(EXIT_CODE)) if self.mark.startswith(EXIT_CODE) else 0


def steps_of(text: str) -> Iterator[Step]:
    """Console blocks and files to save, in the page's order; a backslash joins two lines."""
    for match in _FENCE.finditer(text):
        mark, block = match["mark"] or "", match["text"]
        saved = _SAVED.search(text[: match.start()].rstrip().rpartition("\n\n")[2])
        if match["kind"] == "console":
            lines = block.replace("\\\n", " ").splitlines()
            commands = tuple(line[2:] for line in lines if line.startswith("$ "))
            printed = tuple(line for line in lines if line and not line.startswith("$ "))
            yield Step(mark, commands, printed)
        elif saved:
            yield Step(mark, file=saved["name"], text=block)


def prose_of(text: str) -> str:
    """A page without its blocks of code."""
    return _FENCE.sub("", text)


def section(page: Path, heading: str) -> str:
    """What stands below a heading, up to the next one of the same level."""
    found = page.read_text("utf-8").partition(f"\n## {heading}\n")[2]
    assert found, heading
    return found.partition("\n## ")[0]


def missing_lines(shown: tuple[str, ...], printed: str) -> list[str]:
    """The lines that a page shows and nothing printed; `...` stands for anything."""
    plain = " ".join(printed.split())
    return [line for line in shown if not re.search(_pattern(line), plain)]


def _pattern(line: str) -> str:
    parts = (" ".join(part.split()) for part in line.split("..."))
    return ".*".join(map(re.escape, parts))
