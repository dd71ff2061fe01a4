"""By which test the gate judges: what its operator asked for, else what a person ran at a desk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from routing_action.corpus.baseline import (
    Baseline,
    Pair,
    count_passing,
    find_entry,
    iterate_pairs,
)
from routing_action.errors import RoutingActionError
from routing_action.evidence.chance_sequence import (
    DEFAULT_DETECT,
    DEFAULT_FALSE_ALARM,
    DEFAULT_MAX_CONFIRM,
    Finding,
    Sequential,
)
from routing_action.gate.baselines import find_baseline_file, has_baseline, read_baseline
from routing_action.gate.conclusion import Policy
from routing_action.gate.judging.certainty import Certainty, Chance
from routing_action.gate.wording import name_few
from routing_action.results.measured import MeasuredBatch, sum_up
from routing_action.results.model import Options, Results, UnitResult
from routing_action.results.past.history import History
from routing_action.results.past.records import read_past, read_records


@dataclass(frozen=True, slots=True)
class Settled:
    """The policy with its test, the history that it judges by, and what is to be said of both."""

    policy: Policy
    past: History
    notes: tuple[str, ...]


def settle_test(policy: Policy, past: History, batches: Sequence[MeasuredBatch]) -> Settled:
    """By what the gate judges; `past` is the history that it was given.

    A gate (one that is held to a commit) takes no setting from results, since a leg, or whoever
    wrote its artifact, could then choose how strictly it is judged. At a desk the results are the
    person's own: where all of them were run by one test and one history, these judge them.
    Raises HarnessError where that history cannot be read.
    """
    if policy.commit is not None:
        return Settled(policy, past, tuple(_tell_differences(policy.sequential, batches)))
    folders = {batch.options.history for batch in batches}
    folder = next(iter(folders)) if len(folders) == 1 and not past.lines else None
    past = read_past(Path(folder)) if folder else past
    found = dict.fromkeys(read_test(batch.options) for batch in batches)
    settings = next(iter(found)) if len(found) == 1 else None
    if policy.sequential is not None or policy.by_majority:
        return Settled(policy, past, tuple(_tell_differences(policy.sequential, batches)))
    if settings is None:
        return Settled(policy, past, tuple(_tell_mixture(batches)))
    options = "--confirm auto" if settings == Sequential() else describe_test(settings)
    options += f" --history {folder}" if folder else ""
    told = f"each pair is judged by how often it passed before, as the results were run: {options}"
    return Settled(replace(policy, sequential=settings), past, (told,))


UNPROVEN = (Finding.SAME, Finding.NOT_PROVEN)
"""What a comparison calls green, though trials failed."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """What the test of a run says of its pairs that failed, and whose flaky entry ended, and when.

    No pair is in both. `baseline` is the file of the entries that ended, "" where none did.
    """

    chances: Mapping[Pair, Chance] = field(default_factory=dict)
    ended: Mapping[Pair, str] = field(default_factory=dict)
    baseline: str = ""

    @property
    def unproven(self) -> set[Pair]:
        """The pairs of which it is not proven that they got worse."""
        return {pair for pair, chance in self.chances.items() if chance.finding in UNPROVEN}


def weigh_run(results: Results, folder: Path) -> Weighed:
    """What a comparison at a desk will say of the pairs of a run, on the day of its results.

    Nothing where it was run by no test, or `folder`, where its cases are, has no baseline to read.
    """
    test, past = read_test(results.options), results.options.history
    if test is None or not has_baseline(folder):
        return Weighed()
    with suppress(RoutingActionError):
        file = find_baseline_file(folder)
        baseline = read_baseline(file)[0]
        records = read_records(Path(past) if past else None, {results.batch_run_id})
        today = results.generated_at_utc[:10]
        certainty = Certainty(test, records, count_passing(baseline), today)
        trials: dict[Pair, list[UnitResult]] = {}
        for row in results.results:
            trials.setdefault((row.case_id, row.agent), []).append(row)
        chances, ended = {}, {}
        for pair, rows in trials.items():
            entry = find_entry(baseline, pair)
            if entry and entry.flaky and certainty.has_ended(entry.flaky):
                ended[pair] = entry.flaky.until
            elif entry and (chance := certainty.weigh(entry, sum_up(pair, rows))):
                chances[pair] = chance
        return Weighed(chances, ended, str(file) if ended else "")
    return Weighed()


def read_test(options: Options) -> Sequential | None:
    """The test that a batch was run by; None where it was another number of trials."""
    if options.confirm != "auto":
        return None
    return Sequential(
        options.detect or DEFAULT_DETECT,
        options.false_alarm or DEFAULT_FALSE_ALARM,
        options.max_confirm or DEFAULT_MAX_CONFIRM,
    )


def describe_test(test: Sequential) -> str:
    """The test as options."""
    return (
        f"--confirm auto --detect {test.detect:g} --false-alarm {test.false_alarm:g} "
        f"--max-confirm {test.max_confirm}"
    )


def _tell_mixture(batches: Sequence[MeasuredBatch]) -> Iterator[str]:
    """Why no test judges, where some batches were run by one."""
    tests = {batch.key or batch.file: read_test(batch.options) for batch in batches if batch.rows}
    if not any(tests.values()):
        return
    without = [key for key, test in tests.items() if test is None]
    verb = "was" if len(without) == 1 else "were"
    why = f"{name_few(without)} {verb} run without --confirm auto"
    other = "the results were run by several settings of --confirm auto"
    yield f"all rows are judged by the majority, because {why if without else other}"


def _tell_differences(test: Sequential | None, batches: Sequence[MeasuredBatch]) -> Iterator[str]:
    """Where legs were run by another test than the one that judges."""
    others: dict[Sequential | None, list[str]] = {}
    for batch in batches:
        if read_test(batch.options) != test and batch.rows:
            others.setdefault(read_test(batch.options), []).append(batch.key or batch.file)
    for other, keys in others.items():
        ran = describe_test(other) if other else "without --confirm auto"
        judged = describe_test(test) if test else "the majority of the trials"
        yield f"{name_few(dict.fromkeys(keys))}: run {ran}, but judged by {judged}"


def list_flaky(deciding: Baseline, test: Sequential | None, today: str) -> Iterator[str]:
    """The pairs that the deciding baseline declares flaky, and whether that counts here.

    `today` is a date (YYYY-MM-DD).
    """
    how = "judged by the rate that the baseline declares"
    without = "declared flaky, which counts with --confirm auto alone"
    found: dict[str, list[str]] = {}
    for pair, entry in iterate_pairs(deciding):
        if (flaky := entry.flaky) is not None:
            is_over = today > flaky.until
            told = f"declared flaky until {flaky.until} (over)" if is_over else ""
            rate = "" if is_over else f"{flaky.rate:g} until {flaky.until}: "
            one = f"{pair[0]} on {pair[1]} ({rate}{flaky.reason})"
            found.setdefault(told or (how if test else without), []).append(one)
    yield from (f"{told}: {name_few(named)}" for told, named in found.items())
