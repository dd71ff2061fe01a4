"""What is learned of a run from other sources than its stream: version, session logs, skills."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from routing_action.agents.provider import Provider, ReadContext, Reader
from routing_action.corpus.naming import fold
from routing_action.evidence.evidence import EvidenceCollector, as_log_line
from routing_action.evidence.transcript import EndedBy, Reading, Usage
from routing_action.evidence.unavailable import find_refusal
from routing_action.files.redaction import Redactor
from routing_action.run.logs.session_logs import read_log_tails
from routing_action.run.output.capture import MemorySink, redact_file
from routing_action.run.process.process import ProcessLimits, run_process
from routing_action.run.workspace.agent_home import renewed_secrets
from routing_action.run.workspace.staging import StagedSkills

_VERSION = re.compile(rb"\d+\.\d+(?:\w|[.+-]\w)*")
_STARTERS = frozenset("bun bunx env exec nice node nohup npx pnpm stdbuf time timeout".split())
"""Programs that start the one that is named after them, and their subcommands."""
_OF_STARTERS = re.compile(r"-.*|\w+=.*|\d+(?:\.\d+)?[smhd]?|dlx|x")
"""Their own words: options, settings, a time or a number."""
_LIMITS = ProcessLimits(wall_seconds=20, terminal_grace_seconds=1, term_grace_seconds=1)
_ANSWER_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Answer:
    """The version that was printed, None for none; `error` says why there was no good answer."""

    version: str | None
    error: str = ""


class VersionProbe:
    """Asks each agent for its version once in a batch, and remembers the answer."""

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


def version_command(provider: Provider, argv: Sequence[str]) -> tuple[str, ...]:
    """The command that prints the CLI's version; empty where `argv` does not start the CLI.

    What starts it stays: `timeout 60 claude --version`, `npx -y PACKAGE --version`. The version of
    another program would say nothing, and a word that is not started may be a prompt or a name.
    """
    own = {provider.command[0], provider.npm_package} - {""}
    for place, word in enumerate(argv):
        bare = word.rpartition("@")[0] or word
        if not own.isdisjoint((Path(word).name, Path(word).stem, word, bare)):
            return (*argv[: place + 1], *provider.version_arguments)
        if Path(word).name not in _STARTERS and (place == 0 or not _OF_STARTERS.fullmatch(word)):
            break
    return ()


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
    if result.ended_by.is_deadline:
        return Answer(version, f"it gave no answer within {_LIMITS.wall_seconds:g} seconds")
    if result.exit_code != 0:
        said = (complaint.data or answer.data).decode("utf-8", "replace")
        return Answer(version, f"it ended with {result.exit_code}: {said}")
    return Answer(version)


def supplement_reading(
    provider: Provider, home: Path | None, staged: StagedSkills, reading: Reading
) -> Reading:
    """A reading with the catalogue and the tokens that the stream did not report.

    `home` is the unit's own, None where it is the user's, with the sessions of others. A
    repository without any skill may have them staged by the agent's own command: then the
    catalogue stays unknown.
    """
    if home is None:
        return reading
    if reading.catalogue is None:
        known = staged.names or (() if staged.notes else None)
        if known:
            known = tuple(name for name in known if not find_refusal(reading, (name,)))
        reading = replace(reading, catalogue=known)
    if reading.usage is None or reading.usage.input_tokens is None:
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


def learn_renewed(
    provider: Provider,
    context: ReadContext,
    redactor: Redactor,
    files: Iterable[Path | str],
    sha256s: tuple[str | None, str | None],
) -> tuple[str | None, str | None]:
    """Have the redactor learn what the agent's login files hold by now; the transcripts lose it.

    No name of a skill is a secret: the agent could hide what it loaded. `sha256s` are those of the
    files; gives what they are afterwards.
    """
    known = {fold(name) for skill in context.skills.skills for name in skill.names}
    found = {
        one
        for one in renewed_secrets(provider, context.home)
        if not any(name in fold(one) or fold(one) in name for name in known)
    }
    if not redactor.learn(found):
        return sha256s
    first, second = zip(map(Path, files), sha256s, strict=True)
    return redact_file(redactor, *first), redact_file(redactor, *second)


def read_session_logs(
    logs: Iterable[tuple[str, bytes]],
    make_reader: Callable[[ReadContext], Reader],
    context: ReadContext,
    redactor: Redactor,
    found: EvidenceCollector,
) -> str | None:
    """Add the evidence of all logs to `found`; give the log with the best hit, None without one.

    `logs` are paths with the whole lines that were written since the start of the run.
    """
    readers: dict[str, Reader] = {}
    for path, data in logs:
        reader = readers.setdefault(path, make_reader(context))
        for line in redactor.data(data).split(b"\n"):
            found.extend(as_log_line(one, path) for one in reader.feed(line))
    for path, reader in readers.items():
        found.extend(as_log_line(one, path) for one in reader.finish())
    best = min(found.hits.values(), key=lambda hit: hit.rank, default=None)
    return best.detail.partition(" at ")[2].rpartition(" line ")[0] if best else None
