"""One row of a delta as a template is given it: what was wanted, what came instead, what to do."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from routing_action.corpus.baseline import Status
from routing_action.corpus.naming import bare_name, fold
from routing_action.evidence.outcome import Outcome
from routing_action.evidence.verdict import FailureKind
from routing_action.gate.comparison import DeltaKind
from routing_action.gate.model import Delta, DeltaEntry, DeltaSkill
from routing_action.github.publication import RunLinks
from routing_action.report.escape import cut, excerpt
from routing_action.report.remedies import find_remedy
from routing_action.report.view import accept_command, can_accept, rerun_command

_MOST_TOKENS = 6
_MOST_PROOFS = 3
_PROOF_WIDTH = 400
_GLIMPSE_WIDTH = 48
_PURPOSE_WIDTH = 240
_KINDS = {kind.value for kind in (*FailureKind, *Outcome)}
_MARKS = {
    DeltaKind.IMPROVEMENT: "🟢",
    DeltaKind.NEW: "🔵",
    DeltaKind.REMOVED: "⚪",
}
_TO_DECLARE = (DeltaKind.NEW, DeltaKind.UNDECLARED)
_Skills: TypeAlias = Mapping[tuple[str, str], DeltaSkill]
_LOST = (DeltaKind.MISSING, DeltaKind.UNMEASURED)


@dataclass(frozen=True, slots=True)
class Proof:
    """What was found for a missing or refused token: the part of the line around it, and where."""

    token: str
    refused: bool
    tier: int
    where: str
    text: str
    glimpse: str


@dataclass(frozen=True, slots=True)
class Purpose:
    """What a skill's own file says about when to use it, cut to a glance; `wanted` or used."""

    name: str
    wanted: bool
    text: str


@dataclass(frozen=True, slots=True)
class PageRow:
    """A pair, or pairs of one case that came to the very same on several agents without being red.

    `mark` is a sign to find it by; texts are empty where there is nothing to say.

    `wanted` are the missing tokens without the files that their skills imply, `refused` what was
    used though disallowed, `others` the agents that still pass a case which broke here.
    `subagents` are those of `loaded` that a sub-agent alone has loaded. `purposes` tell the wanted
    skills apart from those that took the prompt.
    `remedy` is what to do about the failure. `declaration` is the baseline entry that a new pair
    needs in order to be accepted, or that was removed and belongs back.
    """

    case_id: str
    agents: tuple[str, ...]
    kind: str
    mark: str
    gates: bool
    was: str
    got: str
    why: str
    failure_kind: str
    wanted: tuple[str, ...]
    refused: tuple[str, ...]
    loaded: tuple[str, ...]
    subagents: tuple[str, ...]
    purposes: tuple[Purpose, ...]
    others: tuple[str, ...]
    proofs: tuple[Proof, ...]
    error: str
    prompt: str
    not_alike: tuple[str, ...]
    flaky: str
    timed_out: bool
    remedy: str
    rerun: str
    accept: str
    declaration: str
    url: str
    docs_url: str


def build_rows(delta: Delta, rows: Sequence[DeltaEntry], place: RunLinks) -> tuple[PageRow, ...]:
    """Some rows of a delta with their commands and addresses: red ones, then the given order."""
    passing: dict[str, list[str]] = {}
    for row in delta.rows:
        if row.got is Status.PASS and not row.gates:
            passing.setdefault(row.case_id, []).append(row.agent)
    ordered = sorted(rows, key=lambda row: not row.gates)
    skills = {
        (agent, fold(skill.name)): skill
        for skill in reversed(delta.skills)
        for agent in skill.agents
    }
    built = (_row(delta, row, place, passing.get(row.case_id, ()), skills) for row in ordered)
    groups: dict[object, PageRow] = {}
    for page_row in built:
        key = _same(page_row)
        found = groups.get(key)
        agents = (*found.agents, *page_row.agents) if found else page_row.agents
        groups[key] = replace(found or page_row, agents=agents)
    return tuple(groups.values())


def _same(row: PageRow) -> object:
    """Equal for rows that read the same but for their agent; red rows stand each for itself."""
    if row.gates:
        return row
    return (row.case_id, row.kind, row.was, row.got, row.why, row.flaky, row.not_alike, row.error)


def _row(
    delta: Delta, row: DeltaEntry, place: RunLinks, passing: Sequence[str], skills: _Skills
) -> PageRow:
    is_measured = row.got is not None
    fails = row.gates and row.got is Status.FAIL
    takes = can_accept(row)
    return PageRow(
        case_id=row.case_id,
        agents=(row.agent,),
        kind=row.kind.value,
        mark=find_mark(row),
        gates=row.gates,
        was=row.was.value if row.was else "",
        got=row.got.value if row.got else "",
        why=row.why,
        failure_kind=row.failure_kind or "",
        wanted=_wanted(row.missing_evidence),
        refused=row.disallowed_hits[:_MOST_TOKENS],
        loaded=row.loaded_skills[:_MOST_TOKENS],
        subagents=row.subagent_skills,
        purposes=tuple(_purposes(skills, row)) if fails else (),
        others=tuple(passing) if row.kind is DeltaKind.REGRESSION else (),
        proofs=tuple(_proofs(row)),
        error=row.error or "",
        prompt=row.prompt,
        not_alike=row.not_alike[:_MOST_TOKENS],
        flaky=f"{row.passed} of {row.trials}" if row.flaky else "",
        timed_out=row.timed_out,
        remedy=find_remedy(row.failure_kind) if row.gates else "",
        rerun=rerun_command(delta, row) if is_measured or row.kind in _LOST else "",
        accept=_accept(row) if takes else "",
        declaration=_declaration(row) if takes and row.kind in _TO_DECLARE else _lost_entry(row),
        url=place.file_url(delta.cases_file, row.line),
        docs_url=_docs_url(row, place),
    )


def _purposes(known: _Skills, row: DeltaEntry) -> Iterator[Purpose]:
    """The wanted skills, then those that were used, as far as their descriptions are known."""
    wanted = dict.fromkeys(fold(bare_name(token)) for token in row.missing_evidence)
    used = dict.fromkeys(
        fold(bare_name(token)) for token in (*row.disallowed_hits, *row.loaded_skills)
    )
    found = [known[row.agent, name] for name in {**wanted, **used} if (row.agent, name) in known]
    for skill in found[:_MOST_TOKENS]:
        text = cut(skill.description, _PURPOSE_WIDTH)
        yield Purpose(skill.name, fold(skill.name) in wanted, text)


def _wanted(missing: Sequence[str]) -> tuple[str, ...]:
    """The missing tokens; a skill's own file says nothing more than the skill."""
    skills = {f"{token}/SKILL.md" for token in missing}
    return tuple(token for token in missing if token not in skills)[:_MOST_TOKENS]


def _proofs(row: DeltaEntry) -> Iterator[Proof]:
    told = (*row.disallowed_hits, *_wanted(row.missing_evidence))
    for proof in [proof for proof in row.proofs if proof.token in told][:_MOST_PROOFS]:
        yield Proof(
            token=proof.token,
            refused=proof.token in row.disallowed_hits,
            tier=proof.tier,
            where=proof.source_detail,
            text=excerpt(proof.proof_line, proof.token, _PROOF_WIDTH),
            glimpse=excerpt(proof.proof_line, proof.token, _GLIMPSE_WIDTH),
        )


def _accept(row: DeltaEntry) -> str:
    command = accept_command(row)
    if row.kind is DeltaKind.NEW:
        return f"{command} --accept-regression --reason TEXT"
    return command


def _lost_entry(row: DeltaEntry) -> str:
    """The entry to put back where the change took it from a case that stays, as JSON."""
    if row.kind is not DeltaKind.REMOVED or row.got is None or row.was is None:
        return ""
    return json.dumps({row.case_id: {row.agent: {"expected_status": row.was.value}}})


def _declaration(row: DeltaEntry) -> str:
    """The entry that says what was measured, as JSON for the baseline file."""
    entry: dict[str, object] = {"expected_status": row.got.value if row.got else "fail"}
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
    """Red gates, green is better, blue is new, white is gone, yellow could not be told."""
    if row.gates:
        return "🔴"
    if row.kind is DeltaKind.OK and not (row.flaky or row.timed_out or row.not_alike):
        return "✅" if row.got is Status.PASS else "☑️"
    return _MARKS.get(row.kind, "🟡")


def find_torn_cases(
    rows: Sequence[DeltaEntry],
) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Case ids with the agents that got better and those that got worse, where both happened."""
    better: dict[str, list[str]] = {}
    worse: dict[str, list[str]] = {}
    for row in rows:
        if row.kind is DeltaKind.IMPROVEMENT:
            better.setdefault(row.case_id, []).append(row.agent)
        if row.kind is DeltaKind.REGRESSION:
            worse.setdefault(row.case_id, []).append(row.agent)
    return {
        case_id: (tuple(better[case_id]), tuple(agents))
        for case_id, agents in worse.items()
        if case_id in better
    }
