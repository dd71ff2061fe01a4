"""The HTML report: one file that opens from disk and asks nothing of any network.

The shell is a template (`report.html.j2`, whose blocks can be overridden). What data.py makes
streams through it, and the page's script shows it as text alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TextIO

from markupsafe import Markup

from routing_action.corpus.influences import Influence
from routing_action.gate.model import Delta, DeltaEntry
from routing_action.github.publication import RunLinks
from routing_action.report.causes import describe_group, group_rows
from routing_action.report.edits import build_edits, list_changes
from routing_action.report.html.data import ReportData
from routing_action.report.html.script import FILTERS, to_script
from routing_action.report.html.trends import build_trend_data
from routing_action.report.page import download_command
from routing_action.report.reasons import list_noise, say
from routing_action.report.sandbox import Sandbox
from routing_action.report.view import (
    changed_rows,
    count_words,
    find_agents,
    find_headline,
    find_notes,
    find_title,
)
from routing_action.results.past.trends import Trend
from routing_action.results.transcript_lines import UnitRecord

STATIC_ROWS = 200
"""Rows of the table that is read where scripts are off."""

EDITS = 2000
"""Edits that are shown in full; of others the names."""

_LONGEST_EDIT = 4000
_BODY = re.compile(r"<body\b[^>]*>", re.IGNORECASE)


def write_html(
    out: TextIO,
    delta: Delta,
    records: Iterable[UnitRecord],
    place: RunLinks,
    source: str = "RESULTS",
    *,
    folder: Path | None = None,
    overrides: Path | None = None,
    trends: Sequence[Trend] = (),
) -> None:
    """Write the report, piece by piece; `records` are read once and never held together.

    `source` is where the results are, for its commands, and `folder` where the report will lie, for
    its links to transcripts; `trends` are what the history tells of pairs. `overrides` may hold
    templates that extend or replace ours; UsageError where one of them cannot be used.
    """
    groups = group_rows(delta, changed_rows(delta))
    data = ReportData(delta, place, source, folder)
    filters = {**FILTERS, "usd": "{:.4f}".format}
    sandbox = Sandbox(overrides, filters)
    edits = "".join(
        Sandbox(None, filters).pieces(
            "edits.html.j2", **build_edits(delta, EDITS, _LONGEST_EDIT, EDITS)
        )
    )
    out.writelines(
        _with_edits(
            edits if overrides else "",
            sandbox.pieces(
                "report.html.j2",
                delta=delta,
                title=find_title(delta),
                headline=find_headline(delta),
                notes=find_notes(delta),
                groups=list(_tell(delta, groups[:STATIC_ROWS], data.passing)),
                all_groups=len(groups),
                reused=sum(row.reused_from is not None for row in delta.rows),
                place=place,
                edits="" if overrides else Markup(edits),  # noqa: S704
                meta=to_script(_meta(delta, place)),
                pairs=sandbox.unmetered(data.pairs()),
                prompts=sandbox.unmetered(data.prompts()),
                units=sandbox.unmetered(data.units(records)),
                index=sandbox.unmetered(data.index()),
                trends=build_trend_data(_of_rows(delta, trends)),
            ),
        )
    )


def _with_edits(edits: str, pieces: Iterable[str]) -> Iterator[str]:
    """The page of a user's template, with what it cannot leave out right after its `<body>`."""
    waiting = ""
    for piece in pieces:
        if not edits:
            yield piece
            continue
        waiting += piece
        if match := _BODY.search(waiting):
            yield f"{waiting[: match.end()]}{edits}{waiting[match.end() :]}"
            waiting = edits = ""
    yield waiting + edits


def _of_rows(delta: Delta, trends: Iterable[Trend]) -> list[Trend]:
    """The trends of pairs that the delta has."""
    pairs = {(row.case_id, row.agent) for row in delta.rows}
    return [one for one in trends if one.pair in pairs]


def _tell(
    delta: Delta, groups: Iterable[Sequence[DeltaEntry]], passing: Mapping[str, Sequence[str]]
) -> Iterator[dict[str, object]]:
    """Of each group its first row, in a line what happened and whether it is noise, the others."""
    for group in groups:
        row, *others = group
        noise = list_noise(row, passing.get(row.case_id, ()))
        story = "; ".join(map(say, (describe_group(delta, group), *noise)))
        names = [f"{one.case_id} on {one.agent}" for one in others]
        errors = [one.error for one in (row, *others) if one.error]
        error = min(errors, key=len, default="") if others else ""
        yield {"row": row, "story": error or story, "others": names}


def _meta(delta: Delta, place: RunLinks) -> dict[str, object]:
    return {
        "agents": find_agents(delta),
        "counts": count_words(delta),
        "cases_file": delta.cases_file,
        "cases_url": place.file_url(delta.cases_file),
        "skills": [
            (skill.name, skill.agents, skill.description, skill.path, skill.before)
            for skill in delta.skills
        ],
        "case_edits": {
            edit.name: (edit.what, list(list_changes(edit, _LONGEST_EDIT)))
            for edit in delta.edits[:EDITS]
            if edit.influence is Influence.CASES and edit.name
        },
        "knows_change": delta.edits_known,
        "download": download_command(place),
        "cli_versions": delta.totals.cli_versions,
        "models": delta.totals.models,
    }
