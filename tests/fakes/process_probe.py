"""Runs one fake agent through the process door in a process of its own, and reports as JSON.

For what cannot be seen or changed within pytest: peak memory, the subreaper, signal settings.
Usage: `process_probe.py MANNER [--without FEATURE]... [--argument TEXT] [--ignore-sigchld]`.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import json
import signal
import sys
from pathlib import Path
from unittest import mock

import psutil

from routing_action.files.redaction import Redactor
from routing_action.run.output.capture import LineSplitter
from tests.fakes import children


class Counter:
    """Redacts, splits and counts, and keeps nothing."""

    terminal_seen = False
    settled = False

    def __init__(self) -> None:
        self.total = self.lines = self.longest = 0
        self._redactor = Redactor(["a-secret-that-is-not-there"]).stream()
        self._splitter = LineSplitter(self._count)

    def write(self, chunk: bytes) -> None:
        self.total += len(chunk)
        self._splitter.feed(self._redactor.feed(chunk))

    def close(self) -> None:
        self._splitter.feed(self._redactor.flush())
        self._splitter.finish()

    def _count(self, line: bytes) -> None:
        self.lines += 1
        self.longest = max(self.longest, len(line))


def peak_mib() -> int:
    """Peak memory of this image alone (getrusage would count that of the parent before exec)."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) // 1024


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("manner")
    parser.add_argument("--without", action="append", default=[])
    parser.add_argument("--argument", action="append", default=[])
    parser.add_argument("--ignore-sigchld", action="store_true")
    parser.add_argument("--wall", type=float, default=20.0)
    options = parser.parse_args()
    if options.ignore_sigchld:
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    run = children.agent(options.manner, *options.argument, wall_seconds=options.wall)
    counter = Counter()
    run.stdout = counter  # type: ignore[assignment]
    looks = mock.patch.object(
        psutil.Process, "__init__", autospec=True, side_effect=psutil.Process.__init__
    )
    with children.lacking(*options.without), looks as look:
        result = asyncio.run(run())
    report = dataclasses.asdict(result) | {
        "peak_mib": peak_mib(),
        "total": counter.total,
        "lines": counter.lines,
        "longest": counter.longest,
        "left": run.left_behind(),
        "looks": look.call_count,
        "zombies": sorted(children.zombie_children()),
    }
    json.dump(report, sys.stdout)


if __name__ == "__main__":
    main()
