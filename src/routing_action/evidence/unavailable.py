"""Says whether the agent had a skill at all: what it offered, and what its CLI did not take.

The words are those of the CLIs' own lines: codex and opencode (`failed to load skill PATH`,
`PATH/SKILL.md: invalid YAML`), copilot (`The following skills failed to load:`), claude (`Failed to
parse YAML frontmatter in PATH`), gemini and kimi (`Skipping skill NAME: ...`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from routing_action.corpus.identity import describe_ambiguity
from routing_action.corpus.naming import names_token, same_skill, skill_folder
from routing_action.evidence.evidence import EvidenceCollector
from routing_action.evidence.transcript import Reading

_FAILED = (
    r"fail(?:ed|ing|s)? (?:to )?(?:load|pars|read|validat|import|regist|discover)\w*"
    r"|(?:could(?: not|n't)|can(?:not|'t)|unable to|did not|didn't) (?:be )?"
    r"(?:load|pars|read|validat|import|regist)\w*"
    r"|(?:was|were|is|are|been) (?:not (?:loaded|included|registered|offered)"
    r"|(?:skipped|dropped|ignored|rejected|refused|disabled|excluded))"
    r"|not loaded|(?:skip|dropp|ignor|reject|refus|discard|exclud)(?:ping|p?ed|ing)"
    r"(?: \w+){0,2} skills?\b|skills?\b(?: \S+){0,2} (?:skipped|dropped|ignored|rejected|refused)"
)
_REFUSED = re.compile(_FAILED, re.IGNORECASE)
_SKILL = re.compile(r"\bskills?\b", re.IGNORECASE)
_REASON = re.compile(
    r"SKILL\.md[`'\"]?:.*?(?:invalid|missing|malformed|exceed|too long|at most|must |fail|cannot)",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"\b(?:no|0|none of the|never|without) (?:\w+ ){0,2}?(?:skills?|fail|skip)|\btruncated\b"
    r"|\bshortened\b|\bunknown (?:field|key)",
    re.IGNORECASE,
)
_LISTED = re.compile(r"\s*(?:[-*•⚠✗×!]\s*|\s)\S|[\w./\\ -]{1,200}: \S")

_REMEDIES = (
    (r"name\b.*(?:exceed|too long|at most|longer)", "shorten its name to at most 64 characters"),
    (
        r"exceed|too long|at most|longer than|too large",
        "shorten its description to at most 1024 characters",
    ),
    (
        r"frontmatter|yaml|missing field|malformed|invalid|missing|must ",
        "correct the frontmatter of its SKILL.md: `cases check` shows what is wrong",
    ),
    (r"duplicate|conflict|already", "rename one of the skills that have the same name"),
    (r"permission|denied|disabled", "allow the skill in the agent's settings"),
)


def is_refusal(line: str) -> bool:
    """True where a line of a CLI's own says that it did not take a skill."""
    if _DENIED.search(line):
        return False
    return bool(_REASON.search(line) or (_SKILL.search(line) and _REFUSED.search(line)))


def continues_refusal(line: str, before: str) -> bool:
    """True for an entry of the list that a refusal without a skill's file has opened."""
    opens = "skill.md" not in before.casefold() and before.rstrip().endswith((":", "."))
    return opens and _LISTED.match(line) is not None and _DENIED.search(line) is None


def find_refusal(reading: Reading, names: Iterable[str]) -> str:
    """The CLI's own line about a skill of these names that it did not take; "" for none.

    What the agent offered all the same was taken.
    """
    names = tuple(names)
    if reading.catalogue is not None and is_offered(reading, names):
        return ""
    lines = (one.replace("\\", "/") for one in reading.refusals)
    return next((one for one in lines if any(names_token(one, name) for name in names)), "")


def is_offered(reading: Reading, names: Iterable[str]) -> bool:
    """True where the catalogue holds one of the names, or a folder of that name."""
    folders = (skill_folder(one)[-1] for one in reading.offered_at)
    offered = (*(reading.catalogue or ()), *folders)
    return any(same_skill(one, name) for name in names for one in offered)


def find_refusal_remedy(line: str) -> str:
    """What a person does about a refusal; "" where its reason is not known."""
    reason = line.rpartition("SKILL.md")[2] or line
    return next((what for said, what in _REMEDIES if re.search(said, reason, re.IGNORECASE)), "")


def find_unsettled(
    groups: Mapping[str, tuple[str, ...]], evidence: EvidenceCollector, reading: Reading
) -> dict[str, tuple[str, str]]:
    """Of skills, with the names each goes by, those that the run says nothing about.

    One that the CLI did not take can be neither used nor left alone; of an ambiguous name it is
    not known which skill was used. Gives the failure kind and the cause of each.
    """
    found: dict[str, tuple[str, str]] = {}
    for token, names in groups.items():
        several = next((evidence.ambiguous[n] for n in names if n in evidence.ambiguous), ())
        known = (*names, *(one for name in names for one in evidence.skills.all_names(name)))
        line = find_refusal(reading, known)
        hit = evidence.best_of(names)
        if several:
            found[token] = ("ambiguous_skill", describe_ambiguity(token, several))
        elif line and (hit is None or hit.tier > 1):
            found[token] = ("skill_unavailable", f"{token} was not taken: {line}")
    return found
