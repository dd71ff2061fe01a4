"""B6: 30,000 results compared with a baseline, and rendered as HTML.

The rows are those of a replayed batch of this repository, again and again under other names, with
their texts cut to the length of usual ones.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.measure import ROOT, Row, Usage, divide, run_product, take_turns

CASES = 10_000
MOST_TEXT = 100


def measure(rounds: int, small: bool) -> Iterator[Row]:
    """The rows of B6."""
    cases = CASES // (50 if small else 1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        batch = replay_batch(folder)
        few = write_documents(folder / "few", batch, cases // 10)
        many = write_documents(folder / "many", batch, cases)
        calls = [partial(call, one) for call in (_compare, _report) for one in (few, many)]
        compared_few, compared, reported_few, reported = take_turns(rounds, *calls)
    for what, most, used, base in (
        ("compare", 3, compared, compared_few),
        ("HTML report", 5, reported, reported_few),
    ):
        title = f"{cases * 3:,} results, {what}"
        walls = [one.wall for one in used]
        yield Row("B6", f"{title}: wall", walls, "s", most=most)
        yield Row("B6", f"{title}: RSS", [one.megabytes for one in used], "MB", most=300)
        growth = divide(walls, [one.wall for one in base])
        yield Row("B6", f"{title}: wall against a tenth of the rows", growth, most=11)


def replay_batch(folder: Path) -> dict[str, Any]:
    """The results of a replayed batch of all cases of this repository."""
    output = folder / "replayed.json"
    options = ("--replay", "--no-progress", "--output", output, "--artifacts-root", folder / "runs")
    run_product("run", *options, cwd=ROOT, codes=(0, 1))
    found: dict[str, Any] = json.loads(output.read_bytes())
    return found


def write_documents(folder: Path, batch: dict[str, Any], cases: int) -> Path:
    """A results.json, the baseline that it is compared with, and the case file."""
    folder.mkdir()
    names = [f"case-{place * 7919 % cases:05d}" for place in range(cases)]
    recorded = list(dict.fromkeys(row["case_id"] for row in batch["results"]))
    sources = {key: [r for r in batch["results"] if r["case_id"] == key] for key in recorded}
    pairs = {(pair["case_id"], pair["agent"]): pair for pair in batch["pairs"]}
    rows: list[Any] = []
    ours: list[Any] = []
    baseline: dict[str, dict[str, Any]] = {}
    for place, name in enumerate(names):
        source = recorded[place % len(recorded)]
        for row in sources[source]:
            number = f"{len(rows):012x}"
            identity = f"{number[-8:]}-0000-4000-8000-{number}"
            rows.append({**_cut(row), "case_id": name, "unit_run_id": identity})
            ours.append({**pairs[source, row["agent"]], "case_id": name})
            entry: dict[str, Any] = {"expected_status": "pass", "allow_timeout": False}
            if len(rows) % 20 == 7:
                entry |= {"expected_status": "fail", "reason": "a known weakness"}
            baseline.setdefault(name, {})[row["agent"]] = entry
    counts = Counter(row["status"] for row in rows)
    summary = {
        "total": len(rows),
        **{name: counts[name] for name in ("pass", "fail", "infra_error")},
    }
    options = {**batch["options"], "selected_case_ids": names}
    value = {**batch, "summary": summary, "options": options, "pairs": ours, "results": rows}
    corpus = [{"case_id": name, "prompt": "go"} for name in sorted(names)]
    for file, content in (("results", value), ("baseline", baseline), ("cases", corpus)):
        (folder / f"{file}.json").write_text(json.dumps(content, indent=2), encoding="utf-8")
    return folder


def _cut(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """The same with shorter texts."""
    if isinstance(value, dict):
        return {key: _cut(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_cut(one) for one in value]
    return value[:MOST_TEXT] if isinstance(value, str) else value


def _compare(folder: Path) -> Usage:
    return run_product(
        "compare", "--results", "results.json", "--baseline", "baseline.json", "--cases",
        "cases.json", "--output", "delta.json", cwd=folder, codes=(0, 1),
    )  # fmt: skip


def _report(folder: Path) -> Usage:
    return run_product(
        "report", "--delta", "delta.json", "--results", "results.json", "--format", "html",
        "--output", "report.html", cwd=folder,
    )  # fmt: skip
