"""`/routing accept`: proposes the baseline entry that accepts what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from routing_action.bot.rerun import find_unknown
from routing_action.bot.work import Answer, Work, refuse, refuse_old
from routing_action.corpus.baseline import Baseline, BaselineEntry, Status, find_entry
from routing_action.corpus.naming import fold
from routing_action.gate.baselines import parse_baseline, render_baseline
from routing_action.gate.model import Delta, DeltaEntry
from routing_action.gate.update import Sign, Step, apply_steps
from routing_action.github.proposals import (
    KnownFile,
    commit_change,
    make_patch,
    read_file,
    suggest_change,
)
from routing_action.report.steps import can_accept

_LONGEST_REASON = 500
_PATCH_WIDTH = 5_000  # a block shows four times as much


def accept(work: Work) -> Answer:
    """Propose the edit: as suggestions, else as a commit on the branch, else as a patch."""
    report, reason = work.find_report(), work.command.reason
    delta = report.delta
    if delta is None or report.marker is None:
        return refuse(report.problem)
    if report.marker.sha != work.head:
        return refuse_old(work, report.marker.sha)
    if len(reason) > _LONGEST_REASON or not reason.isprintable():
        return refuse("the reason is too long, or holds signs that cannot be shown")
    rows = _choose(delta, work)
    if isinstance(rows, Answer):
        return rows
    path = PurePosixPath(delta.baseline.path)
    known = None
    if not path.is_absolute() and ".." not in path.parts:
        known = read_file(work.repository, str(path), work.head)
    if known is None:
        return refuse(f"the baseline {path} cannot be read at the head of this pull request")
    entries = parse_baseline(known.text.encode(), known.path)
    steps = list(_plan(entries, rows, reason))
    text = render_baseline(apply_steps(entries, steps))
    if text == known.text or not steps:
        return refuse("the baseline of this pull request holds this already; it counts when merged")
    return _propose(work, known, text, steps)


def _choose(delta: Delta, work: Work) -> Sequence[DeltaEntry] | Answer:
    """The rows that can be accepted; what is wrong with the names, or that there is nothing."""
    command = work.command
    if refusal := find_unknown(command, [(row.case_id, row.agent) for row in delta.rows]):
        return refuse(refusal)
    cases, agents = set(map(fold, command.case_ids)), set(map(fold, command.agents))
    rows = [
        row
        for row in delta.rows
        if fold(row.case_id) in cases
        and (not agents or fold(row.agent) in agents)
        and can_accept(row)
    ]
    if not rows:
        return refuse("there is nothing to accept: what was named is as expected or not measured")
    return rows


def _plan(entries: Baseline, rows: Sequence[DeltaEntry], reason: str) -> Sequence[Step]:
    """The entries that say what was measured."""
    steps = []
    for row in rows:
        old = find_entry(entries, (row.case_id, row.agent))
        status = row.got or Status.FAIL
        is_plain = status is Status.PASS and not row.timed_out
        entry = BaselineEntry(
            expected_status=status,
            allow_timeout=row.timed_out or (old is not None and old.allow_timeout),
            reason="" if is_plain else reason,
            made_with=old.made_with if old and is_plain else None,
        )
        if entry != old:
            sign = Sign.CHANGED if old else Sign.ADDED
            before = f"{old.expected_status.value} → " if old else ""
            late = ", may time out" if entry.allow_timeout else ""
            pair = (row.case_id, row.agent)
            steps.append(Step(pair, sign, f"{before}{status.value}{late}", entry))
    return steps


def _propose(work: Work, known: KnownFile, text: str, steps: Sequence[Step]) -> Answer:
    told = [{"case_id": s.pair[0], "agent": s.pair[1], "text": s.text} for s in steps]
    values = {"path": known.path, "steps": told, "urls": (), "commit": "", "patch": ""}
    urls = suggest_change(work.repository, work.pull, known, text, "Accept what was measured:")
    if urls:
        return Answer("accept", {**values, "urls": urls})
    url = ""
    if not work.is_fork:
        names = ", ".join(dict.fromkeys(step.pair[0] for step in steps))
        message = f"Accept the routing of {names}"[:72] + f"\n\n{work.command.reason}\n"
        url = commit_change(work.repository, work.pull.head.ref, known, text, message)
    if url:
        return Answer("accept", {**values, "commit": url})
    return Answer("accept", {**values, "patch": make_patch(known, text)}, width=_PATCH_WIDTH)
