"""The workflows of the documents, run in a repository of somebody's own."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.bench import AGENTS, Finished, copy_project
from tests.e2e.demo import GATE, Demo, make_demo
from tests.integration.test_action_definition import DOCUMENTED, OWN
from tests.support.command_line import ROOT
from tests.support.repositories import Repository

pytestmark = pytest.mark.slow

WORKFLOW = "agent-routing.yml"
SKILL = "---\nname: ship-it\ndescription: Use when a version is about to go out.\n---\n# Ship it\n"
CASES = [{"case_id": "ship", "prompt": "We go live tomorrow.", "expected_skill": "ship-it"}]
ENTRY = {"expected_status": "pass", "allow_timeout": False}
SECRETS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "COPILOT_GITHUB_TOKEN")
KEYS = [word for name in SECRETS for word in ("-s", f"{name}=made-up-secret-of-{name.lower()}")]
AGENT = f"""import pathlib, sys
sys.path.insert(0, {str(ROOT)!r})
from tests.support.streams import load, run_of, say, shell
agent = sys.argv[1]
folder = {{"claude": ".claude", "codex": ".agents", "copilot": ".github"}}[agent]
file = pathlib.Path(folder, "skills/ship-it/SKILL.md")
if not file.is_file():
    records = [say(agent, "Good luck tomorrow.")]
elif agent == "codex":
    records = [*shell(agent, f"cat {{file}}", file.read_text()), say(agent, "Done.")]
else:
    records = [*load(agent, "ship-it"), say(agent, "Done.")]
sys.stdout.buffer.write(run_of(agent, *records))
"""
NPM = '#!/bin/sh\necho "npm was told: $*"\n'


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Demo]:
    """A repository with a skill in `.claude/skills`, on a machine with three agents."""
    template = tmp_path / "template"
    copy_project(template, (), ())
    (template / "cases.json").write_text(json.dumps(CASES), encoding="utf-8")
    baseline = {"ship": dict.fromkeys(AGENTS, ENTRY)}
    (template / "provider-baseline.json").write_text(json.dumps(baseline), encoding="utf-8")
    repository = Repository(template)
    repository.git("init", "--quiet", "--template=", "--initial-branch=main")
    repository.git("config", "uploadpack.allowAnySHA1InWant", "true")
    repository.commit({".claude/skills/ship-it/SKILL.md": SKILL})
    with make_demo(template, tmp_path) as made:
        (tmp_path / "agent.py").write_text(AGENT, encoding="utf-8")
        for name in (*AGENTS, "npm"):
            program = made.programs / name
            # A first line cannot name an interpreter in a folder with a space.
            command = shlex.join([sys.executable, str(tmp_path / "agent.py"), name])
            starter = f'#!/bin/sh\nexec {command} "$@"\n'
            program.write_text(NPM if name == "npm" else starter, encoding="utf-8")
            program.chmod(0o755)
        yield made


def run(demo: Demo, text: str, *arguments: str, fork: bool = False) -> Finished:
    """The run of a pull request that brings the workflow, with the action in the repository."""
    here = re.sub(rf"{OWN}@0+ # \S+", "./", text)
    # The machine has its Node; what the bench has no stand-in for would be an error.
    here = re.sub(r" +- uses: actions/setup-node@.*\n +with:\n +node-version: .*\n", "", here)
    demo.change({f".github/workflows/{WORKFLOW}": here})
    head_repo = {"full_name": "stranger/demo" if fork else "octo/demo", "fork": fork}
    request = {
        "number": 7,
        "head": {"sha": demo.head, "ref": "change", "repo": head_repo},
        "base": {"ref": "main", "repo": {"full_name": "octo/demo"}},
    }
    event = {"number": 7, "pull_request": request}
    return demo.run(WORKFLOW, "pull_request", event, *arguments, ref="refs/heads/merge")


ONE, THREE = DOCUMENTED["quick-start-action-1.yml"], DOCUMENTED["more-agents-1.yml"]


def test_the_workflow_for_three_agents_measures_all_and_is_green(demo: Demo) -> None:
    """Each leg installs its own agent, finds the skills and is judged."""
    done = run(demo, THREE, *KEYS)
    legs = {"plan": "success", **{f"measure ({agent})": "success" for agent in AGENTS}}
    assert (done.code, dict(done.jobs)) == (0, {**legs, GATE: "success"}), done.log[-5000:]
    assert demo.delta()["counts"] == {"OK": 3}
    assert "npm was told: install --global @openai/codex@" in done.of("measure (codex)")
    assert "conclusion=success" in demo.comment


def test_without_the_input_skills_codex_is_offered_none(demo: Demo) -> None:
    """As the page says, since it does not look in `.claude/skills`."""
    bare = THREE.replace("          skills: .claude/skills\n", "", 1)
    done = run(demo, bare, *KEYS, "--matrix", "agent:codex")
    assert done.code == 1, done.log[-5000:]
    (row,) = (row for row in demo.delta()["rows"] if row["kind"] == "REGRESSION")
    assert (row["agent"], row["failure_kind"]) == ("codex", "skill_unavailable")


def test_a_gate_that_asks_for_one_of_three_agents_is_red_and_names_the_others(demo: Demo) -> None:
    """The workflow of the quick start, with a baseline for three agents."""
    done = run(demo, ONE, *KEYS)
    assert (done.code, done.jobs[GATE]) == (1, "failure"), done.log[-5000:]
    assert demo.delta()["counts"] == {"REMOVED": 2, "OK": 1}
    assert "copilot is not asked for" in demo.comment
    assert "*not asked for*" in (ROOT / "docs/how-to/more-agents.md").read_text("utf-8")


def test_the_line_for_forks_makes_the_gate_neutral(demo: Demo) -> None:
    """A pull request from a fork has no secrets, and the job ends green."""
    page = (ROOT / "docs" / "how-to" / "forks.md").read_text("utf-8")
    (line,) = re.findall(r"^ +unmeasured: >-\n(?: {12}\S.*\n)+", page, re.MULTILINE)
    needs = "          needs: ${{ toJSON(needs) }}\n"
    (demo.origin.path / "provider-baseline.json").write_text(
        json.dumps({"ship": {"claude": ENTRY}}), encoding="utf-8"
    )
    demo.origin.commit()
    # The gate's, and after it that of the history.
    assert ONE.count(needs) == 2
    done = run(demo, ONE.replace(needs, needs + line, 1), fork=True)
    assert (done.code, done.jobs[GATE]) == (0, "success"), done.log[-5000:]
    assert demo.delta()["conclusion"] == "neutral"
    assert demo.delta()["counts"] == {"UNMEASURED": 1}
