"""This repository's own corpus on three real agents at once, through ./test.sh and its gate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.live.batch import AGENTS, Order, run_order
from tests.live.bench import ROOT
from tests.live.caller import Caller
from tests.live.conftest import Record
from tests.live.mock_scripts import Book, Script, parse_script

pytestmark = pytest.mark.live


def open_corpus() -> Book:
    """The scripts that the replay set was recorded with, by the prompts of cases.json."""
    text = (ROOT / "tests" / "recordings" / "replay-scripts.json").read_text("utf-8")
    entries: dict[str, dict[str, Any]] = json.loads(text.replace("{repo}/", ""))
    cases = json.loads((ROOT / "cases.json").read_text("utf-8"))
    own: dict[tuple[str, str], Script] = {}
    for case in cases:
        entry = entries[case["case_id"]]
        for agent in AGENTS:
            # The skills lie in the repository here, so none has a plugin's name in front.
            script = json.dumps({**entry, **entry.get(agent, {})}).replace("routing-action:", "")
            read = parse_script(json.loads(script))
            in_home = "{codex_home}" in read.skill_file
            own[agent, case["prompt"]] = Script(read.steps, read.tasks) if in_home else read
    return Book({case["prompt"]: own["claude", case["prompt"]] for case in cases}, own)


def test_the_whole_corpus_passes_its_gate(
    caller: Caller, programs: list[Path], record: Record, tmp_path: Path
) -> None:
    """Every case on claude, codex and copilot, as the baseline declares; `compare` decides."""
    batch = run_order(
        Order(
            caller,
            programs,
            open_corpus(),
            ("--artifacts-root", str(tmp_path / "artifacts"), "--max-parallel", "4"),
            command=(str(ROOT / "test.sh"),),
            cwd=ROOT,
        )
    )
    assert batch.code == 0, batch.stdout
    expected = json.loads((ROOT / "provider-baseline.json").read_text("utf-8"))
    found = {
        (agent, case_id): row["status"] for (agent, case_id), row in sorted(batch.rows.items())
    }
    assert found == {
        (agent, case_id): expected[case_id][agent]["expected_status"]
        for agent, case_id in sorted(batch.rows)
    }
    assert len(found) == len(AGENTS) * len(expected)
    passed = list(found.values()).count("pass")
    assert f"\n{passed} OK, {len(found) - passed} known failures\n" in batch.stdout
    for agent, case_id in found:
        record(batch, agent, case_id)
