"""Finds what in a change can have moved a pair, and whether its result is noise."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from routing_action.corpus.baseline import Status
from routing_action.corpus.influences import MOVES_PROMPTS, Influence
from routing_action.corpus.naming import bare_name, is_file_token, is_skill_file, skill_key
from routing_action.corpus.units import DEFAULT_TIMEOUT_SECONDS
from routing_action.gate.model import UNKNOWN, Delta, DeltaEntry, Edit, FieldEdit
from routing_action.gate.rules import DeltaKind
from routing_action.report.reasons import (
    Name,
    Sentence,
    find_skill,
    join,
    list_takers,
    list_wanted,
    name_all,
)

_MOST_SKILLS = 4
_MOST_OTHERS = 3
_MOST_FIELDS = 10


@dataclass(frozen=True, slots=True)
class Suspect:
    """Something that a row is about and that the change edits.

    `before` and `after` are its text, both "" where the sentence says it all.
    """

    sentence: Sentence
    before: str = ""
    after: str = ""
    is_of_skill: bool = True


def list_suspects(delta: Delta, row: DeltaEntry) -> Iterator[Suspect]:
    """The skill that took the prompt, the one that should have, and the case, where edited."""
    if row.got is None or row.kind is DeltaKind.EXPIRED:  # a date made it red, no edit
        return
    for token in _list_skills(row):
        if (suspect := _suspect_skill(delta, row, token)) is not None:
            yield suspect
    for edit in delta.edits:
        if edit.influence is Influence.CASES and edit.name == row.case_id and edit.fields:
            yield from _suspect_case(edit, row)


def describe_rest(delta: Delta, row: DeltaEntry) -> Iterator[Sentence]:
    """The skills that the change leaves alone, and what it edits that can move any prompt."""
    if row.got is None or row.kind is DeltaKind.EXPIRED:
        return
    names = _list_skills(row)
    untouched = [name for name in names if _suspect_skill(delta, row, name) is None]
    if untouched and delta.edits_known:
        yield _name_untouched(untouched)
    own = {skill_key(bare_name(name)) for name in names}
    others = dict.fromkeys(edit.path for edit in delta.edits if _is_other(edit, own))
    if others:
        yield ("It also edits ", *name_all(others, _MOST_OTHERS), ", which can move any prompt")


def _name_untouched(names: list[str]) -> Sentence:
    quoted = [(Name(name),) for name in names]
    if len(quoted) == 1:
        return ("This change does not edit ", *quoted[0])
    return ("This change edits neither ", *join(quoted, " nor "))


def _list_skills(row: DeltaEntry) -> list[str]:
    """Those that took the prompt first: most misroutes are of their making."""
    wanted = [token for token in list_wanted(row) if not is_file_token(token)]
    return [*dict.fromkeys((*list_takers(row), *wanted))][:_MOST_SKILLS]


def _suspect_skill(delta: Delta, row: DeltaEntry, token: str) -> Suspect | None:
    skill = find_skill(delta, row.agent, token)
    if skill is not None and skill.before is not None:
        return _show(skill.name, skill.path, skill.before, skill.description)
    key = skill_key(bare_name(token))
    edits = [one for one in delta.edits if _is_skill(one) and skill_key(one.name) == key]
    edit = next((one for one in edits if _find_description(one)), next(iter(edits), None))
    if edit is None:
        return None
    if edit.path_before:
        return Suspect(("This change renames ", Name(edit.path_before), " to ", Name(edit.path)))
    if text := _find_description(edit):
        return _show(token, edit.path, text.before, text.after)
    verb = "removes" if edit.what == "removed" and is_skill_file(edit.path) else "edits"
    kept = ", but not its description" if all(map(_keeps_description, edits)) else ""
    return Suspect((f"This change {verb} ", Name(token), " (", Name(edit.path), ")", kept))


def _show(name: str, path: str, before: str, after: str) -> Suspect:
    what = "edits the description of" if before and after else "adds" if after else "removes"
    return Suspect((f"This change {what} ", Name(name), " (", Name(path), ")"), before, after)


def _find_description(edit: Edit) -> FieldEdit | None:
    return next((one for one in edit.fields if one.field == "description"), None)


def _keeps_description(edit: Edit) -> bool:
    """Whether it is known that agents read the same description as before."""
    if not is_skill_file(edit.path):
        return True
    is_whole = edit.what == "edited" and edit.summary != UNKNOWN
    return is_whole and not any(one.field.startswith("frontmatter ") for one in edit.fields)


def _suspect_case(edit: Edit, row: DeltaEntry) -> Iterator[Suspect]:
    """A new case is no suspect: its row says that it is new."""
    if row.kind in (DeltaKind.NEW, DeltaKind.UNDECLARED) and edit.what == "added":
        return
    fields = edit.fields[:_MOST_FIELDS]
    before, after = (
        "\n".join(f"{one.field}: {text}" for one in fields if (text := getattr(one, side)))
        for side in ("before", "after")
    )
    yield Suspect(("This change edits the case",), before, after, is_of_skill=False)


def _is_skill(edit: Edit) -> bool:
    return edit.influence is Influence.SKILL


def _is_other(edit: Edit, skills: set[str]) -> bool:
    """Whether it can move prompts, beside the case and the skills that are spoken of already."""
    if edit.influence not in MOVES_PROMPTS or edit.influence is Influence.CASES:
        return False
    return not (_is_skill(edit) and skill_key(edit.name) in skills)


# --- noise

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
    if row.history or (row.chance is not None and row.chance.finding == "worse"):
        return False  # what is known of its past tells, not a guess
    if " --confirm auto" in delta.run_commands.get(row.agent, ""):
        return False  # it ran, and runs again, as often as tells that
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
