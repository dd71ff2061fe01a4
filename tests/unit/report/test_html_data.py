"""What the data of the HTML report holds of pairs, units and transcripts."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from routing_action.corpus.baseline import Status
from routing_action.corpus.influences import Influence
from routing_action.gate.model import DeltaProof, DeltaSkill, Edit, FieldEdit
from routing_action.gate.rules import DeltaKind
from routing_action.github.publication import RunLinks
from routing_action.report.html import data as html_data
from routing_action.report.html.script import to_script
from routing_action.results.notes import GATE_DECIDED
from routing_action.results.transcript_lines import TranscriptLine
from tests.support.html_page import RED, Page, render
from tests.support.report_values import (
    HOSTILE,
    make_delta,
    make_entry,
    make_record,
    make_regression,
)
from tests.support.result_rows import make_hit, unit_id


def test_pairs_carry_their_detail_only_where_they_are_not_simply_as_expected() -> None:
    """30,000 passing pairs stay small; each other one explains itself."""
    proof = DeltaProof(token="foo", tier=3, source_detail="mention", proof_line="see foo")
    flaky = make_entry("flaky", flaky=True, trials=3, passed=2)
    better = make_entry("better", kind=DeltaKind.IMPROVEMENT, was=Status.FAIL)
    delta = make_delta(make_regression(proofs=(proof,)), make_entry(), flaky, better)
    red, plain, unsteady, improved = Page(render(delta)).data("pairs")
    assert plain == ["one", "claude", "OK", 0, "pass", "pass", 3, 0, 0, 1, 1, None]
    assert red[:6] == ["red", "codex", "REGRESSION", 1, "pass", "fail"]
    assert red[12]["proofs"] == [["foo", 3, "mention", "see foo"]]
    assert red[12]["rerun"] == "routing-action run --agents codex --case-id red"
    assert "--accept-regression" in red[12]["accept"]
    assert "--from-run 7 --repo octo/demo" in red[12]["accept"]
    assert "takes effect when merged" in red[12]["accepting"]
    assert unsteady[7] == 1
    assert "accept" not in unsteady[12]
    assert improved[12]["accept"].endswith("--cases better --agents claude")


def test_units_carry_evidence_transcript_and_how_they_ran() -> None:
    """A unit's page has all that a maintainer needs, without results.json."""
    hits = {"foo": make_hit(3, 10, "mention at stdout line 4", "see foo"), "bar": None}
    record = make_record(
        2, [TranscriptLine(4, "see foo", True)], status="fail", token_hits=hits, error="no",
        exit_code=1, command=("claude", "-p"), cost_usd=0.25, output_excerpt="x" * 9000,
        missing_evidence=("foo", "bar"), category="red",
    )  # fmt: skip
    (line,) = Page(render(RED, record)).data("units")
    assert line[1:14] == [
        "one", "claude", 1, "fail", "completed", None, 0, "red", 1500,
        "2026-01-02T03:00:00.000Z", "2026-01-02T03:00:01.500Z", 0.25, 1,
    ]  # fmt: skip
    assert line[14] == []
    assert line[16]["hits"] == [["foo", 3, 10, "mention at stdout line 4", "see foo"], ["bar"]]
    assert line[16]["lines"] == [[4, "see foo", True]]
    assert line[16]["command"] == ["claude", "-p"]
    assert len(line[16]["excerpt"]) == 4000


def test_details_of_passing_units_end_with_their_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Failures stay explained however many units pass before them."""
    monkeypatch.setattr(html_data, "PASSING_DETAIL_BYTES", 50)
    records = [make_record(n, trial=n, output_excerpt="x" * 60) for n in (1, 2)]
    failed = make_record(3, trial=3, status="fail", error="no")
    lines = Page(render(RED, *records, failed)).data("units")
    assert [len(line) for line in lines] == [17, 16, 17]


def test_many_rows_come_in_pieces_and_in_order() -> None:
    """Rows past the first piece are neither lost nor repeated."""
    records = [make_record(n, trial=n) for n in range(1, 1203)]
    lines = Page(render(RED, *records)).data("units")
    assert [line[3] for line in lines] == list(range(1, 1203))


def test_data_holds_nothing_that_html_or_javascript_could_take_for_its_own() -> None:
    """All of `<`, `>`, `&` and the line separators are escaped in data."""
    raw = str(to_script(["".join(HOSTILE)]))
    assert not re.search("[<>&\u2028\u2029]", raw)
    assert json.loads(raw) == ["".join(HOSTILE)]


def test_lone_surrogates_and_huge_numbers_are_data_too() -> None:
    """What UTF-8 or 64 bits cannot hold stops no report."""
    assert json.loads(str(to_script(["\ud800<", 10**30]))) == ["\ud800<", 10**30]
    record = make_record(status="fail", error="\udfff", duration_ms=10**30)
    text = render(RED, record)
    text.encode()
    assert Page(text).data("units")[0][-1]["error"] == "\udfff"


def test_a_row_says_what_came_instead_whether_it_is_noise_and_what_to_do() -> None:
    """The list answers before anything is opened."""
    taken = make_regression(loaded_skills=("bar",), passed=0, trials=3,
                            failure_kind="missing_required")  # fmt: skip
    delta = make_delta(taken, make_entry("red", "claude"), prompts={"red": "Do it"})
    page = Page(render(delta))
    more = page.data("pairs")[0][12]
    assert more["short"] == "wanted foo, got bar"
    assert more["noise"] == ["failed 3 of 3", "only here: passes on claude"]
    assert "“Do it”" in more["fix"]
    assert page.data("prompts") == [["red", "Do it"]]


def test_rows_of_one_cause_share_a_number_and_those_with_a_story_have_none() -> None:
    """Amounts and ids in a message do not tell two causes apart; the agent's words do."""
    lost: dict[str, Any] = {"got": Status.INFRA_ERROR, "failure_kind": "quota"}
    rows = (
        make_regression("a", error="429, try again in 3 s (req_0a1b2c3d4e)", **lost),
        make_regression("b", error="429, try again in 41.5 s (req_9f8e7d6c5b)", **lost),
        make_regression("c", error="credit is used up", **lost),
        make_regression("d"),
        make_regression("e"),
        make_entry("f", flaky=True, passed=2, trials=3),
        make_entry("g", kind=DeltaKind.REMOVED, got=None, why="the case was removed"),
        make_entry("h", kind=DeltaKind.REMOVED, got=None, why="the case was removed"),
    )
    found = [line[12].get("cause", 0) for line in Page(render(make_delta(*rows))).data("pairs")]
    assert found == [1, 1, 2, 0, 0, 0, 3, 3]


@pytest.mark.parametrize("cause", ["ENOENT: no such program", "401 (bad key)", "a\nb"])
def test_pairs_that_were_not_started_share_the_cause_of_the_one_that_was(cause: str) -> None:
    """An agent that fails for good is stopped; its other pairs name what stopped it."""
    lost: dict[str, Any] = {"got": Status.INFRA_ERROR, "kind": DeltaKind.REGRESSION}
    first = make_regression("a", error=cause, failure_kind="auth", **lost)
    stopped = f"not run: codex was stopped after auth ({cause})"
    then = [make_regression(f"b{n}", error=stopped, failure_kind="not_run", **lost) for n in (1, 2)]
    found = Page(render(make_delta(first, *then))).data("pairs")
    assert [line[12]["cause"] for line in found] == [1, 1, 1]


def test_a_pair_and_its_units_carry_the_skills_to_filter_by() -> None:
    """The expected skill and every loaded one, in one spelling, files aside."""
    row = make_regression(missing_evidence=("foo", "foo/SKILL.md"), loaded_skills=("kit:Bar",))
    failed = make_record(1, case_id="red", agent="codex", status="fail", expected_skill="foo",
                         loaded_skills=("kit:Bar",))  # fmt: skip
    passed = make_record(2, expected_skill="bar", loaded_skills=("bar",))
    page = Page(render(make_delta(row, make_entry()), failed, passed))
    skills = page.data("index")["skills"]
    assert skills == ["foo", "Bar"]
    assert page.data("pairs")[0][12]["skills"] == [0, 1]
    assert [line[15] for line in page.data("units")] == [[0, 1], [1]]


ID = unit_id(1)


@pytest.mark.parametrize(
    ("batch", "report", "link"),
    [
        ("/runs/batch", "/runs", "batch/transcripts"),
        ("/runs/batch", "/runs/batch", "transcripts"),
        ("/runs/my batch #1", "/runs/reports", "../my%20batch%20%231/transcripts"),
        ("/runs/routing-results-codex-a1/x", "/runs", "routing-results-codex-a1/x/transcripts"),
    ],
)
def test_a_transcript_is_linked_from_where_the_report_lies(
    batch: str, report: str, link: str
) -> None:
    """Beside, inside or above the batch; the path stands there in full as well."""
    files = tuple(f"{batch}/transcripts/{ID}.{stream}" for stream in ("stdout", "stderr"))
    record = replace(make_record(1), transcripts=files)
    page = Page(render(RED, record, place=RunLinks(), folder=Path(report)))
    assert page.data("units")[0][14] == [0, "stdout", "stderr"]
    assert page.data("index")["folders"] == [{"path": f"{batch}/transcripts", "link": link}]


def test_in_a_workflow_a_transcript_is_looked_for_beside_the_unpacked_report() -> None:
    """The artifacts of a run are unpacked side by side, and a command fetches them so."""
    file = f"/tmp/legs/routing-results-codex-a1/x/transcripts/{ID}.stderr"
    record = replace(make_record(1), transcripts=(file,))
    page = Page(render(RED, record, folder=Path("/tmp/report")))
    assert page.data("units")[0][14] == [0, "stderr"]
    assert page.data("index")["folders"] == [
        {
            "path": "x/transcripts",
            "artifact": "routing-results-codex-a1",
            "link": "../routing-results-codex-a1/x/transcripts",
        }
    ]
    assert page.data("meta")["download"] == "gh run download 7 --repo octo/demo"


def test_without_a_place_of_its_own_a_report_has_paths_and_no_links() -> None:
    """Nothing is linked that could lead nowhere."""
    record = replace(make_record(1), transcripts=(f"runs/x/transcripts/{ID}.stdout",))
    page = Page(render(RED, record, place=RunLinks()))
    assert page.data("index")["folders"] == [{"path": "runs/x/transcripts", "link": ""}]


def test_what_the_change_did_to_skills_and_cases_is_there_to_compare() -> None:
    """Both texts of an edited description, and none of one that it left alone."""
    skills = (
        DeltaSkill(name="foo", agents=("codex",), description="now", path="a/SKILL.md",
                   before="then"),
        DeltaSkill(name="bar", agents=("codex",), description="same", path="b/SKILL.md"),
    )  # fmt: skip
    edit = Edit(path="cases.json", influence=Influence.CASES, what="edited", name="red",
                fields=(FieldEdit(field="prompt", before="old", after="new"),))  # fmt: skip
    meta = Page(render(make_delta(make_regression(), skills=skills, edits=(edit,)))).data("meta")
    assert meta["skills"] == [
        ["foo", ["codex"], "now", "a/SKILL.md", "then"],
        ["bar", ["codex"], "same", "b/SKILL.md", None],
    ]
    assert meta["case_edits"] == {"red": ["edited", [["prompt", "old", "new"]]]}


def test_a_pair_that_passes_has_no_kind_of_failure_and_one_not_run_is_marked() -> None:
    """One of its trials may have failed by chance; and nobody needed to run the other."""
    steady = make_entry("steady", flaky=True, failure_kind="missing_required")
    lost = make_regression("lost", got=Status.INFRA_ERROR, error=f"{GATE_DECIDED}, since red")
    pairs = Page(render(make_delta(make_regression(), steady, lost))).data("pairs")
    more = {pair[0]: pair[12] for pair in pairs}
    assert "failure" not in more["steady"]
    assert more["lost"]["skipped"]
    assert "skipped" not in more["red"]
