"""`evaluate` judges transcripts of any size, and lines of any length, in bounded memory."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.transcripts import write_session
from tests.support.command_line import ROOT
from tests.support.streams import claude_call, claude_end, claude_result, jsonl

# Runs the command line, then tells the peak memory of this image in MiB on standard error.
PROGRAM = """
import re, sys
from routing_action.__main__ import main
code = main(sys.argv[1:])
peak = re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())
print(int(peak[1]) // 1024, file=sys.stderr)
sys.exit(code)
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="looks into /proc"),
]


def evaluate(path: Path) -> tuple[dict[str, Any], int]:
    """What is said of a claude transcript, and the peak of memory in MiB."""
    arguments = ["evaluate", "--agent", "claude", "--stdout", str(path), "--token", "foo"]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments, "--token", "widget-testing"],
        capture_output=True,
        check=True,
        env={"PYTHONPATH": str(ROOT / "src")},
    )
    return json.loads(done.stdout), int(done.stderr)


def write(path: Path, parts: Iterable[bytes]) -> Path:
    with path.open("wb") as file:
        for part in parts:
            file.write(part)
    return path


def test_two_hundred_megabytes_take_no_more_memory_than_two(tmp_path: Path) -> None:
    """A session of some 500,000 records, with its load at the beginning."""
    path = tmp_path / "out"
    write_session("claude", path, 200_000_000)
    said, peak = evaluate(path)
    assert said["token_hits"]["widget-testing"]["tier"] == 1
    assert said["run"]["recognised_events"] > 400_000
    assert said["run"]["unrecognised_events"] == 0
    assert peak <= 60


def test_a_result_of_a_hundred_megabytes_is_not_read(tmp_path: Path) -> None:
    """P4: it is counted, the call stays without a result, and what comes after it is read."""
    call = jsonl(claude_call("t1", "Skill", skill="foo"))
    first, last = jsonl(claude_result("t1", "OUTPUT")).split(b"OUTPUT")
    path = write(tmp_path / "out", [call, first, *[b"x" * 1_000_000] * 100, last])
    with path.open("ab") as file:
        file.write(jsonl(claude_end()))
    said, peak = evaluate(path)
    assert path.stat().st_size > 100_000_000
    assert said["token_hits"]["foo"]["tier"] == 2
    assert said["run"] == {
        "outcome": "completed",
        "recognised_events": 2,
        "unrecognised_events": 1,
    }
    assert peak <= 80


@pytest.mark.parametrize("block", [b"x" * 1_000_000, b"1," * 500_000, b'"a",' * 250_000])
def test_a_giant_line_is_counted(tmp_path: Path, block: bytes) -> None:
    """Whatever it is made of; what comes after it is read as ever."""
    call = jsonl(claude_call("t1", "Skill", skill="foo"), claude_result("t1", "ok"))
    path = write(tmp_path / "out", [call, b'{"type":"user","n":[', *[block] * 100, b"\n"])
    with path.open("ab") as file:
        file.write(jsonl(claude_end()))
    said, peak = evaluate(path)
    assert said["token_hits"]["foo"]["tier"] == 1
    assert said["run"]["unrecognised_events"] == 1
    assert said["run"]["outcome"] == "completed"
    assert peak <= 80
