"""The template of the HTML report, which users extend block by block, in a sandbox of its own.

It differs from that of the markdown reports in what makes text inert (HTML's escapes), and in that
pieces of data stream through it.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from jinja2 import ChoiceLoader, FileSystemLoader, PrefixLoader, StrictUndefined, TemplateError
from jinja2.exceptions import SecurityError, TemplateSyntaxError
from jinja2.runtime import BlockReference, Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment

from routing_action.errors import UsageError
from routing_action.report.escape import printable

SHELL = "report.html.j2"
OWN_PREFIX = "routing-action"
"""`{% extends "routing-action/report.html.j2" %}` names ours, whatever overrides it."""

_IN_PACKAGE = Path(__file__).resolve().parents[1] / "templates"
_IN_CHECKOUT = Path(__file__).resolve().parents[3] / "templates"
_REMEDY = 'mend the template, or extend ours: {% extends "routing-action/report.html.j2" %}'


class _Sandbox(ImmutableSandboxedEnvironment):
    """Escapes all text as HTML; templates call blocks and macros, and no method of a value."""

    def is_safe_callable(self, obj: object) -> bool:
        if isinstance(obj, Macro | BlockReference):
            return True
        # The message of jinja2 itself would hold the whole value.
        raise SecurityError(f"{getattr(obj, '__name__', 'a value')} cannot be called here")


def stream_shell(context: Mapping[str, object], overrides: Path | None = None) -> Iterator[str]:
    """The pieces of the page, made as they are read.

    Raises UsageError with file and line where a user's template cannot be used; one that is no
    template at all is found before the first piece is made.
    """
    own = FileSystemLoader(_IN_PACKAGE if _IN_PACKAGE.is_dir() else _IN_CHECKOUT)
    user = [] if overrides is None else [FileSystemLoader(overrides)]
    sandbox = _Sandbox(
        loader=ChoiceLoader([*user, own, PrefixLoader({OWN_PREFIX: own})]),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    sandbox.filters["printable"] = printable
    sandbox.filters["csp_hash"] = csp_hash
    try:
        yield from sandbox.get_template(SHELL).generate(context)
    except (TemplateError, TypeError) as error:
        if overrides is None:
            raise
        raise _explain(error) from error


def _explain(error: Exception) -> UsageError:
    file, line = SHELL, ""
    if isinstance(error, TemplateSyntaxError):
        file, line = error.filename or SHELL, f":{error.lineno}"
    return UsageError(f"{file}{line}: {' '.join(str(error).split())[:300]}", remedy=_REMEDY)


def csp_hash(text: str) -> str:
    """The source expression that lets an inline script or style of this very text through.

    Source: Content Security Policy Level 3, section 2.3.1, 'hash-source'.
    """
    digest = hashlib.sha256(str(text).encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
