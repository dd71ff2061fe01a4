"""What every stage of the composite action works with: its inputs, its place, and its outputs."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from routing_action.action.inputs import Inputs
from routing_action.errors import RoutingActionError, UsageError
from routing_action.github.commands import (
    annotate,
    append_summary,
    without_commands,
    write_output,
)
from routing_action.github.context import Context, read_context

_TOLD = ("ROUTING_", "INPUT_")


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the action, in the workspace that the runner starts it in."""

    environ: Mapping[str, str]
    inputs: Inputs
    context: Context
    root: Path

    def output(self, **values: str) -> None:
        """Set outputs of the step; `_` in a name stands for `-`."""
        for name, value in values.items():
            write_output(self.environ, name.replace("_", "-"), value)

    def variable(self, name: str) -> str:
        """A variable that an earlier stage of the action set."""
        value = self.environ.get(name, "")
        if not value:
            raise UsageError(f"{name} is not set", remedy="start this from action.yml alone")
        return value

    def summarise(self, markdown: str) -> None:
        """Append to the job summary."""
        append_summary(self.environ, markdown)

    def say(self, level: str, message: str) -> None:
        """Write an annotation to the log: notice, warning or error."""
        annotate(_write, level, message)

    def complain(self, error: RoutingActionError) -> None:
        """Annotate an error with its cause and remedy."""
        self.say("error", str(error))

    def quote(self, text: str) -> None:
        """Show text from anywhere in the log, where the runner obeys none of it."""
        with without_commands(_write):
            _write(text)

    def call(self, arguments: list[str]) -> tuple[int, str]:
        """Run a command of the command line; its exit code, and what it wrote to stdout.

        That text and its lifecycle lines reach the log too, where the runner obeys none of it.
        """
        # The group imports its commands by name, and this module is part of one.
        from routing_action.cli.main import run_command  # noqa: PLC0415

        shown = io.StringIO()
        with without_commands(_write):
            with redirect_stdout(shown):
                code = run_command(arguments)
            _write(shown.getvalue())
        return code, shown.getvalue()


def read_step() -> Step:
    """The step that this process is; what it was told is taken out of the process's environment.

    A run takes variables called `..._KEY` for secrets, and would blot out `claude` wherever a leg
    is called so.
    """
    environ = dict(os.environ)
    for name in environ:
        if name.startswith(_TOLD):
            del os.environ[name]
    return Step(environ, Inputs(environ), read_context(environ), Path.cwd())


def _write(text: str) -> None:
    sys.stderr.flush()
    sys.stdout.write(text)
    sys.stdout.flush()
