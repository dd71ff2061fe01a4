"""Files that would take minutes to read are rejected, with file, field and remedy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from routing_action.agents.described.routing_file import read_routing_file
from routing_action.corpus.cases_file import read_cases
from routing_action.errors import DocumentError
from routing_action.gate.baselines import read_baseline
from tests.support.command_line import run_command

GOOD: dict[str, Any] = {"case_id": "a", "prompt": "p"}
MANY = [f"skill-{number}" for number in range(50_000)]
LISTS = (
    "required_skills",
    "required_files",
    "required_all_evidence",
    "required_any_evidence",
    "required_evidence",
    "optional_skills",
    "disallowed_skills",
)
PROVIDER = """
[providers.acme]
command = ["acme", "{prompt}"]
{more}
[providers.acme.records]
kind = "type"
tools = {{ skill = ["skill"] }}
call = {{ kinds = ["call"], tool = "name", skill = "skill" }}
result = {{ kinds = ["result"], success = "ok" }}
end = {{ kinds = ["end"] }}
"""


@pytest.mark.parametrize("name", LISTS)
def test_s3_a_list_of_50_000_names_is_rejected(tmp_path: Path, name: str) -> None:
    """A thousand are more than any case needs."""
    path = tmp_path / "cases.json"
    path.write_text(json.dumps([GOOD, {**GOOD, "case_id": "b", name: MANY}]), encoding="utf-8")
    with pytest.raises(DocumentError, match=rf"{name}: has more than 1000 entries") as caught:
        read_cases(path)
    assert "cases.json:1" in str(caught.value)
    assert "shorten it" in caught.value.remedy


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"prompt": "p" * 1_000_000}, "prompt: has more than 100000 characters"),
        ({"expected_skill": "s" * 1_000_000}, "expected_skill: has more than 300 characters"),
        ({"category": "s" * 1_000_000}, "category: has more than 100 characters"),
        ({"required_skills": ["s" * 1_000_000]}, "has more than 300 characters"),
        ({"provider_aliases": {"claude": dict(zip(MANY, MANY, strict=True))}}, "1000 entries"),
        ({"provider_aliases": {name: {} for name in MANY}}, "100 entries"),
        ({"k" * 1_000_000: 1}, "unknown field"),
    ],
)
def test_s3_a_huge_value_of_a_case_is_rejected(
    tmp_path: Path, fields: dict[str, Any], said: str
) -> None:
    """The message is short all the same."""
    path = tmp_path / "cases.json"
    path.write_text(json.dumps([{**GOOD, **fields}]), encoding="utf-8")
    with pytest.raises(DocumentError, match=said) as caught:
        read_cases(path)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("text", ["[" * 200_000, '{"a":' * 200_000, '{"a":1,"a":2}'])
def test_s3_json_that_is_nested_too_deeply_is_rejected(tmp_path: Path, text: str) -> None:
    """Cases and baselines alike."""
    for name, read in (("cases.json", read_cases), ("provider-baseline.json", read_baseline)):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        with pytest.raises(DocumentError, match=name):
            read(path)


def test_s3_a_huge_reason_of_a_baseline_is_rejected(tmp_path: Path) -> None:
    """It would be shown in every report."""
    path = tmp_path / "provider-baseline.json"
    entry = {"expected_status": "fail", "reason": "r" * 1_000_000}
    path.write_text(json.dumps({"a": {"claude": entry}}), encoding="utf-8")
    with pytest.raises(DocumentError, match="reason: has more than 500 characters"):
        read_baseline(path)


@pytest.mark.parametrize(
    "more",
    [
        pytest.param("[a" + ".a" * 60_000 + "]", id="a table's name"),
        pytest.param("a" + ".a" * 60_000 + " = 1", id="a key"),
        pytest.param("a" + ' . "a"' * 15_000 + " = 1", id="a quoted key"),
        pytest.param("x = { a" + ".a" * 60_000 + " = 1 }", id="a key of an inline table"),
        pytest.param("\n".join(f"k{n}" + ".a" * 31 + " = 1" for n in range(1500)), id="many"),
    ],
)
def test_s3_a_key_of_thousands_of_parts_is_rejected(tmp_path: Path, more: str) -> None:
    """Before it is parsed, with its line."""
    path = tmp_path / "routing.toml"
    path.write_text(f"title = 1\n{more}\n", encoding="utf-8")
    with pytest.raises(DocumentError, match=r"routing\.toml:2: a key of more than 12 parts"):
        read_routing_file(path)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        pytest.param("a" * 200_000 + " = 1", "larger than", id="the whole file"),
        pytest.param("x = " + "[" * 50_000, "not TOML", id="nested lists"),
        pytest.param("k" * 50_000 + " = 1", "unknown field", id="a long name"),
        pytest.param(f"credential_files = {['f'] * 201}", "200 entries", id="a long list"),
        pytest.param(f"text_load = '(?P<skill>{'a' * 2000})'", "1000 char", id="a long pattern"),
        pytest.param("text_load = '(?P<skill>a{99999999999})'", "not a regular", id="a repetition"),
        pytest.param(
            f"text_load = '(?P<skill>{'(' * 480}a{')' * 480})'", "not a regular", id="brackets"
        ),
    ],
)
def test_s3_what_takes_long_in_an_agents_description_is_rejected(
    tmp_path: Path, more: str, said: str
) -> None:
    """By an error of few words."""
    path = tmp_path / "routing.toml"
    path.write_text(PROVIDER.format(more=more, prompt="{prompt}"), encoding="utf-8")
    with pytest.raises(DocumentError, match=said) as caught:
        read_routing_file(path)
    assert len(str(caught.value)) < 1000


def test_s3_ordinary_files_are_read(tmp_path: Path) -> None:
    """Dots in texts and comments are no keys, and a case file may be long."""
    path = tmp_path / "routing.toml"
    more = f'# {". " * 50}\ntitle = "{"a." * 50}"\n'
    path.write_text(PROVIDER.format(more=more, prompt="{prompt}"), encoding="utf-8")
    assert list(read_routing_file(path)[0]) == ["acme"]
    cases = [{**GOOD, "case_id": f"c{number}"} for number in range(5000)]
    cases[0]["required_skills"] = MANY[:1000]
    (tmp_path / "cases.json").write_text(json.dumps(cases), encoding="utf-8")
    assert len(read_cases(tmp_path / "cases.json").cases) == 5000


def test_s3_the_command_line_says_so_too(tmp_path: Path) -> None:
    """Exit code 2, with file and field."""
    text = json.dumps([{**GOOD, "required_skills": MANY}])
    (tmp_path / "cases.json").write_text(text, encoding="utf-8")
    done = run_command(["cases", "check"], tmp_path, {"PATH": "/usr/bin:/bin"})
    assert done.code == 2
    assert "required_skills: has more than 1000 entries" in done.stderr
