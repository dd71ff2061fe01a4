"""Deltas that look like real ones, for snapshots and pictures, and one that a text fills up."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from routing_action.corpus.baseline import Status
from routing_action.corpus.influences import Influence
from routing_action.corpus.naming import bare_name
from routing_action.gate.conclusion import Conclusion
from routing_action.gate.model import (
    BaselineSource,
    Delta,
    DeltaChance,
    DeltaEntry,
    DeltaProof,
    DeltaSkill,
    Edit,
    FieldEdit,
    Totals,
)
from routing_action.gate.rules import DeltaKind
from routing_action.github.publication import RunLinks
from routing_action.report.markdown import render_comment, render_superseded

PLACE = RunLinks(
    server_url="https://github.com",
    repository="octo/demo",
    sha="b" * 40,
    run_id="4242",
    run_attempt=1,
    run_number=17,
    report_url="https://github.com/octo/demo/actions/runs/4242/artifacts/99",
    docs_url="https://github.com/octo/routing-action/blob/v1/docs",
)
BASELINE = BaselineSource(
    path="provider-baseline.json",
    commit="a" * 40,
    date="2026-11-20T08:00:00Z",
    how="merge base of origin/main and HEAD",
    present=True,
    edited=False,
)
TOTALS = Totals(
    trials=36,
    duration_ms=727_000,
    cost_usd=1.2345,
    cli_versions={"claude": ("2.1.332",), "codex": ("0.171.0",), "copilot": ("1.0.102",)},
    models={"claude": ("claude-opus-5-5",), "copilot": ("gpt-4.1",)},
)
PROMPT = "Write up what changed since the last tag, for the people who use it."
AGENTS = ("claude", "codex", "copilot")
SKILLS = (
    DeltaSkill(
        name="summarising-commits", agents=AGENTS, path="skills/summarising-commits/SKILL.md",
        description="Use when asked what changed: sums up commits, tags and pull requests.",
    ),
    DeltaSkill(
        name="writing-release-notes", agents=AGENTS, path="skills/writing-release-notes/SKILL.md",
        description="Use when a release is being prepared and its notes have to be written.",
    ),
)  # fmt: skip
_PROOF = DeltaProof(
    token="writing-release-notes",
    tier=3,
    source_detail="mention at stdout line 12",
    proof_line='{"type":"assistant","text":"The skill writing-release-notes would fit, but I '
    'can answer that from the changelog myself."}',
)


def entry(case_id: str, agent: str, kind: DeltaKind = DeltaKind.OK, **fields: Any) -> DeltaEntry:  # noqa: ANN401
    """A row; as expected and passing unless told otherwise."""
    values: dict[str, Any] = {
        "gates": False,
        "was": Status.PASS,
        "got": Status.PASS,
        "why": "pass, as expected",
        "line": 3,
        "passed": 1,
        "trials": 1,
    }
    return DeltaEntry(case_id=case_id, agent=agent, kind=kind, **(values | fields))


def quiet(*case_ids: str) -> list[DeltaEntry]:
    """Cases that pass on every agent."""
    names = case_ids or ("release-notes", "triage-crash", "rotate-keys")
    return [entry(name, agent, line=3 + 6 * n) for n, name in enumerate(names) for agent in AGENTS]


def regression(case_id: str = "notes-from-tags", agent: str = "claude") -> DeltaEntry:
    """A pair that loads another skill than it did."""
    return entry(
        case_id,
        agent,
        DeltaKind.REGRESSION,
        gates=True,
        got=Status.FAIL,
        why="expected pass, got fail (weak_evidence_only); it passes on codex, copilot, so only "
        "claude broke here",
        line=27,
        failure_kind="weak_evidence_only",
        missing_evidence=("writing-release-notes", "writing-release-notes/SKILL.md"),
        loaded_skills=("summarising-commits",),
        proofs=(_PROOF,),
        passed=0,
    )


def make(
    rows: list[DeltaEntry],
    conclusion: Conclusion = Conclusion.SUCCESS,
    reasons: tuple[str, ...] = (),
    **fields: Any,  # noqa: ANN401
) -> Delta:
    """A delta of rows, with everything else in place."""
    kinds = [row.kind for row in rows]
    values: dict[str, Any] = {
        "generated_at_utc": "2026-11-28T04:00:00Z",
        "baseline": BASELINE,
        "cases_file": "cases.json",
        "commit": "c" * 40,
        "agents": AGENTS,
        "prompts": {row.case_id: PROMPT for row in rows},
        "run_commands": {agent: f"./test.sh --agents {agent}" for agent in AGENTS},
        "counts": {kind: number for kind in DeltaKind if (number := kinds.count(kind))},
        "not_selected": 0,
        "notes": (),
        "totals": TOTALS,
    }  # fmt: skip
    return Delta(conclusion=conclusion, reasons=reasons, rows=tuple(rows), **(values | fields))


def red() -> Delta:
    """Two regressions of different causes among pairs that are fine."""
    timed_out = entry(
        "rotate-keys-urgent", "codex", DeltaKind.REGRESSION, gates=True, got=Status.FAIL, line=33,
        why="timed out, and its baseline entry does not allow that; it passes on claude, copilot, "
        "so only codex broke here", failure_kind="timeout", timed_out=True, passed=0,
        missing_evidence=("rotating-keys",), error="the wall deadline of 300 s ended it",
    )  # fmt: skip
    others = [entry("notes-from-tags", agent, line=27) for agent in ("codex", "copilot")]
    others += [entry("rotate-keys-urgent", agent, line=33) for agent in ("claude", "copilot")]
    rows = [regression(), timed_out, *others, *quiet()]
    return make(rows, Conclusion.FAILURE, ("2 regressions",), skills=SKILLS)


def stolen() -> Delta:
    """The change rewrites the description of a skill, which now takes a prompt of another's."""
    before = "Use when asked what changed: sums up commits. Not for releases."
    taker = SKILLS[0].model_copy(update={"before": before})
    edits = (
        Edit(
            path=taker.path, name=taker.name, influence=Influence.SKILL, what="edited",
            fields=(FieldEdit(field="description", before=before, after=taker.description),),
        ),
        Edit(path="CLAUDE.md", influence=Influence.INSTRUCTIONS, what="edited",
             fields=(FieldEdit(field="line 3", before="", after="Write release notes."),)),
    )  # fmt: skip
    row = regression().model_copy(update={"trials": 3})
    others = [entry("notes-from-tags", agent, line=27) for agent in ("codex", "copilot")]
    return make(
        [row, *others, *quiet()], Conclusion.FAILURE, ("1 regression",),
        skills=(taker, SKILLS[1]), edits=edits, edits_known=True,
    )  # fmt: skip


def edited_case() -> Delta:
    """The change edits a prompt, which no skill takes any more, and its baseline accepts that."""
    fields = (
        FieldEdit(field="prompt", before="Write the release notes.", after=PROMPT),
        FieldEdit(field="expected_skill", before="", after="writing-release-notes"),
    )
    edit = Edit(
        path="cases.json", name="notes-from-tags", influence=Influence.CASES, what="edited",
        fields=fields,
    )  # fmt: skip
    row = regression().model_copy(
        update={"loaded_skills": (), "accepted": True, "failure_kind": "missing_required"}
    )
    return make(
        [row, *quiet()], Conclusion.FAILURE, ("1 regression",), skills=SKILLS, edits=(edit,),
        edits_known=True,
    )  # fmt: skip


def same_cause(count: int = 60) -> Delta:
    """One agent's credit is used up, so that nothing of it was measured."""
    rows = [
        entry(f"case-{n:02}", "copilot", DeltaKind.REGRESSION, gates=True, got=Status.INFRA_ERROR,
              why="expected pass, got infra_error (quota)", failure_kind="quota", line=3 + 6 * n,
              error=f"402 You have no quota left (request id 4f1c{n:04x}9a)", passed=0)
        for n in range(count)
    ]  # fmt: skip
    return make(
        [*rows, *quiet()], Conclusion.FAILURE, (f"{count} pairs could not be measured (quota)",)
    )


def twelve() -> Delta:
    """Many changes of all kinds."""
    names = ("draft-the-announcement", "notes-from-tags", "triage-crash-of-the-night-build")
    red_rows = [regression(name, agent) for name in names for agent in AGENTS]
    new = [
        entry("explain-gate", agent, DeltaKind.NEW, why="new: passes, as declared", line=21)
        for agent in AGENTS
    ]
    better = entry("notes-of-a-fix", "codex", DeltaKind.IMPROVEMENT, was=Status.FAIL, line=99,
                   why="expected fail, got pass")  # fmt: skip
    wobbly = entry("triage-vague", "codex", flaky=True, passed=2, trials=3, line=21)
    gone = entry("old", "claude", DeltaKind.REMOVED, got=None, line=None,
                 why="the case and its baseline entry were removed")  # fmt: skip
    rows = [*red_rows, gone, *new, better, wobbly, *quiet()]
    return make(rows, Conclusion.FAILURE, ("9 regressions",), skills=SKILLS)


def green() -> Delta:
    """Nothing changed."""
    return make(quiet())


def new_coverage() -> Delta:
    """New cases: most hold what they declare, one does not, one is not declared at all."""
    new = [
        entry("explain-gate", agent, DeltaKind.NEW, why="new: passes, as declared", line=21)
        for agent in AGENTS
    ]
    worse = entry("explain-tiers", "codex", DeltaKind.NEW, gates=True, got=Status.FAIL, line=27,
                  why="is new and worse than it declares: expected pass, got fail "
                  "(answered_directly)", failure_kind="answered_directly",
                  missing_evidence=("reading-evidence-tiers",), passed=0)  # fmt: skip
    undeclared = entry("explain-kinds", "claude", DeltaKind.UNDECLARED, gates=True, was=None,
                       line=33, why="has results but no baseline entry",
                       loaded_skills=("reading-evidence-tiers",))  # fmt: skip
    rows = [undeclared, worse, *new, *quiet()]
    reasons = ("1 pair has no baseline entry", "1 new pair is worse than declared")
    return make(rows, Conclusion.FAILURE, reasons)


def no_baseline() -> Delta:
    """The merge base has no baseline file."""
    rows = [
        entry(row.case_id, row.agent, DeltaKind.NEW, why="new: passes, as declared", line=row.line)
        for row in quiet()
    ]
    baseline = BASELINE.model_copy(update={"present": False, "edited": True})
    return make(rows, baseline=baseline)


def nothing_measured() -> Delta:
    """A pull request from a fork: no leg had credentials."""
    why = "this leg has no credentials: set ANTHROPIC_API_KEY, or run it from a branch"
    rows = [
        entry(row.case_id, row.agent, DeltaKind.UNMEASURED, got=None, why=why, line=row.line,
              passed=None, trials=None)
        for row in quiet()
    ]  # fmt: skip
    totals = Totals(trials=0, duration_ms=0, cost_usd=None, cli_versions={}, models={})
    reasons = ("9 pairs were not measured",)
    return make(rows, Conclusion.NEUTRAL, reasons, totals=totals, commit=None)


def lost() -> Delta:
    """A leg's results are missing and another's cannot be used: no verdict on the change."""
    missing = entry("triage-crash", "codex", DeltaKind.MISSING, gates=True, got=None, passed=None,
                    trials=None, line=9, why="was selected but has no result; run it again, and "
                    "look for the leg that lost it")  # fmt: skip
    rows = [
        missing,
        *(row for row in quiet() if (row.case_id, row.agent) != ("triage-crash", "codex")),
    ]
    broken = (
        "results-codex-2-a1/results.json: the batch was interrupted, so its results are partial"
    )
    reasons = (broken, "1 selected pair has no result")
    return make(rows, Conclusion.FAILURE, reasons, errors=(broken,))


def infra_only() -> Delta:
    """An expected failure that could not be measured."""
    infra = entry("known-gap", "copilot", DeltaKind.INFRA, was=Status.FAIL, got=Status.INFRA_ERROR,
                  why="expected fail, got infra_error (rate_limit)", failure_kind="rate_limit",
                  error="429 Too Many Requests; retried 5 times", line=21, passed=0)  # fmt: skip
    return make([infra, *quiet()])


def flaky() -> Delta:
    """A pair whose trials disagree."""
    wobbly = entry("triage-vague", "codex", flaky=True, passed=2, trials=3, line=21)
    return make([wobbly, *quiet()])


def tested() -> Delta:
    """One pair is proven worse than its own rate; another failed as often as it always did."""
    proven = regression().model_copy(
        update={
            "passed": 0, "trials": 4, "history": ((1, 1),) * 14 + ((0, 1),) + ((1, 1),) * 15,
            "chance": DeltaChance(finding="worse", failed=4, measured=4, before_passes=29,
                                  before_trials=30, odds=1 / 160_000),
        }
    )  # fmt: skip
    open_still = entry(
        "triage-crash-log", "codex", DeltaKind.NOT_PROVEN, got=Status.FAIL, line=39,
        why="expected pass; that it got worse is not proven", passed=2, trials=5, flaky=True,
        history=(*((1, 1), (1, 1), (1, 1), (1, 1), (0, 1)) * 6,),
        chance=DeltaChance(finding="not proven", failed=3, measured=5, before_passes=24,
                           before_trials=30, odds=0.042),
    )  # fmt: skip
    others = [entry("notes-from-tags", agent, line=27) for agent in ("codex", "copilot")]
    rows = [proven, open_still, *others, *quiet()]
    return make(rows, Conclusion.FAILURE, ("1 regression",), skills=SKILLS)


def edited() -> Delta:
    """The change lowers an expectation that it breaks, and edits the case."""
    baseline = BASELINE.model_copy(update={"edited": True})
    notes = (
        "this change edits the prompt or the expectations of notes-from-tags: review that first",
    )
    reasons = ("1 regression",)
    rows = [regression(), *quiet()]
    return make(rows, Conclusion.FAILURE, reasons, baseline=baseline, notes=notes)


def mixed() -> Delta:
    """A change aimed at one provider that breaks another."""
    better = entry("notes-from-tags", "codex", DeltaKind.IMPROVEMENT, was=Status.FAIL, line=27,
                   why="expected fail, got pass")  # fmt: skip
    rows = [regression(), better, entry("notes-from-tags", "copilot", line=27), *quiet()]
    return make(rows, Conclusion.FAILURE, ("1 regression",))


def unlike() -> Delta:
    """All passes, with other CLI versions than the baseline was recorded with."""
    rows = [
        row.model_copy(update={"not_alike": ("CLI version was 2.1, is 2.2",)}) for row in quiet()
    ]
    notes = ("some rows were measured with another CLI or model than their baseline",)
    return make(rows, notes=notes)


def huge(count: int, text: str) -> Delta:
    """So many failing cases, each full of a text."""
    proof = DeltaProof(token="foo", tier=3, source_detail=text, proof_line=text)
    rows = [
        regression(f"case-{n}").model_copy(
            update={"error": text, "loaded_skills": (text,), "missing_evidence": (text, "foo"),
                    "proofs": (proof,)}
        )
        for n in range(count)
    ]  # fmt: skip
    return make(rows, Conclusion.FAILURE, (f"{count} pairs could not be measured (quota)",))


def filled(text: str) -> Delta:
    """Every field that can hold text from outside holds this one."""
    proof = DeltaProof(token=text, tier=3, source_detail=text, proof_line=text)
    common: dict[str, Any] = {
        "why": text,
        "failure_kind": text,
        "error": text,
        "missing_evidence": (text,),
        "disallowed_hits": (text,),
        "loaded_skills": (text,),
        "subagent_skills": (text,),
        "proofs": (proof,),
        "not_alike": (text,),
    }
    rows = [
        entry(text, text, DeltaKind.REGRESSION, gates=True, got=Status.FAIL, flaky=True, **common),
        entry("two.x", text, DeltaKind.NEW, gates=True, got=Status.FAIL,
              **{**common, "disallowed_hits": ()}),
        entry("three.x", text, DeltaKind.REGRESSION, gates=True, got=Status.INFRA_ERROR, **common),
        entry("four.x", text, DeltaKind.MISSING, gates=True, got=None, why=text),
        entry("five.x", text, DeltaKind.CHANGED, got=Status.FAIL,
              **{**common, "missing_evidence": ()}),
        entry(text, "agent.x", DeltaKind.IMPROVEMENT, was=Status.FAIL, why=text),
    ]  # fmt: skip
    baseline = BaselineSource(
        path=text, commit=text, date=text, how=text, present=True, edited=True
    )
    totals = replace_totals(text)
    return make(rows, Conclusion.FAILURE, (text, text), baseline=baseline, totals=totals,
                skills=(DeltaSkill(name=bare_name(text), agents=(text,), description=text,
                                   path=text, before=f"{text} before"),),
                notes=(text,), agents=(text, "agent.x"), cases_file=text,
                prompts={row.case_id: text for row in rows},
                run_commands={text: f"./test.sh {text}"})  # fmt: skip


def replace_totals(text: str) -> Totals:
    """Totals whose versions and models are a text."""
    return TOTALS.model_copy(update={"cli_versions": {text: (text,)}, "models": {text: (text,)}})


SAMPLES = {
    "red": red,
    "stolen": stolen,
    "edited-case": edited_case,
    "same-cause": same_cause,
    "twelve": twelve,
    "green": green,
    "new-coverage": new_coverage,
    "no-baseline": no_baseline,
    "nothing-measured": nothing_measured,
    "lost-results": lost,
    "infra-only": infra_only,
    "flaky": flaky,
    "tested": tested,
    "baseline-edited": edited,
    "mixed-providers": mixed,
    "not-comparable": unlike,
}


def sample_bodies() -> dict[str, str]:
    """The comment of every sample, and what replaces a red one."""
    bodies = {name: render_comment(build(), PLACE) for name, build in SAMPLES.items()}
    later = replace(PLACE, run_id="4343")
    reason = "no case touches what the latest commit changes, so nothing was measured"
    return bodies | {"superseded": render_superseded(later, reason)}
