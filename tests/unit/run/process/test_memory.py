"""How much memory is free, from what the system says."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from routing_action.run.process.memory import free_memory


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that has eight billion bytes left."""
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=8 * 10**9))


def hide_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise FileNotFoundError("/proc/meminfo")

    monkeypatch.setattr(psutil, "virtual_memory", refuse)


def test_the_machine_says_it(tmp_path: Path) -> None:
    """Where no container sets a limit."""
    assert free_memory(tmp_path) == 8 * 10**9


@pytest.mark.parametrize(
    ("most", "used", "stat", "expected"),
    [
        ("max\n", "5\n", "", 8 * 10**9),
        ("1000\n", "900\n", "", 100),
        ("1000\n", "900\n", "anon 5\ninactive_file 300\n", 400),
        ("1000\n", "1200\n", "", 0),
        ("1000\n", "what", "", 8 * 10**9),
    ],
)
def test_a_container_has_its_own_limit(
    tmp_path: Path, most: str, used: str, stat: str, expected: int
) -> None:
    """The smaller one counts; files in the cache can be dropped."""
    for name, text in (("max", most), ("current", used), ("stat", stat)):
        (tmp_path / f"memory.{name}").write_text(text, encoding="ascii")
    assert free_memory(tmp_path) == expected


def test_a_container_alone_says_it_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where /proc is hidden."""
    hide_the_machine(monkeypatch)
    (tmp_path / "memory.max").write_text("1000", encoding="ascii")
    (tmp_path / "memory.current").write_text("1", encoding="ascii")
    assert free_memory(tmp_path) == 999


def test_a_system_that_does_not_say_is_not_guessed_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where /proc is hidden, and no container sets a limit."""
    hide_the_machine(monkeypatch)
    assert free_memory(tmp_path) is None
