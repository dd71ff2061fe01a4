"""What a person does about a red row, in a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from routing_action.agents.discovery import all_providers
from routing_action.corpus.baseline import Status
from routing_action.corpus.influences import Influence
from routing_action.corpus.naming import is_file_token
from routing_action.evidence.outcome import Outcome
from routing_action.evidence.unavailable import find_refusal_remedy
from routing_action.gate.model import Delta, DeltaEntry
from routing_action.gate.rules import DeltaKind
from routing_action.report.escape import cut
from routing_action.report.reasons import (
    Name,
    Prose,
    Sentence,
    find_skill,
    join,
    list_takers,
    list_wanted,
    say,
)
from routing_action.report.suspects import TRIALS_OF_NOISE, find_timeout, is_probably_noise
from routing_action.results.notes import was_not_needed

_DESCRIPTION = "say in its description when to use the skill, in the words of this prompt"

REMEDIES: Mapping[str, str] = {
    "timeout": "read the transcript: raise the timeout if the agent was on its way, shorten the "
    "prompt if it was lost",
    "limit": "raise the limit that ended it (turns, cost or output), or ask for less",
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
    "auth": "replace the key that was rejected, or set a credential variable of the agent; "
    "routing-action providers list names them",
    "quota": "a limit of the plan, or credit, is used up: wait for the reset that the error names, "
    "or pay",
    "rate_limit": "lower --max-parallel or --max-parallel-provider, or run again later",
    "server_error": "the service of the model failed: run again later",
    "mcp_server": "an MCP server that the agent needs did not start: start it by hand, or remove "
    "it from the settings of the agent",
    "api_error": "read the error of the CLI; often the service does not know the model name",
    "killed": "lower --max-parallel: the machine may lack memory",
    "schema_drift": "install the CLI version that worked before, or report the transcript",
    "no_output": "start the command of the row by hand: it ends before it prints anything",
    "never_ran": "read the cause; check the command, and that it takes these credentials there",
    "not_measurable": "let the agent print records, as its own command does: its template lacks "
    "the option for it",
    "cancelled": "run again; what had ended is kept",
    "not_run": "remove the cause that the error names, and run again",
}
"""What a person does about a red row: one sentence for each failure kind, without a full stop.

Each has an entry with meaning and example in docs/reference/failure-kinds.md.
"""


_NOT_NEEDED = "fix the pair that the error names, which decided the gate, and run again"
RESTORE = (
    "fix the skill and put the case back as it was, or give the edited case a case_id of its own: "
    "a new case is held to its own baseline entry"
)

_LONGEST_PROMPT = 80
_LONGEST_REASON = 300
_LONGEST_NAME = 160
_MOST_SKILLS = 3
_OFFER = "put it in a folder where this agent looks, or stage it with --skills; check its "


def find_fix(delta: Delta, row: DeltaEntry, group: Sequence[DeltaEntry] = ()) -> str:
    """What a person does about a row, in one plain sentence; "" where there is nothing to say."""
    return say(build_fix(delta, row, group))


def build_fix(delta: Delta, row: DeltaEntry, group: Sequence[DeltaEntry] = ()) -> Sentence:
    """The same with its skills, their files and the prompt as pieces of their own.

    One sentence for a `group` of rows with one cause.
    """
    if row.kind is DeltaKind.CASE_EDITED and row.gates:
        return (RESTORE,)
    if row.kind is DeltaKind.EXPIRED:
        return _renew(delta, group or (row,))
    if row.accepted and row.gates:
        return _tell_acceptance(delta, row)
    if row.timed_out and row.got is Status.FAIL and not row.disallowed_hits:
        return _raise_timeout(delta, row)
    wanted = [token for token in list_wanted(row) if not is_file_token(token)]
    sentence: Sentence = ()
    if row.got is Status.FAIL and row.failure_kind in _BY_DESCRIPTION:
        every = group if len({one.case_id for one in group}) > 1 else ()
        sentence = (*_begin(delta, row), *_reword(delta, row, wanted, every))
    elif row.got is Status.FAIL and wanted:
        sentence = _load(delta, row, wanted)
    if row.failure_kind == Outcome.AUTH and (names := _credentials(row.agent)):
        return _sign_in(names, row.error or "")
    text = find_remedy(row.failure_kind, row.error)
    return sentence or ((text,) if text else ())


def _renew(delta: Delta, group: Sequence[DeltaEntry]) -> Sentence:
    """What ends an excuse that is over; no result does."""
    pairs = join(((Name(f"{one.case_id} › {one.agent}"),) for one in group), " and ")
    own = ("sharpen the skill and remove ", Name("flaky"), " of ", *pairs, " in ")
    later = ", or give it a later ", Name("flaky.until"), " there, in a reviewed change"
    return (*own, Name(delta.baseline.path), *later, "; running again does not help")


def _credentials(agent: str) -> tuple[str, ...]:
    provider = all_providers().get(agent)
    return provider.credential_variables if provider else ()


def _sign_in(names: Sequence[str], error: str) -> Sentence:
    """A key that was rejected is replaced; where there was none, one is set."""
    several = " or ".join(names)
    if _NO_KEY.search(error):
        return (f"set {several}",)
    if _BAD_KEY.search(error):
        return (f"the key in {several} was rejected: replace it",)
    return (f"if {several} is set, its key was rejected: replace it; else set it",)


_NO_KEY = re.compile(
    r"not logged in|no authentication|missing (?:api|environment)|not set\b|must specify|/login",
    re.IGNORECASE,
)
_BAD_KEY = re.compile(r"(?i)\b(?:invalid|incorrect|expired|revoked|rejected)\b|not valid")


def _tell_acceptance(delta: Delta, row: DeltaEntry) -> Sentence:
    """Nothing is to be done; the reason is the one that the change gives."""
    name = f"{row.case_id} on {row.agent}"
    entry = (one for one in delta.edits if (one.influence, one.name) == (Influence.BASELINE, name))
    fields = [one for edit in entry for one in edit.fields if one.field == "reason"]
    why = (" (", Prose(cut(fields[0].after, _LONGEST_REASON)), ")") if fields else ()
    return ("already accepted by this change", *why, ": it counts when merged")


def _raise_timeout(delta: Delta, row: DeltaEntry) -> Sentence:
    read: Sentence = (" the transcript",)
    if row.unit_run_id:
        read = (" ", Name(f"transcripts/{row.unit_run_id}.stdout"), " beside its results.json")
    return (
        f"timed out after {find_timeout(delta, row):.15g} s: read",
        *read,
        "; if the agent was on its way, run it again with twice the time, else shorten the prompt",
    )


def _begin(delta: Delta, row: DeltaEntry) -> Sentence:
    """What comes before any edit of a text."""
    if is_probably_noise(delta, row):
        why = "" if row.flaky else ", since this change edits nothing that decides it"
        again = f"run it again with --trials {TRIALS_OF_NOISE}"
        return (f"probably noise{why}: {again}; only if it still fails, ",)
    is_new = row.kind in (DeltaKind.NEW, DeltaKind.UNDECLARED) and row.gates
    return ("correct the case, or fix the skill: ",) if is_new else ()


_BY_DESCRIPTION = (
    "mixed", "disallowed_hit", "missing_required", "skill_not_loaded", "weak_evidence_only",
    "mixed_evidence_missing", "answered_directly", "optional_only",
)  # fmt: skip
"""The failure kinds that the descriptions of the skills decide."""


def _reword(
    delta: Delta, row: DeltaEntry, wanted: Sequence[str], group: Sequence[DeltaEntry]
) -> Sentence:
    """Another skill took the prompt, or none did: what their descriptions are to say.

    What the change edits comes first: that of the skill that took the prompt before the other's.
    """
    takers = list_takers(row)
    prompt = delta.prompts.get(row.case_id, "")
    quoted: Sentence = ("such a prompt",)
    if prompt:
        quoted = ("prompts such as “", Name(cut(prompt, _LONGEST_PROMPT)), "”")
    if guilty := [token for token in takers if _is_reworded(delta, row, token)]:
        return _undo_taking(delta, row, guilty, wanted, group)
    if guilty := [token for token in wanted if _is_reworded(delta, row, token)]:
        return _undo_losing(delta, row, guilty, quoted)
    if wanted and takers:
        last = (", or expect that one",) if row.failure_kind == "optional_only" else ()
        return (
            *("say in the description of ", *_locate(delta, row, wanted), " that it is for "),
            *(*quoted, ", and in that of ", *_locate(delta, row, takers), " that it is not", *last),
        )
    if takers:
        what = ("say in the description of ", *_locate(delta, row, takers), " that it is not for ")
        return (*what, *quoted, ", or move it to optional_skills if either skill is right")
    if not wanted:
        return ()
    is_talk = row.failure_kind == "answered_directly"
    last = (", or ask in the prompt for work rather than for knowledge",) if is_talk else ()
    what = ("say in the description of ", *_locate(delta, row, wanted), " to use it for ")
    return (*what, *quoted, *last)


def _undo_taking(
    delta: Delta,
    row: DeltaEntry,
    takers: Sequence[str],
    wanted: Sequence[str],
    group: Sequence[DeltaEntry],
) -> Sentence:
    where = _locate(delta, row, takers)
    skill = find_skill(delta, row.agent, takers[0])
    told: Sentence = ("take back or narrow what this change adds to the description of ", *where)
    if skill and not skill.before:
        told = ("narrow the description of ", *where, ", which this change adds and")
    else:
        told = (*told, ",")
    prompt = delta.prompts.get(row.case_id, "")
    took = ("“", Name(cut(prompt, _LONGEST_PROMPT)), "”") if prompt else ("the prompt",)
    last = ("; or say in that of ", *_locate(delta, row, wanted), " that it is for such prompts")
    if group:
        took = (f"{len({one.case_id for one in group})} prompts",)
        last = ("; or say in those of the skills that were wanted that they are for such prompts",)
    return (*told, " which took ", *took, *(last if wanted else ()))


def _undo_losing(
    delta: Delta, row: DeltaEntry, wanted: Sequence[str], quoted: Sentence
) -> Sentence:
    what = ("take back or correct what this change edits in the description of ",)
    return (*what, *_locate(delta, row, wanted), ", so that it is again for ", *quoted)


def _is_reworded(delta: Delta, row: DeltaEntry, token: str) -> bool:
    """Whether the change writes or edits the description of a skill that is still there."""
    skill = find_skill(delta, row.agent, token)
    return skill is not None and skill.before is not None and bool(skill.description)


def _load(delta: Delta, row: DeltaEntry, wanted: Sequence[str]) -> Sentence:
    """The skill was not there, or was not loaded as it should be."""
    where, agent = _locate(delta, row, wanted), Name(row.agent)
    if row.failure_kind == "evidence_too_weak":
        last = "make its description ask for that, or set expected_skill_min_tier to 2 in the case"
        return (*where, f" was read by hand, not loaded: {last} if reading is enough")
    if row.failure_kind == "invoked_but_not_loaded":
        last = "look in the result of the call for a wrong name, a permission rule or a broken file"
        return (agent, " called ", *where, f", but loading failed: {last}")
    if row.failure_kind != "skill_unavailable":
        return ()
    gone = [one for token in wanted if (one := find_skill(delta, row.agent, token))]
    if any(one.before and not one.description for one in gone):
        return ("this change removes ", *where, ": put it back, or remove the case as well")
    refused = find_refusal_remedy(row.error or "")
    return (agent, " was not offered ", *where, f": {refused or _OFFER + 'frontmatter'}")


def _locate(delta: Delta, row: DeltaEntry, tokens: Iterable[str]) -> Sentence:
    """The skills with their files, where these are known."""
    return join((_place(delta, row, token) for token in [*tokens][:_MOST_SKILLS]), " and ")


def _place(delta: Delta, row: DeltaEntry, token: str) -> Sentence:
    skill = find_skill(delta, row.agent, token)
    path = (" (", Name(skill.path), ")") if skill and skill.path else ()
    return (Name(cut(token, _LONGEST_NAME)), *path)


def find_remedy(failure_kind: str | None, error: str | None = None) -> str:
    """The sentence; "" where there is nothing to say. What a CLI said about a skill decides."""
    if was_not_needed(error):
        return _NOT_NEEDED
    refused = find_refusal_remedy(error or "") if failure_kind == "skill_unavailable" else ""
    return refused or REMEDIES.get(failure_kind or "", "")
