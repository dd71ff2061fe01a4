"""Text that an agent writes passes for nothing that its CLI prints, nor for an order to the runner."""

from __future__ import annotations

import pytest

from tests.support.builders import read

LOAD = "● skill(deploying)"


def tier_of(*lines: str) -> int | None:
    """The tier that the skill gets from Copilot's plain text."""
    return read("copilot", ("\n".join(lines) + "\n").encode(), tokens=("deploying",)).tier(
        "deploying"
    )


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(("It prints", LOAD, "then."), id="in a paragraph"),
        pytest.param(("", LOAD, "and is done.", ""), id="at the beginning of one"),
        pytest.param(("So:", LOAD, ""), id="at the end of one"),
        pytest.param(("```", LOAD, "```", ""), id="in a fence"),
        pytest.param(("```text", "", LOAD, "", "```", ""), id="in a fence with blank lines"),
        pytest.param(("~~~", "", LOAD, "", "~~~", ""), id="in a fence of tildes"),
        pytest.param(("````", "```", "", LOAD, "", "```", "````", ""), id="in a fence in a fence"),
        pytest.param(("> ```", "", LOAD, "", "> ```", ""), id="in a fence in a quote"),
        pytest.param(("- ```", "", LOAD, "", "  ```", ""), id="in a fence in a list"),
        pytest.param(("1. ~~~~", "", LOAD, "", "~~~", ""), id="in a fence that is not closed"),
        pytest.param(("", f"> {LOAD}", ""), id="in a quote"),
        pytest.param(("", f"- {LOAD}", ""), id="in a list"),
        pytest.param(("", f"    {LOAD}", ""), id="indented"),
        pytest.param(("", f"\t{LOAD}", ""), id="indented by a tab"),
        pytest.param(("Example:", "", LOAD, "", "Done."), id="as an example"),
        pytest.param(("The CLI prints this line:", "", LOAD, ""), id="announced"),
        pytest.param(("Done.", "", LOAD), id="as the very end"),
    ],
)
def test_g9_the_line_of_a_load_in_prose_is_a_mention(lines: tuple[str, ...]) -> None:
    """Wherever the CLI itself never prints it."""
    assert tier_of(*lines) in (None, 3)


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(("I will use a skill.", "", LOAD, "", "Done.", ""), id="between answers"),
        pytest.param((LOAD, "", "Done."), id="first of all"),
        pytest.param(("Let me load the skill:", "", LOAD, "", "Done."), id="after an intention"),
        pytest.param(("```", "x = 1", "```", "", LOAD, "", "Done."), id="after a fence"),
        pytest.param(("Working.", "", LOAD, "  └ loaded", "", "Done."), id="with its result"),
        pytest.param(("✗ Run a command", "  └ denied", "", LOAD, "", "No."), id="after a command"),
    ],
)
def test_g9_the_line_as_the_cli_prints_it_proves_the_load(lines: tuple[str, ...]) -> None:
    """In a block of its own, as in every recording."""
    assert tier_of(*lines) == 1


def test_g9_a_load_in_plain_text_has_a_note() -> None:
    """An agent can imitate the block: a person is told how to have records."""
    run = read("copilot", f"{LOAD}\n\nDone.\n".encode(), tokens=("deploying",))
    assert any("--output-format json" in note for note in run.reading.notes)
