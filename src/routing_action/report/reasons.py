"""What is said of a row, in sentences that all views share: what broke, and whether it is noise.

A sentence is a tuple of pieces, so that each view can make safe, and set apart, what is not ours.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TypeAlias

from routing_action.corpus.baseline import Status
from routing_action.corpus.naming import bare_name, skill_key
from routing_action.evidence.chance_sequence import PRIOR
from routing_action.gate.left_out import name_times
from routing_action.gate.model import Delta, DeltaChance, DeltaEntry, DeltaProof, DeltaSkill
from routing_action.gate.rules import DeltaKind
from routing_action.report.escape import cut, printable

MOST_NAMES = 6
_LONGEST_NAME = 200
_LONGEST_PROSE = 4000


class Name(str):
    """A skill, an agent, a path, a prompt: a text from outside that is quoted as it is."""

    __slots__ = ()


class Prose(str):
    """Words from outside, or of the gate, that hold names."""

    __slots__ = ()


Sentence: TypeAlias = tuple[str, ...]
"""Pieces in order; a piece that is neither a `Name` nor `Prose` is ours. Empty: nothing to say."""


class Told(tuple[str, ...]):
    """A sentence that was made here: a template prints the words that are ours as they are."""

    __slots__ = ()


def say(sentence: Sentence) -> str:
    """The sentence as one line of plain text."""
    return "".join(printable(piece) for piece in sentence)


def name_all(names: Iterable[str], most: int = MOST_NAMES) -> Sentence:
    """Names side by side, the first ones of many."""
    known = list(names)
    shown = [Name(cut(name, _LONGEST_NAME)) for name in known[:most]]
    more = (f" and {len(known) - most} more",) if len(known) > most else ()
    return (*join(((name,) for name in shown), ", "), *more)


def join(parts: Iterable[Sentence], between: str) -> Sentence:
    """Parts side by side; what says nothing is left out."""
    listed = [part for part in parts if part]
    return tuple(
        chain.from_iterable((between, *part) if n else part for n, part in enumerate(listed))
    )


# --- what broke


def list_wanted(row: DeltaEntry) -> tuple[str, ...]:
    """The missing tokens; a skill's own file says nothing more than the skill."""
    files = {f"{token}/SKILL.md" for token in row.missing_evidence}
    return tuple(token for token in row.missing_evidence if token not in files)


def list_takers(row: DeltaEntry) -> tuple[str, ...]:
    """The skills that took the prompt though they should not: disallowed ones, or other ones."""
    wanted = {skill_key(token) for token in row.missing_evidence}
    loaded = [name for name in row.loaded_skills if skill_key(name) not in wanted]
    return tuple(dict.fromkeys((*row.disallowed_hits, *loaded)))


def list_proofs(row: DeltaEntry) -> list[DeltaProof]:
    """What was found for the skills that took the prompt, then for what was wanted."""
    tokens = (*list_takers(row), *list_wanted(row))
    proofs = {proof.token: proof for proof in reversed(row.proofs)}
    return [proofs[token] for token in tokens if token in proofs]


def find_skill(delta: Delta, agent: str, token: str) -> DeltaSkill | None:
    """What is known of a skill that an agent was offered, or that the change removed."""
    key = skill_key(bare_name(token))
    named = [one for one in delta.skills if skill_key(one.name) == key]
    return next((one for one in named if agent in one.agents or not one.agents), None)


def describe_cause(row: DeltaEntry) -> Sentence:
    """What was wanted and what came instead, or what else happened."""
    wanted = list_wanted(row)
    if row.kind is DeltaKind.EXPIRED:
        return (Prose(cut(row.why, _LONGEST_PROSE)), f"; this run: {_count_passed(row)}")
    if row.got is Status.INFRA_ERROR:
        kind = (": ", Name(cut(row.failure_kind, _LONGEST_NAME))) if row.failure_kind else ()
        return ("could not be measured", *kind)
    if row.got is Status.FAIL and row.disallowed_hits:
        used = ("wanted ", *name_all(wanted), ", got ") if wanted else ("used ",)
        return (*used, *name_all(row.disallowed_hits), ", which is disallowed")
    if row.timed_out:
        return ("timed out before ", *name_all(wanted), " was loaded") if wanted else ("timed out",)
    if row.got is Status.FAIL and wanted:
        return ("wanted ", *name_all(wanted), ", got ", *_name_loaded(row))
    if row.kind is DeltaKind.UNDECLARED:
        return ("has results, but no baseline entry",)
    if row.kind is DeltaKind.IMPROVEMENT:
        return ("passes now", ", which this change locks in" if row.accepted else ": lock it in")
    return (Prose(cut(row.why, _LONGEST_PROSE)),)


def _count_passed(row: DeltaEntry) -> str:
    trials = row.trials or 0
    measured = trials if row.measured is None else row.measured
    return f"{row.passed or 0} of {measured} passed" if measured else "not measured"


def _name_loaded(row: DeltaEntry) -> Sentence:
    """The skills that were loaded, and which of them a sub-agent alone has loaded."""
    if not row.loaded_skills:
        return ("no skill",)
    names = (
        (Name(cut(name, _LONGEST_NAME)), " (in a sub-agent)")
        if name in row.subagent_skills
        else (Name(cut(name, _LONGEST_NAME)),)
        for name in row.loaded_skills[:MOST_NAMES]
    )
    return join(names, ", ")


# --- whether it is noise


def list_noise(row: DeltaEntry, passing: Sequence[str]) -> Iterator[Sentence]:
    """Trials, earlier attempts, other agents, another CLI: what tells chance from a cause.

    `passing` are the agents that pass the case; see `index_passing`.
    """
    if trials := describe_trials(row):
        yield (trials,)
    if row.kind is DeltaKind.NOT_PROVEN:
        yield ("you may merge; a smaller fall is possible, so watch its history",)
    if row.kind is DeltaKind.REGRESSION and row.history and row.chance is None:
        yield (_describe_past(row),)
    if row.was_red:
        yield ("red before: ", describe_before(row))
    if row.kind is DeltaKind.REGRESSION and passing:
        yield ("only here: passes on ", *name_all(passing))
    if row.stale:
        yield ("stale: ", Prose(cut(row.stale, _LONGEST_NAME)))
    for note in row.not_alike[:MOST_NAMES]:
        yield ("not comparable: ", Prose(cut(note, _LONGEST_NAME)))


def _describe_past(row: DeltaEntry) -> str:
    """How often it passed before, and why nothing tells a fall from chance."""
    passes, trials = (sum(numbers) for numbers in zip(*row.history, strict=True))
    again = "run with --confirm auto and this --history to tell a fall from chance"
    lost = "this time it was not run to an end"
    return f"before: {passes} of {trials}; {lost if row.got is Status.INFRA_ERROR else again}"


def describe_trials(row: DeltaEntry) -> str:
    """`failed 3 of 3`, `failed 1 of 1: measured once`, `flaky: 1 of 3 passed`, or by its chance.

    "" where a single trial passed or none counts.
    """
    trials, passed = row.trials or 0, row.passed or 0
    measured = trials if row.measured is None else row.measured
    lost = f", {trials - measured} not measured" if trials > measured else ""
    is_measured = row.got in (Status.PASS, Status.FAIL) and measured
    is_said = row.kind is DeltaKind.EXPIRED
    if is_said or not is_measured or (row.got is Status.PASS and trials == 1):
        return ""
    if row.chance is not None:
        return f"{describe_chance(row.chance)}{lost}"
    if row.flaky:
        return f"flaky: {passed} of {measured} passed{lost}"
    if row.got is Status.PASS:
        return f"passed {passed} of {measured}{lost}"
    once = ": measured once" if measured == 1 else ""
    return f"failed {measured - passed} of {measured}{once}{lost}"


def describe_chance(chance: DeltaChance) -> str:
    """`failed 4 of 4; before: 29 of 30; an unchanged pair does this once in 160,000 runs`."""
    if chance.declared_rate is not None:
        before = f"declared to pass {chance.declared_rate:.0%} of runs"
    elif chance.before_trials:
        before = f"before: {chance.before_passes} of {chance.before_trials}"
    else:
        before = f"before: not known, taken as {PRIOR.rate:.0%}"
    open_ = {"open": "; not run to a decision", "no rate": "; passes too seldom to be tested"}
    return (
        f"failed {chance.failed} of {chance.measured}; {before}; an unchanged pair does this "
        f"{describe_odds(chance.odds)}{open_.get(chance.finding, '')}"
    )


def describe_odds(odds: float) -> str:
    """`once in 160,000 runs`, of two digits that count."""
    if odds > 0.5:
        return "in most runs"
    if odds < 1e-9:
        return "less than once in 1,000,000,000 runs"
    runs = 1 / odds
    digits = max(0, math.floor(math.log10(runs)) - 1)
    return f"once in {round(runs, -digits):,.0f} runs"


def describe_before(row: DeltaEntry) -> str:
    """The earlier attempts of the run, and the other runs, in which the pair was red."""
    return name_times((*row.red_in_runs, *row.red_before))


def index_passing(delta: Delta) -> dict[str, list[str]]:
    """By its id, the agents that pass a case without being red."""
    passing: dict[str, list[str]] = {}
    for row in delta.rows:
        if row.got is Status.PASS and not row.gates:
            passing.setdefault(row.case_id, []).append(row.agent)
    return passing
