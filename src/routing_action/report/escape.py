"""The one place where text from outside is made safe for markdown.

Escaping by backslash or entity is not enough on GitHub: `fixes #12`, `@name` and a bare commit
id still act. A code span whose fence is longer than any run of backticks inside is inert, and so
is a phrase of plain words.
"""

from __future__ import annotations

import re

_RUNS = re.compile(r"`+")
_LONGEST = 400
_LINE_ENDS = re.compile(r"[\r\n\t\v\f\u2028\u2029\x85]+")
_PHRASE = re.compile(r"[A-Za-z0-9_.,;:()/' -]+")
_WORDS = re.compile(r"[A-Za-z0-9_.]+")
_PLAIN_WORD = re.compile(r"[A-Za-z]+(?:_[A-Za-z]+)*|[0-9]{1,6}(?:\.[0-9]{1,4})?")
_LIKE_A_COMMIT = re.compile(r"[a-fA-F]{7,64}")
_ACTS = re.compile(r"^[ \d)(:,;/-]*$|^[ -]|^\d+\)|  |:[^ ]|//|[A-Za-z]-\d")
_NAMES = re.compile(r"(`[^`]+`|\b[0-9a-f]{7,64}\b)")
_OWN_URL = re.compile(r"https?://[A-Za-z0-9](?:[A-Za-z0-9._~:/?#@!$&+,;=-]|%[0-9A-Fa-f]{2})*")


def printable(text: str) -> str:
    """One line: line ends and tabs become spaces; controls, bidi marks and the like are named."""
    if text.isprintable():
        return text
    flat = _LINE_ENDS.sub(" ", text)
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in flat)


def code_span(text: str, *, limit: int = _LONGEST, in_table: bool = False) -> str:
    """Text as an inert code span, cut to `limit` characters; an empty text is a dash.

    Inside a table a pipe ends a cell even in a code span, so a backslash stands before it, which
    the table takes away again (GFM spec, 'Tables'). Renderers disagree on a backslash before
    that, so there a line is drawn instead of the pipe.
    """
    line = cut(printable(text[: 4 * limit]).strip(), limit)
    if not line:
        return "–"
    if in_table:
        line = line.replace("\\|", "\\│").replace("|", "\\|")
    fence = "`" * (max((len(run) for run in _RUNS.findall(line)), default=0) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def code_block(text: str, *, limit: int = 2000, language: str = "text") -> str:
    """Text of several lines as an inert fenced block; `language` is a word of ours."""
    body = "\n".join(printable(line) for line in cut(text, limit).splitlines()) or " "
    longest = max((len(run) for run in _RUNS.findall(body)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{body}\n{fence}"


def html_code(text: str, *, limit: int = 120) -> str:
    """Text as an HTML code element, for a line of HTML, in which markdown is not read.

    Every ASCII sign is a character reference, so that no tag, comment or line can begin.
    """
    line = cut(printable(text[: 4 * limit]).strip(), limit) or "–"
    inner = "".join(c if c.isalnum() or ord(c) > 127 else f"&#{ord(c)};" for c in line)
    return f"<code>{inner}</code>"


def phrase(text: str, *, limit: int = _LONGEST, in_table: bool = False) -> str:
    """Text as prose where it holds nothing but plain words, else as a code span.

    Prose has letters, short numbers and the signs of a sentence: nothing that GitHub links (`@`,
    `#`, `GH-1`, an address, a commit id) and no markup. It must not stand first on a line.
    """
    if len(text) <= limit and _is_plain(text):
        return text
    return code_span(text, limit=limit, in_table=in_table)


def sentence_with_names(text: str, *, limit: int = _LONGEST) -> str:
    """A sentence in which what stands in backticks, and a commit's id, is a code span of its own.

    What is between them is a `phrase`, so all of it is inert; it must not stand first on a line.
    """
    told = ""
    for place, part in enumerate(_NAMES.split(cut(text, limit))):
        inner = part.strip(" ")
        if place % 2:
            piece = code_span(part.strip("`"), limit=limit)
        elif inner and (not told or inner not in ",.;:"):
            before, after = part[:1] == " ", part[-1:] == " "
            piece = " " * before + phrase(inner, limit=limit) + " " * after
        else:
            piece = part[:2]  # a sign between two names
        # Side by side, two spans would be one.
        told += " " * (told.endswith("`") and piece.startswith("`")) + piece
    return told.strip(" ")


def _is_plain(text: str) -> bool:
    if not _PHRASE.fullmatch(text) or _ACTS.search(text):
        return False
    return all(
        _PLAIN_WORD.fullmatch(word) and not _LIKE_A_COMMIT.fullmatch(word)
        for word in _WORDS.findall(text)
    )


def link(inert: str, url: str) -> str:
    """A link of ours around text that is inert already; the text alone where there is no address.

    An address with any sign that could end the link, such as a bracket, is no address.
    """
    return f"[{inert}]({url})" if _OWN_URL.fullmatch(url) else inert


def cut(text: str, limit: int) -> str:
    """At most `limit` characters; an ellipsis ends what was cut."""
    return text if len(text) <= limit else text[: max(limit - 1, 0)] + "…"


def excerpt(text: str, token: str, width: int) -> str:
    """The part of a long line around a token's own name, at most `width` characters."""
    line = printable(text[:20_000])
    if len(line) <= width:
        return line
    place = line.casefold().find(token.rpartition(":")[2].casefold())
    start = max(0, place - width // 4)
    return cut(("…" if start else "") + line[start:], width)
