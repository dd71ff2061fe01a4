"""Editing a baseline's text touches what changed and nothing else, in whatever style it is."""

from __future__ import annotations

import difflib
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routing_action.corpus.baseline import BaselineEntry, MadeWith, Pair, Status, iterate_pairs
from routing_action.files.json_layout import split_object
from routing_action.gate.baseline_text import edit_baseline, render_baseline
from routing_action.gate.baselines import Entries, parse_baseline

PASS = BaselineEntry(expected_status=Status.PASS)
FAIL = BaselineEntry(expected_status=Status.FAIL, reason="known weakness")
LATE = BaselineEntry(expected_status=Status.PASS, allow_timeout=True, reason="slow")
MADE = BaselineEntry(
    expected_status=Status.PASS, made_with=MadeWith(cli_version="1.2", model="large")
)

ONE_LINE = """{
  "alpha": {
    "claude": { "expected_status": "pass", "allow_timeout": false },
    "copilot": { "expected_status": "fail", "allow_timeout": false }
  },
  "gamma": {
    "claude": { "expected_status": "pass", "allow_timeout": false }
  }
}
"""
EXPANDED = """{
    "alpha": {
        "claude": {
            "expected_status": "pass",
            "allow_timeout": false
        }
    }
}"""


def changed_lines(before: str, after: str) -> list[str]:
    """The lines of a diff with their signs."""
    found = difflib.ndiff(before.splitlines(), after.splitlines())
    return [line for line in found if line[0] in "+-"]


def test_a_changed_status_is_one_line() -> None:
    """A reviewer sees the expectation that changed and nothing else."""
    after = edit_baseline(ONE_LINE, {("alpha", "copilot"): PASS})
    assert changed_lines(ONE_LINE, after) == [
        '-     "copilot": { "expected_status": "fail", "allow_timeout": false }',
        '+     "copilot": { "expected_status": "pass", "allow_timeout": false }',
    ]


def test_fields_are_added_where_they_stand_by_convention() -> None:
    """A one-line entry stays on its line, an expanded one gets a line a field."""
    after = edit_baseline(ONE_LINE, {("alpha", "claude"): LATE})
    assert (
        '    "claude": { "expected_status": "pass", "allow_timeout": true, "reason": "slow" },\n'
        in after
    )
    after = edit_baseline(EXPANDED, {("alpha", "claude"): MADE})
    assert changed_lines(EXPANDED, after) == [
        '-             "allow_timeout": false',
        '+             "allow_timeout": false,',
        '+             "made_with": {',
        '+                 "cli_version": "1.2",',
        '+                 "model": "large"',
        "+             }",
    ]


def test_a_new_provider_stands_at_its_sorted_place() -> None:
    """In the style of the entry before it."""
    after = edit_baseline(ONE_LINE, {("alpha", "codex"): PASS})
    assert changed_lines(ONE_LINE, after) == [
        '+     "codex": { "expected_status": "pass", "allow_timeout": false },'
    ]
    after = edit_baseline(ONE_LINE, {("alpha", "a"): PASS, ("gamma", "z"): FAIL})
    assert after.splitlines()[2] == ONE_LINE.splitlines()[2].replace("claude", "a")
    assert '"z": { "expected_status": "fail", "allow_timeout": false, "reason": ' in after


def test_a_new_case_stands_at_its_sorted_place() -> None:
    """Between its neighbours, with their indentation."""
    after = edit_baseline(ONE_LINE, {("beta", "codex"): PASS, ("beta", "claude"): PASS})
    assert changed_lines(ONE_LINE, after) == [
        '+   "beta": {',
        '+     "claude": { "expected_status": "pass", "allow_timeout": false },',
        '+     "codex": { "expected_status": "pass", "allow_timeout": false }',
        "+   },",
    ]
    after = edit_baseline(EXPANDED, {("b", "codex"): PASS})
    assert after.replace("alpha", "b").replace("claude", "codex").count(EXPANDED[2:-2]) == 0
    assert after.endswith('"b": {\n        "codex": {\n            "expected_status": "pass",\n'
                          '            "allow_timeout": false\n        }\n    }\n}')  # fmt: skip


def test_an_unsorted_file_grows_at_its_end() -> None:
    """An order of the owner's own is kept, of cases and of providers."""
    text = '{\n  "b": {"codex": {"expected_status": "pass"}, "claude": {"expected_status": "pass"}}'
    text += (
        ',\n  "a": {"codex": {"expected_status": "pass"}, "claude": {"expected_status": "pass"}}'
    )
    after = edit_baseline(text + "\n}\n", {("aa", "claude"): PASS, ("aa", "codex"): PASS})
    new = '"aa": {"codex": {"expected_status": "pass"}, "claude": {"expected_status": "pass"}}'
    assert after == f"{text},\n  {new}\n}}\n"


def test_removing_mends_the_commas() -> None:
    """The first, the last and the only entry of a case."""
    after = edit_baseline(ONE_LINE, {("alpha", "copilot"): None})
    assert changed_lines(ONE_LINE, after)[-1] == (
        '-     "copilot": { "expected_status": "fail", "allow_timeout": false }'
    )
    after = edit_baseline(ONE_LINE, {("alpha", "claude"): None, ("gamma", "claude"): None})
    assert json.loads(after) == {"alpha": {"copilot": json.loads(ONE_LINE)["alpha"]["copilot"]}}
    assert edit_baseline(EXPANDED, {("alpha", "claude"): None}) == "{\n}"


def test_a_case_on_one_line_stays_on_one() -> None:
    """The brace keeps its distance when the first provider goes or comes."""
    text = '{"a": {"claude": {"expected_status":"pass"}, "codex": {"expected_status":"fail"}}}'
    after = edit_baseline(text, {("a", "claude"): None})
    assert after == '{"a": {"codex": {"expected_status":"fail"}}}'
    assert edit_baseline(after, {("a", "claude"): PASS}) == text
    assert edit_baseline(text, {("a", "x"): LATE}).endswith(
        ', "x": {"expected_status":"pass", "allow_timeout":true, "reason":"slow"}}}'
    )


def test_an_empty_file_gets_the_default_style() -> None:
    """`{}` becomes what a new file would be."""
    assert edit_baseline("{}\n", {("a", "x"): PASS}) == render_baseline({"a": {"x": PASS}})


def test_a_default_that_is_written_out_is_no_change() -> None:
    """`"reason": ""` and `"made_with": null` mean what a missing field means."""
    text = '{"a":{"x":{"reason":"","made_with":null,"expected_status":"pass"}}}'
    assert edit_baseline(text, {("a", "x"): PASS}) == text
    assert edit_baseline(text, {("a", "x"): MADE}) == text.replace(
        "null", '{"cli_version":"1.2","model":"large"}'
    )


def test_a_raised_entry_loses_its_reason() -> None:
    """The field goes with its comma."""
    text = '{"a": {"x": {\n "expected_status": "fail",\n "reason": "known weakness"\n}}}'
    after = edit_baseline(text, {("a", "x"): PASS})
    assert after == '{"a": {"x": {\n "expected_status": "pass"\n}}}'


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_line_ends_mark_and_end_of_file_are_kept(newline: str, bom: str) -> None:
    """An editor's settings survive an update."""
    for text in (ONE_LINE, EXPANDED):
        before = bom + text.replace("\n", newline)
        after = edit_baseline(before, {("beta", "codex"): MADE, ("alpha", "claude"): FAIL})
        assert after.startswith(bom + "{")
        assert after.count("\n") == after.count(newline)
        assert after.endswith("}" + newline) == before.endswith("}" + newline)
    empty = edit_baseline("{" + newline + "}", {("a", "x"): PASS})
    assert empty.count("\n") == empty.count(newline) > 1


def test_a_new_file_is_sorted_and_ends_with_a_newline() -> None:
    """Two spaces, one field a line, a reason and a fingerprint only where there is one."""
    text = render_baseline({"b": {"z": PASS, "a": FAIL}, "a": {"x": MADE}})
    value = json.loads(text)
    assert (list(value), list(value["b"]), text[-2:]) == (["a", "b"], ["a", "z"], "}\n")
    assert value["a"]["x"]["made_with"] == {"cli_version": "1.2", "model": "large"}
    assert "reason" not in value["b"]["z"]
    assert '\n      "expected_status": "pass",\n' in text


# --- any file, any change ---------------------------------------------------------------------

NAMES = st.text('ab:é"\\{},', min_size=1, max_size=4)
TEXTS = st.text('aé \n"', max_size=4).map(str.strip)
MADE_WITH = st.builds(
    MadeWith, cli_version=st.none() | TEXTS, recorded_on=st.none() | st.just("2026-01-02")
)
ENTRIES = st.builds(
    BaselineEntry,
    expected_status=st.sampled_from(Status),
    allow_timeout=st.booleans(),
    reason=TEXTS,
    made_with=st.none() | MADE_WITH,
)
BASELINES = st.dictionaries(
    NAMES, st.dictionaries(NAMES, ENTRIES, min_size=1, max_size=3), max_size=4
)


@st.composite
def written(draw: st.DrawFn, value: object, depth: int = 0) -> str:
    """A value as JSON, in a style that is drawn anew for each object."""
    if not isinstance(value, dict):
        return json.dumps(value, ensure_ascii=draw(st.booleans()))
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    expanded = f"{newline}{'  ' * depth}"
    space = draw(st.sampled_from(["", " ", f"{expanded}  ", f"{newline}\t{newline}"]))
    tail = draw(st.sampled_from(["", " ", expanded]))
    colon = draw(st.sampled_from([":", ": ", " : "]))
    keys = draw(st.permutations(list(value)))
    members = [
        f"{space}{json.dumps(key)}{colon}{draw(written(value[key], depth + 1))}" for key in keys
    ]
    return "{" + draw(st.sampled_from([",", " ,"])).join(members) + tail + "}"


def plain(baseline: Entries) -> dict[str, Any]:
    return {c: {a: e.model_dump(mode="json") for a, e in v.items()} for c, v in baseline.items()}


def entry_texts(text: str) -> dict[Pair, str]:
    """The text of every entry."""
    cases = split_object(text[text.index("{") : text.rindex("}") + 1])
    return {
        (case.key, member.key): member.head + member.value
        for case in cases.members
        for member in split_object(case.value).members
    }


@settings(max_examples=40, deadline=None)
@given(st.data(), BASELINES)
def test_any_edit_gives_the_wanted_value_and_spares_the_rest(
    data: st.DataObject, baseline: Entries
) -> None:
    """The parsed value is the model's, and no other entry's text changed by a byte."""
    end = data.draw(st.sampled_from(["", "\n", "\r\n"]))
    text = data.draw(st.sampled_from(["", "\ufeff"])) + data.draw(written(plain(baseline))) + end
    known = [pair for pair, _ in iterate_pairs(baseline)]
    pairs = st.tuples(NAMES, NAMES)
    changes = data.draw(
        st.dictionaries(st.sampled_from(known) | pairs if known else pairs, st.none() | ENTRIES)
    )
    after = edit_baseline(text, changes)

    wanted = {case_id: dict(entries) for case_id, entries in baseline.items()}
    for (case_id, agent), entry in changes.items():
        if entry is not None:
            wanted.setdefault(case_id, {})[agent] = entry
        else:
            wanted.get(case_id, {}).pop(agent, None)
    got = parse_baseline(after.encode(), "b")
    assert got == {case_id: entries for case_id, entries in wanted.items() if entries}
    old, new = entry_texts(text), entry_texts(after)
    assert all(new[pair] == old[pair] for pair in known if pair not in changes)
    assert (after.startswith("\ufeff"), after.endswith("}" + end)) == (
        text.startswith("\ufeff"),
        True,
    )


@settings(max_examples=40, deadline=None)
@given(st.data(), BASELINES)
def test_setting_what_is_there_changes_nothing(data: st.DataObject, baseline: Entries) -> None:
    """An update without news leaves the file as it is."""
    text = data.draw(written(plain(baseline)))
    assert edit_baseline(text, dict(iterate_pairs(baseline))) == text
