"""From measured results to a better baseline: what may be written, and what is not.

It decides; `baselines` writes. An expectation is never lowered by itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum

from routing_action.corpus.baseline import (
    Baseline,
    BaselineEntry,
    MadeWith,
    Pair,
    Status,
    find_entry,
    iterate_pairs,
)
from routing_action.results.measured import MeasuredPair, Measurement


class Sign(StrEnum):
    """The first character of a line that tells a change."""

    ADDED = "+"
    CHANGED = "~"
    REMOVED = "-"
    REJECTED = "!"
    NOTE = "="


@dataclass(frozen=True, slots=True)
class Step:
    """What happens to one pair, in words; `entry` is what is written where anything is.

    `lowers`: it asks for less than before.
    """

    pair: Pair
    sign: Sign
    text: str
    entry: BaselineEntry | None = None
    lowers: bool = False

    def __str__(self) -> str:
        """A line: sign, case, provider and what happens."""
        rejected = "rejected: " if self.sign is Sign.REJECTED else ""
        return f"{self.sign.value} {self.pair[0]} {self.pair[1]}: {rejected}{self.text}"


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the caller allows.

    `accept` permits to lower expectations, for the `reason` that is written with them.
    `fingerprint` asks for made_with, dated `today` (YYYY-MM-DD). `case_ids` are the cases that
    exist, None where that is not known.
    """

    reason: str = ""
    accept: bool = False
    fingerprint: bool = False
    today: str = ""
    case_ids: frozenset[str] | None = None
    corpora: frozenset[str] = field(default_factory=frozenset)


def plan_update(
    measurement: Measurement, baseline: Baseline, wishes: Wishes, pairs: Collection[Pair]
) -> list[Step]:
    """The steps for the chosen pairs; nothing is written of one that was measured too early."""
    known = replace(wishes, corpora=measurement.corpora)
    steps = []
    for pair in measurement.pairs.keys() & set(pairs):
        step = _step(find_entry(baseline, pair), measurement.pairs[pair], known)
        if step is not None and step.entry is not None and pair in measurement.stale:
            step = Step(pair, Sign.REJECTED, f"{measurement.stale[pair]}; run it again")
        if step is not None:
            steps.append(step)
    return steps


def plan_removal(
    baseline: Baseline, case_ids: frozenset[str] | None, agents: Collection[str]
) -> list[Step]:
    """Remove the entries of agents, and of cases that are not in `case_ids` (None: all are)."""
    steps = []
    for pair, _ in iterate_pairs(baseline):
        if case_ids is not None and pair[0] not in case_ids:
            steps.append(Step(pair, Sign.REMOVED, "the case is gone"))
        elif pair[1] in agents:
            steps.append(Step(pair, Sign.REMOVED, f"{pair[1]} is no longer measured"))
    return steps


def apply_steps(baseline: Baseline, steps: Iterable[Step]) -> dict[str, dict[str, BaselineEntry]]:
    """The baseline after the steps; cases without entries are dropped."""
    entries = {case_id: dict(agents) for case_id, agents in baseline.items()}
    for step in steps:
        case_id, agent = step.pair
        if step.entry is not None:
            entries.setdefault(case_id, {})[agent] = step.entry
        elif step.sign is Sign.REMOVED:
            entries.get(case_id, {}).pop(agent, None)
    return {case_id: agents for case_id, agents in entries.items() if agents}


def _step(entry: BaselineEntry | None, measured: MeasuredPair, wishes: Wishes) -> Step | None:
    if wishes.case_ids is not None and measured.pair[0] not in wishes.case_ids:
        return Step(measured.pair, Sign.REJECTED, "the cases file has no such case")
    if entry is None:
        return _add(measured, wishes)
    if _is_worse(entry, measured):
        return _lower(entry, measured, wishes)
    if measured.status in (entry.expected_status, Status.INFRA_ERROR):
        return _confirm(entry, measured, wishes)
    return _raise(entry, measured, wishes)


def _is_worse(entry: BaselineEntry, measured: MeasuredPair) -> bool:
    """True where the gate would call the measurement a regression against the entry."""
    if measured.timed_out and not entry.allow_timeout:
        return True
    return entry.expected_status is Status.PASS and measured.status != "pass"


def _add(measured: MeasuredPair, wishes: Wishes) -> Step:
    lowers = measured.status == "infra_error" or measured.timed_out
    if lowers and not wishes.accept:
        return Step(
            measured.pair,
            Sign.REJECTED,
            f"{_got(measured)}, which needs --accept-regression to be added",
        )
    entry = BaselineEntry(
        expected_status=measured.status,
        allow_timeout=measured.timed_out,
        reason="" if measured.status == "pass" and not measured.timed_out else wishes.reason,
        made_with=_made_with(measured, wishes, None),
    )
    return Step(measured.pair, Sign.ADDED, _got(measured), entry)


def _lower(entry: BaselineEntry, measured: MeasuredPair, wishes: Wishes) -> Step:
    if not wishes.accept:
        what = f"expected {entry.expected_status.value}, got {_got(measured)}"
        return Step(
            measured.pair,
            Sign.REJECTED,
            f'{what}; lower it with --accept-regression --reason "WHY"',
        )
    status = _lowered(entry, measured)
    changed = entry.model_copy(
        update={
            "expected_status": status,
            "flaky": entry.flaky if status is Status.PASS else None,
            "allow_timeout": entry.allow_timeout or measured.timed_out,
            "reason": wishes.reason,
            "made_with": _made_with(measured, wishes, entry.made_with),
        }
    )
    return Step(measured.pair, Sign.CHANGED, _change(entry, changed), changed, lowers=True)


def _lowered(entry: BaselineEntry, measured: MeasuredPair) -> Status:
    """What was measured; an infra_error, or a flaky pass, says nothing against an expected fail."""
    unsure = measured.status == "infra_error" or (measured.status == "pass" and measured.flaky)
    if unsure and entry.expected_status is not Status.PASS:
        return entry.expected_status
    return measured.status


def _raise(entry: BaselineEntry, measured: MeasuredPair, wishes: Wishes) -> Step:
    """From fail or infra_error to something better: a stable measurement is enough."""
    if measured.flaky and measured.status == "pass":
        return Step(measured.pair, Sign.NOTE, f"stays {entry.expected_status.value}, as it is "
                    f"flaky: {measured.passed} of {measured.measured} trials passed")  # fmt: skip
    done_with = measured.status == "pass" and not entry.allow_timeout
    changed = entry.model_copy(
        update={
            "expected_status": measured.status,
            "reason": "" if done_with else wishes.reason or entry.reason,
            "made_with": _made_with(measured, wishes, entry.made_with),
        }
    )
    return Step(measured.pair, Sign.CHANGED, _change(entry, changed), changed)


def _confirm(entry: BaselineEntry, measured: MeasuredPair, wishes: Wishes) -> Step | None:
    """The expectation stands: at most the fingerprint is written, though not for its date alone."""
    if measured.status is not entry.expected_status:
        return Step(measured.pair, Sign.NOTE, f"stays {entry.expected_status.value}, as it could "
                    "not be measured (infra_error)")  # fmt: skip
    if not wishes.fingerprint or measured.status is Status.INFRA_ERROR:
        return None
    old, new = entry.made_with, _made_with(measured, wishes, None)
    if old and new and old == new.model_copy(update={"recorded_on": old.recorded_on}):
        return None
    changed = entry.model_copy(update={"made_with": new})
    return Step(measured.pair, Sign.CHANGED, "fingerprint", changed)


def _made_with(measured: MeasuredPair, wishes: Wishes, old: MadeWith | None) -> MadeWith | None:
    """A fingerprint where one is asked for, or where the old one would now be wrong."""
    if old is None and not wishes.fingerprint:
        return None
    row = measured.row
    corpus = next(iter(wishes.corpora)) if len(wishes.corpora) == 1 else None
    return MadeWith(
        cli_version=_short(row.cli_version),
        model=_short(row.model),
        corpus_sha256=_short(corpus),
        recorded_on=wishes.today or None,
    )


def _short(text: str | None) -> str | None:
    """A value of a result as an entry can hold it."""
    return text[:500].strip() or None if text else None


def _got(measured: MeasuredPair) -> str:
    """What was measured, with what makes it less than certain."""
    told = []
    if measured.timed_out:
        told.append("timed out")
    if measured.status != "pass" and measured.row.failure_kind:
        told.append(measured.row.failure_kind)
    if measured.flaky:
        told.append(f"flaky: {measured.passed} of {measured.measured} trials passed")
    return f"{measured.status} ({'; '.join(told)})" if told else measured.status


def _change(old: BaselineEntry, new: BaselineEntry) -> str:
    parts = []
    if old.expected_status is not new.expected_status:
        parts.append(f"{old.expected_status.value} -> {new.expected_status.value}")
    if old.allow_timeout is not new.allow_timeout:
        parts.append("allow_timeout -> true")
    if old.flaky and not new.flaky:
        parts.append("flaky removed")
    if new.reason and old.reason != new.reason:
        parts.append(f'reason "{new.reason}"')
    return ", ".join(parts)
