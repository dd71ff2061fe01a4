"""The log of the step that fails: which pairs are red, where their cases are, where to read on."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.action_stages import Job
from tests.support.command_line import loads
from tests.support.repositories import Repository, create
from tests.support.result_rows import write_results

AGENTS = ("claude", "codex", "copilot")
HOSTILE = (
    "::add-mask::x",
    "##[error]no",
    "a%0A::error::b",
    "two\nlines",
    "a,line=9::c",
    "\x1b[31mred",
)
_EACH = re.MULTILINE
ADDRESSES = {
    "ROUTING_COMMENT_URL": "https://github.example/octo/demo/pull/7#issuecomment-1",
    "ROUTING_REPORT_URL": "https://github.example/octo/demo/actions/runs/7/artifacts/3",
}


def make_gate(folder: Path, *cases: str, agents: tuple[str, ...] = AGENTS) -> Job:
    """The job of a gate after a push; the baseline expects every case to pass."""
    entries = {case: {agent: {"expected_status": "pass"} for agent in agents} for case in cases}
    files = {
        "cases.json": json.dumps([loads(case) for case in cases], indent=1),
        "provider-baseline.json": json.dumps(entries),
    }
    root = create(folder / "check out", files).path
    variables = {"GITHUB_REPOSITORY": "octo/demo", "GITHUB_SERVER_URL": "https://github.example"}
    return Job(root, folder / "runner", "push", variables={**variables, **ADDRESSES})


def leave(gate: Job, key: str, words: Mapping[str, str]) -> None:
    """Put the results of a leg where its artifact would be."""
    made = {
        "commit": Repository(gate.root).git("rev-parse", "HEAD"),
        "corpus_sha256": hashlib.sha256((gate.root / "cases.json").read_bytes()).hexdigest(),
        "cases_file": "cases.json",
    }
    measured = {(case, key.partition("-")[0]): word for case, word in words.items()}
    folder = gate.legs / f"routing-results-{key}-a1" / "batch"
    write_results(folder, measured, matrix_key=key, **made)


def judge(gate: Job, **inputs: str) -> dict[str, str]:
    """The aggregation of jobs that all succeeded, unless `needs` says otherwise."""
    needs = json.dumps({"measure": {"result": "success", "outputs": {}}})
    return gate.use("aggregate", **{"agents": ",".join(AGENTS), "needs": needs, **inputs})


def plan_of(*legs: tuple[str, str]) -> str:
    """A `needs` context whose plan asked for these legs and their cases."""
    include = [
        {"key": key, "agent": key.partition("-")[0], "case_ids": cases} for key, cases in legs
    ]
    outputs = {"matrix": json.dumps({"include": include}), "status": "passed"}
    jobs = {"plan": {"result": "success", "outputs": outputs}, "measure": {"result": "success"}}
    return json.dumps(jobs)


def line_of(gate: Job, case: str) -> int:
    """Where a case begins, as an editor counts lines."""
    before = (gate.root / "cases.json").read_text("utf-8").partition(json.dumps(case))[0]
    return before[: before.rindex("{")].count("\n") + 1


def test_every_red_pair_is_an_error_on_its_line_before_anything_else(tmp_path: Path) -> None:
    """Then the verdict, what `compare` prints, and where to read on."""
    cases = [f"case-{number}" for number in range(12)]
    gate = make_gate(tmp_path, *cases)
    for agent in AGENTS:
        leave(gate, agent, dict.fromkeys(cases, "fail" if agent == "codex" else "pass"))
    log = judge(gate)["last"].splitlines()
    errors = [line for line in log if line.startswith("::error ")]
    assert log[: len(errors)] == errors
    assert len(errors) == 13
    for case, error in zip(sorted(cases), errors, strict=False):
        place = f"file=cases.json,line={line_of(gate, case)}"
        assert error.startswith(f"::error {place},title=REGRESSION%3A {case} on codex::cases.json:")
        assert f":{line_of(gate, case)}: {case} on codex: expected pass, got fail" in error
    assert errors[-1].startswith("::error title=routing gate::Routing gate failed: 12 regressions")
    text = "\n".join(log)
    assert "\nREGRESSION codex:case-3: expected pass, got fail" in text
    assert f"comment: {ADDRESSES['ROUTING_COMMENT_URL']}" in log
    assert f"report: {ADDRESSES['ROUTING_REPORT_URL']}" in log
    (command,) = re.findall(r"^measure all again: (.*)$", text, re.MULTILINE)
    assert command.endswith(f"--agents codex --case-id {','.join(sorted(cases))}")


def test_a_green_gate_ends_without_a_word(tmp_path: Path) -> None:
    """There is nothing to explain."""
    gate = make_gate(tmp_path, "good", agents=("claude",))
    leave(gate, "claude", {"good": "pass"})
    found = judge(gate, agents="claude")
    assert (found["exit-code"], found["log"]) == ("0", "")


@pytest.mark.parametrize("text", HOSTILE)
def test_the_runner_obeys_nothing_of_a_red_pair(text: str, tmp_path: Path) -> None:
    """No name, path or reason begins a command, or adds a property to ours."""
    gate = make_gate(tmp_path, "good", agents=("claude",))
    leave(gate, "claude", {"good": "fail"})
    delta = Path(judge(gate, agents="claude")["delta"])
    told = json.loads(delta.read_text("utf-8"))
    told["rows"][0] |= dict.fromkeys(("case_id", "agent", "why"), text)
    told |= {"cases_file": text, "reasons": [text], "notes": [text]}
    delta.write_text(json.dumps(told), encoding="utf-8")
    first, second, *rest = gate.stage("conclude").stdout.splitlines()
    assert re.match(r"::error file=[^:,]*,line=2,title=REGRESSION%3A [^:,]* on [^:,]*::", first)
    assert second.startswith("::error title=routing gate::Routing gate failed: ")
    assert [line for line in rest if line.lstrip().startswith("::") or "##[" in line] == []
    assert "\x1b" not in "".join((first, second, *rest))


def test_what_the_policy_alone_makes_red_is_named_too(tmp_path: Path) -> None:
    """Infra of a known failure, and a leg that could not be measured."""
    gate = make_gate(tmp_path, "known", "other", agents=("claude", "codex"))
    lowered = json.loads((gate.root / "provider-baseline.json").read_text("utf-8"))
    lowered["known"]["claude"]["expected_status"] = "fail"
    (gate.root / "provider-baseline.json").write_text(json.dumps(lowered), encoding="utf-8")
    leave(gate, "claude", {"known": "infra", "other": "pass"})
    marker = gate.legs / "routing-results-codex-a1" / "not-measured.json"
    marker.parent.mkdir(parents=True)
    marker.write_text('{"agent": "codex", "reason": "no secret"}', encoding="utf-8")
    found = judge(gate, agents="claude,codex", fail_on_infra="true")
    named = re.findall(r"^::error file=cases.json,line=\d+,title=(.*?)::", found["last"], _EACH)
    assert named == [
        "INFRA%3A known on claude", "UNMEASURED%3A known on codex", "UNMEASURED%3A other on codex",
    ]  # fmt: skip


def test_infra_of_an_agent_that_may_break_is_shown_and_green(tmp_path: Path) -> None:
    """A service that answers 401 to every prompt; `fail-on-infra` makes it red again."""
    gate = make_gate(tmp_path, "a", "b")
    for agent in AGENTS:
        leave(gate, agent, dict.fromkeys("ab", "infra" if agent == "copilot" else "pass"))
    found = judge(gate, allow_infra="copilot")
    assert (found["conclusion"], found["exit-code"]) == ("success", "0")
    assert json.loads(found["counts"]) == {"INFRA": 2, "OK": 4}
    shown = [row["why"] for row in gate.delta["rows"] if row["kind"] == "INFRA"]
    assert all("this is allowed for copilot" in why for why in shown)
    assert (Path(found["report-dir"]) / "comment.md").read_text("utf-8").count("INFRA") > 2


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({}, "infra"),
        ({"allow_infra": "codex"}, "infra"),
        ({"allow_infra": "copilot", "fail_on_infra": "true"}, "infra"),
        ({"allow_infra": "copilot"}, "fail"),
    ],
)
def test_nothing_else_of_it_is_green(tmp_path: Path, inputs: dict[str, str], words: str) -> None:
    """No option, another agent's, a stricter gate, or a wrong route."""
    gate = make_gate(tmp_path, "a", "b")
    for agent in AGENTS:
        leave(gate, agent, dict.fromkeys("ab", words if agent == "copilot" else "pass"))
    found = judge(gate, **inputs)
    assert (found["conclusion"], found["regressions"]) == ("failure", "2")


@pytest.mark.parametrize(
    "legs", [[("copilot", "a,b")], [("copilot-s1of2", "a"), ("copilot-s2of2", "b")]]
)
def test_a_lost_leg_of_an_agent_that_may_break_is_shown_and_green(
    tmp_path: Path, legs: list[tuple[str, str]]
) -> None:
    """Whole, or one shard of two; the plan says which pairs were to be there."""
    gate = make_gate(tmp_path, "a", "b")
    for agent in ("claude", "codex"):
        leave(gate, agent, dict.fromkeys("ab", "pass"))
    for key, cases in legs[1:]:
        leave(gate, key, {cases: "pass"})
    needs = plan_of(("claude", "a,b"), ("codex", "a,b"), *legs)
    found = judge(gate, agents="", needs=needs, allow_infra="copilot")
    assert found["exit-code"] == "0", found["last"]
    assert json.loads(found["counts"])["INFRA"] == 2 - len(legs[1:])


def test_a_lost_leg_of_any_other_agent_names_every_pair_of_the_plan(tmp_path: Path) -> None:
    """Red, with the line of each case."""
    gate = make_gate(tmp_path, "a", "b")
    for key in ("claude", "copilot"):
        leave(gate, key, dict.fromkeys("ab", "pass"))
    leave(gate, "codex-s1of2", {"a": "pass"})
    legs = [("claude", "a,b"), ("copilot", "a,b"), ("codex-s1of2", "a"), ("codex-s2of2", "b")]
    found = judge(gate, agents="", needs=plan_of(*legs), allow_infra="copilot")
    assert found["exit-code"] == "1"
    assert gate.delta["reasons"] == ["no results of codex-s2of2", "1 selected pair has no result"]
    first = found["last"].splitlines()[0]
    assert first.startswith(
        f"::error file=cases.json,line={line_of(gate, 'b')},title=MISSING%3A b on "
    )


def test_results_that_call_another_agent_theirs_do_not_borrow_its_excuse(tmp_path: Path) -> None:
    """Who may break is the workflow's word: what claude's leg says it measured changes nothing."""
    gate = make_gate(tmp_path, "a")
    for agent in ("codex", "copilot"):
        leave(gate, agent, {"a": "pass"})
    folder = gate.legs / "routing-results-claude-a1" / "batch"
    write_results(folder, {("a", "copilot"): "infra"}, matrix_key="claude", cases_file="cases.json")
    needs = plan_of(*((agent, "a") for agent in AGENTS))
    found = judge(gate, agents="", needs=needs, allow_infra="copilot")
    assert found["exit-code"] == "1"
    kinds = {(row["agent"], row["kind"]) for row in gate.delta["rows"]}
    assert ("claude", "MISSING") in kinds


def test_an_agent_that_may_break_and_is_not_known_is_an_error(tmp_path: Path) -> None:
    """A slip in the name would make red what was to be allowed."""
    gate = make_gate(tmp_path, "a")
    found = judge(gate, allow_infra="copilto")
    assert (found["status"], found["exit-code"]) == ("error", "2")
    assert found["last"].startswith("::error title=routing-action::unknown agent 'copilto'; ")


@pytest.mark.parametrize("cause", ["unknown agent 'nope'; known agents: claude", *HOSTILE])
def test_the_gate_says_why_the_plan_failed_and_nothing_else(cause: str, tmp_path: Path) -> None:
    """One sentence in log and report; the legs that it skipped are no news."""
    gate = make_gate(tmp_path, "a")
    jobs = {
        "plan": {"result": "failure", "outputs": {"error": cause}},
        "measure": {"result": "skipped", "outputs": {}},
    }
    found = judge(gate, agents="", needs=json.dumps(jobs))
    assert (found["status"], found["exit-code"]) == ("error", "2")
    assert found["last"].count("::error") - cause.count("::error") == 1
    first, *rest = found["last"].splitlines()
    assert first.startswith("::error title=routing-action::job plan failed: ")
    assert [line.partition(":")[0] for line in rest] == ["comment", "report"]
    assert "job plan failed" in (Path(found["report-dir"]) / "error.txt").read_text("utf-8")
