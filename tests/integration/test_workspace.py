"""Each unit gets a copy of the repository of its own, in which nothing tells the answers."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from io import StringIO
from pathlib import Path

import pytest

from routing_action.errors import HarnessError
from routing_action.files.removal import remove_tree
from routing_action.github.publication import RunLinks
from routing_action.report.html.write import write_html
from routing_action.report.markdown import render_comment
from routing_action.results.batch_folder import render_results
from routing_action.run.workspace.template import (
    WorkspaceTemplate,
    choose_temp_root,
    new_folder,
)
from routing_action.run.workspace.visible_files import Tree, copy_tree
from tests.support.report_values import make_delta, make_regression
from tests.support.result_rows import make_results, make_row
from tests.support.sandbox import files_below, git, ordinary_user, repository, run_agent, write

ANSWER = "widget-testing-is-the-answer"
BATCH = "0b9b4a8e-93f4-4c2e-9a53-6f1f6f1d7a10"
Build = Callable[..., WorkspaceTemplate]


@pytest.fixture(name="temp_root")
def make_temp_root(tmp_path: Path) -> Path:
    """A temporary folder outside the repositories of the tests."""
    folder = tmp_path / "temp"
    folder.mkdir()
    return folder


def workspace_of(repo: Path, temp_root: Path, *hidden: Path | str) -> Path:
    """The workspace of one unit on a repository."""
    template = WorkspaceTemplate.build(repo, temp_root, hidden=hidden)
    return template.make_workspace(new_folder(temp_root))


# --- what is in it ------------------------------------------------------------------------------


def test_a_dirty_tree_is_copied_as_it_is(tmp_path: Path, temp_root: Path) -> None:
    """Changes and new files come along; ignored and deleted ones do not."""
    repo = repository(
        tmp_path / "a repo",
        {"a.txt": "old", "b.txt": "b", "gone.txt": "g", ".gitignore": "*.log\nsecret/\n"},
    )
    write(repo, {"a.txt": "new", "sub dir/new file.txt": "n", "x.log": "l", "secret/key": "k"})
    (repo / "gone.txt").unlink()

    path = workspace_of(repo, temp_root)

    assert files_below(path) == [".gitignore", "a.txt", "b.txt", "sub dir/new file.txt"]
    assert (path / "a.txt").read_text() == "new"


def test_executable_files_stay_executable(tmp_path: Path, temp_root: Path) -> None:
    """A script that the repository marks as a program can be run."""
    repo = repository(tmp_path / "repo", {"run.sh": "#!/bin/sh\n", "read.me": "x"})
    (repo / "run.sh").chmod(0o755)
    (repo / "read.me").chmod(0o400)

    path = workspace_of(repo, temp_root)

    assert os.access(path / "run.sh", os.X_OK)
    assert (path / "read.me").stat().st_mode & 0o777 == 0o644


def test_the_workspace_is_a_fresh_repository_with_one_commit(
    tmp_path: Path, temp_root: Path
) -> None:
    """No history, no remote, no hook, nobody's name; `git status` is clean."""
    repo = repository(tmp_path / "repo", {"a": "1", "ignored.log": "kept, as it is tracked"})
    write(repo, {"a": "2", ".gitignore": "*.log\n"})
    git(repo, "commit", "--all", "--quiet", "-m", "second")
    git(repo, "remote", "add", "origin", "https://example.org/repo.git")

    path = workspace_of(repo, temp_root)

    assert (
        git(path, "log", "--all", "--format=%an %cn %s") == "Developer Developer Initial commit\n"
    )
    assert git(path, "status", "--porcelain", "--ignored") == ""
    assert git(path, "remote") == ""
    assert git(path, "fsck", "--no-progress") == ""
    assert git(path, "ls-files").split() == [".gitignore", "a", "ignored.log"]
    assert not list((path / ".git").glob("hooks/*"))
    assert str(repo) not in (path / ".git" / "config").read_text()


def test_an_agent_can_commit_without_a_configuration(tmp_path: Path, temp_root: Path) -> None:
    """The workspace brings an author, so that `git commit` does not fail for lack of one."""
    path = workspace_of(repository(tmp_path / "repo", {"a": "1"}), temp_root)
    write(path, {"b": "2"})
    git(path, "add", "b")
    git(path, "-c", "user.useConfigOnly=true", "commit", "--quiet", "-m", "mine")
    assert git(path, "log", "--oneline").count("\n") == 2


def test_attributes_and_filters_do_not_change_a_byte(tmp_path: Path, temp_root: Path) -> None:
    """Line endings, encodings and large-file filters of the repository do not stop the copy."""
    repo = repository(tmp_path / "repo", {"a.txt": "x"})
    (repo / "a.txt").write_bytes(b"one\r\ntwo\n")
    (repo / "w.txt").write_bytes(b"\xff\xfe\xff")
    write(repo, {"f.bin": "f"})
    write(
        repo,
        {
            ".gitattributes": "*.txt text=auto eol=crlf\nw.txt working-tree-encoding=UTF-16\n"
            "*.bin filter=lfs\n"
        },
    )
    path = workspace_of(repo, temp_root)
    assert (path / "a.txt").read_bytes() == b"one\r\ntwo\n"
    assert (path / "w.txt").read_bytes() == b"\xff\xfe\xff"
    assert git(path, "status", "--porcelain") == ""
    assert git(path, "show", "HEAD:a.txt") == "one\r\ntwo\n"


def test_odd_file_names_are_copied(tmp_path: Path, temp_root: Path) -> None:
    """Newlines, quotes, backslashes and bytes that are no UTF-8 are part of names."""
    repo = repository(tmp_path / "repo", {"a\nb": "1", '"q"': "2", "back\\slash": "3", " ": "4"})
    (repo / os.fsdecode(b"caf\xe9")).write_text("5")
    write(repo, {"deep/.GIT/config": "[core]\n"})
    path = workspace_of(repo, temp_root)
    names = {name for name in os.listdir(path) if name != ".git"}  # noqa: PTH208
    assert names == {"a\nb", '"q"', "back\\slash", " ", os.fsdecode(b"caf\xe9")}


@pytest.mark.slow
def test_two_thousand_files_are_copied(tmp_path: Path, temp_root: Path) -> None:
    """A repository of ordinary size works, and git needs to read no file to call it clean."""
    files = {f"d{number % 40}/f{number}.txt": f"{number}\n" for number in range(2000)}
    path = workspace_of(repository(tmp_path / "repo", files), temp_root)
    assert len(files_below(path)) == 2000
    assert git(path, "diff-files", "--name-only") == ""
    assert len(list((path / ".git").rglob("*"))) < 40


def test_a_subfolder_of_a_repository_is_the_whole_workspace(
    tmp_path: Path, temp_root: Path
) -> None:
    """Only what lies below the named folder is copied, with the ignore rules from above."""
    repo = repository(tmp_path / "repo", {"out.txt": "o", "in/a.txt": "a", ".gitignore": "*.log"})
    write(repo, {"in/x.log": "x"})
    assert files_below(workspace_of(repo / "in", temp_root)) == ["a.txt"]


def test_a_folder_without_git_is_copied_without_caches(tmp_path: Path, temp_root: Path) -> None:
    """Any folder will do; obvious caches are left out."""
    repo = tmp_path / "plain"
    write(
        repo,
        {
            "a.txt": "a",
            "sub/b.txt": "b",
            "node_modules/m.js": "",
            "sub/__pycache__/c.pyc": "",
            ".venv/bin/python": "",
        },
    )
    assert files_below(workspace_of(repo, temp_root)) == ["a.txt", "sub/b.txt"]


def test_a_folder_that_git_ignores_is_copied_whole(tmp_path: Path, temp_root: Path) -> None:
    """A checkout inside an ignored folder of another repository is not taken for empty."""
    repo = repository(tmp_path / "repo", {".gitignore": "inner/\n"})
    write(repo, {"inner/a.txt": "a"})
    template = WorkspaceTemplate.build(repo / "inner", temp_root)
    path = template.make_workspace(new_folder(temp_root))
    assert files_below(path) == ["a.txt"]
    assert template.notes == ("git ignores the whole folder, so all its files were taken",)


def test_an_empty_folder_gives_an_empty_repository(tmp_path: Path, temp_root: Path) -> None:
    """Nothing to copy is no error."""
    (tmp_path / "empty").mkdir()
    path = workspace_of(tmp_path / "empty", temp_root)
    assert files_below(path) == []
    assert git(path, "log", "--format=%s") == "Initial commit\n"


def test_a_repository_without_a_commit_is_copied(tmp_path: Path, temp_root: Path) -> None:
    """What is staged or untracked counts, though there is no HEAD yet."""
    repo = tmp_path / "repo"
    write(repo, {"a": "1", "b": "2"})
    git(repo, "init", "--quiet")
    git(repo, "add", "a")
    assert files_below(workspace_of(repo, temp_root)) == ["a", "b"]


# --- submodules and other repositories --------------------------------------------------------


def test_the_files_of_a_submodule_come_along(tmp_path: Path, temp_root: Path) -> None:
    """A checked-out submodule is plain files in the workspace, without its history."""
    library = repository(tmp_path / "library", {"lib.txt": "l", ".gitignore": "*.o\n"})
    repo = repository(tmp_path / "repo", {"a": "1"})
    git(repo, "submodule", "--quiet", "add", str(library), "libs/one")
    write(repo, {"libs/one/new.txt": "n", "libs/one/x.o": "o"})

    path = workspace_of(repo, temp_root)

    assert files_below(path) == [
        ".gitmodules",
        "a",
        "libs/one/.gitignore",
        "libs/one/lib.txt",
        "libs/one/new.txt",
    ]
    assert not (path / "libs/one/.git").exists()
    assert git(path, "status", "--porcelain") == ""


def test_a_submodule_that_is_not_checked_out_is_named(tmp_path: Path, temp_root: Path) -> None:
    """A workspace that lacks files says so."""
    library = repository(tmp_path / "library", {"lib.txt": "l"})
    origin = repository(tmp_path / "origin", {"a": "1"})
    git(origin, "submodule", "--quiet", "add", str(library), "lib")
    git(origin, "commit", "--quiet", "-m", "with a submodule")
    git(tmp_path, "clone", "--quiet", str(origin), "repo")

    template = WorkspaceTemplate.build(tmp_path / "repo", temp_root)

    assert template.notes == ("submodule lib/ is not checked out",)


def test_a_submodule_with_a_broken_repository_gives_its_files(
    tmp_path: Path, temp_root: Path
) -> None:
    """A checkout that was copied without its git folder is still a folder of files."""
    library = repository(tmp_path / "library", {"lib.txt": "l"})
    repo = repository(tmp_path / "repo", {"a": "1"})
    git(repo, "submodule", "--quiet", "add", str(library), "lib")
    (repo / "lib/.git").write_text("gitdir: ../nowhere\n")
    assert "lib/lib.txt" in files_below(workspace_of(repo, temp_root))


def test_another_checkout_inside_the_repository_is_left_out(
    tmp_path: Path, temp_root: Path
) -> None:
    """A second checkout (of the base branch, say) would hold the answer key once more."""
    repo = repository(tmp_path / "repo", {"a": "1"})
    repository(repo / "base", {"cases.json": ANSWER})
    template = WorkspaceTemplate.build(repo, temp_root)
    path = template.make_workspace(new_folder(temp_root))
    assert files_below(path) == ["a"]
    assert template.notes == ("base/ is a repository of its own and was left out",)


# --- answer keys --------------------------------------------------------------------------------

LOOK_UPWARD = """
import json, os, pathlib
found = []
here = pathlib.Path.cwd()
for folder in (here, *here.parents):
    walk = folder.rglob("*") if folder == here else folder.glob("*")
    for path in walk:
        try:
            if path.is_file() and b"widget-testing-is-the-answer" in path.read_bytes():
                found.append(str(path))
        except OSError:
            pass
print(json.dumps(found))
"""


@pytest.mark.parametrize("is_git", [True, False])
def test_p8_an_agent_that_searches_upwards_finds_no_answer_key(
    tmp_path: Path, temp_root: Path, is_git: bool
) -> None:
    """Neither its workspace nor any folder above holds what is expected of it (P8)."""
    keys = dict.fromkeys(
        (
            "cases.json",
            "provider-baseline.json",
            "tests/agent-routing/cases.json",
            "tests/agent-routing/artifacts/x/results.json",
            "tests/recordings/replay/claude/one.stdout",
            "corpus/mine.json",
            f"old runs/{BATCH}/results.json",
            f"old runs/{BATCH}/transcripts/u.stdout",
            f"old runs/{BATCH}/tool-use-proof.log",
            "downloads/routing-results-claude-a2/anything.txt",
            "kept/tool-use-proof.log",
            "kept/results.json",
        ),
        ANSWER,
    )
    repo = tmp_path / "repo"
    write(repo, {**keys, "a.txt": "a", "kept/notes.txt": "n", "data/results.json": "{}"})
    if is_git:
        repository(repo, {})

    path = workspace_of(repo, temp_root, "corpus/mine.json")

    assert run_agent(LOOK_UPWARD, path, {}) == []
    assert files_below(path) == ["a.txt", "data/results.json", "kept/notes.txt"]


def test_p8_a_report_of_ours_is_left_out_whatever_its_name(tmp_path: Path, temp_root: Path) -> None:
    """A delta, results, the page and the comment hold prompts and expectations (P8)."""
    delta = make_delta(make_regression("widget"))
    page = StringIO()
    write_html(page, delta, (), RunLinks())
    reports = {
        "delta.json": delta.model_dump_json(indent=2),
        "one-line.json": delta.model_dump_json(),
        "docs/copied.json": render_results(make_results(make_row())),
        "report.html": page.getvalue(),
        "site/Page.HTML": page.getvalue(),
        "comment.md": render_comment(delta, RunLinks()),
    }
    kept = {
        "a.json": '{"schema_version": 1}',
        "b.json": '{"conclusion": "x"}',
        "c.html": "<html></html>",
        "d.md": "> [!NOTE]\n> **Mind** this.\n",
        "e.json": "[]",
        "empty.json": "",
    }
    repo = repository(tmp_path / "repo", kept)
    write(repo, reports)
    (repo / "link.json").symlink_to("a.json")
    assert files_below(workspace_of(repo, temp_root)) == [*sorted(kept), "link.json"]


def test_the_answer_is_not_in_the_history(tmp_path: Path, temp_root: Path) -> None:
    """What the repository's older commits hold cannot be dug out."""
    repo = repository(tmp_path / "repo", {"a": "1", "notes.txt": ANSWER})
    git(repo, "rm", "--quiet", "notes.txt")
    git(repo, "commit", "--quiet", "-m", "gone")
    path = workspace_of(repo, temp_root)
    assert ANSWER not in git(path, "log", "-p", "--all", "--reflog")
    assert git(path, "rev-list", "--all", "--objects", "--count").strip() == "3"


def test_a_case_file_behind_a_link_is_hidden_too(tmp_path: Path, temp_root: Path) -> None:
    """Hiding a link hides what it names."""
    repo = repository(tmp_path / "repo", {"corpus/real.json": ANSWER, "a": "1"})
    (repo / "cases.json").symlink_to("corpus/real.json")
    assert files_below(workspace_of(repo, temp_root)) == ["a"]


def test_a_workspace_has_a_random_name_outside_the_repository(
    tmp_path: Path, temp_root: Path
) -> None:
    """The path of a workspace tells nothing of the case, the provider or the repository."""
    repo = repository(tmp_path / "widget-repo", {"a": "1"})
    template = WorkspaceTemplate.build(repo, temp_root)
    paths = {template.make_workspace(new_folder(temp_root)) for _ in range(5)}
    assert len(paths) == 5
    for path in paths:
        assert "widget" not in str(path.relative_to(tmp_path))
        assert not path.is_relative_to(repo)


def test_a_temporary_folder_inside_the_repository_is_refused(tmp_path: Path) -> None:
    """There, an agent that looks upwards would meet the case file."""
    repo = repository(tmp_path / "repo", {"a": "1"})
    (repo / "tmp").mkdir()
    with pytest.raises(HarnessError, match="set TMPDIR"):
        WorkspaceTemplate.build(repo, repo / "tmp")


def test_the_temporary_folder_is_outside_the_repository(tmp_path: Path) -> None:
    """Candidates that are empty, missing or inside the repository are passed over."""
    repo = tmp_path / "repo"
    (repo / "tmp").mkdir(parents=True)
    other = tmp_path / "other"
    other.mkdir()
    assert choose_temp_root(repo, ["", repo / "tmp", tmp_path / "missing", other]) == other


def test_a_temporary_folder_far_from_the_repository_goes_first(tmp_path: Path) -> None:
    """An agent that searches a few levels upwards must not get near the repository."""
    near = tmp_path / "near"
    near.mkdir()
    places = [one for one in map(Path, ("/dev/shm", "/var/tmp")) if os.access(one, os.W_OK)]
    far = next((one for one in places if one.parts[1] != tmp_path.parts[1]), None)
    if far is None:
        pytest.skip("there is no second place for temporary files")
    assert choose_temp_root(tmp_path / "repo", [near, far]) == far


# --- links --------------------------------------------------------------------------------------


def test_links_that_leave_the_tree_are_dropped(tmp_path: Path, temp_root: Path) -> None:
    """No link of the repository, by whatever way, leads an agent to another place."""
    write(tmp_path, {"outside/secret.txt": ANSWER})
    repo = repository(tmp_path / "repo", {"sub/a.txt": "a", "b.txt": "b"})
    links = {
        "absolute": str(tmp_path / "outside/secret.txt"),
        "absolute-inside": str(repo / "b.txt"),
        "upward": "../outside/secret.txt",
        "back-again": "../repo/b.txt",
        "folder": "../outside",
        "first": "second",
        "second": "sub/third",
        "sub/third": "../../outside",
        "here": ".",
        "tricky": "here/../outside/secret.txt",
        "loop": "pool",
        "pool": "loop",
    }
    for name, target in links.items():
        (repo / name).symlink_to(target)
    kept = {"good": "sub/a.txt", "sub/up": "../b.txt", "to-folder": "sub", "dangling": "nothing"}
    for name, target in kept.items():
        (repo / name).symlink_to(target)

    template = WorkspaceTemplate.build(repo, temp_root)
    path = template.make_workspace(new_folder(temp_root))

    assert files_below(path) == sorted(["b.txt", "sub/a.txt", "here", *kept])
    assert (path / "good").read_text() == "a"
    assert str((path / "sub/up").readlink()) == "../b.txt"
    (note,) = template.notes
    assert note == (
        "left out (links out of the tree): "
        "absolute, absolute-inside, back-again, first, folder and 6 more"
    )


def test_a_folder_that_became_a_link_is_not_followed(tmp_path: Path, temp_root: Path) -> None:
    """A tracked path below a link would otherwise be read outside of the tree."""
    write(tmp_path, {"outside/a.txt": ANSWER})
    repo = repository(tmp_path / "repo", {"sub/a.txt": "a", "b.txt": "b"})
    (repo / "sub/a.txt").unlink()
    (repo / "sub").rmdir()
    (repo / "sub").symlink_to("../outside")
    assert files_below(workspace_of(repo, temp_root)) == ["b.txt"]


def test_pipes_and_sockets_are_left_out(tmp_path: Path, temp_root: Path) -> None:
    """Nothing waits for the other end of a pipe."""
    repo = tmp_path / "plain"
    write(repo, {"a": "1"})
    os.mkfifo(repo / "pipe")
    assert files_below(workspace_of(repo, temp_root)) == ["a"]


# --- many units ---------------------------------------------------------------------------------

LIST_AND_LEAVE = """
import json, os, pathlib, time
mark = os.environ["MARK"]
pathlib.Path("mark-" + mark).write_text(mark)
pathlib.Path("a.txt").write_text(mark)
time.sleep(0.05)
names = sorted(n for n in os.listdir() if n != ".git")
print(json.dumps([names, pathlib.Path("a.txt").read_text()]))
"""


def test_p5_each_of_many_agents_sees_its_own_files_alone(tmp_path: Path, temp_root: Path) -> None:
    """Units that run at once share no file, and leave the template as it was (P5)."""
    repo = repository(tmp_path / "repo", {"a.txt": "a"})
    template = WorkspaceTemplate.build(repo, temp_root)

    def work(number: int) -> object:
        workspace = template.make_workspace(new_folder(temp_root))
        return run_agent(LIST_AND_LEAVE, workspace, {"MARK": str(number)})

    with ThreadPoolExecutor(8) as pool:
        seen = list(pool.map(work, range(8)))

    assert seen == [[["a.txt", f"mark-{number}"], str(number)] for number in range(8)]
    assert (repo / "a.txt").read_text() == "a"
    assert (template.path / "a.txt").read_text() == "a"


def test_a_derived_template_holds_what_was_prepared_in_its_one_commit(
    tmp_path: Path, temp_root: Path
) -> None:
    """Staged files are no change that an agent would see in `git status`."""
    repo = repository(tmp_path / "repo", {"a.txt": "a"})
    template = WorkspaceTemplate.build(repo, temp_root)

    def prepare(folder: Path) -> list[str]:
        write(folder, {"skills/one/SKILL.md": "s"})
        return ["staged one"]

    derived = template.derive(prepare)
    path = derived.make_workspace(new_folder(temp_root))

    assert files_below(path) == ["a.txt", "skills/one/SKILL.md"]
    assert git(path, "status", "--porcelain") == ""
    assert git(path, "log", "--oneline").count("\n") == 1
    assert derived.notes == ("staged one",)
    assert files_below(template.make_workspace(new_folder(temp_root))) == ["a.txt"]


def test_the_callers_git_environment_does_not_act(
    tmp_path: Path, temp_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hook that runs us exports GIT_DIR; the user's templates and hooks stay out."""
    other = repository(tmp_path / "other", {"other.txt": "o"})
    hooks = tmp_path / "template/hooks"
    write(hooks, {"post-commit": "#!/bin/sh\ntouch ran\n"})
    (hooks / "post-commit").chmod(0o755)
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git/index"))
    monkeypatch.setenv("GIT_TEMPLATE_DIR", str(hooks.parent))
    repo = repository(tmp_path / "repo", {"a.txt": "a"})
    git(repo, "config", "core.hooksPath", str(hooks))
    git(repo, "config", "core.fsmonitor", str(hooks / "post-commit"))
    assert files_below(workspace_of(repo, temp_root)) == ["a.txt"]
    assert not (repo / "ran").exists()


def test_what_cannot_be_read_is_left_out_and_named() -> None:
    """A file or folder of another user does not stop a batch."""
    with ordinary_user() as base:
        repo = base / "repo"
        write(repo, {"a": "1", "closed": "c", "folder/b": "2"})
        (repo / "closed").chmod(0)
        (repo / "folder").chmod(0)
        template = WorkspaceTemplate.build(repo, base)
        path = template.make_workspace(new_folder(base))
        assert files_below(path) == ["a"]
        assert template.notes == (
            "folder/ could not be listed and was left out",
            "left out (cannot be read): closed",
        )


def test_only_regular_files_are_copied(tmp_path: Path) -> None:
    """A file that became a link or a pipe after it was listed is left out, and named."""
    write(tmp_path, {"tree/a": "a"})
    os.mkfifo(tmp_path / "tree/pipe")
    (tmp_path / "tree/link").symlink_to("a")
    (tmp_path / "copy").mkdir()
    tree = Tree(tmp_path / "tree", ("a", "link", "missing", "pipe"))
    assert copy_tree(tree, tmp_path / "copy") == ("left out (cannot be read): link, missing, pipe",)
    assert files_below(tmp_path / "copy") == ["a"]


# --- trouble and clean-up -----------------------------------------------------------------------


def test_a_workspace_needs_a_new_or_empty_folder(tmp_path: Path, temp_root: Path) -> None:
    """Two units never meet in one folder; what is there is not touched."""
    template = WorkspaceTemplate.build(repository(tmp_path / "repo", {"a": "1"}), temp_root)
    write(tmp_path / "used", {"mine": "m"})
    with pytest.raises(HarnessError, match="not empty"):
        template.make_workspace(tmp_path / "used")
    assert files_below(tmp_path / "used") == ["mine"]
    with pytest.raises(HarnessError, match="could not be made"):
        template.make_workspace(tmp_path / "used/mine/below")
    assert template.make_workspace(tmp_path / "new/one") == (tmp_path / "new/one").resolve()


@pytest.mark.parametrize("name", ["missing", "file"])
def test_a_repository_must_be_a_folder(tmp_path: Path, temp_root: Path, name: str) -> None:
    """The error names what was given."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(HarnessError, match=f"{name} is not a folder"):
        WorkspaceTemplate.build(tmp_path / name, temp_root)


def test_a_full_disk_is_an_error_of_the_harness(
    tmp_path: Path, temp_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The remedy says how to get room; nothing half-made stays."""
    repo = repository(tmp_path / "repo", {"a": "1"})

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("shutil.copyfileobj", full)
    with pytest.raises(HarnessError, match=r"No space left(.|\n)*TMPDIR"):
        WorkspaceTemplate.build(repo, temp_root)
    assert list(temp_root.iterdir()) == []


def test_no_usable_temporary_folder_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where every candidate lies in the repository, the remedy names the setting."""
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    with pytest.raises(HarnessError, match="set TMPDIR"):
        choose_temp_root(tmp_path, [tmp_path / "missing"])


def test_a_temporary_folder_that_is_missing_is_named(tmp_path: Path) -> None:
    """The remedy says which setting to change."""
    repo = repository(tmp_path / "repo", {"a": "1"})
    with pytest.raises(HarnessError, match=r"missing(.|\n)*TMPDIR"):
        WorkspaceTemplate.build(repo, tmp_path / "missing")


def test_a_failure_leaves_no_half_made_folder(tmp_path: Path, temp_root: Path) -> None:
    """What could not be finished is removed before the error is told."""
    template = WorkspaceTemplate.build(repository(tmp_path / "repo", {"a": "1"}), temp_root)
    before = sorted(temp_root.iterdir())

    for error in (OSError(errno.ENOSPC, "No space left"), HarnessError("No space left")):

        def fail(_: Path, error: Exception = error) -> list[str]:
            raise error

        with pytest.raises(HarnessError, match="No space left"):
            template.derive(fail)
    remove_tree(template.path)
    with pytest.raises(HarnessError, match="No such file"):
        template.make_workspace(temp_root / "late")
    assert sorted(temp_root.iterdir()) == [path for path in before if path != template.path]


def test_removing_a_workspace_leaves_the_template_and_the_repository(
    tmp_path: Path, temp_root: Path
) -> None:
    """Each goes alone; the repository is never touched."""
    repo = repository(tmp_path / "repo", {"a": "1"})
    template = WorkspaceTemplate.build(repo, temp_root)
    workspace = template.make_workspace(new_folder(temp_root))
    assert remove_tree(workspace) == ()
    assert not workspace.exists()
    assert (template.path / "a").exists()
    assert remove_tree(template.path) == ()
    assert list(temp_root.iterdir()) == []
    assert files_below(repo) == ["a"]


@pytest.mark.parametrize("size", [0, 1, 1 << 16, (1 << 16) + 1, 1 << 21])
def test_small_and_large_files_are_the_same_in_each_copy(
    tmp_path: Path, temp_root: Path, size: int
) -> None:
    """Bytes and mode are the file's own, and its inode too."""
    repo = repository(tmp_path / "repo", {"a": "x" * size, "run.sh": "#!/bin/sh\n"})
    (repo / "run.sh").chmod(0o755)
    template = WorkspaceTemplate.build(repo, temp_root)
    copies = [template.make_workspace(new_folder(temp_root)) for _ in range(2)]
    for copy in copies:
        assert (copy / "a").read_text("utf-8") == "x" * size
        assert (copy / "run.sh").stat().st_mode & 0o777 == 0o755
        assert git(copy, "status", "--short") == ""
    for path in template.path.rglob("*"):
        if path.is_file():
            files = [path, *(copy / path.relative_to(template.path) for copy in copies)]
            assert len({file.stat().st_ino for file in files}) == 3, "no inode is shared"
