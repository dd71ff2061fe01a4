"""The entry point; `--version` and `--help` are answered before anything slow is imported."""

from __future__ import annotations

import sys

from routing_action import __version__


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    if given == ["--version"]:
        sys.stdout.write(f"routing-action {__version__}\n")
        return 0
    if given in (["--help"], ["-h"]):
        from routing_action.cli import render_overview  # noqa: PLC0415

        sys.stdout.write(f"{render_overview()}\n")
        return 0
    from routing_action.cli.main import run_command  # noqa: PLC0415 - keeps the others instant

    return run_command(given)


if __name__ == "__main__":
    sys.exit(main())
