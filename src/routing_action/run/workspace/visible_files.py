"""Lists the files of a repository that an agent may see, and copies them.

It reads the working tree, never git's objects; it takes no history, no `.git` and no link that
leaves the tree.
"""

from __future__ import annotations

import functools
import os
import shutil
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from routing_action.files.plain_files import open_regular
from routing_action.git.command import find_work_tree, run_git
from routing_action.run.workspace.answer_keys import AnswerKeys

_CACHE_FOLDERS = frozenset(
    ".hypothesis .mypy_cache .nox .pytest_cache .ruff_cache .tox .venv"
    " __pycache__ node_modules venv".split()
)
_MOST_NAMED = 5
_BLOCK = 1 << 20
_MOST_LINKS = 40


@dataclass(frozen=True, slots=True)
class Tree:
    """The files and links below `root` that were chosen, as sorted relative paths with `/`.

    `notes` say in words what was left out for another reason than being ignored or an answer key.
    """

    root: Path
    files: tuple[str, ...]
    links: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def read_repository(repository: Path, keys: AnswerKeys) -> Tree:
    """The working tree of a git repository (or a folder in one), or a folder without git.

    With git: what is tracked and still there, as it is in the working tree, and what is neither
    tracked nor ignored; submodules that are checked out come with their files. Without: all
    files but those in obvious caches. Raises HarnessError where git refuses.
    """
    notes: list[str] = []
    if find_work_tree(repository):
        listed = _list_git(repository, "", notes)
        if not listed and (listed := _list_plain(repository, notes)):
            notes.append("git ignores the whole folder, so all its files were taken")
    else:
        listed = _list_plain(repository, notes)
    return _choose(repository, keys.visible(dict.fromkeys(listed)), notes)


def read_folder(folder: Path, keys: AnswerKeys) -> Tree:
    """All files of a folder but caches and answer keys, whether git tracks them or not."""
    real = os.path.realpath(folder)
    notes: list[str] = []
    listed = _list_plain(folder, notes)
    return _choose(
        folder, [path for path in listed if not keys.hide_absolute(f"{real}/{path}")], notes
    )


def copy_tree(tree: Tree, destination: Path) -> tuple[str, ...]:
    """Copy the chosen files below an existing folder; say which had vanished or were unreadable.

    Executable files stay so; other permissions, owners and times are not kept. Raises OSError
    where the destination cannot be written.
    """
    for folder in {path.rpartition("/")[0] for path in (*tree.files, *tree.links)}:
        (destination / folder).mkdir(parents=True, exist_ok=True)
    missed = [path for path in tree.files if not _copied(tree.root / path, destination / path)]
    for path in tree.links:
        try:
            (destination / path).symlink_to((tree.root / path).readlink())
        except OSError:
            missed.append(path)
    return _note("cannot be read", missed)


def _is_git_name(name: str) -> bool:
    """True for `.git` and for the names that some file systems take for it."""
    return name.casefold() in (".git", "git~1")


def _copied(source: Path, destination: Path) -> bool:
    """False where the source had vanished or cannot be read."""
    try:
        reading = open_regular(source)
    except OSError:
        return False
    with reading, destination.open("xb") as writing:
        is_program = os.fstat(reading.fileno()).st_mode & stat.S_IXUSR
        os.fchmod(writing.fileno(), 0o755 if is_program else 0o644)
        shutil.copyfileobj(reading, writing, _BLOCK)
    return True


def _list_git(repository: Path, prefix: str, notes: list[str]) -> list[str]:
    """What git knows below a folder, submodules included; folders of others are left out."""
    args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    found: list[str] = []
    for path in run_git(args, repository).split("\0"):
        full = repository / path
        if not path:
            continue
        if path.endswith("/"):
            notes.append(f"{shown(prefix + path)} is a repository of its own and was left out")
        elif full.is_symlink() or not full.is_dir():
            found.append(prefix + path)
        else:
            found += _list_submodule(full, f"{prefix}{path}/", notes)
    return found


def _list_submodule(folder: Path, prefix: str, notes: list[str]) -> list[str]:
    """The files of a submodule; all of them where its repository is broken."""
    if not (folder / ".git").exists():
        if not any(folder.iterdir()):
            notes.append(f"submodule {shown(prefix)} is not checked out")
        return []
    top = find_work_tree(folder)
    if top is not None and top.samefile(folder):
        return _list_git(folder, prefix, notes)
    return [prefix + path for path in _list_plain(folder, notes)]


def _list_plain(folder: Path, notes: list[str]) -> list[str]:
    """All files and links below a folder, without git's own and without caches."""
    found: list[str] = []
    waiting = [""]
    while waiting:
        prefix = waiting.pop()
        try:
            with os.scandir(folder / prefix) as entries:
                listed = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
        except OSError:
            notes.append(f"{shown(prefix)} could not be listed and was left out")
            continue
        for name, is_folder in listed:
            if not is_folder:
                found.append(prefix + name)
            elif name not in _CACHE_FOLDERS and not _is_git_name(name):
                waiting.append(f"{prefix}{name}/")
    return found


def _choose(root: Path, listed: Iterable[str], notes: list[str]) -> Tree:
    """Sort the listed paths into files and links; drop what is gone, special, or leads out."""
    files: list[str] = []
    links: list[str] = []
    leaving: list[str] = []
    real = os.path.realpath(root)

    @functools.cache
    def is_folder(path: str) -> bool:  # with none but folders above: there may be a link by now
        return os.path.realpath(root / path) == str(Path(real, path))

    for path in sorted(listed):
        if any(_is_git_name(part) for part in path.split("/")):
            continue
        if not is_folder(path.rpartition("/")[0]):
            continue
        mode = _mode(root / path)
        if stat.S_ISREG(mode):
            files.append(path)
        elif stat.S_ISLNK(mode):
            (links if stays_inside(root, path) else leaving).append(path)
    left_out = _note("links out of the tree", leaving)
    return Tree(root, tuple(files), tuple(links), (*notes, *left_out))


def stays_inside(root: Path, link: str) -> bool:
    """True where following the link, and all links it leads over, never leaves the root.

    `link` is relative to the root with `/` between parts. A target that does not exist may be
    inside all the same. An absolute link leaves, even back into the root: in a copy it would
    still name the original. A loop counts as leaving.
    """
    position: list[str] = []
    waiting = list(reversed(link.split("/")))
    followed = 0
    while waiting:
        part = waiting.pop()
        if part in ("", "."):
            continue
        if part == "..":
            if not position:
                return False
            position.pop()
            continue
        target = _target(root.joinpath(*position, part))
        if target is None:
            position.append(part)
            continue
        followed += 1
        if followed > _MOST_LINKS or target.startswith("/"):
            return False
        waiting.extend(reversed(target.split("/")))
    return True


def _target(path: Path) -> str | None:
    """Where a link points to; None where the path is no link or not there."""
    try:
        return str(path.readlink())
    except OSError:
        return None


def _mode(path: Path) -> int:
    """A path's own mode; 0 where it is not there."""
    try:
        return path.lstat().st_mode
    except OSError:
        return 0


def _note(why: str, paths: list[str]) -> tuple[str, ...]:
    """One note that names the first of the paths and counts the others."""
    if not paths:
        return ()
    named = ", ".join(shown(path) for path in paths[:_MOST_NAMED])
    more = f" and {len(paths) - _MOST_NAMED} more" if len(paths) > _MOST_NAMED else ""
    return (f"left out ({why}): {named}{more}",)


def shown(path: str) -> str:
    """A path as it can be printed, whatever bytes its name holds."""
    return path.encode("utf-8", "backslashreplace").decode("utf-8").replace("\n", "\\n")
