"""A pull request on a real repository, measured and judged by the action's own stages."""

from __future__ import annotations

import hashlib
import json
import shlex
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.action_stages import Job
from tests.support.command_line import ROOT
from tests.support.repositories import Repository, check_out, create
from tests.support.result_rows import write_results

ROUTER = ROOT / "tests" / "fakes" / "router_agent.py"
DEPLOY = "Bring the billing service to production tonight"
NOTES = "Summarise merged changes as customer announcement"
CASES: list[dict[str, Any]] = [
    {"case_id": "deploy", "prompt": DEPLOY, "expected_skill": "deploying"},
    {"case_id": "notes", "prompt": NOTES, "expected_skill": "writing-notes"},
]
BASELINE = {case["case_id"]: {"claude": {"expected_status": "pass"}} for case in CASES}
STOLEN = "Announcement of merged changes; bring the billing service to production tonight."
SUCCESS = {"measure": {"result": "success", "outputs": {}}}


def skill(name: str, description: str, *commands: str) -> str:
    """A SKILL.md; the agent obeys the commands once it has loaded it."""
    told = "".join(f"$ {command}\n" for command in commands)
    return f"---\nname: {name}\ndescription: {description}\n---\n\n# {name}\n\n{told}"


DEPLOYING = skill("deploying", "Bring a service to production.")
WRITING = skill("writing-notes", "Summarise changes for a customer.")
FILES: dict[str, str | None] = {
    ".claude/skills/deploying/SKILL.md": DEPLOYING,
    ".claude/skills/writing-notes/SKILL.md": WRITING,
    "cases.json": json.dumps(CASES, indent=2),
    "provider-baseline.json": json.dumps(BASELINE, indent=2),
}


def stolen(*commands: str) -> dict[str, str | None]:
    """The steal, by a skill whose text has the agent run commands."""
    return {".claude/skills/writing-notes/SKILL.md": skill("writing-notes", STOLEN, *commands)}


STEAL = stolen()
"""The neighbour's description now takes the prompt of the case `deploy`."""


@dataclass
class PullRequest:
    """A change to a repository, checked out as its merge commit."""

    folder: Path
    base: Mapping[str, str | None] = field(default_factory=lambda: FILES)
    event_name: str = "pull_request"
    event: Mapping[str, Any] = field(default_factory=dict)
    origin: Repository = field(init=False)
    checkout: Repository = field(init=False)

    def __post_init__(self) -> None:
        """Start with the base branch."""
        self.origin = create(self.folder / "origin", self.base)

    def propose(self, *changes: Mapping[str, str | None]) -> None:
        """One commit for each change, merged with the base branch and checked out."""
        self.origin.start("change")
        for day, change in enumerate(changes, start=1):
            self.origin.commit(change, day=day)
        self.origin.switch("main")
        self.origin.start("merge")
        self.origin.merge("change", day=20)
        self.origin.switch("main")
        self.checkout = check_out(self.origin, self.folder / "checkout", "refs/heads/merge")

    @property
    def head(self) -> str:
        """The commit that is measured."""
        return self.checkout.git("rev-parse", "HEAD")

    def job(self, name: str, *, attempt: int = 1) -> Job:
        """A job of the workflow on a runner of its own."""
        template = f"{shlex.join([sys.executable, str(ROUTER)])} {{prompt}}"
        return Job(
            self.checkout.path,
            self.runner(name, attempt),
            self.event_name,
            self.event,
            attempt,
            {"AGENT_CLAUDE_TEMPLATE": template},
        )

    @property
    def gate(self) -> Job:
        """The job that judges."""
        return self.job("gate")

    def leg_folder(self, name: str = "claude", attempt: int = 1) -> Path:
        """The folder of a leg that is uploaded."""
        temp = self.runner(name, attempt) / "temp" / "routing-action" / "results"
        return temp / f"routing-results-{name}-a{attempt}"

    def runner(self, name: str, attempt: int = 1) -> Path:
        """Where a job's runner keeps its files."""
        return self.folder / f"runner-{name}-{attempt}"

    def forge(self, folder: Path, attempt: int, key: str = "claude", **words: str) -> None:
        """Results that nobody measured; all that they say of themselves is right."""
        corpus = (self.checkout.path / "cases.json").read_bytes()
        write_results(
            folder,
            {(case_id, "claude"): word for case_id, word in words.items()},
            commit=self.head,
            corpus_sha256=hashlib.sha256(corpus).hexdigest(),
            attempt=attempt,
            matrix_key=key,
        )

    def measure(self, name: str = "claude", *, attempt: int = 1, **inputs: str) -> dict[str, str]:
        """A leg of the matrix, and its upload."""
        given = {"agents": "claude", "matrix_key": name, **inputs}
        found = self.job(name, attempt=attempt).use("run", **given)
        if Path(found["folder"]).is_dir():
            shutil.copytree(found["folder"], self.gate.legs / found["artifact-name"])
        return found

    def judge(self, attempt: int = 1, **inputs: str) -> Verdict:
        """The aggregation, told that all jobs succeeded unless said otherwise; again if need be."""
        gate = self.gate
        gate.attempt = attempt
        shutil.rmtree(gate.legs.with_name("report-aggregate-routing"), ignore_errors=True)
        asked = {"agents": "claude", "needs": json.dumps(SUCCESS), **inputs}
        found = gate.use("aggregate", **asked)
        return Verdict(gate, found)

    def check(self) -> Verdict:
        """Measure one leg and judge it."""
        self.measure()
        return self.judge()


@dataclass
class Verdict:
    """What the gate came to."""

    job: Job
    outputs: dict[str, str]

    @property
    def conclusion(self) -> str:
        """`success`, `failure` or `neutral`; `error` where nothing could be judged."""
        return self.outputs.get("conclusion", "error")

    @property
    def is_red(self) -> bool:
        """Whether the job fails."""
        return self.outputs["exit-code"] != "0"

    @property
    def delta(self) -> dict[str, Any]:
        """The judged rows."""
        return self.job.delta

    def row(self, case_id: str, agent: str = "claude") -> dict[str, Any]:
        """The row of a pair."""
        found: dict[str, Any] = next(
            row for row in self.delta["rows"] if (row["case_id"], row["agent"]) == (case_id, agent)
        )
        return found

    def text(self, name: str) -> str:
        """A report as a person sees it."""
        return (Path(self.outputs["report-dir"]) / name).read_text("utf-8")


def comment_of(change: PullRequest, **inputs: str) -> str:
    """The comment about the change, once every other report was seen to say the same."""
    change.measure()
    found = change.judge(1, **inputs)
    texts = [found.text(name) for name in ("summary.md", "report.html", "junit.xml")]
    for edit in found.delta["edits"]:
        assert all(edit["path"] in text for text in texts), edit
    return found.text("comment.md")
