"""What a person does about a red row, in a sentence."""

from __future__ import annotations

from collections.abc import Mapping

from routing_action.evidence.unavailable import find_refusal_remedy
from routing_action.gate.model import DeltaEntry
from routing_action.gate.rules import DeltaKind

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
