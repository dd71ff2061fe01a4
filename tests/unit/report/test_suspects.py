"""A red row says what in the change it is about, and what the change leaves alone."""

from __future__ import annotations

from typing import Any

import pytest

from routing_action.corpus.influences import Influence
from routing_action.gate.conclusion import Conclusion
from routing_action.gate.model import UNKNOWN, Delta, DeltaEntry, DeltaSkill, Edit, FieldEdit
from routing_action.gate.rules import DeltaKind
from routing_action.report.reasons import say
from routing_action.report.suspects import describe_rest, list_suspects
from tests.rendering.samples import SKILLS, edited_case, entry, make, regression, stolen

TAKER, WANTED = SKILLS


def judged(row: DeltaEntry, **fields: Any) -> Delta:  # noqa: ANN401
    """A delta whose edits are all known."""
    return make([row], Conclusion.FAILURE, **{"edits_known": True, "skills": SKILLS, **fields})


def edit(path: str, influence: Influence = Influence.SKILL, **fields: Any) -> Edit:  # noqa: ANN401
    return Edit(**{"path": path, "influence": influence, "what": "edited", **fields})


def test_the_skill_that_took_the_prompt_comes_first_with_its_text_before_and_after() -> None:
    """Then what the change leaves alone, and what else of it can move a prompt."""
    delta = stolen()
    (suspect,) = list_suspects(delta, delta.rows[0])
    assert say(suspect.sentence) == (
        "This change edits the description of summarising-commits "
        "(skills/summarising-commits/SKILL.md)"
    )
    assert suspect.before.endswith("Not for releases.")
    assert suspect.after == TAKER.description
    assert [say(one) for one in describe_rest(delta, delta.rows[0])] == [
        "This change does not edit writing-release-notes",
        "It also edits CLAUDE.md, which can move any prompt",
    ]


@pytest.mark.parametrize(
    ("skill", "said", "before", "after"),
    [
        (
            TAKER.model_copy(update={"before": ""}),
            "adds summarising-commits (skills/",
            "",
            TAKER.description,
        ),
        (
            WANTED.model_copy(update={"before": "Old.", "description": "", "agents": ()}),
            "removes writing-release-notes (skills/",
            "Old.",
            "",
        ),
    ],
)
def test_a_skill_that_comes_or_goes_is_named_so(
    skill: Any,  # noqa: ANN401
    said: str,
    before: str,
    after: str,
) -> None:
    """With the text that came or went."""
    row = regression()
    (suspect,) = list_suspects(judged(row, skills=(skill,)), row)
    assert said in say(suspect.sentence)
    assert (suspect.before, suspect.after) == (before, after)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (
            edit(TAKER.path, name=TAKER.name, summary="text: 3 lines added"),
            f"This change edits summarising-commits ({TAKER.path}), but not its description",
        ),
        (
            edit("skills/a/a.sh", name=TAKER.name),
            "This change edits summarising-commits (skills/a/a.sh), but not its description",
        ),
        (
            edit(TAKER.path, name=TAKER.name, summary=UNKNOWN),
            f"This change edits summarising-commits ({TAKER.path})",
        ),
        (
            edit(
                TAKER.path,
                name=TAKER.name,
                fields=(FieldEdit(field="frontmatter line 2", before="", after="description: x"),),
            ),
            f"This change edits summarising-commits ({TAKER.path})",
        ),
        (
            edit(TAKER.path, name=TAKER.name, what="removed"),
            f"This change removes summarising-commits ({TAKER.path})",
        ),
        (
            edit(TAKER.path, name=TAKER.name, what="renamed", path_before="skills/old/SKILL.md"),
            "This change renames skills/old/SKILL.md to " + TAKER.path,
        ),
    ],
)
def test_an_edit_beside_the_description_is_told_too(found: Edit, said: str) -> None:
    """The text below it, or the name."""
    row = regression()
    delta = judged(row, edits=(found,))
    assert [say(suspect.sentence) for suspect in list_suspects(delta, row)] == [said]
    assert [say(one) for one in describe_rest(delta, row)] == [
        "This change does not edit writing-release-notes"
    ]


@pytest.mark.parametrize("known", [(), SKILLS])
@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("Old.", "New.", "This change edits the description of summarising-commits (a/SKILL.md)"),
        ("", "New.", "This change adds summarising-commits (a/SKILL.md)"),
        ("Old.", "", "This change removes summarising-commits (a/SKILL.md)"),
    ],
)
def test_a_description_that_no_result_holds_is_shown_as_the_change_edits_it(
    known: tuple[DeltaSkill, ...], before: str, after: str, said: str
) -> None:
    """Recordings hold none, and an agent may have been offered another copy of the skill."""
    row = regression()
    field = FieldEdit(field="description", before=before, after=after)
    edits = (
        edit("a/run.sh", name=TAKER.name),
        edit("a/SKILL.md", name=TAKER.name, fields=(field,)),
    )
    (suspect,) = list_suspects(judged(row, edits=edits, skills=known), row)
    assert (say(suspect.sentence), suspect.before, suspect.after) == (said, before, after)


def test_neither_is_edited_is_only_said_where_all_edits_are_known() -> None:
    """A checked-in baseline is compared with no earlier commit."""
    row = regression()
    assert [say(one) for one in describe_rest(judged(row), row)] == [
        "This change edits neither summarising-commits nor writing-release-notes"
    ]
    assert not list(describe_rest(judged(row, edits_known=False), row))
    lost = entry("a", "claude", DeltaKind.MISSING, gates=True, got=None)
    assert not list(describe_rest(judged(lost), lost))
    assert not list(list_suspects(judged(lost), lost))


def test_other_skills_and_settings_are_pointed_to_but_not_what_moves_nothing() -> None:
    """Few of them by name."""
    row = regression()
    edits = (
        edit("skills/other/SKILL.md", name="other"),
        edit(".claude/settings.json", Influence.SETTINGS),
        edit("AGENTS.md", Influence.INSTRUCTIONS),
        edit("CLAUDE.md", Influence.INSTRUCTIONS),
        edit("provider-baseline.json", Influence.BASELINE, name="x on y"),
        edit("cases.json", Influence.CASES, name="another"),
    )
    *_, rest = describe_rest(judged(row, edits=edits), row)
    assert say(rest) == (
        "It also edits skills/other/SKILL.md, .claude/settings.json, AGENTS.md and 1 more, "
        "which can move any prompt"
    )


def test_an_edited_case_is_shown_field_by_field_and_a_new_one_is_no_suspect() -> None:
    """The row of a new case says that it is new."""
    delta = edited_case()
    (suspect,) = list_suspects(delta, delta.rows[0])
    assert say(suspect.sentence) == "This change edits the case"
    assert suspect.before == "prompt: Write the release notes."
    assert suspect.after.splitlines()[1] == "expected_skill: writing-release-notes"
    row = regression().model_copy(update={"kind": DeltaKind.NEW})
    added = edit(
        "cases.json",
        Influence.CASES,
        name=row.case_id,
        what="added",
        fields=(FieldEdit(field="prompt", before="", after="x"),),
    )
    assert not list(list_suspects(judged(row, edits=(added,)), row))


def test_no_edit_is_a_suspect_where_a_date_alone_is_red() -> None:
    """An entry that is past its date would be red without the change."""
    delta = stolen()
    row = delta.rows[0].model_copy(update={"kind": DeltaKind.EXPIRED})
    assert not [*list_suspects(delta, row), *describe_rest(delta, row)]
