"""The history from the outside: the action's stages that keep it, and the command that shows it."""

from __future__ import annotations

import csv
import io
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from routing_action.git.data_branch import DATA_BRANCH
from routing_action.results.model import Results
from routing_action.results.past.history_lines import append_to_folder
from tests.support.action_stages import Job
from tests.support.command_line import Finished, Project, run_command
from tests.support.repositories import Repository, check_out, create
from tests.support.result_rows import make_results, make_row
from tests.unit.results.test_trends import runs

NEEDS = json.dumps({"plan": {"result": "success"}, "measure": {"result": "success"}})
EVENT = {"ref": "refs/heads/main", "repository": {"default_branch": "main"}}


@pytest.fixture
def origin(tmp_path: Path) -> Repository:
    """Where the history is kept."""
    return create(tmp_path / "origin", {"cases.json": "[]"})


@pytest.fixture
def job(origin: Repository, tmp_path: Path) -> Job:
    """A job of a push to main, in a checkout of depth 1."""
    checkout = check_out(origin, tmp_path / "checkout", "refs/heads/main")
    head = checkout.git("rev-parse", "HEAD")
    return Job(checkout.path, tmp_path / "runner", "push", EVENT, variables={"GITHUB_SHA": head})


def leave(job: Job, text: str = "", **options: object) -> Path:
    """The results of a leg, as they are downloaded."""
    results = make_results(
        make_row(case_id="one", loaded_skills=("foo",)), make_row(2, case_id="two")
    )
    made = {
        "commit": job.variables["GITHUB_SHA"],
        "matrix_key": "claude",
        "selected_case_ids": ("one", "two"),
    }
    changed = results.options.model_copy(update={**made, **options})
    folder = job.files / "temp" / "routing-action" / "legs-history" / "routing-results-claude-a1"
    folder.mkdir(parents=True)
    file = folder / "results.json"
    data = results.model_copy(update={"options": changed}).model_dump_json(by_alias=True)
    file.write_text(data + text, encoding="utf-8")
    return file


def keep(job: Job, needs: str = NEEDS) -> str:
    """The whole step; what it logged."""
    done = job.use("history", needs=needs)
    assert done["exit-code"] == "0", done
    posted = job.stage("publish")
    assert posted.code == 0, posted.stderr
    return done["log"] + posted.stdout


def shown(origin: Repository, name: str) -> str:
    """A file of the branch."""
    return origin.git("show", f"{DATA_BRANCH}:{name}")


def test_a_push_to_main_is_appended_once_and_read_by_the_next_job(
    job: Job, origin: Repository, tmp_path: Path
) -> None:
    """A second attempt of the job changes nothing."""
    leave(job)
    assert f"{DATA_BRANCH}: 2 lines" in keep(job)
    lines = [json.loads(line) for line in shown(origin, "2026-01.jsonl").splitlines()]
    assert [(one["case_id"], one["passes"], one.get("loaded")) for one in lines] == [
        ("one", 1, ["foo"]), ("two", 1, None),
    ]  # fmt: skip
    assert (
        json.loads(shown(origin, "badge.json"))["message"] == "2 of 2 pairs passed their last run"
    )
    assert f"{DATA_BRANCH}: nothing new" in keep(job)
    assert origin.count(DATA_BRANCH) == 1
    other = Job(job.root, tmp_path / "other", "pull_request")
    other.stage("prepare", command="run", agents="claude")
    assert other.stage("fetch", history="auto").code == 0
    kept = other.files / "temp" / "routing-action" / "history"
    assert [file.name for file in kept.iterdir()] == ["2026-01.jsonl"]
    assert other.stage("fetch", history="off").code == 0
    assert not kept.exists()


@pytest.mark.parametrize(
    ("event_name", "event", "branch", "told"),
    [
        ("pull_request", {}, "main", "a run by pull_request does not measure"),
        ("push", EVENT, "side", "side is not the default branch, main"),
    ],
)
def test_what_is_not_of_the_default_branch_is_not_appended(
    job: Job, origin: Repository, event_name: str, event: dict[str, object], branch: str, told: str
) -> None:
    """Whoever starts it."""
    leave(job)
    variables = {**job.variables, "GITHUB_REF_NAME": branch}
    asked = replace(job, event_name=event_name, event=event, variables=variables)
    assert f"::notice title=routing-action::nothing is appended to the history: {told}" in keep(
        asked
    )
    assert origin.git("branch", "--list", DATA_BRANCH) == ""


def test_a_run_for_a_pull_request_by_hand_is_not_appended(job: Job, origin: Repository) -> None:
    """It is started on the default branch, and measures another one."""
    leave(job)
    asked = replace(job, event_name="workflow_dispatch")
    done = asked.use("history", needs=NEEDS, **{"pull-request": "7"})
    assert "this run is for a pull request" in done["log"]
    assert asked.stage("publish").code == 0
    assert origin.git("branch", "--list", DATA_BRANCH) == ""


def test_results_that_cannot_be_trusted_are_not_appended(job: Job, origin: Repository) -> None:
    """Changed after their leg wrote them, of another commit, or a replay; all of it is said."""
    file = leave(job)
    digest = f"claude-a1:{'0' * 64}"
    measure = {"result": "success", "outputs": {"digest-claude": digest}}
    changed = keep(job, json.dumps({"measure": measure}))
    assert "::warning" in changed
    assert "results.json was changed after its leg wrote it" in changed
    for options, told in (
        ({"commit": "b" * 40}, "its results are not of the commit of this run"),
        ({"replay": "recordings"}, "a replay measures nothing, so it is not kept"),
    ):
        file.unlink()
        file.parent.rmdir()
        leave(job, **options)
        assert told in keep(job)
    assert origin.git("branch", "--list", DATA_BRANCH) == ""


def test_without_results_and_without_a_branch_the_steps_say_so(job: Job, tmp_path: Path) -> None:
    """No error in either."""
    assert "no leg has measured anything" in keep(job)
    job.stage("prepare", command="plan")
    done = job.stage("fetch", history="auto")
    assert (done.code, f"origin has no branch {DATA_BRANCH}" in done.stdout) == (0, True)
    (tmp_path / "origin").rename(tmp_path / "gone")
    done = job.stage("fetch", history="auto")
    assert done.code == 0
    assert "::warning title=routing-action::the history could not be read" in done.stdout


# --- the command --------------------------------------------------------------------------------


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A folder with a history of two pairs, one of which fell when its CLI changed."""
    lines = [
        *runs("+" * 15, case_id="fell", cli_version="2.1"),
        *runs("-" * 30, case_id="fell", cli_version="2.2")[15:],
        *runs("+" * 30, case_id="=sure", agent="codex"),
    ]
    append_to_folder(tmp_path / "history", lines)
    return Project(tmp_path)


def history(project: Project, *arguments: str) -> Finished:
    """The command on that folder."""
    return project.call("history", "--history", "history", *arguments)


def test_the_worst_pair_stands_first_with_what_changed(project: Project) -> None:
    """At eighty columns, without blocks."""
    done = history(project)
    assert done.code == 0
    assert done.stdout.splitlines() == [
        "2 pairs in 1 run, 2026-10-01 to 2026-10-30",
        "",
        "pair         rate  95% interval  flips  streak    time   cost",
        "claude:fell  50%   33% to 67%    1      fail ×15  0.0 s  -",
        "    100% → 0% at 000000000000 (2026-10-16); with it changed CLI 2.1 → 2.2",
        "codex:=sure  100%  89% to 100%   0      pass ×30  0.0 s  -",
    ]


def test_a_name_is_whole_so_that_it_can_be_copied(project: Project) -> None:
    """However long it is: the line gets longer, and those of other pairs do not."""
    name = f"long-{'x' * 120}-name"
    append_to_folder(project.root / "history", runs("+-+", case_id=name))
    lines = history(project).stdout.splitlines()
    (line,) = (one for one in lines if name in one)
    assert line.startswith(f"claude:{name}  67%  ")
    assert max(len(one) for one in lines if one is not line) <= 80
    assert history(project, "--case", name).code == 0


def test_json_and_csv_hold_the_same_and_no_formula(project: Project) -> None:
    """For other programs."""
    first, second = json.loads(history(project, "--format", "json").stdout)
    assert (first["passed"], first["trials"], first["streak"]) == (15, 30, -15)
    assert first["change"]["with"] == [{"what": "CLI", "before": "2.1", "after": "2.2"}]
    assert second["change"] is None
    rows = list(csv.DictReader(io.StringIO(history(project, "--format", "csv").stdout)))
    assert [one["case_id"] for one in rows] == ["fell", "'=sure"]
    assert rows[0]["change_with"] == "CLI"


def test_pairs_and_days_can_be_chosen(project: Project) -> None:
    """What is unknown is named; what leaves nothing exits with 3."""
    found = history(project, "--agent", "codex", "--since", "2026-10-20", "--format", "json")
    ((one,),) = (json.loads(found.stdout),)
    assert (one["case_id"], one["runs"]) == ("=sure", 11)
    assert history(project, "--case", "fel").code == 2
    assert "fell" in history(project, "--case", "fel").stderr
    for day in ("yesterday", "2026-13-01", "2026-11-31", "20261101"):
        done = history(project, "--since", day)
        assert (done.code, f"--since '{day}' is no day" in done.stderr) == (2, True)
    assert history(project, "--since", "2030-01-01").code == 3


def test_a_history_that_is_not_there_says_what_to_do(project: Project) -> None:
    """No folder, no branch, no repository."""
    done = project.call("history")
    assert (done.code, "no history: there is no remote" in done.stderr) == (2, True)
    assert "--history DIR" in done.stderr
    done = project.call("history", "--history", "nowhere")
    assert (done.code, "nowhere: is no folder" in done.stderr) == (2, True)
    (project.root / "empty").mkdir()
    done = project.call("history", "--history", "empty")
    assert (done.code, "has no run yet" in done.stderr) == (3, True)


def test_broken_lines_are_counted_and_left_out(project: Project) -> None:
    """A line of a later release, or one that was cut short."""
    (project.root / "history" / "2026-11.jsonl").write_text("{\n{}\n", encoding="utf-8")
    done = history(project)
    assert done.code == 0
    assert "2 lines of the history cannot be read, and are left out" in done.stderr


def test_results_are_added_once(project: Project) -> None:
    """A replay is not; without a folder there is nothing to add to."""
    results = make_results(make_row(case_id="new"))
    options = results.options.model_copy(update={"replay": "recordings"})
    write(project.root / "live", results)
    write(project.root / "replay", results.model_copy(update={"options": options}))
    added = ("--add", "live", "--add", "replay", "--case", "new")
    done = history(project, *added)
    assert "routing-action: 1 batch is a replay, which measures nothing: not added" in done.stderr
    assert "routing-action: 1 new in history" in done.stderr
    assert "claude:new" in done.stdout
    assert "0 new in history" in history(project, *added).stderr
    alone = project.call("history", "--add", "live")
    assert (alone.code, "--add needs the folder of the history" in alone.stderr) == (2, True)


def test_what_other_branches_measured_is_named(tmp_path: Path) -> None:
    """It is added, but tells nothing of the default branch; what that one measured is not named."""
    repository = create(tmp_path / "own")
    on_main = repository.git("rev-parse", "HEAD")
    repository.git("checkout", "-qb", "change")
    on_change = repository.commit({"a": "b"})
    for name, commit in (("first", on_main), ("second", on_change)):
        results = make_results(make_row())
        options = results.options.model_copy(update={"commit": commit})
        write(repository.path / name, results.model_copy(update={"options": options}))

    def add(name: str) -> str:
        words = ("history", "--history", "past", "--add", name)
        return run_command(words, repository.path, {"PATH": os.environ["PATH"]}).stderr

    assert "default branch" not in add("first")
    said = add("second")
    assert f"not on the default branch: {on_change[:12]}" in said
    assert "remove from past the lines that hold 00000000-0000-4000-8000-0000000000ff" in said
    assert said.index("not on the default branch") < said.index("new in past")


def write(folder: Path, results: Results) -> None:
    """A results.json."""
    folder.mkdir()
    (folder / "results.json").write_text(results.model_dump_json(by_alias=True), encoding="utf-8")


def test_the_branch_at_the_remote_is_read_where_no_folder_is_named(
    job: Job, tmp_path: Path
) -> None:
    """From a clone, which stays as it is."""
    leave(job)
    keep(job)
    clone = check_out(
        Repository(tmp_path / "origin"), tmp_path / "desk", "refs/heads/main", depth=None
    )
    done = run_command(("history", "--format", "json"), clone.path, {})
    assert [one["case_id"] for one in json.loads(done.stdout)] == ["one", "two"]
    done = run_command(("history", "--fetch", "copy", "--format", "json"), clone.path, {})
    again = run_command(("history", "--history", "copy", "--format", "json"), clone.path, {})
    assert (again.code, again.stdout) == (0, done.stdout)
    both = run_command(("history", "--history", "copy", "--fetch", "copy"), clone.path, {})
    assert (both.code, "give one of --fetch and --history" in both.stderr) == (2, True)
    assert "remedy: leave out --history" in both.stderr
    assert not clone.is_shallow


@pytest.mark.parametrize("option", ["--site", "--add"])
def test_a_file_in_place_of_a_folder_is_named_as_such(project: Project, option: str) -> None:
    """There is room enough, and no artifacts root in this command."""
    (project.root / "file").write_text("x", encoding="utf-8")
    write(project.root / "live", make_results(make_row()))
    folder = "history" if option == "--site" else "file"
    given = ("--site", "file") if option == "--site" else ("--add", "live")
    done = project.call("history", "--history", folder, *given)
    assert done.code == 4
    assert "a file is where a folder must be: name another place" in done.stderr


def test_the_site_is_a_page_and_a_badge(project: Project) -> None:
    """Nothing in a name can act on the page."""
    append_to_folder(project.root / "history", runs("+", case_id="</script><b>"))
    assert "wrote site/index.html and site/badge.json" in history(project, "--site", "site").stderr
    page = (project.root / "site" / "index.html").read_text("utf-8")
    assert "</script><b>" not in page
    assert "2 of 3 pairs passed their last run; 1 passes less than 90%" in page
    badge = json.loads((project.root / "site" / "badge.json").read_text("utf-8"))
    assert badge == {
        "schemaVersion": 1, "label": "skill routing",
        "message": "2 of 3 pairs passed their last run; 1 passes less than 90%",
        "color": "red",
    }  # fmt: skip
