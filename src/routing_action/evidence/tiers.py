"""The single source of tier truth: what a line is worth, and which tier that makes it.

Source of the rules: docs/reference/evidence-rules.md. `compute_tier` is pure and deterministic;
`effective_tier` applies the floors and is its only caller outside the self-test.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass

from routing_action.corpus.naming import (
    SKILL_FILE,
    is_file_token,
    is_skill_file,
    names_token,
    path_is_file,
    path_is_skill,
    same_skill,
    skill_folder,
)
from routing_action.evidence.transcript import EvidenceLine, LineKind, SourceKind

SKILL_CALL_SCORE = 1000
LAUNCHING_SCORE = 900
BASE_DIRECTORY_SCORE = 700
TOOL_USE_SCORE = 100
COMMAND_SCORE = 60
MENTION_SCORE = 10

_SKILL_CALL = re.compile(r'"name"\s*:\s*"Skill"')
_SKILL_ARGUMENT = re.compile(r'"(?:skill|command)"\s*:\s*("(?:[^"\\]|\\.)*")')
_LAUNCHING = re.compile(r'Launching skill:\s*(?P<skill>[^\s"\\]+)')
_BASE_DIRECTORY = re.compile(r"Base directory for this skill:\s*(?P<path>.+)")


@dataclass(frozen=True, slots=True)
class LoadPattern:
    """A Tier 1 pattern: where it stands in a line, and whether that one is the token's."""

    name: str
    score: int
    found: Callable[[str], bool]
    attributed: Callable[[str, str], bool]


def _called_skill(line: str) -> str | None:
    """The skill named by a canonical skill call, None where none could be captured."""
    call = _SKILL_CALL.search(line)
    argument = _SKILL_ARGUMENT.search(line, call.end()) if call else None
    if argument is None:
        return None
    try:
        return str(json.loads(argument[1]))
    except ValueError:
        return None


def _call_is(line: str, token: str) -> bool:
    called = _called_skill(line)
    return called is not None and same_skill(called, token)


def _launch_is(line: str, token: str) -> bool:
    match = _LAUNCHING.search(line)
    return match is not None and same_skill(match["skill"], token)


def _base_is(line: str, token: str) -> bool:
    match = _BASE_DIRECTORY.search(line)
    return match is not None and path_is_skill(match["path"], token)


SKILL_CALL = LoadPattern(
    "skill call", SKILL_CALL_SCORE, lambda line: bool(_SKILL_CALL.search(line)), _call_is
)
LAUNCHING = LoadPattern(
    "Launching skill", LAUNCHING_SCORE, lambda line: bool(_LAUNCHING.search(line)), _launch_is
)
BASE_DIRECTORY = LoadPattern(
    "Base directory for this skill",
    BASE_DIRECTORY_SCORE,
    lambda line: bool(_BASE_DIRECTORY.search(line)),
    _base_is,
)
ALL_PATTERNS = (SKILL_CALL, LAUNCHING, BASE_DIRECTORY)

TIER_ONE: dict[str, tuple[LoadPattern, ...]] = {
    "claude": (SKILL_CALL, LAUNCHING),
    "codex": (BASE_DIRECTORY,),
    "copilot": (BASE_DIRECTORY, SKILL_CALL),
}
CANONICAL_ONLY: tuple[LoadPattern, ...] = (SKILL_CALL,)


def canonical_call(skill: str) -> str:
    """The one line that a proven native skill call is rendered as."""
    name = json.dumps(skill, ensure_ascii=False)
    return f'{{"name":"Skill","input":{{"skill":{name}}}}}'


def canonical_base(path: str) -> str:
    """The one line that a proven read of SKILL.md as a load is rendered as: its folder."""
    lead = "/" if path[:1] in ("/", "\\") else ""
    return f"Base directory for this skill: {lead}{'/'.join(skill_folder(path))}"


def score_proof_line(line: EvidenceLine, token: str) -> int:
    """What a line is worth for a token; 0 is no hit at all. Sums as evidence stacks.

    Points need the token in the call's target: the skill's own name or folder, or for a file
    token the path that was read; never written content, descriptions or output.
    """
    if line.kind in (LineKind.LOAD, LineKind.ATTEMPT):
        return _score_call(line, token)
    if line.kind is LineKind.READ:
        return COMMAND_SCORE if _read_names(line, token) else _score_mention(line, token)
    if line.kind is LineKind.TOOL_CALL and names_token(line.path or line.text, token):
        return TOOL_USE_SCORE if line.detail == "tool" else COMMAND_SCORE
    return _score_mention(line, token)


def _score_call(line: EvidenceLine, token: str) -> int:
    if not line.skill and line.kind is LineKind.ATTEMPT:
        return COMMAND_SCORE if names_token(line.text, token) else 0
    if is_file_token(token):
        own = is_skill_file(token) and _own_file(line, token)
        return BASE_DIRECTORY_SCORE if own else 0
    return sum(p.score for p in ALL_PATTERNS if p.attributed(line.text, token))


def _own_file(line: EvidenceLine, token: str) -> bool:
    """True where a SKILL.md token names the file of the skill that was called.

    The skill's name decides, whatever root the token gives: each agent has its own.
    """
    shown = "/".join((*skill_folder(line.path), SKILL_FILE))
    if line.path and path_is_file(shown, token):
        return True
    folder = skill_folder(token)
    return bool(folder) and any(p.attributed(line.text, folder[-1]) for p in ALL_PATTERNS)


def _read_names(line: EvidenceLine, token: str) -> bool:
    if is_file_token(token):
        return path_is_file(line.path, token)
    return is_skill_file(line.path) and path_is_skill(line.path, token)


def _score_mention(line: EvidenceLine, token: str) -> int:
    return MENTION_SCORE if names_token(line.text, token) else 0


def compute_tier(agent: str, token: str, line: str, score: int) -> int:
    """The tier (1, 2 or 3) of a line for a token, by the agent's explicit patterns.

    Tier 1: a Tier 1 pattern of this agent whose captured skill is the token. Tier 2: a Tier 1
    pattern that is not the token's or captured nothing, or a score of 60 or more. Tier 3: the rest.
    """
    found = [pattern for pattern in TIER_ONE.get(agent, CANONICAL_ONLY) if pattern.found(line)]
    if any(pattern.attributed(line, token) for pattern in found):
        return 1
    return 2 if found or score >= COMMAND_SCORE else 3


def tier_floor(line: EvidenceLine, token: str) -> int:
    """The best tier that this kind of line may reach for the token, whatever its text."""
    if line.wrong_copy:
        return 3
    if line.kind is LineKind.LOAD and line.source is SourceKind.CLI_OUTPUT:
        return 1
    if line.kind in (LineKind.LOAD, LineKind.ATTEMPT):
        return 2
    if line.kind is LineKind.READ and not line.partial and _read_names(line, token):
        return 2
    return 3


def effective_tier(agent: str, token: str, line: EvidenceLine) -> tuple[int, int] | None:
    """Tier and score of an evidence line for a token after the floors; None where it is no hit.

    A line attributed to another skill scores nothing, so it is no hit here.
    """
    score = score_proof_line(line, token)
    if score == 0:
        return None
    return max(compute_tier(agent, token, line.text, score), tier_floor(line, token)), score
