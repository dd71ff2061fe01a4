"""Judges the stored transcripts of edited cases by the cases as they were before the change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from routing_action.agents.provider import Provider, ReadContext
from routing_action.corpus.baseline import Pair, Status
from routing_action.corpus.case import Case
from routing_action.errors import RoutingActionError
from routing_action.evidence.outcome import RunEnd
from routing_action.evidence.verdict import Verdict
from routing_action.gate.edited_case import EditedCase
from routing_action.gate.edits.entries import Cases, find_edited_cases
from routing_action.results.batch_folder import TRANSCRIPTS
from routing_action.results.measured import MeasuredBatch
from routing_action.results.model import UnitResult, judge_trials
from routing_action.results.read import stream_rows
from routing_action.run.evaluate import evaluate_case, read_lines

_Earlier = tuple[Status, tuple[str, ...]]


def judge_edited_cases(
    before: Cases, after: Cases, batches: Sequence[MeasuredBatch], providers: Mapping[str, Provider]
) -> dict[str, EditedCase]:
    """The edited cases; those that ask the same with the verdict of the case as it was.

    A pair has none where a transcript is missing, or is not enough to bear out its own row.
    """
    edited = find_edited_cases(before, after)
    asked = {name for name, case in edited.items() if case.same_prompt}
    trials: dict[Pair, list[_Earlier | None]] = {}
    for batch, row in _rows(batches, asked):
        both = (before[row.case_id], after[row.case_id])
        verdict = _judge(batch, row, both, providers.get(row.agent))
        trials.setdefault((row.case_id, row.agent), []).append(verdict)
    earlier: dict[str, dict[str, _Earlier]] = {}
    for (name, agent), found in trials.items():
        known = [one for one in found if one is not None]
        if len(known) == len(found):
            status, _, _ = judge_trials([one for one, _ in known])
            missing = next((lacks for one, lacks in known if one is status), ())
            earlier.setdefault(name, {})[agent] = status, missing
    return {name: replace(case, earlier=earlier.get(name, {})) for name, case in edited.items()}


def _rows(
    batches: Sequence[MeasuredBatch], names: set[str]
) -> Iterator[tuple[MeasuredBatch, UnitResult]]:
    """The whole rows of some cases; files that hold none of them are not read again."""
    for batch in batches:
        asked = {row.unit_run_id for row in batch.rows if row.case_id in names}
        if asked:
            for _, rows in stream_rows((Path(batch.file),)):
                yield from ((batch, row) for row in rows if row.unit_run_id in asked)


def _judge(
    batch: MeasuredBatch, row: UnitResult, cases: tuple[Case, Case], provider: Provider | None
) -> _Earlier | None:
    """The verdict by the case as it was; None where the transcript does not bear out the row."""
    if row.status is Status.INFRA_ERROR:
        return row.status, ()
    if provider is None:
        return None
    try:
        was, now = (_evaluate(batch, row, case, provider) for case in cases)
    except (OSError, RoutingActionError):
        return None
    return (was.status, was.missing) if now.status is row.status else None


def _evaluate(batch: MeasuredBatch, row: UnitResult, case: Case, provider: Provider) -> Verdict:
    folder = Path(batch.file).parent / TRANSCRIPTS
    paths = [folder / f"{row.unit_run_id}.{stream}" for stream in ("stdout", "stderr")]
    if any(path.is_symlink() for path in (folder, *paths)):
        raise OSError("a link is no transcript")
    found = evaluate_case(
        provider,
        read_lines(paths[0]),
        read_lines(paths[1]),
        case,
        end=RunEnd.by(row.ended_by, row.exit_code),
        context=ReadContext(),
        count_subagents=batch.options.subagent_loads == "count",
    )
    assert found.verdict is not None, "a case was given"  # noqa: S101
    return found.verdict
