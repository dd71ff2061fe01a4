"""The inputs of the action, and the names that they lead to."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing_action.action.inputs import (
    Inputs,
    comment_key,
    leg_key,
    legal_key,
    report_artifact,
    results_artifact,
    variable,
)
from routing_action.errors import UsageError
from routing_action.results.find import ARTIFACT, name_batch
from tests.support.result_rows import make_results


def given_inputs(**values: str) -> Inputs:
    """Inputs as action.yml sets them; `_` in a name stands for `-`."""
    return Inputs({variable(name.replace("_", "-")): value for name, value in values.items()})


def test_an_input_comes_in_a_variable_of_its_name() -> None:
    """Nothing of the environment but these variables is an input."""
    inputs = Inputs({"ROUTING_INPUT_CASE_IDS": " one,two\nthree,,one ", "INPUT_AGENTS": "claude"})
    assert inputs.names("case-ids") == ("one", "two", "three")
    assert inputs.text("agents") == ""


def test_a_list_of_lines_keeps_commas() -> None:
    """A path may hold one."""
    assert given_inputs(durations="a,b.json\n\n c \n").lines("durations") == ("a,b.json", "c")


@pytest.mark.parametrize(("text", "value"), [("", False), ("false", False), ("TRUE", True)])
def test_a_flag_is_true_or_false(text: str, value: bool) -> None:
    """GitHub's booleans come as text."""
    assert given_inputs(fail_on_infra=text).flag("fail-on-infra") is value


@pytest.mark.parametrize("text", ["yes", "1", "ture"])
def test_another_word_for_a_flag_is_refused(text: str) -> None:
    """A slip is never taken for false: the gate would be laxer than was meant."""
    with pytest.raises(UsageError, match=r"input fail-on-infra: .* is neither true nor false"):
        given_inputs(fail_on_infra=text).flag("fail-on-infra")


def test_a_choice_has_a_default_and_refuses_the_rest() -> None:
    """The error names what can be written."""
    assert given_inputs().choice("unmeasured", ("fail", "neutral")) == "fail"
    with pytest.raises(UsageError) as caught:
        given_inputs(unmeasured="green").choice("unmeasured", ("fail", "neutral"))
    assert "write one of fail, neutral" in str(caught.value)


def test_extra_arguments_are_words_and_nothing_is_expanded() -> None:
    """Quotes group; variables, globs and commands stay what they are."""
    words = given_inputs(extra_arguments="--seed 3 'a b' $HOME * `id`;x").words("extra-arguments")
    assert words == ("--seed", "3", "a b", "$HOME", "*", "`id`;x")
    with pytest.raises(UsageError, match="No closing quotation"):
        given_inputs(extra_arguments="'a").words("extra-arguments")


@pytest.mark.parametrize(
    ("values", "key"),
    [
        ({"agents": "claude"}, "claude"),
        ({"agents": "claude, codex"}, "claude-codex"),
        ({"agents": "claude", "shard": "2/3"}, "claude-s2of3"),
        ({"agents": "claude", "shard": "1/1"}, "claude"),
        ({}, "all"),
        ({"matrix_key": "linux-claude", "agents": "claude"}, "linux-claude"),
    ],
)
def test_a_leg_is_called_by_its_matrix_key_else_by_agents_and_shard(
    values: dict[str, str], key: str
) -> None:
    """The same names as those of `routing-action plan`."""
    assert leg_key(given_inputs(**values)) == key


ODD = ["a/b", "a:b", "a b", "ünïcode", "..", "x" * 200, 'q"uote', "line\nend", "🦊", "*", "-"]


def test_r2_odd_keys_make_legal_names_that_stay_apart() -> None:
    """No upload is refused for its name, and none takes another leg's."""
    keys = {key: legal_key(key) for key in ODD}
    assert len(set(keys.values())) == len(ODD)
    assert legal_key("a/b") != legal_key("a-b")
    assert legal_key(keys["a/b"]) != keys["a/b"]


@given(st.text(min_size=1, max_size=200))
def test_any_key_names_an_artifact_that_tells_key_and_attempt_again(text: str) -> None:
    """What the comparison reads from a folder's name is what the leg was called."""
    key = legal_key(text)
    assert not set(key) & set('":<>|*?\\/\r\n')
    assert len(results_artifact(key, 12)) <= 110
    match = ARTIFACT.fullmatch(results_artifact(key, 12))
    assert match is not None
    assert (match["key"], match["attempt"]) == (key, "12")


def test_a_comment_key_that_cannot_name_an_artifact_is_refused() -> None:
    """It stands in the report's name."""
    assert comment_key(given_inputs()) == "routing"
    assert report_artifact(comment_key(given_inputs(key="docs"))) == "routing-report-docs"
    with pytest.raises(UsageError, match="input key"):
        comment_key(given_inputs(key="a/b"))


@pytest.mark.parametrize(
    "key",
    [
        "claude",
        "a-a1",
        "linux-a12",
        'win/py:3.11 "x" <y> | * ? \r\n \\',
        "../..",
        "日本",
        "x" * 200,
        "",
        "-",
        "claude-0123abcd",
    ],
)
def test_r2_every_odd_matrix_key_makes_a_name_that_is_read_again(key: str, tmp_path: Path) -> None:
    """The name that a leg gives and a downloaded folder agree."""
    name = results_artifact(legal_key(key), 3)
    assert not set(name) & set('":<>|*?\r\n\\/')
    file = tmp_path / name / "results.json"
    assert name_batch(file, make_results().options) == (legal_key(key), 3)


def test_r2_keys_that_differ_in_a_forbidden_character_keep_two_names() -> None:
    """No leg overwrites another one's results."""
    keys = ["a/b", "a:b", "a-b", "a b", legal_key("a/b")]
    assert len({legal_key(key) for key in keys}) == len(keys)
