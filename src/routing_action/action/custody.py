"""Sees that what the gate reads is what the legs' harness wrote, and what was planned.

A leg hands the digest of its results.json on through the workflow, where no agent reaches it;
docs/how-to/pass-digests-on.md shows how. Artifact, plan, journal and transcripts must agree too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from routing_action.action.inputs import results_artifact
from routing_action.action.legs import Digest, Jobs
from routing_action.errors import DocumentError
from routing_action.files.plain_files import hash_file
from routing_action.gate.model import DeltaResults
from routing_action.gate.wording import name_few
from routing_action.results.journal import JOURNAL_FILE, read_journal
from routing_action.results.measured import MeasuredBatch
from routing_action.results.model import UnitResult
from routing_action.results.read import read_results
from routing_action.results.transcript_lines import check_transcripts

HOW = "the page how-to/pass-digests-on.md"
NO_DIGESTS = (
    "the workflow passes no digests on, so nothing tells whether results were changed after their "
    f"leg wrote them; {HOW} shows the one line that each leg needs"
)
_AGAIN = "run the leg again, and see in its log what changed the file"


def name_digest(key: str, attempt: int, results: str) -> str:
    """The digest of a results.json's text, with the leg and the attempt that it is of."""
    return f"{key}-a{attempt}:{hashlib.sha256(results.encode()).hexdigest()}"


def check_custody(
    batches: Sequence[MeasuredBatch], jobs: Jobs, attempt: int
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """One sentence for everything that does not agree, and one for what a reader is to know.

    `batches` are all that was read, `attempt` the run's own.
    """
    best = {batch.key: batch.attempt for batch in sorted(batches, key=lambda one: one.attempt)}
    newest = [batch for batch in batches if batch.attempt == best[batch.key]]
    faults = [*_check_digests(batches, newest, jobs.digests, attempt)]
    for batch in newest:
        faults += _check_plan(batch, jobs)
        if batch.complete:
            faults += _check_files(Path(batch.file))
    known = {(one.key, one.attempt) for one in jobs.digests}
    bare = ", ".join(one.key for one in newest if (one.key, one.attempt) not in known)
    lost = f"GitHub no longer has the digests of an earlier attempt: {bare}" if bare else ""
    notes = (lost if jobs.digests else NO_DIGESTS,) if batches else ()
    return tuple(faults), tuple(filter(None, notes))


def list_results(batches: Sequence[MeasuredBatch], run_id: str) -> tuple[DeltaResults, ...]:
    """Every file that was judged, by which a later run of the same change takes it over."""
    best = {batch.key: batch.attempt for batch in sorted(batches, key=lambda one: one.attempt)
            if not batch.run}  # fmt: skip
    return tuple(
        DeltaResults(
            run=batch.run or run_id,
            name=results_artifact(batch.key, batch.attempt),
            sha256=hash_file(batch.file),
        )
        for batch in batches
        if batch.run or batch.attempt == best[batch.key]
    )


def _check_digests(
    batches: Sequence[MeasuredBatch],
    newest: Sequence[MeasuredBatch],
    digests: Iterable[Digest],
    attempt: int,
) -> Iterator[str]:
    """Digests of every file that counts, as far as the workflow passes any on."""
    due: dict[tuple[str, int], set[str]] = {}
    for digest in digests:
        due.setdefault((digest.key, digest.attempt), set()).add(digest.sha256)
    for batch in newest if due else ():
        expected = due.get((batch.key, batch.attempt))
        name = results_artifact(batch.key, batch.attempt)
        if expected is None and batch.attempt == attempt:
            yield (
                f"{name}: no job passes the digest of its results on, while other legs' are "
                f"passed; give this leg an output of its own ({HOW})"
            )
        elif expected is not None and expected != {hash_file(batch.file)}:
            yield f"{name}: results.json was changed after its leg wrote it; {_AGAIN}"
    for key, of in due:
        if not any(batch.key == key and batch.attempt >= of for batch in batches):
            name = results_artifact(key, of)
            yield f"{name}: its leg wrote results, and they are not there; {_AGAIN}"


def _check_plan(batch: MeasuredBatch, jobs: Jobs) -> Iterator[str]:
    """A leg measures its own cases on its own agent, and its rows are of those."""
    options, name = batch.options, results_artifact(batch.key, batch.attempt)
    agents, cases = set(options.agents), set(options.selected_case_ids)
    agent, planned = jobs.legs.get(batch.key), jobs.case_ids.get(batch.key)
    if agent is not None and agents != {agent}:
        own = name_few(sorted(agents))
        yield f"{name}: measured {own}, while the plan has {agent} for this leg"
    if planned and cases != planned:
        few = name_few(sorted(cases ^ planned))
        yield (
            f"{name}: its cases are not those of the plan ({few}); pass "
            "`case-ids: ${{ matrix.case_ids }}` to the leg"
        )
    strange = {
        f"{row.agent}:{row.case_id}"
        for row in batch.rows
        if row.agent not in agents or row.case_id not in cases
    }
    if strange:
        yield f"{name}: has rows that its leg did not select: {name_few(sorted(strange))}; {_AGAIN}"


def _check_files(file: Path) -> Iterator[str]:
    """Rows against journal and transcripts, which only the harness has written."""
    try:
        rows = read_results(file).results
        journal = file.parent / JOURNAL_FILE
        if journal.exists():
            yield from _compare(rows, journal)
        for row in rows:
            check_transcripts(file, row)
    except DocumentError as error:
        yield error.cause


def _compare(rows: Sequence[UnitResult], journal: Path) -> Iterator[str]:
    written = read_journal(journal).rows
    found = {(row.agent, row.case_id, row.trial): row for row in rows}
    differ = [key for key in found.keys() | written.keys() if found.get(key) != written.get(key)]
    if differ:
        names = name_few(sorted(f"{agent}:{case} trial {trial}" for agent, case, trial in differ))
        yield f"{journal}: results.json beside it says something else of {names}; {_AGAIN}"
