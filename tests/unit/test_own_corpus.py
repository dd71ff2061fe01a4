"""This repository's cases, baseline and helper skills do what the skills teach."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from routing_action.gate.rules import DeltaKind

ROOT = Path(__file__).resolve().parents[2]
SKILLS = sorted(path.parent.name for path in (ROOT / ".claude" / "skills").glob("*/SKILL.md"))
CASES: list[dict[str, Any]] = json.loads((ROOT / "cases.json").read_text("utf-8"))
BASELINE = json.loads((ROOT / "provider-baseline.json").read_text("utf-8"))
POSITIVES = [case for case in CASES if case["expected_skill"]]
NEGATIVES = [case for case in CASES if not case["expected_skill"]]


def skill_text(name: str) -> str:
    return (ROOT / ".claude" / "skills" / name / "SKILL.md").read_text("utf-8")


@pytest.mark.parametrize("skill", SKILLS)
def test_every_skill_has_a_case_and_a_prompt_next_door(skill: str) -> None:
    """What reaches it is measured, and so is what must not."""
    assert any(case["expected_skill"] == skill for case in POSITIVES)
    assert any(skill in case.get("disallowed_skills", ()) for case in NEGATIVES)


def test_there_is_one_negative_for_three_or_four_positives() -> None:
    """As the skill about cases says."""
    assert 3 <= len(POSITIVES) / len(NEGATIVES) <= 4


def test_no_case_has_an_alias_that_it_does_not_need() -> None:
    """A bare name matches the plugin's form too."""
    assert [case["case_id"] for case in CASES if "provider_aliases" in case] == []


def test_known_failures_are_declared_with_their_reasons() -> None:
    """The baseline is honest: it expects failures where they were measured, and says why."""
    entries = [entry for agents in BASELINE.values() for entry in agents.values()]
    failing = [entry for entry in entries if entry["expected_status"] == "fail"]
    assert len(failing) >= 2
    assert all(len(entry["reason"].split()) > 3 for entry in failing)


@pytest.mark.parametrize("word", [kind.value for kind in DeltaKind])
def test_the_skill_about_red_gates_explains_every_word(word: str) -> None:
    """An agent that triages knows what each row asks for."""
    assert re.search(rf"^\| {word} \|", skill_text("triaging-red-gate"), re.MULTILINE)


@pytest.mark.parametrize(
    ("skill", "told"),
    [
        ("updating-provider-baseline", "--accept-regression"),
        ("adding-agent-provider", "routing.toml"),
        ("setting-up-routing-action", "docs/tutorial/quick-start-action.md"),
    ],
)
def test_a_skill_names_what_its_task_needs(skill: str, told: str) -> None:
    """The flag or file without which the task ends in a dead end."""
    assert told in skill_text(skill)


@pytest.mark.parametrize("skill", SKILLS)
def test_the_page_about_the_skills_lists_each(skill: str) -> None:
    """A reader sees what the plugin brings."""
    assert f"| `{skill}` |" in (ROOT / "docs/how-to/helper-skills.md").read_text("utf-8")


def test_the_picture_of_the_readme_is_small() -> None:
    """The page opens quickly."""
    assert (ROOT / "docs" / "images" / "comment.png").stat().st_size < 150_000
