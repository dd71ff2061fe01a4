"""Edits in view: in each report, whatever they say and however many they are."""

from __future__ import annotations

import pytest

from routing_action.corpus.influences import Influence
from routing_action.gate.model import Delta, Edit, FieldEdit
from routing_action.report.markdown import render_comment
from routing_action.report.terminal.delta_text import render_delta_text
from routing_action.report.terminal.layout import ConsoleStyle
from tests.support.report_values import HOSTILE, make_delta, render_summary
from tests.unit.report.test_junit import NOWHERE, check, render_junit


def edited(*edits: Edit, measured_with: tuple[str, ...] = ()) -> Delta:
    """A green delta of a change with edits."""
    return make_delta().model_copy(update={"edits": edits, "measured_with": measured_with})


def edit(name: str, before: str = "was", after: str = "is", path: str = "cases.json") -> Edit:
    """An edited case."""
    fields = (FieldEdit(field="prompt", before=before, after=after),)
    return Edit(path=path, influence=Influence.CASES, what="edited", name=name, fields=fields)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_edits_act_in_no_report(text: str) -> None:
    """JUnit stays valid, and markdown notifies nobody."""
    delta = edited(edit(text, text, f"{text}!", text), measured_with=(text,))
    check(render_junit(delta, (), NOWHERE))
    plain = render_comment(edited(edit("n", "b", "a", "p"), measured_with=("m",)), NOWHERE)
    shown = render_comment(delta, NOWHERE)
    assert len(shown.splitlines()) == len(plain.splitlines())
    assert "\x1b" not in render_delta_text(delta, ConsoleStyle())


@pytest.mark.parametrize("budget", [60_000, 5_000])
def test_many_edits_fit_and_are_counted(budget: int) -> None:
    """The fullest form that fits; the count is always there."""
    edits = [edit(f"case-{number}", "x" * 500, "y" * 500) for number in range(300)]
    others = [
        Edit(path=f"{influence.value}/{'z' * 200}", influence=influence, what="added")
        for influence in Influence
        for _ in range(50)
    ]
    delta = edited(*edits, *others, measured_with=tuple(f"{n}{'w' * 300}" for n in range(50)))
    comment = render_comment(delta, NOWHERE, budget=budget)
    assert len(comment.encode()) <= budget
    assert "350 cases" in comment
    assert "50 skill files" in comment


def test_all_of_a_few_edits_is_shown() -> None:
    """In comment, summary and terminal, each with its values."""
    delta = edited(edit("one", "before it", "after it"), measured_with=("with a stand-in",))
    texts = (
        render_comment(delta, NOWHERE),
        render_summary(delta, NOWHERE),
        render_delta_text(delta, ConsoleStyle()),
    )
    for text in texts:
        for part in ("one", "before it", "after it", "with a stand-in", "1 case"):
            assert part in text


def test_a_terminal_shows_the_first_edits_and_counts_the_others() -> None:
    """The rest is in the JSON."""
    text = render_delta_text(edited(*(edit(f"c{n}") for n in range(70))), ConsoleStyle())
    assert "and 10 more edits" in text
