"""What a person does about a red row: one sentence for each failure kind.

Each has an entry with meaning and example in docs/reference/failure-kinds.md.
"""

from __future__ import annotations

from collections.abc import Mapping

_DESCRIPTION = "say in its description when the skill is to be used, in the words of this prompt"

REMEDIES: Mapping[str, str] = {
    "timeout": "read the transcript: raise the timeout where the agent was on its way, shorten the "
    "prompt where it was lost",
    "limit": "raise the limit of turns or cost that ended it, or ask for less",
    "mixed": "where a refused skill took the prompt, begin with that: make the two descriptions "
    "tell apart what each skill is for; what is missing then has its own entry",
    "disallowed_hit": "make the two descriptions tell apart what each skill is for; where both are "
    "right, move this one to optional_skills",
    "invoked_but_not_loaded": "routing worked, loading did not: look in the result of the call for "
    "a wrong name, a permission rule or a broken skill file",
    "wrong_copy": "remove the other copy of the skill, or run in an isolated workspace",
    "skill_unavailable": "the agent was not offered this skill: stage it with --skills, or put it "
    "where this agent looks, and check its frontmatter",
    "optional_only": "sharpen the description of the expected or of the optional skill, or expect "
    "the optional one",
    "weak_evidence_only": f"it was named, not loaded: {_DESCRIPTION}",
    "evidence_too_weak": "where a read by hand is enough, set expected_skill_min_tier to 2; else "
    "make the description ask for the skill to be loaded",
    "missing_required": _DESCRIPTION,
    "answered_directly": "ask for work rather than for knowledge, or expect no skill",
    "skill_not_loaded": _DESCRIPTION,
    "missing_skill_file_evidence": "name the skill in expected_skill and drop the file, or set "
    "require_skill_file to false",
    "missing_activity_evidence": "ask for work in the prompt, or empty required_any_evidence",
    "mixed_evidence_missing": "take the missing tokens one by one",
    "cli_missing": "install the CLI of the agent, and see that it is on PATH",
    "auth": "set a credential variable of the agent; see routing-action providers list",
    "quota": "credit or budget is used up: wait, or pay",
    "rate_limit": "lower --max-parallel or --max-parallel-provider, or run again later",
    "server_error": "the service of the model failed: run again later",
    "api_error": "read what the CLI said; often it is a model name that the service does not know",
    "killed": "lower --max-parallel: the machine may lack memory",
    "schema_drift": "install the CLI version that worked before, or report the transcript",
    "never_ran": "check that the credentials are of a kind that the CLI takes without a terminal",
    "cancelled": "run again; what had ended is kept",
    "not_run": "remove the cause that the error names, and run again",
}


def find_remedy(failure_kind: str | None) -> str:
    """The sentence, without a full stop; "" where there is nothing to say."""
    return REMEDIES.get(failure_kind or "", "")
