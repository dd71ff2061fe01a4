"""Lists the files of a repository that an agent may see, and copies them.

It reads the working tree, never git's objects; it takes no history, no `.git` and no link that
leaves the tree.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from routing_action.errors import HarnessError
from routing_action.git.command import find_work_tree, run_git
from routing_action.run.workspace.answer_keys import AnswerKeys, without_results
from routing_action.run.workspace.links import stays_inside
from routing_action.run.workspace.report_files import without_reports

CACHE_FOLDERS = frozenset(
    {
        ".hypothesis",
        ".mypy_cache",
        ".nox",
        ".pytest_cache",
        ".ruff_cache",
        ".tox",
        ".venv",
        "__pycache__",
        "node_modules",
        "venv",
    }
)
_MOST_NAMED = 5
_BLOCK = 1 << 20
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


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
    allowed = (path for path in listed if not keys.hide(path))
    listed = without_reports(repository, without_results(dict.fromkeys(allowed)))
    return _choose(repository, listed, notes)


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

    Executable files stay so; other permissions, owners and times are not kept. Raises
    HarnessError where the destination cannot be written.
    """
    for folder in _folders_of((*tree.files, *tree.links)):
        (destination / folder).mkdir(exist_ok=True)
    missed = [path for path in tree.files if not _copied(tree.root / path, destination / path)]
    for path in tree.links:
        try:
            (destination / path).symlink_to((tree.root / path).readlink())
        except OSError:
            missed.append(path)
    return _note("could not be read and were left out", missed)


def copy_file(
    source: Path | str,
    destination: Path | str,
    *,
    mode: int | None = None,
    modified_ns: int | None = None,
) -> None:
    """Copy one regular file to a new path; `mode` stands for 0755 or 0644, as git keeps them.

    `modified_ns` is the time of last change that the copy is to bear; None leaves it to be new.
    The copy shares nothing that can be written: at most a file system's copy-on-write blocks.
    Raises OSError, also where the source is a link or no regular file.
    """
    reading = _open_regular(source)
    try:
        _copy_open(reading, destination, mode, modified_ns)
    finally:
        os.close(reading)


def write_file(destination: str, content: bytes, *, mode: int, modified_ns: int | None) -> None:
    """Make a new file of this content, as `copy_file` would from one that holds it."""
    writing = os.open(destination, _NEW_FILE, mode)
    try:
        if os.write(writing, content) != len(content):
            raise OSError(f"{destination} could not be written whole")
        if modified_ns is not None:
            os.utime(writing, ns=(modified_ns, modified_ns))
    finally:
        os.close(writing)


def _open_regular(source: Path | str) -> int:
    """A descriptor of a regular file; raises OSError for all else, and never waits for a pipe."""
    reading = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(reading).st_mode):
        os.close(reading)
        raise OSError(f"{source} is no regular file")
    return reading


def _copy_open(
    reading: int, destination: Path | str, mode: int | None, modified_ns: int | None = None
) -> None:
    status = os.fstat(reading)
    kept = mode if mode is not None else 0o755 if status.st_mode & stat.S_IXUSR else 0o644
    writing = os.open(destination, _NEW_FILE, kept)
    try:
        _pour(reading, writing, status.st_size)
        if modified_ns is not None:
            os.utime(writing, ns=(modified_ns, modified_ns))
    finally:
        os.close(writing)


def is_git_name(name: str) -> bool:
    """True for `.git` and for the names that some file systems take for it."""
    return name.casefold() in (".git", "git~1")


def _pour(reading: int, writing: int, size: int) -> None:
    """Copy by the kernel where that pays and works, else block by block from where it stopped."""
    if size > _BLOCK and hasattr(os, "copy_file_range"):
        try:
            while os.copy_file_range(reading, writing, 1 << 30):
                pass
        except OSError:
            os.lseek(reading, os.lseek(writing, 0, os.SEEK_CUR), os.SEEK_SET)
    while block := os.read(reading, _BLOCK):
        view = memoryview(block)
        while view:
            view = view[os.write(writing, view) :]


def _copied(source: Path, destination: Path) -> bool:
    """False where the source had vanished or cannot be read; other trouble is the harness'."""
    try:
        reading = _open_regular(source)
    except OSError:
        return False
    try:
        _copy_open(reading, destination, None)
    except OSError as error:
        raise HarnessError(
            f"{source} could not be copied to {destination}: {error.strerror or error}",
            remedy="free space in the temporary folder, or set TMPDIR to another one",
        ) from error
    finally:
        os.close(reading)
    return True


def _folders_of(paths: Iterable[str]) -> list[str]:
    """The folders that the paths lie in, each after its parent."""
    return sorted({folder for path in paths for folder in _parents(path)})


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
            elif name not in CACHE_FOLDERS and not is_git_name(name):
                waiting.append(f"{prefix}{name}/")
    return found


def _choose(root: Path, listed: Iterable[str], notes: list[str]) -> Tree:
    """Sort the listed paths into files and links; drop what is gone, special, or leads out."""
    files: list[str] = []
    links: list[str] = []
    leaving: list[str] = []
    known: dict[str, bool] = {}
    for path in sorted(listed):
        if any(is_git_name(part) for part in path.split("/")):
            continue
        if not _is_below_folders(root, path.rpartition("/")[0], known):
            continue
        mode = _mode(root / path)
        if stat.S_ISREG(mode):
            files.append(path)
        elif stat.S_ISLNK(mode):
            (links if stays_inside(root, path) else leaving).append(path)
    told = _note("led out of the tree and were left out (links)", leaving)
    return Tree(root, tuple(files), tuple(links), (*notes, *told))


def _is_below_folders(root: Path, folder: str, known: dict[str, bool]) -> bool:
    """True where each folder above is one, no link: a dirty tree can have put a link there."""
    for prefix in (*_parents(folder), folder):
        if prefix and prefix not in known:
            known[prefix] = stat.S_ISDIR(_mode(root / prefix))
        if prefix and not known[prefix]:
            return False
    return True


def _parents(path: str) -> list[str]:
    """The folders above a path, the topmost first."""
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


def _mode(path: Path) -> int:
    """A path's own mode; 0 where it is not there."""
    try:
        return path.lstat().st_mode
    except OSError:
        return 0


def _note(what: str, paths: list[str]) -> tuple[str, ...]:
    """One sentence that names the first of the paths and counts the others."""
    if not paths:
        return ()
    named = ", ".join(shown(path) for path in paths[:_MOST_NAMED])
    more = f" and {len(paths) - _MOST_NAMED} more" if len(paths) > _MOST_NAMED else ""
    return (f"{named}{more} {what}",)


def shown(path: str) -> str:
    """A path as it can be printed, whatever bytes its name holds."""
    return path.encode("utf-8", "backslashreplace").decode("utf-8").replace("\n", "\\n")
