"""Reports for the browser tests, made as a command would make them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from routing_action.corpus.baseline import Status
from routing_action.gate.model import Delta, DeltaProof, DeltaSkill
from routing_action.gate.rules import DeltaKind
from routing_action.github.publication import RunLinks
from routing_action.report.html.write import write_html
from routing_action.results.model import UsageTotals
from routing_action.results.transcript_lines import TranscriptLine, UnitRecord
from tests.support.report_values import (
    HOSTILE,
    make_delta,
    make_entry,
    make_record,
    make_regression,
)
from tests.support.result_rows import make_hit, unit_id

PLACE = RunLinks(server_url="https://github.test", repository="octo/demo", sha="c" * 40, run_id="7")
MANY = 30_000
RED_UNIT = unit_id(3)


def write(
    folder: Path, name: str, delta: Delta, records: list[UnitRecord], place: RunLinks = PLACE
) -> Path:
    """The report as a file."""
    path = folder / f"{name}.html"
    with path.open("w", encoding="utf-8") as out:
        write_html(out, delta, records, place, folder=folder)
    return path


def write_mixed(folder: Path) -> Path:
    """A red gate with most words of a delta, trials, evidence and a transcript."""
    proof = DeltaProof(token="foo", tier=3, source_detail="mention at stdout line 4",
                       proof_line="I could load foo")  # fmt: skip
    rows = (
        make_regression(proofs=(proof,), trials=2, line=9, unit_run_id=RED_UNIT),
        make_regression("slow", "claude", timed_out=True, line=12, failure_kind="timeout"),
        make_entry("added", "claude", kind=DeltaKind.NEW, line=20),
        make_entry("limited", "codex", kind=DeltaKind.INFRA, was=Status.FAIL,
                   got=Status.INFRA_ERROR, line=24),
        make_entry("better", "codex", kind=DeltaKind.IMPROVEMENT, was=Status.FAIL, line=28),
        make_entry("lost", "claude", kind=DeltaKind.UNMEASURED, got=None, line=30),
        make_entry("flaky", "claude", flaky=True, passed=2, trials=3, line=32),
        make_entry("weak", "claude", was=Status.FAIL, got=Status.FAIL, line=36),
        *(make_entry("one", agent, line=3) for agent in ("claude", "codex")),
    )  # fmt: skip
    hits = {"foo": make_hit(3, 10, "mention at stdout line 4", "I could load foo"), "bar": None}
    lines = [TranscriptLine(n, f"line {n} of foo", n == 4) for n in range(2, 7)]
    records = [
        make_record(1),
        make_record(2, agent="codex", started_at_utc="2026-01-02T03:00:01.000Z"),
        make_record(3, lines, agent="codex", case_id="red", status="fail", trial=1,
                    failure_kind="weak_evidence_only", token_hits=hits, cost_usd=0.25,
                    missing_evidence=("foo", "bar"), command=("codex", "exec", "do it"),
                    output_excerpt="the end\nof it", error="it said no", model="m",
                    usage=UsageTotals(input_tokens=10), notes=("a note",)),
        make_record(4, agent="codex", case_id="red", status="fail", trial=2),
        make_record(5, case_id="slow", status="fail", timed_out=True, duration_ms=90_000,
                    ended_at_utc="2026-01-02T03:01:30.000Z"),
        make_record(6, case_id="limited", agent="codex", status="infra_error"),
    ]  # fmt: skip
    return write(folder, "mixed", make_delta(*rows, notes=("a note of the delta",)), records)


SKILLS = (
    DeltaSkill(
        name="foo", agents=("codex",), path=".claude/skills/foo/SKILL.md",
        description="Use when blue gadgets are built, and write what is needed.",
        before="Use when gadgets are built or checked, and write what is needed.",
    ),
    DeltaSkill(
        name="taker", agents=("codex",), path=".claude/skills/taker/SKILL.md",
        description="Use for any gadget.",
    ),
)  # fmt: skip


def write_taken(folder: Path, batch: str = "a batch", report: str = "reports") -> Path:
    """A red pair whose prompt another skill took after an edit, with its transcripts on disk."""
    rows = (
        make_entry("gone", "claude", kind=DeltaKind.REMOVED, got=None, was=Status.PASS),
        make_regression(loaded_skills=("taker",), trials=3, line=9, unit_run_id=RED_UNIT,
                        failure_kind="missing_required"),
        make_entry("red", "claude", line=9),
        make_entry("other", "claude", line=12),
    )  # fmt: skip
    transcripts = folder / batch / "transcripts"
    transcripts.mkdir(parents=True)
    (folder / report).mkdir(exist_ok=True)
    files = tuple(str(transcripts / f"{RED_UNIT}.{stream}") for stream in ("stdout", "stderr"))
    for file in files:
        Path(file).write_text(f"the text of {Path(file).suffix}\n", encoding="utf-8")
    failed = make_record(3, agent="codex", case_id="red", status="fail", expected_skill="foo",
                         loaded_skills=("taker",))  # fmt: skip
    records = [
        replace(failed, transcripts=files),
        make_record(1, case_id="red", expected_skill="foo", loaded_skills=("foo",)),
        make_record(2, case_id="other", expected_skill="bar", loaded_skills=("kit:bar",)),
    ]
    delta = make_delta(*rows, skills=SKILLS, prompts={
        "red": "Please check the blue gadget and write what is needed.",
        "other": "Something else altogether.",
    })  # fmt: skip
    return write(folder / report, "taken", delta, records)


def write_outage(folder: Path) -> Path:
    """60 pairs that could not be measured for one reason, and one that broke."""
    rows = [make_regression(line=2)]
    records = []
    for number in range(60):
        name, error = f"case-{number:02d}", f"429 on request {number}: try again in {number} s"
        rows.append(make_entry(name, kind=DeltaKind.REGRESSION, gates=True, failure_kind="quota",
                               got=Status.INFRA_ERROR, error=error, line=number + 3,
                               why="expected pass, got infra_error (quota)", passed=0))  # fmt: skip
        records.append(make_record(number + 1, case_id=name, status="infra_error", error=error,
                                   failure_kind="quota", outcome="quota"))  # fmt: skip
    return write(folder, "outage", make_delta(*rows), records)


def write_many(folder: Path) -> Path:
    """30,000 pairs, each with a unit; every hundredth is red."""
    agents = ("claude", "codex", "copilot")
    rows, records = [], []
    for number in range(MANY):
        name, agent = f"case-{number // 3:05d}", agents[number % 3]
        red = number % 100 == 7
        build = make_regression if red else make_entry
        rows.append(build(name, agent, line=number // 3 + 2))
        records.append(make_record(number + 1, case_id=name, agent=agent, duration_ms=number,
                                   status="fail" if red else "pass"))  # fmt: skip
    rows.sort(key=lambda row: not row.gates)
    return write(folder, "many", make_delta(*rows), records)


def skill_of(text: str) -> DeltaSkill:
    """A skill whose every field is a text."""
    return DeltaSkill(name=text or "x", agents=(text,), description=text, path=text, before=text)


def write_hostile(folder: Path) -> Path:
    """Every hostile text in every place that holds text from outside."""
    rows, records = [], []
    for number, text in enumerate((*HOSTILE, "__proto__", "constructor")):
        proof = DeltaProof(token=text, tier=3, source_detail=text, proof_line=text)
        rows.append(make_regression(text, text, why=text, error=text, failure_kind=text,
                                    missing_evidence=(text,), loaded_skills=(text,),
                                    subagent_skills=(text,), not_alike=(text,),
                                    proofs=(proof,)))  # fmt: skip
        records.append(make_record(
            number + 1, [TranscriptLine(1, text, True)], case_id=text, agent=text, status="fail",
            failure_kind=text, error=text + "\ud800", outcome=text, ended_by=text, model=text,
            cli_version=text, category=text, command=(text,), output_excerpt=text, notes=(text,),
            survivors=(text,), token_hits={text: make_hit(3, 10, text, text), "": None},
            loaded_skills=(text,), subagent_skills=(text,), started_at_utc=text, ended_at_utc=text,
        ))  # fmt: skip
    delta = make_delta(
        *rows,
        notes=HOSTILE,
        reasons=HOSTILE,
        cases_file=HOSTILE[0],
        skills=[skill_of(text) for text in HOSTILE],
    )
    return write(folder, "hostile", delta, records)
