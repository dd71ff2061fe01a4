"""Time to load, validate and compare 30,000 results, against parsing the same files twice.

usage: PYTHONPATH=src python benchmarks/compare_30000.py [--profile] [--rounds N]

Writes a results.json of 30,000 full rows and a baseline of 30,000 entries into a temporary folder,
and prints, as the least CPU time of N rounds (5) in one process: the anchor, `json.loads` of both
files with the garbage collector off; the product, `read_batches`, `parse_baseline` of the merge
base's bytes and of the working tree's, `gather`, `compare` and `decide_gate`, with the collector
off from end to end (`no_collector`) and with it off while loading alone; and their ratios (goal for
the first: at most 1.0). All read the files from the disk each time.
"""

from __future__ import annotations

import argparse
import cProfile
import gc
import json
import pstats
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from routing_action.domain.comparison import Tree, compare
from routing_action.domain.gate import Conclusion, Policy, decide_gate
from routing_action.domain.measured import gather
from routing_action.domain.results import Results
from routing_action.store.baselines import parse_baseline
from routing_action.store.measured_files import no_collector, read_batches

AGENTS = ("claude", "codex", "copilot")
CASES = 10_000
GOAL = 1.0


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
    """A batch of every case on every agent."""
    pairs = [(case, agent) for case in range(CASES) for agent in AGENTS]
    rows = [make_row(number, case, agent) for number, (case, agent) in enumerate(pairs)]
    failed = sum(row["status"] == "fail" for row in rows)
    case_ids = [f"case-{case:05d}" for case in range(CASES)]
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


def anchor(results: Path, baseline: Path) -> None:
    """Parse both files and do nothing with them."""
    with no_collector():
        json.loads(results.read_bytes())
        json.loads(baseline.read_bytes())


def product(results: Path, baseline: Path) -> None:
    """What `compare` does between its files and the conclusion."""
    batches = read_batches([results])
    current = parse_baseline(baseline.read_bytes(), "baseline")
    ref = parse_baseline(baseline.read_bytes(), "baseline at the merge base")
    measurement = gather(batches)
    comparison = compare(measurement, ref, Tree(frozenset(current), current))
    gate = decide_gate(comparison, Policy())
    if gate.conclusion is not Conclusion.FAILURE or len(comparison.rows) != CASES * len(AGENTS):
        raise SystemExit("the comparison is not what was written")


def product_without_collector(results: Path, baseline: Path) -> None:
    """The same with the garbage collector off from end to end."""
    with no_collector():
        product(results, baseline)


def best_of(rounds: int, calls: Sequence[Callable[[], None]]) -> list[float]:
    """The least CPU time of some rounds of each call, in seconds; rounds take turns."""
    best = [float("inf")] * len(calls)
    for _ in range(rounds):
        for place, call in enumerate(calls):
            gc.collect()
            started = time.process_time()
            call()
            best[place] = min(best[place], time.process_time() - started)
    return best


def main() -> int:
    """Write the files, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--profile", action="store_true", help="show where the time goes")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        results, baseline = Path(folder, "results.json"), Path(folder, "baseline.json")
        value = make_results()
        Results.model_validate_json(json.dumps(value))
        results.write_text(json.dumps(value, indent=2), encoding="utf-8")
        baseline.write_text(json.dumps(make_baseline(value), indent=2), encoding="utf-8")
        del value
        sizes = [path.stat().st_size / 2**20 for path in (results, baseline)]
        loaded, ours, collected = best_of(
            options.rounds,
            [
                lambda: anchor(results, baseline),
                lambda: product_without_collector(results, baseline),
                lambda: product(results, baseline),
            ],
        )
        sys.stdout.write(
            f"results.json {sizes[0]:.1f} MiB, baseline {sizes[1]:.1f} MiB\n"
            f"json.loads of both, collector off   {loaded * 1000:6.0f} ms\n"
            f"load, validate, compare and decide  {ours * 1000:6.0f} ms\n"
            f"ratio {ours / loaded:.2f} (goal: at most {GOAL})\n"
            f"with the collector on after loading {collected * 1000:6.0f} ms, "
            f"ratio {collected / loaded:.2f}\n"
        )
        if options.profile:
            profile = cProfile.Profile()
            profile.runcall(product, results, baseline)
            pstats.Stats(profile, stream=sys.stdout).sort_stats("tottime").print_stats(25)
    return 0 if ours <= GOAL * loaded else 1


if __name__ == "__main__":
    sys.exit(main())
