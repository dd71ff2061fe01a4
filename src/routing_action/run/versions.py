"""Asks an agent CLI for its version, once per batch and agent, where its stream does not say."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from pathlib import Path

from routing_action.evidence.transcript import EndedBy
from routing_action.run.output.capture import MemorySink
from routing_action.run.process.process import ProcessLimits, run_process

_VERSION = re.compile(rb"\d+\.\d+(?:\w|[.+-]\w)*")
_LIMITS = ProcessLimits(wall_seconds=20, terminal_grace_seconds=1, term_grace_seconds=1)
_ANSWER_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Answer:
    """The version that was printed, None for none; `error` says why there was no good answer."""

    version: str | None
    error: str = ""


class VersionProbe:
    """Remembers each agent's answer; None where it gave none."""

    def __init__(self) -> None:
        """Start without answers."""
        self._answers: dict[str, str | None] = {}
        self._lock = asyncio.Lock()

    async def ask(
        self, agent: str, argv: tuple[str, ...], cwd: Path, env: dict[str, str], marker: str
    ) -> str | None:
        """The version that `argv` prints, from the first call for this agent."""
        async with self._lock:
            if agent not in self._answers:
                answer = await ask_version(argv, cwd, env, f"{marker}-version")
                self._answers[agent] = answer.version
            return self._answers[agent]


async def ask_version(
    argv: tuple[str, ...], cwd: Path, env: dict[str, str], marker: str
) -> Answer:  # fmt: skip
    """What a CLI answers when it is asked for its version, within 20 seconds."""
    answer, complaint = MemorySink(_ANSWER_BYTES), MemorySink(_ANSWER_BYTES)
    result = await run_process(
        argv,
        cwd=cwd,
        env=env,
        stdout=answer,
        stderr=complaint,
        limits=_LIMITS,
        marker=marker,
    )
    match = _VERSION.search(answer.data)
    version = match[0].decode("ascii", "replace") if match else None
    if result.ended_by is EndedBy.START_FAILED:
        return Answer(version, f"it does not start: {result.start_error}")
    if result.timed_out:
        return Answer(version, f"it gave no answer within {_LIMITS.wall_seconds:g} seconds")
    if result.exit_code != 0:
        said = (complaint.data or answer.data).decode("utf-8", "replace")
        return Answer(version, f"it ended with {result.exit_code}: {said}")
    return Answer(version)
