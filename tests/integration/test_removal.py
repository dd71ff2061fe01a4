"""Clean-up copes with whatever agents leave, touches nothing else, and reports what stays."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from pathlib import Path

import pytest

from routing_action.files.removal import remove_tree
from tests.support.sandbox import ordinary_user, write


def test_a_tree_is_gone_with_all_its_kinds_of_files(tmp_path: Path) -> None:
    """Files, folders, pipes, links to nothing and loops of links."""
    top = tmp_path / "top"
    write(top, {"a/b/c.txt": "c", "a/d.txt": "d", "e/f.txt": "f"})
    os.mkfifo(top / "a/pipe")
    (top / "a/nothing").symlink_to("missing")
    (top / "e/loop").symlink_to(top)
    assert remove_tree(top) == ()
    assert not top.exists()


def test_links_are_not_followed(tmp_path: Path) -> None:
    """What a link of an agent names stays, be it a file, a folder, or named by the path itself."""
    write(tmp_path, {"mine/keep.txt": "k"})
    top = tmp_path / "top"
    top.mkdir()
    (top / "file").symlink_to(tmp_path / "mine/keep.txt")
    (top / "folder").symlink_to(tmp_path / "mine")
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "mine")
    assert remove_tree(top) == ()
    assert remove_tree(link) == ()
    assert not link.is_symlink()
    assert (tmp_path / "mine/keep.txt").read_text() == "k"


def test_a_folder_without_rights_is_removed_by_its_owner() -> None:
    """An agent's chmod, at any depth, does not keep its files."""
    with ordinary_user() as base:
        top = base / "top"
        write(top, {"a/b/c/d.txt": "d", "closed/e.txt": "e", "read/f/g.txt": "g"})
        for path, mode in (("a/b/c", 0), ("a/b", 0o100), ("closed", 0), ("read/f", 0o555)):
            (top / path).chmod(mode)
        (top / "read").chmod(0o555)
        top.chmod(0)
        assert remove_tree(top) == ()
        assert not top.exists()


def test_a_very_deep_tree_is_removed(tmp_path: Path) -> None:
    """Depth beyond the longest path and Python's recursion limit is no hindrance."""
    top = tmp_path / "top"
    top.mkdir()
    handle = os.open(top, os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("deeper", dir_fd=handle)
        below = os.open("deeper", os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = below
    os.close(handle)
    assert remove_tree(top) == ()
    assert not top.exists()


def test_what_is_not_there_is_removed_already(tmp_path: Path) -> None:
    """An agent may remove its own workspace."""
    assert remove_tree(tmp_path / "missing") == ()


def test_what_cannot_be_removed_is_reported_and_raises_nothing() -> None:
    """Files in a folder of somebody else stay, with the reason."""
    if os.geteuid() != 0:
        pytest.skip("only root can make a folder that another user cannot change")
    with ordinary_user() as base:
        write(base, {"top/kept/a.txt": "a", "top/gone/b.txt": "b"})
        os.seteuid(0)
        os.chown(base / "top/kept", 0, 0)
        os.seteuid(65534)
        failures = remove_tree(base / "top")
        assert any("Permission denied" in failure for failure in failures)
        assert not list(base.rglob("b.txt"))
        assert len(list(base.rglob("a.txt"))) == 1
        os.seteuid(0)
        shutil.rmtree(base / "top")
        os.seteuid(65534)


def test_a_folder_that_a_straggler_fills_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that comes in while the folder is removed is removed with the next pass."""
    top = tmp_path / "top"
    write(top, {"a/b.txt": "b"})
    real, late = os.rmdir, [True]

    def rmdir(name: str, *, dir_fd: int | None = None) -> None:
        if late.pop() if late else False:
            write(top, {"late.txt": "l"})
            raise OSError(errno.ENOTEMPTY, "Directory not empty")
        real(name, dir_fd=dir_fd)

    monkeypatch.setattr("os.rmdir", rmdir)
    assert remove_tree(top) == ()
    assert not top.exists()


def test_a_single_file_is_removed(tmp_path: Path) -> None:
    """A path that is no folder goes too."""
    (tmp_path / "file").write_text("x")
    (tmp_path / "file").chmod(stat.S_IRUSR)
    assert remove_tree(tmp_path / "file") == ()
    assert not (tmp_path / "file").exists()
