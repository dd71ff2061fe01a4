"""The lines that docs/how-to/install.md shows for an index, run as they stand with a local one."""

from __future__ import annotations

import hashlib
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from routing_action import __version__
from tests.support.command_line import ROOT
from tests.support.doc_pages import DOCS, steps_of

pytestmark = pytest.mark.slow

BLOCKS = [
    step.commands
    for step in steps_of((DOCS / "how-to" / "install.md").read_text("utf-8"))
    if "test_install_lines.py" in step.reason
]
ONE_OF_TWO = [line for block in BLOCKS[:2] for line in block]
IN_TURN = " && ".join(BLOCKS[2])


class Quiet(SimpleHTTPRequestHandler):
    """Says nothing of requests."""

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An index on loopback that has the wheel of this version, and no other package."""
    folder = tmp_path_factory.mktemp("index")
    pages = folder / "simple" / "routing-action"
    subprocess.run([ROOT / "scripts" / "build.sh", pages], capture_output=True, check=True)
    (wheel,) = pages.glob("*.whl")
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    link = f'<!DOCTYPE html><a href="{wheel.name}#sha256={digest}">{wheel.name}</a>'
    (pages / "index.html").write_text(link, encoding="utf-8")
    handler = partial(Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/simple/"
        server.shutdown()


@pytest.mark.parametrize("line", [*ONE_OF_TWO, IN_TURN])
def test_a_line_gives_a_program_that_runs(line: str, index: str, tmp_path: Path) -> None:
    """In an empty home; other packages come from where the machine gets them."""
    home, work, tools = tmp_path / "home", tmp_path / "work", tmp_path / "tools"
    work.mkdir()
    tools.mkdir()
    for name in ("pipx", "uv", "uvx"):
        (tools / name).symlink_to(Path(sys.executable).with_name(name))
    cache = os.environ.get("UV_CACHE_DIR") or str(Path.home() / ".cache" / "uv")
    environment = {
        **{name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_"))},
        "HOME": str(home),
        "TMPDIR": str(work),
        "PATH": os.pathsep.join([str(home / ".local" / "bin"), str(tools), *system_path()]),
        "PIP_EXTRA_INDEX_URL": index,
        "UV_INDEX": index,
        "UV_CACHE_DIR": cache,
        "UV_NO_PROGRESS": "1",
    }
    shows = "" if line.endswith(" demo") else " && routing-action --version"
    done = subprocess.run(
        ["/usr/bin/env", "bash", "-c", f"{line}{shows}"],
        cwd=work, env=environment, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    if shows:
        assert done.stdout.splitlines()[-1] == f"routing-action {__version__}"
    else:
        report = Path(done.stdout.splitlines()[-1])
        assert report.is_relative_to(work)
        assert report.is_file()
        # The environment that started it is not on PATH when its commands are pasted.
        shown_as = next(one for one in done.stdout.splitlines() if one.startswith("$ "))
        assert os.access(shlex.split(shown_as)[1], os.X_OK)


def test_the_line_for_the_pin_prints_the_commit_of_an_annotated_tag(tmp_path: Path) -> None:
    """Not the tag's own object, which no workflow can check out by."""
    text = (DOCS / "how-to" / "install.md").read_text("utf-8")
    (line,) = (one for step in steps_of(text) for one in step.commands if "ls-remote" in one)

    def call(*words: str) -> str:
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    own = ("-c", "user.name=A", "-c", "user.email=a@example.com")
    call("git", "init", "--quiet")
    call("git", *own, "commit", "--quiet", "--allow-empty", "--message", "one")
    call("git", *own, "tag", "--annotate", f"v{__version__}", "--message", "one")
    printed = call("bash", "-c", line.replace("https://github.com/OWNER/routing-action", "."))
    assert printed.split() == [call("git", "rev-parse", "HEAD"), f"refs/tags/v{__version__}^{{}}"]


def system_path() -> list[str]:
    """Where programs are, without those of the environment that the tests run in."""
    own = str(Path(sys.executable).parent)
    return [folder for folder in os.environ["PATH"].split(os.pathsep) if folder != own]


def test_every_line_is_there() -> None:
    """The page still shows the ways that are tried."""
    assert [line.split()[0] for line in ONE_OF_TWO] == ["uvx", "pipx", "uv", "pipx"]
    assert f"pip install routing-action=={__version__}" in IN_TURN
    assert all(f"{__version__}" in line for line in ONE_OF_TWO)
