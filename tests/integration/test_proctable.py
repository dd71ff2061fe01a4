"""Which processes a walk over /proc shows, and which it may leave out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

# Walks twice; in between the number of the process that was there first may change hands.
WATCHER = """
import os, subprocess, sys, time
from pathlib import Path
from routing_action.run.process.proctable import ProcessTable

table, old = ProcessTable(), int(sys.argv[1])
first = {record.pid for record in table.walk(time.monotonic()).records}
younger = subprocess.Popen(["sleep", "100"])
print("ready", old in first, flush=True)
sys.stdin.readline()
number = younger.pid
if sys.argv[2] == "reuse":
    for _ in range(100):
        Path("/proc/sys/kernel/ns_last_pid").write_text(str(old - 1))
        again = subprocess.Popen(["sleep", "100"])
        if again.pid == old:
            break
        again.kill()
        again.wait()
    number = again.pid
second = {record.pid for record in table.walk(time.monotonic()).records}
print(number, old in second, number in second, os.getpid() in second, flush=True)
younger.kill()
if number == old:
    again.kill()
"""


def watch(old: subprocess.Popen[bytes], how: str, *, end_old: bool) -> list[str]:
    """What the watcher found after its second walk."""
    with subprocess.Popen(
        [sys.executable, "-c", WATCHER, str(old.pid), how],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as watcher:
        assert watcher.stdin is not None
        assert watcher.stdout is not None
        assert watcher.stdout.readline().split() == ["ready", "True"]
        if end_old:
            old.kill()
            old.wait()
        watcher.stdin.write("\n")
        watcher.stdin.flush()
        return watcher.stdout.readline().split()


@pytest.fixture
def old() -> subprocess.Popen[bytes]:
    """A process that is there before the one that walks; at least one clock tick older."""
    process = subprocess.Popen(["sleep", "100"])
    subprocess.run(["sleep", "0.05"], check=True)
    return process


def test_a_process_older_than_the_harness_is_read_once(old: subprocess.Popen[bytes]) -> None:
    """It can belong to no unit; a younger one, and the harness itself, are shown every time."""
    try:
        assert watch(old, "keep", end_old=False)[1:] == ["False", "True", "True"]
    finally:
        old.kill()
        old.wait()


def test_a_number_that_changes_hands_is_read_again(old: subprocess.Popen[bytes]) -> None:
    """A survivor does not hide behind the number of an old process."""
    last = Path("/proc/sys/kernel/ns_last_pid")
    try:
        last.write_text(last.read_text("ascii"), "ascii")
    except OSError:
        old.kill()
        old.wait()
        pytest.skip("only a privileged user can choose the number of a process")
    number, old_is_shown, number_is_shown, _ = watch(old, "reuse", end_old=True)
    assert number == str(old.pid), "the number could not be taken again"
    assert (old_is_shown, number_is_shown) == ("True", "True")
