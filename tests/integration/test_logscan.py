"""A unit is credited with the log lines that were written while it ran, and with no other."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from routing_action.run.logs.log_targets import make_targets
from routing_action.run.logs.log_walk import DiskFileSystem
from routing_action.run.logs.logscan import LogScanner

GLOB = ".agent/**/*.jsonl"


class CountingDisk(DiskFileSystem):
    """The real disk; counts the folders that are listed, and can fail or act in between."""

    def __init__(self) -> None:
        self.listed: list[str] = []
        self.closed: set[str] = set()
        self.unreadable: set[str] = set()
        self.before_open: Callable[[str], object] = lambda _: None
        self.before_stat: Callable[[str], object] = lambda _: None
        self.before_status: Callable[[], object] = lambda: None

    @contextmanager
    def scandir(self, path: str) -> Iterator[Iterator[os.DirEntry[str]]]:
        self.listed.append(path)
        if path in self.closed:
            raise PermissionError(13, "Permission denied", path)
        with super().scandir(path) as entries:
            listed = list(entries)
            self.before_status()
            yield iter(listed)

    def stat(self, path: str) -> os.stat_result:
        self.before_stat(path)
        return super().stat(path)

    def open(self, path: str) -> int:
        self.before_open(path)
        if path in self.unreadable:
            raise PermissionError(13, "Permission denied", path)
        return super().open(path)


class Bench:
    """A home with logs, and a scanner of them."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.disk = CountingDisk()
        self.clock = 1_700_000_000

    def scanner(self, glob: str = GLOB, **limits: Any) -> LogScanner:  # noqa: ANN401
        scanner = LogScanner(make_targets([glob], self.home), file_system=self.disk, **limits)
        scanner.snapshot()
        return scanner

    def path(self, name: str) -> Path:
        path = self.home / ".agent" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def append(self, name: str, data: bytes) -> Path:
        """Write to a log; each write is a second later than the one before."""
        path = self.path(name)
        with path.open("ab") as file:
            file.write(data)
        self.clock += 1
        os.utime(path, (self.clock, self.clock))
        return path


@pytest.fixture(name="bench")
def make_bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_a_second_unit_is_not_credited_with_the_first_one_s_proof(bench: Bench) -> None:
    """Offsets move on after each unit of a serial batch."""
    scanner = bench.scanner()
    path = bench.append("a.jsonl", b'{"proof":1}\n')
    assert scanner.new_lines() == [(str(path), b'{"proof":1}\n')]
    assert scanner.new_lines() == []
    bench.append("a.jsonl", b'{"other":2}\n')
    assert scanner.new_lines() == [(str(path), b'{"other":2}\n')]


def test_a_stale_log_gives_nothing(bench: Bench) -> None:
    """What stood there before the batch proves nothing, even if it is touched."""
    path = bench.append("old/a.jsonl", b'{"proof":1}\n')
    scanner = bench.scanner()
    assert scanner.new_lines() == []
    os.utime(path, (1_800_000_000, 1_800_000_000))
    assert scanner.new_lines() == []


def test_appended_and_new_files_are_read_from_the_right_place(bench: Bench) -> None:
    """Of a known file only the new part, of a new file all; the newest comes first."""
    old = bench.append("a.jsonl", b"before\n")
    scanner = bench.scanner()
    bench.append("a.jsonl", b"after\n")
    new = bench.append("deep/er/b.jsonl", b"whole\n")
    assert scanner.new_lines() == [(str(new), b"whole\n"), (str(old), b"after\n")]


def test_other_files_are_not_read(bench: Bench) -> None:
    """Only what the globs name."""
    scanner = bench.scanner()
    bench.append("a.txt", b"x\n")
    bench.append("a.jsonl.bak", b"x\n")
    assert scanner.new_lines() == []


def test_globs_may_share_a_folder(tmp_path: Path) -> None:
    """Each file is given once; one that only changed its name gives nothing."""
    bench = Bench(tmp_path)
    old = bench.append("a.jsonl", b"old\n")
    other = bench.append("b.log", b"old\n")
    globs = [".agent/*.jsonl", ".agent/*.log", ".agent/a*"]
    scanner = LogScanner(make_targets(globs, bench.home))
    scanner.snapshot()
    assert scanner.new_lines() == []
    bench.append("a.jsonl", b"new\n")
    other.rename(bench.path("c.log"))
    assert scanner.new_lines() == [(str(old), b"new\n")]
    bench.append("c.log", b"more\n")
    assert scanner.new_lines() == [(str(bench.path("c.log")), b"more\n")]


def test_a_folder_that_bears_a_log_s_name_is_walked(bench: Bench) -> None:
    """And the logs of one that is removed with them are no more there."""
    scanner = bench.scanner()
    path = bench.append("d.jsonl/a.jsonl", b"x\n")
    assert scanner.new_lines() == [(str(path), b"x\n")]
    path.unlink()
    assert scanner.new_lines() == []
    path.parent.rmdir()
    assert scanner.new_lines() == []


def test_one_file_can_be_named(bench: Bench) -> None:
    """A setting may name a log file instead of a folder."""
    path = bench.append("agent.log", b"before\n")
    scanner = bench.scanner(".agent/agent.log")
    bench.append("agent.log", b"after\n")
    assert scanner.new_lines() == [(str(path), b"after\n")]
    path.unlink()
    path.symlink_to("/etc/passwd")
    assert scanner.new_lines() == []


# --- once per agent and batch -------------------------------------------------------------------


def test_there_is_one_snapshot_for_an_agent_and_batch(bench: Bench) -> None:
    """Asking again walks nothing; each unit's end walks once."""
    bench.append("d/a.jsonl", b"x\n")
    scanner = bench.scanner()
    walk = sorted([str(bench.home / ".agent"), str(bench.home / ".agent/d")])
    assert sorted(bench.disk.listed) == walk
    scanner.snapshot()
    scanner.snapshot()
    assert sorted(bench.disk.listed) == walk
    scanner.new_lines()
    assert sorted(bench.disk.listed) == sorted(walk * 2)


def test_without_a_snapshot_the_first_call_takes_one_and_credits_nobody(bench: Bench) -> None:
    """It cannot know what is old."""
    bench.append("a.jsonl", b"old\n")
    scanner = LogScanner(make_targets([GLOB], bench.home))
    assert scanner.new_lines() == []
    path = bench.append("a.jsonl", b"new\n")
    assert scanner.new_lines() == [(str(path), b"new\n")]


def test_a_folder_that_does_not_exist_yet_is_found_later(bench: Bench) -> None:
    """A fresh home has no logs when the unit starts."""
    scanner = bench.scanner()
    path = bench.append("a.jsonl", b"x\n")
    assert scanner.new_lines() == [(str(path), b"x\n")]


# --- whole lines --------------------------------------------------------------------------------


def test_a_partial_last_line_is_not_given_to_the_next_unit(bench: Bench) -> None:
    """A line that one unit began and another ended belongs to neither."""
    scanner = bench.scanner()
    path = bench.append("a.jsonl", b'{"a":1}\n{"pro')
    assert scanner.new_lines() == [(str(path), b'{"a":1}\n')]
    bench.append("a.jsonl", b'of":2}\n{"b":3}\n')
    assert scanner.new_lines() == [(str(path), b'{"b":3}\n')]


def test_a_partial_last_line_waits_while_the_unit_runs(bench: Bench) -> None:
    """Read in between, it is given when it is whole, once."""
    scanner = bench.scanner()
    path = bench.append("a.jsonl", b'{"a":1}\n{"pro')
    assert scanner.new_lines(final=False) == [(str(path), b'{"a":1}\n')]
    assert scanner.new_lines(final=False) == []
    bench.append("a.jsonl", b'of":2}\n')
    assert scanner.new_lines(final=False) == [(str(path), b'{"proof":2}\n')]
    assert scanner.new_lines() == []


def test_a_line_that_waited_is_settled_when_the_unit_ends(bench: Bench) -> None:
    """Its rest, written in the next unit's time, is not credited there."""
    scanner = bench.scanner()
    bench.append("a.jsonl", b'{"pro')
    assert scanner.new_lines(final=False) == []
    assert scanner.new_lines() == []
    bench.append("a.jsonl", b'of":2}\n')
    assert scanner.new_lines() == []


def test_the_rest_of_a_line_from_before_the_batch_is_passed_over(bench: Bench) -> None:
    """Half a record is no record."""
    bench.append("a.jsonl", b'{"old":')
    scanner = bench.scanner()
    path = bench.append("a.jsonl", b'1}\n{"new":2}\n')
    assert scanner.new_lines() == [(str(path), b'{"new":2}\n')]


# --- rotation and truncation --------------------------------------------------------------------


def test_a_truncated_file_is_read_from_its_start(bench: Bench) -> None:
    """It shrank, so what stands there is new."""
    path = bench.append("a.jsonl", b"old old old\n")
    scanner = bench.scanner()
    path.write_bytes(b"new\n")
    assert scanner.new_lines() == [(str(path), b"new\n")]


def test_a_rotated_log_gives_its_new_file_and_no_old_line(bench: Bench) -> None:
    """The old file under its new name is known; only what was added to it counts."""
    path = bench.append("a.jsonl", b"old\n")
    scanner = bench.scanner()
    bench.append("a.jsonl", b"last\n")
    moved = path.rename(bench.path("a.1.jsonl"))
    bench.append("a.jsonl", b"first\n")
    assert scanner.new_lines() == [(str(path), b"first\n"), (str(moved), b"last\n")]
    moved.rename(bench.path("a.2.jsonl"))
    assert scanner.new_lines() == []


def test_a_renamed_log_gives_nothing(bench: Bench) -> None:
    """Another name alone is no new line."""
    path = bench.append("a.jsonl", b"old\n")
    scanner = bench.scanner()
    path.rename(bench.path("b.jsonl"))
    assert scanner.new_lines() == []


def test_a_replaced_file_is_read_from_its_start(bench: Bench) -> None:
    """Another file under the same name, longer or not."""
    path = bench.append("a.jsonl", b"old\n")
    scanner = bench.scanner()
    other = bench.append("other.tmp", b"new, and longer than the old one\n")
    other.rename(path)
    assert scanner.new_lines() == [(str(path), b"new, and longer than the old one\n")]


# --- what happens while it is read --------------------------------------------------------------


def test_a_file_that_grows_while_it_is_read_gives_each_line_once(bench: Bench) -> None:
    """What comes in after the walk and before the reading is taken; nothing is lost or doubled."""
    scanner = bench.scanner()
    path = bench.append("a.jsonl", b"one\n")
    bench.disk.before_open = lambda _: bench.append("a.jsonl", b"two\n")
    assert scanner.new_lines() == [(str(path), b"one\ntwo\n")]
    bench.disk.before_open = lambda _: None
    assert scanner.new_lines() == []


def test_a_file_that_is_replaced_or_cut_while_it_is_read_starts_anew(bench: Bench) -> None:
    """The reading follows the file that is opened."""
    bench.append("a.jsonl", b"old\n")
    scanner = bench.scanner()
    path = bench.append("a.jsonl", b"more\n")
    other = bench.append("other.tmp", b"replaced!\n")
    bench.disk.before_open = lambda _: other.rename(path)
    assert scanner.new_lines() == [(str(path), b"replaced!\n")]
    bench.append("a.jsonl", b"more\n")
    bench.disk.before_open = lambda _: path.write_bytes(b"cut\n")
    assert scanner.new_lines() == [(str(path), b"cut\n")]


def test_a_file_that_vanishes_is_passed_over(bench: Bench) -> None:
    """Agents tidy up while we look."""
    scanner = bench.scanner()
    path = bench.append("a.jsonl", b"x\n")
    bench.disk.before_open = lambda name: Path(name).unlink()
    assert scanner.new_lines() == []
    assert not path.exists()
    assert scanner.new_lines() == []


def test_a_file_that_becomes_a_pipe_or_a_link_is_not_read(bench: Bench) -> None:
    """Reading must neither hang nor leave the folder."""
    scanner = bench.scanner()
    first, second = bench.append("a.jsonl", b"x\n"), bench.append("b.jsonl", b"x\n")

    def swap(name: str) -> None:
        Path(name).unlink()
        if name == str(first):
            os.mkfifo(name)
        else:
            second.symlink_to("/etc/passwd")

    bench.disk.before_open = swap
    assert scanner.new_lines() == []


def test_an_unreadable_file_is_passed_over_and_credited_to_nobody(bench: Bench) -> None:
    """When it opens again, its old lines are old."""
    scanner = bench.scanner()
    path = bench.append("a.jsonl", b"x\n")
    bench.disk.unreadable.add(str(path))
    assert scanner.new_lines() == []
    bench.disk.unreadable.clear()
    bench.append("a.jsonl", b"y\n")
    assert scanner.new_lines() == [(str(path), b"y\n")]


def test_a_folder_that_could_not_be_listed_gives_no_old_line_later(bench: Bench) -> None:
    """Files that come in sight with it may be older than the batch."""
    path = bench.append("closed/a.jsonl", b"old\n")
    bench.disk.closed.add(str(path.parent))
    scanner = bench.scanner()
    assert scanner.new_lines() == []
    bench.disk.closed.clear()
    assert scanner.new_lines() == []
    bench.append("closed/a.jsonl", b"new\n")
    assert scanner.new_lines() == [(str(path), b"new\n")]


def test_a_loop_of_links_ends(bench: Bench) -> None:
    """Links are not followed, so a file is given once, by its own path."""
    scanner = bench.scanner()
    path = bench.append("d/a.jsonl", b"x\n")
    (path.parent / "loop").symlink_to(path.parent.parent)
    (path.parent / "link.jsonl").symlink_to(path)
    (path.parent / "self").symlink_to("self")
    assert scanner.new_lines() == [(str(path), b"x\n")]


def test_a_file_that_vanishes_or_fails_at_any_step_is_passed_over(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between listing and status, at its own status, and while it is read."""
    single = bench.append("agent.log", b"x\n")
    scanner = bench.scanner(".agent/agent.log")
    single.unlink()
    bench.disk.before_stat = lambda name: Path(name).unlink(missing_ok=True)
    bench.append("agent.log", b"x\n")
    assert scanner.new_lines() == []

    scanner = bench.scanner()
    path = bench.append("a.jsonl", b"x\n")
    bench.disk.before_status = path.unlink
    assert scanner.new_lines() == []

    bench.disk.before_status = lambda: None
    bench.append("b.jsonl", b"x\n")

    def fail(*_: object) -> bytes:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("os.pread", fail)
    assert scanner.new_lines() == []


# --- limits -------------------------------------------------------------------------------------


def test_only_the_newest_files_are_read_and_the_others_are_settled(bench: Bench) -> None:
    """What is beyond the limit is not credited to the next unit instead."""
    scanner = bench.scanner(max_files=2)
    paths = [bench.append(f"{number}.jsonl", b"x\n") for number in range(5)]
    assert [path for path, _ in scanner.new_lines()] == [str(paths[4]), str(paths[3])]
    assert scanner.new_lines() == []


def test_only_so_many_bytes_are_read_the_newest_ones(bench: Bench) -> None:
    """The newest file goes first; of an older one the last whole lines that fit."""
    scanner = bench.scanner(max_bytes=20)
    old = bench.append("old.jsonl", b"111111\n222222\n333333\n")
    new = bench.append("new.jsonl", b"aaaa\nbbbb\n")
    assert scanner.new_lines() == [(str(new), b"aaaa\nbbbb\n"), (str(old), b"333333\n")]
    assert scanner.new_lines() == []


def test_a_line_longer_than_the_limit_gives_nothing(bench: Bench) -> None:
    """Half a line would prove nothing."""
    scanner = bench.scanner(max_bytes=10)
    bench.append("a.jsonl", b"x" * 100 + b"\n")
    assert scanner.new_lines() == []


def test_a_limit_of_zero_reads_nothing(bench: Bench) -> None:
    """The scan can be kept from reading at all."""
    scanner = bench.scanner(max_files=0)
    bench.append("a.jsonl", b"x\n")
    assert scanner.new_lines() == []
