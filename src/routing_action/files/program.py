"""How this program is started here, for every command that is printed; who starts it says so."""

from __future__ import annotations

import shlex
from contextvars import ContextVar

NAME = "routing-action"
_program = ContextVar("_program", default=NAME)


def own_program() -> str:
    """A word for the shell: the program's name, or the path of one that is not on PATH."""
    return _program.get()


def name_own_program(path: str) -> None:
    """Commands that are printed from now on begin with this path, or with the name."""
    _program.set(shlex.quote(path))
