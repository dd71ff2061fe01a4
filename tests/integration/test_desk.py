"""What a person does at a desk: no paths named, from a subfolder, and one pair measured again."""

from __future__ import annotations

import json
import os
import shlex
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.command_line import Finished, Project, loads, run_command
from tests.support.printed import find_commands
from tests.support.repositories import Repository, create
from tests.support.result_rows import write_results

ARTIFACTS = "tests/agent-routing/artifacts"
IDS = ("one", "two", "three")
PASS = {"expected_status": "pass"}


@dataclass(frozen=True)
class Desk:
    """A repository whose path has a space, with cases and a baseline, and a folder to stand in."""

    repository: Repository
    here: Path

    @property
    def root(self) -> Path:
        """The repository's own folder."""
        return self.repository.path

    def batch(self, name: str, minute: int, **words: str) -> str:
        """A batch as `run` leaves it, of claude; its path from here."""
        folder = self.root / ARTIFACTS / name
        file = write_results(folder, {(case, "claude"): word for case, word in words.items()})
        text = file.read_text("utf-8").replace("2026-01-01T00:00", f"2026-01-01T00:{minute:02}")
        file.write_text(text, "utf-8")
        os.utime(file, (minute, minute))
        (folder / "transcripts").mkdir(exist_ok=True)
        (folder.parent / ".gitignore").write_text("*\n")
        return os.path.relpath(folder, self.here)

    def call(self, *arguments: str) -> Finished:
        """A command, from here."""
        return run_command(arguments, self.here, dict(os.environ))

    def paste(self, command: str) -> Finished:
        """What was printed, typed as it stands."""
        program, *arguments = shlex.split(command)
        assert program == "routing-action"
        return self.call(*arguments)

    def status(self) -> str:
        """What git sees beside what is committed."""
        return self.repository.git("status", "--short")


@pytest.fixture(params=[".", "sub", "a b/deep"])
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Desk:
    """In the root of the repository, and in subfolders of it."""
    files = {
        "cases.json": json.dumps([loads(name) for name in IDS]),
        "provider-baseline.json": json.dumps({name: {"claude": PASS} for name in IDS}),
        "sub/x": "x",
        "a b/deep/x": "x",
    }
    repository = create(tmp_path / "my repository", files)
    return Desk(repository, repository.path / request.param)


def test_a_rerun_of_one_pair_is_partial_and_completes_the_batch_before(desk: Desk) -> None:
    """It says how many it did not measure; the printed command judges both together."""
    first = desk.batch("first", 1, one="fail", two="pass", three="pass")
    rerun = desk.batch("rerun", 2, one="pass")
    part = desk.call("compare")
    assert (part.code, f"newest batch is {rerun}" in part.stderr) == (0, True), part.stderr
    verdict = " ".join(part.stdout.rpartition("gate: ")[2].split())
    assert not verdict.startswith("Routing is as expected,")
    assert "partial: 1 of 3 cases measured" in verdict
    assert "1 OK, 2 not selected" in part.stdout
    *_, said, more, command = part.stderr.splitlines()
    assert "2 pairs were not measured" in said
    assert max(len(said), len(more)) <= 80
    assert shlex.split(command)[2:] == ["--results", first, "--results", rerun]
    whole = desk.paste(command)
    assert (whole.code, "\n3 OK\n" in f"\n{whole.stdout}") == (0, True), whole.stdout
    assert whole.stdout.endswith("gate: Routing is as expected\n")


def test_a_partial_run_is_red_by_what_it_judged(desk: Desk) -> None:
    """Left-out pairs excuse nothing."""
    desk.batch("only", 1, one="fail")
    done = desk.call("compare")
    assert (done.code, "partial: 1 of 3 cases measured" in done.stdout) == (1, True)


def test_the_printed_accept_command_works_when_pasted(desk: Desk) -> None:
    """From where the person stands, and it says what it wrote and when that counts."""
    desk.batch("batch", 1, one="fail", two="pass", three="pass")
    red = desk.call("compare")
    (line,) = find_commands(red.stdout, "accept")
    command = line.partition("--reason ")[0] + "--reason 'known, see the ticket'"
    done = desk.paste(command)
    assert done.code == 0, done.stderr
    assert '~ one claude: pass -> fail, reason "known, see the ticket"' in done.stdout
    assert "takes effect when merged: the gate of this pull request stays red" in done.stdout
    shown = os.path.relpath(desk.root / "provider-baseline.json", desk.here)
    assert f"\n{shown}: 1 changed" in done.stdout
    written = json.loads((desk.root / "provider-baseline.json").read_text("utf-8"))
    assert written["one"]["claude"]["expected_status"] == "fail"
    assert desk.status().split() == ["M", "provider-baseline.json"]


def test_what_commands_write_goes_into_the_batchs_folder(desk: Desk) -> None:
    """Nothing is left for git to see; what is named goes where the person stands."""
    batch = Path(desk.batch("batch", 1, one="pass", two="pass", three="pass"))
    assert desk.call("compare").code == 0
    html, junit = (desk.call("report", "--format", one) for one in ("html", "junit"))
    assert html.stdout == f"{batch / 'report.html'}\n"
    assert junit.stdout == f"{batch / 'junit.xml'}\n"
    assert "as expected" in desk.call("report").stdout
    kept = {"results.json", "transcripts", "delta.json", "report.html", "junit.xml"}
    assert {path.name for path in (desk.here / batch).iterdir()} == kept
    assert desk.status() == ""
    named = desk.call("compare", "--output", "my delta.json")
    assert (named.code, (desk.here / "my delta.json").is_file()) == (0, True)


def test_a_batch_that_was_not_compared_has_no_report(desk: Desk) -> None:
    """An older comparison is not taken for this one; the command that is missing is named."""
    old = desk.batch("old", 1, one="pass", two="pass", three="pass")
    assert desk.call("compare").code == 0
    desk.batch("new", 2, one="fail")
    for command in (("report",), ("publish", "--dry-run", "posted")):
        done = desk.call(*command)
        assert (done.code, "run `routing-action compare` first" in done.stderr) == (2, True)
    assert desk.call("report", "--results", old).code == 0


@pytest.mark.parametrize("command", ["compare", "report", "baseline update"])
def test_without_any_batch_the_next_step_is_named(desk: Desk, command: str) -> None:
    """Not a traceback, and not a usage text."""
    done = desk.call(*command.split())
    where = os.path.relpath(desk.root / ARTIFACTS, desk.here)
    assert done.code == 2
    assert f"no results are named, and {where} holds no batch" in done.stderr
    assert "routing-action run" in done.stderr


def test_a_folder_of_several_batches_is_no_batch(desk: Desk) -> None:
    """A whole history is never judged as one run."""
    desk.batch("one", 1, one="pass")
    desk.batch("two", 2, one="pass")
    folder = os.path.relpath(desk.root / ARTIFACTS, desk.here)
    done = desk.call("compare", "--results", folder)
    assert (done.code, f"--results {folder}: no results.json" in done.stderr) == (2, True)
    twice = desk.call("compare", "--results-dir", folder)
    assert (twice.code, "was measured in" in twice.stdout) == (1, True)


def test_the_agents_are_those_of_the_baseline(desk: Desk) -> None:
    """Nobody has to repeat what the repository says; what is named wins."""
    plan = desk.call("plan", "--format", "json")
    assert json.loads(plan.stdout)["agents"] == ["claude"], plan.stderr
    named = desk.call("plan", "--format", "json", "--agents", "codex")
    assert json.loads(named.stdout)["agents"] == ["codex"]
    entries = {"gemini": PASS, "copilot": PASS, "claude": PASS}
    (desk.root / "provider-baseline.json").write_text(json.dumps({"one": entries}))
    more = desk.call("plan", "--format", "json")
    assert json.loads(more.stdout)["agents"] == ["claude", "copilot", "gemini"]
    (desk.root / "provider-baseline.json").write_text(json.dumps({"one": {"cluade": PASS}}))
    wrong = desk.call("plan")
    assert (wrong.code, "has entries of 'cluade'" in wrong.stderr) == (2, True)
    (desk.root / "provider-baseline.json").unlink()
    none = desk.call("plan", "--format", "json")
    assert json.loads(none.stdout)["agents"] == ["claude", "codex", "copilot"]


def test_a_run_measures_the_agents_of_the_baseline_from_a_subfolder_too(tmp_path: Path) -> None:
    """Its batch lies in the root; a resumed one keeps its agents; evaluate knows transcripts."""
    project = Project(tmp_path)
    project.write_cases(loads("one"))
    baseline = tmp_path / "provider-baseline.json"
    baseline.write_text(json.dumps({"one": {"claude": PASS}}))
    (tmp_path / ".git").mkdir()
    here = tmp_path / "sub"
    here.mkdir()
    done = run_command(("run",), here, project.environment())
    assert (done.code, done.column("agent")) == (0, ["claude"]), done.stderr
    assert done.artifacts.parent == tmp_path / ARTIFACTS
    assert "working in .., the nearest folder with cases" in done.stderr
    baseline.write_text(json.dumps({"one": {"codex": PASS}}))
    again = run_command(("run", "--resume", done.artifacts.name), here, project.environment())
    assert (again.code, again.column("agent")) == (0, ["claude"]), again.stderr
    judged = run_command(
        ("evaluate", "--agent", "claude", "--case-id", "ONE"), here, project.environment()
    )
    assert json.loads(judged.stdout)["verdict"]["status"] == "pass", judged.stderr


def test_a_folder_with_cases_of_its_own_is_where_commands_work(desk: Desk) -> None:
    """Only a folder that has nothing is left for the root."""
    (desk.here / "cases.json").write_text(json.dumps([loads("own")]))
    plan = desk.call("plan", "--format", "json", "--agents", "claude")
    assert json.loads(plan.stdout)["case_ids"] == ["own"]
    assert "working in" not in plan.stderr


def test_a_path_is_typed_from_where_the_person_stands_or_from_the_root(desk: Desk) -> None:
    """A command that somebody printed in the root can be pasted in a subfolder."""
    (desk.here / "mine.json").write_text(json.dumps([loads("mine")]))
    plan = ("plan", "--format", "json", "--cases")
    assert json.loads(desk.call(*plan, "mine.json").stdout)["case_ids"] == ["mine"]
    assert json.loads(desk.call(*plan, "cases.json").stdout)["case_ids"] == list(IDS)


def test_a_repository_inside_another_one_has_a_root_of_its_own(desk: Desk) -> None:
    """A submodule's cases are not those of what it lies in."""
    inner = desk.here / "inner"
    (inner / "sub").mkdir(parents=True)
    (inner / ".git").mkdir()
    done = run_command(("plan",), inner / "sub", dict(os.environ))
    assert (done.code, "working in" in done.stderr) == (2, False)


def test_cases_of_a_folder_with_skills_of_its_own_are_run_from_there(tmp_path: Path) -> None:
    """From elsewhere no agent is offered these skills: it is said before anything is paid."""
    mine = tmp_path / "a b" / "mine"
    (mine / ".claude" / "skills" / "foo").mkdir(parents=True)
    (mine / ".claude" / "skills" / "foo" / "SKILL.md").write_text("---\nname: foo\n---\n")
    (mine / "cases.json").write_text(json.dumps([loads("one")]))
    project = Project(tmp_path)
    arguments = ("--cases", "a b/mine/cases.json", "--no-progress")
    done = project.run(*arguments)
    assert (done.code, "ARTIFACT_DIR" in done.stderr) == (2, False)
    assert "the skills lie in a b/mine/.claude/skills" in done.stderr
    assert "`cd 'a b/mine'`, or add --skills 'a b/mine/.claude/skills'" in done.stderr
    assert project.run(*arguments, "--skills", "a b/mine/.claude/skills").code == 0
    (mine / "deep").mkdir()
    (tmp_path / ".git").mkdir()
    there = run_command(("run", "--agents", "claude"), mine / "deep", project.environment())
    assert (there.code, there.artifacts.parents[3]) == (0, mine), there.stderr


def test_nothing_is_taken_from_above_that_may_be_somebody_elses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Outside of a repository, and where the folder above has another owner."""
    here = tmp_path / "here"
    here.mkdir()
    (tmp_path / "cases.json").write_text(json.dumps([loads("planted")]))
    assert run_command(("plan",), here, dict(os.environ)).code == 2
    (tmp_path / ".git").mkdir()
    assert run_command(("plan",), here, dict(os.environ)).code == 0
    real = Path.stat

    def stat(path: Path, **options: bool) -> os.stat_result:
        found = real(path, **options)
        if path != tmp_path:
            return found
        return os.stat_result((*found[:4], found.st_uid + 1, *found[5:]))

    monkeypatch.setattr(Path, "stat", stat)
    done = run_command(("plan",), here, dict(os.environ))
    assert (done.code, "working in" in done.stderr) == (2, False)


def test_the_gate_of_nothing_measured_is_red(desk: Desk) -> None:
    """Ten agents without a CLI prove nothing, whatever the baseline expects of them."""
    for expected in ("fail", "infra_error"):
        entries = {name: {"claude": {"expected_status": expected}} for name in IDS}
        (desk.root / "provider-baseline.json").write_text(json.dumps(entries))
        desk.batch(expected, 1, one="infra", two="infra", three="infra")
        for option in ("fail", "neutral"):
            done = desk.call("compare", "--unmeasured", option)
            told = "only 0 of 3 pairs could be measured" in done.stdout
            assert (done.code, told) == (1, True), done.stdout
