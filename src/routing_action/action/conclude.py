"""The action's last stage `conclude`: says why the job is red in the log that GitHub opens for it.

It decides nothing: the exit code is the one that the main step meant.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from routing_action.action.rerun.facts import of_pull_request
from routing_action.action.step import Step
from routing_action.errors import ExitCode
from routing_action.gate.deltas import DELTA_FILE, read_delta
from routing_action.gate.model import Delta, DeltaEntry
from routing_action.gate.rules import DeltaKind
from routing_action.report.escape import code_span, cut, printable
from routing_action.report.reasons import describe_cause, describe_trials, say
from routing_action.report.terminal.delta_text import render_delta_text
from routing_action.report.terminal.layout import ConsoleStyle
from routing_action.report.view import find_headline
from routing_action.results.rerun import select_case

_MESSAGE = 1000
_ADDRESSES = ("comment", "report", "check")


def conclude(step: Step) -> ExitCode:
    """The error that ended the main step, or the red pairs of the gate, and where to read on."""
    stage = step.variable("ROUTING_STAGE")
    if cause := step.environ.get("ROUTING_ERROR", ""):
        step.say("error", cause)
        if stage != "aggregate":  # the posted report has that one's
            step.summarise(f"**{stage} failed:** {code_span(cause, limit=_MESSAGE)}\n")
    else:
        _name_red(
            of_pull_request(step),
            read_delta(Path(step.variable("ROUTING_REPORT_DIR")) / DELTA_FILE),
        )
    for name in _ADDRESSES:
        if address := step.environ.get(f"ROUTING_{name.upper()}_URL"):
            step.quote(f"{name}: {address}\n")
    return ExitCode.PASSED


def _name_red(step: Step, delta: Delta) -> None:
    """Red pairs first, since GitHub shows only the first ten errors of a step as annotations."""
    red = list(_find_red(step, delta))
    for row in red:
        _name_pair(step, delta, row)
    step.say("error", cut(printable(find_headline(delta)), _MESSAGE), title="routing gate")
    place = step.context.links(step.inputs.text("key"))
    lines = render_delta_text(delta, ConsoleStyle(), place=place).splitlines()
    for agent, command in delta.run_commands.items():
        cases = [row.case_id for row in red if row.agent == agent]
        if len(cases) > 1:  # a single one has its command above
            lines.append(f"measure all again: {select_case(command, ','.join(cases))}")
    step.quote("".join(f"{printable(line)}\n" for line in lines))


def _find_red(step: Step, delta: Delta) -> Iterator[DeltaEntry]:
    """The rows that gate, and those that the policy of this gate makes red."""
    kinds = set()
    if step.inputs.flag("fail-on-infra"):
        kinds.add(DeltaKind.INFRA)
    if step.inputs.text("unmeasured") != "neutral":
        kinds.add(DeltaKind.UNMEASURED)
    return (row for row in delta.rows if row.gates or row.kind in kinds)


def _name_pair(step: Step, delta: Delta, row: DeltaEntry) -> None:
    """One pair on the line of its case, which the log itself shows in the message alone."""
    pair = f"{printable(row.case_id)} on {printable(row.agent)}"
    file = printable(os.path.relpath(delta.cases_file, step.root))
    place = {"file": file, "line": str(row.line or 1)}
    where = f"{file}:{row.line}" if row.line else file
    trials = describe_trials(row)
    told = f"{say(describe_cause(row))}{f' ({trials})' if trials else ''}"
    message = f"{where}: {pair}: {printable(told)}"
    step.say("error", cut(message, _MESSAGE), title=f"{row.kind.value}: {pair}", **place)
