"""Where a person stands: in a subfolder of a repository a command works as it does in the root.

Paths that are typed are taken from the person's folder, and so are paths that are printed.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from routing_action.agents.provider import Provider
from routing_action.corpus.cases_file import DEFAULT_CASE_FILES
from routing_action.corpus.units import DEFAULT_CONFIG_FILE
from routing_action.errors import UsageError
from routing_action.files.program import NAME, name_own_program, own_program
from routing_action.gate.baselines import DEFAULT_BASELINE_FILES
from routing_action.gate.deltas import DELTA_FILE
from routing_action.report.escape import printable
from routing_action.results.batch_folder import DEFAULT_ARTIFACTS_ROOT, RESULTS_FILE, TRANSCRIPTS
from routing_action.results.find import list_batches
from routing_action.results.rerun import SHORT_WAY, run_program

_HERE = f"{__name__}.here"
_OWN = (*DEFAULT_CASE_FILES, *DEFAULT_BASELINE_FILES, DEFAULT_CONFIG_FILE)
"""What shows that a folder is one to work in."""


def enter_root(context: click.Context) -> None:
    """Work in the nearest folder of the repository that has cases or the like, if this has none.

    That is mostly its root.
    """
    try:
        here = Path.cwd()
    except OSError:
        return
    root = _find_root(here)
    if root is None or root == here:
        return
    context.meta[_HERE] = here
    context.call_on_close(lambda: os.chdir(here))
    os.chdir(root)
    shown = printable(os.path.relpath(root, here))
    click.echo(f"routing-action: working in {shown}, the nearest folder with cases", err=True)


def _find_root(here: Path) -> Path | None:
    """The nearest folder with files of ours, up to the top of a repository; None without any.

    Nothing is taken from a folder above that belongs to somebody else: its files name programs.
    """
    above = (here, *here.parents)
    top = next((at for at, one in enumerate(above) if os.path.lexists(one / ".git")), -1)
    own = os.getuid() if hasattr(os, "getuid") else 0  # Windows has no owner by number
    owners = {own, here.stat().st_uid}
    ours = (one for one in above[: top + 1] if one.stat().st_uid in owners)
    return next((one for one in ours if any((one / name).exists() for name in _OWN)), None)


def _find_here(context: click.Context | None) -> Path | None:
    """The folder that the person left for the root; None where it is the current one."""
    here: Path | None = context.meta.get(_HERE) if context else None
    return here


class TypedPath(click.Path):
    """A path as a person typed it; one that is read is also looked for in the root."""

    def __init__(self, *, written: bool = False, **more: Any) -> None:  # noqa: ANN401
        """`written`: it is made where the person stands, whatever the root has."""
        super().__init__(**more)
        self._written = written

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Any:  # noqa: ANN401 - what click takes
        """The path from the folder that the command works in."""
        here = _find_here(ctx)
        source = ctx.get_parameter_source(param.name or "") if ctx and param else None
        if here is not None and source is click.core.ParameterSource.COMMANDLINE:
            typed = here / value
            if self._written or os.path.lexists(typed):
                value = os.path.relpath(typed)
        return super().convert(value, param, ctx)


def from_here(path: Path) -> str:
    """A path as short as it can be typed where the person stands."""
    here = _find_here(click.get_current_context(silent=True)) or Path.cwd()
    full = path.absolute()
    if full.is_relative_to(here):
        return str(full.relative_to(here))
    return os.path.relpath(full, here) if full.is_relative_to(Path.cwd()) else str(path)


def folder_of(path: Path) -> Path:
    """A batch by its folder, which is shorter to read than its results.json."""
    is_batch = path.name == RESULTS_FILE and (path.parent / TRANSCRIPTS).is_dir()
    return path.parent if is_batch else path


def name_program_here(started: str) -> None:
    """Have printed commands begin with what the person started, a path or the name alone.

    The name stays where PATH leads to the same program, and where something else was started.
    uv, which sets UV, puts a program's folder on PATH for that program alone: a shell lacks it.
    """
    path, known = Path(started), None if "UV" in os.environ else shutil.which(NAME)
    is_own = path.name == NAME and os.access(path, os.X_OK)
    is_elsewhere = is_own and not (known and path.samefile(known))
    name_own_program(from_here(path) if is_elsewhere else NAME)


def program_here() -> str:
    """How a run is started from where the person stands."""
    program = run_program()
    return f"./{from_here(Path(program))}" if program == SHORT_WAY else program


def refuse_skills_elsewhere(cases_file: str, providers: Iterable[Provider]) -> None:
    """Raise UsageError where the skills lie beside the cases, and agents look in this folder.

    An agent that works here is not offered them: each case would fail as if routing had.
    """
    home = Path(cases_file).parent
    folders = dict.fromkeys(name for one in providers for name in one.skill_folders)
    beside = next((home / name for name in folders if (home / name).is_dir()), None)
    if beside is None or any(Path(name).is_dir() for name in folders):
        return
    shown, root = from_here(beside), shlex.quote(from_here(home))
    raise UsageError(
        f"the skills lie in {printable(shown)}, where no agent looks that works in this folder",
        remedy=f"run from {printable(root)}: `cd {root}`, or add --skills {shlex.quote(shown)}",
    )


def find_newest_batch() -> Path:
    """The folder of the newest batch, named on standard error; UsageError where there is none."""
    newest = next(iter(list_batches(DEFAULT_ARTIFACTS_ROOT)), None)
    if newest is None:
        root = from_here(DEFAULT_ARTIFACTS_ROOT)
        raise UsageError(
            f"no results are named, and {root} holds no batch",
            remedy=f"run the cases with `{own_program()} run`, or name a batch's folder",
        )
    click.echo(f"routing-action: the newest batch is {printable(from_here(newest))}", err=True)
    return newest


def find_delta(batch: Path | None = None) -> Path:
    """What `compare` wrote into a batch's folder, by default the newest one's."""
    folder = batch or find_newest_batch()
    if not (folder / DELTA_FILE).is_file():
        named = f" --results {shlex.quote(from_here(batch))}" if batch else ""
        raise UsageError(
            f"{printable(from_here(folder))} holds no {DELTA_FILE}: it was not compared",
            remedy=f"run `{own_program()} compare{named}` first, or name it with --delta FILE",
        )
    return folder / DELTA_FILE


def name_results(paths: tuple[Path, ...], flag: str = "--results") -> tuple[Path, ...]:
    """The results.json of each batch that was named by its folder or that file, else the newest's.

    UsageError where a folder is none of a batch.
    """
    files = []
    for path in paths or (find_newest_batch(),):
        is_folder = path.is_dir()
        if is_folder and not (path / RESULTS_FILE).is_file():
            raise UsageError(
                f"{flag} {printable(from_here(path))}: no {RESULTS_FILE} in this folder",
                remedy="name the folder of one batch; its results.json is written at its end",
            )
        files.append(path / RESULTS_FILE if is_folder else path)
    return tuple(files)
