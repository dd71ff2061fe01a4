"""What every stage of the composite action works with: its inputs, its run, and the runner.

The runner's forms are in GitHub's "Workflow commands for GitHub Actions".
"""

from __future__ import annotations

import io
import os
import secrets
import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from routing_action.action.inputs import Inputs
from routing_action.errors import UsageError
from routing_action.github.context import Context, read_context
from routing_action.report.escape import cut, printable
from routing_action.report.terminal.plain_lines import give_order

SUMMARY_BYTES = 900 * 1024
"""GitHub drops the whole summary of a step above 1 MiB."""

TEMPLATES_AT_BASE = "-templates"
"""Ends the name of a folder beside the report: the templates of the base commit."""

_CUT = b"\n\nThe rest of this summary did not fit; the report's artifact has it.\n"
_OURS = ("ROUTING_", "INPUT_")
_LONGEST_CAUSE = 2000

RunCommand = Callable[[list[str], list[str]], int]


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the action, in the workspace that the runner starts it in.

    `run_command` runs a command line of this program and gives its exit code; the list gets the
    cause of an error.
    """

    environ: Mapping[str, str]
    inputs: Inputs
    context: Context
    root: Path
    run_command: RunCommand

    @property
    def templates(self) -> Path | None:
        """The folder of templates that the input names, as it was at the base commit if known."""
        kept = self.environ.get("ROUTING_REPORT_DIR", "") + TEMPLATES_AT_BASE
        if Path(kept).is_dir():
            return Path(kept)
        named = self.inputs.text("templates")
        return self.root / named if named else None

    def variable(self, name: str) -> str:
        """A variable that an earlier stage of the action set."""
        value = self.environ.get(name, "")
        if not value:
            raise UsageError(f"{name} is not set", remedy="only action.yml starts this command")
        return value

    def output(self, **values: str) -> None:
        """Set outputs of the step; `_` in a name stands for `-`."""
        path = self.environ.get("GITHUB_OUTPUT", "")
        for name, value in values.items():
            delimiter = f"routing_{secrets.token_hex(16)}"
            _append(path, f"{name.replace('_', '-')}<<{delimiter}\n{value}\n{delimiter}\n")

    def summarise(self, markdown: str) -> None:
        """Append to the job summary; what does not fit is left out, and a line says so."""
        path = self.environ.get("GITHUB_STEP_SUMMARY", "")
        room = SUMMARY_BYTES - (Path(path).stat().st_size if path and Path(path).exists() else 0)
        data = f"{markdown.rstrip()}\n".encode()
        if len(data) > room:
            kept = data[: max(0, room - len(_CUT))].rpartition(b"\n")[0]
            data = kept + _CUT if room > len(_CUT) else b""
        _append(path, data.decode("utf-8", "ignore"))

    def say(self, level: str, message: str, *, title: str = "routing-action", **place: str) -> None:
        """Write an annotation to the log: notice, warning or error; `file` and `line` place it."""
        named = {**place, "title": title}
        properties = ",".join(f"{name}={_encode(value, ':,')}" for name, value in named.items())
        sys.stderr.flush()
        give_order(f"::{level} {properties}::{_encode(message)}\n")

    def fail(self, cause: str) -> None:
        """Keep why the command could not do its work; the step that ends the job says it."""
        self.output(status="error", error=cut(printable(cause), _LONGEST_CAUSE))

    def quote(self, text: str) -> None:
        """Show text from anywhere in the log, where the runner obeys none of it."""
        _write(text)

    def call(self, arguments: list[str], show: Callable[[str], str] = str) -> tuple[int, str, str]:
        """Run a command of the command line: exit code, what it wrote to stdout, cause of an error.

        The log gets its lifecycle lines and what `show` makes of that text; the runner obeys none
        of it.
        """
        shown = io.StringIO()
        causes: list[str] = []
        with redirect_stdout(shown):
            code = self.run_command(arguments, causes)
        _write(show(shown.getvalue()))
        return code, shown.getvalue(), "; ".join(causes)


def read_step(run_command: RunCommand) -> Step:
    """The step that this process is; its own variables leave the process's environment.

    A run takes variables called `..._KEY` for secrets, and would redact `claude` wherever a leg
    is called so.
    """
    environ = dict(os.environ)
    for name in environ:
        if name.startswith(_OURS):
            del os.environ[name]
    return Step(environ, Inputs(environ), read_context(environ), Path.cwd(), run_command)


def _encode(text: str, more: str = "") -> str:
    """A message of the runner's, or with `:` and `,` a property (actions/toolkit, command.ts)."""
    for character in f"%\r\n{more}":
        text = text.replace(character, f"%{ord(character):02X}")
    return text


def _append(path: str, text: str) -> None:
    """Nothing where no runner asks for it."""
    if path:
        with Path(path).open("a", encoding="utf-8", newline="\n") as file:
            file.write(text)


def _write(text: str) -> None:
    sys.stderr.flush()
    sys.stdout.write(text)
    sys.stdout.flush()
