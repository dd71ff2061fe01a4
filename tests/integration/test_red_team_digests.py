"""The gate believes a leg's results only as their leg wrote them, and as they were planned."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_line import run_command
from tests.support.pull_request import FILES, STEAL, PullRequest, Verdict
from tests.support.result_rows import write_results

HOW = "the page how-to/pass-digests-on.md"


def judge(change: PullRequest, matrix: Any = None, **outputs: str) -> Verdict:  # noqa: ANN401
    """The aggregation with outputs of the job `measure`, and with a plan's matrix."""
    needs: dict[str, Any] = {"measure": {"result": "success", "outputs": outputs}}
    if matrix is not None:
        plan = {"matrix": json.dumps({"include": matrix})}
        needs["plan"] = {"result": "success", "outputs": plan}
    return change.judge(needs=json.dumps(needs))


def results_of(change: PullRequest, artifact: str = "routing-results-claude-a1") -> Path:
    """The results in a downloaded artifact."""
    (file,) = (change.gate.legs / artifact).rglob("results.json")
    return file


def rewrite(file: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    """Edit results, and have their counts agree."""
    results = json.loads(file.read_text("utf-8"))
    edit(results)
    found = [row["status"] for row in results["results"]]
    counts = {word: found.count(word) for word in ("pass", "fail", "infra_error")}
    results["summary"] = {"total": len(found), **counts}
    file.write_text(json.dumps(results), encoding="utf-8")


def pass_all(results: dict[str, Any]) -> None:
    """Every row passes, with a hit for its expected skill."""
    hit = {"best_score": 1000, "tier": 1, "source_kind": "cli_output"}
    for row in results["results"]:
        row.update(status="pass", failure_kind=None, failure_category=None, missing_evidence=[])
        row["token_hits"] = {row["expected_skill"]: {**hit, "source_detail": "", "proof_line": ""}}


def drop_journal(file: Path) -> None:
    """What nothing but the digest can tell."""
    (file.parent / "journal.jsonl").unlink()


def has(found: Verdict, *words: str) -> bool:
    """Whether the gate is red, and one error has all the words."""
    errors = found.delta["errors"]
    return found.is_red and any(all(word in one for word in words) for one in errors)


def test_results_that_match_their_digest_are_green(change: PullRequest) -> None:
    """Under any output's name that begins with `digest`; empty ones are of other legs."""
    change.propose({"README.md": "x"})
    digest = change.measure()["digest"]
    found = judge(change, digest_claude=digest, digest_codex="", image="sha256:x")
    assert found.conclusion == "success"
    assert not any("digest" in note for note in found.delta["notes"])


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(pass_all, id="every row passes"),
        pytest.param(lambda one: one.update(generated_at_utc="2026-01-01T00:00:00Z"), id="time"),
        pytest.param(lambda results: None, id="layout alone"),
        pytest.param(lambda results: results["results"].pop(), id="a row less"),
        pytest.param(lambda results: results["options"].update(trials=3), id="options"),
    ],
)  # fmt: skip
def test_g2_results_that_do_not_match_their_digest_are_red(
    change: PullRequest, edit: Callable[[dict[str, Any]], object]
) -> None:
    """Whatever was changed after the leg wrote them."""
    change.propose(STEAL)
    digest = change.measure()["digest"]
    rewrite(results_of(change), edit)
    drop_journal(results_of(change))
    found = judge(change, digest=digest)
    assert has(found, "routing-results-claude-a1", "was changed after its leg wrote it")
    assert "was changed after its leg wrote it" in found.text("comment.md")


@pytest.mark.parametrize(
    ("edit", "named"),
    [
        pytest.param(pass_all, "claude:deploy trial 1", id="every row passes"),
        pytest.param(lambda one: one["results"].pop(), "claude:notes trial 1", id="a row less"),
        pytest.param(
            lambda one: one["results"][0].update(cost_usd=9.5), "claude:deploy trial 1", id="a cost"
        ),
    ],
)
def test_g2_rows_that_differ_from_their_journal_are_red(
    change: PullRequest, edit: Callable[[dict[str, Any]], object], named: str
) -> None:
    """Without any digest; the error names the unit."""
    change.propose(STEAL)
    change.measure()
    rewrite(results_of(change), edit)
    assert has(judge(change), "journal.jsonl", named)


def test_g2_a_row_that_passes_without_a_hit_is_rejected(change: PullRequest) -> None:
    """It says of itself that nothing is missing."""
    change.propose(STEAL)
    change.measure()
    file = results_of(change)
    rewrite(file, pass_all)
    rewrite(file, lambda one: one["results"][0].update(token_hits={}))
    found = judge(change)
    assert found.is_red
    assert "claude:deploy passes without evidence of deploying" in found.outputs["log"]


def test_g2_a_transcript_that_was_changed_is_red(change: PullRequest) -> None:
    """The error names file and row."""
    change.propose({"README.md": "x"})
    digest = change.measure()["digest"]
    file = min((results_of(change).parent / "transcripts").glob("*.stdout"))
    file.write_bytes(file.read_bytes() + b"\n")
    assert has(judge(change, digest=digest), file.name, "changed", "claude:")


def test_without_any_digest_a_note_says_what_to_do(change: PullRequest) -> None:
    """And nothing turns red."""
    change.propose({"README.md": "x"})
    change.measure()
    found = judge(change)
    assert found.conclusion == "success"
    assert any("passes no digests on" in one and HOW in one for one in found.delta["notes"])
    assert HOW in found.text("comment.md")


def second_leg(change: PullRequest, attempt: int = 1, agent: str = "codex") -> str:
    """Results of another agent that passes; the digest of its leg."""
    place = change.gate.legs / f"routing-results-{agent}-a{attempt}" / "batch"
    corpus = (change.checkout.path / "cases.json").read_bytes()
    file = write_results(
        place,
        {("deploy", agent): "pass", ("notes", agent): "pass"},
        commit=change.head,
        corpus_sha256=hashlib.sha256(corpus).hexdigest(),
        attempt=attempt,
        matrix_key=agent,
    )
    return f"{agent}-a{attempt}:{hashlib.sha256(file.read_bytes()).hexdigest()}"


@pytest.fixture
def two(tmp_path: Path) -> PullRequest:
    """Two agents that are expected to pass."""
    entry = {"expected_status": "pass"}
    both = {case: {"claude": entry, "codex": entry} for case in ("deploy", "notes")}
    change = PullRequest(tmp_path, {**FILES, "provider-baseline.json": json.dumps(both)})
    change.propose({"README.md": "x"})
    return change


def of_both(change: PullRequest, outputs: Mapping[str, str], attempt: int = 1) -> Verdict:
    """The aggregation of both agents."""
    needs = {"measure": {"result": "success", "outputs": dict(outputs)}}
    return change.judge(attempt, agents="claude,codex", needs=json.dumps(needs))


def test_g2_a_leg_whose_digest_alone_is_missing_is_red(two: PullRequest) -> None:
    """A leg cannot leave its digest out while the others' are passed on."""
    first, second = two.measure()["digest"], second_leg(two)
    assert of_both(two, {"digest-claude": first, "digest-codex": second}).conclusion == "success"
    found = of_both(two, {"digest-claude": first, "digest-codex": ""})
    assert has(found, "routing-results-codex-a1", "no job passes the digest", HOW)


def test_g2_the_digest_of_another_leg_proves_nothing(two: PullRequest) -> None:
    """It says whose it is."""
    first, second = two.measure()["digest"], second_leg(two)
    swapped = f"codex-a1:{first.partition(':')[2]}"
    assert has(of_both(two, {"digest-1": first, "digest-2": swapped}), "routing-results-codex-a1")
    both = {"digest-1": first, "digest-2": second, "digest-3": swapped}
    assert has(of_both(two, both), "routing-results-codex-a1", "was changed")


def test_g2_results_that_are_gone_are_red_though_a_marker_stands_there(two: PullRequest) -> None:
    """Their leg wrote some."""
    first, second = two.measure()["digest"], second_leg(two)
    leg = two.gate.legs / "routing-results-codex-a1"
    (leg / "batch" / "results.json").unlink()
    (leg / "not-measured.json").write_text('{"agent": "codex", "reason": "x"}', encoding="utf-8")
    found = of_both(two, {"digest-claude": first, "digest-codex": second})
    assert has(found, "routing-results-codex-a1", "they are not there")


def test_a_rerun_of_one_leg_keeps_the_digests_of_the_others(two: PullRequest) -> None:
    """GitHub keeps the outputs of jobs that are not run again; one that it lost is a note."""
    first = two.measure()["digest"]
    second_leg(two)
    again = second_leg(two, attempt=2)
    both = {"digest-claude": first, "digest-codex": again}
    assert of_both(two, both, attempt=2).conclusion == "success"
    found = of_both(two, {"digest-claude": "", "digest-codex": again}, attempt=2)
    assert found.conclusion == "success"
    assert any("no longer has the digests" in one for one in found.delta["notes"])


PLANNED = {"key": "claude", "agent": "claude", "case_ids": "deploy,notes"}


def test_a_leg_that_measured_what_was_planned_is_green(change: PullRequest) -> None:
    """Key, agent and cases are those of the matrix."""
    change.propose({"README.md": "x"})
    change.measure()
    assert judge(change, [PLANNED]).conclusion == "success"
    unknown = [{**PLANNED, "case_ids": ""}]
    assert judge(change, unknown).conclusion == "success"


@pytest.mark.parametrize(
    ("planned", "words"),
    [
        ({**PLANNED, "case_ids": "deploy"}, ("its cases are not those of the plan (notes)",)),
        ({**PLANNED, "case_ids": "deploy,notes,more"}, ("not those of the plan (more)",)),
        ({**PLANNED, "agent": "codex"}, ("measured claude, while the plan has codex",)),
    ],
)
def test_g1_a_leg_that_measured_something_else_is_red(
    change: PullRequest, planned: Mapping[str, str], words: tuple[str, ...]
) -> None:
    """The plan says which cases a leg has."""
    change.propose({"README.md": "x"})
    change.measure()
    assert has(judge(change, [planned]), "routing-results-claude-a1", *words)


def test_g1_rows_outside_the_selection_are_red(change: PullRequest) -> None:
    """A leg of one case brings the verdict of another."""
    change.propose({"README.md": "x"})
    change.measure()
    file = results_of(change)
    drop_journal(file)
    rewrite(file, lambda one: one["options"].update(selected_case_ids=["notes"]))
    assert has(judge(change), "rows that its leg did not select: claude:deploy")


def test_g2_a_changed_transcript_is_not_judged_again(change: PullRequest) -> None:
    """`evaluate` names the file and the row of it."""
    change.propose({"README.md": "x"})
    batch = Path(change.measure()["artifact-dir"])
    row = json.loads((batch / "results.json").read_text("utf-8"))["results"][0]
    file = batch / "transcripts" / f"{row['unit_run_id']}.stdout"
    words = ("evaluate", "--agent", "claude", "--stdout", str(file), "--token", "deploying")
    environ = change.job("claude").environment({})
    assert run_command(words, change.checkout.path, environ).code == 0
    file.write_bytes(file.read_bytes().replace(b"deploying", b"decoying-"))
    done = run_command(words, change.checkout.path, environ)
    assert done.code == 2
    assert f"{file}: the transcript was changed after it was written (claude:deploy)" in done.stderr
