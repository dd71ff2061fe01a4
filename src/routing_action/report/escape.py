"""The one place where text from outside is made safe for markdown.

Escaping by backslash or entity is not enough on GitHub: `fixes #12`, `@name` and a bare commit
id still act. A code span whose fence is longer than any run of backticks inside is inert.
"""

from __future__ import annotations

import re

_RUNS = re.compile(r"`+")
_LONGEST = 400


def printable(text: str) -> str:
    """One line: line ends and tabs become spaces; controls, bidi marks and the like are named."""
    flat = re.sub(r"[\r\n\t\v\f\u2028\u2029\x85]+", " ", text)
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in flat)


def code_span(text: str, *, limit: int = _LONGEST, in_table: bool = False) -> str:
    """Text as an inert code span, cut to `limit` characters; an empty text is a dash.

    Inside a table a pipe ends a cell even in a code span, so a backslash stands before it, which
    the table takes away again (GFM spec, 'Tables').
    """
    line = printable(text).strip()
    if not line:
        return "–"
    if len(line) > limit:
        line = line[: limit - 1] + "…"
    if in_table:
        line = line.replace("|", "\\|")
    fence = "`" * (max((len(run) for run in _RUNS.findall(line)), default=0) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def code_block(text: str, *, limit: int = 2000) -> str:
    """Text of several lines as an inert fenced block."""
    body = "\n".join(printable(line) for line in text[:limit].splitlines()) or " "
    longest = max((len(run) for run in _RUNS.findall(body)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{body}\n{fence}"
