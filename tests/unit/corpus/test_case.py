"""What a case asks of each provider, and which cases a run selects."""

from __future__ import annotations

import re

import pytest
from pydantic import ValidationError

from routing_action.corpus.case import (
    DEFAULT_ACTIVITY_TOKENS,
    Case,
    Origin,
    Requirement,
    expectations_for,
    select_cases,
)
from tests.support.builders import case_of, expectations_of

SKILL = "widget-testing"
FILE = "widget-testing/SKILL.md"


def tiers(case: Case, agent: str = "codex") -> dict[str, int]:
    return {need.token: need.min_tier for need in expectations_of(case, agent).requirements}


def names(case: Case, token: str, agent: str = "codex") -> tuple[str, ...]:
    needs = expectations_of(case, agent).requirements
    return next(need.names for need in needs if need.token == token)


# ---- the file's fields


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"prompt": "  \n"}, "prompt is blank"),
        ({"prompt": ""}, "at least 1 character"),
        ({"prompt": "a\x00b"}, "NUL character"),
        ({"case_id": "a b"}, "should match pattern"),
        ({"case_id": "../x"}, "should match pattern"),
        ({"expected_skil": "x"}, "Extra inputs"),
        ({"expected_skill_min_tier": 3}, "Input should be 1 or 2"),
        ({"disallowed_skills": ["Widget-Testing"]}, "also names a required skill: Widget-Testing"),
        ({"required_skills": [" "]}, "at least 1 character"),
    ],
)
def test_a_mistake_in_a_case_is_told(fields: dict[str, object], told: str) -> None:
    """A case that cannot mean anything is refused with the reason."""
    with pytest.raises(ValidationError, match=re.escape(told)):
        case_of(**fields)


def test_a_case_without_expected_skill_or_with_disallowed_ones_depends_on_absence() -> None:
    """Passing such a case means that something did not happen."""
    assert case_of(expected_skill="").depends_on_absence
    assert case_of(disallowed_skills=["order-api"]).depends_on_absence
    assert not case_of().depends_on_absence


# ---- requirements


def test_the_expected_skill_must_be_loaded_natively() -> None:
    """The default asks for Tier 1 of the skill, and for its file where that can be seen."""
    assert tiers(case_of()) == {SKILL: 1, FILE: 2}


def test_a_case_can_be_content_with_a_proxy_for_its_expected_skill() -> None:
    """`expected_skill_min_tier` 2 opts out of Tier 1."""
    assert tiers(case_of(expected_skill_min_tier=2))[SKILL] == 2


def test_typed_requirements_have_their_own_tiers() -> None:
    """Required skills need Tier 1, required files Tier 2."""
    case = case_of(required_skills=["order-api"], required_files=["docs/GUIDE.md"])
    assert tiers(case) == {SKILL: 1, "order-api": 1, "docs/GUIDE.md": 2, FILE: 2}


def test_a_legacy_token_needs_tier_2_unless_it_is_also_a_skill_requirement() -> None:
    """A corpus of the earlier harness keeps its meaning, and its expected skill is still proven."""
    case = case_of(
        required_all_evidence=[SKILL, "order-api", FILE], required_evidence=["README.md"]
    )
    assert tiers(case) == {SKILL: 1, "order-api": 2, FILE: 2, "README.md": 2}


def test_a_skill_that_opted_out_and_is_also_required_needs_the_stricter_tier() -> None:
    """Of two demands for one token, in any case of letters, the stricter one stands."""
    case = case_of(expected_skill_min_tier=2, required_skills=["Widget-Testing"])
    (need,) = (n for n in expectations_of(case, "claude").requirements if n.is_skill)
    assert (need.min_tier, need.origin) == (1, Origin.EXPECTED_SKILL)


def test_skill_md_tokens_are_dropped_for_claude() -> None:
    """Claude loads by its own tool and never shows the file, so no case can ask for it there."""
    case = case_of(required_all_evidence=[SKILL, FILE, "README.md"])
    assert tiers(case, "claude") == {SKILL: 1, "README.md": 2}


def test_the_skill_file_is_implied_for_the_others_unless_switched_off() -> None:
    """`require_skill_file` asks for SKILL.md of the expected skill, and can be turned off."""
    assert FILE in tiers(case_of(), "gemini")
    assert FILE not in tiers(case_of(require_skill_file=False), "gemini")
    assert tiers(case_of(expected_skill=""), "gemini") == {}


def test_the_file_of_a_plugins_skill_is_named_without_the_plugin() -> None:
    """A plugin's skill lies in a folder that bears the skill's own name."""
    assert tiers(case_of(expected_skill="acme:gadget")) == {"acme:gadget": 1, "gadget/SKILL.md": 2}


def test_a_skill_is_told_from_a_file_by_its_token() -> None:
    """Reports speak of skills and of files."""
    assert Requirement("order-api", 1, Origin.REQUIRED_SKILLS, ("order-api",)).is_skill
    assert not Requirement("README.md", 2, Origin.REQUIRED_FILES, ("README.md",)).is_skill


# ---- aliases


def test_an_alias_proves_the_required_skill_and_its_file() -> None:
    """Where one agent calls a skill by another name, that name counts there, and only there."""
    case = case_of(provider_aliases={"codex": {"wt": SKILL}})
    assert names(case, SKILL) == (SKILL, "wt")
    assert names(case, FILE) == (FILE, "wt/SKILL.md")
    assert names(case, SKILL, "gemini") == (SKILL,)


def test_a_requirement_written_as_an_alias_is_resolved_first() -> None:
    """A case may use the alias itself; results speak of the canonical name."""
    case = case_of(expected_skill="wt", provider_aliases={"claude": {"wt": SKILL}})
    assert tiers(case, "claude") == {SKILL: 1}
    assert names(case, SKILL, "claude") == (SKILL, "wt")


def test_aliases_hold_for_optional_and_disallowed_skills_too() -> None:
    """A forbidden skill under its other name is still forbidden."""
    case = case_of(
        optional_skills=["helper", "h"],
        disallowed_skills=["order-api"],
        provider_aliases={"codex": {"h": "helper", "orders": "order-api"}},
    )
    found = expectations_of(case, "codex")
    assert found.optional == {"helper": ("helper", "h")}
    assert found.disallowed == {"order-api": ("order-api", "orders")}
    assert found.tokens == (SKILL, FILE, "helper", "h", "order-api", "orders")


# ---- activity


def test_activity_is_asked_for_only_where_a_case_says_so() -> None:
    """`required_any_evidence` adds the default tokens to its own; without it nothing is asked."""
    asked = expectations_of(case_of(required_any_evidence=["my_tool", "tool_use"])).any_tokens
    assert asked == ("my_tool", *DEFAULT_ACTIVITY_TOKENS)
    assert expectations_of(case_of()).any_tokens == ()


def test_whether_skill_files_are_dropped_is_a_property_of_the_provider() -> None:
    """A provider added by a user can ask for SKILL.md or not."""
    kept = expectations_for(case_of(), "mine", drops_skill_files=False)
    dropped = expectations_for(case_of(), "mine", drops_skill_files=True)
    assert [need.token for need in kept.requirements] == [SKILL, FILE]
    assert [need.token for need in dropped.requirements] == [SKILL]


# ---- selection

CORPUS = [
    case_of(case_id=f"case-{number}", category=category)
    for number, category in enumerate(["api", "api", "ui", "ci", "ui", "api"])
]


def ids(cases: list[Case]) -> list[str]:
    return [case.case_id for case in cases]


def test_without_a_filter_every_case_is_selected_in_order() -> None:
    """A plain run takes the whole file."""
    assert select_cases(CORPUS) == CORPUS


def test_cases_are_selected_by_id_and_category_whatever_the_letters() -> None:
    """Both filters must hold, and the file's order stays."""
    assert ids(select_cases(CORPUS, case_ids=["CASE-4", "case-1"])) == ["case-1", "case-4"]
    assert ids(select_cases(CORPUS, categories=["Ui", "ci"])) == ["case-2", "case-3", "case-4"]
    assert ids(select_cases(CORPUS, case_ids=["case-1", "case-2"], categories=["ui"])) == ["case-2"]


def test_an_unknown_filter_selects_nothing() -> None:
    """A mistyped category gives an empty selection, not the whole file."""
    assert select_cases(CORPUS, categories=["apii"]) == []


def test_a_sample_is_the_same_for_the_same_seed() -> None:
    """A sampled run can be repeated, and another seed draws other cases."""
    drawn = [ids(select_cases(CORPUS, sample=3, seed=seed)) for seed in range(20)]
    assert drawn == [ids(select_cases(CORPUS, sample=3, seed=seed)) for seed in range(20)]
    assert len({tuple(names) for names in drawn}) > 1
    assert all(len(names) == 3 and names == sorted(names) for names in drawn)


def test_a_sample_larger_than_the_selection_takes_all_of_it() -> None:
    """Asking for more cases than there are is no error."""
    assert select_cases(CORPUS, sample=99) == CORPUS
    assert ids(select_cases(CORPUS, categories=["ci"], sample=0)) == []
