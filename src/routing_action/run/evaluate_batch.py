"""Judges the stored transcripts of a batch again, by the cases as they are now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from routing_action.agents.provider import Provider, ReadContext
from routing_action.corpus.case import Case
from routing_action.corpus.cases_file import Corpus
from routing_action.corpus.identity import KnownSkill, SkillIndex
from routing_action.corpus.units import Unit
from routing_action.errors import DocumentError
from routing_action.evidence.outcome import Outcome, RunEnd
from routing_action.files.redaction import Redactor
from routing_action.results.batch_folder import RESULTS_FILE, TRANSCRIPTS
from routing_action.results.model import Results, UnitResult, summarise, summarise_pairs
from routing_action.results.read import read_results
from routing_action.results.transcript_lines import check_transcripts
from routing_action.run.evaluate import CaseJudge, read_lines
from routing_action.run.rows import RunRecord, build_row

EVALUATED_FILE = "evaluated.json"


@dataclass(frozen=True, slots=True)
class Reevaluated:
    """The batch as the present cases judge it, and what that could not be said of.

    `changed` are the rows before and after whose status differs. `gone` are cases that the case
    file has no longer, `asked_otherwise` those with another prompt: neither has a row now.
    """

    results: Results
    changed: tuple[tuple[UnitResult, UnitResult], ...]
    kept: tuple[UnitResult, ...]
    gone: tuple[str, ...]
    asked_otherwise: tuple[str, ...]


def evaluate_batch(
    batch: Path, corpus: Corpus, providers: Mapping[str, Provider], now: str
) -> Reevaluated:
    """Judge every run of a batch's folder again; no agent is started and nothing is written.

    A row is `kept` as it was where its transcript cannot bear a verdict: the agent was not
    started, or the proof is in its session logs. Raises DocumentError for a transcript that is
    missing or was changed, and for an agent that is not known.
    """
    file = batch / RESULTS_FILE
    before = read_results(file)
    cases = {case.case_id: case for case in corpus.cases}
    rows: list[UnitResult] = []
    kept: list[UnitResult] = []
    changed: list[tuple[UnitResult, UnitResult]] = []
    otherwise: dict[str, None] = {}
    for row in before.results:
        case = cases.get(row.case_id)
        if case is None:
            continue
        if row.command and not any(word.endswith(case.prompt) for word in row.command):
            otherwise[row.case_id] = None
            continue
        if not _bears_a_verdict(row):
            kept.append(row)
            rows.append(row)
            continue
        if row.agent not in providers:
            raise DocumentError(
                f"the agent {row.agent!r} is not known here",
                file=str(file),
                remedy="describe it in routing.toml, or name its file with --config FILE",
            )
        check_transcripts(file, row)
        rows.append(_judge(before, row, case, providers[row.agent], batch / TRANSCRIPTS))
        if rows[-1].status is not row.status:
            changed.append((row, rows[-1]))
    gone = [one for one in before.options.selected_case_ids if one not in cases]
    options = before.options.model_copy(
        update={
            "selected_case_ids": _without(before.options.selected_case_ids, gone),
            "case_ids": _without(before.options.case_ids, gone),
            "corpus_sha256": corpus.sha256,
        }
    )
    results = before.model_copy(
        update={
            "generated_at_utc": now,
            "summary": summarise(rows),
            "pairs": summarise_pairs(rows),
            "options": options,
            "results": tuple(rows),
        }
    )
    return Reevaluated(results, tuple(changed), tuple(kept), tuple(gone), tuple(otherwise))


def _bears_a_verdict(row: UnitResult) -> bool:
    return bool(row.stdout_sha256) and row.source != "log_fallback"


def _without(names: Iterable[str], gone: Iterable[str]) -> tuple[str, ...]:
    return tuple(name for name in names if name not in gone)


def _judge(
    batch: Results, row: UnitResult, case: Case, provider: Provider, transcripts: Path
) -> UnitResult:
    """The row by the case; what is known of the run beside its output stays."""
    skills = SkillIndex(
        KnownSkill(one.name, one.declared_name or one.name, "", one.path, one.description)
        for one in batch.skills
        if row.agent in one.agents
    )
    count = batch.options.subagent_loads == "count"
    judge = CaseJudge(provider, case, ReadContext(skills=skills), count_subagents=count)
    stdout, stderr = (
        read_lines(transcripts / f"{row.unit_run_id}.{stream}") for stream in ("stdout", "stderr")
    )
    reading = judge.read(stdout, stderr, row.exit_code)
    if reading.catalogue is None:
        reading = replace(reading, catalogue=row.catalogue)
    verdict = judge.judge(reading, RunEnd.by(row.ended_by, row.exit_code))
    record = RunRecord(
        row.command,
        row.ended_by,
        exit_code=row.exit_code,
        duration_ms=row.duration_ms,
        survivors=row.survivors,
        started_at_utc=row.started_at_utc,
        ended_at_utc=row.ended_at_utc,
        output_excerpt=row.output_excerpt,
        error=None if verdict.outcome is Outcome.COMPLETED else row.error,
        notes=_without(row.notes, reading.notes),
        matched_log_file=row.matched_log_file,
        sha256s=(row.stdout_sha256, row.stderr_sha256),
    )
    unit = Unit(0, row.agent, case, row.trial)
    found = build_row(
        unit, row.unit_run_id, record, verdict, reading, judge.evidence, Redactor()
    )  # the transcript was redacted when it was stored
    same = ("usage", "cost_usd", "cli_version", "model", "throttle_retries")
    return found.model_copy(update={name: getattr(row, name) for name in same})
