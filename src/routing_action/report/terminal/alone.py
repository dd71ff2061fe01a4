"""A run with nothing to compare it with, as a delta in which every pair is expected to pass."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from routing_action.corpus.baseline import BaselineEntry, Status
from routing_action.corpus.cases_file import Corpus
from routing_action.evidence.chance_sequence import Finding
from routing_action.gate.build_delta import build_delta
from routing_action.gate.conclusion import Policy
from routing_action.gate.find_baselines import Baselines
from routing_action.gate.judging.describe_row import describe_chance
from routing_action.gate.judging.settle import UNPROVEN, Weighed
from routing_action.gate.model import BaselineSource, Delta, DeltaEntry
from routing_action.gate.rules import EXPIRED, DeltaKind
from routing_action.results.measured import MeasuredBatch
from routing_action.results.model import Results

_NOTHING = Weighed()
_EXPECTED = BaselineEntry(expected_status=Status.PASS, allow_timeout=True)
_SOURCE = BaselineSource(path="", commit=None, date=None, how="", present=False, edited=False)


def judge_alone(
    results: Results,
    program: str,
    corpus: Corpus | None = None,
    weighed: Weighed = _NOTHING,
) -> Delta:
    """Rows and facts that are told as a comparison tells them; its conclusion means nothing.

    `weighed` is what a comparison will say of its pairs.
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
        Baselines(entries, entries, _SOURCE.model_copy(update={"path": weighed.baseline})),
        corpus or Corpus(options.cases_file, (), {}, options.corpus_sha256),
        unmeasured={},
        policy=Policy(),
        now=datetime.fromisoformat(results.generated_at_utc),
        program=program,
    )
    rows = tuple(
        row.model_copy(update=_describe(row, weighed)) for row in delta.rows if row.got is not None
    )
    return delta.model_copy(update={"rows": rows})


def _describe(row: DeltaEntry, weighed: Weighed) -> dict[str, Any]:
    """What differs from a row that has a baseline."""
    pair = (row.case_id, row.agent)
    if pair in weighed.ended:
        why = EXPIRED.format(weighed.ended[pair])
        return {"kind": DeltaKind.EXPIRED, "gates": True, "why": why}
    chance = weighed.chances.get(pair)
    told: dict[str, Any] = {"why": "its trials disagree" if row.flaky else "did not pass"}
    if chance is not None:
        told["chance"] = describe_chance(chance)
        if chance.finding in UNPROVEN:
            told |= {"kind": DeltaKind.OK, "gates": False}
        if chance.finding is Finding.NOT_PROVEN:
            told["kind"] = DeltaKind.NOT_PROVEN
    return told
