"""`--changed-from` leaves no case out that the change can move."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.support.action_stages import Job
from tests.support.pull_request import BASELINE, CASES, FILES, STEAL, STOLEN, PullRequest, skill

DEPLOYING = ".claude/skills/deploying/SKILL.md"
WRITING = ".claude/skills/writing-notes/SKILL.md"
ALL = ["deploy", "notes"]
Files = dict[str, str | None]


def plan(change: PullRequest, **inputs: str) -> tuple[list[str], Job, dict[str, str]]:
    """The cases that a plan from the base branch measures, with its job and its outputs."""
    job = change.job("plan")
    found = job.use("plan", **{"agents": "claude", "changed_from": "origin/main", **inputs})
    legs = json.loads(found["matrix"])["include"]
    return sorted(one for leg in legs for one in leg["case_ids"].split(",")), job, found


def planned(change: PullRequest, **inputs: str) -> list[str]:
    """The cases alone."""
    return plan(change, **inputs)[0]


def body(text: str, name: str = "deploying") -> str:
    """The skill with another body, its frontmatter as it was."""
    return (FILES[f".claude/skills/{name}/SKILL.md"] or "") + text


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(STEAL, id="a neighbour's description"),
        pytest.param({".claude/skills/new/SKILL.md": skill("new", STOLEN)}, id="a new skill"),
        pytest.param({WRITING: None}, id="a skill removed"),
        pytest.param(
            {WRITING: None, ".claude/skills/renamed/SKILL.md": FILES[WRITING]},
            id="a folder renamed",
        ),
        pytest.param({"plugin/skills/x/SKILL.md": skill("x", STOLEN)}, id="a plugin's skill"),
        pytest.param({"deep/skill.md": skill("x", STOLEN)}, id="a skill anywhere"),
        pytest.param(
            {WRITING: (FILES[WRITING] or "").replace("\n---\n", "\nmodel: x\n---\n")},
            id="another field of the frontmatter",
        ),
        pytest.param({WRITING: "no frontmatter"}, id="the frontmatter removed"),
        pytest.param({".claude/skills/writing-notes/agents/openai.yaml": "x"}, id="codex' policy"),
        pytest.param({"CLAUDE.md": "Always use writing-notes."}, id="an instruction file"),
        pytest.param({"AGENTS.md": "Always use writing-notes."}, id="instructions for others"),
        pytest.param({"src/CLAUDE.md": "x"}, id="instructions of a folder"),
        pytest.param({".github/copilot-instructions.md": "x"}, id="copilot's instructions"),
        pytest.param({".claude/settings.json": '{"model": "haiku"}'}, id="settings of an agent"),
        pytest.param({".claude/commands/x.md": "x"}, id="a command of an agent"),
        pytest.param({".mcp.json": "{}"}, id="tools of an agent"),
        pytest.param({".gitattributes": "*.md text"}, id="how git checks out"),
        pytest.param({"routing.toml": "# nothing\n"}, id="the description of an agent"),
    ],
)
def test_g3_what_can_move_any_prompt_selects_every_case(change: PullRequest, edit: Files) -> None:
    """A description competes with all others, so all cases are measured."""
    change.propose(edit)
    assert planned(change) == ALL


@pytest.mark.parametrize("path", [WRITING, "CLAUDE.md", ".claude/skills/more"])
def test_g3_a_file_that_becomes_a_link_selects_every_case(change: PullRequest, path: str) -> None:
    """What it leads to is read in its place."""
    change.propose({"README.md": "x"})
    place = change.checkout.path / path
    place.unlink(missing_ok=True)
    place.symlink_to(change.checkout.path / "README.md")
    assert planned(change) == ALL


@pytest.mark.parametrize("place", [".claude/skills/deploying/SKILL.md", "CLAUDE.md"])
def test_g3_what_a_link_leads_to_counts_as_the_link(tmp_path: Path, place: str) -> None:
    """The link itself does not change."""
    change = PullRequest(tmp_path, {**FILES, "docs/text.md": FILES[DEPLOYING]})
    link = change.origin.path / place
    link.unlink(missing_ok=True)
    link.symlink_to(os.path.relpath(change.origin.path / "docs/text.md", link.parent))
    change.origin.commit()
    change.propose({"docs/text.md": skill("deploying", "Other words")})
    assert planned(change) == ALL


def test_g3_what_instructions_include_counts_as_instructions(tmp_path: Path) -> None:
    """CLAUDE.md can name other files by `@path`, and these can name more."""
    files = {"CLAUDE.md": "See @docs/a.md.", "docs/a.md": "And @b.md", "docs/b.md": "x"}
    change = PullRequest(tmp_path, {**FILES, **files})
    change.propose({"docs/b.md": "Always use writing-notes."})
    assert planned(change) == ALL


def test_g3_a_submodule_among_the_skills_selects_every_case(change: PullRequest) -> None:
    """Its files are not looked at, only its commit."""
    change.propose({"README.md": "x"})
    made = f"160000,{change.head},.claude/skills/pack"
    change.checkout.git("update-index", "--add", "--cacheinfo", made)
    assert planned(change) == ALL


def test_g3_untracked_and_uncommitted_files_count(change: PullRequest) -> None:
    """An earlier step of the job may have written them."""
    change.propose({"README.md": "x"})
    change.checkout.write({".claude/skills/new/SKILL.md": skill("new", STOLEN)})
    assert planned(change) == ALL


def test_g3_staged_skills_count_wherever_they_lie(tmp_path: Path) -> None:
    """The workflow names their folder."""
    change = PullRequest(tmp_path, {**FILES, "pack/texts/x.md": "x"})
    change.propose({"pack/texts/x.md": "y"})
    assert planned(change, skills="pack") == ALL
    assert plan(change)[2]["status"] == "nothing-to-run"


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param({"prompt": "Other words"}, id="its prompt"),
        pytest.param({"expected_skill": ""}, id="its requirement"),
        pytest.param({"provider_aliases": {"claude": {"x": "deploying"}}}, id="an alias"),
        pytest.param({"category": "other"}, id="its category"),
    ],
)
def test_g3_an_edited_case_is_measured_alone(change: PullRequest, edit: dict[str, object]) -> None:
    """Though no skill changed; the others are as they were."""
    change.propose({"cases.json": json.dumps([{**CASES[0], **edit}, CASES[1]])})
    assert planned(change) == ["deploy"]


def test_g3_cases_are_compared_by_content(change: PullRequest) -> None:
    """Another layout or order of the file, and a case that is gone, select nothing."""
    change.propose({"cases.json": json.dumps({"cases": [CASES[1]]})})
    assert plan(change)[2]["status"] == "nothing-to-run"


def test_g3_a_new_case_is_measured(change: PullRequest) -> None:
    """And no other."""
    new = {"case_id": "new", "prompt": "x", "expected_skill": ""}
    change.propose({"cases.json": json.dumps([*CASES, new])})
    assert planned(change) == ["new"]


def test_g3_a_case_file_that_was_broken_or_elsewhere_selects_every_case(tmp_path: Path) -> None:
    """Nobody can tell what was edited."""
    broken = PullRequest(tmp_path / "broken", {**FILES, "cases.json": "[{]"})
    broken.propose({"cases.json": FILES["cases.json"]})
    assert planned(broken) == ALL
    elsewhere = {name: text for name, text in FILES.items() if name != "cases.json"}
    moved = PullRequest(tmp_path / "moved", {**elsewhere, "old.json": FILES["cases.json"]})
    moved.propose({"old.json": None, "cases.json": FILES["cases.json"]})
    assert planned(moved) == ALL


def test_g3_an_edited_expectation_selects_its_case(change: PullRequest) -> None:
    """By the pairs of the baseline that differ."""
    lowered = {**BASELINE, "notes": {"claude": {"expected_status": "fail"}}}
    change.propose({"provider-baseline.json": json.dumps(lowered)})
    assert planned(change) == ["notes"]


def test_g3_the_baseline_that_is_named_counts(tmp_path: Path) -> None:
    """It need not lie beside the cases."""
    change = PullRequest(tmp_path, {**FILES, "gate/expected.json": FILES["provider-baseline.json"]})
    lowered = {**BASELINE, "notes": {"claude": {"expected_status": "fail"}}}
    change.propose({"gate/expected.json": json.dumps(lowered)})
    assert planned(change, baseline="gate/expected.json") == ["notes"]


def test_g3_a_path_of_any_bytes_is_named(change: PullRequest) -> None:
    """Its name can hold a line end, which is not printed as one."""
    change.propose({".claude/a\n::error::b.md": "x"})
    cases, _, found = plan(change)
    assert cases == ALL
    assert ".claude/a?::error::b.md changed, an instruction file" in found["stderr"]


def test_g3_a_file_that_a_case_asks_for_selects_it(tmp_path: Path) -> None:
    """A read of it is the case's proof."""
    cases = [{**CASES[0], "required_files": ["runbook.md"]}, CASES[1]]
    files = {**FILES, "cases.json": json.dumps(cases), "docs/runbook.md": "x"}
    change = PullRequest(tmp_path, files)
    change.propose({"docs/runbook.md": None})
    assert planned(change) == ["deploy"]


@pytest.mark.parametrize("path", [DEPLOYING, ".claude/skills/deploying/scripts/go.sh"])
def test_g3_a_skills_body_selects_by_what_was_measured(change: PullRequest, path: str) -> None:
    """Without earlier results all cases; with them those that name the skill, or loaded it."""
    change.propose({path: body("Other steps.") if path == DEPLOYING else "exit 1"})
    assert planned(change) == ALL
    job = change.job("earlier")
    earlier = job.use("run", agents="claude", matrix_key="earlier")["folder"]
    assert planned(change, durations=earlier) == ["deploy"]


def test_g3_a_case_that_loaded_the_skill_is_measured_though_it_names_another(
    change: PullRequest,
) -> None:
    """The skill's body decides what happens to it next."""
    change.propose({WRITING: skill("writing-notes", STOLEN)}, {"README.md": "x"})
    earlier = change.job("earlier").use("run", agents="claude", matrix_key="earlier")["folder"]
    change.checkout.git("branch", "--force", "taken", "HEAD")
    change.checkout.write({WRITING: skill("writing-notes", STOLEN, "true")})
    assert planned(change, durations=earlier, changed_from="taken") == ALL


def test_g3_earlier_results_of_other_agents_tell_nothing(change: PullRequest) -> None:
    """Another agent may load another skill."""
    change.propose({DEPLOYING: body("Other steps.")})
    earlier = change.job("earlier").use("run", agents="claude", matrix_key="earlier")["folder"]
    assert planned(change, agents="claude,codex", durations=earlier) == sorted(ALL * 2)


@pytest.mark.parametrize(
    "path",
    ["README.md", ".github/workflows/ci.yml", "templates/comment.md.j2", "src/app.py", "docs/x.md"],
)
def test_g3_what_no_agent_reads_selects_nothing(change: PullRequest, path: str) -> None:
    """The job then says that there is nothing to run."""
    change.propose({path: "x"})
    cases, _, found = plan(change)
    assert (cases, found["status"]) == ([], "nothing-to-run")
    assert "nothing that a case depends on changed since origin/main" in found["stderr"]


def test_g3_the_plan_says_what_was_left_out_and_why(change: PullRequest) -> None:
    """On standard error, in its JSON and in the job's summary."""
    change.propose({"cases.json": json.dumps([{**CASES[0], "prompt": "Other"}, CASES[1]])})
    _, job, found = plan(change)
    told = (
        "1 of 2 cases: cases.json edits deploy; "
        "left out: notes (nothing that they depend on changed)"
    )
    assert told in found["stderr"]
    assert told in job.summary
    leg: dict[str, Any] = json.loads(found["matrix"])["include"][0]
    assert leg["changed_from"] == "origin/main"


def test_g3_the_plan_names_the_change_that_selects_all(change: PullRequest) -> None:
    """The first one is enough."""
    change.propose(STEAL)
    assert f"all 2 cases: {WRITING} changed its description" in plan(change)[1].summary


def test_a_plan_that_selects_nothing_is_advised_by_what_is_so(change: PullRequest) -> None:
    """No credentials are missing."""
    change.propose({"README.md": "x"})
    outputs = change.job("plan").use("plan", agents="claude", changed_from="origin/main")
    needs = {
        "plan": {"result": "success", "outputs": {"status": outputs["status"]}},
        "measure": {"result": "skipped", "outputs": {}},
    }
    found = change.judge(1, agents="", needs=json.dumps(needs))
    assert found.conclusion == "neutral"
    for name in ("comment.md", "summary.md"):
        assert "the plan selected no case" in found.text(name)
        assert "credentials" not in found.text(name)
