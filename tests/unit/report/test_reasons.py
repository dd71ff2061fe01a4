"""Each cause of a red row is told in one sentence, and so is what tells it from noise."""

from __future__ import annotations

from typing import Any

import pytest

from routing_action.corpus.baseline import Status
from routing_action.gate.conclusion import Conclusion
from routing_action.gate.model import DeltaChance, DeltaEntry
from routing_action.gate.rules import DeltaKind
from routing_action.report.reasons import (
    describe_cause,
    describe_trials,
    index_passing,
    list_noise,
    say,
)
from routing_action.report.remedies import find_fix
from routing_action.report.suspects import is_probably_noise
from tests.rendering.samples import PROMPT, SKILLS, entry, make, regression

WANTED = "writing-release-notes"
TAKER = "summarising-commits"
SUCH = f"prompts such as “{PROMPT}”"
BOTH = {
    WANTED: ("writing-release-notes (skills/writing-release-notes/SKILL.md)"),
    TAKER: ("summarising-commits (skills/summarising-commits/SKILL.md)"),
}


def failed(**fields: Any) -> DeltaEntry:  # noqa: ANN401
    """A red pair that lacks a skill, with other fields."""
    return regression().model_copy(update={"loaded_skills": (), **fields})


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"loaded_skills": (TAKER,)}, f"wanted {WANTED}, got {TAKER}"),
        (
            {"loaded_skills": (TAKER,), "subagent_skills": (TAKER,)},
            f"wanted {WANTED}, got {TAKER} (in a sub-agent)",
        ),
        ({}, f"wanted {WANTED}, got no skill"),
        ({"disallowed_hits": (TAKER,)}, f"wanted {WANTED}, got {TAKER}, which is disallowed"),
        (
            {"disallowed_hits": (TAKER,), "missing_evidence": ()},
            f"used {TAKER}, which is disallowed",
        ),
        ({"timed_out": True}, f"timed out before {WANTED} was loaded"),
        ({"timed_out": True, "missing_evidence": ()}, "timed out"),
        (
            {"got": Status.INFRA_ERROR, "failure_kind": "quota"},
            "could not be measured: quota",
        ),
        ({"missing_evidence": (), "why": "a\nb"}, "a b"),
        (
            {"missing_evidence": tuple("abcdefgh")},
            "wanted a, b, c, d, e, f and 2 more, got no skill",
        ),
    ],
)
def test_a_cause_is_one_plain_sentence(fields: dict[str, Any], sentence: str) -> None:
    """What was wanted and what came, or what else happened."""
    assert say(describe_cause(failed(**fields))) == sentence


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"passed": 0, "trials": 3}, "failed 3 of 3"),
        ({"passed": 0, "trials": 1}, "failed 1 of 1: measured once"),
        ({"passed": 1, "trials": 3, "flaky": True}, "flaky: 1 of 3 passed"),
        ({"passed": 0, "trials": 3, "measured": 2}, "failed 2 of 2, 1 not measured"),
        ({"passed": 0, "trials": 3, "measured": 0, "got": Status.INFRA_ERROR}, ""),
        ({"passed": 3, "trials": 3, "got": Status.PASS}, "passed 3 of 3"),
        ({"passed": 1, "trials": 1, "got": Status.PASS}, ""),
        ({"passed": None, "trials": None, "got": None}, ""),
    ],
)
def test_trials_tell_whether_it_is_chance(fields: dict[str, Any], text: str) -> None:
    """Those that `--confirm` added count as all others do."""
    assert describe_trials(failed(**fields)) == text


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        (
            {"finding": "worse", "before_passes": 29, "before_trials": 30, "odds": 1 / 161_290},
            "failed 4 of 4; before: 29 of 30; an unchanged pair does this once in 160,000 runs",
        ),
        (
            {"finding": "not proven", "failed": 1, "declared_rate": 0.7, "odds": 0.76},
            "failed 1 of 4; declared to pass 70% of runs; an unchanged pair does this in most runs",
        ),
        (
            {"finding": "open", "odds": 0.21},
            (
                "failed 4 of 4; before: not known, taken as 95%; an unchanged pair does this "
                "once in 5 runs; not run to a decision"
            ),
        ),
        (
            {"finding": "no rate", "before_passes": 1, "before_trials": 9, "odds": 0.011},
            (
                "failed 4 of 4; before: 1 of 9; an unchanged pair does this once in 91 runs; "
                "passes too seldom to be tested"
            ),
        ),
        (
            {"finding": "worse", "before_passes": 99, "before_trials": 99, "odds": 1e-12},
            (
                "failed 4 of 4; before: 99 of 99; an unchanged pair does this less than once in "
                "1,000,000,000 runs"
            ),
        ),
    ],
)
def test_a_pair_that_was_tested_says_how_rare_that_is(fields: dict[str, Any], text: str) -> None:
    """A person can see how sure it is, and by what."""
    chance = DeltaChance.model_validate({"failed": 4, "measured": 4, **fields})
    row = failed(chance=chance, passed=0, trials=4)
    assert describe_trials(row) == text
    assert describe_trials(failed(chance=chance, trials=5, measured=4)) == f"{text}, 1 not measured"


def test_what_is_proven_is_no_noise() -> None:
    """Two fails of a steady pair are enough, and are not to be run again."""
    row = failed(passed=0, trials=2)
    delta = make([row], Conclusion.FAILURE).model_copy(update={"edits_known": True})
    assert is_probably_noise(delta, row)
    chance = DeltaChance(finding="worse", failed=2, measured=2, odds=1e-6)
    assert not is_probably_noise(delta, row.model_copy(update={"chance": chance}))


def test_noise_names_trials_earlier_attempts_and_who_still_passes() -> None:
    """In the order in which they convince."""
    row = failed(trials=3, red_before=(1, 2), not_alike=("CLI version was 1, is 2",))
    others = [entry(row.case_id, agent) for agent in ("codex", "copilot")]
    passing = index_passing(make([row, *others], Conclusion.FAILURE)).get(row.case_id, [])
    assert [say(one) for one in list_noise(row, passing)] == [
        "failed 3 of 3",
        "red before: at attempts 1, 2 of this run",
        "only here: passes on codex, copilot",
        "not comparable: CLI version was 1, is 2",
    ]
    assert not list(list_noise(entry("a", "b"), ["codex"]))


def test_noise_names_the_other_runs_of_the_same_change() -> None:
    """By their ids, before the attempts of this run."""
    row = entry("a", "b", red_in_runs=("11", "12"), red_before=(1,))
    told = "red before: in runs 11, 12 and at attempt 1 of this run"
    assert told in [say(one) for one in list_noise(row, [])]


@pytest.mark.parametrize(
    ("fields", "fix"),
    [
        (
            {"loaded_skills": (TAKER,)},
            (
                f"say in the description of {BOTH[WANTED]} that it is for {SUCH}, "
                f"and in that of {BOTH[TAKER]} that it is not"
            ),
        ),
        (
            {"loaded_skills": (TAKER,), "failure_kind": "optional_only"},
            (
                f"say in the description of {BOTH[WANTED]} that it is for {SUCH}, "
                f"and in that of {BOTH[TAKER]} that it is not, or expect that one"
            ),
        ),
        (
            {
                "disallowed_hits": (TAKER,),
                "missing_evidence": (),
                "failure_kind": "disallowed_hit",
            },
            (
                f"say in the description of {BOTH[TAKER]} that it is not for prompts such as "
                f"“{PROMPT}”, or move it to optional_skills if either skill is right"
            ),
        ),
        (
            {"failure_kind": "missing_required"},
            f"say in the description of {BOTH[WANTED]} to use it for {SUCH}",
        ),
        (
            {"failure_kind": "answered_directly"},
            (
                f"say in the description of {BOTH[WANTED]} to use it for {SUCH}, "
                "or ask in the prompt for work rather than for knowledge"
            ),
        ),
        (
            {"failure_kind": "evidence_too_weak"},
            (
                f"{BOTH[WANTED]} was read by hand, not loaded: make its description ask for "
                "that, or set expected_skill_min_tier to 2 in the case if reading is enough"
            ),
        ),
        (
            {"failure_kind": "invoked_but_not_loaded"},
            (
                f"claude called {BOTH[WANTED]}, but loading failed: look in the result of the call "
                "for a wrong name, a permission rule or a broken file"
            ),
        ),
        (
            {"failure_kind": "skill_unavailable"},
            (
                f"claude was not offered {BOTH[WANTED]}: put it in a folder where this agent "
                "looks, or stage it with --skills; check its frontmatter"
            ),
        ),
        (
            {
                "failure_kind": "skill_unavailable",
                "error": "failed to load SKILL.md: description exceeds 1024 characters",
            },
            (
                f"claude was not offered {BOTH[WANTED]}: "
                "shorten its description to at most 1024 characters"
            ),
        ),
        (
            {"failure_kind": "timeout", "timed_out": True},
            (
                "timed out after 300 s: read the transcript; if the agent was on its way, run it "
                "again with twice the time, else shorten the prompt"
            ),
        ),
        (
            {"failure_kind": "rate_limit", "got": Status.INFRA_ERROR},
            "lower --max-parallel or --max-parallel-provider, or run again later",
        ),
        (
            {"failure_kind": "missing_required", "missing_evidence": ("docs/a.md",)},
            "say in its description when to use the skill, in the words of this prompt",
        ),
        ({"failure_kind": None, "kind": DeltaKind.MISSING, "got": None}, ""),
    ],
)
def test_the_fix_fits_the_cause_and_names_skills_files_and_prompt(
    fields: dict[str, Any], fix: str
) -> None:
    """One sentence for each cause, with the file to edit."""
    row = failed(**fields)
    assert find_fix(make([row], Conclusion.FAILURE, skills=SKILLS), row) == fix


def test_a_skill_that_the_change_removed_is_to_be_put_back() -> None:
    """The agent was not offered it, since it is gone."""
    row = failed(failure_kind="skill_unavailable")
    gone = SKILLS[1].model_copy(update={"agents": (), "description": "", "before": "Use it."})
    delta = make([row], Conclusion.FAILURE, skills=(gone,))
    assert find_fix(delta, row) == (
        f"this change removes {BOTH[WANTED]}: put it back, or remove the case as well"
    )


def test_what_is_not_known_is_not_named() -> None:
    """A skill of the agent's own has no file here, and a removed case no prompt."""
    row = failed(loaded_skills=("own",))
    delta = make([row], Conclusion.FAILURE, prompts={})
    assert find_fix(delta, row) == (
        f"say in the description of {WANTED} that it is for such a prompt, and in that of own "
        "that it is not"
    )


def test_where_the_past_is_known_a_fall_is_not_called_noise() -> None:
    """The test by the history tells; a pair that did not end says so instead."""
    row = failed(passed=2, trials=5, flaky=True, history=((47, 47),))
    delta = make([row], Conclusion.FAILURE)
    assert not is_probably_noise(delta, row)
    assert "noise" not in find_fix(delta, row)
    assert "before: 47 of 47; run with --confirm auto and this --history to tell a fall from " in (
        "; ".join(map(say, list_noise(row, ())))
    )
    lost = row.model_copy(update={"got": Status.INFRA_ERROR})
    assert [say(one) for one in list_noise(lost, ())] == [
        "before: 47 of 47; this time it was not run to an end"
    ]
