"""Feeds damaged recordings and documents to every reader and parser for a while.

usage: python -m tests.fuzz [--seconds N] [--seed N] [--findings DIR] [--only WORD] [FILE ...]

Exits with 1 where something raised what it must not raise, or where the ways to read a transcript
disagreed; the input is then in DIR (default: a new temporary folder, which is named), with what
happened beside it. With FILEs, each is given to the targets of `--only` as it is.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path

from tests.fuzz.mutations import damage
from tests.fuzz.targets import Target, all_targets, temporary

MOST_FINDINGS = 20


@dataclass
class Session:
    """Counts what was done and keeps what was found, each place in the code once."""

    folder: Path | None
    executions: dict[str, int] = field(default_factory=dict)
    findings: dict[str, Path] = field(default_factory=dict)

    def execute(self, target: Target, data: bytes, chance: random.Random) -> None:
        self.executions[target.name] = self.executions.get(target.name, 0) + 1
        try:
            target.check(data, chance)
        except Exception as error:  # whatever it is, it is a finding
            self._keep(target, data, error)

    def _keep(self, target: Target, data: bytes, error: Exception) -> None:
        frames = traceback.extract_tb(error.__traceback__)
        place = f"{target.name} {type(error).__name__} {frames[-1].filename}:{frames[-1].lineno}"
        if place in self.findings:
            return
        if self.folder is None:
            self.folder = Path(tempfile.mkdtemp(prefix="routing-action-findings-"))
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"{target.name.replace(' ', '-')}-{len(self.findings)}.bin"
        path.write_bytes(data)
        told = "".join(traceback.format_exception(error))
        path.with_suffix(".txt").write_text(told[-20_000:], encoding="utf-8", errors="replace")
        self.findings[place] = path
        print(f"FINDING {place}: {str(error)[:300]!r}\n  input: {path}", flush=True)  # noqa: T201


def fuzz(targets: list[Target], session: Session, seconds: float, chance: random.Random) -> None:
    """The targets take turns; every seed is tried once as it is."""
    for target in targets:
        for seed in target.seeds:
            session.execute(target, seed, chance)
    end = time.monotonic() + seconds
    while time.monotonic() < end and len(session.findings) < MOST_FINDINGS:
        for target in targets:
            seed, other = chance.choice(target.seeds), chance.choice(target.seeds)
            session.execute(target, damage(seed, chance, other), chance)


def main() -> int:
    """Fuzz, or try the files that are named."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--findings", type=Path, metavar="DIR")
    parser.add_argument("--only", default="", metavar="WORD", help="targets whose name holds it")
    parser.add_argument("files", nargs="*", type=Path)
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(2**31)
    session = Session(options.findings)
    chance = random.Random(seed)  # noqa: S311 - a run must be repeatable
    started = time.monotonic()
    with temporary() as folder:
        targets = [one for one in all_targets(Path(folder)) if options.only in one.name]
        for path in options.files:
            for target in targets:
                session.execute(target, path.read_bytes(), chance)
        if not options.files:
            fuzz(targets, session, options.seconds, chance)
    minutes = (time.monotonic() - started) / 60
    for name, count in session.executions.items():
        print(f"{count:7} {name}")  # noqa: T201
    total = sum(session.executions.values())
    print(  # noqa: T201
        f"fuzz: {total} executions in {minutes:.1f} min, seed {seed}, "
        f"{len(session.findings)} findings" + (f" in {session.folder}" if session.findings else "")
    )
    return 1 if session.findings else 0


if __name__ == "__main__":
    sys.exit(main())
