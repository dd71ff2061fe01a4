"""A unit is credited with the log lines that were written while it ran, and with no other."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from routing_action.files.plain_files import open_regular
from routing_action.run.logs import session_logs
from routing_action.run.logs.session_logs import SessionLogs, read_log_tails

GLOB = ".agent/**/*.jsonl"


class Disk:
    """The real disk; counts the folders that are listed, and can fail or act in between."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.listed: list[str] = []
        self.closed: set[str] = set()
        self.unreadable: set[str] = set()
        self.before_open: Callable[[str], object] = lambda _: None
        self.before_status: Callable[[str], object] = lambda _: None
        self._scandir, self._lstat, self._open = os.scandir, os.lstat, open_regular
        monkeypatch.setattr("os.scandir", self.scandir)
        monkeypatch.setattr("os.lstat", self.lstat)
        monkeypatch.setattr(session_logs, "open_regular", self.open)

    def scandir(self, path: str) -> Any:  # noqa: ANN401
        self.listed.append(path)
        if path in self.closed:
            raise PermissionError(13, "Permission denied", path)
        return self._scandir(path)

    def lstat(self, path: str) -> os.stat_result:
        self.before_status(path)
        return self._lstat(path)

    def open(self, path: str) -> BinaryIO:
        self.before_open(path)
        if path in self.unreadable:
            raise PermissionError(13, "Permission denied", path)
        return self._open(path)


class Bench:
    """A home with session logs."""

    def __init__(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.home = home
        self.disk = Disk(monkeypatch)
        self.clock = 1_700_000_000

    def logs(self, *globs: str, **limits: int) -> SessionLogs:
        return SessionLogs(globs or (GLOB,), self.home, **limits)

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
def make_bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(tmp_path, monkeypatch)


def test_a_second_unit_is_not_credited_with_the_first_one_s_proof(bench: Bench) -> None:
    """Offsets move on after each unit of a serial batch."""
    logs = bench.logs()
    path = bench.append("a.jsonl", b'{"proof":1}\n')
    assert logs.new_lines() == [(str(path), b'{"proof":1}\n')]
    assert logs.new_lines() == []
    bench.append("a.jsonl", b'{"other":2}\n')
    assert logs.new_lines() == [(str(path), b'{"other":2}\n')]


def test_a_stale_log_gives_nothing(bench: Bench) -> None:
    """What stood there before the batch proves nothing, even if it is touched."""
    path = bench.append("old/a.jsonl", b'{"proof":1}\n')
    logs = bench.logs()
    assert logs.new_lines() == []
    os.utime(path, (1_800_000_000, 1_800_000_000))
    assert logs.new_lines() == []


def test_appended_and_new_files_are_read_from_the_right_place(bench: Bench) -> None:
    """Of a known file only the new part, of a new file all; the newest comes first."""
    old = bench.append("a.jsonl", b"before\n")
    logs = bench.logs()
    bench.append("a.jsonl", b"after\n")
    new = bench.append("deep/er/b.jsonl", b"whole\n")
    assert logs.new_lines() == [(str(new), b"whole\n"), (str(old), b"after\n")]


def test_other_files_are_not_read(bench: Bench) -> None:
    """Only what the globs name."""
    logs = bench.logs()
    bench.append("a.txt", b"x\n")
    bench.append("a.jsonl.bak", b"x\n")
    assert logs.new_lines() == []


def test_globs_may_share_a_folder(bench: Bench) -> None:
    """Each file is given once; one that only changed its name gives nothing."""
    old = bench.append("a.jsonl", b"old\n")
    other = bench.append("b.log", b"old\n")
    logs = bench.logs(".agent/*.jsonl", ".agent/*.log", ".agent/a*")
    assert logs.new_lines() == []
    bench.append("a.jsonl", b"new\n")
    other.rename(bench.path("c.log"))
    assert logs.new_lines() == [(str(old), b"new\n")]
    bench.append("c.log", b"more\n")
    assert logs.new_lines() == [(str(bench.path("c.log")), b"more\n")]


def test_a_folder_that_bears_a_log_s_name_is_walked(bench: Bench) -> None:
    """And the logs of one that is removed with them are no more there."""
    logs = bench.logs()
    path = bench.append("d.jsonl/a.jsonl", b"x\n")
    assert logs.new_lines() == [(str(path), b"x\n")]
    path.unlink()
    assert logs.new_lines() == []
    path.parent.rmdir()
    assert logs.new_lines() == []


def test_one_file_can_be_named(bench: Bench) -> None:
    """A setting may name a log file instead of a folder."""
    path = bench.append("agent.log", b"before\n")
    logs = bench.logs(".agent/agent.log")
    bench.append("agent.log", b"after\n")
    assert logs.new_lines() == [(str(path), b"after\n")]
    path.unlink()
    path.symlink_to("/etc/passwd")
    assert logs.new_lines() == []


# --- once per agent and batch -------------------------------------------------------------------


def test_there_is_one_snapshot_for_an_agent_and_batch(bench: Bench) -> None:
    """It is taken at the start; each unit's end walks once."""
    bench.append("d/a.jsonl", b"x\n")
    logs = bench.logs()
    walk = list(bench.disk.listed)
    assert set(walk) == {str(bench.home / ".agent"), str(bench.home / ".agent/d")}
    logs.new_lines()
    assert bench.disk.listed == [*walk, *walk]


def test_a_folder_that_does_not_exist_yet_is_found_later(bench: Bench) -> None:
    """A fresh home has no logs when the unit starts."""
    logs = bench.logs()
    path = bench.append("a.jsonl", b"x\n")
    assert logs.new_lines() == [(str(path), b"x\n")]


# --- whole lines --------------------------------------------------------------------------------


def test_a_partial_last_line_is_not_given_to_the_next_unit(bench: Bench) -> None:
    """A line that one unit began and another ended belongs to neither."""
    logs = bench.logs()
    path = bench.append("a.jsonl", b'{"a":1}\n{"pro')
    assert logs.new_lines() == [(str(path), b'{"a":1}\n')]
    bench.append("a.jsonl", b'of":2}\n{"b":3}\n')
    assert logs.new_lines() == [(str(path), b'{"b":3}\n')]


def test_the_rest_of_a_line_from_before_the_batch_is_passed_over(bench: Bench) -> None:
    """Half a record is no record."""
    bench.append("a.jsonl", b'{"old":')
    logs = bench.logs()
    path = bench.append("a.jsonl", b'1}\n{"new":2}\n')
    assert logs.new_lines() == [(str(path), b'{"new":2}\n')]


# --- rotation and truncation --------------------------------------------------------------------


def test_a_truncated_file_is_read_from_its_start(bench: Bench) -> None:
    """It shrank, so what stands there is new."""
    path = bench.append("a.jsonl", b"old old old\n")
    logs = bench.logs()
    path.write_bytes(b"new\n")
    assert logs.new_lines() == [(str(path), b"new\n")]


def test_a_rotated_log_gives_its_new_file_and_no_old_line(bench: Bench) -> None:
    """The old file under its new name is known; only what was added to it counts."""
    path = bench.append("a.jsonl", b"old\n")
    logs = bench.logs()
    bench.append("a.jsonl", b"last\n")
    moved = path.rename(bench.path("a.1.jsonl"))
    bench.append("a.jsonl", b"first\n")
    assert logs.new_lines() == [(str(path), b"first\n"), (str(moved), b"last\n")]
    moved.rename(bench.path("a.2.jsonl"))
    assert logs.new_lines() == []


def test_a_renamed_log_gives_nothing(bench: Bench) -> None:
    """Another name alone is no new line."""
    path = bench.append("a.jsonl", b"old\n")
    logs = bench.logs()
    path.rename(bench.path("b.jsonl"))
    assert logs.new_lines() == []


def test_a_replaced_file_is_read_from_its_start(bench: Bench) -> None:
    """Another file under the same name, longer or not."""
    path = bench.append("a.jsonl", b"old\n")
    logs = bench.logs()
    other = bench.append("other.tmp", b"new, and longer than the old one\n")
    other.rename(path)
    assert logs.new_lines() == [(str(path), b"new, and longer than the old one\n")]


# --- what happens while it is read --------------------------------------------------------------


def test_a_file_that_grows_while_it_is_read_gives_each_line_once(bench: Bench) -> None:
    """What comes in after the walk and before the reading is taken; nothing is lost or doubled."""
    logs = bench.logs()
    path = bench.append("a.jsonl", b"one\n")
    bench.disk.before_open = lambda _: bench.append("a.jsonl", b"two\n")
    assert logs.new_lines() == [(str(path), b"one\ntwo\n")]
    bench.disk.before_open = lambda _: None
    assert logs.new_lines() == []


def test_a_file_that_is_replaced_or_cut_while_it_is_read_starts_anew(bench: Bench) -> None:
    """The reading follows the file that is opened."""
    bench.append("a.jsonl", b"old\n")
    logs = bench.logs()
    path = bench.append("a.jsonl", b"more\n")
    other = bench.append("other.tmp", b"replaced!\n")
    bench.disk.before_open = lambda _: other.rename(path)
    assert logs.new_lines() == [(str(path), b"replaced!\n")]
    bench.append("a.jsonl", b"more\n")
    bench.disk.before_open = lambda _: path.write_bytes(b"cut\n")
    assert logs.new_lines() == [(str(path), b"cut\n")]


def test_a_file_that_vanishes_is_passed_over(bench: Bench) -> None:
    """Agents tidy up while we look."""
    logs = bench.logs()
    path = bench.append("a.jsonl", b"x\n")
    bench.disk.before_open = lambda name: Path(name).unlink()
    assert logs.new_lines() == []
    assert not path.exists()
    assert logs.new_lines() == []


def test_a_file_that_becomes_a_pipe_or_a_link_is_not_read(bench: Bench) -> None:
    """Reading must neither hang nor leave the folder."""
    logs = bench.logs()
    first, second = bench.append("a.jsonl", b"x\n"), bench.append("b.jsonl", b"x\n")

    def swap(name: str) -> None:
        Path(name).unlink()
        if name == str(first):
            os.mkfifo(name)
        else:
            second.symlink_to("/etc/passwd")

    bench.disk.before_open = swap
    assert logs.new_lines() == []


def test_an_unreadable_file_is_passed_over_and_credited_to_nobody(bench: Bench) -> None:
    """When it opens again, its old lines are old."""
    logs = bench.logs()
    path = bench.append("a.jsonl", b"x\n")
    bench.disk.unreadable.add(str(path))
    assert logs.new_lines() == []
    bench.disk.unreadable.clear()
    bench.append("a.jsonl", b"y\n")
    assert logs.new_lines() == [(str(path), b"y\n")]


def test_a_folder_that_could_not_be_listed_gives_no_old_line_later(bench: Bench) -> None:
    """Files that come in sight with it may be older than the batch."""
    path = bench.append("closed/a.jsonl", b"old\n")
    bench.disk.closed.add(str(path.parent))
    logs = bench.logs()
    assert logs.new_lines() == []
    bench.disk.closed.clear()
    assert logs.new_lines() == []
    bench.append("closed/a.jsonl", b"new\n")
    assert logs.new_lines() == [(str(path), b"new\n")]


def test_a_loop_of_links_ends(bench: Bench) -> None:
    """Links are not followed, so a file is given once, by its own path."""
    logs = bench.logs()
    path = bench.append("d/a.jsonl", b"x\n")
    (path.parent / "loop").symlink_to(path.parent.parent)
    (path.parent / "link.jsonl").symlink_to(path)
    (path.parent / "self").symlink_to("self")
    assert logs.new_lines() == [(str(path), b"x\n")]


def test_a_file_that_vanishes_or_fails_at_any_step_is_passed_over(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between listing and status, at its own status, and while it is read."""
    single = bench.append("agent.log", b"x\n")
    logs = bench.logs(".agent/agent.log")
    single.unlink()
    bench.disk.before_status = lambda name: Path(name).unlink(missing_ok=True)
    bench.append("agent.log", b"x\n")
    assert logs.new_lines() == []

    bench.disk.before_status = lambda _: None
    logs = bench.logs()
    bench.append("b.jsonl", b"x\n")

    def fail(*_: object) -> bytes:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(session_logs, "_whole_lines", fail)
    assert logs.new_lines() == []


# --- limits -------------------------------------------------------------------------------------


def test_only_the_newest_files_are_read_and_the_others_are_settled(bench: Bench) -> None:
    """What is beyond the limit is not credited to the next unit instead."""
    logs = bench.logs(max_files=2)
    paths = [bench.append(f"{number}.jsonl", b"x\n") for number in range(5)]
    assert [path for path, _ in logs.new_lines()] == [str(paths[4]), str(paths[3])]
    assert logs.new_lines() == []


def test_only_so_many_bytes_are_read_the_newest_ones(bench: Bench) -> None:
    """The newest file goes first; of an older one the last whole lines that fit."""
    logs = bench.logs(max_bytes=20)
    old = bench.append("old.jsonl", b"111111\n222222\n333333\n")
    new = bench.append("new.jsonl", b"aaaa\nbbbb\n")
    assert logs.new_lines() == [(str(new), b"aaaa\nbbbb\n"), (str(old), b"333333\n")]
    assert logs.new_lines() == []


def test_a_line_longer_than_the_limit_gives_nothing(bench: Bench) -> None:
    """Half a line would prove nothing."""
    logs = bench.logs(max_bytes=10)
    bench.append("a.jsonl", b"x" * 100 + b"\n")
    assert logs.new_lines() == []


def test_a_limit_of_zero_reads_nothing(bench: Bench) -> None:
    """The scan can be kept from reading at all."""
    logs = bench.logs(max_files=0)
    bench.append("a.jsonl", b"x\n")
    assert logs.new_lines() == []


# --- what globs name ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("glob", "listed"),
    [
        (".a/projects/*/*.jsonl", [".a/projects", ".a/projects/p"]),
        (".a/projects", [".a/projects", ".a/projects/p", ".a/projects/p/deep"]),
        ("./.a/**/*.log", [".a", ".a/projects", ".a/projects/p", ".a/projects/p/deep"]),
        ("*.log", ["."]),
    ],
)
def test_no_more_folders_are_listed_than_a_glob_can_match(
    bench: Bench, glob: str, listed: list[str]
) -> None:
    """The walk starts below the part without wildcards, and goes no deeper than it must."""
    (bench.home / ".a/projects/p/deep").mkdir(parents=True)
    (bench.home / "other").mkdir()
    bench.logs(glob)
    assert sorted(set(bench.disk.listed)) == sorted(str(bench.home / name) for name in listed)


@pytest.mark.parametrize(
    ("glob", "path", "matches"),
    [
        (".a/*/*.jsonl", ".a/p/s.jsonl", True),
        (".a/*/*.jsonl", ".a/p/q/s.jsonl", False),
        (".a/*/*.jsonl", ".a/p/s.jsonl.bak", False),
        (".a/*.jsonl", ".a/x\ny.jsonl", True),
        (".a/s?.log", ".a/s1.log", True),
        (".a/s?.log", ".a/s/.log", False),
        (".a/**/*.log", ".a/x.log", True),
        (".a/**/*.log", ".a/b/c/x.log", True),
        (".a/**", ".a/b/c", True),
        (".a", ".a/b/c", True),
        (".a", ".a/c", True),
        (".a/*/**", ".a/c", False),
        (".a/*/**", ".a/b/c/d", True),
        (".a/*/b/*", ".a/x/b/y", True),
        (".a/*/b/*", ".a/x/c/y", False),
        (".a/*/b/*", ".a/x/b", False),
        (".a/*+(1).log", ".a/x+(1).log", True),
        (".a/[x]*", ".a/[x]y", True),
        (".a/[x]*", ".a/xy", False),
    ],
)
@pytest.mark.parametrize("is_absolute", [False, True])
def test_a_glob_matches_whole_paths(
    tmp_path: Path, *, glob: str, path: str, matches: bool, is_absolute: bool
) -> None:
    """One star stays in its folder, two cross folders; other signs stand for themselves."""
    home = tmp_path / "me [x]"
    logs = SessionLogs([f"{home}/{glob}" if is_absolute else glob], home)
    (home / path).parent.mkdir(parents=True)
    (home / path).write_bytes(b"x\n")
    assert [Path(found) for found, _ in logs.new_lines()] == [home / path] * matches


# --- the end of logs ------------------------------------------------------------------------------

TAIL_GLOBS = ("sessions/*/events.jsonl",)


def write(home: Path, session: str, data: bytes) -> Path:
    path = home / "sessions" / session / "events.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    return path


def test_each_log_gives_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long it is, in the order of the paths, and no more than a few."""
    monkeypatch.setattr(session_logs, "TAIL_BYTES", 4)
    monkeypatch.setattr(session_logs, "MOST_TAILS", 2)
    for name in ("b", "a", "c"):
        write(tmp_path, name, f"long before {name}end".encode())
    assert list(read_log_tails(tmp_path, TAIL_GLOBS)) == [b"aend", b"bend"]


def test_what_is_no_log_of_the_home_is_passed_over(tmp_path: Path) -> None:
    """Links to elsewhere, pipes that would never end, folders, and empty files."""
    home, outside = tmp_path / "home", tmp_path / "outside"
    target = write(outside, "x", b"another's")
    write(home, "empty", b"")
    (home / "sessions" / "linked").mkdir()
    (home / "sessions" / "linked" / "events.jsonl").symlink_to(target)
    (home / "sessions" / "folder").symlink_to(target.parent)
    (home / "sessions" / "deep" / "events.jsonl").mkdir(parents=True)
    (home / "sessions" / "pipe").mkdir()
    os.mkfifo(home / "sessions" / "pipe" / "events.jsonl")
    assert list(read_log_tails(home, TAIL_GLOBS)) == []
    assert list(read_log_tails(tmp_path / "nowhere", TAIL_GLOBS)) == []


def test_a_home_behind_a_link_is_read(tmp_path: Path) -> None:
    """As temporary folders are on macOS."""
    write(tmp_path / "real", "a", b"line\n")
    (tmp_path / "home").symlink_to(tmp_path / "real")
    assert list(read_log_tails(tmp_path / "home", TAIL_GLOBS)) == [b"line\n"]
