"""Every recorded run of a real agent CLI is judged as its labels say, however it was stored."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from routing_action.agents.discovery import our_providers
from routing_action.evidence.outcome import Outcome
from tests.support.builders import Run, lines_of
from tests.support.recorded import FOLDER, Recording, recordings

MAIN = recordings("cli")
OTHER = recordings("other")
EVERY = (*MAIN, *OTHER)
VERSIONS = {
    folder: [one for one in EVERY if one.key.rpartition("/")[0] == folder]
    for folder in dict.fromkeys(one.key.rpartition("/")[0] for one in EVERY)
}

each_recording = pytest.mark.parametrize("one", EVERY, ids=lambda one: one.key)
each_version = pytest.mark.parametrize("folder", VERSIONS)


def expected_tier(one: Recording, skill: str, found: int | None) -> bool:
    """Whether a skill's tier is what the labels ask for."""
    if one.format == "text":
        return found != 1 or skill in one.loaded
    if skill in one.loaded:
        return found == 1
    if skill in one.read or skill in one.failed:
        return found == 2
    return found in (None, 3)


def everything_judged(run: Run) -> dict[str, Any]:
    """What must not depend on how a transcript's lines are ended or spaced."""
    hits = {token: (hit.tier, hit.score, hit.kind) for token, hit in run.evidence.hits.items()}
    return {
        "hits": hits,
        "loads": run.evidence.loads,
        "attempts": run.evidence.attempts,
        "reading": run.reading,
        "outcome": run.outcome(),
    }


def proven(run: Run) -> set[str]:
    return {token for token, tier in run.tiers().items() if tier == 1}


def test_no_recording_was_lost() -> None:
    """A recording that goes missing is noticed."""
    files = [path for name in ("cli", "other") for path in FOLDER.glob(f"{name}/*/*/*.stdout")]
    assert len(MAIN) == 402
    assert len(OTHER) == 284
    assert {FOLDER / f"{one.key}.stdout" for one in EVERY} == set(files)


@each_recording
def test_a_recorded_run_is_judged_as_labelled(one: Recording) -> None:
    """Exactly the loaded skills are Tier 1, hand reads and failed calls Tier 2, the rest worse."""
    run = one.read_as()

    wrong = {
        skill: tier for skill, tier in run.tiers().items() if not expected_tier(one, skill, tier)
    }
    assert wrong == {}
    assert run.outcome(timed_out=one.timed_out) == one.run
    if one.is_healthy:
        assert run.reading.unrecognised == 0


@each_version
def test_a_recording_stored_in_another_way_is_judged_the_same(folder: str) -> None:
    """CRLF line ends, a byte order mark or blank lines between records change no verdict."""
    for one in VERSIONS[folder]:
        as_printed = everything_judged(one.read_as())
        blank = [part for line in lines_of(one.stdout) for part in (b"", line, b" \r", b"\t")]
        for changed in (one.stdout.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + one.stdout, blank):
            assert everything_judged(one.read_as(changed)) == as_printed, one.key


@each_version
def test_a_recording_that_was_cut_short_proves_nothing_more_than_the_whole(folder: str) -> None:
    """A transcript that ends after any of its lines never shows a load that never happened."""
    for one in VERSIONS[folder]:
        lines = lines_of(one.stdout)
        whole = proven(one.read_as())
        for end in range(len(lines)):
            assert proven(one.read_as(lines[:end])) <= whole, f"{one.key} cut after line {end}"


def _renamed(value: Any) -> Any:  # noqa: ANN401
    """The record with another name for every event type in it."""
    if isinstance(value, list):
        return [_renamed(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: f"next-{item}" if key in ("type", "item_type", "role") else _renamed(item)
        for key, item in value.items()
    }


def _with_records(one: Recording, change: Callable[[Any], Any]) -> bytes:
    lines = (json.dumps(change(json.loads(line))) for line in lines_of(one.stdout))
    return "\n".join(lines).encode()


@each_version
def test_a_stream_whose_event_names_changed_is_schema_drift(folder: str) -> None:
    """A CLI release that renames its events stops the unit as infra, never as a failed routing."""
    healthy = [one for one in VERSIONS[folder] if one.is_healthy]
    for one in healthy:
        run = one.read_as(_with_records(one, _renamed))
        assert (run.outcome(), proven(run)) == (Outcome.SCHEMA_DRIFT, set()), one.key


def test_every_provider_has_a_healthy_recording() -> None:
    """Whatever is shown for each version is shown for all of our providers."""
    healthy = {one.provider for one in EVERY if one.is_healthy}
    assert healthy == set(our_providers())


def test_every_generation_of_codex_gives_the_same_verdict() -> None:
    """One run recorded in three generations of codex' stream has one verdict."""
    keys = {
        "cli/codex/0.171.0/a_skill",
        "other/codex/0.42.0/a_skill+expjson",
        "other/codex/0.39.0/a_skill",
        "other/codex/0.44.0/a_skill",
    }
    verdicts = [
        (one.read_as().evidence.loads, one.read_as().outcome()) for one in EVERY if one.key in keys
    ]
    assert verdicts == [(["widget-testing"], Outcome.COMPLETED)] * 4


def test_what_recorded_sub_agents_loaded_is_attributed_to_them() -> None:
    """In the recordings with a sub-agent whose stream shows it, and in no other one."""
    runs = {one.key: one.read_as().evidence.subagent_loads for one in EVERY}
    assert {key for key, found in runs.items() if found} == {
        "cli/claude/2.1.332/w_subagent",
        "cli/cline/3.0.65/w_subagent",
        "cli/copilot/1.0.102/w_subagent",
        "other/claude/2.0.20/w_subagent",
        "other/claude/2.1.20/w_subagent",
        "other/copilot/0.0.423/w_subagent",
    }
