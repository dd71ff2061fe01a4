"""JUnit XML of a delta, for the test views of CI systems; never the gate itself.

It keeps to what both common schemas allow: that of Apache Ant's JUnit task (Windy Road,
'JUnit.xsd') and that of Jenkins' xUnit plugin ('junit-10.xsd'). The first knows no properties of a
test case, so that the place of a case stands in the text of its failure.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator, Mapping
from typing import TextIO

from routing_action.corpus.baseline import Status
from routing_action.gate.conclusion import Conclusion
from routing_action.gate.model import Delta, DeltaEntry, DeltaLeftOut
from routing_action.gate.rules import DeltaKind
from routing_action.github.publication import RunLinks
from routing_action.report.edits import edit_lines, name_edit
from routing_action.report.escape import cut, printable
from routing_action.report.reasons import describe_before, describe_cause, describe_trials, say
from routing_action.report.steps import list_steps
from routing_action.report.view import describe_part, find_skipped
from routing_action.results.transcript_lines import UnitRecord

_MAX_OUT = 64 * 2**10
"""Characters of proof lines that a suite shows."""

_LONGEST_LINE = 2000
_NO_ROOM = "more is in results.json"


def write_junit(out: TextIO, delta: Delta, records: Iterable[UnitRecord], place: RunLinks) -> None:
    """Write a suite for each provider and a test case for each of its cases.

    A row that gates is a failure of the type of its word, an INFRA row an error; one without a
    verdict (not measured, removed, an expected infra error) is skipped, and so is a pair that was
    left out. Where the gate is red for a reason that no row carries, a suite `routing gate` says
    so. `records` give the times, which are summed over trials, and the proofs; they are read once.
    """
    seconds = {(row.agent, row.case_id): 0.0 for row in delta.rows}
    proofs: dict[str, list[str]] = {}
    for record in records:
        unit = record.row
        if (unit.agent, unit.case_id) in seconds:
            seconds[unit.agent, unit.case_id] += unit.duration_ms / 1000
            if unit.status != "pass":
                _add_proofs(proofs.setdefault(unit.agent, []), record)
    root = ET.Element("testsuites")
    _add_edits(root, delta)
    suites: dict[str, list[DeltaEntry | DeltaLeftOut]] = {}
    every: list[DeltaEntry | DeltaLeftOut] = [*delta.rows, *delta.left_out]
    for row in every:
        suites.setdefault(row.agent, []).append(row)
    for agent, rows in suites.items():
        suite = _open_suite(root, delta, agent, _suite_facts(delta, agent, place))
        _add_rows(suite, delta, rows, seconds, place)
        _close_suite(suite, (*_tell_unproven(rows), *proofs.get(agent, ())))
    red = root.findall("testsuite/testcase/failure") + root.findall("testsuite/testcase/error")
    if delta.conclusion is Conclusion.FAILURE and not red:
        suite = _open_suite(root, delta, "routing gate", {})
        case = _add_case(suite, "conclusion", "routing gate", 0)
        failure = ET.SubElement(case, "failure", message=_line("; ".join(delta.reasons)))
        failure.set("type", "GATE")
        failure.text = "\n".join(map(_line, delta.reasons))
        _close_suite(suite, ())
    ET.indent(root)
    out.write('<?xml version="1.0" encoding="UTF-8"?>\n')
    ET.ElementTree(root).write(out, encoding="unicode")
    out.write("\n")


def _add_edits(root: ET.Element, delta: Delta) -> None:
    """A suite of what the change edits, each as a case that is skipped with what it says."""
    if not (delta.edits or delta.measured_with):
        return
    suite = _open_suite(root, delta, "edits in view", {})
    for edit in delta.edits:
        case = _add_case(suite, name_edit(edit), f"edits.{edit.influence.value}", 0)
        ET.SubElement(case, "skipped", message=_line("; ".join(edit_lines(edit))))
    _close_suite(suite, [_line(f"measured with: {one}") for one in delta.measured_with])


def _add_proofs(proofs: list[str], record: UnitRecord) -> None:
    """What was found of a unit, as long as there is room for it in its suite."""
    unit = record.row
    room = _MAX_OUT - sum(map(len, proofs))
    for token, hit in unit.token_hits.items():
        if hit is None or (proofs and proofs[-1] == _NO_ROOM):
            continue
        place = f"tier {hit.tier}, {hit.source_detail}"
        line = _line(f"{unit.case_id} trial {unit.trial}: {token} ({place}): {hit.proof_line}")
        room -= len(line)
        proofs.append(line if room >= 0 else _NO_ROOM)


def _open_suite(root: ET.Element, delta: Delta, name: str, facts: Mapping[str, str]) -> ET.Element:
    names = {"name": _name(name), "package": _name(name), "id": str(len(root))}
    # The first schema wants a time without a zone, and a host.
    made = {"timestamp": delta.generated_at_utc[:19], "hostname": "localhost"}
    suite = ET.SubElement(root, "testsuite", names | made)
    properties = ET.SubElement(suite, "properties")
    for fact, value in facts.items():
        ET.SubElement(properties, "property", name=fact, value=_line(value))
    return suite


def _close_suite(suite: ET.Element, proofs: Iterable[str]) -> None:
    """Add what follows the cases, and the totals."""
    cases = suite.findall("testcase")
    suite.set("tests", str(len(cases)))
    for total, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(total, str(len(suite.findall(f"testcase/{tag}"))))
    suite.set("time", f"{sum(float(case.get('time', '0')) for case in cases):.3f}")
    ET.SubElement(suite, "system-out").text = "\n".join(proofs)
    ET.SubElement(suite, "system-err")


def _suite_facts(delta: Delta, agent: str, place: RunLinks) -> dict[str, str]:
    facts = {
        "cases_file": delta.cases_file,
        "commit": delta.commit or "",
        "baseline": delta.baseline.path,
        "baseline_commit": delta.baseline.commit or "",
        "cli_version": ", ".join(delta.totals.cli_versions.get(agent, ())),
        "model": ", ".join(delta.totals.models.get(agent, ())),
        "workflow_run": place.run_url,
        "part": describe_part(delta),
        "unverified": delta.unverified,
    }
    return {name: value for name, value in facts.items() if value}


def _add_case(suite: ET.Element, name: str, classname: str, seconds: float) -> ET.Element:
    names = {"name": _name(name), "classname": _name(classname)}
    return ET.SubElement(suite, "testcase", names, time=f"{seconds:.3f}")


def _tell_unproven(rows: Iterable[DeltaEntry | DeltaLeftOut]) -> Iterator[str]:
    """The numbers of what passes since that it got worse is not proven."""
    for row in rows:
        if isinstance(row, DeltaEntry) and row.kind is DeltaKind.NOT_PROVEN:
            yield _line(f"{row.case_id}: {row.kind.value}: {describe_trials(row)}")


def _add_rows(
    suite: ET.Element,
    delta: Delta,
    rows: Iterable[DeltaEntry | DeltaLeftOut],
    seconds: Mapping[tuple[str, str], float],
    place: RunLinks,
) -> None:
    skipped = find_skipped(delta)
    for row in rows:
        time = seconds.get((row.agent, row.case_id), 0.0)
        case = _add_case(suite, row.case_id, f"routing.{row.agent}", time)
        if isinstance(row, DeltaLeftOut):
            ET.SubElement(case, "skipped", message="left out")
        elif (row.case_id, row.agent) in skipped:
            ET.SubElement(case, "skipped", message=_line(row.error or ""))
        else:
            _add_row(case, delta, row, place)


def _add_row(case: ET.Element, delta: Delta, row: DeltaEntry, place: RunLinks) -> None:
    is_fail = row.gates and row.got is Status.FAIL
    message = _line(f"{row.kind.value}: {say(describe_cause(row)) if is_fail else row.why}")
    if row.gates or row.kind is DeltaKind.INFRA:
        found = ET.SubElement(case, "failure" if row.gates else "error", message=message)
        kind = row.kind.value if row.gates else row.failure_kind or row.kind.value
        found.set("type", _line(kind))
        found.text = "\n".join(map(printable, _explain(delta, row, place)))
    elif row.got in {None, Status.INFRA_ERROR}:
        ET.SubElement(case, "skipped", message=message)


def _explain(delta: Delta, row: DeltaEntry, links: RunLinks) -> Iterator[str]:
    """Lines for a person: where the case is, what was found, and how to run it again."""
    place = f"{delta.cases_file}:{row.line}" if row.line else delta.cases_file
    was, got = (status.value if status else "nothing" for status in (row.was, row.got))
    yield f"{place}: {row.kind.value}: {row.why}"
    is_over = row.kind is DeltaKind.EXPIRED
    yield f"expected {was}{'' if is_over else f', got {got}'}"
    if row.failure_kind and not is_over:
        yield f"failure: {row.failure_kind}"
    if row.error:
        yield f"error: {row.error}"
    yield from (f"{label}: {text}" for label, text in _list_facts(row))
    for proof in row.proofs:
        place = f"tier {proof.tier}, {proof.source_detail}"
        yield f"{proof.token} ({place}): {proof.proof_line[:_LONGEST_LINE]}"
    yield from (f"{label}: {text}" for label, text in list_steps(delta, row, place=links))


def _list_facts(row: DeltaEntry) -> Iterator[tuple[str, str]]:
    """What was found of a pair, each fact with its label."""
    if trials := describe_trials(row):
        yield "trials", trials
    if row.was_red:
        yield "red before", describe_before(row)
    found = {
        "not comparable": row.not_alike,
        "missing": row.missing_evidence,
        "used though disallowed": row.disallowed_hits,
        "loaded": row.loaded_skills,
    }
    for label, texts in found.items():
        if texts:
            yield label, ", ".join(cut(printable(text), 200) for text in texts[:10])


def _name(text: str) -> str:
    """A name that the first schema takes: a token, which is never empty."""
    return _line(text.strip() or "-")


def _line(text: str) -> str:
    """One line of what XML 1.0 can hold: what it has no way to write is named by `printable`."""
    return printable(text)[:_LONGEST_LINE]
