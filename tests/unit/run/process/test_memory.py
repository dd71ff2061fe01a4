"""How much memory is free, from what the system says."""

from __future__ import annotations

from pathlib import Path

import pytest

from routing_action.run.process.memory import free_memory

MEMINFO = "MemTotal:       16000000 kB\nMemFree: 10 kB\nMemAvailable:    8000000 kB\n"


def test_the_machine_says_it(tmp_path: Path) -> None:
    """MemAvailable counts what can be reclaimed, MemFree does not."""
    (tmp_path / "meminfo").write_text(MEMINFO, encoding="ascii")
    assert free_memory(tmp_path, tmp_path) == 8_000_000 * 1024


@pytest.mark.parametrize(
    ("most", "used", "stat", "expected"),
    [
        ("max\n", "5\n", "", 8_000_000 * 1024),
        ("1000\n", "900\n", "", 100),
        ("1000\n", "900\n", "anon 5\ninactive_file 300\n", 400),
        ("1000\n", "1200\n", "", 0),
        ("1000\n", "what", "", 8_000_000 * 1024),
    ],
)
def test_a_container_has_its_own_limit(
    tmp_path: Path, most: str, used: str, stat: str, expected: int
) -> None:
    """The smaller one counts; files in the cache can be dropped."""
    (tmp_path / "meminfo").write_text(MEMINFO, encoding="ascii")
    for name, text in (("max", most), ("current", used), ("stat", stat)):
        (tmp_path / f"memory.{name}").write_text(text, encoding="ascii")
    assert free_memory(tmp_path, tmp_path) == expected


def test_a_container_alone_says_it_too(tmp_path: Path) -> None:
    """Where /proc is hidden."""
    (tmp_path / "memory.max").write_text("1000", encoding="ascii")
    (tmp_path / "memory.current").write_text("1", encoding="ascii")
    assert free_memory(tmp_path / "none", tmp_path) == 999


def test_a_system_that_does_not_say_is_not_guessed_at(tmp_path: Path) -> None:
    """macOS, for one."""
    assert free_memory(tmp_path, tmp_path) is None
