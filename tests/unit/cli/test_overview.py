"""The text of `routing-action --help`, which is answered without click."""

from __future__ import annotations

import subprocess
import sys

import click
import pytest

from routing_action.__main__ import main
from routing_action.cli import COMMANDS, render_overview
from routing_action.cli.main import group


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_is_the_same_with_and_without_click(
    flag: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--help` alone is answered at once; click answers it where more is given."""
    assert main([flag]) == 0
    assert capsys.readouterr().out == f"{render_overview()}\n"
    assert main([flag, "run"]) == 0
    assert capsys.readouterr().out == f"{render_overview()}\n"


def test_every_option_and_command_is_listed() -> None:
    """Nothing is added to the command group without being told."""
    context = click.Context(group, info_name="routing-action", **group.context_settings)
    shown = [
        record
        for option in group.get_params(context)
        if (record := option.get_help_record(context))
    ]
    text = render_overview()
    assert shown
    for names, sentence in shown:
        assert f"  {names.ljust(10)}  {sentence}\n" in text
    for name, sentence in COMMANDS.items():
        assert group.get_command(context, name) is not None
        assert f"  {name.ljust(9)}  {sentence}" in text


def test_the_overview_fits_an_ordinary_terminal() -> None:
    """Nothing wraps on 80 columns."""
    assert max(map(len, render_overview().splitlines())) <= 80


@pytest.mark.parametrize("flag", ["--help", "--version"])
def test_the_quick_answers_import_nothing_slow(flag: str) -> None:
    """A shell's completion, or a person, does not wait for what is not needed."""
    code = (
        "import sys; from routing_action.__main__ import main; before = set(sys.modules); "
        f"main([{flag!r}]); print(sorted(set(sys.modules) - before), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported = {"routing_action.cli"} if flag == "--help" else set()
    assert done.stderr.strip() == str(sorted(imported))
