"""Finds the lines of a comment that stand by themselves, as GitHub's own markdown shows them.

A line in code, a quote, a list, a heading, a table or HTML is somebody's example, not an order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.token import Token

MAX_CHARACTERS = 65_536
"""GitHub's limit of a comment; a longer text is none."""

_TAG = re.compile(r"<(?P<close>/?)(?P<name>[A-Za-z][A-Za-z0-9-]*)(?:[^<>\"']|\"[^\"]*\"|'[^']*')*>")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
# Elements without an end (HTML standard, "Void elements").
_VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())


@dataclass(frozen=True, slots=True)
class Line:
    """A line as it is shown, without blanks around it; `number` counts the comment's from 1."""

    number: int
    text: str


def find_own_lines(body: str) -> tuple[Line, ...]:
    """The lines of top-level paragraphs, outside any HTML element, in their order.

    Emphasis keeps its signs. A line that begins with an escaped sign is left out: whoever wrote
    that meant it to be read.
    """
    if len(body) > MAX_CHARACTERS:
        return ()
    source = [line.strip() for line in re.split(r"\r\n?|\n", body.replace("\0", "\ufffd"))]
    return tuple(_walk(_parser().parse(body), source))


def _parser() -> MarkdownIt:
    # text_join would hide what was escaped.
    return (
        MarkdownIt("commonmark", {"html": True})
        .enable(["table", "strikethrough"])
        .disable("text_join")
    )


def _walk(tokens: Sequence[Token], source: Sequence[str]) -> Iterator[Line]:
    open_tags: list[str] = []
    for before, token in zip((None, *tokens), tokens, strict=False):
        if token.type == "html_block":
            _follow_tags(token.content, open_tags)
        if token.type != "inline":
            continue
        is_own = before is not None and before.type == "paragraph_open" and before.level == 0
        place, end = token.map or (0, 0)
        for text in _plain_lines(token, open_tags):
            # A code span can take up several lines, of which the parser makes one.
            word = text.split(None, 1)[0]
            place = next((n for n in range(place, end) if source[n].startswith(word)), place)
            if is_own:
                yield Line(min(place + 1, end), text)
            place += 1


def _plain_lines(token: Token, open_tags: list[str]) -> Iterator[str]:
    """The lines of some inline text that are plain from their beginning on, and not empty."""
    parts: list[Token] = []
    for child in (*(token.children or ()), None):
        if child is not None and child.type not in ("softbreak", "hardbreak"):
            parts.append(child)
            continue
        is_plain = bool(parts) and parts[0].type == "text" and not open_tags
        text = "".join(_source(part) for part in parts).strip()
        for part in parts:
            if part.type == "html_inline":
                _follow_tags(part.content, open_tags)
        if is_plain and text and not open_tags:
            yield text
        parts = []


def _source(token: Token) -> str:
    """What was written, so far as it matters to an argument."""
    if token.type == "text_special" and token.content in "\"'":
        return token.markup  # an escaped quote does not end a quoted argument
    if token.type in ("text", "text_special", "code_inline"):
        return token.content
    return "" if token.markup == "autolink" else token.markup


def _follow_tags(html: str, open_tags: list[str]) -> None:
    """Keep the list of elements that are open after a piece of HTML."""
    for tag in _TAG.finditer(_COMMENT.sub("", html)):
        name = tag["name"].lower()
        if name in _VOID:
            continue
        if not tag["close"]:
            open_tags.append(name)
        elif name in open_tags:
            del open_tags[len(open_tags) - 1 - open_tags[::-1].index(name) :]
