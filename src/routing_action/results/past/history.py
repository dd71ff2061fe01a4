"""The history of a repository: one line of JSON for each pair and run, in one file a month.

A folder holds `YYYY-MM.jsonl` files. Lines are only appended; a line that cannot be read is
counted and left out, since another release, or two runs at once, may have written it.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from routing_action.corpus.baseline import Pair
from routing_action.evidence.chance import Record


class HistoryLine(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What one run on the default branch measured of one pair.

    `at` is UTC as in results.json; `run` is the link to the workflow run, or the batch's id.
    `passes` of `measured` trials passed; `trials` holds what could not be measured too. `kind` is
    the failure kind or the outcome that explains the run, "" where all passed. `skills` digests
    the descriptions that the agent was offered, `description` that of the expected skill.
    `duration_ms` and `cost_usd` are those of all trials.
    """

    at: str
    commit: str
    run: str
    batch: str
    case_id: str
    agent: str
    passes: int
    measured: int
    trials: int
    duration_ms: int = 0
    cost_usd: float | None = None
    cli_version: str | None = None
    model: str | None = None
    kind: str = ""
    skills: str = ""
    description: str = ""
    fingerprint: str | None = None
    loaded: tuple[str, ...] = ()
    v: int = 1

    @property
    def pair(self) -> Pair:
        """Case id and agent."""
        return (self.case_id, self.agent)

    @property
    def record(self) -> Record:
        """Passes of the measured trials."""
        return Record(self.passes, self.measured)


@dataclass(frozen=True, slots=True)
class History:
    """The lines in the order of time, and how many could not be read."""

    lines: tuple[HistoryLine, ...] = ()
    unread: int = 0

    def without(self, batches: Container[str]) -> History:
        """The history before these batches, by their ids: what is judged is no evidence of it."""
        return History(tuple(one for one in self.lines if one.batch not in batches), self.unread)


NEWEST = 100
"""So many runs of a pair say how it does now, and years of them need not be held in memory."""


def read_history(folder: Path, runs: int | None = NEWEST) -> History:
    """The newest runs of each pair in a folder, None for all; nothing if there is no such folder.

    Raises OSError where the folder or a file cannot be read.
    """
    files = sorted(folder.glob("*.jsonl"), reverse=True)
    return _parse((file.read_bytes() for file in files), runs)


def parse_history(files: Mapping[str, bytes], runs: int | None = NEWEST) -> History:
    """The same of files' contents by their names."""
    return _parse((files[name] for name in sorted(files, reverse=True)), runs)


def _parse(files: Iterable[bytes], runs: int | None) -> History:
    """The newest file comes first; a pair of a batch counts once.

    Older files are left alone once there are enough runs of every pair.
    """
    decode = msgspec.json.Decoder(HistoryLine).decode
    pairs: dict[Pair, dict[str, HistoryLine]] = {}
    unread = 0
    texts: dict[object, object] = {}
    for data in files:
        for text in _read_backwards(data):
            try:
                line = decode(text)
            except (msgspec.MsgspecError, UnicodeDecodeError):
                unread += 1
                continue
            if line.v != 1 or not 0 <= line.passes <= line.measured <= line.trials:
                unread += 1
                continue
            own = pairs.setdefault(line.pair, {})
            if line.batch not in own and (runs is None or len(own) < runs):
                _share_texts(line, texts)
                own[line.batch] = line
        if runs is not None and pairs and all(len(own) >= runs for own in pairs.values()):
            break
    lines = [line for own in pairs.values() for line in own.values()]
    lines.reverse()
    lines.sort(key=lambda line: line.at)
    return History(tuple(lines), unread)


def _read_backwards(data: bytes) -> Iterator[bytes]:
    """The lines that hold anything, the last one first, without a second copy of them all."""
    end = len(data)
    while end > 0:
        start = data.rfind(b"\n", 0, end) + 1
        if text := data[start:end].strip():
            yield text
        end = start - 1


def _share_texts(line: HistoryLine, texts: dict[object, object]) -> None:
    """Keep one copy of what many lines repeat: a million of them are then a third as large."""
    for name in _REPEATED:
        if value := getattr(line, name):
            msgspec.structs.force_setattr(line, name, texts.setdefault(value, value))


_REPEATED = (
    *("at", "commit", "run", "batch", "case_id", "agent", "cli_version", "model"),
    *("skills", "description", "fingerprint", "loaded"),
)
