"""Finds the skills that failed pairs are about, with what the change did to their descriptions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from routing_action.corpus.baseline import Status
from routing_action.corpus.influences import Influence
from routing_action.corpus.naming import bare_name, is_skill_file, skill_key
from routing_action.gate.model import DeltaSkill, Edit
from routing_action.gate.rules import Comparison, DeltaRow
from routing_action.results.measured import MeasuredBatch
from routing_action.results.model import OfferedSkill


def list_skills_at_stake(
    batches: Sequence[MeasuredBatch], comparison: Comparison, edits: Sequence[Edit]
) -> Iterator[DeltaSkill]:
    """The skills that were wanted or used where a pair failed, by name, each text once.

    The text is that of the batch that measured the pair; of several, that of the newest. Then those
    of them whose texts the results do not hold, as the change edits them: it removes them, or
    recordings were replayed.
    """
    every = _find_stakes(comparison.rows)
    files = {edit.path: edit for edit in edits if _is_skill(edit)}
    names = {skill_key(edit.name): edit for edit in reversed(files.values())}
    found: dict[tuple[str, str], dict[str, None]] = {}
    paths: dict[tuple[str, str], str] = {}
    offered: set[str] = set()
    known: set[tuple[str, str]] = set()
    seen: set[str] = set()
    for batch in sorted(batches, key=lambda one: one.generated_at, reverse=True):
        stakes = _find_stakes(_measured_in(batch, comparison))
        newer, gone = frozenset(known), frozenset(seen)
        seen |= {*batch.options.agents}
        for skill in batch.skills:
            keys = {skill_key(skill.name), skill_key(skill.declared_name)}
            is_newest = not gone.issuperset(skill.agents)
            offered |= keys if skill.description and is_newest else set()
            agents = [
                one
                for one in skill.agents
                if keys & stakes.get(one, set()) and (one, skill.name) not in newer
            ]
            if agents and skill.description:
                known |= {(agent, skill.name) for agent in agents}
                one = (skill.name, skill.description)
                found.setdefault(one, {}).update(dict.fromkeys(agents))
                paths.setdefault(one, _find_path(skill, names))
    for (name, description), own in sorted(found.items()):
        path = paths[name, description]
        before = _find_before(files.get(path), description)
        yield DeltaSkill(
            name=name, agents=tuple(own), description=description, path=path, before=before
        )
    wanted = set[str]().union(*every.values()) - offered
    for key, edit in sorted(names.items()):
        text = next((one for one in edit.fields if one.field == "description"), None)
        if key in wanted and (text or edit.what == "removed"):
            description = _join_words(text.after if text else "")
            yield DeltaSkill(
                name=edit.name,
                agents=(),
                description=description,
                path=edit.path,
                before=_find_before(edit, description),
            )


def _measured_in(batch: MeasuredBatch, comparison: Comparison) -> Iterator[DeltaRow]:
    pairs = {(row.case_id, row.agent) for row in batch.rows}
    return (row for row in comparison.rows if row.pair in pairs)


def _find_stakes(rows: Iterable[DeltaRow]) -> dict[str, set[str]]:
    """By agent, the names of the skills that its failed pairs wanted or used."""
    stakes: dict[str, set[str]] = {}
    for row in rows:
        if row.measured and row.measured.status is Status.FAIL:
            one = row.measured.row
            for token in (*one.missing_evidence, *one.disallowed_hits, *one.loaded_skills):
                stakes.setdefault(row.pair[1], set()).add(skill_key(bare_name(token)))
    return stakes


def _is_skill(edit: Edit) -> bool:
    return edit.influence is Influence.SKILL and is_skill_file(edit.path)


def _find_path(skill: OfferedSkill, edited: Mapping[str, Edit]) -> str:
    """The skill's file in the repository; of a staged one what is known of it."""
    if not skill.staged_from:
        return f"{skill.path}/SKILL.md"
    if PurePosixPath(skill.staged_from).is_absolute():
        return edited[skill_key(skill.name)].path if skill_key(skill.name) in edited else ""
    return f"{skill.staged_from}/SKILL.md"


def _find_before(edit: Edit | None, description: str) -> str | None:
    """The description before the change; None where it is the same, or not known."""
    if edit is None:
        return None
    if edit.what == "added":
        return ""
    texts = (one.before for one in edit.fields if one.field == "description")
    before = next(map(_join_words, texts), None)
    return None if before == description else before


def _join_words(text: str) -> str:
    return " ".join(text.split())
