"""What is published of a delta on GitHub, as values: rendered by reports, posted by the client."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["notice", "warning", "failure"]


@dataclass(frozen=True, slots=True)
class Annotation:
    """A remark on lines of a file (counted from 1); plain text, which GitHub shows as it is."""

    path: str
    start_line: int
    end_line: int
    level: Level
    title: str
    message: str
    raw_details: str = ""


@dataclass(frozen=True, slots=True)
class CheckOutput:
    """A completed check run: `conclusion` is GitHub's word, `summary` and `text` are markdown."""

    name: str
    conclusion: Literal["success", "failure", "neutral"]
    title: str
    summary: str
    text: str
    annotations: tuple[Annotation, ...] = ()
