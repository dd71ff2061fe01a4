"""Starts batches of quick fake agents in a process of their own, and ends them in rude ways."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import time
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.command_line import ROOT, Finished, Project

QUICK_AGENT = ROOT / "tests" / "fakes" / "quick_agent.sh"
VOLATILE = {"unit_run_id", "duration_ms", "started_at_utc", "ended_at_utc", "survivors", "command"}
"""What two runs of the same unit never have in common (the command names the folder)."""
PATIENCE = 60.0


@dataclass
class Field:
    """A project whose agent is the quick one; `starts` is where it leaves its name."""

    root: Path

    def __post_init__(self) -> None:
        self.root.mkdir(parents=True, exist_ok=True)
        self.project = Project(self.root)
        self.starts = self.root / "starts.txt"
        words = ["/bin/sh", str(QUICK_AGENT), str(self.starts)]
        template = f"{shlex.join(words)} {{prompt}}"
        self.project.variables = {"AGENT_CLAUDE_TEMPLATE": template}

    def write_cases(self, *manners: str) -> None:
        """One case for each manner, called c0, c1, ..."""
        self.project.write_cases(
            *(
                {"case_id": f"c{n}", "prompt": f"c{n} {manner}", "expected_skill": "foo"}
                for n, manner in enumerate(manners)
            )
        )

    def start(self, *arguments: str, **options: Any) -> Running:  # noqa: ANN401 - Popen's
        """Start `run` and give it back with its artifact folder known."""
        log = self.root / f"{uuid.uuid4().hex}.stderr"
        with log.open("wb") as stderr:
            process = subprocess.Popen(
                self.project.command("run", *arguments),
                cwd=self.root,
                env=self.project.environment(),
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
                start_new_session=True,
                **options,
            )
        running = Running(process, self, log)
        wait_for(lambda: "\n" in running.stderr)
        return running

    def started(self) -> list[str]:
        """The names of all agents that were started so far, each as often as it was."""
        return self.starts.read_text("utf-8").split() if self.starts.exists() else []

    def resume(self, folder: Path, *arguments: str) -> Finished:
        """`run --resume` in this process."""
        return self.project.call("run", "--resume", str(folder), *arguments)


@dataclass
class Running:
    """A batch that runs in a process of its own."""

    process: subprocess.Popen[str]
    field: Field
    log: Path

    @property
    def stderr(self) -> str:
        return self.log.read_text("utf-8", "replace")

    @property
    def folder(self) -> Path:
        line = next(x for x in self.stderr.splitlines() if x.startswith("ARTIFACT_DIR="))
        return Path(line.removeprefix("ARTIFACT_DIR="))

    def kill(self) -> None:
        """What the kernel's memory killer does to the harness alone."""
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate(timeout=PATIENCE)

    def finish(self) -> int:
        self.process.communicate(timeout=PATIENCE)
        return self.process.returncode


def wait_for(condition: Callable[[], bool]) -> None:
    """Until it holds; an error after a minute."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.005)


def records(folder: Path) -> list[dict[str, Any]]:
    """The whole lines of a batch's journal."""
    lines = (folder / "journal.jsonl").read_bytes().split(b"\n")[:-1]
    return [json.loads(line) for line in lines]


def ended(folder: Path) -> set[str]:
    """The case ids that the journal knows to have ended by themselves."""
    return {
        record["case_id"]
        for record in records(folder)
        if "case_id" in record and record["ended_by"] != "cancelled"
    }


def markers(folder: Path) -> set[str]:
    """The id of every attempt that was started."""
    return {record["start"] for record in records(folder) if "start" in record}


def bearing(ids: set[str]) -> list[str]:
    """Living processes that bear one of the markers, as `PID MARKER COMMAND`.

    Looked up without the code under test.
    """
    found = []
    for entry in Path("/proc").glob("[0-9]*/environ"):
        try:
            variables = entry.read_bytes().split(b"\0")
            command = entry.with_name("cmdline").read_bytes().replace(b"\0", b" ")
        except OSError:
            continue
        values = [v.partition(b"=")[2] for v in variables if v.startswith(b"ROUTING_ACTION_UNIT=")]
        found += [
            f"{entry.parent.name} {value.decode()} {command.decode()}"
            for value in values
            if value.decode() in ids
        ]
    return found


def essence(results: dict[str, Any]) -> dict[str, Any]:
    """Results without what differs from run to run."""
    rows = [{k: v for k, v in row.items() if k not in VOLATILE} for row in results["results"]]
    kept = {k: v for k, v in results.items() if k not in {"batch_run_id", "generated_at_utc"}}
    return {**kept, "results": rows}


def check_starts(field: Field, before: set[str], names: set[str]) -> None:
    """Every case was started, and none of those that had ended before was started again."""
    counts = Counter(field.started())
    assert set(counts) == names
    assert {name for name in before if counts[name] != 1} == set()
