"""Values that many tests need: cases, evidence lines, readings, and runs that were read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from routing_action.agents.discovery import all_providers
from routing_action.agents.provider import ReadContext, Reader
from routing_action.corpus.case import Case, Expectations, expectations_for
from routing_action.evidence.evidence import EvidenceCollector, Hit
from routing_action.evidence.outcome import Outcome, RunEnd, decide_outcome
from routing_action.evidence.tiers import canonical_base, canonical_call
from routing_action.evidence.transcript import EvidenceLine, LineKind, Reading
from routing_action.evidence.verdict import Verdict, judge

SKILLS = ("widget-testing", "widget-test", "order-api")
NO_CONTEXT = ReadContext()
FINISHED = Reading(
    recognised=5, is_record_stream=True, terminal=True, turns=2, tool_events=1, has_text=True
)
"""A run that completed, with tools and text."""


def lines_of(data: bytes) -> list[bytes]:
    """The lines of a stream, without their LF."""
    return data.removesuffix(b"\n").split(b"\n") if data else []


@dataclass(frozen=True)
class Run:
    """What a reader made of one run."""

    lines: list[EvidenceLine]
    evidence: EvidenceCollector
    reading: Reading
    exit_code: int | None = 0

    def tier(self, token: str) -> int | None:
        hit = self.evidence.hits.get(token)
        return hit.tier if hit else None

    def tiers(self) -> dict[str, int | None]:
        return {token: self.tier(token) for token in self.evidence.tokens}

    def outcome(self, **end: Any) -> Outcome:  # noqa: ANN401
        return decide_outcome(self.reading, RunEnd(exit_code=self.exit_code, **end))

    def kinds(self) -> list[LineKind]:
        return [line.kind for line in self.lines]


def read(
    agent: str,
    stdout: bytes | Iterable[bytes],
    stderr: bytes = b"",
    *,
    exit_code: int | None = 0,
    tokens: Iterable[str] = SKILLS,
    context: ReadContext = NO_CONTEXT,
    reader: Reader | None = None,
) -> Run:
    """Read a whole run by an agent's reader, or by the one that is given."""
    used = reader or all_providers()[agent].reader(context)
    found: list[EvidenceLine] = []
    for line in lines_of(stdout) if isinstance(stdout, bytes) else stdout:
        found += used.feed(line)
    for line in lines_of(stderr):
        used.feed_stderr(line)
    found += used.finish(exit_code)
    evidence = EvidenceCollector(agent, tuple(tokens), skills=context.skills)
    evidence.extend(found)
    return Run(found, evidence, used.reading, exit_code)


def judge_run(
    agent: str,
    case: Case,
    stdout: bytes,
    stderr: bytes = b"",
    *,
    end: RunEnd | None = None,
    context: ReadContext = NO_CONTEXT,
) -> Verdict:
    """The verdict of a case on a transcript."""
    end = end or RunEnd()
    expectations = expectations_of(case, agent)
    run = read(agent, stdout, stderr, exit_code=end.exit_code, context=context, tokens=())
    evidence = EvidenceCollector(
        agent, expectations.tokens, expectations.any_tokens, skills=context.skills
    )
    evidence.extend(run.lines)
    return judge(case, expectations, evidence, run.reading, end)


def case_of(**fields: Any) -> Case:  # noqa: ANN401
    """A case that expects `widget-testing` and nothing else, unless told otherwise."""
    basics: dict[str, Any] = {"case_id": "c1", "prompt": "Please check the gadget."}
    return Case(**{**basics, "expected_skill": "widget-testing", **fields})


def expectations_of(case: Case, agent: str = "claude") -> Expectations:
    drops = all_providers()[agent].drops_skill_file_tokens
    return expectations_for(case, agent, drops_skill_files=drops)


def line_of(kind: LineKind, text: str = "", **fields: Any) -> EvidenceLine:  # noqa: ANN401
    return EvidenceLine(kind, text, fields.pop("number", 1), **fields)


def load_line(skill: str = "widget-testing", **fields: Any) -> EvidenceLine:  # noqa: ANN401
    """A proven native call of a skill."""
    return line_of(LineKind.LOAD, canonical_call(skill), skill=skill, **fields)


def base_line(path: str, **fields: Any) -> EvidenceLine:  # noqa: ANN401
    """A proven shell read of SKILL.md, which is codex' load."""
    return line_of(LineKind.LOAD, canonical_base(path), path=path, **fields)


def attempt_line(skill: str = "widget-testing", **fields: Any) -> EvidenceLine:  # noqa: ANN401
    """A native call without success."""
    return line_of(LineKind.ATTEMPT, canonical_call(skill), skill=skill, **fields)


def read_line(path: str, **fields: Any) -> EvidenceLine:  # noqa: ANN401
    """A successful read of a file."""
    return line_of(LineKind.READ, f"read {path}", path=path, **fields)


def mention_line(text: str, **fields: Any) -> EvidenceLine:  # noqa: ANN401
    return line_of(LineKind.MENTION, text, **fields)


def hits_of(agent: str, lines: Iterable[EvidenceLine], *tokens: str) -> dict[str, Hit]:
    """The best hit of each token, after all lines."""
    collector = EvidenceCollector(agent, tokens or SKILLS)
    collector.extend(lines)
    return collector.hits


def judge_lines(
    case: Case,
    *lines: EvidenceLine,
    agent: str = "claude",
    reading: Reading = FINISHED,
    end: RunEnd | None = None,
) -> Verdict:
    """The verdict of a case on evidence lines and a reading given by hand."""
    expectations = expectations_of(case, agent)
    evidence = EvidenceCollector(agent, expectations.tokens, expectations.any_tokens)
    evidence.extend(lines)
    return judge(case, expectations, evidence, reading, end or RunEnd())
