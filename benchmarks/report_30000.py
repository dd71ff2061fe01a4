"""Time and memory to make the HTML report of 30,000 results, against parsing their file once.

usage: PYTHONPATH=src python benchmarks/report_30000.py [--rounds N] [--browser PATH]

Writes a results.json of 30,000 full rows and its delta into a temporary folder, and prints by CPU
time, over N pairs (7) in one process: the anchor, one `json.loads` of results.json with the garbage
collector off; the product, `stream_units` from the disk through `write_html` to the disk; and their
ratio (goal: a median of at most 1.0). JUnit XML of the same is told for comparison. Then, in a
process of its own, by how much the report raises the greatest resident set above what the delta
takes (goal: at most 60 MB). With --browser, the path of a Chromium, it also types into the filter
of the report and prints the time from each key to the frame that shows its result (goal: at most
200 ms), which needs the dev environment.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from benchmarks.compare_30000 import make_baseline, make_results  # noqa: E402 - path first
from benchmarks.measure import Row  # noqa: E402
from benchmarks.measuring import measure_pairs, read_status  # noqa: E402
from routing_action.corpus.case import Case  # noqa: E402
from routing_action.corpus.cases_file import Corpus  # noqa: E402
from routing_action.evidence.gc_pause import no_collector  # noqa: E402
from routing_action.gate.baselines import parse_baseline  # noqa: E402
from routing_action.gate.baselines_to_compare import Baselines  # noqa: E402
from routing_action.gate.describe import build_delta  # noqa: E402
from routing_action.gate.model import BaselineSource, Delta  # noqa: E402
from routing_action.gate.verdict import Policy  # noqa: E402
from routing_action.github.publication import RunLinks  # noqa: E402
from routing_action.report.html import write_html  # noqa: E402
from routing_action.report.junit import write_junit  # noqa: E402
from routing_action.results.measured_files import read_batches  # noqa: E402
from routing_action.results.unit_files import stream_units  # noqa: E402

GOAL, GOAL_MB, GOAL_MS = 1.0, 60, 200
PLACE = RunLinks(server_url="https://github.com", repository="octo/demo", sha="a" * 40, run_id="1")
KEYS = "case-0123 codex"
FLAGS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")

# Two frames after the event: in the first the result is made, at the second it has been shown.
TYPE_KEY = """
(key) => new Promise((done) => {
  const box = document.getElementById("find");
  const started = performance.now();
  box.value += key;
  box.dispatchEvent(new InputEvent("input", { bubbles: true }));
  requestAnimationFrame(() => requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => done(performance.now() - started);
    channel.port2.postMessage(0);
  }));
})
"""


def write_inputs(folder: Path) -> None:
    """Write results.json and delta.json."""
    value = make_results()
    results = folder / "results.json"
    results.write_text(json.dumps(value, indent=2), encoding="utf-8")
    baseline = parse_baseline(json.dumps(make_baseline(value)).encode(), "baseline")
    source = BaselineSource(
        path="provider-baseline.json",
        commit="b" * 40,
        date="2026-01-01T00:00:00Z",
        how="merge base of origin/main and HEAD",
        present=True,
        edited=False,
    )
    lines = {case_id: place + 2 for place, case_id in enumerate(sorted(baseline))}
    cases = tuple(Case(case_id=case_id, prompt="p") for case_id in lines)
    delta = build_delta(
        read_batches([results]),
        Baselines(baseline, baseline, source),
        Corpus("cases.json", cases, lines, "0" * 64),
        providers=(),
        unmeasured={},
        policy=Policy(),
        now=datetime(2026, 1, 2, tzinfo=UTC),
    )
    (folder / "delta.json").write_text(delta.model_dump_json(indent=2), encoding="utf-8")


def read_delta(folder: Path) -> Delta:
    """The delta that was written."""
    return Delta.model_validate_json((folder / "delta.json").read_bytes())


def anchor(folder: Path) -> None:
    """Parse the results and do nothing with them."""
    with no_collector():
        json.loads((folder / "results.json").read_bytes())


def product(folder: Path, delta: Delta) -> None:
    """Make the HTML report."""
    with no_collector(), (folder / "report.html").open("w", encoding="utf-8") as out:
        write_html(out, delta, stream_units([folder / "results.json"]), PLACE)


def junit(folder: Path, delta: Delta) -> None:
    """Make the JUnit XML."""
    with no_collector(), (folder / "junit.xml").open("w", encoding="utf-8") as out:
        write_junit(out, delta, stream_units([folder / "results.json"]), PLACE)


def measure_memory(folder: Path) -> int:
    """Print by how many bytes the report raises the resident set of this process at most."""
    delta = read_delta(folder)
    gc.collect()
    # What loading the delta left behind is given back, and the mark set anew (Linux, proc(5)).
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    before = read_status("VmRSS")
    product(folder, delta)
    sys.stdout.write(f"{read_status('VmHWM') - before}\n")
    return 0


def measure_goal(goal: int, rounds: int) -> Iterator[Row]:
    """The rows of goal 10 for the report; each round is a pair, by CPU time."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_inputs(folder)
        delta = read_delta(folder)
        ours = partial(product, folder, delta)
        found = measure_pairs(max(rounds, 5), partial(anchor, folder), ours)
        yield Row.of_values(goal, "30,000 results: HTML report", found.ratios, "x", most=GOAL)
        memory = raised_memory(folder)
        yield Row.of_values(goal, "30,000 results: memory of it", [memory], "MB", most=GOAL_MB)


def raised_memory(folder: Path) -> float:
    """The same in MB, measured in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, "--memory", str(folder)],
        check=True, capture_output=True, text=True, env={**os.environ},
    )  # fmt: skip
    return int(done.stdout) / 1e6


def time_keys(file: Path, browser: str) -> list[float]:
    """Milliseconds from each key to the frame that shows its result, in the matrix of all cases."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - of the dev environment

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=list(FLAGS))
        page = chromium.new_page(viewport={"width": 1280, "height": 900})
        page.goto(file.as_uri())
        page.click("#tab-matrix")
        page.wait_for_timeout(1000)
        times = [float(page.evaluate(TYPE_KEY, key)) for key in KEYS]
        chromium.close()
    return times


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the files, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--browser", metavar="PATH", help="time the filter in this Chromium")
    parser.add_argument("--memory", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.memory:
        return measure_memory(options.memory)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_inputs(folder)
        delta = read_delta(folder)
        load = partial(anchor, folder)
        html = measure_pairs(options.rounds, load, partial(product, folder, delta))
        xml = measure_pairs(options.rounds, load, partial(junit, folder, delta))
        memory = raised_memory(folder)
        sizes = [(folder / file).stat().st_size / 2**20 for file in ("results.json", "report.html")]
        sys.stdout.write(
            f"results.json {sizes[0]:.1f} MiB, report.html {sizes[1]:.1f} MiB\n"
            f"json.loads of it, collector off {html.anchor * 1000:6.0f} ms\n"
            f"HTML report                     {html.subject * 1000:6.0f} ms, "
            f"{html} (goal: at most {GOAL})\n"
            f"JUnit XML                       {xml.subject * 1000:6.0f} ms, {xml}\n"
            f"the report raises memory by     {memory:6.1f} MB (goal: at most {GOAL_MB})\n"
        )
        slow = False
        if options.browser:
            times = sorted(time_keys(folder / "report.html", options.browser))
            slow = times[-1] > GOAL_MS
            sys.stdout.write(
                f"a key in the filter is shown in {times[len(times) // 2]:6.0f} ms (median), "
                f"{times[-1]:.0f} ms at most (goal: at most {GOAL_MS})\n"
            )
    return 0 if html.median <= GOAL and memory <= GOAL_MB and not slow else 1


if __name__ == "__main__":
    sys.exit(main())
