"""Globs of session logs name the files that they should, and no walk starts too high."""

from __future__ import annotations

from pathlib import Path

import pytest

from routing_action.run.logs.log_targets import LogTarget, make_targets

HOME = Path("/home/me [x]")


def target(glob: str) -> LogTarget:
    return make_targets([glob], HOME)[0]


@pytest.mark.parametrize(
    ("glob", "root", "depth"),
    [
        (".claude/projects/*/*.jsonl", "/home/me [x]/.claude/projects", 1),
        (".codex/sessions/*/*/*/rollout-*.jsonl", "/home/me [x]/.codex/sessions", 3),
        (".logs", "/home/me [x]/.logs", 64),
        ("./.logs/**/*.log", "/home/me [x]/.logs", 64),
        ("/var/log/agent", "/var/log/agent", 64),
        ("*.log", "/home/me [x]", 0),
    ],
)
def test_the_walk_starts_below_the_part_without_wildcards(glob: str, root: str, depth: int) -> None:
    """And it goes no deeper than the glob can match."""
    assert (target(glob).root, target(glob).depth) == (root, depth)


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
        ("/**/x*", "/any/where/xyz", True),
        (".a/*+(1).log", ".a/x+(1).log", True),
    ],
)
def test_a_glob_matches_whole_paths(glob: str, path: str, matches: bool) -> None:
    """One star stays in its folder, two cross folders; other signs stand for themselves."""
    folder, _, name = (path if path.startswith("/") else f"{HOME}/{path}").rpartition("/")
    assert bool(target(glob).names(folder)(name)) is matches
