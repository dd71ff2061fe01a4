"""The history of a repository: one line of JSON for each pair and run, in one file a month.

A folder holds `YYYY-MM.jsonl` files. Lines are only appended; a line that cannot be read is
counted and left out, since another release, or two runs at once, may have written it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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


def read_history(folder: Path) -> History:
    """All lines of a folder; nothing where there is no such folder. A pair of a batch counts once.

    Raises OSError where the folder or a file cannot be read.
    """
    return parse_history(file.read_bytes() for file in sorted(folder.glob("*.jsonl")))


def parse_history(files: Iterable[bytes]) -> History:
    """The same of the files' contents, which are read one by one."""
    decode = msgspec.json.Decoder(HistoryLine).decode
    lines: dict[tuple[str, str, str], HistoryLine] = {}
    unread = 0
    texts: dict[str, str] = {}
    for data in files:
        for text in data.split(b"\n"):
            if not text.strip():
                continue
            try:
                line = decode(text)
            except (msgspec.MsgspecError, UnicodeDecodeError):
                unread += 1
                continue
            if line.v == 1 and 0 <= line.passes <= line.measured <= line.trials:
                _share_texts(line, texts)
                lines[line.batch, line.case_id, line.agent] = line
            else:
                unread += 1
    return History(tuple(sorted(lines.values(), key=lambda line: line.at)), unread)


def _share_texts(line: HistoryLine, texts: dict[str, str]) -> None:
    """Keep one copy of what many lines repeat: a million of them are then half as large."""
    for name in _REPEATED:
        text = getattr(line, name)
        if text:
            msgspec.structs.force_setattr(line, name, texts.setdefault(text, text))


_REPEATED = ("at", "commit", "run", "batch", "case_id", "agent", "skills", "description", "model")


def sum_records(lines: Iterable[HistoryLine]) -> Mapping[Pair, Record]:
    """How each pair did over all of the lines."""
    records: dict[Pair, Record] = {}
    for line in lines:
        records[line.pair] = records.get(line.pair, Record()) + line.record
    return records
