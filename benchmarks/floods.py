"""B4: an agent that prints a gigabyte, and one that prints a line of 100 MB."""

from __future__ import annotations

import itertools
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import MEGABYTE, Row
from benchmarks.transcripts import make_work, split_run
from benchmarks.units import Bench

GIGABYTE = 10**9
LONGEST = 90


def measure(rounds: int, small: bool) -> Iterator[Row]:
    """The rows of B4."""
    size = GIGABYTE // (100 if small else 1)
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "x" * (size // 10)}
    record = {"type": "user", "message": {"role": "user", "content": [result]}}
    bodies = {
        "of records": (b"".join(itertools.islice(make_work("claude"), 5000)), size),
        "of plain text": (b"the state of the widget is kept between two calls\n" * 20_000, size),
        "of one line": (json.dumps(record).encode() + b"\n", size // 10),
    }
    for what, (body, most) in bodies.items():
        with tempfile.TemporaryDirectory() as folder:
            opening, part = Path(folder) / "opening", Path(folder) / "body"
            opening.write_bytes(b"".join(split_run("claude")[0]))
            part.write_bytes(body)
            bench = Bench.make(Path(folder) / "repo", 1, "flood", opening, part, most)
            used = [bench.run("--workspace", "shared", codes=(0, 1)) for _ in range(rounds)]
        memory = [one.megabytes for one in used]
        name = f"{most / MEGABYTE:,.0f} MB {what}"
        yield Row("B4", f"{name}: RSS", memory, "MB", most=LONGEST)
