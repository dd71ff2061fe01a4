"""This repository's workflows, run for real but for GitHub: what they post, upload and end with."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
import signal
import sys
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.bench import AGENTS, E2E, Bench, Finished, copy_project, permissions_of
from tests.e2e.server import GitHub, serve
from tests.fakes.github.repository import Token
from tests.live.clis import install_node, install_packages
from tests.support.repositories import Repository, check_out

pytestmark = pytest.mark.slow

LIVE = "agent-live-routing.yml"
GATE = "agent routing"
CASES = ("author-first-case", "negative-shell-script")
GREEN, RED = "tests/recordings/replay", "tests/recordings/red"
CODEX = "measure (codex)"
PLAN = {"plan": "success"}
ALL = {**PLAN, **{f"measure ({agent})": "success" for agent in AGENTS}}


@dataclass
class Demo:
    """A repository with a pull request, and the GitHub that it is on."""

    github: GitHub
    folder: Path
    programs: Path
    origin: Repository
    head: str = ""
    count: int = 0
    variables: dict[str, str] = field(default_factory=lambda: {"ROUTING_REPLAY": GREEN})

    def change(self, files: Mapping[str, str | None]) -> None:
        """The pull request's commit, on its branch; main goes on meanwhile."""
        self.origin.start("change")
        self.head = self.github.head = self.origin.commit(files, day=1)
        self.origin.switch("main")
        self.origin.commit({"other.md": "main went on"}, day=2)
        self.origin.start("merge")
        self.origin.merge("change", day=3)
        self.origin.switch("main")
        head = {"sha": self.head, "ref": "change", "label": "stranger:change"}
        self.github.repository.pulls[7] = {"number": 7, "state": "open", "head": head}

    def run(
        self,
        workflow: str,
        event_name: str,
        event: Mapping[str, Any],
        *arguments: str,
        ref: str = "refs/heads/main",
        attempt: int = 1,
        rights: Mapping[str, str] | None = None,
        run_id: str = "1",
        meanwhile: Callable[[Path], None] | None = None,
    ) -> Finished:
        """A run in a fresh checkout; its token may do what the last job declares, or `rights`."""
        self.count += 1
        checkout = check_out(self.origin, self.folder / f"run{self.count}" / "checkout", ref)
        file = checkout.path / ".github" / "workflows" / workflow
        job = "publish" if workflow == "routing-report.yml" else "gate"
        bench = Bench(
            checkout.path,
            self.github.url,
            install_packages(E2E),
            [str(self.programs), *map(str, install_node())],
            variables=self.variables,
            run_id=run_id,
            run_number=int(run_id),
        )
        declared = permissions_of(file, job) if rights is None else rights
        self.github.repository.tokens = {bench.token: Token(rights=declared)}
        body = {"repository": {"full_name": "octo/demo", "default_branch": "main"}, **event}
        return bench.run(
            workflow, event_name, body, *arguments, attempt=attempt, meanwhile=meanwhile
        )

    def pull_request(
        self,
        *arguments: str,
        fork: bool = False,
        edited: Mapping[str, Any] | None = None,
        **more: Any,  # noqa: ANN401
    ) -> Finished:
        """The run of the pull request, with GitHub's merge commit checked out.

        `edited` are the changes of an event of that type.
        """
        head_repo = {"full_name": "stranger/demo" if fork else "octo/demo", "fork": fork}
        request = {
            "number": 7,
            "head": {"sha": self.head, "ref": "change", "repo": head_repo},
            "base": {"ref": "main", "repo": {"full_name": "octo/demo"}},
        }
        event = {"number": 7, "pull_request": request}
        event |= {"action": "edited", "changes": edited} if edited else {"action": "opened"}
        return self.run(LIVE, "pull_request", event, *arguments, ref="refs/heads/merge", **more)

    def report(self, attempt: int = 1, key: str = "routing") -> zipfile.ZipFile:
        """The uploaded report."""
        name = f"routing-report-{key}-a{attempt}"
        (found,) = (one for one in self.github.results.artifacts if one.name == name)
        return zipfile.ZipFile(io.BytesIO(found.data))

    def delta(self, attempt: int = 1, key: str = "routing") -> dict[str, Any]:
        """What the gate judged."""
        loaded: dict[str, Any] = json.loads(self.report(attempt, key).read("delta.json"))
        return loaded

    @property
    def comment(self) -> str:
        """The only comment of the pull request."""
        (body,) = self.github.repository.bodies(7)
        return body

    @property
    def checks(self) -> list[tuple[str, str, str]]:
        """Commit, name and conclusion of every check run."""
        runs = self.github.repository.checks.values()
        return [(one["head_sha"], one["name"], one["conclusion"]) for one in runs]

    @property
    def has_posted(self) -> bool:
        """Whether anything is on the pull request or a commit."""
        return bool(self.github.repository.bodies(7) or self.github.repository.checks)


def make_template(folder: Path, agents: Sequence[str]) -> Path:
    """The repository as it is on main: two cases, recordings of them, and a red set."""
    copy_project(folder, CASES, agents)
    shutil.copytree(folder / GREEN, folder / RED)
    # codex answers by itself, where its skill is expected.
    for suffix in ("stdout", "stderr", "json"):
        silent, asked = (folder / RED / "codex" / f"{case}.{suffix}" for case in reversed(CASES))
        shutil.copyfile(silent, asked)
    repository = Repository(folder)
    repository.git("init", "--quiet", "--template=", "--initial-branch=main")
    repository.git("config", "uploadpack.allowAnySHA1InWant", "true")
    repository.commit()
    return folder


@pytest.fixture(scope="module")
def templates(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """With all three agents, and with one, whose runs take less time."""
    folder = tmp_path_factory.mktemp("demo")
    return make_template(folder / "large", AGENTS), make_template(folder / "small", ["codex"])


@contextmanager
def make_demo(template: Path, tmp_path: Path) -> Iterator[Demo]:
    """After each test nothing may have been asked that GitHub does not know."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "uv").symlink_to(Path(sys.executable).with_name("uv"))
    origin = Repository(Path(shutil.copytree(template, tmp_path / "origin")))
    with serve() as github:
        yield Demo(github, tmp_path, programs, origin, origin.git("rev-parse", "HEAD"))
        assert github.repository.violations == []


@pytest.fixture
def demo(templates: tuple[Path, Path], tmp_path: Path) -> Iterator[Demo]:
    """A repository that is measured on all three agents."""
    with make_demo(templates[0], tmp_path) as made:
        yield made


@pytest.fixture
def small(templates: tuple[Path, Path], tmp_path: Path) -> Iterator[Demo]:
    """A repository that is measured on codex alone."""
    with make_demo(templates[1], tmp_path) as made:
        made.variables["ROUTING_AGENTS"] = "codex"
        yield made


def test_a_green_pull_request_gets_one_comment_and_a_green_check(demo: Demo) -> None:
    """Judged by the merge base, on the pull request's own head, with the report one click away."""
    demo.change({"notes.md": "nothing about routing"})
    done = demo.pull_request()
    assert (done.code, dict(done.jobs)) == (0, {**ALL, GATE: "success"}), done.log[-5000:]
    assert demo.github.results.names() == [
        "routing-report-routing-a1", *(f"routing-results-{agent}-a1" for agent in AGENTS),
    ]  # fmt: skip
    delta = demo.delta()
    assert delta["counts"] == {"OK": 6}
    assert delta["baseline"]["commit"] == demo.origin.git("rev-parse", "main")
    assert demo.checks == [(demo.head, "routing gate", "success")]
    assert "conclusion=success" in demo.comment
    assert "https://github.com/octo/demo/actions/runs/1/artifacts/" in demo.comment
    assert done.outputs(GATE)["conclusion"] == "success"
    assert set(demo.report().namelist()) == {
        "comment.md", "delta.json", "junit.xml", "report.html", "summary.md",
    }  # fmt: skip


def test_a_red_pull_request_is_red_after_all_is_posted_and_a_rerun_leg_turns_it_green(
    small: Demo,
) -> None:
    """Attempt 2 runs one leg again; the others keep their results, the comment is the same one."""
    small.change({"skill.md": "worse"})
    small.variables["ROUTING_REPLAY"] = RED
    red = small.pull_request()
    jobs = {**PLAN, CODEX: "success", GATE: "failure"}
    assert (red.code, dict(red.jobs)) == (1, jobs), red.log[-5000:]
    assert small.checks == [(small.head, "routing gate", "failure")]
    first = small.comment
    assert "author-first-case" in first
    assert "REGRESSION" in first
    lines = (small.origin.path / "cases.json").read_text("utf-8").splitlines()
    rows = [row for row in small.delta()["rows"] if row["gates"]]
    log = red.step(GATE, "conclude")
    errors = re.findall(r"::error (.*)", log)
    assert len(errors) == len(rows) + 1 > 1
    for row, error in zip(rows, errors, strict=False):
        assert f'"{row["case_id"]}"' in "".join(lines[row["line"] - 1 : row["line"] + 1])
        place = f"file=cases.json,line={row['line']}"
        assert error.startswith(f"{place},title={row['kind']}%3A {row['case_id']} on codex::")
        assert f"cases.json:{row['line']}: {row['case_id']} on codex: {row['why']}" in error
    assert "REGRESSION  codex:author-first-case" in log
    assert "comment: https://github.example/octo/demo/pull/7#issuecomment-" in log
    assert "report: https://github.com/octo/demo/actions/runs/1/artifacts/" in log
    small.variables["ROUTING_REPLAY"] = GREEN
    green = small.pull_request("--matrix", "agent:codex", attempt=2)
    assert dict(green.jobs) == {**PLAN, CODEX: "success", GATE: "success"}, green.log[-5000:]
    assert small.delta(attempt=2)["counts"] == {"OK": 2}
    assert small.checks[-1] == (small.head, "routing gate", "success")
    assert "REGRESSION" not in small.comment
    assert "conclusion=success" in small.comment


def test_a_pull_request_that_gets_another_base_is_judged_again(small: Demo) -> None:
    """By that base, with the same head."""
    small.change({"skill.md": "worse"})
    small.variables["ROUTING_REPLAY"] = RED
    done = small.pull_request(edited={"base": {"ref": {"from": "side"}}})
    assert dict(done.jobs) == {**PLAN, CODEX: "success", GATE: "failure"}, done.log[-5000:]
    assert small.checks == [(small.head, "routing gate", "failure")]


def test_a_pull_request_that_gets_another_title_is_not(small: Demo) -> None:
    """Nothing is measured, and nothing bears the name of the required check."""
    small.change({"skill.md": "worse"})
    done = small.pull_request(edited={"title": {"from": "old"}})
    assert done.code == 0, done.log[-5000:]
    assert GATE not in done.jobs
    assert CODEX not in done.jobs
    assert not small.has_posted


def test_a_baseline_that_is_lowered_in_the_pull_request_stays_red_and_is_named(small: Demo) -> None:
    """The merge base decides."""
    baseline = json.loads((small.origin.path / "provider-baseline.json").read_text("utf-8"))
    baseline[CASES[0]]["codex"]["expected_status"] = "fail"
    small.change({"provider-baseline.json": json.dumps(baseline, indent=2) + "\n"})
    small.variables["ROUTING_REPLAY"] = RED
    done = small.pull_request()
    assert (done.code, done.jobs[GATE]) == (1, "failure")
    assert small.delta()["counts"]["REGRESSION"] == 1
    assert "edits the baseline" in small.comment
    assert small.checks == [(small.head, "routing gate", "failure")]


def test_legs_that_leave_nothing_are_named_and_red(demo: Demo) -> None:
    """Codex's is red; copilot's may be lost, so what it did not measure is shown alone."""
    change: dict[str, str | None] = {
        f"{GREEN}/{agent}/{CASES[0]}.{suffix}": None
        for agent in ("codex", "copilot")
        for suffix in ("stdout", "stderr", "json")
    }
    demo.change(change)
    done = demo.pull_request()
    assert done.jobs[CODEX] == "failure"
    assert (done.code, done.jobs[GATE]) == (1, "failure"), done.log[-5000:]
    assert demo.github.results.names() == ["routing-report-routing-a1", "routing-results-claude-a1"]
    delta = demo.delta()
    assert delta["reasons"] == [
        "job measure failed", "no results of codex", "2 selected pairs have no result",
    ]  # fmt: skip
    assert delta["counts"] == {"MISSING": 2, "INFRA": 2, "OK": 2}
    assert "job measure failed" in demo.comment


def cancel_the_leg(folder: Path) -> None:
    """What GitHub does first: SIGINT to the process that the step has become, and to no other."""
    deadline = time.monotonic() + 200
    while time.monotonic() < deadline:
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError, ValueError):
                is_agent = b"replay_agent.py" in (entry / "cmdline").read_bytes()
                if is_agent and (entry / "cwd").readlink().is_relative_to(folder.parent):
                    status = (entry / "stat").read_text(encoding="utf-8")
                    os.kill(int(status.rpartition(")")[2].split()[1]), signal.SIGINT)
                    return
        time.sleep(0.05)
    raise AssertionError("no agent was ever started")


def test_a_cancelled_leg_keeps_what_it_measured_and_is_red(small: Demo) -> None:
    """Its results are uploaded all the same; an interrupted measurement never counts as whole."""
    script = f"{GREEN}/codex/{CASES[1]}.json"
    hanging = {**json.loads((small.origin.path / script).read_text("utf-8")), "hang": True}
    small.change({script: json.dumps(hanging)})
    done = small.pull_request(meanwhile=cancel_the_leg)
    assert (done.code, dict(done.jobs)) == (1, {**PLAN, CODEX: "failure", GATE: "failure"}), (
        done.log[-5000:]
    )
    assert small.github.results.names() == ["routing-report-routing-a1", "routing-results-codex-a1"]
    (results,) = (one for one in small.github.results.artifacts if one.name.endswith("codex-a1"))
    with zipfile.ZipFile(io.BytesIO(results.data)) as archive:
        (name,) = (one for one in archive.namelist() if one.endswith("results.json"))
        kept = json.loads(archive.read(name))
    assert kept["complete"] is False
    assert {row["case_id"]: row["outcome"] for row in kept["results"]}[CASES[1]] == "cancelled"
    reasons = small.delta()["reasons"]
    assert reasons[0] == "job measure failed"
    assert any("the batch was interrupted" in reason for reason in reasons)
    assert "the batch was interrupted" in small.comment
    assert small.checks == [(small.head, "routing gate", "failure")]


def test_a_fork_is_neutral_and_posted_by_the_trusted_half(small: Demo) -> None:
    """Its own run may only read, and has no secrets; a second workflow posts what it uploaded."""
    small.change({"skill.md": "from a stranger"})
    del small.variables["ROUTING_REPLAY"]
    may_read = {"contents": "read", "pull-requests": "read", "checks": "read"}
    done = small.pull_request(fork=True, rights=may_read)
    assert (done.code, dict(done.jobs)) == (0, {**PLAN, CODEX: "success", GATE: "success"}), (
        done.log[-5000:]
    )
    assert not small.has_posted
    assert done.outputs(GATE)["conclusion"] == "neutral"
    assert "from a fork gets no secrets" in done.of(CODEX)
    assert done.of(GATE).count("::warning") == 1
    assert small.delta()["counts"] == {"UNMEASURED": 2}
    run = {
        "id": 1,
        "event": "pull_request",
        "head_sha": small.head,
        "head_branch": "change",
        "head_repository": {"full_name": "stranger/demo", "owner": {"login": "stranger"}},
        "pull_requests": [],
    }
    small.github.repository.known_commits = {small.head: [7]}
    posted = small.run("routing-report.yml", "workflow_run", {"workflow_run": run}, run_id="2")
    assert (posted.code, dict(posted.jobs)) == (0, {"publish": "success"}), posted.log[-5000:]
    assert "conclusion=neutral" in small.comment
    assert "2 pairs were not measured" in small.comment
    assert small.checks == [(small.head, "routing gate", "neutral")]


def test_a_merge_group_is_judged_by_its_base_and_comments_nowhere(small: Demo) -> None:
    """The check run is on the group's head."""
    base = small.origin.git("rev-parse", "main")
    small.change({"skill.md": "queued"})
    head = small.origin.git("rev-parse", "merge")
    group = {"merge_group": {"base_sha": base, "head_sha": head, "base_ref": "refs/heads/main"}}
    done = small.run(LIVE, "merge_group", group, ref="refs/heads/merge")
    assert (done.code, done.jobs[GATE]) == (0, "success"), done.log[-5000:]
    assert small.delta()["baseline"]["commit"] == base
    assert small.github.repository.bodies(7) == []
    assert small.checks == [(head, "routing gate", "success")]


def test_a_push_to_main_is_judged_by_the_checked_in_baseline(small: Demo) -> None:
    """No comment, and red where it is."""
    small.variables["ROUTING_REPLAY"] = RED
    done = small.run(LIVE, "push", {"ref": "refs/heads/main"})
    assert (done.code, done.jobs[GATE]) == (1, "failure"), done.log[-5000:]
    assert small.delta()["baseline"]["how"] == "the checked-in file"
    assert small.github.repository.bodies(7) == []
    assert small.checks == [(small.head, "routing gate", "failure")]


def test_a_run_by_hand_measures_what_it_is_asked_for(demo: Demo) -> None:
    """One agent, one case, a baseline of one's choice, on a branch, all in plain words."""
    demo.change({"skill.md": "by hand"})
    inputs = {
        "agents": "claude", "case_ids": CASES[0], "categories": "", "fail_on_infra": True,
        "baseline_ref": "main", "replay": GREEN, "trials": "2",
    }  # fmt: skip
    demo.variables = {}
    done = demo.run(LIVE, "workflow_dispatch", {"inputs": inputs}, ref="refs/heads/change")
    jobs = {**PLAN, "measure (claude)": "success", GATE: "success"}
    assert dict(done.jobs) == jobs, done.log[-5000:]
    delta = demo.delta()
    assert delta["totals"]["trials"] == 2
    assert (delta["agents"], delta["counts"]["OK"]) == (["claude"], 1)
    assert delta["baseline"]["commit"] == demo.origin.git("rev-parse", "main")
    assert demo.github.repository.bodies(7) == []


def test_a_run_by_hand_that_names_no_agent_says_so_in_one_sentence(small: Demo) -> None:
    """In the plan's log and in the gate's; nothing is measured, and nothing is green."""
    inputs = {"agents": "claude,nope", "replay": GREEN}
    done = small.run(LIVE, "workflow_dispatch", {"inputs": inputs})
    assert (done.code, dict(done.jobs)) == (1, {"plan": "failure", GATE: "failure"}), done.log
    cause = done.outputs("plan")["error"]
    assert cause.startswith("unknown agent 'nope'; ")
    assert "known agents: claude, codex, copilot" in cause
    assert done.errors("plan") == [f"title=routing-action::{cause}"]
    assert done.errors(GATE) == [f"title=routing-action::job plan failed: {cause}"]


def test_a_scheduled_run_is_judged_by_the_default_branch(small: Demo) -> None:
    """It has no payload to speak of."""
    done = small.run(LIVE, "schedule", {"schedule": "23 4 * * 1"})
    assert (done.code, done.jobs[GATE]) == (0, "success"), done.log[-5000:]
    assert small.delta()["baseline"]["commit"] == small.head
    assert small.github.repository.bodies(7) == []


def test_this_repositorys_ci_plans_shards_and_gates_on_the_recordings(demo: Demo) -> None:
    """A matrix made by the plan; its own comment and check run beside the other gate's."""
    done = demo.run("ci.yml", "push", {"ref": "refs/heads/main"}, "-j", "gate")
    legs = {f"replay ({agent}-s{n}of2)": "success" for agent in AGENTS for n in (1, 2)}
    expected = {"plan": "success", **legs, "replayed routing": "success"}
    assert (done.code, dict(done.jobs)) == (0, expected), done.log[-5000:]
    assert demo.delta(key="replay")["counts"] == {"OK": 6}
    assert demo.checks == [(demo.head, "routing gate (replay)", "success")]
