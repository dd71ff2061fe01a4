"""Gives each unit a workspace: a copy of the filtered repository as a fresh one-commit repository.

It does not know providers; what is staged before the commit is the caller's to say.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from routing_action.errors import HarnessError
from routing_action.files.removal import remove_tree
from routing_action.git.command import NEUTRAL_EMAIL, NEUTRAL_NAME, run_git
from routing_action.run.workspace.answer_keys import AnswerKeys
from routing_action.run.workspace.seal import Seal, seal_tree
from routing_action.run.workspace.visible_files import copy_tree, read_repository

# The user section lets an agent commit without a configuration of its own. git-config(1),
# core.checkStat and core.trustctime: a copied index stays valid, so `git status` reads no file.
_SETTINGS = f"""[user]
\tname = {NEUTRAL_NAME}
\temail = {NEUTRAL_EMAIL}
[core]
\tcheckStat = minimal
\ttrustctime = false
[gc]
\tauto = 0
"""
# gitattributes(5): info/attributes goes before the tree's own; files are committed byte by byte.
_ATTRIBUTES = "* -text -filter -ident !working-tree-encoding\n"


@dataclass(frozen=True, slots=True)
class WorkspaceTemplate:
    """The repository as agents may see it, made once per batch and copied for each unit.

    Safe to use from several threads: making a workspace only reads it. `seal` is what every copy
    must hold. `notes` say what was left out of the tree, for people.
    """

    path: Path
    keys: AnswerKeys
    seal: Seal
    notes: tuple[str, ...] = ()

    @classmethod
    def build(
        cls,
        repository: Path,
        temp_root: Path,
        *,
        hidden: Iterable[Path | str] = (),
        path: Path | None = None,
    ) -> WorkspaceTemplate:
        """Make a template of a repository, or of any folder, below the temporary folder.

        `hidden` are the answer keys of this batch (case file, baseline, artifacts root, output
        files), absolute or relative to the repository; the default places are hidden anyway.
        `path` is a new folder for it; without one it makes its own.
        Raises HarnessError where the repository cannot be read, or there is no room.
        """
        source = repository.resolve()
        if not source.is_dir():
            raise HarnessError(f"{repository} is not a folder", remedy="name the repository's root")
        if temp_root.resolve().is_relative_to(source):
            raise HarnessError(
                f"the temporary folder {temp_root} lies in the repository, whose answer keys an "
                "agent would find above its workspace",
                remedy="set TMPDIR to a folder outside the repository",
            )
        keys = AnswerKeys.of(source, hidden)
        tree = read_repository(source, keys)
        path = path or new_folder(temp_root)
        with _removed_on_error(path):
            notes = (*tree.notes, *copy_tree(tree, path))
            _commit(path)
            seal = seal_tree(path)
        return cls(path, keys, seal, notes)

    def derive(
        self, prepare: Callable[[Path], Sequence[str]], path: Path | None = None
    ) -> WorkspaceTemplate:
        """A second template that holds what `prepare` does to a copy, in its one commit.

        `prepare` gets the copy's folder and gives notes; it is how skills are staged. The new
        template has `path`, a new folder, or a random one of its own beside this one.
        """
        path = path or new_folder(self.path.parent)
        with _removed_on_error(path):
            _copy(self.path, path)
            remove_tree(path / ".git")
            notes = (*self.notes, *prepare(path))
            _commit(path)
            seal = seal_tree(path)
        return WorkspaceTemplate(path, self.keys, seal, notes)

    def make_workspace(self, destination: Path) -> Path:
        """A unit's own copy in a folder that is new or empty; shares nothing that can be written.

        Raises HarnessError where the folder is in use, or cannot be written.
        """
        _claim(destination)
        with _removed_on_error(destination):
            _copy(self.path, destination)
        return destination.resolve()


def new_folder(temp_root: Path) -> Path:
    """A new folder with a random name that says nothing, for the owner alone.

    Raises HarnessError where none can be made.
    """
    try:
        return Path(tempfile.mkdtemp(prefix="", dir=temp_root)).resolve()
    except OSError as error:
        raise HarnessError(
            f"no folder could be made in {temp_root}: {error.strerror}",
            remedy="set TMPDIR to a folder that can be written",
        ) from error


def choose_temp_root(repository: Path, candidates: Iterable[Path | str]) -> Path:
    """The first candidate that is a writable folder outside the repository.

    One that shares no parent with the repository but the file system's root goes first: there,
    even an agent that searches a few levels upwards meets no answer key. Empty candidates are
    passed over; the system's own temporary folder is the last. Raises HarnessError.
    """
    source = repository.resolve()
    named = (Path(path).resolve() for path in (*candidates, tempfile.gettempdir()) if str(path))
    usable = [path for path in named if _is_usable(path) and not path.is_relative_to(source)]
    if not usable:
        raise HarnessError(
            f"there is no writable temporary folder outside {source}",
            remedy="set TMPDIR to a folder outside the repository that can be written",
        )
    return next((path for path in usable if path.parts[1:2] != source.parts[1:2]), usable[0])


def _is_usable(path: Path) -> bool:
    return path.is_dir() and os.access(path, os.W_OK | os.X_OK)


def _commit(path: Path) -> None:
    """Turn a folder into a repository with one commit and neither remote nor hook.

    All objects go into one pack, so that each unit's copy has few files.
    """
    run_git(("init", "--quiet", "--template=", "--initial-branch=main"), path)
    git = path / ".git"
    with (git / "config").open("a", encoding="utf-8") as config:
        config.write(_SETTINGS)
    (git / "info").mkdir(exist_ok=True)
    (git / "info" / "attributes").write_text(_ATTRIBUTES, encoding="utf-8")
    run_git(("add", "--all", "--force", "."), path)
    run_git(("commit", "--quiet", "--allow-empty", "--no-verify", "-m", "Initial commit"), path)
    run_git(("repack", "-a", "-d", "-n", "--quiet", "--window=0"), path)


def _copy(source: Path, destination: Path) -> None:
    """Copy all that a folder holds, with its links and times: by its time git's index knows a file.

    `cp -a` copies bytes, or blocks that the file system shares until they are written.
    """
    done = subprocess.run(
        [shutil.which("cp") or "cp", "-a", f"{source}/.", str(destination)],
        env={"LC_ALL": "C"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    if done.returncode:
        complaint = done.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
        raise OSError(complaint or f"cp ended with exit code {done.returncode}")


def _claim(destination: Path) -> None:
    try:
        destination.mkdir(mode=0o700, parents=True, exist_ok=True)
        taken = any(destination.iterdir())
    except OSError as error:
        raise HarnessError(
            f"the workspace {destination} could not be made: {error.strerror}",
            remedy="set TMPDIR to a folder that can be written",
        ) from error
    if taken:
        raise HarnessError(
            f"the workspace {destination} is not empty", remedy="give each unit a new folder"
        )


@contextmanager
def _removed_on_error(path: Path) -> Iterator[None]:
    """Leave no half-made folder behind; file trouble becomes a HarnessError."""
    try:
        yield
    except BaseException as error:
        remove_tree(path)
        if not isinstance(error, OSError):
            raise
        raise HarnessError(
            f"a workspace could not be made in {path}: {error.strerror or error}",
            remedy="free space in the temporary folder, or set TMPDIR to another one",
        ) from error
