"""The HTML report: one file that opens from disk and asks nothing of any network.

The shell is a template (`report.html.j2`, whose blocks can be overridden). Pairs and units stream
through it as JSON in script elements, which the page's script shows as text alone. Inside a script
element only `<` can end or confuse the element; with `&`, `>` and the two line separators escaped
too, the text is also safe for tools that treat it as XML or JavaScript (HTML Standard,
'Restrictions for contents of script elements').
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import Any, TextIO

import msgspec
from markupsafe import Markup

from routing_action.corpus.naming import is_skill_file
from routing_action.gate.model import Delta, DeltaEntry
from routing_action.gate.rules import DeltaKind
from routing_action.github.publication import RunLinks
from routing_action.report.edits import build_edits
from routing_action.report.escape import cut, printable
from routing_action.report.remedies import find_fix
from routing_action.report.sandbox import Sandbox
from routing_action.report.view import (
    accept_command,
    changed_rows,
    find_agents,
    find_headline,
    find_notes,
    find_title,
    is_worth_a_look,
    rerun_command,
)
from routing_action.results.model import UnitResult
from routing_action.results.transcript_lines import TranscriptLine, UnitRecord

STATIC_ROWS = 200
"""Rows of the table that is read where scripts are off."""

PASSING_DETAIL_BYTES = 2**20
"""How much detail of passing units is kept; units that do not pass always have theirs."""

EDITS = 2000
"""Edits that are shown in full; of others the names."""

_BODY = re.compile(r"<body\b[^>]*>", re.IGNORECASE)
_ROWS_IN_A_PIECE = 500
_LONGEST_TEXT = 4000
_MOST_ITEMS = 60
_ESCAPES = (
    (b"<", b"\\u003c"),
    (b">", b"\\u003e"),
    (b"&", b"\\u0026"),
    ("\u2028".encode(), b"\\u2028"),
    ("\u2029".encode(), b"\\u2029"),
)
_PAIR = attrgetter(
    "case_id", "agent", "kind", "gates", "was", "got", "line", "flaky", "timed_out", "passed",
    "trials", "unit_run_id",
)  # fmt: skip
_UNIT = attrgetter(
    "unit_run_id", "case_id", "agent", "trial", "status", "outcome", "failure_kind", "timed_out",
    "category", "duration_ms", "started_at_utc", "ended_at_utc", "cost_usd", "exit_code",
)  # fmt: skip
"""The columns of pairs and units, in the order in which templates/report_data.js reads them."""

_encode = msgspec.json.Encoder().encode


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
    be used.
    """
    changed = changed_rows(delta)
    filters = {"printable": printable, "csp_hash": csp_hash, "usd": "{:.4f}".format}
    sandbox = Sandbox(overrides, filters)
    edits = "".join(
        Sandbox(None, filters).pieces(
            "edits.html.j2", **build_edits(delta, EDITS, _LONGEST_TEXT, EDITS)
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
                changed=len(changed),
                rows=changed[:STATIC_ROWS],
                place=place,
                edits="" if overrides else Markup(edits),  # noqa: S704
                meta=to_script(_meta(delta, place)),
                pairs=sandbox.unmetered(_stream_list(_pair_line(delta, row) for row in delta.rows)),
                units=sandbox.unmetered(_stream_list(_unit_lines(records))),
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


def _meta(delta: Delta, place: RunLinks) -> dict[str, object]:
    return {
        "agents": find_agents(delta),
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


def to_script(value: object) -> Markup:
    """A value as JSON that is safe as the text of a script element."""
    data = _to_json(value)
    for plain, escape in _ESCAPES:
        data = data.replace(plain, escape)
    return Markup(data.decode())  # noqa: S704 - escaped above


def _to_json(value: object) -> bytes:
    try:
        return _encode(value)
    except (UnicodeEncodeError, OverflowError):
        # Lone surrogates and integers beyond 64 bits: the standard library writes both.
        return json.dumps(msgspec.to_builtins(value)).encode()


def _pair_line(delta: Delta, row: DeltaEntry) -> list[Any]:
    """The fields of `_PAIR`; an object with more where the pair is not simply as expected."""
    line = [*_PAIR(row)]
    if is_worth_a_look(row) or row.got != "pass":
        line.append(_pair_detail(delta, row))
    return line


def _pair_detail(delta: Delta, row: DeltaEntry) -> dict[str, object]:
    found: dict[str, object] = {
        "why": cut(row.why, _LONGEST_TEXT),
        "short": cut(_in_short(row), _LONGEST_TEXT),
        "failure": row.failure_kind,
        "fix": find_fix(delta, row) if row.gates else "",
        "error": cut(row.error or "", _LONGEST_TEXT),
        "prompt": delta.prompts.get(row.case_id, ""),
        "missing": row.missing_evidence,
        "disallowed": row.disallowed_hits,
        "loaded": row.loaded_skills,
        "subagent": row.subagent_skills,
        "not_alike": row.not_alike,
        "proofs": [
            (proof.token, proof.tier, proof.source_detail, cut(proof.proof_line, _LONGEST_TEXT))
            for proof in row.proofs[:_MOST_ITEMS]
        ],
        "rerun": rerun_command(delta, row) if row.got else "",
        "accept": accept_command(row),
    }
    return {name: value for name, value in found.items() if value}


def _in_short(row: DeltaEntry) -> str:
    """What came in place of what, where that says more in a line than the statuses do."""
    if row.got != "fail" or row.timed_out or not (row.disallowed_hits or row.missing_evidence):
        return ""
    if row.disallowed_hits:
        return f"used {', '.join(row.disallowed_hits[:3])}, which is disallowed"
    wanted = [token for token in row.missing_evidence if not is_skill_file(token)]
    loaded = ", ".join(row.loaded_skills[:3]) or "no skill"
    return f"wanted {', '.join((wanted or row.missing_evidence)[:3])}, got {loaded}"


def _unit_lines(records: Iterable[UnitRecord]) -> Iterator[list[Any]]:
    """Units in the given order: the fields of `_UNIT`, and an object that holds the evidence.

    Passing units have the object as long as `PASSING_DETAIL_BYTES` last.
    """
    left = PASSING_DETAIL_BYTES
    for record in records:
        line = [*_UNIT(record.row)]
        is_passing = record.row.status == "pass"
        if not is_passing or left > 0:
            line.append(_detail(record.row, record.lines))
            left -= len(_to_json(line[-1])) if is_passing else 0
        yield line


def _detail(row: UnitResult, lines: tuple[TranscriptLine, ...]) -> dict[str, object]:
    found: dict[str, object] = {
        "ended_by": row.ended_by,
        "cli_version": row.cli_version,
        "model": row.model,
        "error": cut(row.error or "", _LONGEST_TEXT),
        "missing": row.missing_evidence[:_MOST_ITEMS],
        "matched": row.matched_evidence[:_MOST_ITEMS],
        "disallowed": row.disallowed_hits[:_MOST_ITEMS],
        "loaded": row.loaded_skills[:_MOST_ITEMS],
        "subagent": row.subagent_skills[:_MOST_ITEMS],
        "hits": [
            (token, hit.tier, hit.best_score, hit.source_detail, cut(hit.proof_line, _LONGEST_TEXT))
            if hit
            else (token,)
            for token, hit in islice(row.token_hits.items(), _MOST_ITEMS)
        ],
        "usage": row.usage.model_dump() if row.usage else None,
        "command": [cut(word, _LONGEST_TEXT) for word in row.command[:_MOST_ITEMS]],
        "excerpt": row.output_excerpt[-_LONGEST_TEXT:],
        "survivors": row.survivors[:_MOST_ITEMS],
        "notes": [cut(note, _LONGEST_TEXT) for note in row.notes[:_MOST_ITEMS]],
        "lines": lines,
    }
    return {name: value for name, value in found.items() if value}


def _stream_list(lines: Iterator[list[Any]]) -> Iterator[Markup]:
    yield Markup("[")
    separator = Markup("")
    while piece := list(islice(lines, _ROWS_IN_A_PIECE)):
        yield separator + to_script(piece)[1:-1]
        separator = Markup(",\n")
    yield Markup("]")
