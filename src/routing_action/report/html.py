"""The HTML report: one file that opens from disk and asks nothing of any network.

The shell is a template (`report.html.j2`, whose blocks can be overridden); pairs and units stream
through it as data, which the page's script shows as text alone.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

from routing_action.gate.comparison import DeltaKind
from routing_action.gate.model import Delta, DeltaEntry
from routing_action.github.publication import RunLinks
from routing_action.report.html_data import stream_pairs, stream_units, to_script
from routing_action.report.render import stream_html
from routing_action.report.view import build_view
from routing_action.results.transcript_lines import UnitRecord

STATIC_ROWS = 200
"""Rows of the table that is read where scripts are off."""


def write_html(
    out: TextIO,
    delta: Delta,
    records: Iterable[UnitRecord],
    place: RunLinks,
    *,
    overrides: Path | None = None,
) -> None:
    """Write the report, piece by piece; `records` are read once and never held together.

    `overrides` may hold templates that extend or replace ours; UsageError where one of them cannot
    be used. The caller is best off with the garbage collector off meanwhile: rows are made and
    dropped by the thousand, in no cycles.
    """
    changed = [row for row in delta.rows if _is_worth_a_look(row)]
    # The view of what the page shows without a script; the rest is in the data.
    view = build_view(delta.model_copy(update={"rows": tuple(changed[:STATIC_ROWS])}))
    context = {
        "delta": delta,
        "view": view,
        "changed": len(changed),
        "place": place,
        "meta": to_script(_meta(delta, place)),
        "pairs": stream_pairs(delta),
        "units": stream_units(records),
    }
    out.writelines(stream_html(context, {"csp_hash": csp_hash}, overrides))


def _is_worth_a_look(row: DeltaEntry) -> bool:
    return row.kind is not DeltaKind.OK or row.flaky or bool(row.not_alike)


def _meta(delta: Delta, place: RunLinks) -> dict[str, object]:
    return {
        "agents": tuple(dict.fromkeys((*delta.agents, *(row.agent for row in delta.rows)))),
        "kinds": [kind.value for kind in DeltaKind],
        "counts": delta.counts,
        "cases_file": delta.cases_file,
        "cases_url": place.file_url(delta.cases_file),
        "skills": [(skill.name, skill.agents, skill.description) for skill in delta.skills],
        "cli_versions": delta.totals.cli_versions,
        "models": delta.totals.models,
    }


def csp_hash(text: str) -> str:
    """The source expression that lets an inline script or style of this very text through.

    Source: Content Security Policy Level 3, section 2.3.1, 'hash-source'.
    """
    digest = hashlib.sha256(str(text).encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
