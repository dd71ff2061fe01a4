"""From measured results to a better baseline: what may be written, and what is refused.

It decides; `store.baseline_text` writes. An expectation is never lowered by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
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
    REFUSED = "!"
    NOTE = "="


@dataclass(frozen=True, slots=True)
class Step:
    """What happens to one pair, in words; `entry` is what is written where anything is."""

    pair: Pair
    sign: Sign
    text: str
    entry: BaselineEntry | None = None

    @property
    def writes(self) -> bool:
        """True where the file changes."""
        return self.sign in (Sign.ADDED, Sign.CHANGED, Sign.REMOVED)


@dataclass(frozen=True, slots=True)
class Update:
    """The steps, ordered by case and provider; `errors` concern no single pair."""

    steps: tuple[Step, ...] = ()
    errors: tuple[str, ...] = ()

    @property
    def changes(self) -> dict[Pair, BaselineEntry | None]:
        """What is to be written."""
        return {step.pair: step.entry for step in self.steps if step.writes}

    @property
    def refused(self) -> bool:
        """True where something was measured that was not written."""
        return bool(self.errors) or any(step.sign is Sign.REFUSED for step in self.steps)

    def count(self, sign: Sign) -> int:
        """How many steps have a sign."""
        return sum(step.sign is sign for step in self.steps)


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
    measurement: Measurement, baseline: Baseline, wishes: Wishes, pairs: Iterable[Pair]
) -> Update:
    """The steps for the chosen pairs; nothing where the results contradict themselves."""
    if measurement.errors:
        return Update(errors=measurement.errors)
    known = replace(wishes, corpora=measurement.corpora)
    measured = measurement.list_pairs()
    steps = (
        _step(find_entry(baseline, pair), measured[pair], known)
        for pair in sorted(measured.keys() & set(pairs))
    )
    return Update(tuple(step for step in steps if step is not None))


def plan_pruning(baseline: Baseline, case_ids: frozenset[str]) -> Update:
    """Remove the entries of cases that no longer exist."""
    return Update(
        tuple(
            Step(pair, Sign.REMOVED, "the case is gone")
            for pair, _ in iterate_pairs(baseline)
            if pair[0] not in case_ids
        )
    )


def plan_removal(baseline: Baseline, agents: Iterable[str]) -> Update:
    """Remove every entry of agents that are no longer measured."""
    gone = set(agents)
    return Update(
        tuple(
            Step(pair, Sign.REMOVED, f"{pair[1]} is no longer measured")
            for pair, _ in iterate_pairs(baseline)
            if pair[1] in gone
        )
    )


def apply_changes(
    baseline: Baseline, changes: Mapping[Pair, BaselineEntry | None]
) -> dict[str, dict[str, BaselineEntry]]:
    """The baseline after the changes; cases without entries are dropped."""
    entries = {case_id: dict(agents) for case_id, agents in baseline.items()}
    for (case_id, agent), entry in changes.items():
        if entry is not None:
            entries.setdefault(case_id, {})[agent] = entry
        else:
            entries.get(case_id, {}).pop(agent, None)
    return {case_id: agents for case_id, agents in entries.items() if agents}


def _step(entry: BaselineEntry | None, measured: MeasuredPair, wishes: Wishes) -> Step | None:
    if wishes.case_ids is not None and measured.pair[0] not in wishes.case_ids:
        return _refuse(measured, "the cases file has no such case")
    if entry is None:
        return _add(measured, wishes)
    if _is_worse(entry, measured):
        return _lower(entry, measured, wishes)
    if measured.status in (entry.expected_status.value, "infra_error"):
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
        return _refuse(measured, f"{_got(measured)}, which needs --accept-regression to be added")
    entry = BaselineEntry(
        expected_status=Status(measured.status),
        allow_timeout=measured.timed_out,
        reason="" if measured.status == "pass" and not measured.timed_out else wishes.reason,
        made_with=_fingerprint(measured, wishes) if wishes.fingerprint else None,
    )
    return Step(measured.pair, Sign.ADDED, _got(measured), entry)


def _lower(entry: BaselineEntry, measured: MeasuredPair, wishes: Wishes) -> Step:
    if not wishes.accept:
        what = f"expected {entry.expected_status.value}, got {_got(measured)}"
        return _refuse(measured, f"{what}; lower it with --accept-regression --reason TEXT")
    changed = entry.model_copy(
        update={
            "expected_status": _lowered(entry, measured),
            "allow_timeout": entry.allow_timeout or measured.timed_out,
            "reason": wishes.reason,
            "made_with": _refreshed(entry, measured, wishes),
        }
    )
    return Step(measured.pair, Sign.CHANGED, _change(entry, changed), changed)


def _lowered(entry: BaselineEntry, measured: MeasuredPair) -> Status:
    """What was measured; an infra_error, or a flaky pass, says nothing against an expected fail."""
    unsure = measured.status == "infra_error" or (measured.status == "pass" and measured.flaky)
    if unsure and entry.expected_status is not Status.PASS:
        return entry.expected_status
    return Status(measured.status)


def _raise(entry: BaselineEntry, measured: MeasuredPair, wishes: Wishes) -> Step:
    """From fail or infra_error to something better: a stable measurement is enough."""
    if measured.flaky and measured.status == "pass":
        return Step(measured.pair, Sign.NOTE, f"stays {entry.expected_status.value}, as it is "
                    f"flaky: {measured.passed} of {measured.measured} trials passed")  # fmt: skip
    done_with = measured.status == "pass" and not entry.allow_timeout
    changed = entry.model_copy(
        update={
            "expected_status": Status(measured.status),
            "reason": "" if done_with else wishes.reason or entry.reason,
            "made_with": _refreshed(entry, measured, wishes),
        }
    )
    return Step(measured.pair, Sign.CHANGED, _change(entry, changed), changed)


def _confirm(entry: BaselineEntry, measured: MeasuredPair, wishes: Wishes) -> Step | None:
    """The expectation stands: at most the fingerprint is written."""
    if measured.status != entry.expected_status.value:
        return Step(measured.pair, Sign.NOTE, f"stays {entry.expected_status.value}, as it could "
                    "not be measured (infra_error)")  # fmt: skip
    if not wishes.fingerprint or measured.status == "infra_error":
        return None
    made_with = _fingerprint(measured, wishes)
    if _same_but_date(entry.made_with, made_with):
        return None
    changed = entry.model_copy(update={"made_with": made_with})
    return Step(measured.pair, Sign.CHANGED, "fingerprint", changed)


def _same_but_date(old: MadeWith | None, new: MadeWith) -> bool:
    return old is not None and old == new.model_copy(update={"recorded_on": old.recorded_on})


def _refreshed(entry: BaselineEntry, measured: MeasuredPair, wishes: Wishes) -> MadeWith | None:
    """A new fingerprint where one is asked for, or where the entry's own would now be wrong."""
    wanted = wishes.fingerprint or entry.made_with is not None
    return _fingerprint(measured, wishes) if wanted else None


def _fingerprint(measured: MeasuredPair, wishes: Wishes) -> MadeWith:
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
    return ", ".join(parts)


def _refuse(measured: MeasuredPair, why: str) -> Step:
    return Step(measured.pair, Sign.REFUSED, why)


def join_updates(updates: Iterable[Update]) -> Update:
    """Several updates as one, ordered by case and provider; a pair's last step counts."""
    steps: dict[Pair, Step] = {}
    errors: list[str] = []
    for update in updates:
        steps.update({step.pair: step for step in update.steps})
        errors += update.errors
    return Update(tuple(steps[pair] for pair in sorted(steps)), tuple(errors))


def describe_update(update: Update) -> Iterator[str]:
    """One line a step: sign, case, provider and what happens."""
    for step in update.steps:
        text = f"refused: {step.text}" if step.sign is Sign.REFUSED else step.text
        yield f"{step.sign.value} {step.pair[0]} {step.pair[1]}: {text}"
