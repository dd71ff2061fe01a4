"""JUnit XML of a delta, for the test views of CI systems; never the gate itself.

It keeps to what both common schemas allow: that of Apache Ant's JUnit task (Windy Road,
'JUnit.xsd') and that of Jenkins' xUnit plugin ('junit-10.xsd'). The first knows no properties of a
test case, so that the place of a case stands in the text of its failure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from io import StringIO
from typing import Literal, TextIO
from xml.sax.saxutils import escape, quoteattr

from routing_action.corpus.baseline import Status
from routing_action.gate.comparison import DeltaKind
from routing_action.gate.model import Delta, DeltaEntry
from routing_action.gate.verdict import Conclusion
from routing_action.github.publication import RunLinks
from routing_action.report.escape import printable
from routing_action.report.remedies import find_remedy
from routing_action.report.view import rerun_command
from routing_action.results.transcript_lines import UnitRecord

Verdict = Literal["passed", "failure", "error", "skipped"]

_MAX_OUT = 64 * 2**10
"""Characters of proof lines that a suite shows."""

_LONGEST_LINE = 2000


@dataclass(slots=True)
class _Suite:
    """The rows of one provider, the seconds of each case, and what proves them."""

    agent: str
    rows: list[DeltaEntry] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    proofs: list[str] = field(default_factory=list)
    room: int = _MAX_OUT


def render_junit(delta: Delta, records: Iterable[UnitRecord], place: RunLinks) -> str:
    """The document as text; see `write_junit`."""
    out = StringIO()
    write_junit(out, delta, records, place)
    return out.getvalue()


def write_junit(out: TextIO, delta: Delta, records: Iterable[UnitRecord], place: RunLinks) -> None:
    """Write a suite for each provider and a test case for each of its cases.

    A row that gates is a failure of the type of its word, an INFRA row an error; one without a
    verdict (not measured, removed, an expected infra error) is skipped. Where the gate is red for
    a reason that no row carries, a suite `routing gate` says so. `records` give the times, which
    are summed over trials, and the proofs; they are read once.
    """
    suites = _gather(delta, records)
    out.write('<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n')
    number = 0
    for number, suite in enumerate(suites.values(), start=1):
        out.writelines(_suite(delta, suite, number - 1, place))
    if delta.conclusion is Conclusion.FAILURE and not any(map(_is_red, delta.rows)):
        out.writelines(_gate_suite(delta, number))
    out.write("</testsuites>\n")


def _gather(delta: Delta, records: Iterable[UnitRecord]) -> dict[str, _Suite]:
    suites: dict[str, _Suite] = {}
    for row in delta.rows:
        suites.setdefault(row.agent, _Suite(row.agent)).rows.append(row)
    for suite in suites.values():
        suite.seconds = {row.case_id: 0.0 for row in suite.rows}
    for record in records:
        unit = record.row
        found = suites.get(unit.agent)
        if found is None or unit.case_id not in found.seconds:
            continue
        found.seconds[unit.case_id] += unit.duration_ms / 1000
        if unit.status != "pass" and found.room > 0:
            _keep_proofs(found, record)
    return suites


def _keep_proofs(suite: _Suite, record: UnitRecord) -> None:
    unit = record.row
    for token, hit in unit.token_hits.items():
        if hit is None:
            continue
        place = f"tier {hit.tier}, {hit.source_detail}"
        line = f"{unit.case_id} trial {unit.trial}: {token} ({place}): {hit.proof_line}"
        kept = printable(line)[:_LONGEST_LINE]
        if len(kept) > suite.room:
            suite.room = 0
            suite.proofs.append("more is in results.json")
            return
        suite.room -= len(kept)
        suite.proofs.append(kept)


def _judge(row: DeltaEntry) -> Verdict:
    if row.gates:
        return "failure"
    if row.kind is DeltaKind.INFRA:
        return "error"
    return "skipped" if row.got in {None, Status.INFRA_ERROR} else "passed"


def _is_red(row: DeltaEntry) -> bool:
    return _judge(row) in {"failure", "error"}


def _suite(delta: Delta, suite: _Suite, number: int, place: RunLinks) -> Iterator[str]:
    verdicts = [_judge(row) for row in suite.rows]
    yield _open_suite(delta, suite.agent, number, verdicts, seconds=sum(suite.seconds.values()))
    yield _properties(_suite_facts(delta, suite.agent, place))
    for row, verdict in zip(suite.rows, verdicts, strict=True):
        yield _case(delta, row, verdict, suite.seconds[row.case_id])
    yield _close_suite("\n".join(suite.proofs))


def _gate_suite(delta: Delta, number: int) -> Iterator[str]:
    yield _open_suite(delta, "routing gate", number, ["failure"], seconds=0)
    yield _properties({})
    reasons = [printable(reason) for reason in delta.reasons]
    yield (
        '    <testcase name="conclusion" classname="routing gate" time="0.000">\n'
        f'      <failure type="GATE" message={_attribute("; ".join(reasons))}>'
        f"{_text(chr(10).join(reasons))}</failure>\n    </testcase>\n"
    )
    yield _close_suite("")


def _open_suite(
    delta: Delta, name: str, number: int, verdicts: Sequence[Verdict], *, seconds: float
) -> str:
    # The first schema wants a time without a zone, and a host.
    return (
        f"  <testsuite name={_name(name)} package={_name(name)} "
        f'id="{number}" timestamp="{delta.generated_at_utc[:19]}" hostname="localhost" '
        f'tests="{len(verdicts)}" failures="{verdicts.count("failure")}" '
        f'errors="{verdicts.count("error")}" skipped="{verdicts.count("skipped")}" '
        f'time="{seconds:.3f}">\n'
    )


def _close_suite(proofs: str) -> str:
    return f"    <system-out>{_text(proofs)}</system-out>\n    <system-err/>\n  </testsuite>\n"


def _suite_facts(delta: Delta, agent: str, place: RunLinks) -> dict[str, str]:
    facts = {
        "cases_file": delta.cases_file,
        "commit": delta.commit or "",
        "baseline": delta.baseline.path,
        "baseline_commit": delta.baseline.commit or "",
        "cli_version": ", ".join(delta.totals.cli_versions.get(agent, ())),
        "model": ", ".join(delta.totals.models.get(agent, ())),
        "workflow_run": place.run_url,
    }
    return {name: value for name, value in facts.items() if value}


def _properties(facts: dict[str, str]) -> str:
    if not facts:
        return "    <properties/>\n"
    lines = (
        f"      <property name={_attribute(name)} value={_attribute(value)}/>\n"
        for name, value in facts.items()
    )
    return f"    <properties>\n{''.join(lines)}    </properties>\n"


def _case(delta: Delta, row: DeltaEntry, verdict: Verdict, seconds: float) -> str:
    head = (
        f"    <testcase name={_name(row.case_id)} "
        f'classname={_name(f"routing.{row.agent}")} time="{seconds:.3f}"'
    )
    if verdict == "passed":
        return f"{head}/>\n"
    message = f"message={_attribute(f'{row.kind.value}: {row.why}')}"
    if verdict == "skipped":
        return f"{head}>\n      <skipped {message}/>\n    </testcase>\n"
    kind = row.failure_kind if verdict == "error" and row.failure_kind else row.kind.value
    body = _text("\n".join(_explain(delta, row)))
    return (
        f"{head}>\n      <{verdict} type={_attribute(kind)} {message}>"
        f"{body}</{verdict}>\n    </testcase>\n"
    )


def _explain(delta: Delta, row: DeltaEntry) -> Iterator[str]:
    """Lines for a person: where the case stands, what was found, and how to run it again."""
    place = f"{delta.cases_file}:{row.line}" if row.line else delta.cases_file
    was, got = (status.value if status else "nothing" for status in (row.was, row.got))
    yield f"{place}: {row.kind.value}: {row.why}"
    yield f"expected {was}, got {got}"
    found = {
        "failure": row.failure_kind or "",
        "error": row.error or "",
        "missing": ", ".join(row.missing_evidence),
        "refused": ", ".join(row.disallowed_hits),
        "loaded": ", ".join(row.loaded_skills),
        "not alike": "; ".join(row.not_alike),
    }
    yield from (f"{name}: {text}" for name, text in found.items() if text)
    for proof in row.proofs:
        place = f"tier {proof.tier}, {proof.source_detail}"
        yield f"{proof.token} ({place}): {proof.proof_line[:_LONGEST_LINE]}"
    if find_remedy(row.failure_kind):
        yield f"mend: {find_remedy(row.failure_kind)}"
    if row.got is not None:
        yield f"run again: {rerun_command(delta, row)}"


def _name(text: str) -> str:
    """A name that the first schema takes: a token, which is never empty."""
    return _attribute(text.strip() or "-")


def _attribute(text: str) -> str:
    return quoteattr(_plain(text)[:_LONGEST_LINE])


def _text(text: str) -> str:
    return escape("\n".join(map(_plain, text.split("\n"))))


def _plain(text: str) -> str:
    """One line of what XML 1.0 can hold: what it has no way to write is named by `printable`."""
    return text if text.isprintable() else printable(text)
