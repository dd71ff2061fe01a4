"""The command group, and the one place where an error becomes an exit code and a message."""

from __future__ import annotations

import importlib
import os
import sys

import click

from routing_action import __version__
from routing_action.cli import COMMANDS, render_overview
from routing_action.errors import ExitCode, RoutingActionError, UsageError
from routing_action.files.nearest import find_nearest
from routing_action.github.documentation import explain_error
from routing_action.report.terminal.plain_lines import plain_output

_NO_FAULTS = (ExitCode.INTERRUPTED, ExitCode.NOTHING_TO_RUN)
_HIDDEN = ("action",)
"""What no person types: the stages of action.yml."""
_WHERE_THEY_ARE = (*_HIDDEN, "bot", "demo", "schema")
"""What never looks for a repository above the current folder."""
_OF_POSIX = ("fcntl", "resource")
"""What Python on Windows lacks, and agents cannot be held without."""
STARTED = "ROUTING_ACTION_PROGRAM"
"""The path that a person starts; set by scripts/env.sh's entry point, and by test.sh."""


class _LazyGroup(click.Group):
    """Imports a command's module only when it is used, which keeps --help fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order of a user's work."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name, None for an unknown one."""
        if cmd_name not in (*COMMANDS, *_HIDDEN):
            return None
        try:
            module = importlib.import_module(f"routing_action.cli.{cmd_name}")
        except ModuleNotFoundError as error:
            if error.name not in _OF_POSIX:
                raise
            raise UsageError(
                f"`{cmd_name}` needs Linux or macOS", remedy="on Windows, use it in WSL"
            ) from None
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is named; UsageError with the nearest name for a misspelt one."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            near = "" if args[0].startswith("-") else find_nearest(args[0], COMMANDS)
            if near:
                raise click.UsageError(f"{error.message} Did you mean {near!r}?", ctx) from None
            raise

    def get_help(self, ctx: click.Context) -> str:
        """The text that `--help` is answered with before this module is imported."""
        return render_overview()


@click.group(
    cls=_LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="routing-action", message="%(prog)s %(version)s")
@click.pass_context
def group(context: click.Context) -> None:
    """Prove which skill an agent CLI loads for a prompt, and gate changes on it."""
    if context.invoked_subcommand not in _WHERE_THEY_ARE:
        place = importlib.import_module("routing_action.cli.place")
        place.enter_root(context)
        place.name_program_here(os.environ.get(STARTED) or sys.argv[0])


def run_command(arguments: list[str], causes: list[str] | None = None) -> int:
    """Run a command and return its exit code; never raises but on a second interrupt.

    What it prints holds no order to a workflow's runner. `causes` gets a usual error in a sentence.
    """
    with plain_output():
        return _run(arguments, [] if causes is None else causes)


def _run(arguments: list[str], causes: list[str]) -> int:
    try:
        code = group.main(arguments, prog_name="routing-action", standalone_mode=False)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:
        error.show()
        causes.append(error.format_message())
        return ExitCode.USAGE
    except (click.Abort, KeyboardInterrupt):
        _complain("interrupted")
        return ExitCode.INTERRUPTED
    except RoutingActionError as error:
        causes.append(error.sentence)
        return _report(error)
    except BrokenPipeError:
        _silence_stdout()
        return ExitCode.PASSED
    except Exception:
        return _report_bug()
    return int(code or 0)


def _report(error: RoutingActionError) -> int:
    prefix = "" if error.exit_code in _NO_FAULTS else "error: "
    _complain(f"{prefix}{explain_error(error, os.environ)}")
    return error.exit_code


def _report_bug() -> int:
    _complain("error: this is a bug in routing-action; please report it with the lines below")
    import traceback  # noqa: PLC0415 - slow to import, and hardly ever needed

    traceback.print_exc()
    return ExitCode.BUG


def _complain(message: str) -> None:
    sys.stdout.flush()
    sys.stderr.write(f"routing-action: {message}\n")


def _silence_stdout() -> None:
    """The reader of our output went away; give the interpreter nothing left to flush to it."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
