"""Rows with one cause are one row, and what to do is said once for all of them."""

from __future__ import annotations

from typing import Any

import pytest

from routing_action.corpus.baseline import Status
from routing_action.gate.conclusion import Conclusion
from routing_action.gate.rules import DeltaKind
from routing_action.report.causes import group_rows
from routing_action.report.check import build_check
from routing_action.report.markdown import render_comment
from routing_action.report.terminal.delta_text import render_delta_text
from routing_action.report.terminal.layout import ConsoleStyle
from tests.rendering.samples import (
    PLACE,
    PROMPT,
    entry,
    make,
    regression,
    same_cause,
    stolen,
    twelve,
)

NOTHING = make([])


def test_sixty_pairs_of_one_cause_are_one_row() -> None:
    """With the error once, the first cases, what to do, and a command for them all."""
    body = render_comment(same_cause(), PLACE)
    (row,) = [line for line in body.splitlines() if line.startswith("| 🔴&nbsp;")]
    assert "<br>60 cases: `case-00`, `case-01`, `case-02` and 57 more on `copilot` |" in row
    assert "`402 You have no quota left" in row
    assert body.count("<summary>🔴 ") == 1
    assert "a limit of the plan, or credit, is used up" in body
    assert "\n./test.sh --agents copilot\n" in body
    assert "Or accept it" not in body
    (annotation,) = build_check(same_cause(), PLACE).annotations
    assert annotation.title == "UNMEASURED: 60 cases on copilot"
    assert "cases: case-00, case-01" in annotation.message


@pytest.mark.parametrize("changes", [{"error": "another one"}, {"agent": "codex"}])
def test_another_cause_is_another_row(changes: dict[str, Any]) -> None:
    """Ids and times in an error are no other cause; its words are."""
    rows = list(same_cause(3).rows[:3])
    assert [len(group) for group in group_rows(NOTHING, rows)] == [3]
    rows[1] = rows[1].model_copy(update=changes)
    assert [len(group) for group in group_rows(NOTHING, rows)] == [2, 1]


def test_a_case_that_fails_alike_on_several_agents_is_one_row() -> None:
    """Two cases are two rows, though they lack the same skill."""
    rows = [regression(case, agent) for case in ("a", "b") for agent in ("claude", "codex")]
    groups = group_rows(NOTHING, rows)
    assert [[(row.case_id, row.agent) for row in group] for group in groups] == [
        [("a", "claude"), ("a", "codex")],
        [("b", "claude"), ("b", "codex")],
    ]
    other = regression("a", "copilot").model_copy(update={"loaded_skills": ()})
    twice = regression("a", "gemini").model_copy(update={"trials": 3})
    assert len(group_rows(NOTHING, [*rows[:2], other, twice])) == 3
    gone = entry("a", "x", DeltaKind.REMOVED, gates=True, got=Status.PASS)
    assert len(group_rows(NOTHING, [rows[0], gone])) == 2


def test_many_changes_are_few_rows_and_red_ones_come_first() -> None:
    """15 pairs of seven causes."""
    body = render_comment(twelve(), PLACE)
    rows = [line for line in body.splitlines() if "&nbsp;" in line and "<br>" in line]
    assert len(rows) == 7
    assert ["🔴" in row for row in rows] == [True] * 3 + [False] * 4


def test_the_comment_answers_four_questions_in_order() -> None:
    """What broke, is it noise, what in the change did it, what to do; then the commands."""
    body = render_comment(stolen(), PLACE)
    parts = [
        "wanted `writing-release-notes`, got `summarising-commits`<br>failed 3 of 3<br>only here: ",
        "This change edits the description of `summarising-commits`",
        "```diff\n- Use when asked what changed: sums up\n- commits.\n- Not for releases.\n+ ",
        "This change does not edit `writing-release-notes`.",
        (
            "**Do now**: take back or narrow what this change adds to the description of "
            "`summarising-commits` (`skills/summarising-commits/SKILL.md`), which took “`Write up"
        ),
        "Run again:",
        "Or accept it; it takes effect when merged: this gate stays red until then:",
        "<summary>Proof</summary>",
    ]
    places = [body.index(part) for part in parts]
    assert places == sorted(places)
    message = build_check(stolen(), PLACE).annotations[0].message
    assert [line.partition(" ")[0] for line in message.splitlines()] == [
        "wanted", "failed", "only", "This", "This", "It", "fix:", "rerun:", "accept:", "once",
    ]  # fmt: skip


def test_prompts_that_one_edited_skill_took_are_one_story() -> None:
    """Each prompt with what it wanted; one diff, one thing to do, one command of each kind."""
    first = stolen()
    taken = [regression(f"case-{n}").model_copy(update={"trials": 1}) for n in range(4)]
    taken[3] = taken[3].model_copy(update={"missing_evidence": ("tagging",)})
    apart = regression("flaky").model_copy(update={"flaky": True, "passed": 1, "trials": 3})
    delta = make(
        [*taken, apart], Conclusion.FAILURE, ("5 regressions",), skills=first.skills,
        edits=first.edits, edits_known=True,
    )  # fmt: skip
    assert [len(group) for group in group_rows(delta, delta.rows)] == [4, 1]
    body = render_comment(delta, PLACE)
    text = " ".join(render_delta_text(delta, ConsoleStyle(), "BATCH").split())
    (annotation, _) = build_check(delta, PLACE).annotations
    assert "`summarising-commits`, which this change edits, took 4 prompts" in body
    for said in (text, annotation.message):
        assert said.count("summarising-commits, which this change edits, took 4 prompts") == 1
    for said in (body, text):
        assert said.count("say in those of the skills that were wanted") == 1
        assert said.count("--case-id case-0,case-1,case-2,case-3") >= 1
        assert said.count("--cases case-0,case-1,case-2,case-3") >= 1
        assert "--cases case-0 " not in said
    assert f"- `{PROMPT}` → `tagging`" in body
    assert f"“{PROMPT}” → tagging" in text
    assert "which took 4 prompts; or say in those of the skills that were wanted" in text


def test_pairs_without_an_entry_are_told_apart_by_what_came() -> None:
    """One that passed is added as it is; one that failed needs a decision."""
    rows = [
        entry(case, "claude", DeltaKind.UNDECLARED, gates=True, was=None, **fields)
        for case, fields in (
            ("good", {}),
            ("bad", {"got": Status.FAIL, "missing_evidence": ("x",), "passed": 0}),
        )
    ]
    delta = make(rows, Conclusion.FAILURE)
    assert [len(group) for group in group_rows(delta, rows)] == [1, 1]
    text = render_delta_text(delta, ConsoleStyle(), "BATCH")
    assert "--from BATCH --cases good --agents claude\n" in text
    assert "--from BATCH --cases bad --agents claude --accept-regression" in text
