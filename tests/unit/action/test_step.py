"""What a step tells the runner, within the runner's bounds."""

from __future__ import annotations

from pathlib import Path

from routing_action.action.inputs import Inputs
from routing_action.action.step import SUMMARY_BYTES, Step
from routing_action.github.context import Context


def append_summary(environ: dict[str, str], text: str) -> None:
    """As a stage does."""
    Step(environ, Inputs(environ), Context(), Path(), lambda *_: 0).summarise(text)


def test_summaries_of_one_step_add_up(tmp_path: Path) -> None:
    """Each begins on a line of its own."""
    path = tmp_path / "summary.md"
    environ = {"GITHUB_STEP_SUMMARY": str(path)}
    append_summary(environ, "one")
    append_summary(environ, "two\n\n")
    assert path.read_text("utf-8") == "one\ntwo\n"


def test_r7_a_summary_never_grows_past_what_github_shows(tmp_path: Path) -> None:
    """GitHub would drop all of it without a word; lines stay whole, and what is missing is told."""
    path = tmp_path / "summary.md"
    environ = {"GITHUB_STEP_SUMMARY": str(path)}
    append_summary(environ, "first\n" * 1000)
    append_summary(environ, "äöü🎉\n" * 200_000)
    data = path.read_bytes()
    assert SUMMARY_BYTES - 200 < len(data) <= SUMMARY_BYTES
    lines = data.decode("utf-8").splitlines()
    assert set(lines) == {
        "first",
        "äöü🎉",
        "",
        "The rest of this summary did not fit; the report's artifact has it.",
    }
    append_summary(environ, "more\n")
    assert path.stat().st_size <= SUMMARY_BYTES


def test_without_a_summary_nothing_is_written() -> None:
    """Outside a workflow."""
    append_summary({}, "text")
