"""The end of session logs, in a home that the agent can have filled with anything."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from routing_action.run.logs import log_tail
from routing_action.run.logs.log_tail import read_log_tails

GLOBS = ("sessions/*/events.jsonl",)


def write(home: Path, session: str, data: bytes) -> Path:
    path = home / "sessions" / session / "events.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    return path


def test_each_log_gives_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long it is, in the order of the paths, and no more than a few."""
    monkeypatch.setattr(log_tail, "TAIL_BYTES", 4)
    monkeypatch.setattr(log_tail, "MOST_FILES", 2)
    for name in ("b", "a", "c"):
        write(tmp_path, name, f"long before {name}end".encode())
    assert list(read_log_tails(tmp_path, GLOBS)) == [b"aend", b"bend"]


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
    assert list(read_log_tails(home, GLOBS)) == []
    assert list(read_log_tails(tmp_path / "nowhere", GLOBS)) == []


def test_a_home_behind_a_link_is_read(tmp_path: Path) -> None:
    """As temporary folders are on macOS."""
    write(tmp_path / "real", "a", b"line\n")
    (tmp_path / "home").symlink_to(tmp_path / "real")
    assert list(read_log_tails(tmp_path / "home", GLOBS)) == [b"line\n"]
