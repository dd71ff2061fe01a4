"""What a step tells the runner: outputs, annotations, the job summary, and to stop listening.

The forms are in GitHub's "Workflow commands for GitHub Actions".
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

Write = Callable[[str], object]

SUMMARY_BYTES = 900 * 1024
_CUT = b"\n\nThe rest of this summary did not fit; the report's artifact has it.\n"


def write_output(environ: Mapping[str, str], name: str, value: str) -> None:
    """Append an output of the step; nothing where no runner asks for one."""
    _append(environ.get("GITHUB_OUTPUT", ""), _assignment(name, value))


def append_summary(environ: Mapping[str, str], text: str) -> None:
    """Append markdown to the job summary; nothing where there is none.

    GitHub drops the whole summary of a step above 1 MiB, so what does not fit is left out, and
    said to be.
    """
    path = environ.get("GITHUB_STEP_SUMMARY", "")
    if not path:
        return
    room = SUMMARY_BYTES - (Path(path).stat().st_size if Path(path).exists() else 0)
    data = f"{text.rstrip()}\n".encode()
    if len(data) > room:
        kept = data[: max(0, room - len(_CUT))].rpartition(b"\n")[0]
        data = kept + _CUT if room > len(_CUT) else b""
    _append(path, data.decode("utf-8", "ignore"))


def annotate(write: Write, level: str, message: str, *, title: str = "routing-action") -> None:
    """Write an annotation: `notice`, `warning` or `error`."""
    write(f"::{level} title={_escape(title, ':,')}::{_escape(message)}\n")


@contextmanager
def without_commands(write: Write) -> Iterator[None]:
    """Keep the runner from obeying what is printed meanwhile: agents and cases write it."""
    token = secrets.token_hex(16)
    write(f"::stop-commands::{token}\n")
    try:
        yield
    finally:
        write(f"::{token}::\n")


def _assignment(name: str, value: str) -> str:
    delimiter = f"routing_{secrets.token_hex(16)}"
    return f"{name}<<{delimiter}\n{value}\n{delimiter}\n"


def _escape(text: str, more: str = "") -> str:
    for character in "%\r\n" + more:
        text = text.replace(character, f"%{ord(character):02X}")
    return text


def _append(path: str, text: str) -> None:
    if path:
        with Path(path).open("a", encoding="utf-8", newline="\n") as file:
            file.write(text)
