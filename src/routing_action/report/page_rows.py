"""One row of a delta as a template is given it: what was wanted, what came instead, what to do."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from routing_action.corpus.baseline import Status
from routing_action.corpus.naming import bare_name, skill_key
from routing_action.evidence.chance import Record
from routing_action.evidence.outcome import Outcome
from routing_action.evidence.verdict import FailureKind
from routing_action.gate.model import Delta, DeltaEntry, DeltaSkill
from routing_action.gate.rules import DeltaKind
from routing_action.github.publication import RunLinks
from routing_action.report.causes import describe_group, group_rows, list_taken
from routing_action.report.differences import draw_diff
from routing_action.report.escape import cut, excerpt
from routing_action.report.reasons import (
    Told,
    describe_before,
    index_passing,
    list_noise,
    list_proofs,
    list_takers,
    list_wanted,
    say,
)
from routing_action.report.remedies import build_fix
from routing_action.report.steps import (
    MOST_IN_COMMAND,
    accept_rows,
    can_accept,
    describe_acceptance,
    rerun_commands,
)
from routing_action.report.suspects import describe_rest, list_suspects
from routing_action.report.view import find_word
from routing_action.results.past.trends import draw_levels

Values: TypeAlias = dict[str, Any]
"""Values by the names that templates know them by."""

_MOST_TOKENS = 6
_MOST_PROOFS = 3
_PROOF_WIDTH = 400
_GLIMPSE_WIDTH = 48
_MOST_PAST = 5
_PURPOSE_WIDTH = 240
_DIFF_WIDTH = 600
_KINDS = {kind.value for kind in (*FailureKind, *Outcome)}
_MARKS = {DeltaKind.IMPROVEMENT: "🟢", DeltaKind.NEW: "🔵", DeltaKind.REMOVED: "⚪"}
_TO_DECLARE = (DeltaKind.NEW, DeltaKind.UNDECLARED)
_LOST = (DeltaKind.MISSING, DeltaKind.UNMEASURED)
_Skills: TypeAlias = Mapping[tuple[str, str], DeltaSkill]


def build_rows(delta: Delta, rows: Sequence[DeltaEntry], place: RunLinks) -> list[Values]:
    """Some rows of a delta with their commands and addresses, in the given order.

    Rows that say the same for the same cause become one, with all their cases and agents.
    """
    passing = index_passing(delta)
    skills = {
        (agent, skill_key(skill.name)): skill
        for skill in reversed(delta.skills)
        for agent in skill.agents
    }
    return [
        _row(delta, group, place, passing.get(group[0].case_id, []), skills)
        | _commands(delta, group, place)
        for group in group_rows(delta, rows)
    ]


def _row(
    delta: Delta,
    group: Sequence[DeltaEntry],
    place: RunLinks,
    passing: Sequence[str],
    skills: _Skills,
) -> Values:
    """The fields of the first row and more; texts are empty where there is nothing to say.

    `cases` and `agents` are those of all rows; `taken` are the prompts that one skill took. `mark`
    is a sign to find it by. `cause`, `noise`, `changes` and `rest` are sentences: what broke,
    whether it is chance, what in this change it is about (with a `diff`), and what else can matter.
    `wanted` are the missing tokens without the files that their skills imply, `refused` what was
    used though disallowed, `others` the agents that still pass a case which broke here. `subagents`
    are those of `loaded` that a sub-agent alone has loaded. `purposes` tell the wanted skills apart
    from those that took the prompt. `past` are the last runs of the first pairs, from the history.
    """
    row = group[0]
    own = {name: "" if value is None else value for name, value in row.model_dump().items()}
    is_red_fail = row.gates and row.got is Status.FAIL and row.kind is not DeltaKind.EXPIRED
    cases = list(dict.fromkeys(one.case_id for one in group))
    noise = list_noise(row, passing) if len(cases) == 1 else ()
    return own | {
        "kind": find_word(row),
        "cases": cases,
        "agents": list(dict.fromkeys(one.agent for one in group)),
        "mark": find_mark(row),
        "cause": Told(describe_group(delta, group)),
        "taken": list_taken(delta, group),
        "noise": [Told(sentence) for sentence in noise],
        "changes": list(_changes(delta, row)) if is_red_fail else [],
        "rest": [Told(one) for one in describe_rest(delta, row)] if is_red_fail else [],
        "wanted": list_wanted(row)[:_MOST_TOKENS],
        "prompt": delta.prompts.get(row.case_id, "") if len(cases) == 1 else "",
        "refused": row.disallowed_hits[:_MOST_TOKENS],
        "loaded": row.loaded_skills[:_MOST_TOKENS],
        "subagents": row.subagent_skills,
        "purposes": list(_purposes(skills, row)) if is_red_fail else [],
        "others": passing if row.kind is DeltaKind.REGRESSION else (),
        "proofs": list(_proofs(row)),
        "not_alike": row.not_alike[:_MOST_TOKENS],
        "flaky": f"{row.passed} of {row.trials}" if row.flaky else "",
        "red_before": describe_before(row) if row.was_red else "",
        "past": list(_past(group)),
        "url": place.file_url(delta.cases_file, row.line),
        "docs_url": _docs_url(row, place),
        "word_url": find_word_url(find_word(row), place),
    }


def find_word_url(kind: DeltaKind, place: RunLinks) -> str:
    """Where a word of the delta is explained."""
    return place.docs_page(f"reference/delta-words.md#{kind.value.lower().replace(' ', '-')}")


def _past(group: Sequence[DeltaEntry]) -> Iterator[Values]:
    """What the history tells of the first pairs: their last runs as blocks, and counted."""
    for row in [one for one in group if one.history][:_MOST_PAST]:
        yield {
            "case_id": row.case_id,
            "agent": row.agent,
            "blocks": draw_levels([Record(*one) for one in row.history]),
            "runs": len(row.history),
            "passed": sum(passed for passed, _ in row.history),
            "trials": sum(trials for _, trials in row.history),
        }


def _commands(delta: Delta, group: Sequence[DeltaEntry], place: RunLinks) -> Values:
    """What to do about rows of one cause, in words and as commands for them all.

    `fix` is what to do about the failure, `remedy` the same as plain text. `acceptance` says when
    it counts to accept what was measured. `declaration` is the baseline entry that a new pair
    needs in order to be accepted, or that was removed and belongs back.
    """
    row = group[0]
    few = group[:MOST_IN_COMMAND]
    fix = build_fix(delta, row, group) if row.gates else ()
    is_new = can_accept(row) and row.kind in _TO_DECLARE
    entries = map(_declaration, few) if is_new else map(_lost_entry, few)
    return {
        "fix": Told(fix),
        "remedy": say(fix),
        "rerun": rerun_commands(delta, group) if _helps_to_rerun(row) else "",
        "accept": accept_rows(delta, group, place=place),
        "acceptance": describe_acceptance(delta, row),
        "declaration": _merge(entries),
    }


def _helps_to_rerun(row: DeltaEntry) -> bool:
    return row.kind is not DeltaKind.EXPIRED and bool(row.got or row.kind in _LOST)


def _changes(delta: Delta, row: DeltaEntry) -> Iterator[Values]:
    """What in the change the row is about; `diff` is "" where there is no text to show."""
    for suspect in list_suspects(delta, row):
        has_text = suspect.before or suspect.after
        diff = draw_diff(suspect.before, suspect.after, _DIFF_WIDTH) if has_text else ""
        yield {"sentence": Told(suspect.sentence), "diff": diff}


def _purposes(known: _Skills, row: DeltaEntry) -> Iterator[Values]:
    """What the files of the wanted skills, then of those that were used, say: when to use them."""
    wanted = dict.fromkeys(skill_key(bare_name(token)) for token in row.missing_evidence)
    used = dict.fromkeys(
        skill_key(bare_name(token)) for token in (*row.disallowed_hits, *row.loaded_skills)
    )
    found = [known[row.agent, name] for name in {**wanted, **used} if (row.agent, name) in known]
    for skill in [one for one in found if one.before is None][:_MOST_TOKENS]:
        text = cut(skill.description, _PURPOSE_WIDTH)
        yield {"name": skill.name, "wanted": skill_key(skill.name) in wanted, "text": text}


def _proofs(row: DeltaEntry) -> Iterator[Values]:
    """What was found for the skills in question: the line around it, and where it stood."""
    takers = list_takers(row)
    for proof in list_proofs(row)[:_MOST_PROOFS]:
        yield {
            "token": proof.token,
            "refused": proof.token in row.disallowed_hits,
            "loaded": proof.token in takers,
            "tier": proof.tier,
            "where": proof.source_detail,
            "text": excerpt(proof.proof_line, proof.token, _PROOF_WIDTH),
            "glimpse": excerpt(proof.proof_line, proof.token, _GLIMPSE_WIDTH),
        }


def _merge(entries: Iterable[dict[str, Values]]) -> str:
    """Baseline entries as JSON; "" where there are none."""
    merged: dict[str, Values] = {}
    for entry in entries:
        for case_id, agents in entry.items():
            merged.setdefault(case_id, {}).update(agents)
    return json.dumps(merged, ensure_ascii=False) if merged else ""


def _lost_entry(row: DeltaEntry) -> dict[str, Values]:
    """The entry to put back where the change took it from a case that stays."""
    if row.kind is not DeltaKind.REMOVED or row.got is None or row.was is None:
        return {}
    return {row.case_id: {row.agent: {"expected_status": row.was.value}}}


def _declaration(row: DeltaEntry) -> dict[str, Values]:
    """The entry that says what was measured."""
    entry: Values = {"expected_status": row.got.value if row.got else "fail"}
    if row.timed_out:
        entry["allow_timeout"] = True
    if entry["expected_status"] != Status.PASS.value or row.timed_out:
        entry["reason"] = "why"
    return {row.case_id: {row.agent: entry}}


def _docs_url(row: DeltaEntry, place: RunLinks) -> str:
    if row.failure_kind not in _KINDS:
        return ""
    return place.docs_page(f"reference/failure-kinds.md#{row.failure_kind}")


def find_mark(row: DeltaEntry) -> str:
    """Red gates, green is better, blue is new, white is gone, yellow is in doubt."""
    if row.gates:
        return "🔴"
    if row.kind is DeltaKind.OK and not (row.flaky or row.timed_out or row.not_alike):
        return "✅" if row.got is Status.PASS else "☑️"
    return _MARKS.get(row.kind, "🟡")
