"""Filters of templates that make more of a text than they were given: counted before they do."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from jinja2 import pass_context
from jinja2.exceptions import SecurityError
from jinja2.filters import do_format, do_join, do_replace
from jinja2.runtime import Context

_WIDE = re.compile(r"%[^a-zA-Z%]*(?:\d{3}|\*)")
_OTHER = 32  # what a value that is no text counts for, in characters


def _spend(context: Context, characters: int) -> None:
    cast("Any", context.environment).spend(characters)


@pass_context
def _join_by(context: Context, values: Iterable[object], separator: str = "") -> object:
    parts = [*values]
    size = sum(len(part) if isinstance(part, str) else _OTHER for part in parts)
    _spend(context, size + len(separator) * len(parts))
    return do_join(context.eval_ctx, parts, separator)


@pass_context
def _replace(context: Context, text: str, old: str, new: str) -> object:
    _spend(context, len(text) + text.count(old) * len(new))
    return do_replace(context.eval_ctx, text, old, new)


def _format(text: str, *values: object) -> str:
    if _WIDE.search(text):
        raise SecurityError("a format of more than 99 characters")
    return do_format(text, *values)


GROWING_FILTERS: Mapping[str, Callable[..., object]] = {
    "join": _join_by,
    "replace": _replace,
    "format": _format,
}
