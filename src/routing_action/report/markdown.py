"""Comment, job summary and check run as markdown, each within a budget of bytes.

Where all of it does not fit, less is shown in fixed steps, and what was left out is counted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from jinja2 import pass_environment
from markupsafe import Markup

from routing_action.errors import UsageError
from routing_action.gate.model import Delta
from routing_action.github.publication import RunLinks
from routing_action.report.edits import build_edits
from routing_action.report.escape import (
    code_block,
    code_span,
    html_code,
    link,
    phrase,
    sentence_with_names,
)
from routing_action.report.page import build_page
from routing_action.report.page_rows import Values
from routing_action.report.reasons import Name, Prose, Told
from routing_action.report.sandbox import CAP, MarkdownSandbox
from routing_action.report.view import find_title

COMMENT_BYTES = 60_000
SUMMARY_BYTES = 900 * 1024
"""GitHub drops a summary of 1 MiB or more."""

_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n){2,}")


@dataclass(frozen=True, slots=True)
class Space:
    """How much of each part is shown: counts from the front, which holds the red rows.

    `rows` of the table and of what was left out, `evidence` of red rows in full, `proofs` among
    those with proof lines, `matrix` (all of it or nothing), and `width`, the longest text from
    outside in characters.
    """

    rows: int
    evidence: int
    proofs: int
    matrix: bool
    width: int


_WITHOUT_EDITS = "check-text.md.j2"
"""The second text of the check run; the first one has them."""

_EDIT_STEPS = (
    (1000, 400, 40), (200, 400, 40), (60, 300, 40), (30, 160, 20), (12, 120, 10), (4, 80, 5),
    (0, 60, 2), (0, 60, 0),
)  # fmt: skip
"""How many edits are shown in full, how wide, and names of others, from the most to the least."""

_NOTHING = Space(0, 0, 0, False, 60)


def _steps(page: Values, budget: int) -> Iterator[Space]:
    """From everything to the least; what is cut is cut from the end."""
    rows, red = max(len(page["changed"]), len(page["left_out"])), len(page["red"])
    some, few = min(red, budget // 2_500), min(red, budget // 6_000)
    yield Space(rows, red, red, True, 400)
    yield Space(rows, red, red, True, 120)
    yield Space(rows, red, few, True, 120)
    yield Space(rows, some, few, False, 120)
    yield Space(rows, few, few, False, 60)
    yield Space(min(rows, budget // 600), few, few, False, 60)
    yield Space(min(rows, budget // 1_200), few // 3, few // 3, False, 60)
    yield Space(min(rows, budget // 6_000), 0, 0, False, 60)
    yield _NOTHING


def render_comment(
    delta: Delta, place: RunLinks, *, overrides: Path | None = None, budget: int = COMMENT_BYTES
) -> str:
    """The body in at most `budget` bytes of UTF-8, without the marker that finds it again.

    UsageError where a template of `overrides` cannot be used.
    """
    return Renderer(delta, place, overrides).render("comment.md.j2", budget)


def render_superseded(place: RunLinks, reason: str) -> str:
    """What replaces an earlier, red comment when there is nothing to report now, and why."""
    run = link("the latest run", place.run_url) if place.run_url else "the latest run"
    text = (
        "> [!NOTE]\n"
        f"> **Routing: the earlier result is superseded**: {phrase(reason, limit=300)}.\n\n"
        f"The result that stood here was of an earlier commit and no longer counts; see {run}.\n"
    )
    return cut_bytes(text, COMMENT_BYTES)


def count_bytes(text: str) -> int:
    """The length in UTF-8, which is what GitHub's limits count."""
    return len(text.encode("utf-8", "replace"))


def cut_bytes(text: str, limit: int) -> str:
    """At most `limit` bytes of UTF-8 and no half character; an ellipsis ends what was cut."""
    data = text.encode("utf-8", "replace")
    if len(data) <= limit:
        return data.decode("utf-8")
    return data[: max(limit - 3, 0)].decode("utf-8", "ignore") + "…"


class Renderer:
    """Renders templates for one delta, at one place, with a folder of overrides or without."""

    def __init__(self, delta: Delta, place: RunLinks, overrides: Path | None = None) -> None:
        self._delta = delta
        self._page = build_page(delta, place)
        self._overrides = overrides
        self._sandbox = MarkdownSandbox(overrides, _FILTERS) if overrides else _own_sandbox()

    def render(self, name: str, budget: int) -> str:
        """A template by name, in at most `budget` bytes of UTF-8: the fullest step that fits.

        UsageError with file and line where a user's template cannot be used, or does not get
        short enough where it is given no space.
        """
        in_view = self._draw_edits(budget // 3) if name != _WITHOUT_EDITS else ""
        # Our own templates have a place for it; before a user's it stands where nothing hides it.
        self._page["in_view"] = "" if self._overrides else Markup(in_view)  # noqa: S704
        before = in_view if self._overrides else ""
        budget -= count_bytes(before)
        for space in dict.fromkeys(_steps(self._page, budget)):
            text = self._draw(name, space, 2 * budget)
            if text is not None and count_bytes(text) <= budget:
                return before + text
        if self._overrides is not None:
            least = self._draw(name, _NOTHING, CAP) or ""
            raise UsageError(
                f"{name}: even without rows it has {count_bytes(least)} bytes, more than {budget}",
                remedy="let the template heed `space`",
                page="how-to/change-the-reports.md",
            )
        return self._draw("least.md.j2", _NOTHING, CAP) or ""

    def _draw_edits(self, budget: int) -> str:
        """What no template leaves out, by our own one: edits, and how it was measured."""
        title = find_title(self._delta) if self._overrides else ""
        text = ""
        for most, width, named in _EDIT_STEPS:
            values = build_edits(self._delta, most, width, named)
            pieces = _own_sandbox().pieces(
                "edits.md.j2", 2 * width, title=title, most_fields=width // 10, **values
            )
            text = _BLANK_LINES.sub("\n\n", "".join(pieces)).lstrip("\n")
            if count_bytes(text) <= budget:
                break
        return text

    def _draw(self, name: str, space: Space, enough: int) -> str | None:
        """The text; None as soon as there are more than `enough` characters."""
        pieces: list[str] = []
        for piece in self._sandbox.pieces(name, space.width, page=self._page, space=space):
            pieces.append(piece)
            enough -= len(piece)
            if enough < 0:
                return None
        return _BLANK_LINES.sub("\n\n", "".join(pieces)).strip() + "\n"


@cache
def _own_sandbox() -> MarkdownSandbox:
    """The one for our own templates, which are compiled once."""
    return MarkdownSandbox(None, _FILTERS)


def _escaping(escape: Callable[..., str], share: int = 1, **fixed: bool) -> Callable[..., Markup]:
    """A filter that makes text inert, cut to the width of the present step."""

    @pass_environment
    def apply(sandbox: MarkdownSandbox, value: object, width: int = 100_000) -> Markup:
        if isinstance(value, Markup):
            return value
        return Markup(escape(str(value), limit=min(sandbox.width * share, width), **fixed))  # noqa: S704

    return apply


def _command(value: object) -> Markup:
    return Markup(code_block(str(value), limit=4000, language="sh"))  # noqa: S704


def _sign(value: object) -> Markup:
    return Markup("".join(c for c in str(value) if ord(c) > 0x2000 and c.isprintable())[:2])  # noqa: S704


def _link(value: object, url: object) -> Markup:
    inert = value if isinstance(value, Markup) else phrase(str(value))
    return Markup(link(inert, str(url)))  # noqa: S704


def _html_phrase(text: str, limit: int) -> str:
    """For a line of HTML: plain words as they are, else code."""
    is_plain = phrase(text, limit=limit) == text
    return text if is_plain else html_code(text, limit=limit)


def _sentence(plain: Callable[..., str], **fixed: bool) -> Callable[..., Markup]:
    """A filter for a sentence of ours: our words as they are, names as code, prose by `plain`."""

    @pass_environment
    def apply(sandbox: MarkdownSandbox, value: object) -> Markup:
        width = sandbox.width
        if not isinstance(value, Told):
            return Markup(plain(str(value), limit=width, **fixed))  # noqa: S704
        pieces = (
            (html_code if plain is _html_phrase else code_span)(piece, limit=width, **fixed)
            if isinstance(piece, Name)
            else plain(piece, limit=width, **fixed)
            if isinstance(piece, Prose)
            else piece
            for piece in value
        )
        return Markup("".join(pieces))  # noqa: S704

    return apply


_FILTERS: dict[str, Callable[..., Any]] = {
    "sign": _sign,
    "span": _escaping(code_span),
    "cell": _escaping(code_span, in_table=True),
    "words": _escaping(phrase),
    "named": _escaping(sentence_with_names),
    "cell_words": _escaping(phrase, in_table=True),
    "html": _escaping(html_code),
    "sentence": _sentence(phrase),
    "cell_sentence": _sentence(phrase, in_table=True),
    "html_sentence": _sentence(_html_phrase),
    "diff": _escaping(partial(code_block, language="diff"), share=4),
    "block": _escaping(code_block, share=4),
    "command": _command,
    "link": _link,
}


def render_reply(template: str, width: int = 400, **values: object) -> str:
    """The bot's answer to a command, by its template in templates/bot."""
    pieces = _own_sandbox().pieces(f"bot/{template}.md.j2", width, **values)
    return _BLANK_LINES.sub("\n\n", "".join(pieces)).strip() + "\n"
