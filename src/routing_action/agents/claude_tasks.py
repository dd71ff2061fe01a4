"""Claude Code's background tasks: its system events, and what older releases say in texts.

A sub-agent may work on after the `result` of a turn. Once it ends, the model is told, and answers
in another turn with a `result` of its own.
"""

from __future__ import annotations

import re

from routing_action.agents.reading.background import BackgroundTasks
from routing_action.agents.reading.decoding import Record, as_list, as_record, as_text

_NOTICE = "<task-notification>"
_LAUNCHED = re.compile(r"Async agent launched.{0,2000}?\bagentId: (?P<id>\w+)", re.DOTALL)
_TOLD = ("completed", "failed")
_ENDED = (*_TOLD, "killed", "stopped", "cancelled")


def follow_tasks(tasks: BackgroundTasks, record: Record, *, ended: bool) -> None:
    """Take a system event; `ended` says whether the turn has ended."""
    subtype, identity = record.get("subtype"), record.get("task_id")
    if subtype == "task_started" and record.get("is_backgrounded") is not False:
        _open(tasks, record)
    elif subtype == "background_tasks_changed":
        listed = [as_record(task) for task in as_list(record.get("tasks"))]
        tasks.keep(task.get("task_id") for task in listed)
        for task in listed:
            _open(tasks, task)
    elif subtype == "task_notification":
        tasks.close(identity, turn_follows=ended and record.get("status") in _TOLD)
    elif as_record(record.get("patch")).get("status") in _ENDED:
        tasks.close(identity)


def follow_notice(tasks: BackgroundTasks, text: str, *, ended: bool) -> None:
    """Take a text that the CLI puts in for the user: releases without events tell the end so."""
    if text.lstrip().startswith(_NOTICE):
        told = ended and _inside(text, "status") in _TOLD
        tasks.close(_inside(text, "task-id"), turn_follows=told)


def follow_launch(tasks: BackgroundTasks, output: str) -> None:
    """Take a tool's result: that of a background agent says so, and names it."""
    launched = _LAUNCHED.match(output)
    if launched:
        tasks.open(launched["id"])


def _open(tasks: BackgroundTasks, task: Record) -> None:
    tasks.open(task.get("task_id"), is_agent=as_text(task.get("task_type")) != "local_bash")


def _inside(text: str, tag: str) -> str:
    return text.partition(f"<{tag}>")[2].partition(f"</{tag}>")[0].strip()
