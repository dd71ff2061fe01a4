"""The stages of the action as a runner starts them: what they leave, say and come to."""

from __future__ import annotations

import hashlib
import io
import json
import shlex
import shutil
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from routing_action.results.find import read_unmeasured
from tests.fakes.github.artifacts import Upload
from tests.fakes.github.repository import Repository as Github
from tests.fakes.github.repository import Token
from tests.fakes.github.server import serve
from tests.support.action_stages import Job
from tests.support.command_line import FAKE_CLAUDE, ROOT, Finished, loads
from tests.support.repositories import Repository, check_out, create
from tests.support.result_rows import write_results

FORK = {
    "pull_request": {
        "head": {"repo": {"full_name": "stranger/demo"}},
        "base": {"repo": {"full_name": "octo/demo"}},
    }
}
REPLAY = str(ROOT / "tests" / "recordings" / "replay")


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """A job in a workspace with two cases for the fake agent."""
    root = tmp_path / "work space"
    root.mkdir()
    cases = [loads("good"), loads("bad", prompt="please answer")]
    (root / "cases.json").write_text(json.dumps(cases), encoding="utf-8")
    template = f"{shlex.join([sys.executable, str(FAKE_CLAUDE)])} {{prompt}}"
    return Job(root, tmp_path / "runner", variables={"AGENT_CLAUDE_TEMPLATE": template})


# --- run --------------------------------------------------------------------------------------


def test_a_leg_that_passes_says_so_and_leaves_its_batch(job: Job) -> None:
    """The folder to upload is named after key and attempt, and holds the results."""
    job.attempt = 3
    found = job.use("run", agents="claude", case_ids="good", matrix_key="linux")
    assert (found["status"], found["exit-code"]) == ("passed", "0")
    assert found["artifact-name"] == "routing-results-linux-a3"
    batch = Path(found["artifact-dir"])
    assert batch.parent.name == found["artifact-name"]
    results = json.loads((batch / "results.json").read_text("utf-8"))
    options = results["options"]
    assert (options["matrix_key"], options["attempt"]) == ("linux", 3)
    assert found["batch-run-id"] == results["batch_run_id"]
    assert json.loads(found["counts"]) == {"total": 1, "pass": 1, "fail": 0, "infra_error": 0}
    assert "### `linux`, attempt 3" in job.summary
    assert "verdict: every measured pair passed" in job.summary


def test_a_red_pair_leaves_its_leg_green(job: Job) -> None:
    """It is data; the aggregation judges it against the baseline."""
    found = job.use("run", agents="claude")
    assert (found["status"], found["exit-code"]) == ("failed", "0")
    assert "FAIL claude:bad: wanted foo, got no skill" in job.summary


def test_an_unusable_case_file_makes_its_leg_red(job: Job) -> None:
    """Nothing was measured, so there is nothing to judge."""
    (job.root / "cases.json").write_text("[{]", encoding="utf-8")
    found = job.use("run", agents="claude")
    assert (found["status"], found["exit-code"]) == ("error", "2")
    assert "::error title=routing-action::cases.json:1" in found["last"]
    assert "cases.json:1" in job.summary


def test_an_unknown_agent_is_named_in_an_annotation(job: Job) -> None:
    """Cause and remedy stand once on the run's page, and in the job's summary."""
    found = job.use("run", agents="claud")
    assert (found["status"], found["exit-code"]) == ("error", "2")
    assert found["log"] == f"::error title=routing-action::{found['error']}\n"
    assert found["error"].startswith("unknown agent 'claud'; ")
    assert "known agents: claude, codex, copilot" in job.summary


@pytest.mark.parametrize(("event", "cause"), [(FORK, "from a fork gets no secrets"), ({}, "env")])
def test_a_leg_without_a_secret_is_not_measured_and_says_so(
    job: Job, event: dict[str, Any], cause: str
) -> None:
    """Green for its job, with a marker, a warning and a line in the summary."""
    job.variables = {}
    job.event = event
    found = job.use("run", agents="claude,codex")
    assert (found["status"], found["exit-code"]) == ("not-measured", "0")
    reasons = read_unmeasured([Path(found["folder"])])
    assert set(reasons) == {"claude", "codex"}
    assert cause in reasons["codex"]
    assert found["log"].count("::warning title=routing-action::") == 2
    assert "`codex` was not measured:" in job.summary


def test_of_two_agents_the_one_with_a_secret_is_measured(job: Job) -> None:
    """One missing secret does not cost the other agent's results."""
    found = job.use("run", agents="claude,codex", case_ids="good")
    folder = Path(found["folder"])
    assert found["status"] == "passed"
    assert set(read_unmeasured([folder])) == {"codex"}
    assert len(list(folder.rglob("results.json"))) == 1


def test_a_replay_needs_no_secret(job: Job) -> None:
    """Nothing is started that could use one."""
    job.variables = {}
    cases = job.root / "cases.json"
    cases.write_bytes((ROOT / "cases.json").read_bytes())
    found = job.use("run", agents="codex", case_ids="author-first-case", replay=REPLAY)
    assert (found["status"], found["exit-code"]) == ("passed", "0")


def test_a_leg_whose_filters_leave_no_case_is_not_measured(job: Job) -> None:
    """Exit code 3 is no fault of the harness, and never a silent pass."""
    cases = [loads("one", category="a"), loads("two", category="b")]
    (job.root / "cases.json").write_text(json.dumps(cases), encoding="utf-8")
    found = job.use("run", agents="claude", categories="a", case_ids="two")
    assert (found["status"], found["exit-code"]) == ("nothing-to-run", "0")
    assert read_unmeasured([Path(found["folder"])]) == {"claude": "the filters left no case to run"}


def test_agents_are_not_run_on_pull_request_target(job: Job) -> None:
    """A stranger's change would meet the secrets."""
    job.event_name = "pull_request_target"
    found = job.use("run", agents="claude")
    assert found["exit-code"] == "2"
    assert "not run on pull_request_target" in found["log"]


def test_r2_two_legs_of_one_job_need_two_keys(job: Job) -> None:
    """Their artifacts could not be told apart."""
    assert job.use("run", agents="claude", case_ids="good")["exit-code"] == "0"
    second = job.use("run", agents="claude", case_ids="bad")
    assert second["exit-code"] == "2"
    assert "give each of them another value of the input matrix-key" in second["log"]
    assert job.use("run", agents="claude", matrix_key="other")["exit-code"] == "0"


def test_a_folder_of_ones_own_is_kept_apart_by_run(job: Job) -> None:
    """A runner of one's own still has what earlier runs left."""
    found = job.use("run", agents="claude", case_ids="good", artifacts_root="mine")
    assert Path(found["folder"]) == job.root / "mine" / "run-7" / "routing-results-claude-a1"


def test_the_runner_obeys_nothing_that_an_agent_or_a_case_wrote(job: Job) -> None:
    """What would be an order has a blank in it."""
    hostile = loads("good", prompt="please say\n::add-mask::x ##[error]no")
    (job.root / "cases.json").write_text(json.dumps([hostile]), encoding="utf-8")
    log = job.use("run", agents="claude")["log"]
    assert "verdict:" in log
    assert "\n::add-mask" not in log
    assert "##[" not in log


def test_the_legs_own_name_is_not_taken_for_a_secret(job: Job) -> None:
    """Variables whose names end in KEY are secrets of the caller, those of the action are not."""
    found = job.use("run", agents="claude", case_ids="good", matrix_key="claude-good")
    assert "[redacted]" not in Path(found["artifact-dir"], "results.json").read_text("utf-8")


# --- plan -------------------------------------------------------------------------------------


def test_a_plan_is_a_matrix_of_legs(job: Job) -> None:
    """Each entry holds what the leg's step is given."""
    found = job.use("plan", agents="claude,codex", shards="2")
    assert (found["status"], found["exit-code"]) == ("passed", "0")
    legs = json.loads(found["matrix"])["include"]
    assert [leg["key"] for leg in legs] == [
        "claude-s1of2", "claude-s2of2", "codex-s1of2", "codex-s2of2",
    ]  # fmt: skip
    assert set(legs[0]) >= {"agent", "case_ids", "shard"}
    assert "| `claude-s1of2` | 1 |" in job.summary


def test_a_plan_is_balanced_by_earlier_results(job: Job, tmp_path: Path) -> None:
    """The slow case gets a shard of its own."""
    cases = [loads(name) for name in ("a", "b", "slow")]
    (job.root / "cases.json").write_text(json.dumps(cases), encoding="utf-8")
    earlier = tmp_path / "earlier"
    path = write_results(earlier, {(name, "claude"): "pass" for name in ("a", "b", "slow")})
    value = json.loads(path.read_text("utf-8"))
    value["results"][2]["duration_ms"] = 60_000
    path.write_text(json.dumps(value), encoding="utf-8")
    found = job.use("plan", agents="claude", shards="2", durations=str(earlier))
    legs = json.loads(found["matrix"])["include"]
    assert [leg["case_ids"] for leg in legs] == ["slow", "a,b"]


def test_a_plan_of_a_change_that_moves_no_case_is_green_with_an_empty_matrix(job: Job) -> None:
    """Its status lets the workflow leave the legs out."""
    repository = Repository(job.root)
    repository.git("init", "--quiet", "--initial-branch=main")
    repository.commit()
    found = job.use("plan", changed_from="main")
    assert (found["status"], found["exit-code"]) == ("nothing-to-run", "0")
    assert json.loads(found["matrix"]) == {"include": []}
    assert "::notice" in found["log"]


@pytest.mark.parametrize(
    ("inputs", "wanted", "known"),
    [
        ({"agents": "claude,nope"}, "nope", "claude, codex, copilot"),
        ({"agents": "claude, cpilot"}, "cpilot", "copilot"),
        ({"categories": "none"}, "no category 'none'", "no case has a category"),
        ({"case_ids": "good, bda"}, "bda", "bad"),
        ({"case_ids": "bda"}, "no case 'bda'", "bad"),
        ({"trials": "two"}, "two", "--trials"),
        ({"shards": "0"}, "0", "--shards"),
        ({"agents": "no\n::add-mask::x ##[error]\n<b>`"}, "no", "claude"),
    ],
)
def test_what_a_plan_cannot_take_is_one_sentence_in_log_and_summary(
    job: Job, inputs: dict[str, str], wanted: str, known: str
) -> None:
    """Whoever types it by hand reads what was wrong, and what would be right."""
    found = job.use("plan", **inputs)
    assert found["status"] == "error"
    assert found["exit-code"] in "23"
    assert found["last"].splitlines() == [f"::error title=routing-action::{found['error']}"]
    assert wanted in found["error"]
    assert known in found["error"]
    assert known in job.summary
    assert "matrix" not in found


@pytest.mark.parametrize(
    "agents",
    ["claude, codex", "claude,codex", "claude\ncodex", '["claude", "codex"]', "Claude,CODEX"],
)
def test_agents_are_plain_words_or_a_json_list(job: Job, agents: str) -> None:
    """As a person types them, or as a variable of an older workflow has them."""
    legs = json.loads(job.use("plan", agents=agents)["matrix"])["include"]
    assert [leg["key"] for leg in legs] == ["claude", "codex"]


def test_a_plan_of_a_folder_of_recordings_is_of_its_own_cases(job: Job) -> None:
    """Which are those that its legs replay."""
    (job.root / "rec").mkdir()
    cases = json.loads((job.root / "cases.json").read_text("utf-8"))[:1]
    (job.root / "rec" / "cases.json").write_text(json.dumps(cases), encoding="utf-8")
    (leg,) = json.loads(job.use("plan", agents="claude", replay="rec")["matrix"])["include"]
    assert leg["case_ids"] == cases[0]["case_id"]


def test_more_legs_than_a_matrix_holds_are_an_error(job: Job) -> None:
    """GitHub would refuse 257 jobs."""
    cases = [loads(f"c{number}") for number in range(130)]
    (job.root / "cases.json").write_text(json.dumps(cases), encoding="utf-8")
    found = job.use("plan", agents="claude,codex", shards="130")
    assert (found["status"], found["exit-code"]) == ("error", "2")


# --- aggregate --------------------------------------------------------------------------------

CASES = ("steady", "broken")
BASELINE = {case: {"claude": {"expected_status": "pass"}} for case in CASES}
FILES: dict[str, str | None] = {
    "cases.json": json.dumps([loads(case) for case in CASES]),
    "provider-baseline.json": json.dumps(BASELINE),
}
NEEDS = json.dumps({"measure": {"result": "success", "outputs": {}}})


@pytest.fixture
def gate(tmp_path: Path) -> Job:
    """The job of a gate, with the merge of a pull request checked out as actions/checkout does."""
    origin = create(tmp_path / "origin", FILES)
    origin.start("change")
    origin.commit({"skill.md": "x"}, day=1)
    origin.switch("main")
    origin.commit({"other.txt": "main went on"}, day=2)
    origin.start("merge")
    origin.merge("change", day=3)
    origin.switch("main")
    checkout = check_out(origin, tmp_path / "checkout", "refs/heads/merge")
    return Job(checkout.path, tmp_path / "runner")


def leave(gate: Job, key: str = "claude", attempt: int = 1, **words: str) -> None:
    """Put the results of a leg where its artifact would be."""
    head = Repository(gate.root).git("rev-parse", "HEAD")
    measured = {(case, key.partition("-")[0]): word for case, word in words.items()}
    folder = gate.legs / f"routing-results-{key}-a{attempt}" / "batch"
    corpus = hashlib.sha256((gate.root / "cases.json").read_bytes()).hexdigest()
    made = {"commit": head, "corpus_sha256": corpus}
    write_results(folder, measured, attempt=attempt, matrix_key=key, **made)


def judge(gate: Job, **inputs: str) -> dict[str, str]:
    """The aggregation, told that all jobs succeeded unless said otherwise."""
    return gate.use("aggregate", **{"agents": "claude", "needs": NEEDS, **inputs})


def test_a_gate_is_green_where_all_is_as_expected(gate: Job) -> None:
    """By the merge base of a shallow clone of the merge commit."""
    leave(gate, steady="pass", broken="pass")
    found = judge(gate)
    assert (found["status"], found["conclusion"], found["exit-code"]) == ("passed", "success", "0")
    assert json.loads(found["counts"]) == {"OK": 2}
    assert (
        gate.delta["baseline"]["how"] == "merge base of origin/main (fetched from origin) and HEAD"
    )


def test_a_regression_is_red_after_the_report_is_written(gate: Job) -> None:
    """The main step itself succeeds; what it means is the code for the last one."""
    leave(gate, steady="pass", broken="fail")
    found = judge(gate)
    assert (found["conclusion"], found["exit-code"], found["regressions"]) == ("failure", "1", "1")
    first, second, *_ = found["last"].splitlines()
    assert first.startswith("::error file=cases.json,line=")
    assert ",title=REGRESSION%3A broken on claude::cases.json:" in first
    assert second.startswith("::error title=routing gate::Routing gate failed: 1 regression")
    assert found["log"].count("::error") == 2


def test_the_reports_for_people_are_written_beside_the_delta(gate: Job) -> None:
    """A page, JUnit for other tools, and markdown; the outputs name them."""
    leave(gate, steady="pass", broken="fail")
    found = judge(gate)
    assert "<html" in Path(found["html"]).read_text("utf-8")
    assert 'type="REGRESSION"' in Path(found["junit"]).read_text("utf-8")
    report = Path(found["report-dir"])
    assert {one.name for one in report.iterdir()} == {
        "comment.md", "delta.json", "junit.xml", "report.html", "summary.md",
    }  # fmt: skip


@pytest.mark.slow
def test_a_template_that_breaks_does_not_touch_the_verdict(gate: Job) -> None:
    """A warning names it, and the built-in one takes its place."""
    leave(gate, steady="pass", broken="pass")
    mine = gate.root.parent / "mine"
    mine.mkdir()
    (mine / "report.html.j2").write_text("{{ nothing.there }}", encoding="utf-8")
    found = judge(gate, templates=str(mine))
    assert (found["conclusion"], found["exit-code"]) == ("success", "0")
    assert "'nothing' is undefined; the built-in template was used" in found["log"]
    assert Path(found["html"]).is_file()


def test_a_report_that_cannot_be_written_does_not_touch_the_verdict(gate: Job) -> None:
    """Its place on the disk is taken by something else."""
    leave(gate, steady="pass", broken="pass")
    assert gate.stage("prepare", command="aggregate").code == 0
    (Path(gate.outputs["report-dir"]) / "report.html").mkdir(parents=True)
    done = gate.stage("main", agents="claude", needs=NEEDS)
    assert gate.outputs["exit-code"] == "0"
    assert "::warning title=routing-action::a report could not be written" in done.stdout


@pytest.mark.slow
def test_a_run_by_hand_is_judged_on_the_agents_that_it_chose(gate: Job) -> None:
    """The pairs of the others are not taken for removed."""
    both = {case: {**BASELINE[case], "codex": {"expected_status": "pass"}} for case in CASES}
    (gate.root / "both.json").write_text(json.dumps(both), encoding="utf-8")
    leave(gate, steady="pass", broken="pass")
    gate.event_name = "workflow_dispatch"
    gate.event = {"repository": {"default_branch": "main"}}
    assert judge(gate, baseline="both.json")["exit-code"] == "0"


@pytest.mark.slow
def test_a_leg_that_was_cut_short_is_red(gate: Job) -> None:
    """What it had measured by then is no proof of the rest."""
    leave(gate, steady="pass", broken="pass")
    (path,) = gate.legs.rglob("results.json")
    path.write_text(path.read_text("utf-8").replace('"complete":true', '"complete":false'), "utf-8")
    needs = json.dumps({"measure": {"result": "cancelled", "outputs": {}}})
    assert judge(gate, needs=needs)["exit-code"] == "1"
    reasons = gate.delta["reasons"]
    assert reasons[0] == "job measure was cancelled"
    assert "the batch was interrupted" in reasons[1]


def test_r1_a_rerun_leg_replaces_its_first_attempt(gate: Job) -> None:
    """Whichever was downloaded first."""
    gate.attempt = 2
    leave(gate, attempt=2, steady="pass", broken="pass")
    leave(gate, attempt=1, steady="pass", broken="fail")
    assert judge(gate)["exit-code"] == "0"


def test_one_artifact_alone_lies_right_in_the_folder(gate: Job) -> None:
    """download-artifact makes no folder for a single one; key and attempt are in the results."""
    leave(gate, steady="pass", broken="pass")
    (leg,) = gate.legs.iterdir()
    (leg / "batch").rename(gate.legs / "batch")
    leg.rmdir()
    plan = {"include": [{"key": "claude", "agent": "claude"}]}
    needs = {"plan": {"result": "success", "outputs": {"matrix": json.dumps(plan)}}}
    assert judge(gate, agents="", needs=json.dumps(needs))["exit-code"] == "0"


def test_g5_legs_that_left_nothing_are_red_with_every_pair_named(gate: Job) -> None:
    """Not one artifact: the report still tells what should have been there."""
    needs = json.dumps({"measure": {"result": "failure", "outputs": {}}})
    found = judge(gate, needs=needs)
    assert (found["conclusion"], found["exit-code"]) == ("failure", "1")
    assert gate.delta["reasons"] == ["job measure failed", "2 selected pairs have no result"]


def test_g5_a_lost_shard_of_the_plan_is_named(gate: Job) -> None:
    """Its sibling is there, its job says success."""
    leave(gate, "claude-s1of2", steady="pass")
    plan = {"include": [{"key": f"claude-s{n}of2", "agent": "claude"} for n in (1, 2)]}
    needs = {"plan": {"result": "success", "outputs": {"matrix": json.dumps(plan)}}}
    assert judge(gate, agents="", needs=json.dumps(needs))["exit-code"] == "1"
    assert gate.delta["reasons"][0] == "no results of claude-s2of2"


@pytest.mark.parametrize(
    ("policy", "conclusion", "code"), [("fail", "failure", "1"), ("neutral", "neutral", "0")]
)
def test_a_fork_is_what_the_policy_says_and_never_green(
    gate: Job, policy: str, conclusion: str, code: str
) -> None:
    """Each leg left a marker in place of results."""
    marker = gate.legs / "routing-results-claude-a1" / "not-measured.json"
    marker.parent.mkdir(parents=True)
    marker.write_text('{"agent": "claude", "reason": "a fork"}', encoding="utf-8")
    found = judge(gate, unmeasured=policy)
    assert (found["conclusion"], found["exit-code"]) == (conclusion, code)


@pytest.mark.slow
def test_a_change_that_touches_no_skill_is_neutral(gate: Job) -> None:
    """The plan had nothing to run, so its legs were skipped."""
    plan = {"result": "success", "outputs": {"status": "nothing-to-run", "matrix": ""}}
    needs = {"plan": plan, "measure": {"result": "skipped", "outputs": {}}}
    found = judge(gate, agents="", needs=json.dumps(needs))
    assert (found["conclusion"], found["exit-code"]) == ("neutral", "0")


@pytest.mark.slow
def test_results_of_another_commit_are_red(gate: Job) -> None:
    """A leg that has checked out something else measured something else."""
    folder = gate.legs / "routing-results-claude-a1"
    measured = {(case, "claude"): "pass" for case in CASES}
    write_results(folder, measured, commit="b" * 40, matrix_key="claude")
    assert judge(gate)["exit-code"] == "1"
    assert "which is under review" in gate.delta["reasons"][0]


@pytest.mark.slow
def test_expected_failures_without_a_measurement_are_red_on_request(gate: Job) -> None:
    """`fail-on-infra` reaches the gate."""
    lowered = {case: {"claude": {"expected_status": "fail"}} for case in CASES}
    (gate.root / "lower.json").write_text(json.dumps(lowered), encoding="utf-8")
    leave(gate, steady="infra", broken="fail")
    gate.event_name = "push"
    asked = {"baseline": "lower.json"}
    assert judge(gate, **asked)["exit-code"] == "0"
    again = Job(gate.root, gate.files, "push")
    shutil.rmtree(gate.files / "temp" / "routing-action" / "report-aggregate-routing")
    assert judge(again, fail_on_infra="true", **asked)["exit-code"] == "1"


def test_a_missing_baseline_is_an_error_with_its_remedy(gate: Job) -> None:
    """There is no verdict without one."""
    (gate.root / "provider-baseline.json").unlink()
    leave(gate, steady="pass", broken="pass")
    found = judge(gate)
    assert (found["status"], found["exit-code"]) == ("error", "2")
    assert "baseline update" in found["log"]


def test_a_slip_in_needs_is_an_error(gate: Job) -> None:
    """The check of the legs is never silently off."""
    leave(gate, steady="pass", broken="pass")
    found = judge(gate, needs="${{ toJSON(needs) }}")
    assert (found["status"], found["exit-code"]) == ("error", "2")


# --- publish ----------------------------------------------------------------------------------

RUN = {
    "GITHUB_REPOSITORY": "octo/demo",
    "GITHUB_SERVER_URL": "https://github.example",
    "GITHUB_RUN_NUMBER": "3",
}
REQUEST = {"pull_request": {"number": 7, "head": {"sha": "c" * 40}}}


def post(gate: Job, github: Github | None = None, **inputs: str) -> Finished:
    """The step that posts, with a token for a GitHub that is served, or with none."""
    gate.event = REQUEST
    gate.variables = {**RUN, "GITHUB_API_URL": "http://127.0.0.1:9"}
    if github is None:
        return gate.stage("publish", **inputs)
    with serve(github) as url:
        gate.variables = {**gate.variables, "GITHUB_API_URL": url}
        done = gate.stage("publish", token="t", **inputs)
    assert github.violations == []
    return done


@pytest.mark.slow
def test_what_was_judged_is_posted_with_the_address_of_the_report(gate: Job) -> None:
    """One comment, one check run on the pull request's head, and the job's summary."""
    leave(gate, steady="pass", broken="fail")
    judge(gate)
    gate.variables = {}
    gate.outputs["report-url"] = "https://github.example/report"
    github = Github()
    done = post(gate, github)
    assert done.code == 0, done.stdout
    (comment,) = github.bodies(7)
    assert "https://github.example/report" in comment
    (check,) = github.check_runs("c" * 40)
    assert check["conclusion"] == "failure"
    assert "broken" in gate.summary
    assert gate.outputs["comment-url"].startswith("https://")
    assert gate.outputs["check-url"].startswith("https://")


def test_r9_a_token_that_may_only_read_costs_one_warning_and_no_verdict(gate: Job) -> None:
    """The step ends well; the summary has it all."""
    leave(gate, steady="pass", broken="pass")
    judge(gate)
    github = Github(tokens={"t": Token(rights={"pull-requests": "read", "checks": "read"})})
    done = post(gate, github)
    assert (done.code, done.stdout.count("::warning")) == (0, 1)
    assert "lacks `checks: write, pull-requests: write`" in done.stdout
    assert (github.bodies(7), gate.summary != "") == ([], True)


def test_a_gate_that_could_not_judge_is_posted_as_red_with_its_reason(gate: Job) -> None:
    """An old green comment never stays."""
    (gate.root / "provider-baseline.json").unlink()
    judge(gate)
    github = Github()
    assert post(gate, github).code == 0
    (comment,) = github.bodies(7)
    assert "could not be judged" in comment
    assert "provider-baseline.json" in comment
    (check,) = github.check_runs("c" * 40)
    assert check["conclusion"] == "failure"


@pytest.mark.slow
def test_a_dry_run_writes_what_would_be_posted(gate: Job) -> None:
    """Into the report's folder; no token is needed, and nothing is asked of any network."""
    leave(gate, steady="pass", broken="pass")
    judge(gate)
    assert post(gate, dry_run="true").code == 0
    report = Path(gate.outputs["report-dir"])
    assert [file.name for file in sorted((report / "dry-run").iterdir())] == [
        "01-post-repos-octo-demo-check-runs.json",
        "02-post-repos-octo-demo-issues-7-comments.json",
    ]


@pytest.mark.slow
def test_without_a_token_or_a_network_the_verdict_stands(gate: Job) -> None:
    """An aggregation's posting never fails its step."""
    leave(gate, steady="pass", broken="pass")
    judge(gate)
    done = post(gate)
    assert (done.code, "::warning" in done.stdout) == (0, True)


@pytest.mark.slow
@pytest.mark.parametrize("given", ["comment_mode", "dry_run"])
def test_a_slip_in_an_input_of_the_posting_step_is_a_warning(gate: Job, given: str) -> None:
    """The gate has decided before."""
    leave(gate, steady="pass", broken="pass")
    judge(gate)
    done = post(gate, Github(), **{given: "sometimes"})
    assert done.code == 0
    assert "the verdict is not affected" in done.stdout


@pytest.mark.slow
def test_a_step_whose_whole_task_is_to_post_fails_where_it_cannot(gate: Job) -> None:
    """`command: publish` has no verdict of its own to keep."""
    leave(gate, steady="pass", broken="pass")
    delta = Path(judge(gate)["delta"])
    second = Job(gate.root, gate.files.parent / "second")
    assert second.stage("prepare", command="publish").code == 0
    adopted = Path(second.outputs["legs-dir"])
    adopted.mkdir(parents=True)
    shutil.copyfile(delta, adopted / "delta.json")
    assert second.stage("main").code == 0
    assert (second.outputs["exit-code"], second.outputs["conclusion"]) == ("0", "neutral")
    assert post(second).code == 5
    github = Github()
    assert post(second, github).code == 0
    assert len(github.bodies(7)) == 1


def test_a_report_of_another_run_that_is_no_delta_is_refused(gate: Job) -> None:
    """It comes from a stranger."""
    assert gate.stage("prepare", command="publish").code == 0
    adopted = Path(gate.outputs["legs-dir"])
    adopted.mkdir(parents=True)
    for text in ("{}", '{"schema_version": 1, "conclusion": "success"}', "[" * 9000):
        (adopted / "delta.json").write_text(text, encoding="utf-8")
        gate.stage("main")
        assert gate.outputs["exit-code"] == "2"


def zipped(**files: bytes) -> bytes:
    """A zip file as upload-artifact makes it; `__` in a name stands for a dot."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, data in files.items():
            archive.writestr(name.replace("__", "."), data)
    return made.getvalue()


def fetch(gate: Job, github: Github, *uploads: Upload) -> Finished:
    """The step that brings another run's report, on a workflow_run event."""
    storage = github.storage
    github.tokens = {"t": Token(rights={"actions": "read"})}
    storage.add(*uploads)
    gate.event_name = "workflow_run"
    own = {"full_name": RUN["GITHUB_REPOSITORY"]}
    gate.event = {"workflow_run": {"id": 11, "head_sha": "a" * 40, "head_repository": own}}
    assert gate.stage("prepare", command="publish").code == 0
    with serve(Github(), storage.routes()) as storage.url, serve(github) as url:
        gate.variables = {**RUN, "GITHUB_API_URL": url, "NO_PROXY": "127.0.0.1"}
        done = gate.stage("fetch", token="t")
    assert github.violations == []
    return done


@pytest.mark.slow
def test_the_newest_report_of_the_other_run_is_taken(gate: Job) -> None:
    """Of several attempts the highest, and of its own key alone."""
    delta = green_delta(gate)
    done = fetch(
        gate, Github(),
        Upload(1, "routing-report-routing-a1", zipped(delta__json=b"{}")),
        Upload(2, "routing-report-routing-a2", zipped(delta__json=delta)),
        Upload(3, "routing-report-other-a9", zipped(delta__json=b"{}")),
    )  # fmt: skip
    assert done.code == 0, done.stdout
    gate.stage("main")
    assert (gate.outputs["exit-code"], gate.outputs["conclusion"]) == ("0", "success")


def green_delta(gate: Job) -> bytes:
    """What an aggregation in another job judged."""
    other = Job(gate.root, gate.files.parent / "other")
    leave(other, steady="pass", broken="pass")
    return Path(judge(other)["delta"]).read_bytes()


@pytest.mark.parametrize(
    ("upload", "said"),
    [
        (Upload(1, "routing-report-else-a1", zipped(delta__json=b"{}")), "uploaded no report"),
        (Upload(1, "routing-report-routing-a1", b"no zip"), "error"),
        (
            Upload(1, "routing-report-routing-a1", zipped(delta__json=b"{}"), sha="b" * 40),
            "is not of commit",
        ),
    ],
)
def test_r11_a_report_that_cannot_be_trusted_is_refused(
    gate: Job, upload: Upload, said: str
) -> None:
    """Another key, something else than a zip, or a commit that is not the event's head."""
    done = fetch(gate, Github(), upload)
    assert done.code == 2
    assert said in done.stdout


def test_publishing_another_runs_report_needs_the_event_that_names_it(gate: Job) -> None:
    """It is no step for a pull request's own run."""
    assert gate.stage("prepare", command="publish").code == 0
    done = gate.stage("fetch", token="t")
    assert (done.code, "on: workflow_run" in done.stdout) == (2, True)
