"""Renders our templates, which users may extend block by block, in a sandbox.

Nothing else of the package may render a template.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import TypeVar

from jinja2 import TemplateError, TemplateSyntaxError
from markupsafe import Markup

from routing_action.errors import RoutingActionError, UsageError
from routing_action.gate.model import Delta
from routing_action.github.publication import RunLinks
from routing_action.report.escape import code_block, code_span, html_code, link, phrase, printable
from routing_action.report.limits import Space, count_bytes, fit
from routing_action.report.page import Page, build_page
from routing_action.report.sandbox import Meter, Reader, Sandbox, shorten

_IN_PACKAGE = Path(__file__).resolve().parents[1] / "templates"
_IN_CHECKOUT = Path(__file__).resolve().parents[3] / "templates"
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n){2,}")
_NO_LIMIT = 64 * 2**20
_REMEDY = "mend the template; docs/how-to/change-the-reports.md lists what templates can use"

_Rendered = TypeVar("_Rendered")


def render_markdown(delta: Delta, overrides: Path | None = None) -> str:
    """The delta as GitHub markdown, whole; `overrides` may hold templates that extend ours."""
    return Renderer(delta, RunLinks(), overrides).render("comment.md.j2", _NO_LIMIT)


def stream_html(
    context: Mapping[str, object],
    filters: Mapping[str, Callable[[str], str]],
    overrides: Path | None = None,
) -> Iterator[str]:
    """The pieces of `report.html.j2`, made as they are read; text is escaped for HTML.

    UsageError with file and line where a user's template cannot be used.
    """
    environment = Reader(_own_folder(), overrides)
    environment.filters["printable"] = printable
    environment.filters.update(filters)
    try:
        yield from environment.get_template("report.html.j2").generate(context)
    except RoutingActionError:
        raise  # of the data that streams through
    except Exception as error:
        if overrides is None:
            raise
        raise _explain(error, "report.html.j2", overrides) from error


def prefer_overrides(
    draw: Callable[[Path | None], _Rendered], overrides: Path | None
) -> tuple[_Rendered, str]:
    """What `draw` makes of the user's templates, and an empty text.

    Where their templates cannot be used it is what our own give, and why, so that a report is
    never lost to a template.
    """
    try:
        return draw(overrides), ""
    except UsageError as error:
        if overrides is None:
            raise
        return draw(None), f"{error.cause}; the built-in template was used"


@dataclass(slots=True)
class Outlet:
    """How much a rendering shows, which filters cut by, and what they made inert already."""

    space: Space = field(default_factory=lambda: Space(0, 0, 0, 0))
    kept: dict[tuple[object, str, int], Markup] = field(default_factory=dict)


@dataclass
class Renderer:
    """Renders templates for one delta, at one place, with a folder of overrides or without."""

    delta: Delta
    place: RunLinks
    overrides: Path | None = None
    _kept: dict[tuple[object, str, int], Markup] = field(default_factory=dict)

    @cached_property
    def page(self) -> Page:
        """What the templates are given."""
        return build_page(self.delta, self.place)

    def render(self, name: str, budget: int) -> str:
        """A template by name, in at most `budget` bytes of UTF-8.

        UsageError with file and line where a user's template cannot be used, or does not get
        short enough where it is given no space.
        """
        text = fit(lambda space: self._draw(name, space, budget), self.page.everything, budget)
        if text is not None:
            return text
        if self.overrides is not None:
            least = count_bytes(self._draw(name, Space(0, 0, 0, 0, 60), _NO_LIMIT))
            raise UsageError(
                f"{name}: even without rows it has {least} bytes, more than {budget}",
                remedy="let the template heed `space`; see docs/how-to/change-the-reports.md",
            )
        return self._draw("least.md.j2", Space(0, 0, 0, 0, 40), budget)

    def _draw(self, name: str, space: Space, budget: int) -> str:
        """The text; what is far beyond the budget is not drawn to its end."""
        sandbox, outlet = self._sandbox
        outlet.space, outlet.kept = space, self._kept
        sandbox.meter = Meter()
        try:
            pieces = sandbox.get_template(name).generate(page=self.page, space=space)
            text = "".join(_until(pieces, 2 * budget))
        except Exception as error:
            if self.overrides is None:
                raise
            raise _explain(error, name, self.overrides) from error
        return _BLANK_LINES.sub("\n\n", text).strip() + "\n"

    @cached_property
    def _sandbox(self) -> tuple[Sandbox, Outlet]:
        return _own_sandbox() if self.overrides is None else _make_sandbox(self.overrides)


@cache
def _own_sandbox() -> tuple[Sandbox, Outlet]:
    """The one for our own templates, which are compiled once."""
    return _make_sandbox(None)


def _make_sandbox(overrides: Path | None) -> tuple[Sandbox, Outlet]:
    outlet = Outlet()
    return Sandbox(_own_folder(), overrides, _filters(outlet)), outlet


def _until(pieces: Iterator[str], enough: int) -> Iterator[str]:
    """The pieces up to the one with which there are more than `enough` characters."""
    for piece in pieces:
        yield piece
        enough -= len(piece)
        if enough < 0:
            return


def _own_folder() -> Path:
    return _IN_PACKAGE if _IN_PACKAGE.is_dir() else _IN_CHECKOUT


def _filters(outlet: Outlet) -> dict[str, Callable[..., Markup]]:
    """The escapes of report.escape as filters, cut to the width of the present rendering."""

    def make(escape: Callable[..., str], share: float = 1, **fixed: bool) -> Callable[..., Markup]:
        def apply(value: object, width: int = 100_000) -> Markup:
            if isinstance(value, Markup):
                return value
            limit = min(int(outlet.space.width * share), width)
            key = (apply, str(value), limit)  # a report is drawn several times until it fits
            if key not in outlet.kept:
                outlet.kept[key] = Markup(escape(str(value), limit=limit, **fixed))  # noqa: S704
            return outlet.kept[key]

        return apply

    def command(value: object) -> Markup:
        return Markup(code_block(str(value), limit=4000, language="sh"))  # noqa: S704

    def sign(value: object) -> Markup:
        return Markup("".join(c for c in str(value) if ord(c) > 0x2000 and c.isprintable())[:2])  # noqa: S704

    return {
        "sign": sign,
        "span": make(code_span),
        "cell": make(code_span, in_table=True),
        "words": make(phrase),
        "cell_words": make(phrase, in_table=True),
        "html": make(html_code),
        "block": make(code_block, share=4),
        "command": command,
        "link": _link,
    }


def _link(value: object, url: object) -> Markup:
    inert = value if isinstance(value, Markup) else phrase(str(value))
    return Markup(link(inert, str(url)))  # noqa: S704


def _explain(error: Exception, name: str, folder: Path) -> UsageError:
    """An error of a template, with the file and the line where it happened."""
    file, line = name, 0
    if isinstance(error, TemplateSyntaxError):
        file, line = error.filename or name, error.lineno
    else:
        inside = str(folder.resolve())
        for frame in traceback.extract_tb(error.__traceback__):
            if frame.filename.startswith(inside):
                file, line = frame.filename, frame.lineno or 0
    where = f"{file}:{line}" if line else file
    said = shorten(str(error)) or type(error).__name__
    if not isinstance(error, TemplateError):
        said = f"{type(error).__name__}: {said}"
    return UsageError(f"{where}: {said}", remedy=_REMEDY)
