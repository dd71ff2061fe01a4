"""Zip files that strangers made: what is unpacked, and what is refused before a byte is written."""

from __future__ import annotations

import io
import stat
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from routing_action.errors import DocumentError, HarnessError
from routing_action.github import archives
from routing_action.github.archives import MAX_DIRECTORY_BYTES, unpack

Entries = dict[str, bytes]


def zipped(entries: Entries, *infos: tuple[zipfile.ZipInfo, bytes]) -> bytes:
    """A zip file with these entries, and with those that need more than a name."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
        for info, data in infos:
            archive.writestr(info, data)
    return made.getvalue()


def special(name: str, mode: int) -> zipfile.ZipInfo:
    """An entry of a kind of its own."""
    info = zipfile.ZipInfo(name)
    info.create_system = 3
    info.external_attr = mode << 16
    return info


@pytest.fixture
def open_zip(tmp_path: Path) -> Callable[..., Path]:
    """Unpack data; the folder that was made."""

    def unpacked(data: bytes) -> Path:
        file = tmp_path / "artifact.zip"
        file.write_bytes(data)
        folder = tmp_path / "to" / "content"
        unpack(file, folder)
        return folder

    return unpacked


def refused(open_zip: Callable[..., Path], tmp_path: Path, data: bytes, cause: str) -> None:
    """It ends with the cause, and nothing is left behind."""
    with pytest.raises(DocumentError, match=cause):
        open_zip(data)
    assert [path.name for path in tmp_path.rglob("*") if path.name != "to"] == ["artifact.zip"]


def test_files_and_folders_come_out_as_they_went_in(open_zip: Callable[..., Path]) -> None:
    """With empty folders, names in other scripts, and large files."""
    entries = {"b/results.json": b"{}", "b/ü/日本.txt": b"x" * 3_000_000, "empty/": b"", "b/": b""}
    folder = open_zip(zipped(entries))
    files = {str(path.relative_to(folder)): path for path in folder.rglob("*")}
    assert sorted(files) == ["b", "b/results.json", "b/ü", "b/ü/日本.txt", "empty"]
    assert files["b/ü/日本.txt"].read_bytes() == b"x" * 3_000_000


def test_an_empty_zip_file_is_an_empty_folder(open_zip: Callable[..., Path]) -> None:
    """A leg may have left nothing."""
    assert list(open_zip(zipped({})).iterdir()) == []


def test_rights_in_the_archive_do_not_count(open_zip: Callable[..., Path]) -> None:
    """No file becomes executable, or anybody's with the owner's rights."""
    data = zipped({}, (special("run.sh", stat.S_IFREG | 0o4777), b"#!/bin/sh\n"))
    assert stat.S_IMODE((open_zip(data) / "run.sh").stat().st_mode) & 0o7111 == 0


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("../up.txt", "leads out"),
        ("a/../../up.txt", "leads out"),
        ("a/..", "leads out"),
        ("/etc/passwd", "leads out"),
        ("C:/up.txt", "character"),
        ("a\\..\\..\\up.txt", "character"),
        ("a/file:stream", "character"),
        ("a/\x1b[31m", "character"),
        ("a/nul.txt", "not a valid name"),
        ("COM1", "not a valid name"),
        ("a//b", "not a valid name"),
        ("./a", "not a valid name"),
        ("a/.", "not a valid name"),
        ("a. ", "not a valid name"),
        ("x" * 256, "too long"),
        ("ü" * 130, "too long"),
        ("/".join(["d" * 100] * 12), "too long"),
        ("/".join("a" * 17), "too long"),
    ],
)
def test_r11_a_path_that_leads_out_or_is_no_name_is_refused(
    open_zip: Callable[..., Path], tmp_path: Path, name: str, cause: str
) -> None:
    """On every system in the same way, and the sound file beside it is not written either."""
    refused(open_zip, tmp_path, zipped({"good.txt": b"x", name: b"y"}), cause)


def test_r11_an_entry_without_a_name_is_refused(
    open_zip: Callable[..., Path], tmp_path: Path
) -> None:
    """Its one letter becomes an extra field, which is as long as the name was."""
    data = bytearray(zipped({"X": b"y"}))
    entry = data.index(b"PK\1\2") + 28
    data[26:30] = data[entry : entry + 4] = struct.pack("<HH", 0, 1)
    refused(open_zip, tmp_path, bytes(data), "has a part that is not a valid name")


def test_r11_a_name_that_ends_early_for_c_is_refused(
    open_zip: Callable[..., Path], tmp_path: Path
) -> None:
    """Readers differ about what comes after a zero byte."""
    data = zipped({"good.txtX.sh": b"y"}).replace(b"good.txtX.sh", b"good.txt\0.sh")
    refused(open_zip, tmp_path, data, "character")


@pytest.mark.parametrize(
    ("name", "mode"),
    [
        ("link", stat.S_IFLNK | 0o777),
        ("pipe", stat.S_IFIFO | 0o644),
        ("device", stat.S_IFCHR | 0o644),
        ("disk", stat.S_IFBLK | 0o644),
        ("file-as-folder/", stat.S_IFREG | 0o644),
        ("folder-as-file", stat.S_IFDIR | 0o755),
    ],
)
def test_r11_what_is_no_plain_file_is_refused(
    open_zip: Callable[..., Path], tmp_path: Path, name: str, mode: int
) -> None:
    """A link could lead the next entry out of the folder."""
    refused(open_zip, tmp_path, zipped({}, (special(name, mode), b"/etc")), "no plain file")


@pytest.mark.parametrize(
    "names",
    [
        ("a.txt", "A.txt"),
        ("d/a.txt", "D/b.txt"),
        ("straße", "STRASSE"),
        ("é", "e\u0301"),
        ("a", "a/b"),
        ("a/b", "a"),
        ("a/", "A/b"),
        ("a/", "a"),
    ],
)
def test_r11_names_that_some_file_system_takes_for_one_are_refused(
    open_zip: Callable[..., Path], tmp_path: Path, names: tuple[str, str]
) -> None:
    """What is judged must be what is read later."""
    infos = [(zipfile.ZipInfo(name), b"") for name in names]
    refused(open_zip, tmp_path, zipped({}, *infos), "has the same path as")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_r11_a_file_that_is_there_twice_is_refused(
    open_zip: Callable[..., Path], tmp_path: Path
) -> None:
    """Readers differ about which one counts."""
    twice = [(zipfile.ZipInfo("results.json"), data) for data in (b"1", b"2")]
    refused(open_zip, tmp_path, zipped({}, *twice), "has the same path as")


def test_r11_a_zip_bomb_is_refused_by_what_it_says(
    open_zip: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """100 MB in 100 KB."""
    monkeypatch.setattr(archives, "MAX_UNPACKED_BYTES", 10**6)
    with pytest.raises(DocumentError, match="more than 1000000 bytes"):
        open_zip(zipped({"a": b"\0" * 10**8}))


def test_r11_a_zip_bomb_that_lies_about_its_size_is_refused(
    open_zip: Callable[..., Path], tmp_path: Path
) -> None:
    """The size in the table of contents says 10 bytes; more than that are never written."""
    data = zipped({"a": b"\0" * 10**6}).replace(struct.pack("<I", 10**6), struct.pack("<I", 10))
    refused(open_zip, tmp_path, data, "not a valid zip file")


def test_r11_too_many_entries_are_refused(
    open_zip: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A million empty files would fill the disk's table of files."""
    monkeypatch.setattr(archives, "MAX_ENTRIES", 10)
    with pytest.raises(DocumentError, match="has 11 entries; 10 are allowed"):
        open_zip(zipped({f"f{n}": b"" for n in range(11)}))


def test_r11_a_huge_table_of_contents_is_not_read(
    open_zip: Callable[..., Path], tmp_path: Path
) -> None:
    """It would take several times its size in memory before an entry can be counted."""
    size = MAX_DIRECTORY_BYTES + 1
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, size, 0, 0)
    refused(open_zip, tmp_path, b"\0" * size + end, "table of contents is too large")


def test_r11_encryption_and_other_methods_are_refused(
    open_zip: Callable[..., Path], tmp_path: Path
) -> None:
    """No upload makes them."""
    data = bytearray(zipped({"a": b"x"}))
    data[data.index(b"PK\1\2") + 8] |= 1
    refused(open_zip, tmp_path, bytes(data), "is encrypted")
    info = zipfile.ZipInfo("a")
    info.compress_type = zipfile.ZIP_BZIP2
    refused(open_zip, tmp_path, zipped({}, (info, b"x")), "another way")
    folder = zipfile.ZipInfo("a/")
    refused(open_zip, tmp_path, zipped({}, (folder, b"x")), "folder with content")


@pytest.mark.parametrize("data", [b"", b"no zip at all", b"PK\5\6" + b"\xff" * 18])
def test_what_is_no_zip_file_says_so(
    open_zip: Callable[..., Path], tmp_path: Path, data: bytes
) -> None:
    """An upload can also be a plain file."""
    refused(open_zip, tmp_path, data, "not a valid zip file|too large")


def test_a_folder_that_is_there_is_not_touched(tmp_path: Path) -> None:
    """Nothing is mixed with what another artifact left."""
    (tmp_path / "a.zip").write_bytes(zipped({"a": b"x"}))
    (tmp_path / "to").mkdir()
    with pytest.raises(DocumentError, match="is there already"):
        unpack(tmp_path / "a.zip", tmp_path / "to")
    assert list((tmp_path / "to").iterdir()) == []


def test_a_disk_that_refuses_is_not_the_archives_fault(tmp_path: Path) -> None:
    """A file stands where the folder would be made."""
    (tmp_path / "a.zip").write_bytes(zipped({"a": b"x"}))
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(HarnessError, match="cannot be unpacked"):
        unpack(tmp_path / "a.zip", tmp_path / "file" / "to")
    with pytest.raises(HarnessError, match="No such file"):
        unpack(tmp_path / "missing.zip", tmp_path / "to")


@settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(st.tuples(st.integers(0, 10**4), st.binary(min_size=1, max_size=8)), max_size=4),
    st.booleans(),
)
def test_a_damaged_archive_is_a_document_error_and_nothing_else(
    tmp_path: Path, changes: list[tuple[int, bytes]], cut: bool
) -> None:
    """Whatever bytes are changed, it is unpacked whole or refused."""
    data = bytearray(zipped({"a/b.txt": b"text " * 40, "c.txt": b"", "d/": b""}))
    for place, more in changes:
        start = place % len(data)
        data[start : start + len(more)] = more
    file = tmp_path / "fuzz.zip"
    file.write_bytes(bytes(data[: len(data) - 5] if cut else data))
    number = len(list(tmp_path.iterdir()))
    folder = tmp_path / f"to{number}"
    try:
        unpack(file, folder)
    except DocumentError:
        assert not folder.exists()
