"""Recorded runs through the process door, on systems that offer less, are judged as labelled."""

from __future__ import annotations

import asyncio
import json
import sys
import uuid
from dataclasses import dataclass
from pathlib import Path

import pytest

from routing_action.agents.discovery import all_providers
from routing_action.agents.provider import ReadContext, Reader
from routing_action.evidence.evidence import EvidenceCollector
from routing_action.evidence.outcome import RunEnd, decide_outcome
from routing_action.files.redaction import Redactor
from routing_action.run.output.capture import TranscriptSink
from routing_action.run.process.process import ProcessLimits, ProcessResult, run_process
from routing_action.run.replay.recordings import ReplaySet
from tests.fakes.children import LESSER_SYSTEMS, lacking
from tests.support.recorded import Recording, recordings

LIMITS = ProcessLimits(wall_seconds=60)
EVERY = recordings("cli")
AT_ONCE = 4


@dataclass
class Replayed:
    """What a run through the process door came to."""

    result: ProcessResult
    reader: Reader
    evidence: EvidenceCollector


def make_set(folder: Path, chosen: list[Recording]) -> ReplaySet:
    """The recordings as a set that can be replayed; a case for each."""
    for number, one in enumerate(chosen):
        stem = folder / one.provider / f"case-{number}"
        stem.parent.mkdir(exist_ok=True, parents=True)
        stem.with_suffix(".stdout").write_bytes(one.stdout)
        stem.with_suffix(".stderr").write_bytes(one.stderr)
        code = one.exit_code if one.exit_code is not None else 0
        stem.with_suffix(".json").write_text(json.dumps({"exit_code": code}), encoding="utf-8")
    return ReplaySet(folder)


async def replay(recorded: ReplaySet, one: Recording, number: int, folder: Path) -> Replayed:
    evidence = EvidenceCollector(one.provider, one.tokens)
    context = ReadContext(may_name=evidence.prefilter.may_name)
    reader = all_providers()[one.provider].reader(context)
    result = await run_process(
        recorded.argv_for(one.provider, f"case-{number}"),
        cwd=folder,
        env={"PATH": "/usr/bin:/bin"},
        stdout=TranscriptSink(
            folder / f"{number}.out",
            Redactor(),
            lambda line: evidence.extend(reader.feed(line)),
            terminal_seen=lambda: reader.terminal_seen,
        ),
        stderr=TranscriptSink(folder / f"{number}.err", Redactor(), reader.feed_stderr),
        limits=LIMITS,
        marker=str(uuid.uuid4()),
    )
    evidence.extend(reader.finish(one.exit_code))
    return Replayed(result, reader, evidence)


async def replay_all(recorded: ReplaySet, chosen: list[Recording], folder: Path) -> list[Replayed]:
    places = asyncio.Semaphore(AT_ONCE)

    async def place(number: int, one: Recording) -> Replayed:
        async with places:
            return await replay(recorded, one, number, folder)

    return await asyncio.gather(*(place(*item) for item in enumerate(chosen)))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no process groups")
@pytest.mark.parametrize("name", LESSER_SYSTEMS)
def test_a_system_that_offers_less_changes_no_verdict(name: str, tmp_path: Path) -> None:
    """Whatever the system lacks, each recorded run is read and judged the same."""
    chosen = list(EVERY)
    recorded = make_set(tmp_path / "set", chosen)
    with lacking(*LESSER_SYSTEMS[name]):
        runs = asyncio.run(replay_all(recorded, chosen, tmp_path))
    for one, run in zip(chosen, runs, strict=True):
        labelled = one.read_as()
        assert run.result.exit_code in (one.exit_code, 0), one.key
        assert run.evidence.hits == labelled.evidence.hits, one.key
        assert run.reader.reading == labelled.reading, one.key
        outcome = decide_outcome(run.reader.reading, RunEnd(exit_code=one.exit_code))
        assert outcome is labelled.outcome(), one.key
