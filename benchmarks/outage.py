"""U3: how many units an outage costs, and what a missing CLI or key does."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.measure import Row, run_product

UNITS = 60
_INIT = {"type": "system", "subtype": "init", "model": "m", "claude_code_version": "2.1.332"}
_END = {"type": "result", "subtype": "success", "is_error": False, "num_turns": 0}
_KINDS = {
    "server error": ((_INIT, {**_END, "is_error": True, "api_error_status": 500}), 0.0),
    "API error": ((_INIT, {**_END, "is_error": True, "api_error_status": 404}), 0.0),
    "no model turn": ((_INIT, _END), 0.0),
    "nothing printed": ((), 0.0),
    "no answer in time": ((_INIT,), 60.0),
}


def measure(_rounds: int, small: bool) -> Iterator[Row]:
    """Units that were started of so many, at 4 and at 32 at once, with confirming runs."""
    for kind, (records, seconds) in _KINDS.items():
        for parallel in (4, 32):
            started = _count_starts(records, seconds, 12 if small else UNITS, parallel)
            what = f"{kind}, {parallel} at once: units started"
            yield Row("U3", what, [started], "", most=5)
    yield Row("U3", "no CLI: units started", [_count_starts(None, 0, UNITS, 4)], "", most=0)
    started = _count_starts((_INIT, _END), 0, UNITS, 4, key="")
    yield Row("U3", "no key: units started", [started], "", most=0)


def _count_starts(
    records: Sequence[Mapping[str, object]] | None,
    seconds: float,
    units: int,
    parallel: int,
    key: str = "made-up-key-0123456789",
) -> int:
    """How many units a batch starts whose agent prints the records, or is not there."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for place in ("repo", "bin", "home"):
            (folder / place).mkdir()
        starts = folder / "starts"
        starts.touch()
        if records is not None:
            lines = "".join(f"echo '{json.dumps(record)}'\n" for record in records)
            program = folder / "bin" / "claude"
            program.write_text(
                f'#!/bin/sh\ncase "$*" in *--version*) echo 2.1.332; exit;; esac\n'
                f"echo x >> {starts}\n{lines}sleep {seconds}\n",
                encoding="utf-8",
            )
            program.chmod(0o755)
        names = [f"case-{number}" for number in range(units)]
        cases = [{"case_id": one, "prompt": one, "expected_skill": "foo"} for one in names]
        baseline = {one: {"claude": {"expected_status": "pass"}} for one in names}
        (folder / "repo" / "cases.json").write_text(json.dumps(cases), encoding="utf-8")
        file = folder / "repo" / "provider-baseline.json"
        file.write_text(json.dumps(baseline), encoding="utf-8")
        run_product(
            "run", "--agents", "claude", "--no-progress", "--confirm", "2",
            "--throttle-retries", "0", "--timeout-seconds", "5" if seconds else "60",
            "--max-parallel", str(parallel), "--max-parallel-provider", f"claude:{parallel}",
            "--artifacts-root", folder / "artifacts",
            cwd=folder / "repo",
            codes=(1,),
            HOME=str(folder / "home"),
            ANTHROPIC_API_KEY=key,
            PATH=f"{folder / 'bin'}{os.pathsep}/usr/bin{os.pathsep}/bin",
        )  # fmt: skip
        return len(starts.read_text(encoding="utf-8").split())
