"""What every report says of a delta: its outcome and headline, the rows worth a look, commands.

Facts come from the delta's fields; prose is made here and never read back.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from enum import StrEnum

from routing_action.corpus.baseline import Status
from routing_action.evidence.unavailable import find_refusal_remedy
from routing_action.gate.conclusion import Conclusion
from routing_action.gate.model import Delta, DeltaEntry
from routing_action.gate.rules import DeltaKind
from routing_action.report.escape import cut, printable
from routing_action.results.rerun import RUN_PROGRAM, select_case

_BLAMED = (
    DeltaKind.REGRESSION,
    DeltaKind.CASE_EDITED,
    DeltaKind.NEW,
    DeltaKind.UNDECLARED,
    DeltaKind.REMOVED,
)


class GateOutcome(StrEnum):
    """What a comparison comes to, for people: a gate can be red, or open, for different causes."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    NOT_MEASURED = "not measured"
    PARTIAL = "partial"
    UNVERIFIED = "not verified"
    NOT_COMPARABLE = "not comparable"
    NO_BASELINE = "no baseline"


_TITLES = {
    GateOutcome.PASSED: "Routing is as expected",
    GateOutcome.FAILED: "Routing gate failed",
    GateOutcome.ERROR: "Routing could not be judged",
    GateOutcome.NOT_MEASURED: "Routing was not fully measured",
    GateOutcome.PARTIAL: "Routing is as expected",
    GateOutcome.UNVERIFIED: "Routing is as expected",
    GateOutcome.NOT_COMPARABLE: "Routing passed, but with another CLI or model than the baseline",
    GateOutcome.NO_BASELINE: "Routing has no baseline to compare with yet",
}


def find_outcome(delta: Delta) -> GateOutcome:
    """Which kind of result it is; the conclusion alone decides what CI does."""
    if delta.conclusion is Conclusion.FAILURE:
        return _why_red(delta)
    if delta.conclusion is Conclusion.NEUTRAL:
        reason = _why_open(delta)
        if reason is not GateOutcome.PARTIAL:
            return reason
    if _lacks_baseline(delta):
        return GateOutcome.NO_BASELINE
    judged = [row for row in delta.rows if row.got is not None]
    if judged and all(row.not_alike for row in judged):
        return GateOutcome.NOT_COMPARABLE
    is_open = delta.conclusion is Conclusion.NEUTRAL
    return GateOutcome.PARTIAL if is_open else GateOutcome.PASSED


def _why_red(delta: Delta) -> GateOutcome:
    """Blame of the change first, then what was lost, then what could not be measured."""
    kinds = {row.kind for row in delta.rows if row.gates}
    if not kinds.isdisjoint(_BLAMED):
        return GateOutcome.FAILED
    if kinds or delta.errors:
        return GateOutcome.ERROR
    unmeasured = any(row.kind is DeltaKind.UNMEASURED for row in delta.rows)
    lacks = unmeasured or not is_measured(delta)
    return GateOutcome.NOT_MEASURED if lacks else GateOutcome.FAILED


def _why_open(delta: Delta) -> GateOutcome:
    """What was not measured first, then who reports it, then what was left out."""
    unmeasured = any(row.kind is DeltaKind.UNMEASURED for row in delta.rows)
    if unmeasured or not is_measured(delta):
        return GateOutcome.NOT_MEASURED
    if delta.unverified:
        return GateOutcome.UNVERIFIED
    return GateOutcome.PARTIAL if delta.left_out else GateOutcome.NOT_MEASURED


def _lacks_baseline(delta: Delta) -> bool:
    return delta.baseline.commit is not None and not delta.baseline.present


def is_measured(delta: Delta) -> bool:
    """True where any pair has a result."""
    return any(row.got for row in delta.rows)


def find_title(delta: Delta) -> str:
    """The outcome in a few words: what it is, whether all was measured, and who says so."""
    outcome = find_outcome(delta)
    is_open = outcome is GateOutcome.NOT_MEASURED and not is_measured(delta)
    title = "Routing was not measured" if is_open else _TITLES[outcome]
    return ", ".join(filter(None, (title, describe_part(delta), delta.unverified)))


def describe_part(delta: Delta) -> str:
    """How much of what is known was measured; "" where it was all, or nothing."""
    left = delta.left_out
    rows = [row for row in delta.rows if row.kind is not DeltaKind.REMOVED]
    if not left or not is_measured(delta):
        return ""
    for noun, seen, known in (
        ("case", {row.case_id for row in rows}, {one.case_id for one in left}),
        ("agent", {row.agent for row in rows}, {one.agent for one in left}),
    ):
        if not known <= seen:
            return f"partial: {len(seen)} of {count(len(seen | known), noun)} measured"
    return f"partial: {len(rows)} of {count(len(rows) + len(left), 'pair')} measured"


def find_headline(delta: Delta) -> str:
    """The outcome with the gate's reasons, in one line."""
    return ": ".join(filter(None, (find_title(delta), "; ".join(delta.reasons))))


def find_notes(delta: Delta) -> tuple[str, ...]:
    """What else a reader should know, that of the baseline first."""
    source = delta.baseline
    notes = []
    if _lacks_baseline(delta):
        notes.append(
            f"no baseline: {source.path} does not exist at {(source.commit or '')[:12]}, so every "
            "pair is new and held to its own declaration; it decides from the next change on"
        )
    if source.edited:
        notes.append(
            "this change edits the baseline; "
            + (
                "known pairs are judged against the one at the merge base all the same"
                if source.commit
                else "that is what pairs are judged by"
            )
        )
    return (*notes, *delta.notes)


def find_agents(delta: Delta) -> tuple[str, ...]:
    """The agents that were asked for, then others that have rows."""
    return tuple(dict.fromkeys((*delta.agents, *sorted({row.agent for row in delta.rows}))))


def is_worth_a_look(row: DeltaEntry) -> bool:
    """False where a pair is as expected and nothing about it is in doubt."""
    doubts = (row.flaky, row.not_alike, row.red_before)
    return row.kind is not DeltaKind.OK or any(doubts)


def changed_rows(delta: Delta) -> tuple[DeltaEntry, ...]:
    """The rows worth a look, in the order of the delta."""
    return tuple(row for row in delta.rows if is_worth_a_look(row))


def cell_text(row: DeltaEntry) -> str:
    """A pair in a word: its status where it is as expected, else the delta's word."""
    got = row.got.value if row.got else ""
    word = got if row.kind is DeltaKind.OK else row.kind.value
    marks = [mark for mark, shown in (("flaky", row.flaky), ("late", row.timed_out)) if shown]
    return f"{word} ({', '.join(marks)})" if marks else word


def list_facts(row: DeltaEntry) -> Iterator[tuple[str, str]]:
    """What was found of a pair, each fact with its label."""
    if row.flaky:
        yield "flaky", f"{row.passed} of {row.trials} trials passed"
    if row.red_before:
        yield "red before", describe_before(row)
    found = {
        "not comparable": row.not_alike,
        "missing": row.missing_evidence,
        "used though disallowed": row.disallowed_hits,
        "loaded": row.loaded_skills,
    }
    for label, texts in found.items():
        if texts:
            yield label, ", ".join(cut(printable(text), 200) for text in texts[:10])


def list_steps(
    delta: Delta, row: DeltaEntry, results: str = "RESULTS"
) -> Iterator[tuple[str, str]]:
    """What can be done about a red pair, or one that got better, each step with its label.

    `results` is where the results are, for the commands.
    """
    accept = accept_command(row, results) if can_accept(row) else ""
    if row.kind is DeltaKind.IMPROVEMENT:
        yield "lock it in", accept
        return
    if find_fix(row):
        yield "fix", find_fix(row)
    if row.got is not None:
        yield "rerun", rerun_command(delta, row)
    if accept:
        yield "accept", accept


def describe_before(row: DeltaEntry) -> str:
    """The earlier attempts of the run at which the pair was red."""
    many = "s" if len(row.red_before) > 1 else ""
    return f"at attempt{many} {', '.join(map(str, row.red_before))} of this run"


def count(number: int, noun: str) -> str:
    """A number with its noun, which gets an `s` unless it is one."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


# --- what to do about a row


def rerun_command(delta: Delta, row: DeltaEntry) -> str:
    """The command that measures this pair again, as it was measured."""
    plain = f"{RUN_PROGRAM} --agents {shlex.quote(row.agent)}"
    return select_case(delta.run_commands.get(row.agent, plain), row.case_id)


def can_accept(row: DeltaEntry) -> bool:
    """True where what was measured could become the new expectation."""
    is_known = row.got is not None and row.got is not Status.INFRA_ERROR
    return is_known and (row.gates or row.kind is DeltaKind.IMPROVEMENT)


def accept_command(row: DeltaEntry, results: str = "RESULTS") -> str:
    """The command that accepts what was measured as the new expectation.

    "" where that would not help: an entry that was removed is to be put back as it was, and what
    could not be measured is to be measured.
    """
    if row.kind in (DeltaKind.REMOVED, DeltaKind.CASE_EDITED) or row.got is Status.INFRA_ERROR:
        return ""
    base = f"routing-action baseline update --from {results} --cases {shlex.quote(row.case_id)}"
    if row.timed_out or row.kind in (DeltaKind.REGRESSION, DeltaKind.NEW):
        return f"{base} --accept-regression --reason TEXT"
    return base


_DESCRIPTION = "say in its description when to use the skill, in the words of this prompt"

REMEDIES: Mapping[str, str] = {
    "timeout": "read the transcript: raise the timeout if the agent was on its way, shorten the "
    "prompt if it was lost",
    "limit": "raise the limit of turns or cost that ended it, or ask for less",
    "context": "the prompt, with the skills and files it brings, is longer than the model takes: "
    "ask for less, or use a model with a larger context",
    "mixed": "if a disallowed skill took the prompt, begin with that: make the two descriptions "
    "say what each skill is for; what is missing then has its own entry",
    "disallowed_hit": "make the two descriptions say what each skill is for; if both skills are "
    "right, move this one to optional_skills",
    "invoked_but_not_loaded": "routing worked, loading did not: look in the result of the call for "
    "a wrong name, a permission rule or a broken skill file",
    "wrong_copy": "remove the other copy of the skill, or run in an isolated workspace",
    "skill_unavailable": "the agent was not offered this skill: stage it with --skills, or put it "
    "in a folder where this agent looks, and check its frontmatter",
    "ambiguous_skill": "name one skill, by its folder or with its plugin before it, or rename one "
    "of them",
    "optional_only": "sharpen the description of the expected or of the optional skill, or expect "
    "the optional one",
    "weak_evidence_only": f"it was named, not loaded: {_DESCRIPTION}",
    "evidence_too_weak": "if a read by hand is enough, set expected_skill_min_tier to 2; else "
    "make the description ask for the skill to be loaded",
    "missing_required": _DESCRIPTION,
    "answered_directly": "ask for work rather than for knowledge, or expect no skill",
    "skill_not_loaded": _DESCRIPTION,
    "missing_skill_file_evidence": "name the skill in expected_skill and drop the file, or set "
    "require_skill_file to false",
    "missing_activity_evidence": "ask for work in the prompt, or empty required_any_evidence",
    "mixed_evidence_missing": "take the missing tokens one by one",
    "cli_missing": "install the CLI of the agent, and check that it is on PATH",
    "auth": "set a credential variable of the agent; see routing-action providers list",
    "quota": "a limit of the plan, or credit, is used up: wait for the reset that the error names, "
    "or pay",
    "rate_limit": "lower --max-parallel or --max-parallel-provider, or run again later",
    "server_error": "the service of the model failed: run again later",
    "mcp_server": "an MCP server that the agent needs did not start: start it by hand, or remove "
    "it from the settings of the agent",
    "api_error": "read the error of the CLI; often the service does not know the model name",
    "killed": "lower --max-parallel: the machine may lack memory",
    "schema_drift": "install the CLI version that worked before, or report the transcript",
    "never_ran": "read the cause; check the command, and that it takes these credentials there",
    "not_measurable": "let the agent print records, as its own command does: its template lacks "
    "the option for it",
    "cancelled": "run again; what had ended is kept",
    "not_run": "remove the cause that the error names, and run again",
}
"""What a person does about a red row: one sentence for each failure kind, without a full stop.

Each has an entry with meaning and example in docs/reference/failure-kinds.md.
"""


RESTORE = (
    "fix the skill and put the case back as it was, or give the edited case a case_id of its own: "
    "a new case is held to its own baseline entry"
)


def find_fix(row: DeltaEntry) -> str:
    """What a person does about a row; "" where there is nothing to say."""
    is_edited = row.kind is DeltaKind.CASE_EDITED and row.gates
    return RESTORE if is_edited else find_remedy(row.failure_kind, row.error)


def find_remedy(failure_kind: str | None, error: str | None = None) -> str:
    """The sentence; "" where there is nothing to say. What a CLI said about a skill decides."""
    refused = find_refusal_remedy(error or "") if failure_kind == "skill_unavailable" else ""
    return refused or REMEDIES.get(failure_kind or "", "")
