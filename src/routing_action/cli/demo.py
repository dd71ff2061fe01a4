"""`routing-action demo`: a green gate and a red one from recordings that are in the package."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import webbrowser
from contextlib import chdir
from pathlib import Path

import click

from routing_action.cli.main import STARTED, run_command
from routing_action.cli.options import path_option
from routing_action.cli.place import name_program_here
from routing_action.errors import ExitCode, HarnessError, UsageError
from routing_action.files.program import own_program
from routing_action.report.escape import printable

_PACKAGE = Path(__file__).resolve().parents[1] / "demo"
_CHECKOUT = Path(__file__).resolve().parents[3]
FILES = {
    "cases.json": "cases.json",
    "provider-baseline.json": "provider-baseline.json",
    "replay": "tests/recordings/replay",
    "replay-red": "tests/recordings/replay-red",
}
"""What the demo needs, with its place in a checkout; pyproject.toml puts it into the wheel."""
_REPORT = "report.html"
_STEPS = (
    (("run", "--replay=replay", "--no-progress"), ExitCode.GATE_FAILED),
    (("compare",), ExitCode.PASSED),
    (("run", "--replay=replay-red", "--no-progress"), ExitCode.GATE_FAILED),
    (("compare",), ExitCode.GATE_FAILED),
    (("report", "--format", "html", "--output", _REPORT), ExitCode.PASSED),
)
"""The commands, each with the exit code that the recordings lead to."""


@click.command("demo", short_help="Show a green gate and a red one, from recordings.")
@path_option(
    "--dir",
    "folder",
    metavar="DIR",
    written=True,
    help="Work in this folder, which must be new or empty. Default: a new temporary one.",
)
@click.option("--open", "opens", is_flag=True, help="Open the HTML report in a browser.")
def command(folder: Path | None, opens: bool) -> int:
    """Show a green gate and a red one, from recorded runs; no agent CLI, key or checkout is needed.

    It runs the commands that it prints, in a folder of its own, which stays. The last line is the
    path of the HTML report. The exit code is 0 if all ended as recorded: the second gate is red.
    """
    # Printed commands name this program wherever it was started from.
    os.environ.setdefault(STARTED, os.path.abspath(sys.argv[0]))  # noqa: PTH100 - no link resolved
    home = _make_folder(folder)
    click.echo(f"working in {printable(str(home))}")
    click.echo("Two pairs fail at first. The baseline knows both, so the first gate is green.")
    with chdir(home):
        name_program_here(os.environ[STARTED])
        for words, expected in _STEPS:
            click.echo(f"\n$ {own_program()} {' '.join(words)}")
            code = run_command(list(words))
            if code != expected:
                click.echo(
                    f"routing-action: exit code {code}, not {expected} as recorded", err=True
                )
                return code or ExitCode.BUG
    report = home / _REPORT
    click.echo("\nThe first gate is green. The second is red, as it should be; its report:")
    click.echo(printable(str(report)))
    if opens and not webbrowser.open(report.as_uri()):
        click.echo("routing-action: no browser could be started; open the file yourself", err=True)
    return ExitCode.PASSED


def _make_folder(folder: Path | None) -> Path:
    """An own copy of the recordings, in the folder that is named, or in a new temporary one."""
    home = (folder or Path(tempfile.mkdtemp(prefix="routing-action-demo-"))).absolute()
    if folder is not None and folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(
            f"--dir {printable(str(folder))}: it exists, and is no empty folder",
            remedy="name a new folder, or leave --dir out",
        )
    try:
        home.mkdir(parents=True, exist_ok=True)
        for name, place in FILES.items():
            source = _PACKAGE / name if _PACKAGE.is_dir() else _CHECKOUT / place
            if source.is_dir():
                shutil.copytree(source, home / name)
            else:
                shutil.copyfile(source, home / name)
    except OSError as error:
        raise HarnessError(
            f"the recordings cannot be copied to {printable(str(home))}: {error}",
            remedy="name a folder that can be written with --dir; if a recording is missing, "
            "install routing-action again",
        ) from None
    return home
