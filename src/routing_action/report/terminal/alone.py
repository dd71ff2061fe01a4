"""A run with nothing to compare it with, as a delta in which every pair is expected to pass."""

from __future__ import annotations

from datetime import datetime

from routing_action.corpus.baseline import BaselineEntry, Status
from routing_action.corpus.cases_file import Corpus
from routing_action.gate.build_delta import build_delta
from routing_action.gate.conclusion import Policy
from routing_action.gate.find_baselines import Baselines
from routing_action.gate.model import BaselineSource, Delta
from routing_action.results.measured import MeasuredBatch
from routing_action.results.model import Results

_EXPECTED = BaselineEntry(expected_status=Status.PASS, allow_timeout=True)
_SOURCE = BaselineSource(path="", commit=None, date=None, how="", present=False, edited=False)


def judge_alone(results: Results, program: str, corpus: Corpus | None = None) -> Delta:
    """Rows and facts that are told as a comparison tells them; its conclusion means nothing.

    Only pairs that have a result get a row. Prompts are those of `corpus`, if it is known.
    """
    options = results.options
    batch = MeasuredBatch(
        "", "", 1, results.complete, options, results.skills, tuple(results.results)
    )
    entries: dict[str, dict[str, BaselineEntry]] = {}
    for pair in results.pairs:
        entries.setdefault(pair.case_id, {})[pair.agent] = _EXPECTED
    delta = build_delta(
        [batch],
        Baselines(entries, entries, _SOURCE),
        corpus or Corpus(options.cases_file, (), {}, options.corpus_sha256),
        unmeasured={},
        policy=Policy(),
        now=datetime.fromisoformat(results.generated_at_utc),
        program=program,
    )
    rows = tuple(
        row.model_copy(update={"why": "its trials disagree" if row.flaky else "did not pass"})
        for row in delta.rows
        if row.got is not None
    )
    return delta.model_copy(update={"rows": rows})
