"""Keeps the list of a batch's temporary folders, so that the next start can remove what is left."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from routing_action.files.atomic import unwritable
from routing_action.files.plain_files import read_head
from routing_action.files.removal import remove_tree
from routing_action.run.workspace.template import new_folder

LIST_FILE = ".folders"
_MOST_BYTES = 16 * 2**20
_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
# A name as tempfile gives it, below the temporary folder, with its device and inode.
_LINE = re.compile(r"([a-z0-9_]{8}(?:/home)?) (\d+) (\d+)")


class TempFolders:
    """Makes folders in a temporary folder, and lists them once it knows where."""

    def __init__(self, root: Path) -> None:
        """Nothing is made or listed yet."""
        self.root = root
        self._file: Path | None = None

    def list_in(self, batch: Path) -> None:
        """List in the batch's own folder, which is still there when the batch is killed."""
        self._file = batch / LIST_FILE

    def new(self, *, below: str = "") -> Path:
        """A new folder for the owner alone; the one `below` it is listed, where it is named."""
        folder = new_folder(self.root)
        listed = folder / below
        listed.mkdir(mode=0o700, exist_ok=True)
        status = listed.lstat()
        line = f"{listed.relative_to(self.root.resolve())} {status.st_dev} {status.st_ino}\n"
        if self._file is not None:
            try:
                with os.fdopen(os.open(self._file, _FLAGS, 0o600), "w", encoding="ascii") as file:
                    file.write(line)
            except OSError as error:
                remove_tree(folder)
                raise unwritable(self._file, error) from None
        return folder

    def close(self) -> None:
        """The batch has removed them all itself."""
        if self._file is not None:
            self._file.unlink(missing_ok=True)


def remove_leftovers(batch: Path, temp_root: Path) -> int:
    """Remove what a killed batch left in the temporary folder; gives how many folders it was.

    Its list can hold anything by now. So a folder is removed only where name, owner, device and
    inode are those of one that was made in this temporary folder; no link is followed.
    """
    removed = 0
    for line in read_head(batch / LIST_FILE, _MOST_BYTES).decode("ascii", "replace").splitlines():
        match = _LINE.fullmatch(line)
        if match and _is_ours(temp_root / match[1], int(match[2]), int(match[3])):
            removed += not remove_tree(temp_root / match[1])
    (batch / LIST_FILE).unlink(missing_ok=True)
    return removed


def _is_ours(path: Path, device: int, inode: int) -> bool:
    try:
        status, above = path.lstat(), path.parent.lstat()
    except OSError:
        return False
    found = (status.st_uid, status.st_dev, status.st_ino)
    is_folder = stat.S_ISDIR(status.st_mode) and stat.S_ISDIR(above.st_mode)
    return is_folder and found == (os.getuid(), device, inode)
