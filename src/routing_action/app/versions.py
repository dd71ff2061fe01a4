"""Asks an agent CLI for its version, once per batch and agent, where its stream does not say."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

from routing_action.harness.capture import MemorySink
from routing_action.harness.process import ProcessLimits, run_process

_VERSION = re.compile(rb"\d+(?:\.\d+)+(?:[-+.]\w+)*")
_LIMITS = ProcessLimits(wall_seconds=20, terminal_grace_seconds=1, term_grace_seconds=1)
_ANSWER_BYTES = 4096


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
                self._answers[agent] = await _ask(argv, cwd, env, f"{marker}-version")
            return self._answers[agent]


async def _ask(argv: tuple[str, ...], cwd: Path, env: dict[str, str], marker: str) -> str | None:
    answer = MemorySink(_ANSWER_BYTES)
    await run_process(
        argv,
        cwd=cwd,
        env=env,
        stdout=answer,
        stderr=MemorySink(_ANSWER_BYTES),
        limits=_LIMITS,
        marker=marker,
    )
    return find_version(answer.data)


def find_version(answer: bytes) -> str | None:
    """The first version in what a CLI printed; the full stop that ends a sentence is not its."""
    match = _VERSION.search(answer)
    return match[0].decode("ascii", "replace") if match else None
