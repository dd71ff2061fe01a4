"""This repository's workflows, run for real but for GitHub: what they post, upload and end with."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import signal
import zipfile
from pathlib import Path
from threading import Event

import pytest

from tests.e2e.bench import AGENTS
from tests.e2e.demo import ALL, CASES, CODEX, GATE, GREEN, LIVE, PLAN, RED, Demo

pytestmark = pytest.mark.slow


def test_a_green_pull_request_gets_one_comment_and_a_green_check(demo: Demo) -> None:
    """Judged by the merge base, on the pull request's own head, with the report one click away."""
    demo.change({"notes.md": "nothing about routing"})
    done = demo.pull_request()
    assert (done.code, dict(done.jobs)) == (0, {**ALL, GATE: "success"}), done.log[-5000:]
    assert demo.github.results.names() == [
        "routing-report-routing-a1", *(f"routing-results-{agent}-a1" for agent in AGENTS),
    ]  # fmt: skip
    delta = demo.delta()
    assert delta["counts"] == {"OK": 6}
    assert delta["baseline"]["commit"] == demo.origin.git("rev-parse", "main")
    assert demo.checks == [(demo.head, "routing gate", "success")]
    assert "conclusion=success" in demo.comment
    assert "https://github.com/octo/demo/actions/runs/1/artifacts/" in demo.comment
    assert done.outputs(GATE)["conclusion"] == "success"
    assert set(demo.report().namelist()) == {
        "comment.md", "delta.json", "junit.xml", "report.html", "summary.md",
    }  # fmt: skip


def test_a_red_pull_request_is_red_after_all_is_posted_and_a_rerun_leg_turns_it_green(
    small: Demo,
) -> None:
    """Attempt 2 runs one leg again; the others keep their results, the comment is the same one."""
    small.change({"skill.md": "worse"})
    small.variables["ROUTING_REPLAY"] = RED
    red = small.pull_request()
    jobs = {**PLAN, CODEX: "success", GATE: "failure"}
    assert (red.code, dict(red.jobs)) == (1, jobs), red.log[-5000:]
    assert small.checks == [(small.head, "routing gate", "failure")]
    first = small.comment
    assert "author-first-case" in first
    assert "REGRESSION" in first
    lines = (small.origin.path / "cases.json").read_text("utf-8").splitlines()
    rows = [row for row in small.delta()["rows"] if row["gates"]]
    log = red.step(GATE, "conclude")
    errors = re.findall(r"::error (.*)", log)
    assert len(errors) == len(rows) + 1 > 1
    for row, error in zip(rows, errors, strict=False):
        assert f'"{row["case_id"]}"' in "".join(lines[row["line"] - 1 : row["line"] + 1])
        place = f"file=cases.json,line={row['line']}"
        assert error.startswith(f"{place},title={row['kind']}%3A {row['case_id']} on codex::")
        assert f"cases.json:{row['line']}: {row['case_id']} on codex: wanted " in error
    assert "REGRESSION codex:author-first-case" in log
    assert "comment: https://github.example/octo/demo/pull/7#issuecomment-" in log
    assert "report: https://github.com/octo/demo/actions/runs/1/artifacts/" in log
    small.variables["ROUTING_REPLAY"] = GREEN
    green = small.pull_request("--matrix", "agent:codex", attempt=2)
    assert dict(green.jobs) == {**PLAN, CODEX: "success", GATE: "success"}, green.log[-5000:]
    assert small.delta(attempt=2)["counts"] == {"OK": 2}
    assert small.checks[-1] == (small.head, "routing gate", "success")
    assert "REGRESSION" not in small.comment
    assert "conclusion=success" in small.comment


def test_a_pull_request_that_gets_another_base_is_judged_again(small: Demo) -> None:
    """By that base, with the same head."""
    small.change({"skill.md": "worse"})
    small.variables["ROUTING_REPLAY"] = RED
    done = small.pull_request(edited={"base": {"ref": {"from": "side"}}})
    assert dict(done.jobs) == {**PLAN, CODEX: "success", GATE: "failure"}, done.log[-5000:]
    assert small.checks == [(small.head, "routing gate", "failure")]


def test_a_pull_request_that_gets_another_title_is_not(small: Demo) -> None:
    """Nothing is measured, and nothing bears the name of the required check."""
    small.change({"skill.md": "worse"})
    done = small.pull_request(edited={"title": {"from": "old"}})
    assert done.code == 0, done.log[-5000:]
    assert GATE not in done.jobs
    assert CODEX not in done.jobs
    assert not small.has_posted


def test_a_baseline_that_is_lowered_in_the_pull_request_stays_red_and_is_named(small: Demo) -> None:
    """The merge base decides."""
    baseline = json.loads((small.origin.path / "provider-baseline.json").read_text("utf-8"))
    baseline[CASES[0]]["codex"]["expected_status"] = "fail"
    small.change({"provider-baseline.json": json.dumps(baseline, indent=2) + "\n"})
    small.variables["ROUTING_REPLAY"] = RED
    done = small.pull_request()
    assert (done.code, done.jobs[GATE]) == (1, "failure")
    assert small.delta()["counts"]["REGRESSION"] == 1
    assert "edits the baseline" in small.comment
    assert small.checks == [(small.head, "routing gate", "failure")]


def test_legs_that_leave_nothing_are_named_and_red(demo: Demo) -> None:
    """Codex's is red; copilot's may be lost, so what it did not measure is shown alone."""
    change: dict[str, str | None] = {
        f"{GREEN}/{agent}/{CASES[0]}.{suffix}": None
        for agent in ("codex", "copilot")
        for suffix in ("stdout", "stderr", "json")
    }
    demo.change(change)
    done = demo.pull_request()
    assert done.jobs[CODEX] == "failure"
    assert (done.code, done.jobs[GATE]) == (1, "failure"), done.log[-5000:]
    assert demo.github.results.names() == ["routing-report-routing-a1", "routing-results-claude-a1"]
    delta = demo.delta()
    assert delta["reasons"] == [
        "job measure failed", "no results of codex", "2 selected pairs have no result",
    ]  # fmt: skip
    assert delta["counts"] == {"MISSING": 2, "INFRA": 2, "OK": 2}
    assert "job measure failed" in demo.comment


def cancel_the_leg(folder: Path, ended: Event) -> None:
    """What GitHub does first: SIGINT to the process that the step has become, and to no other."""
    while not ended.wait(0.05):
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError, ValueError):
                words = (entry / "cmdline").read_bytes()
                if b"replay_agent.py" in words and bytes(folder.parent) in words:
                    status = (entry / "stat").read_text(encoding="utf-8")
                    os.kill(int(status.rpartition(")")[2].split()[1]), signal.SIGINT)
                    return
    raise AssertionError("no agent was ever started")


def test_a_cancelled_leg_keeps_what_it_measured_and_is_red(small: Demo) -> None:
    """Its results are uploaded all the same; an interrupted measurement never counts as whole."""
    script = f"{GREEN}/codex/{CASES[1]}.json"
    hanging = {**json.loads((small.origin.path / script).read_text("utf-8")), "hang": True}
    # It prints nothing: a run whose verdict is settled would be ended before it is cancelled.
    small.change({script: json.dumps(hanging), script.replace(".json", ".stdout"): ""})
    done = small.pull_request(meanwhile=cancel_the_leg)
    assert (done.code, dict(done.jobs)) == (1, {**PLAN, CODEX: "failure", GATE: "failure"}), (
        done.log[-5000:]
    )
    assert small.github.results.names() == ["routing-report-routing-a1", "routing-results-codex-a1"]
    (results,) = (one for one in small.github.results.artifacts if one.name.endswith("codex-a1"))
    with zipfile.ZipFile(io.BytesIO(results.data)) as archive:
        (name,) = (one for one in archive.namelist() if one.endswith("results.json"))
        kept = json.loads(archive.read(name))
    assert kept["complete"] is False
    assert {row["case_id"]: row["outcome"] for row in kept["results"]}[CASES[1]] == "cancelled"
    reasons = small.delta()["reasons"]
    assert reasons[0] == "job measure failed"
    assert any("the batch was interrupted" in reason for reason in reasons)
    assert "the batch was interrupted" in small.comment
    assert small.checks == [(small.head, "routing gate", "failure")]


def test_a_fork_is_neutral_and_posted_by_the_trusted_half(small: Demo) -> None:
    """Its own run may only read, and has no secrets; a second workflow posts what it uploaded."""
    small.change({"skill.md": "from a stranger"})
    del small.variables["ROUTING_REPLAY"]
    may_read = {"contents": "read", "pull-requests": "read", "checks": "read"}
    done = small.pull_request(fork=True, rights=may_read)
    assert (done.code, dict(done.jobs)) == (0, {**PLAN, CODEX: "success", GATE: "success"}), (
        done.log[-5000:]
    )
    assert not small.has_posted
    assert done.outputs(GATE)["conclusion"] == "neutral"
    assert "from a fork gets no secrets" in done.of(CODEX)
    assert done.of(GATE).count("::warning") == 1
    assert small.delta()["counts"] == {"UNMEASURED": 2}
    run = {
        "id": 1,
        "event": "pull_request",
        "head_sha": small.head,
        "head_branch": "change",
        "head_repository": {"full_name": "stranger/demo", "owner": {"login": "stranger"}},
        "pull_requests": [],
    }
    small.github.repository.known_commits = {small.head: [7]}
    posted = small.run("routing-report.yml", "workflow_run", {"workflow_run": run}, run_id="2")
    assert (posted.code, dict(posted.jobs)) == (0, {"publish": "success"}), posted.log[-5000:]
    assert "conclusion=neutral" in small.comment
    assert "2 pairs were not measured" in small.comment
    assert small.checks == [(small.head, "routing gate", "neutral")]


def test_a_merge_group_is_judged_by_its_base_and_comments_nowhere(small: Demo) -> None:
    """The check run is on the group's head."""
    base = small.origin.git("rev-parse", "main")
    small.change({"skill.md": "queued"})
    head = small.origin.git("rev-parse", "merge")
    group = {"merge_group": {"base_sha": base, "head_sha": head, "base_ref": "refs/heads/main"}}
    done = small.run(LIVE, "merge_group", group, ref="refs/heads/merge")
    assert (done.code, done.jobs[GATE]) == (0, "success"), done.log[-5000:]
    assert small.delta()["baseline"]["commit"] == base
    assert small.github.repository.bodies(7) == []
    assert small.checks == [(head, "routing gate", "success")]


def test_a_push_to_main_is_judged_by_the_checked_in_baseline(small: Demo) -> None:
    """No comment, and red where it is."""
    small.variables["ROUTING_REPLAY"] = RED
    done = small.run(LIVE, "push", {"ref": "refs/heads/main"})
    assert (done.code, done.jobs[GATE]) == (1, "failure"), done.log[-5000:]
    assert small.delta()["baseline"]["how"] == "the checked-in file"
    assert small.github.repository.bodies(7) == []
    assert small.checks == [(small.head, "routing gate", "failure")]


def test_a_run_by_hand_measures_what_it_is_asked_for(demo: Demo) -> None:
    """One agent, one case, a baseline of one's choice, on a branch, all in plain words."""
    demo.change({"skill.md": "by hand"})
    inputs = {
        "agents": "claude", "case_ids": CASES[0], "categories": "", "fail_on_infra": True,
        "baseline_ref": "main", "replay": GREEN, "trials": "2",
    }  # fmt: skip
    demo.variables = {}
    done = demo.run(LIVE, "workflow_dispatch", {"inputs": inputs}, ref="refs/heads/change")
    jobs = {**PLAN, "measure (claude)": "success", GATE: "success", "history": "success"}
    assert dict(done.jobs) == jobs, done.log[-5000:]
    assert "a replay measures nothing, so it is not kept" in done.of("history")
    delta = demo.delta()
    assert delta["totals"]["trials"] == 2
    assert (delta["agents"], delta["counts"]["OK"]) == (["claude"], 1)
    assert delta["baseline"]["commit"] == demo.origin.git("rev-parse", "main")
    assert demo.github.repository.bodies(7) == []


def test_a_run_by_hand_that_names_no_agent_says_so_in_one_sentence(small: Demo) -> None:
    """In the plan's log and in the gate's; nothing is measured, and nothing is green."""
    inputs = {"agents": "claude,nope", "replay": GREEN}
    done = small.run(LIVE, "workflow_dispatch", {"inputs": inputs})
    assert (done.code, dict(done.jobs)) == (1, {"plan": "failure", GATE: "failure"}), done.log
    cause = done.outputs("plan")["error"]
    assert cause.startswith("unknown agent 'nope'; ")
    assert "known agents: claude, codex, copilot" in cause
    assert done.errors("plan") == [f"title=routing-action::{cause}"]
    assert done.errors(GATE) == [f"title=routing-action::job plan failed: {cause}"]


def test_a_scheduled_run_is_judged_by_the_default_branch(small: Demo) -> None:
    """It has no payload to speak of."""
    done = small.run(LIVE, "schedule", {"schedule": "23 4 * * 1"})
    assert (done.code, done.jobs[GATE]) == (0, "success"), done.log[-5000:]
    assert small.delta()["baseline"]["commit"] == small.head
    assert small.github.repository.bodies(7) == []


def test_this_repositorys_ci_plans_shards_and_gates_on_the_recordings(demo: Demo) -> None:
    """A matrix made by the plan; its own comment and check run beside the other gate's."""
    done = demo.run("ci.yml", "push", {"ref": "refs/heads/main"}, "-j", "gate")
    legs = {f"replay ({agent}-s{n}of2)": "success" for agent in AGENTS for n in (1, 2)}
    expected = {"plan": "success", **legs, "replayed routing": "success"}
    assert (done.code, dict(done.jobs)) == (0, expected), done.log[-5000:]
    assert demo.delta(key="replay")["counts"] == {"OK": 6}
    assert demo.checks == [(demo.head, "routing gate (replay)", "success")]
