"""The gate in real repositories: a pull request that attacks it stays red, an honest one is green.

Each attack is tried with GitHub's merge commit checked out and with the pull request's head.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from routing_action.cli.schema import render_schema
from tests.support.command_line import ROOT, Finished, run_command
from tests.support.repositories import Repository, check_out, create
from tests.support.result_rows import write_results

CASES = ["steady", "broken"]


def cases_text(*ids: str) -> str:
    """A cases.json."""
    return json.dumps([{"case_id": one, "prompt": "p", "expected_skill": "foo"} for one in ids])


def baseline_text(**cases: dict[str, str]) -> str:
    """A baseline from `case={"claude": "pass"}`."""
    value = {
        name: {agent: {"expected_status": word} for agent, word in entries.items()}
        for name, entries in cases.items()
    }
    return json.dumps(value, indent=2) + "\n"


BOTH = {"claude": "pass", "codex": "pass"}
FILES = {
    "cases.json": cases_text(*CASES),
    "provider-baseline.json": baseline_text(steady=BOTH, broken=BOTH),
}


@dataclass
class PullRequest:
    """A base repository, a branch with the pull request's change, and a checkout of it."""

    origin: Repository
    where: Path
    merged: bool

    def checkout(self, change: dict[str, str | None]) -> Repository:
        """Commit the change on a branch while main goes on, and check the result out."""
        self.origin.start("change")
        self.origin.commit(change, day=1)
        self.origin.switch("main")
        self.origin.commit({"other.txt": "main went on"}, day=2)
        ref = "refs/heads/change"
        if self.merged:
            self.origin.start("merge")
            self.origin.merge("change", day=3)
            ref = "refs/heads/merge"
            self.origin.switch("main")
        return check_out(self.origin, self.where, ref, depth=None)


@pytest.fixture(params=["merge ref", "head"])
def pull_request(request: pytest.FixtureRequest, tmp_path: Path) -> PullRequest:
    """The same pull request, as GitHub checks it out by default, and by its head."""
    origin = create(tmp_path / "origin", FILES)
    return PullRequest(origin, tmp_path / "a checkout", request.param == "merge ref")


def compare(checkout: Repository, *arguments: str) -> tuple[Finished, dict[str, Any]]:
    """`compare` against the merge base with origin/main; its delta too."""
    output = checkout.path.parent / "delta.json"
    words = ("compare", "--merge-base-of", "main", "--output", str(output), *arguments)
    done = run_command(words, checkout.path, os.environ)
    delta = json.loads(output.read_text("utf-8")) if output.exists() else {}
    return done, delta


def broken_run(checkout: Repository, *cases: str) -> Path:
    """Results in which `broken` fails on codex."""
    measured = {
        (case, agent): "fail" if (case, agent) == ("broken", "codex") else "pass"
        for case in cases or CASES
        for agent in ("claude", "codex")
    }
    return write_results(checkout.path.parent / "results", measured)


def kinds(delta: dict[str, Any]) -> dict[str, str]:
    """The delta's word for each pair."""
    return {f"{row['agent']}:{row['case_id']}": row["kind"] for row in delta["rows"]}


def test_g2_the_merge_base_decides_and_is_named(pull_request: PullRequest) -> None:
    """The report says which commit it compared with, its date, and how it was found."""
    checkout = pull_request.checkout({"skill.md": "edited"})
    done, delta = compare(checkout, "--results", str(broken_run(checkout)))
    assert done.code == 1
    assert kinds(delta)["codex:broken"] == "REGRESSION"
    base = checkout.git("merge-base", "origin/main", "HEAD")
    assert delta["baseline"]["commit"] == base
    assert base[:12] in done.stdout
    assert delta["baseline"]["how"].startswith("merge base of origin/main and HEAD")
    assert delta["baseline"]["date"]


def test_attack_editing_the_baseline_stays_red(pull_request: PullRequest) -> None:
    """Declaring the failure in the same pull request is shown, and does not help."""
    lowered = baseline_text(steady=BOTH, broken={"claude": "pass", "codex": "fail"})
    checkout = pull_request.checkout({"provider-baseline.json": lowered})
    done, delta = compare(checkout, "--results", str(broken_run(checkout)))
    assert (done.code, kinds(delta)["codex:broken"]) == (1, "REGRESSION")
    assert delta["baseline"]["edited"] is True
    assert "this change edits the baseline" in done.stdout


def test_attack_deleting_the_case_alone_stays_red(pull_request: PullRequest) -> None:
    """Its entry is left without a case."""
    checkout = pull_request.checkout({"cases.json": cases_text("steady")})
    done, delta = compare(checkout, "--results", str(broken_run(checkout, "steady")))
    assert (done.code, kinds(delta)["codex:broken"]) == (1, "REMOVED")


def test_attack_deleting_the_entry_stays_red(pull_request: PullRequest) -> None:
    """The case is still there, and was even measured."""
    kept = baseline_text(steady=BOTH, broken={"claude": "pass"})
    checkout = pull_request.checkout({"provider-baseline.json": kept})
    done, delta = compare(checkout, "--results", str(broken_run(checkout)))
    assert (done.code, kinds(delta)["codex:broken"]) == (1, "REMOVED")
    assert "put the entry back" in done.stdout
    assert "accept:" not in done.stdout


def test_attack_dropping_the_provider_stays_red(pull_request: PullRequest) -> None:
    """The matrix no longer asks for codex, whose entries are still there."""
    checkout = pull_request.checkout({"workflow.yml": "agents: [claude]"})
    measured = {(case, "claude"): "pass" for case in CASES}
    results = write_results(checkout.path.parent / "results", measured)
    done, delta = compare(checkout, "--results", str(results), "--providers", "claude")
    assert (done.code, kinds(delta)["codex:broken"]) == (1, "REMOVED")
    assert "routing-action baseline update --prune-agents codex" in done.stdout
    pruned = run_command(
        ("baseline", "update", "--prune-agents", "codex"), checkout.path, os.environ
    )
    assert pruned.code == 0, pruned.stderr
    assert "- broken codex: codex is no longer measured" in pruned.stdout
    done, delta = compare(checkout, "--results", str(results), "--providers", "claude")
    assert (done.code, kinds(delta)["codex:broken"]) == (0, "REMOVED")


def test_removing_case_and_entry_together_is_green_and_listed_first(
    pull_request: PullRequest,
) -> None:
    """An honest removal stands above what is as expected."""
    change: dict[str, str | None] = {
        "cases.json": cases_text("steady"),
        "provider-baseline.json": baseline_text(steady=BOTH),
    }
    checkout = pull_request.checkout(change)
    done, delta = compare(checkout, "--results", str(broken_run(checkout, "steady")))
    assert done.code == 0, done.stdout
    assert [row["kind"] for row in delta["rows"]][:2] == ["REMOVED", "REMOVED"]


def new_case(pull_request: PullRequest, declared: str, got: str) -> tuple[int, str]:
    """Exit code and word for a new case with a declaration and a result."""
    change: dict[str, str | None] = {
        "cases.json": cases_text(*CASES, "fresh"),
        "provider-baseline.json": baseline_text(
            steady=BOTH, broken=BOTH, fresh={"claude": declared}
        ),
    }
    checkout = pull_request.checkout(change)
    results = write_results(checkout.path.parent / "results", {("fresh", "claude"): got})
    done, delta = compare(checkout, "--results", str(results))
    return done.code, kinds(delta)["claude:fresh"]


@pytest.mark.parametrize(
    ("declared", "got", "code"), [("pass", "pass", 0), ("pass", "fail", 1), ("fail", "fail", 0)]
)
def test_a_new_case_is_held_to_what_it_declares(
    pull_request: PullRequest, declared: str, got: str, code: int
) -> None:
    """Green when it passes, red when it declares pass and fails, no deadlock when declared fail."""
    assert new_case(pull_request, declared, got) == (code, "NEW")


def test_a_renamed_case_is_removed_and_new(pull_request: PullRequest) -> None:
    """Both sides of the rename are shown."""
    change: dict[str, str | None] = {
        "cases.json": cases_text("steady", "renamed"),
        "provider-baseline.json": baseline_text(steady=BOTH, renamed=BOTH),
    }
    checkout = pull_request.checkout(change)
    done, delta = compare(checkout, "--results", str(broken_run(checkout, "steady", "renamed")))
    assert done.code == 0, done.stdout
    words = kinds(delta)
    assert (words["codex:broken"], words["codex:renamed"]) == ("REMOVED", "NEW")


def test_g3_no_baseline_at_the_merge_base_is_said_and_not_red(tmp_path: Path) -> None:
    """The first pull request that brings a baseline is judged by its own declarations."""
    origin = create(tmp_path / "origin", {"cases.json": cases_text(*CASES)})
    checkout = PullRequest(origin, tmp_path / "checkout", merged=True).checkout(dict(FILES))
    measured = {(case, agent): "pass" for case in CASES for agent in BOTH}
    results = write_results(tmp_path / "results", measured)
    done, delta = compare(checkout, "--results", str(results))
    assert (done.code, set(kinds(delta).values())) == (0, {"NEW"})
    assert "no baseline" in done.stdout


def test_entries_of_agents_that_the_gate_does_not_measure_are_told_at_once(tmp_path: Path) -> None:
    """Else the first pull request would be green, and every later one red."""
    origin = create(tmp_path / "origin", {"cases.json": cases_text(*CASES)})
    checkout = PullRequest(origin, tmp_path / "checkout", merged=True).checkout(dict(FILES))
    results = write_results(tmp_path / "results", {(case, "claude"): "pass" for case in CASES})
    done, delta = compare(checkout, "--results", str(results), "--providers", "claude")
    assert done.code == 0
    (note,) = (note for note in delta["notes"] if "does not measure" in note)
    assert note.startswith("the baseline has entries of codex, which this gate does not measure")
    assert "routing-action baseline update --prune-agents codex" in note


def test_g5_a_lost_shard_is_red_and_a_partial_run_is_not(pull_request: PullRequest) -> None:
    """A shard that is not there is an error; a run that selected less is judged on that."""
    checkout = pull_request.checkout({"skill.md": "x"})
    folder = checkout.path.parent / "artifacts"
    write_results(
        folder / "routing-results-claude-s1-a1", {("steady", "claude"): "pass"}, shard="1/2"
    )
    done, _ = compare(checkout, "--results-dir", str(folder))
    assert (done.code, "shard 2/2 are missing" in done.stdout) == (1, True)
    partial = write_results(checkout.path.parent / "partial", {("steady", "claude"): "pass"})
    done, delta = compare(checkout, "--results", str(partial))
    assert (done.code, delta["not_selected"]) == (0, 3)


def test_r1_of_two_attempts_the_higher_one_counts(pull_request: PullRequest) -> None:
    """A re-run of one leg replaces it; the other leg's first attempt stays."""
    checkout = pull_request.checkout({"skill.md": "x"})
    folder = checkout.path.parent / "artifacts"
    for name, word in (("claude-a1", "fail"), ("claude-a2", "pass"), ("codex-a1", "pass")):
        agent = name.partition("-")[0]
        measured = {(case, agent): word for case in CASES}
        write_results(folder / f"routing-results-{name}", measured)
    done, delta = compare(checkout, "--results-dir", str(folder), "--providers", "claude,codex")
    assert (done.code, set(kinds(delta).values())) == (0, {"OK"}), done.stdout


def test_g4_failed_error_not_comparable_and_not_measured_are_told_apart(
    pull_request: PullRequest,
) -> None:
    """Four ends, four answers."""
    checkout = pull_request.checkout({"skill.md": "x"})
    failed, _ = compare(checkout, "--results", str(broken_run(checkout)))
    folder = checkout.path.parent / "legs"
    write_results(folder / "one", {(case, "claude"): "pass" for case in CASES})
    lost, _ = compare(checkout, "--results-dir", str(folder), "--providers", "claude,codex")
    (folder / "not-measured.json").write_text('{"agent": "codex", "reason": "a fork"}', "utf-8")
    told = ("--results-dir", str(folder), "--providers", "claude,codex")
    strict, _ = compare(checkout, *told)
    neutral, delta = compare(checkout, *told, "--unmeasured", "neutral")
    assert [done.code for done in (failed, lost, strict, neutral)] == [1, 1, 1, 0]
    assert "2 selected pairs have no result" in lost.stdout
    assert "2 pairs were not measured" in strict.stdout
    assert delta["conclusion"] == "neutral"
    damaged, _ = compare(checkout, "--results", str(checkout.path / "cases.json"))
    assert damaged.code == 2


BAD_DELTAS: dict[str, tuple[Any, str]] = {
    "no JSON": ("{", "no valid JSON"),
    "a list": ([], "must be an object"),
    "another version": ({"schema_version": 2}, "field schema_version: is 2"),
    "a missing field": ({"reasons": None}, "field reasons: is missing"),
    "an unknown field": ({"colour": "red"}, "field colour: unknown field"),
    "an unknown conclusion": ({"conclusion": "skipped"}, "field conclusion: must be"),
    "an unknown word": ({"rows": [{"kind": "FINE"}]}, "field rows[0].kind: must be"),
    "a negative number": ({"not_selected": -1}, "field not_selected: must be greater"),
    "counts that are not the rows'": ({"counts": {"OK": 9}}, "counts do not match the rows"),
    "a red row in a green delta": ({"conclusion": "success"}, "conclusion is success, though"),
    "a pair twice": ({"rows": "twice"}, "a pair has two rows"),
    "a bare date": ({"generated_at_utc": "today"}, "field generated_at_utc: "),
}


def spoil(delta: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    """The delta with some fields replaced, taken away (None), or its first row changed."""
    for name, value in change.items():
        if value is None:
            del delta[name]
        elif value == "twice":
            delta["rows"] *= 2
            delta["counts"] = {kind: 2 * number for kind, number in delta["counts"].items()}
        elif name == "rows":
            delta["rows"][0].update(value[0])
        else:
            delta[name] = value
    return delta


@pytest.mark.parametrize("kind", BAD_DELTAS)
def test_a_malformed_delta_is_exit_2_with_file_field_and_remedy(kind: str, tmp_path: Path) -> None:
    """A report is made of what compare wrote, never of a file that only looks like it."""
    create(tmp_path / "repo", FILES)
    results = write_results(tmp_path / "r", {("steady", "claude"): "fail"})
    file = tmp_path / "delta.json"
    arguments = ["compare", "--results", str(results), "--output", str(file)]
    run_command(arguments, tmp_path / "repo", dict(os.environ))
    change, cause = BAD_DELTAS[kind]
    if isinstance(change, dict):
        change = spoil(json.loads(file.read_text("utf-8")), change)
    file.write_text(change if isinstance(change, str) else json.dumps(change), encoding="utf-8")
    done = run_command(["report", "--delta", str(file)], tmp_path, dict(os.environ))
    assert (done.code, done.stdout) == (2, "")
    assert f"{file}:" in done.stderr
    assert cause in done.stderr
    assert "remedy: " in done.stderr


@pytest.mark.parametrize(("form", "start"), [("text", "compared with"), ("comment", "> [!")])
def test_a_delta_is_shown_again_as_compare_showed_it(form: str, start: str, tmp_path: Path) -> None:
    """The file holds all that the comparison said."""
    create(tmp_path / "repo", FILES)
    results = write_results(tmp_path / "r", {("steady", "claude"): "fail"})
    options = ["--results", str(results), "--output", str(tmp_path / "delta.json")]
    compared = run_command(
        ["compare", *options, "--format", form], tmp_path / "repo", dict(os.environ)
    )
    assert compared.code == 1
    options = ["--delta", "delta.json", "--format", "comment" if form == "markdown" else form]
    shown = run_command(["report", *options], tmp_path, dict(os.environ))
    assert shown.code == 0
    assert shown.stdout.startswith(start)
    # Away from the repository its files are named too.
    here = re.sub(r" --cases-file \S+ --baseline \S+", "", shown.stdout)
    assert here.replace("RESULTS", str(results)) == compared.stdout
    written = run_command(["report", *options, "--output", "o"], tmp_path, dict(os.environ))
    assert (written.code, written.stdout) == (0, "")
    assert (tmp_path / "o").read_text("utf-8") == shown.stdout


@pytest.mark.parametrize(
    ("measured", "code", "reason"),
    [
        ("a" * 40, 0, "Routing is as expected"),
        ("b" * 40, 1, "results of commit bbbbbbbbbbbb, not of aaaaaaaaaaaa"),
        (None, 1, "results of an unknown commit, not of aaaaaaaaaaaa"),
    ],
)
def test_stale_results_of_another_commit_are_red(
    measured: str | None, code: int, reason: str, tmp_path: Path
) -> None:
    """A green artifact of an earlier push says nothing about this one."""
    create(tmp_path / "repo", FILES)
    pairs = {("steady", "claude"): "pass"}
    corpus = hashlib.sha256((FILES["cases.json"] or "").encode()).hexdigest()
    made = {"commit": measured, "corpus_sha256": corpus}
    results = write_results(tmp_path / "r", pairs, **made)
    arguments = ["compare", "--results", str(results), "--commit", "A" * 40]
    done = run_command(arguments, tmp_path / "repo", dict(os.environ))
    assert done.code == code
    assert reason in done.stdout
    short = run_command([*arguments[:-1], "aaaa"], tmp_path / "repo", dict(os.environ))
    assert short.code == 2
    assert "not a full commit id" in short.stderr


def test_the_delta_follows_its_schema(pull_request: PullRequest) -> None:
    """Reports and the action read it."""
    checkout = pull_request.checkout({"skill.md": "x"})
    _, delta = compare(checkout, "--results", str(broken_run(checkout)))
    Draft202012Validator(json.loads(render_schema("delta"))).validate(delta)


def test_baseline_show_prints_what_decides(pull_request: PullRequest) -> None:
    """An operator sees the very file that a comparison reads, and where it comes from."""
    lowered = baseline_text(steady=BOTH, broken={"claude": "pass", "codex": "fail"})
    checkout = pull_request.checkout({"provider-baseline.json": lowered})
    shown = run_command(("baseline", "show", "--merge-base-of", "main"), checkout.path, os.environ)
    current = run_command(("baseline", "show"), checkout.path, os.environ)
    assert json.loads(shown.stdout)["broken"]["codex"]["expected_status"] == "pass"
    assert json.loads(current.stdout)["broken"]["codex"]["expected_status"] == "fail"
    assert "merge base of origin/main and HEAD" in shown.stderr
    both = ("baseline", "show", "--merge-base-of", "main", "--baseline-ref", "main")
    assert run_command(both, checkout.path, os.environ).code == 2


@pytest.mark.parametrize(
    ("arguments", "code", "expected"),
    [
        ((), 2, "holds no batch"),
        (("--results", "none.json"), 2, "none.json"),
        (("--results-dir", "."), 2, "results.json"),
        (("--results", "r", "--baseline-ref", "x"), 2, "give one of"),
    ],
)
def test_what_cannot_be_compared_is_exit_2(
    tmp_path: Path, arguments: tuple[str, ...], code: int, expected: str
) -> None:
    """Each says what is missing."""
    checkout = create(tmp_path / "repo", FILES)
    done, _ = compare(checkout, *arguments)
    assert (done.code, expected in done.stderr) == (code, True), done.stderr


REPLAYS = {
    "tests/recordings/replay": (0, {"claude:author-first-case": "OK"}),
    "tests/recordings/replay-red": (
        1,
        {
            "codex:regressed-routing": "REGRESSION",
            "claude:timed-out": "REGRESSION",
            "copilot:improved-routing": "IMPROVEMENT",
            "new-case on claude, codex, copilot": "NEW",
            "copilot:infra-rate-limited": "INFRA",
            "removed-case on claude, codex, copilot": "REMOVED",
            "claude:flaky-pair": "OK",
        },
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("folder", REPLAYS)
def test_both_replays_end_with_their_delta(folder: str, tmp_path: Path) -> None:
    """./test.sh --replay is green; the red set is red and names each row once, in 80 columns."""
    code, expected = REPLAYS[folder]
    done = subprocess.run(
        [str(ROOT / "test.sh"), f"--replay={folder}", "--artifacts-root", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == code, done.stderr[-2000:]
    for pair, kind in expected.items():
        if kind != "OK":
            assert done.stdout.count(f"{kind} {pair}") == 1
    assert "gate: Routing" in done.stdout
    lines = done.stdout.splitlines()
    assert len(lines) <= 75
    short = [line for line in lines if not line.startswith(("    ", "artifacts: "))]
    assert all(len(line) <= 80 for line in short), done.stdout
    if code:
        assert "OK claude:flaky-pair: pass, as expected (flaky: 2 of 3 passed)" in done.stdout


@pytest.mark.parametrize(
    ("allowed", "code", "word"),
    [
        ((), 1, "UNMEASURED"),
        (("--allow-infra", "codex"), 0, "INFRA"),
        (("--allow-infra=Codex,copilot",), 0, "INFRA"),
        (("--allow-infra", "claude"), 1, "UNMEASURED"),
        (("--allow-infra", "codex", "--fail-on-infra"), 1, "UNMEASURED"),
    ],
)
def test_compare_allows_infra_of_the_agents_that_it_is_told(
    tmp_path: Path, allowed: tuple[str, ...], code: int, word: str
) -> None:
    """And of no other, nor where all infra is to be red."""
    root = create(tmp_path / "origin", FILES).path
    measured = {(case, agent): "pass" for case in CASES for agent in BOTH}
    measured["steady", "codex"] = "infra"
    results = write_results(tmp_path / "results", measured, cases_file="cases.json")
    done = run_command(("compare", "--results", str(results), *allowed), root, dict(os.environ))
    assert done.code == code, done.stdout
    assert f"{word} codex:steady: " in done.stdout
