"""Whether a red row is noise, and how it is measured again so that the result tells more."""

from __future__ import annotations

import re

from routing_action.corpus.baseline import Status
from routing_action.corpus.influences import MOVES_PROMPTS, Influence
from routing_action.corpus.naming import bare_name, skill_key
from routing_action.corpus.units import DEFAULT_TIMEOUT_SECONDS
from routing_action.gate.model import Delta, DeltaEntry
from routing_action.gate.rules import DeltaKind
from routing_action.report.reasons import find_skill, list_takers, list_wanted

_TIMEOUT = re.compile(r" --timeout-seconds (\d+(?:\.\d+)?)(?= |$)")


def find_timeout(delta: Delta, row: DeltaEntry) -> float:
    """The seconds that a run of the agent had, from the command that measures it again."""
    found = _TIMEOUT.search(delta.run_commands.get(row.agent, ""))
    return float(found[1]) if found else DEFAULT_TIMEOUT_SECONDS


def adjust_rerun(delta: Delta, row: DeltaEntry, command: str) -> str:
    """The command with what tells more: more trials of what is noise, more time for what was late.

    What a person gave of an option is replaced.
    """
    if row.timed_out and row.got is Status.FAIL:
        seconds = f" --timeout-seconds {2 * find_timeout(delta, row):.15g}"
        return f"{_TIMEOUT.sub('', command)}{seconds}"
    if is_probably_noise(delta, row):
        return f"{_TRIALS.sub('', command)} --trials {TRIALS_OF_NOISE}"
    return command


_TRIALS = re.compile(r" --trials \d+(?= |$)")
TRIALS_OF_NOISE = 5
_SURE = 3
"""So many trials that all failed are no noise."""


def is_probably_noise(delta: Delta, row: DeltaEntry) -> bool:
    """True where some trials passed, or few failed although the change touches nothing of it."""
    if row.got is not Status.FAIL or row.kind is not DeltaKind.REGRESSION or row.timed_out:
        return False
    return row.flaky or ((row.trials or 1) < _SURE and not _is_touched(delta, row))


def _is_touched(delta: Delta, row: DeltaEntry) -> bool:
    """Whether the change edits a skill of the row, its case, or what every agent reads."""
    if not delta.edits_known:
        return True
    tokens = [*list_takers(row), *list_wanted(row)]
    skills = {skill_key(bare_name(token)) for token in tokens}
    if any(
        one.before is not None for token in tokens if (one := find_skill(delta, row.agent, token))
    ):
        return True
    return any(
        skill_key(edit.name) in skills
        if edit.influence is Influence.SKILL
        else edit.name == row.case_id or edit.influence is not Influence.CASES
        for edit in delta.edits
        if edit.influence in MOVES_PROMPTS
    )
