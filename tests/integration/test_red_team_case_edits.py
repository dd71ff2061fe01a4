"""A case that a change edits is judged as it was too, and stands above what is as expected."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support.pull_request import (
    CASES,
    DEPLOY,
    DEPLOYING,
    FILES,
    STEAL,
    PullRequest,
    Verdict,
    skill,
)


def cases(edit: dict[str, Any], *more: dict[str, Any]) -> dict[str, str | None]:
    """The case file with the case `deploy` edited."""
    return {"cases.json": json.dumps([{**CASES[0], **edit}, CASES[1], *more], indent=2)}


def everywhere(found: Verdict, *texts: str) -> None:
    """Each report holds the texts."""
    for name in ("comment.md", "summary.md", "report.html", "junit.xml"):
        for text in texts:
            assert text in found.text(name), (name, text)


WEAKER = [
    pytest.param({"expected_skill": ""}, id="the requirement is dropped"),
    pytest.param({"expected_skill": "writing-notes"}, id="another skill is expected"),
    pytest.param({"expected_skill": "", "optional_skills": ["deploying"]}, id="it is optional"),
    pytest.param({"provider_aliases": {"claude": {"writing-notes": "deploying"}}}, id="an alias"),
    pytest.param(
        {"expected_skill": "", "required_any_evidence": ["tool_use"]}, id="any activity will do"
    ),
    pytest.param(
        {"expected_skill": "", "prompt": f"{DEPLOY}.\u200b "}, id="with a sign that nobody hears"
    ),
    pytest.param({"expected_skill": "", "category": "other"}, id="and another category"),
]


@pytest.mark.parametrize("edit", WEAKER)
def test_g5_an_edited_case_is_also_judged_as_it_was(
    change: PullRequest, edit: dict[str, Any]
) -> None:
    """The prompt is the same, so the transcript proves what it proved before the edit."""
    change.propose({**STEAL, **cases(edit)})
    found = change.check()
    assert found.is_red
    row = found.row("deploy")
    assert row["kind"] == "CASE EDITED"
    assert "as it was before this change: fail (missing deploying" in row["why"]
    everywhere(found, "CASE EDITED", *edit)
    assert "case_id of its own" in found.text("comment.md")


def test_g5_an_edited_case_that_passes_both_ways_is_news_and_green(change: PullRequest) -> None:
    """Stricter than before, and still met."""
    change.propose(cases({"disallowed_skills": ["writing-notes"]}))
    found = change.check()
    assert found.conclusion == "success"
    assert found.row("deploy")["kind"] == "CASE EDITED"
    kinds = [row["kind"] for row in found.delta["rows"]]
    assert kinds == ["CASE EDITED", "OK"]
    everywhere(found, "disallowed_skills")


def test_g5_a_category_alone_is_listed_and_changes_no_row(change: PullRequest) -> None:
    """It decides nothing about a verdict, but about what a filter selects."""
    change.propose(cases({"category": "slow"}))
    found = change.check()
    assert found.conclusion == "success"
    assert found.row("deploy")["kind"] == "OK"
    everywhere(found, "category")


def test_g5_another_prompt_is_news_above_what_is_ok(change: PullRequest) -> None:
    """It cannot be judged as it was; the reviewer sees both prompts."""
    change.propose(cases({"prompt": "Use the skill deploying to bring it to production"}))
    found = change.check()
    assert found.conclusion == "success"
    assert [row["kind"] for row in found.delta["rows"]] == ["CASE EDITED", "OK"]
    everywhere(found, DEPLOY, "Use the skill deploying")


def test_g5_a_pair_that_was_expected_to_fail_stays_green(tmp_path: Path) -> None:
    """The case as it was fails as its baseline says."""
    weak = json.loads(FILES["provider-baseline.json"] or "")
    weak["deploy"]["claude"]["expected_status"] = "fail"
    base = {**FILES, **STEAL, "provider-baseline.json": json.dumps(weak)}
    change = PullRequest(tmp_path, base)
    change.propose(cases({"expected_skill": "writing-notes"}))
    found = change.check()
    assert found.conclusion == "success"
    assert found.row("deploy")["kind"] == "CASE EDITED"


def test_g5_a_case_that_fails_as_edited_is_a_regression(change: PullRequest) -> None:
    """The edit does not soften the word."""
    change.propose({**STEAL, **cases({"disallowed_skills": ["writing-notes"]})})
    found = change.check()
    assert found.is_red
    assert found.row("deploy")["kind"] == "REGRESSION"
    everywhere(found, "disallowed_skills")


def test_g5_a_baseline_entry_does_not_accept_an_edited_case(change: PullRequest) -> None:
    """The merge base's entry decides about it as about any other."""
    lowered = json.loads(FILES["provider-baseline.json"] or "")
    lowered["deploy"]["claude"]["expected_status"] = "fail"
    change.propose(
        {**STEAL, **cases({"expected_skill": ""}), "provider-baseline.json": json.dumps(lowered)}
    )
    found = change.check()
    assert found.is_red
    assert "expected_status: pass → fail" in found.text("comment.md")


def test_g5_without_its_transcript_an_edited_case_is_red(change: PullRequest) -> None:
    """Nobody could tell whether the edit weakened it."""
    change.propose(cases({"expected_skill": ""}))
    change.measure()
    for folder in change.gate.legs.rglob("transcripts"):
        shutil.rmtree(folder)
    found = change.judge()
    assert found.is_red
    assert "could not be judged as it was" in found.row("deploy")["why"]


def test_g5_a_transcript_that_belies_its_row_is_no_proof(change: PullRequest) -> None:
    """Only the stored transcripts were exchanged for those of the other case."""
    change.propose({**STEAL, **cases({"expected_skill": "writing-notes"})})
    change.measure()
    for file in change.gate.legs.rglob("transcripts/*.stdout"):
        file.write_text(file.read_text("utf-8").replace("writing-notes", "deploying"), "utf-8")
    found = change.judge()
    assert found.is_red
    assert found.row("deploy")["kind"] == "CASE EDITED"


def test_g5_a_case_with_another_id_is_removed_and_new(change: PullRequest) -> None:
    """It is held to its own entry, and the edit says which case it was."""
    entries = json.loads(FILES["provider-baseline.json"] or "")
    entries["deploy-2"] = entries.pop("deploy")
    change.propose(
        {
            **STEAL,
            **cases({"case_id": "deploy-2", "expected_skill": "writing-notes"}),
            "provider-baseline.json": json.dumps(entries),
        }
    )
    found = change.check()
    assert found.conclusion == "success"
    assert (found.row("deploy")["kind"], found.row("deploy-2")["kind"]) == ("REMOVED", "NEW")
    edit = next(one for one in found.delta["edits"] if one["influence"] == "cases")
    assert (edit["what"], edit["name"]) == ("renamed", "deploy-2")
    assert {"field": "expected_skill", "before": "deploying", "after": "writing-notes"} in edit[
        "fields"
    ]


@pytest.mark.slow
def test_g5_many_new_cases_do_not_push_an_edited_one_out(change: PullRequest) -> None:
    """A flood is counted; the edit stands before it, with its values."""
    flood = [
        {"case_id": f"a{number}", "prompt": f"Say {number}", "expected_skill": ""}
        for number in range(400)
    ]
    entries = json.loads(FILES["provider-baseline.json"] or "")
    entries |= {one["case_id"]: entries["notes"] for one in flood}
    change.propose(
        {
            **STEAL,
            **cases({"expected_skill": "writing-notes"}, *flood),
            "provider-baseline.json": json.dumps(entries),
        }
    )
    change.measure(case_ids="deploy,notes")
    found = change.judge()
    assert found.is_red
    comment = found.text("comment.md")
    assert "expected_skill: deploying → writing-notes" in comment
    assert "401 cases" in comment
    assert len(comment.encode()) <= 60_000
    assert sum(one["influence"] == "cases" for one in found.delta["edits"]) == 401


def test_g5_a_case_file_that_is_moved_is_compared_all_the_same(change: PullRequest) -> None:
    """The workflow names another file, which holds weaker cases."""
    weaker = cases({"expected_skill": ""})["cases.json"]
    change.propose({**STEAL, "cases.json": None, "evals/suite.json": weaker})
    change.measure(cases="evals/suite.json")
    found = change.judge(cases="evals/suite.json", baseline="provider-baseline.json")
    assert found.is_red
    assert found.row("deploy")["kind"] == "CASE EDITED"
    assert "before in `cases.json`" in found.text("comment.md")


def test_g5_trials_are_judged_together(change: PullRequest) -> None:
    """Each transcript of the pair, by the majority."""
    change.propose({**STEAL, **cases({"expected_skill": ""})})
    change.measure(trials="3")
    found = change.judge()
    assert found.is_red
    assert found.row("deploy")["kind"] == "CASE EDITED"


OLD, NEW = (f".claude/skills/{name}/SKILL.md" for name in ("deploying", "shipping"))
RENAMED = {OLD: None, NEW: DEPLOYING.replace("deploying", "shipping")}


def test_a_case_that_follows_its_renamed_skill_is_as_it_was(change: PullRequest) -> None:
    """The case cannot be put back; its edit and the skill's new name are in view."""
    change.propose({**RENAMED, **cases({"expected_skill": "shipping"})})
    found = change.check()
    assert found.conclusion == "success"
    assert found.row("deploy")["kind"] == "OK"
    everywhere(found, OLD, NEW, "renamed", "expected_skill")


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({"expected_skill": ""}, id="the case asks for less"),
        pytest.param({"expected_skill": "writing-notes"}, id="the case follows another skill"),
    ],
)
def test_g5_a_renamed_skill_excuses_no_other_edit(
    change: PullRequest, more: dict[str, Any]
) -> None:
    """The case as it was asks for the new name, which is not loaded."""
    change.propose({**RENAMED, **STEAL, **cases(more)})
    found = change.check()
    assert found.is_red
    assert found.row("deploy")["kind"] == "CASE EDITED"
    assert "missing shipping" in found.row("deploy")["why"]


def test_g5_a_skill_that_was_there_is_no_new_name(change: PullRequest) -> None:
    """Its copy in another folder takes the removed skill's description."""
    text = skill("writing-notes", "Bring a service to production.")
    change.propose(
        {
            **STEAL,
            OLD: None,
            ".agents/skills/writing-notes/SKILL.md": text,
            **cases({"expected_skill": "writing-notes"}),
        }
    )
    found = change.check()
    assert found.is_red
    assert found.row("deploy")["kind"] == "CASE EDITED"
