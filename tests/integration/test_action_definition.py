"""action.yml, the workflows, the documents and Python say the same, and nothing unsafe."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from routing_action.action.inputs import COMMANDS, variable
from tests.support.workflow_files import ACTION, ROOT, WORKFLOWS, load_yaml, read_yaml, steps_of

BIN = Path(sys.executable).parent
_NO_LOCK = "adhoc-packages"
"""A reader of the documentation has no lock file yet; versions are pinned all the same."""


def lint(folder: Path, workflows: Mapping[str, str]) -> dict[str, str]:
    """What each tool that found something printed, by its name; empty where all is well.

    The workflows are written into a repository of their own in the folder.
    """
    place = folder / ".github" / "workflows"
    place.mkdir(parents=True)
    for name, text in workflows.items():
        (place / name).write_text(text, encoding="utf-8")
    (folder / "zizmor.yml").write_text(f"rules: {{{_NO_LOCK}: {{disable: true}}}}\n", "utf-8")
    files = [str(place / name) for name in workflows]
    return {name: text for name, text in _findings(folder, files) if text}


def lint_action(folder: Path, text: str) -> str:
    """What jactionlint prints about an action, empty where all is well.

    It alone sees an input or a step's output that a composite does not have.
    """
    file = folder / "action.yml"
    file.write_text(text, encoding="utf-8")
    return _run(["jactionlint", "--no-online", "--strict-exit", str(file)], folder)


def _findings(folder: Path, files: Sequence[str]) -> list[tuple[str, str]]:
    zizmor = ["zizmor", "--offline", "--strict-collection", "--no-progress"]
    jactionlint = ["jactionlint", "--no-online", "--strict-exit", "--ignore", _NO_LOCK]
    schema = ["check-jsonschema", "--builtin-schema", "vendor.github-workflows"]
    return [
        ("zizmor", _run([*zizmor, "--config", "zizmor.yml", *files], folder)),
        ("jactionlint", _run([*jactionlint, *files], folder)),
        ("check-jsonschema", _run([*schema, *files], folder)),
        *(("act", _run(["act", "--validate", "--strict", "-W", file], folder)) for file in files),
    ]


def _run(command: list[str], cwd: Path) -> str:
    done = subprocess.run(
        [str(BIN / command[0]), *command[1:]],
        cwd=cwd,
        env={"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "HOME": str(cwd)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return f"{done.stdout}{done.stderr}" if done.returncode else ""


BASE_CHANGED = "github.event.action != 'edited' || github.event.changes.base"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```ya?ml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
USES = re.compile(r"^\s*(?:- )?uses: *(?P<what>\S+)(?: +# (?P<tag>\S+))?$", re.MULTILINE)
INPUTS = set(read_yaml(ACTION)["inputs"])
READ = re.compile(r"""inputs\.(?:text|lines|names|flag|words|choice)\(\s*"([a-z-]+)\"""")
OWN = "OWNER/routing-action"
PACKAGE = ROOT / "src" / "routing_action"
SOURCES = sorted([*PACKAGE.glob("action/**/*.py"), PACKAGE / "cli" / "action.py"])


def documented() -> Iterator[tuple[str, str]]:
    """Every workflow that a page shows, with a name for it."""
    for page in PAGES:
        for number, text in enumerate(FENCE.findall(page.read_text("utf-8")), start=1):
            if "jobs:" in text:
                yield f"{page.stem}-{number}.yml", text


DOCUMENTED = dict(documented())
WORKFLOW_TEXTS = {**{path.name: path.read_text("utf-8") for path in WORKFLOWS}, **DOCUMENTED}
TEXTS = {"action.yml": ACTION.read_text("utf-8"), **WORKFLOW_TEXTS}


def own_steps() -> Iterator[dict[str, Any]]:
    """Every step, here and in the documents, that uses this action."""
    for text in WORKFLOW_TEXTS.values():
        for step in steps_of(load_yaml(text)):
            if str(step.get("uses", "")).startswith(("./", f"{OWN}@")):
                yield step


def test_every_output_is_one_that_python_sets() -> None:
    """No output of the action stays empty for a slip in its name."""
    text = "\n".join(path.read_text("utf-8") for path in SOURCES)
    value = re.compile(r"\$\{\{ steps\.([a-z-]+)\.outputs\.([a-z-]+) \}\}")
    found = [value.findall(one["value"]) for one in read_yaml(ACTION)["outputs"].values()]
    names = [name for ((step, name),) in found if step != "upload-report"]
    assert len(names) == len(found) - 1 > 10
    for name in names:
        assert re.search(rf"""\b{name.replace("-", "_")}=|"{name}",""", text), name


def test_every_input_has_a_default_and_a_meaning() -> None:
    """GitHub does not enforce `required`, so none of them is."""
    for name, one in read_yaml(ACTION)["inputs"].items():
        assert set(one) == {"description", "default"}, name


def test_each_variable_carries_the_input_of_its_name() -> None:
    """And nothing else reads inputs in a command step."""
    for step in read_yaml(ACTION)["runs"]["steps"]:
        for name, value in step.get("env", {}).items():
            if name.startswith("ROUTING_INPUT_"):
                match = re.fullmatch(r"\$\{\{ inputs\.([a-z-]+) \}\}", value)
                assert match is not None, name
                assert name == variable(match[1])


def test_python_reads_exactly_what_the_steps_hand_over() -> None:
    """No input is without effect, none is read that never comes."""
    read = {name for path in SOURCES for name in READ.findall(path.read_text("utf-8"))}
    given = {
        name
        for step in read_yaml(ACTION)["runs"]["steps"]
        for name in step.get("env", {})
        if name.startswith("ROUTING_INPUT_")
    }
    in_bash = {"ROUTING_INPUT_PYTHON", "ROUTING_INPUT_UV"}
    tables = (
        "cases", "skills", "timeout-seconds", "idle-timeout-seconds", "max-parallel", "trials",
        "confirm", "shard", "shards", "replay", "changed-from", "categories", "case-ids",
        "max-output-mb", "baseline",
    )  # fmt: skip
    assert {variable(name) for name in (*read, *tables)} | in_bash == given
    direct = {"retention-days"}
    assert {variable(name) for name in INPUTS - direct} == given


def test_the_steps_of_the_examples_name_inputs_that_exist() -> None:
    """GitHub would only warn of a slip."""
    used = list(own_steps())
    assert len(used) > 8
    for step in used:
        given = step.get("with", {})
        assert set(given) <= INPUTS
        assert given.get("command", "run") in COMMANDS


@pytest.mark.parametrize("name", TEXTS)
def test_no_command_holds_an_expression(name: str) -> None:
    """What GitHub puts into a script's text is run."""
    for step in steps_of(load_yaml(TEXTS[name])):
        assert "${{" not in step.get("run", ""), step


@pytest.mark.parametrize("name", TEXTS)
def test_every_action_is_pinned_by_a_commit_with_its_tag_beside_it(name: str) -> None:
    """An organisation's rule about pins holds for the inner steps too."""
    for match in USES.finditer(TEXTS[name]):
        if not match["what"].startswith("./"):
            assert re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}", match["what"]), match["what"]
            assert re.fullmatch(r"v\d+\.\d+\.\d+", match["tag"] or ""), match["what"]


def test_one_action_has_one_pin() -> None:
    """Here and in the documents, so that an update forgets none."""
    pins: dict[str, set[tuple[str, str]]] = {}
    for text in TEXTS.values():
        for match in USES.finditer(text):
            action, _, commit = match["what"].partition("@")
            pins.setdefault(action, set()).add((commit, match["tag"]))
    assert {action: found for action, found in pins.items() if len(found) > 1} == {}


@pytest.mark.parametrize("name", WORKFLOW_TEXTS)
def test_every_job_declares_its_permissions_and_the_workflow_none(name: str) -> None:
    """What a job does not name it does not have."""
    workflow = load_yaml(WORKFLOW_TEXTS[name])
    assert workflow["permissions"] == {}
    for job in workflow["jobs"].values():
        assert set(job["permissions"].values()) <= {"read", "write"}


def test_only_the_last_jobs_of_a_release_can_write() -> None:
    """What runs tests, builds, or runs what was built has no right but to read."""
    jobs = load_yaml(WORKFLOW_TEXTS["release.yml"])["jobs"]
    writing = {name for name, job in jobs.items() if "write" in job["permissions"].values()}
    assert writing == {"attest", "index", "image", "publish"}
    assert {"check", "try"} <= set(jobs["attest"]["needs"])
    assert {name: jobs[name]["needs"] for name in ("index", "image")} == {
        "index": "attest", "image": "attest",
    }  # fmt: skip
    assert set(jobs["publish"]["needs"]) == {"index", "image"}
    assert all(jobs[name]["environment"] == "release" for name in writing - {"attest"})


@pytest.mark.parametrize("name", WORKFLOW_TEXTS)
def test_no_workflow_uses_what_cannot_be_cancelled_or_trusted(name: str) -> None:
    """`always()` outlives a cancelled run; pull_request_target meets secrets."""
    text = WORKFLOW_TEXTS[name]
    assert "always()" not in text
    assert "pull_request_target" not in load_yaml(text)["on"]


def test_a_run_by_workflow_run_checks_out_nothing_of_the_pull_request() -> None:
    """The trusted half has a token that may write."""
    for text in WORKFLOW_TEXTS.values():
        workflow = load_yaml(text)
        if "workflow_run" not in workflow["on"]:
            continue
        for step in steps_of(workflow):
            assert "ref" not in step.get("with", {})
            assert "repository" not in step.get("with", {})
            assert step.get("with", {}).get("command", "publish") == "publish"


def test_the_texts_that_troubleshooting_explains_are_those_that_are_printed() -> None:
    """A reader searches the page for what the log says."""
    pages = [path.read_text("utf-8") for path in (ROOT / "docs/how-to").glob("troubleshooting*.md")]
    lines = "\n".join(pages).splitlines()
    cells = [line.split("|")[1] for line in lines if line.startswith("| ")]
    told = {text for cell in cells for text in re.findall(r"`([^`]+)`", cell)}
    sources = [*(ROOT / "src").rglob("*.py"), ROOT / "scripts" / "action-step.sh"]
    printed = "\n".join(path.read_text("utf-8") for path in sources)
    joined = re.sub(r"""["']\s*\n\s*f?["']|\\\n""", "", printed)
    assert len(told) > 25
    assert sorted(text for text in told - {"job"} if text not in joined) == []


def test_every_command_step_of_the_action_names_its_shell() -> None:
    """GitHub requires it; the local runner of the tests does not."""
    for step in read_yaml(ACTION)["runs"]["steps"]:
        assert ("run" in step) == (step.get("shell") == "bash"), step["name"]


def test_nothing_reads_what_only_the_local_runner_sets() -> None:
    """`INPUT_*` and the runtime token do not reach a composite's commands on GitHub."""
    read = re.compile(r"""(?<!ROUTING_)\bINPUT_[A-Z]|ACTIONS_RUNTIME|github\.action_(?:path|ref)""")
    scripts = [ACTION, ROOT / "scripts" / "action-step.sh", *SOURCES]
    assert [path.name for path in scripts if read.search(path.read_text("utf-8"))] == []


def test_where_a_title_is_edited_no_job_runs_and_none_bears_the_gate_s_name() -> None:
    """A skipped job passes a required check of its name, which was red."""
    guarded = 0
    for text in WORKFLOW_TEXTS.values():
        workflow = load_yaml(text)
        types = (workflow["on"] if isinstance(workflow["on"], dict) else {}).get("pull_request")
        if "edited" not in (types or {}).get("types", ()):
            assert BASE_CHANGED not in text
            continue
        guarded += 1
        assert f"({BASE_CHANGED}) && github.event.pull_request" in workflow["concurrency"]["group"]
        for job in workflow["jobs"].values():
            assert BASE_CHANGED in job["if"]
        assert workflow["jobs"]["gate"]["name"].startswith(f"${{{{ ({BASE_CHANGED}) && '")
    assert guarded >= 2


def test_the_gate_reads_how_its_jobs_ended_and_always_runs() -> None:
    """A skipped gate would count as passed."""
    gates = 0
    for text in WORKFLOW_TEXTS.values():
        for job in load_yaml(text)["jobs"].values():
            commands = [step.get("with", {}).get("command") for step in job["steps"]]
            if "aggregate" in commands and "needs" in job:
                gates += 1
                guarded = f"${{{{ !cancelled() && ({BASE_CHANGED}) }}}}"
                assert job["if"] in ("${{ !cancelled() }}", guarded)
                (step,) = (s for s in job["steps"] if s.get("with", {}).get("command"))
                assert step["with"]["needs"] == "${{ toJSON(needs) }}"
    assert gates >= 4


def test_the_documented_workflows_pass_every_linter(tmp_path: Path) -> None:
    """A reader can paste them."""
    assert len(DOCUMENTED) >= 4
    assert lint(tmp_path, DOCUMENTED) == {}


GOOD = DOCUMENTED["quick-start-action-1.yml"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tool", "old", "new"),
    [
        ("zizmor", "    runs-on: ubuntu-latest", "    runs-on: [ubuntu-latest"),
        ("zizmor", "    runs-on: ubuntu-latest", "    runs-on: {}"),
        ("zizmor", "  pull_request:", "  pull_request_target:"),
        ("jactionlint", "steps.plan.outputs.matrix", "steps.plam.outputs.matrix"),
        ("check-jsonschema", "runs-on: ubuntu-latest", "runs-on-: ubuntu-latest"),
        ("act", "    steps:", "    steppes:"),
    ],
)
def test_a_broken_workflow_is_an_error_of_its_linter(
    tool: str, old: str, new: str, tmp_path: Path
) -> None:
    """None of the tools passes over what it cannot read."""
    assert old in GOOD
    assert tool in lint(tmp_path, {"broken.yml": GOOD.replace(old, new, 1)})


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("inputs.case-ids", "inputs.case-idz"),
        ("steps.prepare.outputs.command", "steps.prepar.outputs.command"),
        ("steps.publish.outputs", "steps.publsh.outputs"),
    ],
)
def test_a_slip_inside_the_composite_is_an_error(old: str, new: str, tmp_path: Path) -> None:
    """GitHub would put an empty text there."""
    text = ACTION.read_text("utf-8")
    assert lint_action(tmp_path, text) == ""
    assert new.partition(".outputs")[0].rpartition(".")[2] in lint_action(
        tmp_path, text.replace(old, new, 1)
    )
