"""Starting a child, directly and by Popen: both ways give it the same, and fail alike."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from routing_action.run.process import spawn as door
from tests.fakes.children import leaving_nothing

Start = Callable[..., bytes]
LOOK = """
import os, sys
print(sorted(os.environ.items()))
print(sorted(int(name) for name in os.listdir("/proc/self/fd"))[:3])
print([os.path.exists(f"/proc/self/fd/{name}") for name in sys.argv[1:]])
print(os.getsid(0) == os.getpid(), os.getpgid(0) == os.getpid(), os.getcwd())
print(os.readlink("/proc/self/fd/0"), sys.stdin.read() == "")
"""


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    """Every test leaves no zombie and no open descriptor."""
    with leaving_nothing():
        yield


@pytest.fixture(params=["directly", "by popen"])
def start(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Start:
    """Runs a program to its end in one of both ways; gives what it printed on both streams."""
    if request.param == "by popen":
        monkeypatch.setattr(door, "_fork_exec", None)

    def run(*argv: str, cwd: Path | str, env: Mapping[str, str]) -> bytes:
        read, write = os.pipe()
        try:
            pid = door.spawn(argv, str(cwd), env, write, write)
        except BaseException:
            os.close(read)
            raise
        finally:
            os.close(write)
        with os.fdopen(read, "rb") as file:
            data = file.read()
        os.waitpid(pid, 0)
        return data

    return run


def test_the_child_has_what_was_given_and_nothing_else(start: Start, tmp_path: Path) -> None:
    """Its environment, folder and session are its own; an inheritable descriptor stays here."""
    env = {"PATH": "/usr/bin:/bin", "EMPTY": "", "LETTERS": "grün=€", "BYTES": "\udcff"}
    source = tmp_path / "look.py"
    source.write_text(LOOK, encoding="utf-8")
    leaking = os.dup(1)
    os.set_inheritable(leaking, True)
    try:
        lines = start(
            "python3", "-I", "-S", str(source), str(leaking), cwd=tmp_path, env=env
        ).decode("utf-8", "surrogateescape").splitlines()  # fmt: skip
    finally:
        os.close(leaking)

    names = dict(eval(lines[0]))  # noqa: S307 - our own program printed it
    assert {name: names[name] for name in env} == env
    assert set(names) - set(env) <= {"LC_CTYPE"}  # which Python sets by itself
    assert lines[1:4] == ["[0, 1, 2]", "[False]", f"True True {tmp_path.resolve()}"]
    assert lines[4] == "/dev/null True"


def test_a_program_is_looked_for_as_a_shell_does(start: Start, tmp_path: Path) -> None:
    """In the folders of the child's own PATH, in order; an empty one is where it works."""
    for folder, said in (("first", "1"), ("second", "2"), (".", "3")):
        program = tmp_path / folder / "tool"
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\necho {said}\n", encoding="utf-8")
        program.chmod(0o755)

    path = f"{tmp_path}/none:{tmp_path}/second:{tmp_path}/first"

    assert start("tool", cwd=tmp_path, env={"PATH": path}) == b"2\n"
    assert start("tool", cwd=tmp_path, env={"PATH": f":{path}"}) == b"3\n"


@pytest.mark.parametrize(
    ("argv", "folder", "env", "error"),
    [
        (("no-such-program",), ".", {}, FileNotFoundError),
        (("true",), "gone", {}, FileNotFoundError),
        (("/etc",), ".", {}, PermissionError),
        (("true", "a\0b"), ".", {}, ValueError),
        (("true",), ".", {"A": "a\0b"}, ValueError),
        (("true",), ".", {"A=B": "c"}, ValueError),
        (("true", "\ud800"), ".", {}, ValueError),
    ],
)
def test_a_failed_start_is_told_as_popen_does(
    start: Start,
    tmp_path: Path,
    argv: tuple[str, ...],
    folder: str,
    env: dict[str, str],
    error: type[Exception],
) -> None:
    """With the same words, and the file that it is about."""
    cwd, env = str(tmp_path / folder), {"PATH": "/usr/bin:/bin", **env}
    with pytest.raises(error) as expected:
        subprocess.run(argv, cwd=cwd, env=env, check=False)

    with pytest.raises(error) as found:
        start(*argv, cwd=cwd, env=env)

    assert str(found.value) == str(expected.value)
    assert getattr(found.value, "filename", None) == getattr(expected.value, "filename", None)


def test_popen_is_not_needed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where Python's own call is as it was in 3.11, that starts the child."""
    if door._fork_exec is None:
        pytest.skip("this Python has no such call")
    monkeypatch.delattr(subprocess, "Popen")

    pid = door._spawn_directly(("true",), str(tmp_path), {"PATH": os.environ["PATH"]}, 1, 2)

    assert pid is None  # 1 and 2 are the child's own numbers: Popen knows how to move them
    read, write = os.pipe()
    pid = door._spawn_directly(("true",), str(tmp_path), {"PATH": os.environ["PATH"]}, write, write)
    os.close(read)
    os.close(write)
    assert pid is not None
    assert os.waitpid(pid, 0)[1] == 0


def test_another_version_of_the_call_leaves_it_to_popen(
    monkeypatch: pytest.MonkeyPatch, start: Start, tmp_path: Path
) -> None:
    """A call that takes other arguments starts nothing."""

    def other() -> int:
        raise AssertionError

    monkeypatch.setattr(door, "_fork_exec", other)

    assert start("echo", "here", cwd=tmp_path, env={"PATH": "/usr/bin:/bin"}) == b"here\n"
