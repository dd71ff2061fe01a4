"""The entry point; `--version` is answered before anything else is imported."""

from __future__ import annotations

import sys

from routing_action import __version__


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    if given == ["--version"]:
        sys.stdout.write(f"routing-action {__version__}\n")
        return 0
    from routing_action.cli.main import run_command  # noqa: PLC0415 - keeps --version instant

    return run_command(given)


if __name__ == "__main__":
    sys.exit(main())
