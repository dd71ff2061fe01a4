"""Records what the real agent CLIs print for every case of cases.json, for `./test.sh --replay`.

Each CLI runs in a fresh copy of this repository with a home of its own, against the scripted
models of replay-scripts.json on loopback. Nothing here judges a transcript. Run it from the
root of the repository, after `npm ci` in this folder::

    python -m tests.live.record_replay [--provider claude] [--case-id author-first-case]
"""

import argparse
import asyncio
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.live.bench import LIVE, ROOT, STARTERS, Bench, Start, build_bench
from tests.live.mock_models import serve
from tests.live.mock_scripts import Script, parse_script

TIMEOUT_SECONDS = 120
SCRIPTS = ROOT / "tests" / "recordings" / "replay-scripts.json"
MAX_TIMINGS = 50


@dataclass(slots=True)
class Recording:
    """What one run printed; `timings` are (seconds since start, bytes of stdout so far)."""

    stdout: bytes = b""
    stderr: bytes = b""
    exit_code: int = -1
    duration_s: float = 0.0
    timings: list[tuple[float, int]] = field(default_factory=list)


# --- one run ------------------------------------------------------------------------------


def build_script(entry: Mapping[str, Any], provider: str, bench: Bench) -> tuple[Script, Any]:
    """Return the script and the options of one provider: its own entry overrides the shared."""
    own = entry.get(provider, {})
    text = json.dumps({**entry, **own})
    text = text.replace("{repo}", str(bench.repo))
    text = text.replace("{codex_home}", str(bench.home / ".codex"))
    return parse_script(json.loads(text)), own


def build_rewriter(bench: Bench, url: str) -> Callable[[str], str]:
    """Return a function that takes this machine out of a line of output."""
    places = {
        bench.repo: "/repo",
        bench.home: "/home/user",
        bench.plugin_dir: "/plugins/routing-action",
        bench.copilot_cache: "/home/user/.cache/copilot",
        bench.root / "tmp": "/tmp",
    }
    replacements = {url.removeprefix("http://"): "127.0.0.1:PORT"}
    for place, name in places.items():
        replacements[str(place)] = name
        replacements[re.sub(r"[^A-Za-z0-9]", "-", str(place))] = name.replace("/", "-")
    ordered = sorted(replacements, key=len, reverse=True)

    def rewrite(line: str) -> str:
        for old in ordered:
            line = line.replace(old, replacements[old])
        return line

    return rewrite


async def run_agent(start: Start, bench: Bench, rewrite: Callable[[str], str]) -> Recording:
    """Start the CLI with the null device as stdin and record it until it ends."""
    began = time.monotonic()
    process = await asyncio.create_subprocess_exec(
        *start.argv,
        cwd=bench.repo,
        env=start.environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=2**24,
    )
    if process.stdout is None or process.stderr is None:
        raise RuntimeError("the process has no pipes")
    recording = Recording()
    errors = asyncio.create_task(process.stderr.read())
    async with asyncio.timeout(TIMEOUT_SECONDS):
        async for line in process.stdout:
            recording.stdout += rewrite(line.decode()).encode()
            seconds = round(time.monotonic() - began, 3)
            recording.timings.append((seconds, len(recording.stdout)))
        recording.exit_code = await process.wait()
    recording.stderr = rewrite((await errors).decode()).encode()
    recording.duration_s = round(time.monotonic() - began, 3)
    return recording


def thin(timings: Sequence[tuple[float, int]], most: int = MAX_TIMINGS) -> list[list[float]]:
    """Return at most so many of the points, evenly chosen, the last one always among them."""
    step = max(1, -(-len(timings) // most))
    return [list(point) for point in reversed(timings[::-1][::step])]


async def record(
    provider: str, case: Mapping[str, Any], entry: Mapping[str, Any], binary: Path, cache: Path
) -> tuple[Recording, str]:
    """Record one case on one provider; returns the recording and the model's name."""
    with tempfile.TemporaryDirectory(prefix="record-", dir=cache) as folder:
        bench = build_bench(Path(folder), plugin=bool(entry.get("plugin")))
        script, options = build_script(entry, provider, bench)
        async with serve(script, think_seconds=0.25, event_seconds=0.01) as url:
            start = STARTERS[provider](binary, bench, url, case["prompt"], options)
            recording = await run_agent(start, bench, build_rewriter(bench, url))
        return recording, start.model


def write_recording(
    folder: Path, case_id: str, recording: Recording, version: str, model: str
) -> None:
    """Write the three files of one recording."""
    folder.mkdir(parents=True, exist_ok=True)
    facts = {
        "exit_code": recording.exit_code,
        "duration_s": recording.duration_s,
        "cli_version": version,
        "model": model,
        "timings": thin(recording.timings),
    }
    (folder / f"{case_id}.stdout").write_bytes(recording.stdout)
    (folder / f"{case_id}.stderr").write_bytes(recording.stderr)
    (folder / f"{case_id}.json").write_text(json.dumps(facts) + "\n", encoding="utf-8")


# --- the command line ---------------------------------------------------------------------


def read_version(binary: Path) -> str:
    """Ask a CLI for its version."""
    command = [str(binary), "--version"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = re.search(r"\d+(?:\.\d+)+", text)
    return found.group() if found else "unknown"


def select(cases: Sequence[Mapping[str, Any]], options: argparse.Namespace) -> Iterator[Any]:
    """Yield (provider, case) in the order of the corpus."""
    for case in cases:
        if not options.case_id or case["case_id"] in options.case_id:
            for provider in options.provider or STARTERS:
                yield provider, case


async def record_all(options: argparse.Namespace) -> None:
    """Record every selected pair, one after the other, so that the timings are true."""
    cases = json.loads((ROOT / "cases.json").read_text(encoding="utf-8"))
    scripts = json.loads(SCRIPTS.read_text(encoding="utf-8"))
    versions = {name: read_version(options.clis / name) for name in options.provider or STARTERS}
    for provider, case in select(cases, options):
        case_id, binary = case["case_id"], options.clis / provider
        entry = scripts[case_id]
        recording, model = await record(provider, case, entry, binary, options.cache)
        write_recording(options.output / provider, case_id, recording, versions[provider], model)
        sys.stderr.write(
            f"{provider}:{case_id} exit {recording.exit_code}, {recording.duration_s} s, "
            f"{len(recording.stdout)} bytes\n"
        )


def parse_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--provider", action="append", choices=STARTERS)
    parser.add_argument("--case-id", action="append")
    parser.add_argument("--clis", type=Path, default=LIVE / "node_modules" / ".bin")
    parser.add_argument("--output", type=Path, default=ROOT / "tests" / "recordings" / "replay")
    parser.add_argument(
        "--cache", type=Path, default=Path.home() / ".cache" / "routing-action-record"
    )
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Record the selected pairs."""
    options = parse_options(arguments)
    options.cache.mkdir(parents=True, exist_ok=True)
    asyncio.run(record_all(options))
    return 0


if __name__ == "__main__":
    sys.exit(main())
