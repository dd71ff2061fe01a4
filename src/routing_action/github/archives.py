"""Unpacks a zip file that a stranger may have made: all of it is judged before a byte is written.

It knows no network; local files and downloaded artifacts are unpacked by the same function.
"""

from __future__ import annotations

import errno
import io
import re
import stat
import struct
import tempfile
import unicodedata
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path

from routing_action.errors import DocumentError, HarnessError

MAX_NAME_BYTES = 255
MAX_PATH_BYTES = 1024
MAX_DEPTH = 16
MAX_ENTRIES = 100_000
MAX_UNPACKED_BYTES = 2**30
MAX_DIRECTORY_BYTES = 16 * 2**20
"""The table of contents is read at once, so its size bounds the memory that it takes."""

_CHUNK = 2**20
_BROKEN = (
    *(zipfile.BadZipFile, zlib.error, struct.error),
    *(EOFError, ValueError, OverflowError, RuntimeError),
)

# What upload-artifact rejects in a path, control characters, and what Windows trims or opens.
_ILLEGAL = re.compile(r'[\x00-\x1f\x7f":<>|*?\\]')
_DEVICE = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)


def unpack(archive: Path, folder: Path) -> None:
    """Make `folder` with what a zip file holds.

    The folder appears complete or not at all, and must not be there before. Only plain files and
    folders are made, without their rights. Raises DocumentError naming the entry where one has a
    path that leads out, is no plain file, is the same as another one on a file system that ignores
    case, or where a limit is passed; HarnessError where the disk fails.
    """
    file = archive.name
    if folder.exists():
        raise _error(file, f"{folder.name} is there already")
    try:
        with _Bounded(io.FileIO(archive), file) as source, zipfile.ZipFile(source) as opened:
            _check(opened.infolist(), file)
            _write_all(opened, folder, file)
    except _BROKEN as error:
        raise _error(file, f"is not a valid zip file: {error}"[:200]) from None
    except OSError as error:
        if error.errno == errno.EINVAL:
            raise _error(file, "is not a valid zip file: it points outside of itself") from None
        raise HarnessError(
            f"{file} cannot be unpacked into {folder}: {error.strerror}",
            remedy="free space there, or name another folder",
        ) from None


class _Bounded(io.BufferedReader):
    """Reads no more at once than a table of contents may have."""

    def __init__(self, raw: io.RawIOBase, file: str) -> None:
        super().__init__(raw)
        self._file = file

    def read(self, size: int | None = -1, /) -> bytes:
        most = MAX_DIRECTORY_BYTES + 1
        data = super().read(most if size is None or size < 0 else min(size, most))
        if len(data) > MAX_DIRECTORY_BYTES:
            raise _error(self._file, "its table of contents is too large")
        return data


def _check(infos: Sequence[zipfile.ZipInfo], file: str) -> None:
    if len(infos) > MAX_ENTRIES:
        raise _error(file, f"has {len(infos)} entries; {MAX_ENTRIES} are allowed")
    if sum(info.file_size for info in infos) > MAX_UNPACKED_BYTES:
        raise _too_large(file)
    seen: dict[str, tuple[str, bool]] = {}
    for info in infos:
        fault = _fault_of(info) or _collision(info, seen)
        if fault:
            raise _error(file, f"entry {info.orig_filename[:200]!r} {fault}")


def _parts(info: zipfile.ZipInfo) -> list[str]:
    return info.orig_filename.removesuffix("/").split("/")


def _is_folder(info: zipfile.ZipInfo) -> bool:
    return info.orig_filename.endswith("/")


def _fault_of(info: zipfile.ZipInfo) -> str:
    """What is wrong with an entry by itself; empty where nothing is."""
    name = info.orig_filename
    parts = _parts(info)
    kind = stat.S_IFMT(info.external_attr >> 16)
    faults = {
        "has a character that no path of an artifact has": _ILLEGAL.search(name),
        "leads out of its folder": name.startswith("/") or ".." in parts,
        "has a part that is not a valid name": any(map(_is_no_name, parts)),
        "has too long a path": _is_too_long(name, parts),
        "is no plain file": kind not in (0, stat.S_IFDIR if _is_folder(info) else stat.S_IFREG),
        "is encrypted": info.flag_bits & 0x1,
        "is a folder with content": _is_folder(info) and info.file_size,
        "is compressed in another way than upload-artifact does it": info.compress_type
        not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED),
    }
    return next((fault for fault, is_so in faults.items() if is_so), "")


def _is_no_name(part: str) -> bool:
    return part in ("", ".") or part[-1] in ". " or bool(_DEVICE.fullmatch(part))


def _is_too_long(name: str, parts: Sequence[str]) -> bool:
    longest = max(len(part.encode("utf-8", "replace")) for part in parts)
    size = len(name.encode("utf-8", "replace"))
    return size > MAX_PATH_BYTES or longest > MAX_NAME_BYTES or len(parts) > MAX_DEPTH


def _collision(info: zipfile.ZipInfo, seen: dict[str, tuple[str, bool]]) -> str:
    """Which entry has the path of this one, or of a folder above it; only folders may repeat.

    Letters that a file system may take for each other are one letter.
    """
    parts = _parts(info)
    for depth in range(1, len(parts) + 1):
        path = "/".join(parts[:depth])
        is_folder = depth < len(parts) or _is_folder(info)
        folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())
        known = seen.get(folded)
        if known is not None and (known != (path, True) or not is_folder):
            return f"has the same path as {known[0][:200]!r}"
        seen[folded] = (path, is_folder)
    return ""


def _write_all(opened: zipfile.ZipFile, folder: Path, file: str) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    written = 0
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".unpack-") as made:
        top = Path(made) / "content"
        top.mkdir()
        for info in opened.infolist():
            path = top.joinpath(*_parts(info))
            if _is_folder(info):
                path.mkdir(parents=True, exist_ok=True)
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            with opened.open(info) as source, path.open("xb") as target:
                while chunk := source.read(_CHUNK):
                    written += len(chunk)
                    if written > MAX_UNPACKED_BYTES:
                        raise _too_large(file)
                    target.write(chunk)
        top.rename(folder)


def _too_large(file: str) -> DocumentError:
    return _error(file, f"has more than {MAX_UNPACKED_BYTES} bytes when unpacked")


def _error(file: str, cause: str) -> DocumentError:
    return DocumentError(cause, file=file, remedy="do not use this file; see which run uploaded it")
