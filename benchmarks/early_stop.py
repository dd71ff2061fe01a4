"""U2: what an early stop saves on every recording in which a skill was loaded.

Each recording is printed line by line, with short pauses, by a fake agent that the product starts
and stops. What it still printed after the line that decides is what an
early stop cannot save; bytes stand for tokens.
"""

from __future__ import annotations

import json
import re
import shlex
import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.measure import HERE, Row, run_product
from routing_action.agents.discovery import all_providers
from routing_action.agents.provider import ReadContext
from routing_action.corpus.case import Case, expectations_for
from routing_action.evidence.evidence import EvidenceCollector
from routing_action.evidence.verdict import is_settled
from tests.support.builders import lines_of
from tests.support.recorded import FOLDER, Recording, recordings

PAUSE_SECONDS = 0.5
"""Between two lines; the next record of a model takes seconds."""


def measure(_rounds: int, small: bool) -> Iterator[Row]:
    """Bytes after the decision, verdicts that differ, and what is saved of a whole run."""
    chosen = [one for name in ("cli", "other") for one in recordings(name)]
    chosen = [one for one in chosen if one.is_healthy and one.loaded][:: 20 if small else 1]
    with tempfile.TemporaryDirectory() as folder:
        bench = _Bench(Path(folder), chosen)
        whole = bench.run("whole", 0.0)
        stopped = bench.run("stopped", PAUSE_SECONDS, "--stop-early")
    after, saved = [], []
    for one in chosen:
        decided = _decide(one)
        if decided is None:
            continue
        lines = lines_of(one.stdout)
        before = sum(len(line) + 1 for line in lines[:decided])
        taken = stopped[one.key]["bytes"]
        after.append(max(0, taken - before) / before)
        saved.append(1 - taken / whole[one.key]["bytes"])
    differ = sum(whole[key]["status"] != stopped[key]["status"] for key in whole)
    count = f"{len(after)} of {len(chosen)} recordings with a load"
    total = sum(one["bytes"] for one in stopped.values())
    share = 1 - total / sum(one["bytes"] for one in whole.values())
    yield Row("U2", f"bytes after the deciding line, {count}", after, "", most=0.1)
    yield Row("U2", "the same, the worst of them", [max(after)], "", most=0.1)
    yield Row("U2", f"verdicts that differ, of {len(whole)}", [differ], "", most=0)
    yield Row("U2", "bytes saved of a whole run", [statistics.median(saved)], "", least=0)
    yield Row("U2", "bytes saved of all of them", [share], "", least=0)


def _decide(one: Recording) -> int | None:
    """After how many lines the verdict stands; None where only the end decides."""
    provider = all_providers()[one.provider]
    case = _case(one)
    expectations = expectations_for(
        case, one.provider, drops_skill_files=provider.drops_skill_file_tokens
    )
    evidence = EvidenceCollector(one.provider, expectations.tokens, expectations.any_tokens)
    reader = provider.reader(ReadContext())
    for number, line in enumerate(lines_of(one.stdout), start=1):
        evidence.extend(reader.feed(line))
        if is_settled(case, expectations, evidence):
            return number
    return None


def _case(one: Recording) -> Case:
    return Case(
        case_id=re.sub(r"[^A-Za-z0-9._-]", "-", one.key),
        prompt=str(FOLDER / f"{one.key}.stdout"),
        expected_skill=one.loaded[0],
    )


class _Bench:
    """A repository with a case for each recording; each is run on its own agent."""

    def __init__(self, folder: Path, chosen: list[Recording]) -> None:
        self._folder, self._chosen = folder, chosen
        self._root = folder / "repo"
        self._root.mkdir()
        cases = [_case(one).model_dump(mode="json") for one in chosen]
        (self._root / "cases.json").write_text(json.dumps(cases), encoding="utf-8")

    def run(self, name: str, pause: float, *options: str) -> dict[str, dict[str, Any]]:
        """Status and printed bytes of each recording."""
        found: dict[str, dict[str, Any]] = {}
        words = [sys.executable, "-I", "-S", str(HERE / "agent.py"), "lines"]
        command = f"{shlex.join(words)} {{prompt}} {pause}"
        for agent in dict.fromkeys(one.provider for one in self._chosen):
            own = [one for one in self._chosen if one.provider == agent]
            artifacts = self._folder / name / agent
            run_product(
                "run", "--agents", agent, "--no-progress", "--disable-log-scan",
                "--workspace", "shared", "--max-parallel", "8", "--artifacts-root", artifacts,
                "--case-id", ",".join(_case(one).case_id for one in own), *options,
                cwd=self._root,
                codes=(0, 1),
                HOME=str(self._folder),
                **{f"AGENT_{agent.upper()}_TEMPLATE": command},
            )  # fmt: skip
            (file,) = artifacts.glob("*/results.json")
            rows = {row["case_id"]: row for row in json.loads(file.read_bytes())["results"]}
            for one in own:
                row = rows[_case(one).case_id]
                transcript = file.parent / "transcripts" / f"{row['unit_run_id']}.stdout"
                found[one.key] = {"status": row["status"], "bytes": transcript.stat().st_size}
        return found
