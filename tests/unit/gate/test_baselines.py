"""A baseline is read strictly; each error names file, line, field and the next step."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing_action.corpus.baseline import BaselineEntry, Flaky, MadeWith, Status
from routing_action.errors import DocumentError
from routing_action.files.json_text import JsonText
from routing_action.gate.baselines import (
    Entries,
    entry_lines,
    find_baseline_file,
    open_baseline,
    parse_baseline,
    read_baseline,
    render_baseline,
)
from tests.support.bad_files import expect_refusal
from tests.support.command_line import ROOT

GOOD = '{"a": {"claude": {"expected_status": "pass"}}}'

BAD_FILES = {
    "empty": ("", "1: no valid JSON: the file is empty", "write"),
    "cut": ('{\n"a": {', "2: no valid JSON", "add the missing }"),
    "list": ("[]", "1: must be an object", '{"CASE_ID"'),
    "number": ("1", "1: must be an object", '{"CASE_ID"'),
    "case is a list": ('{\n"a": []}', "2: field a: must be an object", "CASE_ID"),
    "case without provider": (
        '{"b": {"x": {"expected_status": "pass"}},\n"a": {}}',
        "2: field a: names no provider",
        "remove the case",
    ),
    "entry is a text": (
        '{"a": {\n"x": "pass"}}',
        "2: field a.x: must be an object",
        "CASE_ID",
    ),
    "entry is null": ('{"a": {"x": null}}', "1: field a.x: must be an object", "CASE_ID"),
    "no status": (
        '{"a": {\n"x": {"allow_timeout": true}}}',
        "2: field a.x.expected_status: is missing",
        "pass, fail or infra_error",
    ),
    "unknown status": (
        '{"a": {"x": {\n"expected_status": "passed"}}}',
        "2: field a.x.expected_status: unknown status 'passed'",
        "did you mean pass?",
    ),
    "strange status": (
        '{"a": {"x": {"expected_status": 1}}}',
        "unknown status 1",
        "one of the three",
    ),
    "unknown field": (
        '{"a": {"x": {"expected_status": "pass",\n\n"allow_timeouts": true}}}',
        "3: field a.x.allow_timeouts: unknown field",
        "did you mean allow_timeout?",
    ),
    "misspelt status": (
        '{"a": {"x": {\n"expected_staus": "pass"}}}',
        "2: field a.x.expected_staus: unknown field",
        "did you mean expected_status?",
    ),
    "strange field": (
        '{"a": {"x": {"expected_status": "pass", "zzz": 1}}}',
        "field a.x.zzz: unknown field",
        "the fields here are expected_status",
    ),
    "timeout as text": (
        '{"a": {"x": {"expected_status": "pass", "allow_timeout": "true"}}}',
        "field a.x.allow_timeout: must be true or false",
        "without quotes",
    ),
    "flaky as number": (
        '{"a": {"x": {"expected_status": "pass", "flaky": 0.7}}}',
        "field a.x.flaky: must be an object",
        '"until": "2030-01-31"',
    ),
    "flaky without a date": (
        '{"a": {"x": {"expected_status": "pass", "flaky": {"rate": 0.7, "reason": "x"}}}}',
        "field a.x.flaky.until: is missing",
        '"until": "2030-01-31"',
    ),
    "flaky without a reason": (
        (
            '{"a": {"x": {"expected_status": "pass", "flaky":\n'
            '{"rate": 0.7, "until": "2027-03-01", "reason": " "}}}}'
        ),
        "2: field a.x.flaky.reason: says nothing",
        "for reviewers",
    ),
    "flaky on no day": (
        (
            '{"a": {"x": {"expected_status": "pass", "flaky": '
            '{"rate": 0.7, "until": "2027-13-01", "reason": "x"}}}}'
        ),
        "field a.x.flaky.until: is no date",
        "YYYY-MM-DD",
    ),
    "flaky at a rate that is none": (
        (
            '{"a": {"x": {"expected_status": "pass", "flaky": '
            '{"rate": 0.2, "until": "2027-03-01", "reason": "x"}}}}'
        ),
        "field a.x.flaky.rate: must be at least 0.5 and less than 1",
        "such as 0.7",
    ),
    "flaky at a rate in quotes": (
        (
            '{"a": {"x": {"expected_status": "pass", "flaky": '
            '{"rate": "0.7", "until": "2027-03-01", "reason": "x"}}}}'
        ),
        "field a.x.flaky.rate: must be a number",
        "without quotes",
    ),
    "flaky with a strange field": (
        (
            '{"a": {"x": {"expected_status": "pass", "flaky": '
            '{"rates": 0.7, "until": "2027-03-01", "reason": "x"}}}}'
        ),
        "field a.x.flaky.rates: unknown field",
        "did you mean rate?",
    ),
    "reason as list": (
        '{"a": {"x": {"expected_status": "pass", "reason": []}}}',
        "field a.x.reason: must be a text",
        "in double quotes",
    ),
    "long reason": (
        json.dumps({"a": {"x": {"expected_status": "fail", "reason": "x" * 501}}}),
        "has more than 500 characters",
        "shorten it",
    ),
    "fingerprint as text": (
        '{"a": {"x": {"expected_status": "pass", "made_with": "1.2"}}}',
        "field a.x.made_with: must be an object",
        "",
    ),
    "other made_with": (
        '{"a": {"x": {"expected_status": "pass", "made_with": {"modell": ""}}}}',
        "field a.x.made_with.modell: unknown field",
        "did you mean model?",
    ),
    "date": (
        '{"a": {"x": {"expected_status": "pass", "made_with": {"recorded_on": "today"}}}}',
        "field a.x.made_with.recorded_on: is no date",
        "YYYY-MM-DD",
    ),
    "case twice": (
        '{"a": {"x": {"expected_status": "fail"}},\n"a": {}}',
        "2: field a: the key 'a' is given twice",
        "keep one",
    ),
    "provider twice": (
        '{"a": {"x": {"expected_status": "pass"},\n"x": {}}}',
        "2: field x: the key 'x' is given twice",
        "keep one",
    ),
    "field twice": (
        '{"a": {"x": {"expected_status": "pass",\n"expected_status": "pass"}}}',
        "2: field expected_status: the key",
        "keep one",
    ),
    "nan": ('{"a": {"x": {"expected_status": NaN}}}', "1: NaN is no JSON number", ""),
    "empty case id": ('{"": {"x": {"expected_status": "pass"}}}', "an empty name", "name"),
    "empty provider": (
        '{"a": {"": {"expected_status": "pass"}}}',
        "an empty name",
        "name",
    ),
    "half a character": (
        '{"\\ud800": {"x": {"expected_status": "pass"}}}',
        "lone surrogate",
        "itself",
    ),
    "half a character in a reason": (
        '{"a": {"x": {"expected_status": "fail", "reason": "\\ud800"}}}',
        "lone surrogate",
        "itself",
    ),
    "too deep": ('{"a": ' * 100_000, "nested too deeply", "plain lists"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_bad_baseline_says_where_and_how_to_mend_it(tmp_path: Path, name: str) -> None:
    """Each kind of mistake names the line or the field and the next step."""
    text, cause, remedy = BAD_FILES[name]
    expect_refusal(
        read_baseline, tmp_path / "provider-baseline.json", text, cause=cause, remedy=remedy
    )


def test_bytes_that_are_no_utf8_name_their_line() -> None:
    """The version at the merge base is bytes too, and has a name of its own."""
    with pytest.raises(DocumentError, match=r"^base at 123:2: not UTF-8 text"):
        parse_baseline(b'{\n"caf\xe9": {}}', "base at 123")


def test_a_missing_baseline_names_the_command_that_makes_one(tmp_path: Path) -> None:
    """Named or not, the next step is the same."""
    for call in (lambda: read_baseline(tmp_path / "x.json"), lambda: find_baseline_file(tmp_path)):
        with pytest.raises(DocumentError) as caught:
            call()
        assert "`routing-action baseline update --init --from DIR`" in caught.value.remedy


def test_the_baseline_is_found_in_its_two_places(tmp_path: Path) -> None:
    """The top level wins over the earlier harness's place."""
    old = tmp_path / "tests" / "agent-routing" / "provider-baseline.json"
    old.parent.mkdir(parents=True)
    old.write_text(GOOD, encoding="utf-8")
    assert find_baseline_file(tmp_path) == old
    (tmp_path / "provider-baseline.json").write_text(GOOD, encoding="utf-8")
    assert find_baseline_file(tmp_path) == tmp_path / "provider-baseline.json"


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_a_full_entry_is_read(mark: bytes) -> None:
    """All fields, with colons in texts and keys, with or without a byte order mark."""
    text = """{"a:b": {"x": {"expected_status": "infra_error", "allow_timeout": true,
        "reason": " see: docs ", "made_with": {"cli_version": "1", "recorded_on": "2026-01-02"}},
        "y": {"expected_status": "pass"}}}"""
    entries = parse_baseline(mark + text.encode(), "b")
    assert entries["a:b"] == {
        "x": BaselineEntry(
            expected_status=Status.INFRA_ERROR,
            allow_timeout=True,
            reason="see: docs",
            made_with=MadeWith(cli_version="1", recorded_on="2026-01-02"),
        ),
        "y": BaselineEntry(expected_status=Status.PASS),
    }
    assert parse_baseline(b"{}", "b") == {}


def test_this_repositorys_own_baseline_is_read_with_lines() -> None:
    """A finding can point at the entry."""
    path = ROOT / "provider-baseline.json"
    entries, document = read_baseline(path)
    lines = entry_lines(document)
    assert set(lines) == {(case, agent) for case, found in entries.items() for agent in found}
    shown = path.read_text(encoding="utf-8").splitlines()
    for (case_id, agent), line in list(lines.items())[:9]:
        assert shown[line - 1].strip() == f'"{agent}": {{'
        assert f'"{case_id}"' in "\n".join(shown[:line])


PASS = BaselineEntry(expected_status=Status.PASS)
FAIL = BaselineEntry(expected_status=Status.FAIL, reason="known weakness")
MADE = BaselineEntry(
    expected_status=Status.PASS, made_with=MadeWith(cli_version="1.2", model="large")
)


def test_a_file_is_sorted_and_ends_with_a_newline() -> None:
    """Two spaces, one field a line, a reason and a fingerprint only where there is one."""
    text = render_baseline({"b": {"z": PASS, "a": FAIL}, "a": {"x": MADE}})
    value = json.loads(text)
    assert (list(value), list(value["b"]), text[-2:]) == (["a", "b"], ["a", "z"], "}\n")
    assert value["a"]["x"]["made_with"] == {"cli_version": "1.2", "model": "large"}
    assert "reason" not in value["b"]["z"]
    assert '\n      "expected_status": "pass",\n' in text


def test_a_changed_status_is_one_line() -> None:
    """A reviewer sees the expectation that changed and nothing else."""
    entries = {"a": {"claude": PASS, "codex": FAIL}, "b": {"claude": MADE}}
    before = render_baseline(entries).splitlines()
    lowered = FAIL.model_copy(update={"expected_status": Status.INFRA_ERROR})
    after = render_baseline({**entries, "a": {"claude": PASS, "codex": lowered}}).splitlines()
    changed = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    assert changed == [
        ('      "expected_status": "fail",', '      "expected_status": "infra_error",')
    ]


def test_a_file_in_another_layout_is_laid_out_once(tmp_path: Path) -> None:
    """Only where there is something to write; a byte order mark and CRLF go too."""
    path = tmp_path / "provider-baseline.json"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.replace(" ", "\r\n").encode())
    opened = open_baseline(path)
    assert not opened.is_laid_out
    opened.write(opened.entries)
    assert path.read_bytes().startswith(b"\xef")
    opened.write({**opened.entries, "b": {"x": MADE}})
    again = open_baseline(path)
    assert again.is_laid_out
    assert again.entries == {"a": {"claude": PASS}, "b": {"x": MADE}}
    assert path.read_text("utf-8") == render_baseline(again.entries)


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
    flaky=st.none() | st.just(Flaky(rate=0.7, until="2027-03-01", reason="why")),
)
BASELINES = st.dictionaries(
    NAMES, st.dictionaries(NAMES, ENTRIES, min_size=1, max_size=3), max_size=4
)


@given(BASELINES)
def test_what_is_written_is_read_again(baseline: Entries) -> None:
    """Every field of every entry is kept, and each entry knows its line."""
    text = render_baseline(baseline)
    assert parse_baseline(text.encode(), "b") == baseline
    shown = text.splitlines()
    for (_, agent), line in entry_lines(JsonText("b", text)).items():
        assert shown[line - 1].strip() == f"{json.dumps(agent, ensure_ascii=False)}: {{"


def test_every_entry_that_is_wrong_is_named_at_once() -> None:
    """One after the other would take a run of the check each; a misspelt field is one fault."""
    text = (
        '{"a": {"x": {"expected_status": "passed"}},\n"b": {"x": {"expected": "pass"}},\n'
        '"c": {"x": {"expected_status": "pass"}},\n"d": {}}'
    )
    with pytest.raises(DocumentError) as caught:
        parse_baseline(text.encode(), "f.json")
    assert str(caught.value).startswith(
        "f.json:1: field a.x.expected_status: unknown status 'passed', must be pass, fail or "
        "infra_error; also line 2, field b.x.expected_status: is missing; also line 4, field d: "
        "names no provider"
    )
