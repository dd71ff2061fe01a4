"""What a release is built from: the same bytes wherever it is built, and all that a user needs."""

from __future__ import annotations

import os
import shutil
import subprocess
import tomllib
import webbrowser
from pathlib import Path

import pytest

from routing_action import __version__
from routing_action.cli.demo import FILES
from routing_action.files.program import name_own_program
from tests.support.command_line import ROOT, run_command

CHANGES = """\
# Changelog

## [Unreleased]

- later

## [0.1.0] - 2026-01-01

### Added

- this

## [0.0.9]

- earlier

[0.1.0]: https://example.com
"""


def build(root: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    # A copy makes an environment of its own: that of another checkout would be removed.
    own = {} if root == ROOT else {"ROUTING_ACTION_VENV": f"{root}/.venv"}
    return subprocess.run(
        [root / "scripts" / "build.sh", *words],
        env={**os.environ, **own},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The scripts, in a checkout of their own with the version 0.1.0."""
    folder = tmp_path / "a copy"
    shutil.copytree(ROOT / "scripts", folder / "scripts")
    package = folder / "src" / "routing_action"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text('"""A copy."""\n\n__version__ = "0.1.0"\n', "utf-8")
    (folder / "CHANGELOG.md").write_text(CHANGES, encoding="utf-8")
    return folder


def test_the_notes_of_a_release_are_its_section(copy: Path) -> None:
    """Without the heading, the other versions and the links at the end."""
    done = build(copy, "--notes", "0.1.0")
    assert (done.returncode, done.stdout.strip()) == (0, "### Added\n\n- this")


@pytest.mark.parametrize(
    ("version", "heading", "cause"),
    [
        ("0.1.1", "[0.1.0]", "the version is 0.1.0 in src/routing_action/__init__.py, not 0.1.1"),
        ("0.1.0", "[0.1.00]", "CHANGELOG.md says nothing of 0.1.0"),
        ("0.1.0", "[0.1.0]\n\n## [x]", "CHANGELOG.md says nothing of 0.1.0"),
    ],
)
def test_a_version_without_notes_is_no_release(
    copy: Path, version: str, heading: str, cause: str
) -> None:
    """The reason is named."""
    text = CHANGES.replace("[0.1.0]", heading, 1)
    (copy / "CHANGELOG.md").write_text(text, encoding="utf-8")
    done = build(copy, "--notes", version)
    assert (done.returncode, done.stdout, done.stderr.strip()) == (1, "", cause)


def test_a_file_that_git_does_not_track_gets_into_no_package(copy: Path) -> None:
    """It was left there by chance, and would be published without a word."""
    for words in (("init", "--quiet"), ("add", ".")):
        subprocess.run(["git", *words], cwd=copy, check=True)
    (copy / ".gitignore").write_text("*.pyc\n", encoding="utf-8")
    for name in ("ignored.pyc", "stray.py"):
        (copy / "src" / "routing_action" / name).write_text("", encoding="utf-8")
    done = build(copy, copy / "built")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines() == [
        "git does not track these files; add or remove them:", "src/routing_action/stray.py",
    ]  # fmt: skip


def test_the_packages_hold_what_the_demo_needs() -> None:
    """The wheel under the names that the demo looks for, the sdist in its place in a checkout."""
    targets = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]
    wheel = targets["targets"]["wheel"]["force-include"]
    demo = {place: f"routing_action/demo/{name}" for name, place in FILES.items()}
    assert wheel == {"templates": "routing_action/templates", **demo}
    assert {f"/{place}" for place in wheel} <= set(targets["targets"]["sdist"]["include"])


def test_the_demo_touches_no_folder_that_holds_something(tmp_path: Path) -> None:
    """Nor a file."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes").write_text("kept", encoding="utf-8")
    for name in ("mine", "mine/notes"):
        done = run_command(["demo", "--dir", name], tmp_path, {})
        assert done.code == 2
        assert f"--dir {name}: it exists, and is no empty folder" in done.stderr
    assert (tmp_path / "mine" / "notes").read_text("utf-8") == "kept"


@pytest.mark.slow
def test_the_demo_shows_both_gates_and_opens_its_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends well though the second gate is red, as recorded."""
    opened: list[str] = []

    def open_page(url: str) -> bool:
        opened.append(url)
        return True

    monkeypatch.setattr(webbrowser, "open", open_page)
    try:
        done = run_command(["demo", "--dir", "shown", "--open"], tmp_path, {"PATH": ""})
    finally:
        name_own_program("routing-action")
    assert done.code == 0, done.stderr
    assert "Two pairs fail at first. The baseline knows both" in done.stdout
    assert done.stdout.count("\n70 OK, 2 known failures\n") == 1
    assert "72 recorded runs: 70 pass, 2 fail; took " in done.stdout
    assert "agent time" not in done.stdout
    gates = [line for line in done.stdout.splitlines() if line.startswith("gate: ")]
    assert gates == [
        "gate: Routing is as expected", "gate: Routing gate failed: 2 regressions",
    ]  # fmt: skip
    report = Path(done.stdout.splitlines()[-1])
    assert opened == [report.as_uri()]
    assert report == tmp_path / "shown" / "report.html"
    assert "regressed-routing" in report.read_text("utf-8")
    assert os.listdir(tmp_path) == ["shown"]  # noqa: PTH208 - names alone


@pytest.mark.slow
def test_two_builds_in_two_places_give_the_same_bytes(tmp_path: Path) -> None:
    """Nothing of the folder, the hour, the rights of files or what lies beside them gets in."""
    elsewhere = tmp_path / "else where"
    names = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.split("\0")  # fmt: skip
    for name in filter(None, names):
        (elsewhere / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, elsewhere / name, follow_symlinks=False)
    (elsewhere / "src" / "routing_action" / "left.pyc").write_text("x", encoding="utf-8")
    (elsewhere / "scripts" / "build.sh").chmod(0o755)
    for root, to in ((ROOT, "one"), (elsewhere, "two")):
        done = build(root, tmp_path / to)
        assert done.returncode == 0, done.stdout + done.stderr
        assert ("warning: no git checkout" in done.stderr) == (to == "two")
    one, two = ({path.name: path.read_bytes() for path in (tmp_path / to).iterdir()}
                for to in ("one", "two"))  # fmt: skip
    assert len(one) == 4
    assert one == two
    assert f"routing_action-{__version__}.tar.gz" in one


@pytest.mark.slow
@pytest.mark.parametrize("minor", range(11, 15))
def test_each_python_runs_the_wheel_and_the_sdist(minor: int, tmp_path: Path) -> None:
    """In an empty folder, with no other program on PATH."""
    python = find_python(minor)
    if python is None:
        pytest.skip(f"there is no Python 3.{minor} on this machine")
    done = build(ROOT, tmp_path / "built")
    assert done.returncode == 0, done.stdout + done.stderr
    done = subprocess.run(
        [ROOT / "scripts" / "try-packages.sh", tmp_path / "built"],
        env={**os.environ, "PYTHON": python},
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(f"with Python 3.{minor}.") == 2
    assert done.stdout.count("the report is there: report.html") == 2


def find_python(minor: int) -> str | None:
    """One of this version that works, on PATH or by pyenv; a stand-in of pyenv on PATH need not."""
    by_pyenv = Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python")
    for program in (f"python3.{minor}", *map(str, by_pyenv)):
        known = shutil.which(program)
        if known is None:
            continue
        done = subprocess.run([known, "-I", "-V"], capture_output=True, check=False)
        if done.returncode == 0:
            return known
    return None
