"""The jinja2 environment of users' templates: they can render, and nothing else.

It is jinja2's own sandbox with fewer calls and filters. In markdown whatever a template prints is
made inert unless one of our filters did so already. Its texts and loops are counted, so that it
ends.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import MethodType
from typing import Any, TypeVar, cast

from jinja2 import (
    BaseLoader,
    ChoiceLoader,
    PrefixLoader,
    StrictUndefined,
    Template,
    TemplateError,
    TemplateNotFound,
    TemplateSyntaxError,
    nodes,
    pass_context,
)
from jinja2.exceptions import SecurityError
from jinja2.runtime import BlockReference, Context, LoopContext, Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer
from markupsafe import Markup

from routing_action.errors import RoutingActionError, UsageError
from routing_action.github.publication import RunLinks
from routing_action.report.escape import cut, phrase

_Rendered = TypeVar("_Rendered")

OWN_PREFIX = "routing-action"
"""`{% extends "routing-action/comment.md.j2" %}` names ours, whatever overrides it."""

_IN_PACKAGE = Path(__file__).resolve().parents[1] / "templates"
_IN_CHECKOUT = Path(__file__).resolve().parents[3] / "templates"
_MIB = 2**20
CAP = 32 * _MIB
"""What the texts and loops of one rendering may come to, in characters."""

_STEP = 32  # what a round of a loop, a call or an include counts for, in characters
_MOST_IN_RANGE = 10_000
_LARGEST_TEMPLATE = 256 * 1024
_LARGEST_NUMBER = 10**15
_PAGE = "how-to/change-the-reports.md"
_METHODS_OF_MAPPINGS = {"items", "keys", "values", "get"}
_KEPT_FILTERS = ("length", "count", "first", "last", "default", "d", "round", "int", "abs")


class _Folder(BaseLoader):
    """Templates in one folder: regular files in there, not what links lead to elsewhere."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()

    def get_source(
        self, environment: object, template: str
    ) -> tuple[str, str, Callable[[], bool] | None]:
        """The text and the path; TemplateNotFound for everything that is no template in here."""
        path = self._folder.joinpath(*template.split("/"))
        if ".." in template.split("/") or path.resolve() != path or not path.is_file():
            raise TemplateNotFound(template)
        if path.stat().st_size > _LARGEST_TEMPLATE:
            raise TemplateNotFound(template, f"{path} is larger than {_LARGEST_TEMPLATE} bytes")
        return path.read_text(encoding="utf-8", errors="replace"), str(path), None


class Sandbox(ImmutableSandboxedEnvironment):
    """For HTML, where all text is escaped as such; see `MarkdownSandbox`.

    `width` is the longest text from outside that filters show, in characters.
    """

    intercepted_binops = frozenset(("+", "-", "*", "/", "//", "%", "**"))

    def __init__(self, overrides: Path | None, filters: Mapping[str, Callable[..., Any]]) -> None:
        ours = _Folder(_IN_PACKAGE if _IN_PACKAGE.is_dir() else _IN_CHECKOUT)
        places: list[BaseLoader] = [ours, PrefixLoader({OWN_PREFIX: ours})]
        if overrides is not None:
            places.insert(0, _Folder(overrides))
        super().__init__(
            loader=ChoiceLoader(places),
            undefined=StrictUndefined,
            autoescape=True,
            finalize=_finalize,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
        )
        self.globals = {"range": _range}
        kept = {name: self.filters[name] for name in _KEPT_FILTERS}
        self.filters = {**kept, "counted": _count_rounds, "joined": _join, **filters}
        self.overrides = overrides
        self.width = 0
        self.left = 0

    def pieces(self, name: str, width: int = 0, **values: object) -> Iterator[str]:
        """The pieces of a template, made as they are read; each call has the whole cap.

        UsageError with file and line where a user's template cannot be used.
        """
        self.width, self.left = width, CAP
        try:
            yield from self.get_template(name).generate(**values)
        except RoutingActionError:
            raise  # of the data that streams through
        except Exception as error:
            if self.overrides is None:
                raise
            raise _explain(error, name, self.overrides) from error

    def spend(self, characters: int) -> None:
        """SecurityError, which names the cap, where a rendering has used it up."""
        self.left -= characters
        if self.left < 0:
            raise SecurityError(
                f"the template does too much: its texts and loops come to more than "
                f"{CAP // _MIB} MiB"
            )

    def unmetered(self, pieces: Iterable[Markup]) -> Iterator[Markup]:
        """Pieces of our own, of any length, which the cap is not for."""
        for piece in pieces:
            self.left += len(piece) + 2 * _STEP
            yield piece

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:  # noqa: ANN401
        """Sums of numbers that stay small."""
        numbers = all(isinstance(value, int | float) for value in (left, right))
        if operator == "**" or not numbers:
            raise SecurityError(f"`{operator}` is for numbers here; join texts with `~`")
        result = super().call_binop(context, operator, left, right)
        if abs(result) > _LARGEST_NUMBER:
            raise SecurityError("a number grows too large")
        return result

    def show(self, value: object) -> object:
        """What `{{ value }}` prints, before jinja2 escapes it for HTML."""
        return value

    def get_template(self, *arguments: Any, **named: Any) -> Template:  # noqa: ANN401
        """A template by name; each include counts."""
        self.spend(_STEP)
        return super().get_template(*arguments, **named)

    def is_safe_callable(self, obj: object) -> bool:
        """Macros, blocks, our range, `loop.cycle`, the views of a mapping, addresses of a place.

        SecurityError for all else: jinja2's own text would hold the value.
        """
        self.spend(_STEP)
        if isinstance(obj, Macro | BlockReference) or obj is _range:
            return True
        owner, name = getattr(obj, "__self__", None), getattr(obj, "__name__", "")
        if isinstance(obj, MethodType) and isinstance(owner, LoopContext | RunLinks):
            return True
        if isinstance(owner, dict) and name in _METHODS_OF_MAPPINGS:
            return True
        raise SecurityError(f"{name or 'a value'} cannot be called here")

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        return _Counting().visit(super()._parse(source, name, filename))  # type: ignore[no-any-return]


class MarkdownSandbox(Sandbox):
    """For markdown; `filters` are ours, and give Markup for what is inert."""

    def show(self, value: object) -> Markup:
        """Markup and numbers as they are, all else made inert."""
        if isinstance(value, Markup):
            return value
        if value is None:
            return Markup("–")
        if isinstance(value, int | float) and not isinstance(value, bool):
            return Markup(str(value))  # noqa: S704
        return Markup(phrase(str(value)))  # noqa: S704


class _Counting(NodeTransformer):
    """Rewrites a parsed template so that all that it prints, and each round, is counted."""

    def visit_TemplateData(self, node: nodes.TemplateData) -> nodes.Node:  # noqa: N802
        return nodes.Const(Markup(node.data), lineno=node.lineno)  # noqa: S704

    def visit_For(self, node: nodes.For) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        node.iter = _filtered(cast("nodes.Expr", node.iter), "counted")
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        return _filtered(nodes.List(node.nodes, lineno=node.lineno), "joined")


def _filtered(node: nodes.Expr, name: str) -> nodes.Filter:
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)


def _range(*bounds: int) -> range:
    numbers = range(*bounds)
    if len(numbers) > _MOST_IN_RANGE:
        raise SecurityError(f"a range of more than {_MOST_IN_RANGE}")
    return numbers


# Filters that take the context are not worked out while jinja2 compiles, so that they count.


@pass_context
def _finalize(context: Context, value: object) -> object:
    sandbox = cast("Sandbox", context.environment)
    shown = sandbox.show(value)
    sandbox.spend(len(shown) if isinstance(shown, str) else _STEP)
    return shown


@pass_context
def _count_rounds(context: Context, values: Iterable[object]) -> Iterator[object]:
    sandbox = cast("Sandbox", context.environment)
    for value in values:
        sandbox.spend(_STEP)
        yield value


@pass_context
def _join(context: Context, parts: Iterable[object]) -> Markup:
    """`a ~ b`: each part made inert by itself."""
    return Markup("").join(cast("Any", _finalize(context, part)) for part in parts)


# --- templates that cannot be used


def prefer_overrides(
    draw: Callable[[Path | None], _Rendered], overrides: Path | None
) -> tuple[_Rendered, tuple[str, ...]]:
    """What `draw` makes of the user's templates, and no warning.

    Where their templates cannot be used it is what our own give, and a warning that says why, so
    that a report is never lost to a template.
    """
    try:
        return draw(overrides), ()
    except UsageError as error:
        if overrides is None:
            raise
        return draw(None), (f"{error.cause}; the built-in template was used",)


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
    said = cut(" ".join(str(error).split()), 300) or type(error).__name__
    if not isinstance(error, TemplateError):
        said = f"{type(error).__name__}: {said}"
    return UsageError(f"{where}: {said}", remedy="fix the template", page=_PAGE)
