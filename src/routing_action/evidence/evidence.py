"""Collects, for each token, the best hit of a run; keeps no transcript, so memory is bounded.

Order of hits: lower tier, then higher score, then CLI output over logs, then first seen.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from routing_action.corpus.identity import NO_SKILLS, SkillIndex
from routing_action.corpus.naming import names_token
from routing_action.evidence.identified import (
    Identity,
    identify,
    line_for,
    speaks_of_a_skill,
    undecided,
)
from routing_action.evidence.prefilter import Prefilter
from routing_action.evidence.tiers import (
    MENTION_SCORE,
    TOOL_USE_SCORE,
    compute_tier,
    effective_tier,
)
from routing_action.evidence.transcript import EvidenceLine, LineKind, SourceKind

PROOF_LIMIT = 2000
"""Characters of a proof line that are kept."""
_MOST_LOADS = 8
"""Skills whose load is kept with its line."""

_CEILINGS = {
    LineKind.TOOL_CALL: (3, -TOOL_USE_SCORE),
    LineKind.TOOL_RESULT: (3, -MENTION_SCORE),
    LineKind.MENTION: (3, -MENTION_SCORE),
}
"""The best rank, but for its source, that a line of a kind can have: most are done with soon."""

_ACTIVITY = (LineKind.LOAD, LineKind.ATTEMPT, LineKind.READ, LineKind.TOOL_CALL)


@dataclass(frozen=True, slots=True)
class Hit:
    """The best evidence line for a token: its tier after the floors, score, and the proof."""

    tier: int
    score: int
    kind: LineKind
    source: SourceKind
    detail: str
    proof_line: str
    number: int
    text_tier: int
    wrong_copy: bool = False
    partial: bool = False

    @property
    def rank(self) -> tuple[int, int, int]:
        """Sorts the better hit first; equal ranks keep the one seen first."""
        return (self.tier, -self.score, 0 if self.source is SourceKind.CLI_OUTPUT else 1)


def better(first: Hit | None, second: Hit | None) -> Hit | None:
    """The stronger of two hits; the first of equals; None only where both are."""
    if first is None or second is None:
        return first or second
    return second if second.rank < first.rank else first


def describe_place(line: EvidenceLine) -> str:
    """Where a line stands and what it states, for people: `load at stdout line 12`."""
    place = line.detail if line.source is SourceKind.LOG_FALLBACK else "stdout"
    return f"{line.kind.value} at {place} line {line.number}"


def quote_proof(line: EvidenceLine, token: str) -> str:
    """The source line; of a long one the part that names the token."""
    said = line.kind in (LineKind.MENTION, LineKind.TOOL_RESULT)
    needle = re.compile(re.escape(token.rpartition(":")[2]), re.IGNORECASE)
    for text in (line.quote, line.text if said else ""):
        match = needle.search(text)
        if match and match.end() > PROOF_LIMIT:
            place = match.start()
            return "…" + text[place - PROOF_LIMIT // 2 : place + PROOF_LIMIT // 2 - 1]
        if match:
            return text[:PROOF_LIMIT]
    return (line.quote or line.text)[:PROOF_LIMIT]


def build_hit(agent: str, token: str, line: EvidenceLine) -> Hit | None:
    """The hit that a line is for a token, None where it is none."""
    judged = effective_tier(agent, token, line)
    if judged is None:
        return None
    tier, score = judged
    return Hit(
        tier=tier,
        score=score,
        kind=line.kind,
        source=line.source,
        detail=describe_place(line),
        proof_line=quote_proof(line, token),
        number=line.number,
        text_tier=compute_tier(agent, token, line.text, score),
        wrong_copy=line.wrong_copy,
        partial=line.partial,
    )


@dataclass(slots=True)
class EvidenceCollector:
    """Takes evidence lines one by one and keeps what a verdict needs.

    `loads` lists the skills that were natively loaded, in order and without repeats; `main_loads`
    those of them that the main agent loaded itself, `attempts` those called without success.
    `load_lines` keeps the line that proved each of the first loads. `activity` is True after any
    tool or skill event. Where `count_subagents` is off, a load in a
    sub-agent is worth no more than an attempt. `skills` resolves names to the skills that the
    agent had; `ambiguous` holds the tokens that lines left open, with the skills in question.
    """

    agent: str
    tokens: tuple[str, ...]
    any_tokens: tuple[str, ...] = ()
    count_subagents: bool = True
    skills: SkillIndex = NO_SKILLS
    prefilter: Prefilter = field(init=False)
    hits: dict[str, Hit] = field(default_factory=dict)
    any_hits: dict[str, EvidenceLine] = field(default_factory=dict)
    loads: list[str] = field(default_factory=list)
    main_loads: set[str] = field(default_factory=set)
    load_lines: dict[str, EvidenceLine] = field(default_factory=dict)
    attempts: list[str] = field(default_factory=list)
    wrong_copies: set[str] = field(default_factory=set)
    ambiguous: dict[str, tuple[str, ...]] = field(default_factory=dict)
    activity: bool = False

    def __post_init__(self) -> None:
        """Make the prefilter of all tokens and words, which a reader may rule texts out by."""
        others = (name for token in self.tokens for name in self.skills.all_names(token))
        self.prefilter = Prefilter((*self.tokens, *others, *self.any_tokens))

    def add(self, line: EvidenceLine) -> None:
        """Judge one line for every token and keep it where it is the best so far."""
        if line.subagent and line.kind is LineKind.LOAD and not self.count_subagents:
            line = replace(line, kind=LineKind.ATTEMPT)
        whose = identify(line, self.skills) if speaks_of_a_skill(line) else None
        for token in self._candidates(line):
            hit = self._hit(token, line, whose)
            if hit is not None:
                self._keep(token, hit)
        for word in self.any_tokens:
            if word not in self.any_hits and _holds(line.text, word):
                self.any_hits[word] = line
        self._note_activity(line, whose)

    def _hit(self, token: str, line: EvidenceLine, whose: Identity | None) -> Hit | None:
        """The hit of a line that speaks of the token's skill; of others, a mention at best."""
        if whose is None:
            return build_hit(self.agent, token, line)
        named = line_for(line, whose, token, self.skills)
        hit = build_hit(self.agent, token, named or line)
        if named is not None:
            return hit
        left_open = undecided(whose, token, self.skills)
        if left_open:
            self.ambiguous.setdefault(token, left_open)
        return hit if hit is not None and hit.tier == 3 else None

    def extend(self, lines: Iterable[EvidenceLine]) -> None:
        """Add each line in order."""
        for line in lines:
            self.add(line)

    def _candidates(self, line: EvidenceLine) -> Sequence[str]:
        """The tokens that a line may be a better hit for."""
        if speaks_of_a_skill(line) or line.kind in (LineKind.LOAD, LineKind.ATTEMPT):
            return self.tokens
        text = f"{line.text}\n{line.path}" if line.path else line.text
        return self.prefilter.among(text, self._open_tokens(line))

    def _open_tokens(self, line: EvidenceLine) -> Sequence[str]:
        """The tokens for which a line of this kind could be better than what there is."""
        ceiling = _CEILINGS.get(line.kind)
        if ceiling is None or line.wrong_copy or line.source is not SourceKind.CLI_OUTPUT:
            return self.tokens
        best, hits = (*ceiling, 0), self.hits
        return [token for token in self.tokens if token not in hits or best < hits[token].rank]

    def _keep(self, token: str, hit: Hit) -> None:
        earlier = self.hits.get(token)
        if earlier is None or hit.rank < earlier.rank:
            self.hits[token] = hit
        if hit.wrong_copy:
            self.wrong_copies.add(token)

    def _note_activity(self, line: EvidenceLine, whose: Identity | None) -> None:
        if line.kind in _ACTIVITY:
            self.activity = True
        if line.kind is LineKind.LOAD and line.skill:
            self._note_load((whose.name if whose else "") or line.skill, line)
        if line.kind is LineKind.ATTEMPT and line.skill and line.skill not in self.attempts:
            self.attempts.append(line.skill)

    def _note_load(self, skill: str, line: EvidenceLine) -> None:
        if skill not in self.loads:
            self.loads.append(skill)
            if len(self.load_lines) < _MOST_LOADS:
                self.load_lines[skill] = line
        if not line.subagent:
            self.main_loads.add(skill)

    def loads_beside(self, tokens: Collection[str]) -> dict[str, Hit]:
        """The loads of skills that none of the tokens names: what took the prompt instead."""
        found: dict[str, Hit | None] = {}
        for skill, line in self.load_lines.items():
            whose = identify(line, self.skills)
            if not any(line_for(line, whose, token, self.skills) for token in tokens):
                named = line_for(line, whose, skill, self.skills)
                found[skill] = build_hit(self.agent, skill, named or line)
        return {skill: hit for skill, hit in found.items() if hit is not None}

    @property
    def subagent_loads(self) -> tuple[str, ...]:
        """The skills that a sub-agent alone has loaded, in the order of `loads`."""
        return tuple(skill for skill in self.loads if skill not in self.main_loads)

    def best_of(self, names: Iterable[str]) -> Hit | None:
        """The best hit among several names of one token (aliases)."""
        best: Hit | None = None
        for name in names:
            best = better(best, self.hits.get(name))
        return best

    def merge(self, other: EvidenceCollector) -> None:
        """Take over what another collector found; the strongest hit stays."""
        for token, hit in other.hits.items():
            self._keep(token, hit)
        for token, line in other.any_hits.items():
            self.any_hits.setdefault(token, line)
        self.loads.extend(name for name in other.loads if name not in self.loads)
        self.main_loads |= other.main_loads
        for skill, line in other.load_lines.items():
            self.load_lines.setdefault(skill, line)
        self.attempts.extend(name for name in other.attempts if name not in self.attempts)
        self.wrong_copies |= other.wrong_copies
        self.ambiguous = {**other.ambiguous, **self.ambiguous}
        self.activity = self.activity or other.activity


def as_log_line(line: EvidenceLine, path: str) -> EvidenceLine:
    """The same line as found in a session log: it can reach Tier 2 at best."""
    return replace(line, source=SourceKind.LOG_FALLBACK, detail=path)


def _holds(text: str, token: str) -> bool:
    """True where free text holds an activity token; those may end in `(` or `:`."""
    if token[-1:].isalnum():
        return names_token(text, token)
    return token.casefold() in text.casefold()


def explain_hit(hit: Hit | None, needed: int) -> str:
    """Which rule gave a hit its tier, and what would have been needed for `needed`."""
    if hit is None:
        return "no line of the transcript names it as its target" + _needed(needed)
    reason = _REASONS.get(hit.kind, "")
    if hit.wrong_copy:
        reason = "the file lies outside the folder that the skills were staged in"
    elif hit.partial:
        reason = "the read did not show the file's first lines"
    elif hit.source is SourceKind.LOG_FALLBACK:
        reason = "found in a session log alone, which is Tier 2 at best"
    head = f"tier {hit.tier} (score {hit.score}): {reason}"
    return head + ("" if hit.tier <= needed else _needed(needed))


_REASONS = {
    LineKind.LOAD: "a native load, proven by its successful result",
    LineKind.ATTEMPT: "a native call without a successful result",
    LineKind.READ: "a successful read of a file, which is no native load for this agent",
    LineKind.TOOL_CALL: "a tool call that names it, without a proven read",
    LineKind.TOOL_RESULT: "named in a tool's output, which proves nothing",
    LineKind.MENTION: "named in text, which proves nothing",
}


def _needed(needed: int) -> str:
    wanted = {
        1: "needed: a native load with a successful result (tier 1)",
        2: "needed: a load, or a successful read of the file itself (tier 2)",
    }
    return "; " + wanted[needed] if needed in wanted else ""
