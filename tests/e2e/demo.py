"""A repository with a pull request whose workflows are run, and the GitHub that it is on."""

from __future__ import annotations

import io
import json
import shutil
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any

from tests.e2e.bench import AGENTS, E2E, Bench, Finished, copy_project, permissions_of
from tests.e2e.server import GitHub, serve
from tests.fakes.github.repository import Token
from tests.live.clis import install_node, install_packages
from tests.support.repositories import Repository, check_out

LIVE = "agent-live-routing.yml"
GATE = "agent routing"
CASES = ("author-first-case", "negative-shell-script")
GREEN, RED = "tests/recordings/replay", "tests/recordings/red"
CODEX = "measure (codex)"
PLAN = {"plan": "success"}
ALL = {**PLAN, **{f"measure ({agent})": "success" for agent in AGENTS}}


_LAST_JOBS = {"routing-report.yml": "publish", "routing-command.yml": "answer"}


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
        self.open_pull()

    def open_pull(self, *, fork: bool = False) -> None:
        """What GitHub says of the pull request."""
        own = {"full_name": "octo/demo", "default_branch": "main"}
        head_repo = {**own, "full_name": "stranger/demo"} if fork else own
        head = {"sha": self.head, "ref": "change", "label": "stranger:change", "repo": head_repo}
        base = {"sha": self.origin.git("rev-parse", "main"), "ref": "main", "repo": own}
        self.github.repository.pulls[7] = {
            "number": 7, "state": "open", "user": {"login": "author"}, "head": head, "base": base,
        }  # fmt: skip

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
        meanwhile: Callable[[Path, Event], None] | None = None,
    ) -> Finished:
        """A run in a fresh checkout; its token may do what the last job declares, or `rights`."""
        self.count += 1
        checkout = check_out(self.origin, self.folder / f"run{self.count}" / "checkout", ref)
        file = checkout.path / ".github" / "workflows" / workflow
        job = _LAST_JOBS.get(workflow, "gate")
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

    def comment_on(self, body: str, author: str = "writer", comment: int = 500) -> Finished:
        """The run that a comment on the pull request starts."""
        said = {
            "id": comment, "body": body, "created_at": "2026-11-29T12:00:00Z",
            "user": {"login": author, "type": "User"},
        }  # fmt: skip
        issue = {"number": 7, "state": "open", "pull_request": {"url": "x"}}
        event = {"action": "created", "issue": issue, "comment": said}
        return self.run("routing-command.yml", "issue_comment", event, run_id=str(comment))

    def end_run(self, run_id: int) -> Finished:
        """The run that the end of another one starts."""
        ended = self.github.repository.runs[run_id]
        run = {name: ended[name] for name in ("id", "event", "display_title", "status")}
        event = {"action": "completed", "workflow_run": run}
        return self.run("routing-command.yml", "workflow_run", event, run_id="700")

    def dispatch(self, inputs: Mapping[str, str], run_id: str = "9001") -> Finished:
        """The run that a command started, on the default branch."""
        return self.run(LIVE, "workflow_dispatch", {"inputs": dict(inputs)}, run_id=run_id)

    def report(self, attempt: int = 1, key: str = "routing", run_id: str = "1") -> zipfile.ZipFile:
        """The uploaded report."""
        name = run_id, f"routing-report-{key}-a{attempt}"
        (found,) = (one for one in self.github.results.artifacts if (one.run_id, one.name) == name)
        return zipfile.ZipFile(io.BytesIO(found.data))

    def delta(self, attempt: int = 1, key: str = "routing", run_id: str = "1") -> dict[str, Any]:
        """What the gate judged."""
        loaded: dict[str, Any] = json.loads(self.report(attempt, key, run_id).read("delta.json"))
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
