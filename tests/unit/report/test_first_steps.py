"""What to do first about a red row: take back what the change edits, or run what is noise again."""

from __future__ import annotations

from typing import Any

import pytest

from routing_action.corpus.baseline import Status
from routing_action.corpus.influences import Influence
from routing_action.gate.conclusion import Conclusion
from routing_action.gate.model import Delta, DeltaEntry, Edit, FieldEdit
from routing_action.gate.rules import DeltaKind
from routing_action.report.remedies import find_fix
from routing_action.report.steps import rerun_command
from tests.rendering.samples import PROMPT, SKILLS, make, regression

TAKER, WANTED = (f"{one.name} ({one.path})" for one in SKILLS)
EDITED_TAKER = (SKILLS[0].model_copy(update={"before": "Sums up."}), SKILLS[1])
ADDED_TAKER = (SKILLS[0].model_copy(update={"before": ""}), SKILLS[1])
EDITED_WANTED = (SKILLS[0], SKILLS[1].model_copy(update={"before": "Writes."}))
EDITED_BOTH = (EDITED_TAKER[0], EDITED_WANTED[1])
NARROW = f"take back or narrow what this change adds to the description of {TAKER}, which took"
NOISE = "probably noise, since this change edits nothing that decides it: run it again with"


def judged(*edits: Edit, skills: Any = SKILLS, **fields: Any) -> tuple[Delta, DeltaEntry]:  # noqa: ANN401
    """A wrong route, once unless told otherwise, and what the change edits."""
    row = regression().model_copy(update=fields)
    known = make([row], Conclusion.FAILURE, skills=skills, edits=edits, edits_known=True)
    return known, row


@pytest.mark.parametrize(
    ("skills", "begin"),
    [
        (
            EDITED_TAKER,
            f"{NARROW} “{PROMPT}”; or say in that of {WANTED} that it is for such prompts",
        ),
        (EDITED_BOTH, f"{NARROW} “{PROMPT}”; or say in that of {WANTED} "),
        (
            ADDED_TAKER,
            f"narrow the description of {TAKER}, which this change adds and which took “",
        ),
        (
            EDITED_WANTED,
            (
                f"take back or correct what this change edits in the description of {WANTED}, "
                f"so that it is again for prompts such as “{PROMPT}”"
            ),
        ),
    ],
)
def test_what_the_change_edits_comes_first(skills: Any, begin: str) -> None:  # noqa: ANN401
    """Whose description the change made wider is narrowed before any other text is touched."""
    delta, row = judged(skills=skills)
    assert find_fix(delta, row).startswith(begin)
    assert rerun_command(delta, row) == "./test.sh --agents claude --case-id notes-from-tags"


@pytest.mark.parametrize(
    ("edits", "fields", "begin"),
    [
        ((), {}, NOISE),
        ((), {"trials": 3, "passed": 1, "flaky": True}, "probably noise: run it again with"),
        ((Edit(path="docs.md", influence=Influence.TEMPLATES, what="edited"),), {}, NOISE),
        ((Edit(path="CLAUDE.md", influence=Influence.INSTRUCTIONS, what="edited"),), {}, "say in"),
        (
            (
                Edit(
                    path="cases.json",
                    name="notes-from-tags",
                    influence=Influence.CASES,
                    what="edited",
                ),
            ),
            {},
            "say in",
        ),
        ((Edit(path=SKILLS[0].path, name=SKILLS[0].name, influence=Influence.SKILL, what="edited"),
         ), {}, "say in"),
        ((), {"trials": 3}, "say in"),
        ((), {"kind": DeltaKind.NEW}, "correct the case, or fix the skill: say in"),
    ],
)  # fmt: skip
def test_noise_is_measured_again_before_any_text_is_edited(
    edits: tuple[Edit, ...], fields: dict[str, Any], begin: str
) -> None:
    """Trials that disagree, or few of them where the change touches nothing of the pair."""
    delta, row = judged(*edits, **fields)
    assert find_fix(delta, row).startswith(begin)
    again = rerun_command(delta, row)
    assert (" --trials 5 " in again) is begin.startswith("probably noise")


@pytest.mark.parametrize(
    ("command", "limit", "again"),
    [
        ("./test.sh --agents claude", 300, "./test.sh --agents claude --timeout-seconds 600"),
        (
            "./test.sh --timeout-seconds 2 --agents claude",
            2,
            "./test.sh --agents claude --timeout-seconds 4",
        ),
        ("x --timeout-seconds 0.5", 0.5, "x --timeout-seconds 1"),
    ],
)
def test_what_timed_out_is_run_again_with_twice_the_time(
    command: str, limit: float, again: str
) -> None:
    """The limit and the transcript are named."""
    delta, row = judged(timed_out=True, failure_kind="timeout", unit_run_id="1-2")
    delta = delta.model_copy(update={"run_commands": {"claude": command}})
    assert find_fix(delta, row).startswith(
        f"timed out after {limit:.15g} s: read transcripts/1-2.stdout beside its results.json; "
    )
    assert rerun_command(delta, row) == f"{again} --case-id notes-from-tags"


def test_what_the_change_accepts_needs_nothing_more() -> None:
    """Its reason is the one in the edited baseline."""
    edit = Edit(
        path="provider-baseline.json",
        influence=Influence.BASELINE,
        what="edited",
        name="notes-from-tags on claude",
        fields=(FieldEdit(field="reason", before="", after="the new skill is for it"),),
    )
    delta, row = judged(edit, accepted=True, got=Status.FAIL)
    assert find_fix(delta, row) == (
        "already accepted by this change (the new skill is for it): it counts when merged"
    )


@pytest.mark.parametrize(
    ("agent", "error", "fix"),
    [
        ("gemini", "401 invalid x-api-key",
         "the key in GEMINI_API_KEY or GOOGLE_API_KEY was rejected: replace it"),
        ("gemini", "Not logged in", "set GEMINI_API_KEY or GOOGLE_API_KEY"),
        ("gemini", "403",
         ("if GEMINI_API_KEY or GOOGLE_API_KEY is set, its key was rejected: replace it; "
          "else set it")),
        ("mine", "401", ("replace the key that was rejected, or set a credential variable of the "
         "agent; routing-action providers list names them")),
    ],
)  # fmt: skip
def test_a_key_that_was_rejected_is_replaced_and_a_missing_one_is_set(
    agent: str, error: str, fix: str
) -> None:
    """By the name of its variable, where the agent is known."""
    fields = {"got": Status.INFRA_ERROR, "failure_kind": "auth", "error": error}
    delta, row = judged(agent=agent, **fields)
    assert find_fix(delta, row) == fix
