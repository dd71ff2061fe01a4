"""Time and memory to load, validate and compare 30,000 results, against parsing their files.

usage: PYTHONPATH=src python benchmarks/compare_30000.py [--rounds N] [--files N] [--profile]

Writes the results of 30,000 full rows, as one results.json or as the N of that many jobs, and a
baseline of 30,000 entries into a temporary folder, and prints by CPU time, over N pairs (15) in one
process: the anchor, `json.loads` of results and baseline with the garbage collector off; the
product, `read_batches`, `parse_baseline` of the working tree's bytes and of the merge base's (they
differ), `gather`, `compare` and `decide_gate`, with the collector off as in the command; and the
product's ratio to the anchor (goal: a median of at most 0.8). Both read the files from the disk
each time. Cases do not stand in the order of their ids. Then, in a process of its own, by how much
the product raises the greatest resident set, and the same of the anchor.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from benchmarks.measure import Row  # noqa: E402 - the path comes first
from benchmarks.measuring import measure_pairs, read_status  # noqa: E402
from routing_action.evidence.gc_pause import no_collector  # noqa: E402
from routing_action.gate.baselines import parse_baseline  # noqa: E402
from routing_action.gate.comparison import Tree, compare  # noqa: E402
from routing_action.gate.verdict import Conclusion, Policy, decide_gate  # noqa: E402
from routing_action.results.measured import gather  # noqa: E402
from routing_action.results.measured_files import read_batches  # noqa: E402
from routing_action.results.model import Results  # noqa: E402

AGENTS = ("claude", "codex", "copilot")
CASES = 10_000
GOAL = 0.8
CURRENT, MERGE_BASE = "baseline.json", "baseline-at-merge-base.json"


def make_row(number: int, case: int, agent: str) -> dict[str, Any]:
    """A row as a run writes it; every twentieth does not pass."""
    skill = f"skill-{case % 40:02d}"
    passes = number % 20 != 7
    proof = f'{{"name":"Skill","input":{{"skill":"{skill}"}}}}'
    hit = {
        "best_score": 1000,
        "tier": 1,
        "source_kind": "cli_output",
        "source_detail": f"load at stdout line {number % 60 + 3}",
        "proof_line": proof,
    }
    return {
        "unit_run_id": f"{number:08x}-0000-4000-8000-{number:012x}",
        "agent": agent,
        "case_id": f"case-{case:05d}",
        "category": f"category-{case % 12}",
        "status": "pass" if passes else "fail",
        "expected_skill": skill,
        "source": "cli_output",
        "matched_evidence": [skill] if passes else [],
        "missing_evidence": [] if passes else [skill],
        "token_hits": {skill: hit if passes else None},
        "tool_use_proof_lines": [proof] if passes else [],
        "matched_log_file": None,
        "optional_hits": [],
        "disallowed_hits": [],
        "disallowed_seen": [],
        "loaded_skills": [skill] if passes else [],
        "failure_kind": None if passes else "missing_required",
        "failure_category": None if passes else "assertion",
        "timed_out": False,
        "duration_ms": 9_000 + number % 7_000,
        "command": [agent, "-p", f"Please do the task number {case} of the corpus.", "--verbose"],
        "exit_code": 0,
        "output_excerpt": '{"type":"result","subtype":"success","is_error":false}\n' * 3,
        "error": None,
        "trial": 1,
        "outcome": "completed",
        "ended_by": "exit",
        "survivors": [],
        "recognised_events": 12,
        "unrecognised_events": 0,
        "catalogue": [f"skill-{place:02d}" for place in range(12)],
        "usage": {
            "input_tokens": 2500,
            "output_tokens": 310,
            "cached_input_tokens": 1800,
            "reasoning_tokens": None,
            "premium_requests": None,
        },
        "cost_usd": 0.0123,
        "cli_version": "2.1.332",
        "model": "model-large",
        "started_at_utc": "2026-01-01T00:00:00.000Z",
        "ended_at_utc": "2026-01-01T00:00:09.000Z",
        "notes": [],
    }


def make_results() -> dict[str, Any]:
    """A batch of every case on every agent; cases stand in no order, as in a grown corpus."""
    cases = [place * 7919 % CASES for place in range(CASES)]
    pairs = [(case, agent) for case in cases for agent in AGENTS]
    rows = [make_row(number, case, agent) for number, (case, agent) in enumerate(pairs)]
    failed = sum(row["status"] == "fail" for row in rows)
    case_ids = [f"case-{case:05d}" for case in cases]
    return {
        "schema_version": 1,
        "batch_run_id": "00000000-0000-4000-8000-0000000000ff",
        "generated_at_utc": "2026-01-01T00:00:00.000Z",
        "complete": True,
        "summary": {
            "total": len(rows),
            "pass": len(rows) - failed,
            "fail": failed,
            "infra_error": 0,
        },
        "pairs": [
            {
                "agent": row["agent"],
                "case_id": row["case_id"],
                "status": row["status"],
                "flaky": False,
                "trials": 1,
                "measured": 1,
                "passed": int(row["status"] == "pass"),
            }
            for row in rows
        ],
        "options": {
            "agents": list(AGENTS),
            "categories": [],
            "case_ids": [],
            "selected_case_ids": case_ids,
            "sample": None,
            "seed": None,
            "shard": None,
            "matrix_key": None,
            "attempt": 1,
            "corpus_sha256": "0" * 64,
            "trials": 1,
            "timeout_seconds": 300,
            "max_parallel": 4,
            "log_scan": False,
            "workspace": "isolated",
            "replay": None,
            "fail_on_infra": False,
        },
        "results": rows,
    }


def make_baseline(results: dict[str, Any]) -> dict[str, Any]:
    """An entry for each row; every fiftieth row that failed is a regression."""
    entries: dict[str, Any] = {}
    for number, row in enumerate(results["results"]):
        expected = "pass" if number % 1000 == 7 else row["status"]
        entry = {"expected_status": expected, "allow_timeout": False}
        if expected == "fail":
            entry["reason"] = "a known weakness of this agent"
        entries.setdefault(row["case_id"], {})[row["agent"]] = entry
    return entries


def write_inputs(folder: Path, files: int) -> None:
    """Write the results of so many jobs, and the two baselines."""
    value = make_results()
    Results.model_validate_json(json.dumps(value))
    rows = value["results"]
    for place in range(files):
        part = rows[place * len(rows) // files : (place + 1) * len(rows) // files]
        job = folder / f"routing-results-job{place}-a1"
        job.mkdir()
        (job / "results.json").write_text(json.dumps(_part(value, part), indent=2), "utf-8")
    baseline = make_baseline(value)
    (folder / CURRENT).write_text(json.dumps(baseline, indent=2), "utf-8")
    del baseline[rows[-1]["case_id"]]
    (folder / MERGE_BASE).write_text(json.dumps(baseline, indent=2), "utf-8")


def _part(value: dict[str, Any], rows: list[dict[str, Any]]) -> dict[str, Any]:
    cases = list(dict.fromkeys(row["case_id"] for row in rows))
    return {
        **value,
        "options": {**value["options"], "selected_case_ids": cases},
        "pairs": [pair for pair in value["pairs"] if pair["case_id"] in set(cases)],
        "results": rows,
    }


def anchor(folder: Path) -> None:
    """Parse the results and a baseline and do nothing with them."""
    with no_collector():
        parsed = [json.loads(path.read_bytes()) for path in folder.glob("*/results.json")]
        parsed.append(json.loads((folder / CURRENT).read_bytes()))


def product(folder: Path) -> None:
    """What `compare` does between its files and the conclusion."""
    with no_collector():
        batches = read_batches([folder])
        current = parse_baseline((folder / CURRENT).read_bytes(), CURRENT)
        ref = parse_baseline((folder / MERGE_BASE).read_bytes(), MERGE_BASE)
        comparison = compare(gather(batches), ref, Tree(frozenset(current), current))
        gate = decide_gate(comparison, Policy())
    if gate.conclusion is not Conclusion.FAILURE or len(comparison.rows) != CASES * len(AGENTS):
        raise SystemExit("the comparison is not what was written")


def measure_goal(goal: int, rounds: int) -> Iterator[Row]:
    """The rows of goal 10 for the comparison; each round is a pair, by CPU time."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_inputs(folder, 1)
        found = measure_pairs(max(rounds, 5), partial(anchor, folder), partial(product, folder))
        yield Row.of_values(goal, "30,000 results: load and compare", found.ratios, "x", most=1.0)
        memory = raised_memory(folder, "product")
        yield Row.of_values(goal, "30,000 results: memory of it", [memory], "MB")


def raised_memory(folder: Path, call: str) -> float:
    """By how many MB a call raises the resident set at most, in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, "--memory", call, str(folder)],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    return int(done.stdout) / 1e6


def measure_memory(call: str, folder: Path) -> int:
    """Print the same of this process, in bytes."""
    before = read_status("VmRSS")
    (product if call == "product" else anchor)(folder)
    sys.stdout.write(f"{read_status('VmHWM') - before}\n")
    return 0


def main() -> int:
    """Write the files, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--files", type=int, default=1, help="of how many jobs the results are")
    parser.add_argument("--profile", action="store_true", help="show where the time goes")
    parser.add_argument("--memory", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.memory:
        return measure_memory(options.memory[0], Path(options.memory[1]))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_inputs(folder, options.files)
        size = sum(path.stat().st_size for path in folder.rglob("*.json"))
        ratio = measure_pairs(options.rounds, partial(anchor, folder), partial(product, folder))
        memory = [raised_memory(folder, call) for call in ("anchor", "product")]
        sys.stdout.write(
            f"{options.files} results.json and two baselines, {size / 2**20:.1f} MiB\n"
            f"json.loads, collector off          {ratio.anchor * 1000:6.0f} ms, "
            f"{memory[0]:.0f} MB\n"
            f"load, validate, compare and decide {ratio.subject * 1000:6.0f} ms, "
            f"{memory[1]:.0f} MB\n"
            f"{ratio} (goal: at most {GOAL})\n"
        )
        if options.profile:
            profile = cProfile.Profile()
            profile.runcall(product, folder)
            pstats.Stats(profile, stream=sys.stdout).sort_stats("tottime").print_stats(25)
    return 0 if ratio.median <= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
