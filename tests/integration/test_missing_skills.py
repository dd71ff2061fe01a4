"""Skills that the repository has and the checkout lacks: said before the run and in the row."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from routing_action.agents.discovery import all_providers
from routing_action.run.workspace.missing_skills import find_missing_skills
from tests.support.command_line import Project
from tests.support.repositories import Repository, create

SKILL = "---\nname: alpha\ndescription: Does alpha things.\n---\n"
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 900\n"
CASES = [
    {"case_id": "wanted", "prompt": "please load:alpha", "expected_skill": "alpha"},
    {"case_id": "unwanted", "prompt": "answer", "disallowed_skills": ["alpha"]},
    {"case_id": "other", "prompt": "please load:beta", "expected_skill": "beta"},
]


def clone(origin: Repository, *options: str) -> Path:
    """A clone without the submodules."""
    path = origin.path.parent / "a clone"
    origin.git("clone", "--quiet", *options, str(origin.path), str(path))
    return path


def link(origin: Repository, path: str, target: str) -> None:
    """A link in the repository."""
    place = origin.path / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(target)


def submodule(origin: Repository, path: str) -> None:
    """A submodule with the skill `alpha` right below it."""
    shared = create(origin.path.parent / "shared", {"alpha/SKILL.md": SKILL})
    add = ("submodule", "--quiet", "add", str(shared.path), path)
    origin.git("-c", "protocol.file.allow=always", *add)


def behind_a_link(origin: Repository, root: str) -> Path:
    submodule(origin, "vendor/shared")
    link(origin, f"{root}/alpha", "../../vendor/shared/alpha")
    origin.commit()
    return clone(origin)


def submodule_itself(origin: Repository, root: str) -> Path:
    submodule(origin, root)
    origin.commit()
    return clone(origin)


def left_out(origin: Repository, root: str) -> Path:
    origin.commit({f"{root}/alpha/SKILL.md": SKILL})
    path = clone(origin, "--sparse")
    Repository(path).git("sparse-checkout", "set", "--no-cone", "/*", f"!/{root}/alpha/")
    return path


def pointer(origin: Repository, root: str) -> Path:
    origin.commit({f"{root}/alpha/SKILL.md": POINTER})
    return clone(origin)


def dangling(origin: Repository, root: str) -> Path:
    link(origin, f"{root}/alpha", "../../gone/alpha")
    origin.commit()
    return clone(origin)


def dangling_file(origin: Repository, root: str) -> Path:
    link(origin, f"{root}/alpha/SKILL.md", "../gone.md")
    origin.commit()
    return clone(origin)


def escaping(origin: Repository, root: str) -> Path:
    link(origin, f"{root}/alpha", "../../../elsewhere/alpha")
    origin.commit()
    return clone(origin)


def absolute(origin: Repository, root: str) -> Path:
    link(origin, f"{root}/alpha", str(origin.path / "other"))
    origin.commit({"other/SKILL.md": SKILL})
    return clone(origin)


def loop(origin: Repository, root: str) -> Path:
    link(origin, f"{root}/alpha", "alpha")
    origin.commit()
    return clone(origin)


GONE: dict[Callable[[Repository, str], Path], str] = {
    behind_a_link: "the submodule vendor/shared is not checked out; .*`submodules: recursive`",
    submodule_itself: "the submodule .* is not checked out; .*`submodules: recursive`",
    left_out: "the sparse checkout leaves .* out; .*add the folder to `sparse-checkout`",
    pointer: "pointer of Git LFS, .*`lfs: true`",
    dangling: "leads to gone, which does not exist",
    dangling_file: "leads to .*/gone.md, which does not exist",
    escaping: "leads out of the repository",
    absolute: "leads out of the repository",
    loop: "leads back to itself",
}


@pytest.mark.parametrize("make", GONE, ids=lambda make: make.__name__)
def test_an_agent_is_not_started_for_a_skill_that_is_not_here(
    tmp_path: Path, make: Callable[[Repository, str], Path]
) -> None:
    """Neither its use nor its absence proves anything; the reason names the checkout's option."""
    origin = create(tmp_path / "origin", {"cases.json": json.dumps(CASES)})
    project = Project(make(origin, ".claude/skills"))
    done = project.run("--case-id", "wanted,unwanted")
    checked = project.call("cases", "check")
    assert re.search(GONE[make], checked.stdout)
    if "leads" in GONE[make]:  # nothing that could be fetched would bring it
        assert (done.code, "ARTIFACT_DIR" in done.stderr) == (2, False)
        assert re.search(f"cases.json:1: wanted: the skill alpha .*{GONE[make]}", done.stderr)
        assert project.run("--case-id", "other").column("status") == ["pass"]
        return
    rows = done.results["results"]
    assert [(row["status"], row["outcome"]) for row in rows] == [("infra_error", "not_run")] * 2
    before, _, _ = done.stderr.partition(" -> ")
    for text in (before, rows[0]["error"], rows[1]["error"], done.stdout):
        said = " ".join(text.split())
        assert re.search(GONE[make], said), said


@pytest.mark.parametrize(
    ("agent", "make"),
    [
        *(("opencode", make) for make in GONE),
        *((agent, next(iter(GONE))) for agent in ("claude", "codex", "copilot", "gemini")),
    ],
)
def test_every_agent_s_folders_are_looked_at(
    tmp_path: Path, agent: str, make: Callable[[Repository, str], Path]
) -> None:
    """The kind is the same on all of them."""
    folders = all_providers()[agent].skill_folders
    origin = create(tmp_path / "origin", {"cases.json": "[]"})
    (found,) = find_missing_skills(make(origin, folders[-1]), folders)
    assert re.search(GONE[make], found.why)


def test_other_skills_are_measured_all_the_same(tmp_path: Path) -> None:
    """And so is the missing one where it is staged from somewhere else."""
    skills = {".claude/skills/beta/SKILL.md": SKILL.replace("alpha", "beta")}
    origin = create(tmp_path / "origin", {"cases.json": json.dumps(CASES), **skills})
    project = Project(dangling(origin, ".claude/skills"))
    assert project.run("--case-id", "other").column("status") == ["pass"]
    staged = tmp_path / "staged" / "alpha" / "SKILL.md"
    staged.parent.mkdir(parents=True)
    staged.write_text(SKILL, encoding="utf-8")
    done = project.run("--case-id", "wanted", "--skills", str(tmp_path / "staged"))
    assert done.column("status") == ["pass"]


@pytest.mark.parametrize("kind", ["whole", "deleted", "no skill", "linked", "no git"])
def test_a_skill_that_is_here_or_never_was_is_not_missing(tmp_path: Path, kind: str) -> None:
    """A deleted skill is a change to be judged, not an accident of the checkout."""
    root = ".claude/skills"
    origin = create(tmp_path / "origin", {f"{root}/alpha/SKILL.md": SKILL, "x/a.txt": "x"})
    if kind == "linked":
        origin.git("mv", f"{root}/alpha", "alpha")
        link(origin, f"{root}/alpha", "../../alpha")
    if kind == "no skill":
        link(origin, f"{root}/assets", "../../x")
    origin.commit({"more.txt": "x"})
    path = clone(origin)
    if kind == "deleted":
        (path / root / "alpha" / "SKILL.md").unlink()
    if kind == "no git":
        (path / ".git").rename(tmp_path / "git")
    assert find_missing_skills(path, [root, ".agents/skills"]) == ()


def test_a_new_case_file_names_what_its_skills_lack(tmp_path: Path) -> None:
    """`cases init` on a folder of links into a submodule."""
    origin = create(tmp_path / "origin", {"README.md": "x"})
    project = Project(behind_a_link(origin, ".claude/skills"))
    done = project.call("cases", "init", "--skills", ".claude/skills")
    assert done.code == 2
    assert "check out with `submodules: recursive`" in done.stderr
