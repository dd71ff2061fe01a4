"""`/routing accept`: proposes the baseline entry that accepts what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from routing_action.bot.pairs import choose_pairs
from routing_action.bot.runs import is_measured
from routing_action.bot.work import Answer, Work, refuse, refuse_old
from routing_action.corpus.baseline import Baseline, BaselineEntry, Status, find_entry
from routing_action.gate.baselines import parse_baseline, render_baseline
from routing_action.gate.model import DeltaEntry
from routing_action.gate.update import Sign, Step, apply_steps
from routing_action.github.proposals import (
    Commit,
    KnownFile,
    Proposal,
    commit_change,
    find_commit,
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
    pairs = [(row.case_id, row.agent) for row in delta.rows]
    meant = {(row.case_id, row.agent) for row in delta.rows if can_accept(row)}
    chosen, fault = choose_pairs(work.command, pairs, meant.__contains__)
    if fault:
        return refuse(fault)
    if not chosen:
        return refuse("there is nothing to accept: what was named is as expected or not measured")
    rows = [row for row in delta.rows if (row.case_id, row.agent) in chosen]
    return _edit(work, PurePosixPath(delta.baseline.path), rows)


def _edit(work: Work, path: PurePosixPath, rows: Sequence[DeltaEntry]) -> Answer:
    """Propose the entries of rows, upon what the branch holds by now."""
    made = find_commit(work.repository, work.tip, work.mark) if work.is_again else None
    known = None
    if not path.is_absolute() and ".." not in path.parts:
        known = read_file(work.repository, str(path), made.parent if made else work.tip)
    if known is None:
        return refuse(f"the baseline {path} cannot be read at the head of this pull request")
    entries = parse_baseline(known.text.encode(), known.path)
    steps = list(_plan(entries, rows, work.command.reason))
    text = render_baseline(apply_steps(entries, steps))
    if text == known.text or not steps:
        return refuse("the baseline of this pull request holds this already; it counts when merged")
    return _propose(work, known, text, steps, made)


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


def _propose(
    work: Work, known: KnownFile, text: str, steps: Sequence[Step], made: Commit | None
) -> Answer:
    told = [{"case_id": s.pair[0], "agent": s.pair[1], "text": s.text} for s in steps]
    values = {"path": known.path, "steps": told, "urls": (), "commit": "", "patch": ""}
    if made is not None:
        return Answer("accept", {**values, "commit": made.url}, tip=made.sha)
    proposal = Proposal(known, text, work.mark, work.settings.authors)
    urls = suggest_change(work.repository, work.pull, proposal, is_again=work.is_again)
    if urls:
        return Answer("accept", {**values, "urls": urls})
    measured = not work.is_fork and is_measured(work)
    if not (work.is_fork or measured):
        names = ", ".join(dict.fromkeys(step.pair[0] for step in steps))
        message = f"Accept the routing of {names}"[:72] + f"\n\n{work.command.reason}\n"
        made = commit_change(work.repository, work.pull.head.ref, proposal, message)
    if made is not None:
        return Answer("accept", {**values, "commit": made.url}, tip=made.sha)
    patch = {"patch": make_patch(known, text), "measured": measured}
    return Answer("accept", {**values, **patch}, width=_PATCH_WIDTH)
