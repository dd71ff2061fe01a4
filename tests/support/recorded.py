"""The recorded runs of real agent CLIs under tests/recordings, with what is known of each."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from routing_action.evidence.outcome import RunEnd
from tests.support.builders import SKILLS, Run, read

FOLDER = Path(__file__).parents[1] / "recordings"


@dataclass(frozen=True)
class Recording:
    """One run: its key `SET/PROVIDER/VERSION/SCENARIO`, and the labels."""

    key: str
    provider: str
    format: str
    exit_code: int | None
    run: str
    loaded: tuple[str, ...]
    read: tuple[str, ...]
    failed: tuple[str, ...]
    timed_out: bool

    @property
    def stdout(self) -> bytes:
        return (FOLDER / f"{self.key}.stdout").read_bytes()

    @property
    def stderr(self) -> bytes:
        path = FOLDER / f"{self.key}.stderr"
        return path.read_bytes() if path.exists() else b""

    @property
    def end(self) -> RunEnd:
        return RunEnd(exit_code=self.exit_code, timed_out=self.timed_out)

    @property
    def tokens(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*SKILLS, *self.loaded, *self.read, *self.failed)))

    @property
    def is_healthy(self) -> bool:
        """True for a JSON run that completed."""
        return self.run == "completed" and self.format == "json"

    def read_as(self, stdout: bytes | list[bytes] | None = None) -> Run:
        """Read it, or a changed copy of its standard output."""
        output = self.stdout if stdout is None else stdout
        return read(
            self.provider, output, self.stderr, exit_code=self.exit_code, tokens=self.tokens
        )


@cache
def recordings(name: str) -> tuple[Recording, ...]:
    """Every recording of a set, in the order of its labels."""
    labels = json.loads((FOLDER / name / "labels.json").read_text(encoding="utf-8"))
    return tuple(
        Recording(
            key=f"{name}/{key}",
            provider=label["provider"],
            format=label["format"],
            exit_code=label["exit_code"],
            run=label["run"],
            loaded=tuple(label["loaded"]),
            read=tuple(label["read"]),
            failed=tuple(label["failed"]),
            timed_out=label["timed_out"],
        )
        for key, label in labels.items()
    )


def recording(key: str) -> Recording:
    """The recording of a key such as `cli/claude/2.0.77/a_skill`."""
    name = key.partition("/")[0]
    return next(found for found in recordings(name) if found.key == key)
