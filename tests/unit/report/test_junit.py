"""What a CI system's test view makes of a delta."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable
from functools import cache
from io import StringIO
from pathlib import Path

import pytest
import xmlschema
from hypothesis import given, settings
from hypothesis import strategies as st

from routing_action.corpus.baseline import Status
from routing_action.gate.conclusion import Conclusion
from routing_action.gate.model import Delta, DeltaChance, DeltaProof
from routing_action.gate.rules import DeltaKind
from routing_action.github.publication import RunLinks
from routing_action.report.junit import write_junit
from routing_action.results.notes import GATE_DECIDED
from routing_action.results.transcript_lines import UnitRecord
from tests.support.report_values import (
    HOSTILE,
    make_delta,
    make_entry,
    make_record,
    make_regression,
)
from tests.support.result_rows import make_hit

SCHEMAS = ("windyroad-junit.xsd", "jenkins-junit-10.xsd")
NOWHERE = RunLinks()

INFRA = make_entry("limited", "codex", kind=DeltaKind.INFRA, was=Status.FAIL,
                   got=Status.INFRA_ERROR, failure_kind="rate_limit", passed=0)  # fmt: skip
UNMEASURED = make_entry("lost", "codex", kind=DeltaKind.UNMEASURED, got=None, passed=None)
KNOWN_INFRA = make_entry("known", "codex", was=Status.INFRA_ERROR, got=Status.INFRA_ERROR)
MIXED = make_delta(make_regression(), INFRA, UNMEASURED, KNOWN_INFRA, make_entry(),
                   make_entry("two", was=Status.FAIL, got=Status.FAIL))  # fmt: skip


def render_junit(delta: Delta, records: Iterable[UnitRecord], place: RunLinks) -> str:
    """The document as text."""
    out = StringIO()
    write_junit(out, delta, records, place)
    return out.getvalue()


@cache
def schema(name: str) -> xmlschema.XMLSchema:
    return xmlschema.XMLSchema(Path(__file__).parent / "schemas" / name)


def check(text: str) -> ET.Element:
    """The document, which both schemas take, and whose totals are right."""
    for name in SCHEMAS:
        schema(name).validate(text)
    root = ET.fromstring(text)  # noqa: S314 - what we wrote ourselves
    for suite in root:
        cases = suite.findall("testcase")
        assert suite.get("tests") == str(len(cases))
        for attribute, element in (("failures", "failure"), ("errors", "error"),
                                   ("skipped", "skipped")):  # fmt: skip
            found = sum(case.find(element) is not None for case in cases)
            assert suite.get(attribute) == str(found)
        times = [float(case.get("time", "")) for case in cases]
        assert float(suite.get("time", "")) == pytest.approx(sum(times), abs=0.01)
    return root


def outcome(root: ET.Element, case_id: str) -> ET.Element | None:
    (case,) = root.findall(f".//testcase[@name='{case_id}']")
    return next(iter(case), None)


def test_each_provider_is_a_suite_and_each_case_a_test() -> None:
    """A CI system groups the rows by provider, in the order of the delta."""
    root = check(render_junit(MIXED, (), NOWHERE))
    assert [suite.get("name") for suite in root] == ["codex", "claude"]
    assert [case.get("classname") for case in root.iter("testcase")] == [
        *["routing.codex"] * 4, *["routing.claude"] * 2
    ]  # fmt: skip


def test_a_gating_row_fails_with_its_word_place_and_remedy() -> None:
    """The failure alone tells what to look at and how to run it again."""
    proof = DeltaProof(token="foo", tier=3, source_detail="mention at stdout line 4",
                       proof_line="see foo & <bar>")  # fmt: skip
    row = make_regression(proofs=(proof,), error="it said no", disallowed_hits=("baz",),
                          loaded_skills=("baz",), not_alike=("cli 2, not 1",))  # fmt: skip
    found = outcome(check(render_junit(make_delta(row), (), NOWHERE)), "red")
    assert found is not None
    assert (found.tag, found.get("type")) == ("failure", "REGRESSION")
    assert found.get("message") == "REGRESSION: wanted foo, got baz, which is disallowed"
    assert (found.text or "").splitlines() == [
        "cases.json:3: REGRESSION: expected pass, got fail (weak_evidence_only)",
        "expected pass, got fail",
        "failure: weak_evidence_only",
        "error: it said no",
        "trials: failed 1 of 1: measured once",
        "not comparable: cli 2, not 1",
        "missing: foo",
        "used though disallowed: baz",
        "loaded: baz",
        "foo (tier 3, mention at stdout line 4): see foo & <bar>",
        (
            "fix: say in the description of foo that it is for prompts such as “Prompt of "
            "red.”, and in that of baz that it is not"
        ),
        "rerun: routing-action run --agents codex --case-id red",
        (
            "accept: routing-action baseline update --from RESULTS --cases red --agents codex "
            "--accept-regression --reason 'WHY'"
        ),
        "once accepted: it takes effect when merged: this gate stays red until then",
    ]


def test_infra_is_an_error_and_what_has_no_verdict_is_skipped() -> None:
    """A pair that says nothing about routing is neither passed nor failed."""
    root = check(render_junit(MIXED, (), NOWHERE))
    infra, lost, known = (outcome(root, name) for name in ("limited", "lost", "known"))
    assert infra is not None
    assert (infra.tag, infra.get("type")) == ("error", "rate_limit")
    assert lost is not None
    assert lost.tag == "skipped"
    assert known is not None
    assert known.tag == "skipped"
    assert outcome(root, "one") is None
    assert outcome(root, "two") is None


def test_a_lost_result_fails_and_offers_no_command() -> None:
    """What was never measured cannot be measured again by a command that is unknown."""
    row = make_regression("gone", kind=DeltaKind.MISSING, got=None, failure_kind=None)
    found = outcome(check(render_junit(make_delta(row), (), NOWHERE)), "gone")
    assert found is not None
    assert found.get("type") == "MISSING"
    assert "expected pass, got nothing" in (found.text or "")
    assert "rerun" not in (found.text or "")


def test_times_are_the_seconds_of_all_trials() -> None:
    """Units that the delta does not know are left out."""
    records = [make_record(1), make_record(2, trial=2, duration_ms=250),
               make_record(3, case_id="gone"), make_record(4, agent="gone")]  # fmt: skip
    root = check(render_junit(make_delta(make_entry()), records, NOWHERE))
    assert root[0].find("testcase").get("time") == "1.750"  # type: ignore[union-attr]


def test_proof_lines_stand_in_the_suite_s_output_within_bounds() -> None:
    """A long proof is cut, and many leave a hint where the others are."""
    hit = make_hit(3, 10, "mention at stdout line 4", "x" * 5000)
    units = [make_record(n, agent="codex", case_id="red", status="fail", trial=n,
                         token_hits={"foo": hit, "bar": None}) for n in range(1, 60)]  # fmt: skip
    root = check(render_junit(make_delta(make_regression()), units, NOWHERE))
    lines = (root[0].findtext("system-out") or "").splitlines()
    assert lines[0].startswith("red trial 1: foo (tier 3, mention at stdout line 4): xxx")
    assert max(map(len, lines)) == 2000
    assert sum(map(len, lines)) < 70_000
    assert lines[-1] == "more is in results.json"


def test_a_gate_that_is_red_for_no_row_s_sake_fails_a_suite_of_its_own() -> None:
    """Test views never look green where the gate is not."""
    delta = make_delta(make_entry(), conclusion=Conclusion.FAILURE,
                       reasons=("nothing was measured", "a shard is missing"))  # fmt: skip
    root = check(render_junit(delta, (), NOWHERE))
    assert [suite.get("name") for suite in root] == ["claude", "routing gate"]
    found = outcome(root, "conclusion")
    assert found is not None
    assert found.text == "nothing was measured\na shard is missing"


def test_a_suite_tells_where_it_was_measured_and_with_what() -> None:
    """Properties hold commit, baseline, CLI, model and the workflow run."""
    delta = make_delta(make_entry(), commit="b" * 40)
    totals = delta.totals.model_copy(
        update={"cli_versions": {"claude": ("1", "2")}, "models": {"claude": ("m",)}}
    )
    place = RunLinks(server_url="https://github.test", repository="octo/demo", run_id="7")
    root = check(render_junit(delta.model_copy(update={"totals": totals}), (), place))
    found = {item.get("name"): item.get("value") for item in root.iter("property")}
    assert found == {
        "cases_file": "cases.json",
        "commit": "b" * 40,
        "baseline": "provider-baseline.json",
        "baseline_commit": "a" * 40,
        "cli_version": "1, 2",
        "model": "m",
        "workflow_run": "https://github.test/octo/demo/actions/runs/7/attempts/1",
    }


def hostile_delta(text: str) -> Delta:
    return make_delta(
        make_regression(text, text, why=text, error=text, failure_kind=text,
                        missing_evidence=(text,)),
        make_entry(kind=DeltaKind.INFRA, failure_kind=text, got=Status.INFRA_ERROR),
        cases_file=text,
    )  # fmt: skip


@pytest.mark.parametrize("text", [*HOSTILE, "", " ", "lone \ud800", "line\r\nend\ttab"])
def test_hostile_text_stays_text(text: str) -> None:
    """What XML cannot hold is named, and nothing ends an element early."""
    delta = make_delta(make_regression(), make_entry())
    # A model does not take a lone surrogate; what builds values past it is still safe.
    row = delta.rows[0].model_copy(update={"why": text, "case_id": text, "agent": text})
    delta = delta.model_copy(update={"rows": (row, delta.rows[1])})
    root = check(render_junit(delta, [make_record(case_id=text, agent=text)], NOWHERE))
    assert len(root.findall("testsuite")) == 2
    assert len(list(root.iter("failure"))) == 1


@settings(deadline=None, max_examples=40)
@given(st.text())
def test_any_text_gives_a_document_that_both_schemas_take(text: str) -> None:
    """No case, provider or message can break the document."""
    check(render_junit(hostile_delta(text.encode("utf-8", "replace").decode()), (), NOWHERE))


def test_its_commands_name_where_the_results_are() -> None:
    """They work when they are pasted."""
    found = outcome(check(render_junit(make_delta(make_regression()), (), RunLinks(
        results="out/batch"))), "red")  # fmt: skip
    assert found is not None
    assert "baseline update --from out/batch --cases red" in (found.text or "")


def test_what_is_not_proven_passes_with_its_numbers() -> None:
    """They stand in the output of the suite."""
    chance = DeltaChance(finding="not proven", failed=3, measured=8, before_passes=44,
                         before_trials=46, odds=0.0083)  # fmt: skip
    row = make_entry(kind=DeltaKind.NOT_PROVEN, chance=chance, passed=5, trials=8)
    root = check(render_junit(make_delta(row), (), NOWHERE))
    assert outcome(root, "one") is None
    assert root.findtext("testsuite/system-out") == (
        "one: NOT PROVEN: failed 3 of 8; before: 44 of 46; an unchanged pair does this once in "
        "120 runs"
    )


def test_what_nobody_needed_to_run_is_skipped() -> None:
    """One failure is one cause; an entry past its date got no status that matters."""
    lost = make_regression("b", got=Status.INFRA_ERROR, error=f"{GATE_DECIDED}, since a failed")
    over = make_regression("over", kind=DeltaKind.EXPIRED, why="it ended")
    root = check(render_junit(make_delta(make_regression(), lost, over), (), NOWHERE))
    tags = [found.tag for name in ("red", "b") if (found := outcome(root, name)) is not None]
    assert tags == ["failure", "skipped"]
    ended = outcome(root, "over")
    assert ended is not None
    assert "got fail" not in (ended.text or "")
