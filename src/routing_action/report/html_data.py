"""The data of the HTML report: JSON for script elements, in pieces, inert whatever it holds.

Inside a script element only `<` can end or confuse the element; with `&`, `>` and the two line
separators escaped too, the text is also safe for tools that treat it as XML or JavaScript (HTML
Standard, 'Restrictions for contents of script elements').
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import msgspec
from markupsafe import Markup

from routing_action.corpus.naming import is_skill_file
from routing_action.gate.comparison import DeltaKind
from routing_action.gate.model import Delta, DeltaEntry
from routing_action.report.remedies import find_remedy
from routing_action.report.view import accept_command, can_accept, rerun_command
from routing_action.results.model import TokenHit, UnitResult
from routing_action.results.transcript_lines import TranscriptLine, UnitRecord

PASSING_DETAIL_BYTES = 2**20
"""How much detail of passing units is kept; units that do not pass always have theirs."""

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
_encode = msgspec.json.Encoder().encode


class _Unit(msgspec.Struct, gc=False, omit_defaults=True):
    """What a unit's page shows beside the fields of its line."""

    ended_by: str = ""
    cli_version: str | None = None
    model: str | None = None
    error: str | None = None
    missing: tuple[str, ...] = ()
    matched: tuple[str, ...] = ()
    disallowed: tuple[str, ...] = ()
    loaded: tuple[str, ...] = ()
    subagent: tuple[str, ...] = ()
    hits: list[tuple[str, int, int, str, str] | tuple[str]] = []
    usage: dict[str, float | None] | None = None
    command: tuple[str, ...] = ()
    excerpt: str = ""
    survivors: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    lines: tuple[TranscriptLine, ...] = ()


def to_script(value: object) -> Markup:
    """A value as JSON that is safe as the text of a script element."""
    return Markup(_escaped(_to_json(value)).decode())  # noqa: S704 - escaped one line above


def _to_json(value: object) -> bytes:
    try:
        return _encode(value)
    except (UnicodeEncodeError, OverflowError):
        # Lone surrogates and integers beyond 64 bits: the standard library writes both.
        return json.dumps(msgspec.to_builtins(value)).encode()


def _escaped(data: bytes) -> bytes:
    for plain, escape in _ESCAPES:
        data = data.replace(plain, escape)
    return data


def stream_pairs(delta: Delta) -> Iterator[Markup]:
    """A JSON list with a line for each row of the delta, in its order.

    A line is `[case, agent, kind, gates, was, got, line, flaky, timed out, passed, trials, id]`,
    followed by an object with more where the pair is not simply as expected.
    """
    return _stream_list(_pair_line(delta, row) for row in delta.rows)


def _pair_line(delta: Delta, row: DeltaEntry) -> list[Any]:
    line = [
        row.case_id,
        row.agent,
        row.kind,
        int(row.gates),
        row.was,
        row.got,
        row.line,
        int(row.flaky),
        int(row.timed_out),
        row.passed,
        row.trials,
        row.unit_run_id,
    ]
    if row.kind is not DeltaKind.OK or row.got != "pass" or row.flaky or row.not_alike:
        line.append(_pair_detail(delta, row))
    return line


def _pair_detail(delta: Delta, row: DeltaEntry) -> dict[str, object]:
    found: dict[str, object] = {
        "why": _cut(row.why),
        "short": _cut(_in_short(row)),
        "failure": row.failure_kind,
        "mend": find_remedy(row.failure_kind) if row.gates else "",
        "error": _cut(row.error or ""),
        "prompt": row.prompt,
        "missing": row.missing_evidence,
        "disallowed": row.disallowed_hits,
        "loaded": row.loaded_skills,
        "subagent": row.subagent_skills,
        "not_alike": row.not_alike,
        "proofs": [
            (proof.token, proof.tier, proof.source_detail, _cut(proof.proof_line))
            for proof in row.proofs[:_MOST_ITEMS]
        ],
        "rerun": rerun_command(delta, row) if row.got else "",
        "accept": accept_command(row) if can_accept(row) else "",
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


def stream_units(records: Iterable[UnitRecord]) -> Iterator[Markup]:
    """A JSON list with a line for each unit, in the given order.

    A line is `[id, case, agent, trial, status, outcome, failure, timed out, category, duration,
    started, ended, cost, exit code]`, followed by an object with the unit's evidence; passing
    units have it as long as `PASSING_DETAIL_BYTES` last.
    """
    return _stream_list(_unit_lines(records))


def _unit_lines(records: Iterable[UnitRecord]) -> Iterator[list[Any]]:
    left = PASSING_DETAIL_BYTES
    for record in records:
        row = record.row
        line = [
            row.unit_run_id,
            row.case_id,
            row.agent,
            row.trial,
            row.status,
            row.outcome,
            row.failure_kind,
            int(row.timed_out),
            row.category,
            row.duration_ms,
            row.started_at_utc,
            row.ended_at_utc,
            row.cost_usd,
            row.exit_code,
        ]
        if row.status != "pass":
            line.append(_detail(row, record.lines))
        elif left > 0:
            detail = _detail(row, record.lines)
            left -= len(_to_json(detail))
            line.append(detail)
        yield line


def _detail(row: UnitResult, lines: tuple[TranscriptLine, ...]) -> _Unit:
    return _Unit(
        ended_by=row.ended_by,
        cli_version=row.cli_version,
        model=row.model,
        error=_cut(row.error) if row.error else None,
        missing=row.missing_evidence[:_MOST_ITEMS],
        matched=row.matched_evidence[:_MOST_ITEMS],
        disallowed=row.disallowed_hits[:_MOST_ITEMS],
        loaded=row.loaded_skills[:_MOST_ITEMS],
        subagent=row.subagent_skills[:_MOST_ITEMS],
        hits=[_hit(*item) for item in islice(row.token_hits.items(), _MOST_ITEMS)],
        usage=row.usage.model_dump() if row.usage else None,
        command=tuple(_cut(word) for word in row.command[:_MOST_ITEMS]),
        excerpt=row.output_excerpt[-_LONGEST_TEXT:],
        survivors=row.survivors[:_MOST_ITEMS],
        notes=tuple(_cut(note) for note in row.notes[:_MOST_ITEMS]),
        lines=lines,
    )


def _hit(token: str, hit: TokenHit | None) -> tuple[str, int, int, str, str] | tuple[str]:
    if hit is None:
        return (token,)
    return (token, hit.tier, hit.best_score, hit.source_detail, _cut(hit.proof_line))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 1] + "…"


def _stream_list(lines: Iterator[list[Any]]) -> Iterator[Markup]:
    yield Markup("[")
    separator = Markup("")
    while piece := list(islice(lines, _ROWS_IN_A_PIECE)):
        yield separator + to_script(piece)[1:-1]
        separator = Markup(",\n")
    yield Markup("]")
