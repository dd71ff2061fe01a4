"""How sure it must be that a pair got worse, and what its trials say of that.

docs/explanation/how-sure.md is the source of the rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from routing_action.corpus.baseline import BaselineEntry, Flaky, Pair, Status
from routing_action.evidence.chance import Record
from routing_action.evidence.chance_sequence import SURPRISING, Finding, Sequential, believe
from routing_action.results.measured import MeasuredPair


@dataclass(frozen=True, slots=True)
class Chance:
    """What the measured trials of a pair say.

    `before` is its record, `rate` the one that its baseline entry declares in place of that. `odds`
    is the chance that of an unchanged pair at least so many of the trials fail.
    """

    finding: Finding
    failed: int
    measured: int
    before: Record
    rate: float | None
    odds: float


@dataclass(frozen=True, slots=True)
class Certainty:
    """Without `settings` the strict majority of a pair's trials decides.

    `records` is what the history knows of pairs; so many `pairs` share the chance of a false alarm.
    `today` is the date of the gate's run (YYYY-MM-DD), "" where nothing ends.
    """

    settings: Sequential | None = None
    records: Mapping[Pair, Record] = field(default_factory=dict)
    pairs: int = 1
    today: str = ""

    def has_ended(self, flaky: Flaky | None) -> bool:
        """Whether nobody is excused any more."""
        return flaky is not None and bool(self.today) and self.today > flaky.until

    def weigh(self, entry: BaselineEntry, measured: MeasuredPair) -> Chance | None:
        """What the trials say of a pair that is expected to pass; None where none failed.

        A trial that timed out although its entry does not allow that has failed. Where the finding
        is open, more trials could have been run, and were not: the majority decides. What an
        unchanged pair does often is no doubt.
        """
        if self.settings is None or entry.expected_status is not Status.PASS:
            return None
        failed = measured.list_failed(allow_timeout=entry.allow_timeout)
        if not any(failed):
            return None
        before = self.records.get(measured.pair, Record())
        stated = entry.flaky.rate if entry.flaky else None
        belief = believe(before, stated)
        odds = belief.chance(sum(failed), len(failed))
        finding = self.settings.judge(belief, self.pairs, failed)
        if finding is Finding.NOT_PROVEN and odds > SURPRISING:
            finding = Finding.SAME
        return Chance(
            finding=finding,
            failed=sum(failed),
            measured=len(failed),
            before=before,
            rate=stated,
            odds=odds,
        )
