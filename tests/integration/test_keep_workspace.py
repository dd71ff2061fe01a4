"""`--keep-workspace`: what an agent did stays to be looked at, and nothing else does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command_line import Project, loads

LOGIN = ".claude/.credentials.json"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project whose user is logged in, with a temporary folder of its own."""
    home, temporary = tmp_path / "home", tmp_path / "temp"
    (home / LOGIN).parent.mkdir(parents=True)
    (home / LOGIN).write_text('{"token": "made-up"}', encoding="utf-8")
    temporary.mkdir()
    variables = {"HOME": str(home), "TMPDIR": str(temporary), "RUNNER_TEMP": ""}
    made = Project(tmp_path / "project", variables=variables)
    made.root.mkdir()
    (made.root / "notes.txt").write_text("mine", encoding="utf-8")
    return made


def left_in(project: Project) -> list[Path]:
    """What stands in the temporary folder."""
    return sorted(Path(project.variables["TMPDIR"]).iterdir())


def test_without_it_nothing_stays(project: Project) -> None:
    """Workspace, home and template are gone when the run is over."""
    project.write_cases(loads("one"))
    assert project.run().code == 0
    assert left_in(project) == []


def test_a_kept_workspace_is_told_in_the_row_and_at_the_end(project: Project) -> None:
    """Each unit's own, with what the agent saw, under a path that names no case and no agent."""
    project.write_cases(loads("one"), loads("two"))
    done = project.run("--keep-workspace")
    notes = [row[-1] for row in done.column("notes")]
    assert all(note.startswith("the workspace was kept: ") for note in notes)
    paths = [Path(note.rpartition(": ")[2]) for note in notes]
    assert len(set(paths)) == 2
    for case_id, path in zip(("one", "two"), paths, strict=True):
        assert (path / "notes.txt").read_text("utf-8") == "mine"
        assert not (path / "cases.json").exists()
        assert f"  claude:{case_id}  {path}\n" in done.stdout
        assert not {"claude", case_id, "routing"} & set(path.parts[-2:])


def test_no_login_is_kept(project: Project) -> None:
    """The agent's home goes: logins were copied in there, and agents refresh them there."""
    project.write_cases(loads("one"))
    done = project.run("--keep-workspace")
    assert "was copied into" in done.column("notes")[0][0]
    (folder,) = left_in(project)
    assert [path.name for path in folder.iterdir()] == ["repo"]
    assert list(folder.rglob("*credentials*")) == []


def test_a_run_that_is_gone_on_with_may_ask_for_it(project: Project) -> None:
    """It changes nothing that is measured, so it contradicts no batch."""
    project.write_cases(loads("one"))
    done = project.run()
    assert project.call("run", "--resume", str(done.artifacts), "--keep-workspace").code == 0


@pytest.mark.parametrize("words", [("--workspace", "shared"), ("--replay",)])
def test_where_there_is_none_to_keep_it_is_refused(
    project: Project, words: tuple[str, ...]
) -> None:
    """A shared workspace is the user's own, and a replay makes none."""
    project.write_cases(loads("one"))
    done = project.run("--keep-workspace", *words)
    assert done.code == 2
    assert "none to keep" in done.stderr
