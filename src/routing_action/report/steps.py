"""What can be done about a row, as commands: measure it again, accept it, and when that counts."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from routing_action.corpus.baseline import Status
from routing_action.corpus.cases_file import DEFAULT_CASE_FILES
from routing_action.files.program import own_program
from routing_action.gate.baselines import DEFAULT_BASELINE_FILES
from routing_action.gate.model import Delta, DeltaEntry
from routing_action.gate.rules import DeltaKind
from routing_action.github.publication import RunLinks
from routing_action.report.remedies import find_fix
from routing_action.report.suspects import adjust_rerun
from routing_action.results.rerun import select_case

REASON = "WHY"
"""What an offered command gives as the reason, for a person to replace."""

MOST_IN_COMMAND = 20
"""Cases that a command names; one for more is for all cases of the agent."""

_RUN_ID = re.compile(r"[0-9]{1,20}")


def list_steps(
    delta: Delta,
    row: DeltaEntry,
    results: str = "",
    place: RunLinks | None = None,
    group: Sequence[DeltaEntry] = (),
) -> Iterator[tuple[str, str]]:
    """What can be done about a red pair, or one that got better, each step with its label.

    `results` and `place` are as `accept_command` takes them. The commands are for a whole `group`
    of rows with one cause, where it is given.
    """
    rows = group or (row,)
    accept = accept_rows(delta, rows, results, place)
    if row.kind is DeltaKind.IMPROVEMENT:
        yield from (("lock it in", accept),) if accept else ()
        return
    if fix := find_fix(delta, row, rows):
        yield "fix", fix
    if row.got is not None and row.kind is not DeltaKind.EXPIRED:
        yield "rerun", rerun_commands(delta, rows)
    if accept:
        yield "accept", accept
    if note := describe_acceptance(delta, row):
        yield "once accepted", note


def describe_acceptance(delta: Delta, row: DeltaEntry) -> str:
    """When an accepted expectation counts; "" for what nobody can accept, or the change does."""
    if not accept_command(row):
        return ""
    if row.kind is DeltaKind.REGRESSION and delta.baseline.commit:
        return "it takes effect when merged: this gate stays red until then"
    if row.kind in (DeltaKind.NEW, DeltaKind.UNDECLARED) and delta.baseline.commit:
        return "the pair is new, so it counts at once: commit the baseline with this change"
    return "commit the baseline: it takes effect with the next run of this gate"


def rerun_command(delta: Delta, row: DeltaEntry) -> str:
    """The command that measures this pair again, as it was measured.

    Without a case id it measures all of the agent's.
    """
    plain = f"{own_program()} run --agents {shlex.quote(row.agent)}"
    command = adjust_rerun(delta, row, delta.run_commands.get(row.agent, plain))
    return select_case(command, row.case_id) if row.case_id else command


def rerun_commands(delta: Delta, rows: Sequence[DeltaEntry]) -> str:
    """A line for each agent that measures its rows again."""
    agents = dict.fromkeys(row.agent for row in rows)
    groups = ([row for row in rows if row.agent == agent] for agent in agents)
    return "\n".join(rerun_command(delta, join_rows(group)) for group in groups)


def join_rows(rows: Sequence[DeltaEntry]) -> DeltaEntry:
    """One row for the commands of all rows; without a case id where the cases are many."""
    names = list(dict.fromkeys(row.case_id for row in rows))
    agents = dict.fromkeys(row.agent for row in rows)
    lowest = next((row for row in rows if row.got is Status.FAIL), rows[0])
    few = ",".join(names) if len(names) <= MOST_IN_COMMAND else ""
    return lowest.model_copy(update={"case_id": few, "agent": ",".join(agents)})


def can_accept(row: DeltaEntry) -> bool:
    """True where what was measured could become the new expectation."""
    is_known = row.got is not None and row.got is not Status.INFRA_ERROR
    return is_known and (row.gates or row.kind is DeltaKind.IMPROVEMENT)


def accept_rows(
    delta: Delta, rows: Sequence[DeltaEntry], results: str = "", place: RunLinks | None = None
) -> str:
    """The command that accepts rows of one cause: what was measured, or that cases are gone."""
    row = join_rows(rows)
    is_gone = row.kind is DeltaKind.REMOVED and row.gates and row.line is None and row.got is None
    if is_gone:
        return f"{own_program()} baseline update --prune{name_files(delta)}"
    return accept_command(row, results, place)


def name_source(delta: Delta, results: Sequence[Path]) -> str:
    """Where the results are, as options of `baseline update` behind its first `--from`.

    With the case file and the baseline, where it would look for others. A workflow run's own paths
    are of no use to a reader, who fetches its results into a folder.
    """
    source = " --from ".join(shlex.quote(str(path)) for path in results) or "RESULTS"
    return source + name_files(delta)


def name_files(delta: Delta) -> str:
    """The case file and the baseline as options, where a command would look for others."""
    files = (delta.cases_file, delta.baseline.path)
    here = (os.path.relpath(files[0] or "."), os.path.relpath(files[1] or "."))
    if here in zip(DEFAULT_CASE_FILES, DEFAULT_BASELINE_FILES, strict=True):
        return ""
    return " --cases-file {} --baseline {}".format(*map(shlex.quote, files))


def accept_command(row: DeltaEntry, results: str = "", place: RunLinks | None = None) -> str:
    """The command that accepts what was measured as the new expectation.

    `results` is where the results are, else the `place` says it, which can be a workflow run.

    "" where that would not help: an entry that was removed is to be put back as it was, one that
    is past its date is to be edited, what
    could not be measured is to be measured, and what the change accepts need not be again. Nor is
    anything lowered whose case is not named.
    """
    is_for_other = row.kind in (DeltaKind.REMOVED, DeltaKind.CASE_EDITED, DeltaKind.EXPIRED)
    if is_for_other or row.accepted or not can_accept(row):
        return ""
    cases = f"--cases {shlex.quote(row.case_id)} " if row.case_id else ""
    base = (
        f"{own_program()} baseline update {_name_results(results, place)} "
        f"{cases}--agents {shlex.quote(row.agent)}"
    )
    if row.timed_out or row.got is Status.FAIL:
        if not row.case_id and row.kind is not DeltaKind.UNDECLARED:
            return ""
        lower = "--accept-regression " if row.case_id else ""
        return f"{base} {lower}--reason '{REASON}'"
    return base


def record_command(place: RunLinks) -> str:
    """The command that records with which CLI and model the baseline was measured."""
    return f"{own_program()} baseline update {_name_results('', place)} --record-fingerprint"


def _name_results(results: str, place: RunLinks | None) -> str:
    if place is None or not place.repository or not _RUN_ID.fullmatch(place.run_id):
        return f"--from {results or (place.results if place else '') or 'RESULTS'}"
    return f"--from-run {place.run_id} --repo {shlex.quote(place.repository)}"
