"""Adds to what a stream told of its run what is known of it apart from that."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from routing_action.evidence.reader_protocol import Provider
from routing_action.evidence.transcript import Reading, Usage
from routing_action.run.logs.log_tail import read_log_tails
from routing_action.run.workspace.staging import StagedSkills


def complete_reading(
    provider: Provider, home: Path | None, staged: StagedSkills, reading: Reading
) -> Reading:
    """With the catalogue, and with the tokens, where the stream told neither.

    `home` is the unit's own, None where it is the user's, with the sessions of others.
    """
    if home is None:
        return reading
    if reading.catalogue is None:
        reading = replace(reading, catalogue=_offered(staged))
    if provider.usage_in_log and (reading.usage is None or reading.usage.input_tokens is None):
        usage = _logged_usage(provider, home)
        if usage is not None and reading.usage is not None:
            usage = replace(usage, premium_requests=reading.usage.premium_requests)
        reading = replace(reading, usage=usage or reading.usage)
    return reading


def _logged_usage(provider: Provider, home: Path) -> Usage | None:
    """What the session logs of a fresh home say last, each counted once."""
    if provider.usage_in_log is None:
        return None
    total: Usage | None = None
    for tail in read_log_tails(home, provider.log_globs):
        found = [usage for usage in map(provider.usage_in_log, tail.split(b"\n")) if usage]
        if found:
            total = found[-1] if total is None else total.plus(found[-1])
    return total


def _offered(staged: StagedSkills) -> tuple[str, ...] | None:
    """The skills that an agent with a home of its own can find; None where that is not known.

    A repository without any skill may have them staged by the agent's own command.
    """
    return staged.names or (() if staged.notes else None)
