"""The jinja2 environment of users' templates: they can render, and nothing else.

Whatever a template prints is made inert unless one of our filters did so already; it calls no
method of a value; and its loops, texts and numbers are metered, so that it ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from types import MethodType
from typing import Any, cast

from jinja2 import (
    BaseLoader,
    ChoiceLoader,
    PrefixLoader,
    StrictUndefined,
    TemplateNotFound,
    nodes,
    pass_context,
)
from jinja2.exceptions import SecurityError
from jinja2.runtime import BlockReference, Context, LoopContext, Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer
from markupsafe import Markup

from routing_action.github.publication import RunLinks
from routing_action.report.escape import cut, phrase

OWN_PREFIX = "routing-action"
"""`{% extends "routing-action/comment.md.j2" %}` names ours, whatever overrides it."""

_MOST_WORK = 32 * 2**20
_ROUND = 4  # what a round of a loop costs, in characters
_MOST_IN_RANGE = 10_000
_LARGEST_TEMPLATE = 256 * 1024
_LARGEST_NUMBER = 10**15
_METHODS_OF_MAPPINGS = {"items", "keys", "values", "get"}
_KEPT_FILTERS = ("length", "count", "first", "last", "default", "d", "round", "int", "abs")


@dataclass(slots=True)
class Meter:
    """What a rendering may still do, in characters or steps."""

    left: int = _MOST_WORK

    def spend(self, work: int) -> None:
        """SecurityError where there is nothing left."""
        self.left -= work + 1
        if self.left < 0:
            raise SecurityError("the template does too much: fewer loops or shorter texts")


class Folder(BaseLoader):
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


class Reader(ImmutableSandboxedEnvironment):
    """Reads values and calls next to nothing; text is escaped for HTML."""

    def __init__(
        self, own: Path, overrides: Path | None, finalize: Callable[[object], object] | None = None
    ) -> None:
        ours = Folder(own)
        places: list[BaseLoader] = [ours, PrefixLoader({OWN_PREFIX: ours})]
        if overrides is not None:
            places.insert(0, Folder(overrides))
        super().__init__(
            loader=ChoiceLoader(places),
            undefined=StrictUndefined,
            autoescape=True,
            finalize=finalize,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=finalize is not None,
        )
        self.globals = {"range": _range}

    def getattr(self, obj: object, attribute: str) -> Any:  # noqa: ANN401
        """A field of one of our records as it is; all else is looked at as jinja2 does."""
        if attribute in _fields_of(type(obj)):
            return getattr(obj, attribute)
        return super().getattr(obj, attribute)

    def is_safe_attribute(self, obj: object, attr: str, value: object) -> bool:
        """No name with an underscore in front, nothing of types and code."""
        return not attr.startswith("_") and super().is_safe_attribute(obj, attr, value)

    def is_safe_callable(self, obj: object) -> bool:
        """Macros, blocks, our range, `loop.cycle`, the views of a mapping, addresses of a place.

        SecurityError for all else: jinja2's own text would hold the value.
        """
        if isinstance(obj, Macro | BlockReference) or obj is _range:
            return True
        owner, name = getattr(obj, "__self__", None), getattr(obj, "__name__", "")
        if isinstance(obj, MethodType) and isinstance(owner, LoopContext | RunLinks):
            return True
        if isinstance(owner, dict) and name in _METHODS_OF_MAPPINGS:
            return True
        raise SecurityError(f"{name or 'a value'} cannot be called here")


class Sandbox(Reader):
    """For markdown, see the module; `filters` are ours, and give Markup for what is inert."""

    intercepted_binops = frozenset(("+", "-", "*", "/", "//", "%", "**"))

    def __init__(
        self, own: Path, overrides: Path | None, filters: Mapping[str, Callable[..., Any]]
    ) -> None:
        super().__init__(own, overrides, self.show)
        self.meter = Meter()
        self.filters = {name: self.filters[name] for name in _KEPT_FILTERS} | {
            "metered": _meter_loop,
            "weighed": _weigh,
            "joined": _join,
            **filters,
        }

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        return _Metering().visit(super()._parse(source, name, filename))  # type: ignore[no-any-return]

    def show(self, value: object) -> Markup:
        """What `{{ value }}` prints: Markup and numbers as they are, all else made inert."""
        if isinstance(value, Markup):
            shown = value
        elif value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
            shown = Markup("–") if value is None else Markup(str(value))  # noqa: S704
        else:
            shown = Markup(phrase(str(value)))  # noqa: S704
        self.meter.spend(len(shown))
        return shown

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:  # noqa: ANN401
        """Sums of numbers that stay small."""
        numbers = all(isinstance(value, int | float) for value in (left, right))
        if operator == "**" or not numbers:
            raise SecurityError(f"`{operator}` is for numbers here; join texts with `~`")
        result = super().call_binop(context, operator, left, right)
        if abs(result) > _LARGEST_NUMBER:
            raise SecurityError("a number grows too large")
        return result


_FIELDS: dict[type, frozenset[str]] = {}


def _fields_of(kind: type) -> frozenset[str]:
    """The public fields of a dataclass, which hold plain values; none of any other type."""
    found = _FIELDS.get(kind)
    if found is None:
        names = [field.name for field in fields(kind)] if is_dataclass(kind) else []
        found = frozenset(name for name in names if not name.startswith("_"))
        _FIELDS[kind] = found
    return found


def _range(*bounds: int) -> range:
    numbers = range(*bounds)
    if len(numbers) > _MOST_IN_RANGE:
        raise SecurityError(f"a range of more than {_MOST_IN_RANGE}")
    return numbers


@pass_context  # so that jinja2 does not work it out while it compiles
def _meter_loop(context: Context, values: Iterable[object], weight: int) -> list[object]:
    """The values of a loop, paid for with all the text that its body holds."""
    listed = list(values)
    _sandbox_of(context).meter.spend(len(listed) * (_ROUND + weight))
    return listed


@pass_context
def _weigh(context: Context, weight: int) -> Markup:
    _sandbox_of(context).meter.spend(weight)
    return Markup("")


@pass_context
def _join(context: Context, parts: Iterable[object]) -> Markup:
    """`a ~ b`: each part made inert by itself."""
    sandbox = _sandbox_of(context)
    return Markup("").join(sandbox.show(part) for part in parts)


def _sandbox_of(context: Context) -> Sandbox:
    return cast("Sandbox", context.environment)


class _Metering(NodeTransformer):
    """Rewrites a parsed template so that what repeats or grows text asks the meter first."""

    def visit_For(self, node: nodes.For) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        node.iter = _filtered(
            cast("nodes.Expr", node.iter), "metered", nodes.Const(_weight_of(node))
        )
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        return _filtered(nodes.List(node.nodes, lineno=node.lineno), "joined")

    def visit_Macro(self, node: nodes.Macro) -> nodes.Node:  # noqa: N802
        return self._weighed(node)

    def visit_CallBlock(self, node: nodes.CallBlock) -> nodes.Node:  # noqa: N802
        return self._weighed(node)

    def visit_Block(self, node: nodes.Block) -> nodes.Node:  # noqa: N802
        return self._weighed(node)

    def visit_Template(self, node: nodes.Template) -> nodes.Node:  # noqa: N802
        return self._weighed(node)

    def _weighed(self, node: Any) -> nodes.Node:  # noqa: ANN401
        self.generic_visit(node)
        cost = _filtered(nodes.Const(_weight_of(node), lineno=node.lineno), "weighed")
        node.body.insert(0, nodes.Output([cost], lineno=node.lineno))
        return node  # type: ignore[no-any-return]


def _weight_of(node: nodes.Node) -> int:
    return sum(len(data.data) for data in node.find_all(nodes.TemplateData))


def _filtered(node: nodes.Expr, name: str, *arguments: nodes.Expr) -> nodes.Filter:
    return nodes.Filter(node, name, list(arguments), [], None, None, lineno=node.lineno)


def shorten(text: str) -> str:
    """A message of jinja2 in one line."""
    return cut(" ".join(text.split()), 300)
