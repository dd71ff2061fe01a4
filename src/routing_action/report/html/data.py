"""The data of the HTML report: pairs, units and where transcripts lie, in script elements."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from routing_action.corpus.baseline import Status
from routing_action.corpus.naming import bare_name, is_file_token, skill_key
from routing_action.gate.model import Delta, DeltaEntry
from routing_action.gate.rules import DeltaKind
from routing_action.github.publication import RunLinks
from routing_action.report.causes import find_shared_cause
from routing_action.report.escape import cut
from routing_action.report.html.script import to_json, to_script
from routing_action.report.reasons import (
    Sentence,
    describe_cause,
    index_passing,
    list_noise,
    say,
)
from routing_action.report.remedies import find_fix
from routing_action.report.steps import accept_rows, describe_acceptance, rerun_command
from routing_action.report.view import find_skipped, find_word, is_worth_a_look
from routing_action.results.find import find_artifact
from routing_action.results.model import UnitResult
from routing_action.results.transcript_lines import TranscriptLine, UnitRecord

PASSING_DETAIL_BYTES = 2**20
"""How much detail of passing units is kept; units that do not pass always have theirs."""

_ROWS_IN_A_PIECE = 500
_LONGEST_TEXT = 4000
_MOST_ITEMS = 60
_PAIR = attrgetter(
    "case_id", "agent", "kind", "gates", "was", "got", "line", "flaky", "timed_out", "passed",
    "trials", "unit_run_id",
)  # fmt: skip
_UNIT = attrgetter(
    "unit_run_id", "case_id", "agent", "trial", "status", "outcome", "failure_kind", "timed_out",
    "category", "duration_ms", "started_at_utc", "ended_at_utc", "cost_usd", "exit_code",
)  # fmt: skip
"""The columns of pairs and units, in the order in which templates/report_data.js reads them."""


class ReportData:
    """The rows of one report, made as they are read.

    Skills and folders of transcripts have numbers, which `index` explains when all rows are made.
    `source` is where the results are, for commands; `folder` is where the report will lie, None
    where that is not known. In a workflow run both become artifacts of it.
    """

    def __init__(self, delta: Delta, place: RunLinks, source: str, folder: Path | None) -> None:
        self._delta = delta
        self._place = place
        self._source = source
        self._folder = folder
        self.passing = index_passing(delta)
        self._skipped = find_skipped(delta)
        self._numbers: dict[str, int] = {}
        self._skills: dict[str, tuple[int, str]] = {}
        self._folders: dict[str, int] = {}
        self._causes: dict[str, int] = {"": 0}

    def pairs(self) -> Iterator[Markup]:
        """The rows of the delta."""
        return _stream_list(self._pair_line(row) for row in self._delta.rows)

    def prompts(self) -> Iterator[Markup]:
        """How each case asks."""
        return _stream_list(self._delta.prompts.items())

    def units(self, records: Iterable[UnitRecord]) -> Iterator[Markup]:
        """The trials, in the given order."""
        return _stream_list(self._unit_lines(records))

    def index(self) -> Iterator[Markup]:
        """What the numbers of skills and folders mean; read when all rows are made."""
        yield to_script(
            {
                "skills": [name for _, name in self._skills.values()],
                "folders": [self._describe_folder(folder) for folder in self._folders],
            }
        )

    def _pair_line(self, row: DeltaEntry) -> list[Any]:
        """The fields of `_PAIR`; an object with more where the pair is not simply as expected."""
        line = [*_PAIR(row)]
        line[2] = find_word(row)
        if is_worth_a_look(row) or row.got is not Status.PASS:
            line.append(self._pair_detail(row))
        return line

    def _pair_detail(self, row: DeltaEntry) -> dict[str, object]:
        delta = self._delta
        named = [token for token in row.missing_evidence if not is_file_token(token)]
        is_over = row.kind is DeltaKind.EXPIRED
        found: dict[str, object] = {
            "why": cut(row.why, _LONGEST_TEXT),
            "short": cut(say(describe_cause(row)), _LONGEST_TEXT),
            "noise": [cut(say(one), _LONGEST_TEXT) for one in self._noise(row)],
            "cause": self._number_cause(find_shared_cause(delta, row)),
            "skipped": (row.case_id, row.agent) in self._skipped,
            "failure": row.failure_kind if row.got is not Status.PASS else None,
            "fix": find_fix(delta, row) if row.gates or row.got is Status.INFRA_ERROR else "",
            "error": cut(row.error or "", _LONGEST_TEXT),
            "missing": row.missing_evidence,
            "disallowed": row.disallowed_hits,
            "loaded": row.loaded_skills,
            "subagent": row.subagent_skills,
            "not_alike": row.not_alike,
            "before": len(row.red_before) + len(row.red_in_runs),
            "proofs": [
                (one.token, one.tier, one.source_detail, cut(one.proof_line, _LONGEST_TEXT))
                for one in row.proofs[:_MOST_ITEMS]
            ],
            "skills": self._number_skills((*named, *row.disallowed_hits, *row.loaded_skills)),
            "rerun": rerun_command(delta, row) if row.got and not is_over else "",
            "accept": accept_rows(delta, (row,), self._source, self._place),
            "accepting": describe_acceptance(delta, row),
        }
        return {name: value for name, value in found.items() if value}

    def _noise(self, row: DeltaEntry) -> Iterator[Sentence]:
        return list_noise(row, self.passing.get(row.case_id, ()))

    def _unit_lines(self, records: Iterable[UnitRecord]) -> Iterator[list[Any]]:
        """The fields of `_UNIT`, transcripts, skills, and an object that holds the evidence.

        Passing units have the object as long as `PASSING_DETAIL_BYTES` last.
        """
        left = PASSING_DETAIL_BYTES
        for record in records:
            row = record.row
            skills = self._number_skills((row.expected_skill, *row.loaded_skills))
            line = [*_UNIT(row), self._number_transcripts(record.transcripts), skills]
            is_passing = row.status is Status.PASS
            if not is_passing or left > 0:
                line.append(_detail(row, record.lines))
                left -= len(to_json(line[-1])) if is_passing else 0
            yield line

    def _number_cause(self, cause: str) -> int:
        return self._causes.setdefault(cause, len(self._causes))

    def _number_skills(self, tokens: Iterable[str]) -> list[int]:
        return list(dict.fromkeys(self._number_skill(token) for token in tokens if token))

    def _number_skill(self, token: str) -> int:
        number = self._numbers.get(token)
        if number is None:
            name = bare_name(token) or token
            number, _ = self._skills.setdefault(skill_key(name), (len(self._skills), name))
            self._numbers[token] = number
        return number

    def _number_transcripts(self, paths: Sequence[str]) -> list[int | str]:
        """The folder of some transcripts, and which of them there are."""
        if not paths:
            return []
        folder = self._folders.setdefault(paths[0].rpartition("/")[0], len(self._folders))
        return [folder, *(path.rpartition(".")[2] for path in paths)]

    def _describe_folder(self, folder: str) -> dict[str, str]:
        """Its path, or the one inside its artifact, and how a link from the report leads there."""
        artifact = find_artifact(Path(folder)) if self._place.run_id else None
        if artifact is not None:
            inside = os.path.relpath(folder, artifact)
            link = f"../{artifact.name}/{inside}"
            return {"path": inside, "artifact": artifact.name, "link": _quote(link)}
        link = os.path.relpath(folder, self._folder) if self._folder else ""
        return {"path": folder, "link": _quote(link)}


def _quote(path: str) -> str:
    return quote(path, errors="replace")


def _detail(row: UnitResult, lines: tuple[TranscriptLine, ...]) -> dict[str, object]:
    found: dict[str, object] = {
        "ended_by": row.ended_by,
        "cli_version": row.cli_version,
        "model": row.model,
        "error": cut(row.error or "", _LONGEST_TEXT),
        "missing": row.missing_evidence[:_MOST_ITEMS],
        "matched": row.matched_evidence[:_MOST_ITEMS],
        "disallowed": row.disallowed_hits[:_MOST_ITEMS],
        "loaded": row.loaded_skills[:_MOST_ITEMS],
        "subagent": row.subagent_skills[:_MOST_ITEMS],
        "hits": [
            (token, hit.tier, hit.best_score, hit.source_detail, cut(hit.proof_line, _LONGEST_TEXT))
            if hit
            else (token,)
            for token, hit in islice(row.token_hits.items(), _MOST_ITEMS)
        ],
        "usage": row.usage.model_dump() if row.usage else None,
        "command": [cut(word, _LONGEST_TEXT) for word in row.command[:_MOST_ITEMS]],
        "excerpt": row.output_excerpt[-_LONGEST_TEXT:],
        "survivors": row.survivors[:_MOST_ITEMS],
        "notes": [cut(note, _LONGEST_TEXT) for note in row.notes[:_MOST_ITEMS]],
        "lines": lines,
    }
    return {name: value for name, value in found.items() if value}


def _stream_list(items: Iterable[object]) -> Iterator[Markup]:
    waiting = iter(items)
    yield Markup("[")
    separator = Markup("")
    while piece := list(islice(waiting, _ROWS_IN_A_PIECE)):
        yield separator + to_script(piece)[1:-1]
        separator = Markup(",\n")
    yield Markup("]")
