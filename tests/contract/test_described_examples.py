"""The descriptions in the documentation judge real runs, and a made-up agent's, as labelled."""

from __future__ import annotations

import json
import tomllib

import pytest

from routing_action.agents.described.build import build_provider
from routing_action.agents.described.routing_file import RoutingFile
from routing_action.agents.provider import Provider
from routing_action.evidence.outcome import Outcome
from tests.support.builders import NO_CONTEXT, Run, read
from tests.support.command_line import ROOT
from tests.support.recorded import Recording, recordings
from tests.support.streams import Record, jsonl

EXAMPLES = ROOT / "docs/reference/examples"


def example(name: str) -> Provider:
    """The one agent of an example."""
    text = (EXAMPLES / f"{name}.toml").read_text(encoding="utf-8")
    ((agent, described),) = RoutingFile.model_validate(tomllib.loads(text)).providers.items()
    return build_provider(agent, described)


@pytest.mark.parametrize(
    "one",
    [one for one in recordings("cli") if one.provider in ("droid", "kimi")],
    ids=lambda one: one.key,
)
def test_an_example_judges_the_recordings_of_its_agent(one: Recording) -> None:
    """Loads are Tier 1, failed calls and reads Tier 2, all others worse; the outcome is as due."""
    provider = example(one.provider)
    run = read(provider.name, one.stdout, one.stderr, exit_code=one.exit_code, tokens=one.tokens,
               reader=provider.reader(NO_CONTEXT))  # fmt: skip
    assert run.outcome(timed_out=one.timed_out) == one.run
    for skill, tier in run.tiers().items():
        if one.format == "text":
            assert tier != 1
        elif skill in one.loaded:
            assert tier == 1, skill
        else:
            assert tier in ((2,) if skill in (*one.read, *one.failed) else (None, 3)), skill


# ---- the made-up agent


def orbit(*records: Record, code: int = 0) -> Run:
    reader = example("orbit").reader(NO_CONTEXT)
    return read("orbit", jsonl(*records), exit_code=code, reader=reader)


def answer(step: int, text: str, *calls: tuple[str, Record], author: str = "orbit") -> Record:
    listed = [{"name": name, "arguments": json.dumps(given)} for name, given in calls]
    body = {"kind": "answer", "author": author, "text": text, "calls": listed}
    return {"kind": "model", "step": step, "body": body}


def results(step: int, *texts: str) -> Record:
    return {"kind": "results", "step": step, "outputs": [{"text": text} for text in texts]}


def over(why: str) -> Record:
    return {"kind": "step_over", "why": why}


ASKED = answer(0, "Please see to the widget-testing.", author="user")
USE = answer(
    1, "I use two.", ("use_skill", {"skill": "widget-testing"}), ("use_skill", {"skill": "nope"})
)
DONE = answer(2, "Done.")


def test_the_made_up_agents_loads_are_told_from_failed_calls() -> None:
    """Several calls in one record, arguments as JSON text, success told by text alone."""
    told = results(1, "skill widget-testing is active", "failed: no skill nope")
    run = orbit(ASKED, USE, told, over("tools"), {"kind": "tick"}, DONE, over("answered"))
    assert (run.evidence.loads, run.evidence.attempts) == (["widget-testing"], ["nope"])
    assert (run.outcome(), run.reading.unrecognised, run.reading.notes) == (
        Outcome.COMPLETED, 0, ()
    )  # fmt: skip


def test_the_made_up_agents_other_runs() -> None:
    """An echo is no answer, a step's end not the run's, and the first failure is the cause."""
    assert orbit(ASKED, over("answered")).outcome() is Outcome.NEVER_RAN
    assert orbit(ASKED, DONE, over("tools"), code=-9).outcome() is Outcome.KILLED
    assert orbit(ASKED, DONE, over("answered")).tier("widget-testing") is None
    busy = {"kind": "trouble", "fatal": False, "text": "busy", "http": 503}
    wrong = {"kind": "trouble", "fatal": True, "text": "bad key", "http": 401}
    gave_up = {"kind": "trouble", "fatal": True, "text": "gave up"}
    assert orbit(ASKED, busy, DONE, over("answered")).outcome() is Outcome.COMPLETED
    assert orbit(ASKED, busy, code=1).outcome() is Outcome.SERVER_ERROR
    assert orbit(ASKED, wrong, gave_up, over("fatal"), code=1).outcome() is Outcome.AUTH


def test_the_made_up_agents_reads_are_judged_as_for_every_agent() -> None:
    """A read of SKILL.md by hand is Tier 2, a failed one Tier 3."""
    path = ".orbit/skills/order-api/SKILL.md"
    calls = answer(1, "", ("open", {"path": path}), ("run", {"line": f"ls {path}"}))
    run = orbit(ASKED, calls, results(1, "---", "listed"), DONE, over("answered"))
    assert run.tier("order-api") == 2
    failed = orbit(ASKED, calls, results(1, "failed: x", "listed"), DONE, over("answered"))
    assert failed.tier("order-api") == 3
