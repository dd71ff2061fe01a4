"""The only door to jinja2: sandboxed, strict about names, with our escapes as filters."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from jinja2 import ChoiceLoader, FileSystemLoader, StrictUndefined
from jinja2.sandbox import SandboxedEnvironment

from routing_action.domain.delta import Delta
from routing_action.report.escape import code_block, code_span
from routing_action.report.view import accept_command, build_view, cell_text, rerun_command

_IN_PACKAGE = Path(__file__).resolve().parents[1] / "templates"
_IN_CHECKOUT = Path(__file__).resolve().parents[3] / "templates"


def render_markdown(delta: Delta, overrides: Path | None = None) -> str:
    """The delta as GitHub markdown; `overrides` may hold templates that extend or replace ours."""
    folders = [path for path in (overrides, _IN_PACKAGE, _IN_CHECKOUT) if path is not None]
    environment = SandboxedEnvironment(
        loader=ChoiceLoader([FileSystemLoader(folder) for folder in folders]),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["span"] = code_span
    environment.filters["cell"] = lambda text: code_span(str(text), in_table=True)
    environment.filters["block"] = code_block
    environment.filters["rerun"] = partial(rerun_command, delta)
    environment.filters["accept"] = accept_command
    environment.filters["cell_text"] = cell_text
    template = environment.get_template("delta.md.j2")
    return template.render(view=build_view(delta), delta=delta)
