"""What the pages say of red gates and of recordings holds in a repository of a reader's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.doc_pages import DOCS, section, steps_of
from tests.support.own_repository import OwnRepository


@pytest.fixture
def own(tmp_path: Path) -> OwnRepository:
    return OwnRepository(tmp_path)


def commands_below(page: str, heading: str) -> list[str]:
    return [line for step in steps_of(section(DOCS / page, heading)) for line in step.commands]


@pytest.mark.slow
def test_the_recorder_keeps_trials_and_how_a_run_ended(own: OwnRepository) -> None:
    """A time-out stays one, and what was never started is left out and named."""
    own.write("cases.json", json.dumps([{"case_id": "one", "prompt": "x", "expected_skill": ""}]))
    own.write("slow.sh", 'printf \'{"type":"system","subtype":"init"}\\n\'; exec sleep 60\n')
    own.environment["AGENT_CLAUDE_TEMPLATE"] = "sh slow.sh {prompt}"
    own.environment["AGENT_CODEX_TEMPLATE"] = "/is/not/there {prompt}"
    run = "routing-action run --agents claude,codex --timeout-seconds 1 --trials 2"
    printed = own.shell(f"{run} >log 2>&1 || true", "routing-action record --to recorded")
    assert printed.splitlines()[-2:] == [
        "recorded: 2 recordings of 1 case on claude; read them before you commit them",
        "next: routing-action run --replay=recorded --agents claude",
    ]
    replayed = own.shell("routing-action run --replay=recorded --agents claude || true")
    assert "FAIL claude:one: timed out (failed 2 of 2)" in replayed
    assert "2 recorded runs: 2 fail;" in replayed


@pytest.mark.slow
def test_an_agent_that_is_measured_no_more_is_taken_out_as_the_page_says(
    own: OwnRepository,
) -> None:
    """Entries of an agent that the gate does not ask for are red; without them it is green."""
    own.start("claude,codex")
    judge = "routing-action compare --results results.json --providers claude --merge-base-of main"
    red = own.shell(
        "git checkout -qb change",
        "git commit -q --allow-empty -m 'Measure claude alone'",
        "routing-action run --agents claude --skills .claude/skills --output results.json",
        f"{judge} || true",
    )
    assert "REMOVED codex: 3 cases, each: codex is not asked for but has" in " ".join(red.split())
    assert "gate: Routing gate failed: 3 pairs were removed only in part" in red
    green = own.shell(*commands_below("how-to/more-agents.md", "Remove an agent"), judge)
    assert "3 REMOVED, 3 OK" in green
    assert "gate: Routing is as expected" in green


@pytest.mark.slow
def test_a_shard_that_is_missing_is_red_as_the_page_says(own: OwnRepository) -> None:
    """All shards together are judged as one batch."""
    own.start()
    told = commands_below("how-to/run-in-parallel-and-serial.md", "Several machines")
    first, second, compare = told[-3:]
    assert "shard 2/2 are missing" in own.shell(first, f"{compare} || true")
    assert "3 OK\ngate: Routing is as expected" in own.shell(second, compare)
