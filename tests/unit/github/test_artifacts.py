"""Which artifacts of a run are ours, and which of them count."""

from __future__ import annotations

from typing import Any

import pytest

from routing_action.action.inputs import legal_key, report_artifact, results_artifact
from routing_action.github.artifacts import REPORT, Artifact, choose_newest, parse_artifact
from routing_action.results.measured import MeasuredOptions
from routing_action.results.measured_files import name_batch


def one(name: str, number: int = 1) -> dict[str, Any]:
    """As GitHub lists it."""
    return {"id": number, "name": name, "expired": False, "digest": f"sha256:{'0' * 64}"}


def test_r1_the_highest_attempt_of_a_key_counts_not_the_last_upload() -> None:
    """A partial re-run: one leg again, with a lower id; the other one from the first attempt."""
    names = {90: "routing-results-s1-a1", 10: "routing-results-s1-a2", 50: "routing-results-s2-a1"}
    found = [parse_artifact(one(name, number)) for number, name in names.items()]
    newest = choose_newest(artifact for artifact in found if artifact)
    assert [(made.key, made.attempt, made.id) for made in newest] == [("s1", 2, 10), ("s2", 1, 50)]


def test_r1_the_tenth_attempt_is_higher_than_the_ninth() -> None:
    """Numbers, not letters."""
    found = [parse_artifact(one(f"routing-results-s1-a{n}")) for n in (9, 10)]
    assert [made.attempt for made in choose_newest(a for a in found if a)] == [10]


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
def test_r2_every_odd_matrix_key_makes_a_name_that_is_read_again(key: str, tmp_path: Any) -> None:  # noqa: ANN401
    """The name that a leg gives, the list of a run and a downloaded folder agree."""
    name = results_artifact(legal_key(key), 3)
    assert not set(name) & set('":<>|*?\r\n\\/')
    made = parse_artifact(one(name))
    assert made is not None
    assert (made.key, made.attempt) == (legal_key(key), 3)
    file = tmp_path / name / "results.json"
    assert name_batch(file, MeasuredOptions((), (), "")) == (made.key, made.attempt)


def test_r2_keys_that_differ_in_a_forbidden_character_keep_two_names() -> None:
    """No leg overwrites another one's results."""
    keys = ["a/b", "a:b", "a-b", "a b", legal_key("a/b")]
    assert len({legal_key(key) for key in keys}) == len(keys)


@pytest.mark.parametrize(
    "record",
    [
        None,
        [],
        {},
        {"id": 1},
        {"id": "1", "name": "routing-results-x-a1"},
        {"id": True, "name": "routing-results-x-a1"},
        {"id": 1, "name": None},
        *(
            one(name)
            for name in (
                "coverage",
                "routing-results-x",
                "routing-results-x-a0",
                "routing-results-x-a01",
                "routing-results-x-a1 ",
                "routing-results-x-a1\n",
                "routing-results-x-a9999999",
                "routing-results-../x-a1",
                "routing-results-.x-a1",
                "routing-results-x/y-a1",
                "routing-results--a1",
                "routing-results-x-a١",
                "ROUTING-RESULTS-x-a1",
                "routing-report-x-a1",
                f"routing-results-{'k' * 81}-a1",
            )
        ),
    ],
)
def test_r11_names_of_another_form_are_none_of_ours(record: object) -> None:
    """They name folders, so nothing but the exact form is let in."""
    assert parse_artifact(record) is None


def test_a_report_is_found_by_its_own_prefix() -> None:
    """What an aggregation uploaded, for the run that posts it."""
    expected = Artifact(1, "routing-report-routing-a2", "routing", 2, False, "0" * 64)
    assert parse_artifact(one(report_artifact("routing", 2)), REPORT) == expected


@pytest.mark.parametrize("digest", [None, "", "md5:1", 5, "sha256:" + "0" * 63])
def test_a_digest_of_another_kind_is_none(digest: object) -> None:
    """Uploads of older releases have none."""
    made = parse_artifact({**one("routing-results-x-a1"), "digest": digest})
    assert made is not None
    assert made.digest == ""
