"""One row of a delta as a template is given it: what was wanted, what came instead, what to do."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from routing_action.corpus.baseline import Status
from routing_action.corpus.naming import bare_name, skill_key
from routing_action.evidence.outcome import Outcome
from routing_action.evidence.verdict import FailureKind
from routing_action.gate.model import Delta, DeltaEntry, DeltaSkill
from routing_action.gate.rules import DeltaKind
from routing_action.github.publication import RunLinks
from routing_action.report.escape import cut, excerpt
from routing_action.report.reasons import describe_before, index_passing, list_wanted
from routing_action.report.remedies import find_fix
from routing_action.report.view import (
    accept_command,
    can_accept,
    rerun_command,
)

Values: TypeAlias = dict[str, Any]
"""Values by the names that templates know them by."""

_MOST_TOKENS = 6
_MOST_PROOFS = 3
_PROOF_WIDTH = 400
_GLIMPSE_WIDTH = 48
_PURPOSE_WIDTH = 240
_KINDS = {kind.value for kind in (*FailureKind, *Outcome)}
_MARKS = {DeltaKind.IMPROVEMENT: "🟢", DeltaKind.NEW: "🔵", DeltaKind.REMOVED: "⚪"}
_TO_DECLARE = (DeltaKind.NEW, DeltaKind.UNDECLARED)
_LOST = (DeltaKind.MISSING, DeltaKind.UNMEASURED)
_SAME = ("case_id", "kind", "was", "got", "why", "flaky", "red_before", "not_alike", "error")
_Skills: TypeAlias = Mapping[tuple[str, str], DeltaSkill]


def build_rows(delta: Delta, rows: Sequence[DeltaEntry], place: RunLinks) -> list[Values]:
    """Some rows of a delta with their commands and addresses, in the given order.

    Rows of one case that read the same on several agents without being red become one.
    """
    passing = index_passing(delta)
    skills = {
        (agent, skill_key(skill.name)): skill
        for skill in reversed(delta.skills)
        for agent in skill.agents
    }
    groups: dict[object, Values] = {}
    for row in rows:
        built = _row(delta, row, place, passing.get(row.case_id, []), skills)
        key = (row.case_id, row.agent) if row.gates else tuple(built[name] for name in _SAME)
        groups.setdefault(key, built | {"agents": []})["agents"].append(row.agent)
    return list(groups.values())


def _row(
    delta: Delta, row: DeltaEntry, place: RunLinks, passing: Sequence[str], skills: _Skills
) -> Values:
    """The row's own fields and more; texts are empty where there is nothing to say.

    `mark` is a sign to find it by. `wanted` are the missing tokens without the files that their
    skills imply, `refused` what was used though disallowed, `others` the agents that still pass a
    case which broke here. `subagents` are those of `loaded` that a sub-agent alone has loaded.
    `purposes` tell the wanted skills apart from those that took the prompt. `remedy` is what to do
    about the failure. `declaration` is the baseline entry that a new pair needs in order to be
    accepted, or that was removed and belongs back.
    """
    is_new = can_accept(row) and row.kind in _TO_DECLARE
    own = {name: "" if value is None else value for name, value in row.model_dump().items()}
    return own | {
        "mark": find_mark(row),
        "wanted": list_wanted(row)[:_MOST_TOKENS],
        "prompt": delta.prompts.get(row.case_id, ""),
        "refused": row.disallowed_hits[:_MOST_TOKENS],
        "loaded": row.loaded_skills[:_MOST_TOKENS],
        "subagents": row.subagent_skills,
        "purposes": list(_purposes(skills, row)),
        "others": passing if row.kind is DeltaKind.REGRESSION else (),
        "proofs": list(_proofs(row)),
        "not_alike": row.not_alike[:_MOST_TOKENS],
        "flaky": f"{row.passed} of {row.trials}" if row.flaky else "",
        "red_before": describe_before(row) if row.red_before else "",
        "remedy": find_fix(delta, row) if row.gates else "",
        "rerun": rerun_command(delta, row) if row.got or row.kind in _LOST else "",
        "accept": accept_command(row),
        "declaration": _declaration(row) if is_new else _lost_entry(row),
        "url": place.file_url(delta.cases_file, row.line),
        "docs_url": _docs_url(row, place),
    }


def _purposes(known: _Skills, row: DeltaEntry) -> Iterator[Values]:
    """What the files of the wanted skills, then of those that were used, say: when to use them."""
    if not row.gates or row.got is not Status.FAIL:
        return
    wanted = dict.fromkeys(skill_key(bare_name(token)) for token in row.missing_evidence)
    used = dict.fromkeys(
        skill_key(bare_name(token)) for token in (*row.disallowed_hits, *row.loaded_skills)
    )
    found = [known[row.agent, name] for name in {**wanted, **used} if (row.agent, name) in known]
    for skill in found[:_MOST_TOKENS]:
        text = cut(skill.description, _PURPOSE_WIDTH)
        yield {"name": skill.name, "wanted": skill_key(skill.name) in wanted, "text": text}


def _proofs(row: DeltaEntry) -> Iterator[Values]:
    """What was found for a missing or disallowed token: the line around it, and where it stood."""
    tokens = (*row.disallowed_hits, *list_wanted(row))
    for proof in [proof for proof in row.proofs if proof.token in tokens][:_MOST_PROOFS]:
        yield {
            "token": proof.token,
            "refused": proof.token in row.disallowed_hits,
            "tier": proof.tier,
            "where": proof.source_detail,
            "text": excerpt(proof.proof_line, proof.token, _PROOF_WIDTH),
            "glimpse": excerpt(proof.proof_line, proof.token, _GLIMPSE_WIDTH),
        }


def _lost_entry(row: DeltaEntry) -> str:
    """The entry to put back where the change took it from a case that stays, as JSON."""
    if row.kind is not DeltaKind.REMOVED or row.got is None or row.was is None:
        return ""
    return json.dumps({row.case_id: {row.agent: {"expected_status": row.was.value}}})


def _declaration(row: DeltaEntry) -> str:
    """The entry that says what was measured, as JSON for the baseline file."""
    entry: Values = {"expected_status": row.got.value if row.got else "fail"}
    if row.timed_out:
        entry["allow_timeout"] = True
    if entry["expected_status"] != Status.PASS.value or row.timed_out:
        entry["reason"] = "why"
    return json.dumps({row.case_id: {row.agent: entry}}, ensure_ascii=False)


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
