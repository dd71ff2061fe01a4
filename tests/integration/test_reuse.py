"""Pairs that are not run, since the default branch measured what an agent sees here."""

from __future__ import annotations

import json
import os
import shlex
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from routing_action.git.command import run_git
from routing_action.results.past.history import HistoryLine, read_history
from tests.support.command_line import Finished, run_command
from tests.support.past import remember, write_history

AGENT = r"""#!/bin/sh
say() { printf '%s\n' "$1"; }
for word; do case $word in
  --version) say '9.9.9 (Claude Code)'; exit;;
  *load:*) name=${word#*load:};;
esac; done
echo x >> STARTS
say '{"type":"system","subtype":"init","claude_code_version":"9.9.9","model":"m"}'
use='{"type":"tool_use","id":"t","name":"Skill","input":{"skill":"'$name'"}}'
say '{"type":"assistant","message":{"content":['"$use"']}}'
done='{"type":"tool_result","tool_use_id":"t","content":"ok"}'
say '{"type":"user","message":{"content":['"$done"']}}'
say '{"type":"result","subtype":"success","is_error":false,"num_turns":1}'
"""
SKILLS = ("one", "two", "three")


class Main:
    """A repository whose default branch was measured, and the history of that."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.root = folder, folder / "tree"
        self.history, self._starts = folder / "history", folder / "starts.txt"
        self.environ: dict[str, str] = {}

    def make(self) -> None:
        """Measure the default branch, and branch off."""
        (self.folder / "bin").mkdir()
        self.install(AGENT)
        for name in SKILLS:
            text = f"---\nname: {name}\ndescription: Does {name}.\n---\n# {name}\n"
            self.edit(f".claude/skills/{name}/SKILL.md", "", text)
        cases = [
            {"case_id": name, "prompt": f"please load:{name}", "expected_skill": name}
            for name in SKILLS
        ]
        self.edit("cases.json", "", json.dumps(cases, indent=1))
        baseline = {name: {"claude": {"expected_status": "pass"}} for name in SKILLS}
        self.edit("provider-baseline.json", "", json.dumps(baseline))
        self.edit("app.py", "", "print(0)\n")
        self.edit("CLAUDE.md", "", "See @docs/rules.md\n")
        self.edit("docs/rules.md", "", "Be brief.\n")
        self.edit(".claude/settings.json", "", '{"hooks": "sh tools/hook.sh"}\n')
        self.edit("tools/hook.sh", "", "exit 0\n")
        self.git("init", "-q", "-b", "main")
        self.commit()
        self.git("checkout", "-q", "-b", "change")
        self.run()
        remember(self.done.artifacts / "results.json", self.history)

    def install(self, agent: str) -> None:
        """Put the agent on PATH."""
        program = self.folder / "bin" / "claude"
        program.write_text(agent.replace("STARTS", shlex.quote(str(self._starts))), "utf-8")
        program.chmod(0o755)

    def git(self, *arguments: str) -> None:
        run_git(arguments, self.root)

    def commit(self) -> None:
        self.git("add", "-A")
        self.git("-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "c")

    def call(self, *arguments: str) -> Finished:
        environ = {
            "PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.folder),
            "ANTHROPIC_API_KEY": "made-up-key-0123456789",
            **self.environ,
        }
        return run_command(arguments, self.root, environ)

    @property
    def rows(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.done.results["results"]
        return rows

    def run(self, *options: str) -> int:
        """How many agents a run starts."""
        before = self._count()
        root = str(self.folder / "artifacts")
        self.done = self.call("run", "--agents", "claude", "--artifacts-root", root, *options)
        return self._count() - before

    def reuse(self, *options: str) -> int:
        named = ("--history", str(self.history), "--reuse", "auto", "--reuse-check", "0")
        return self.run(*named, *options)

    def compare(self, *options: str) -> Finished:
        batch = str(self.done.artifacts)
        return self.call("compare", "--merge-base-of", "main", "--results", batch, *options)

    def judge(self, *options: str) -> dict[str, Any]:
        """The delta of the gate that has the history."""
        named = options or ("--history", str(self.history))
        delta: dict[str, Any] = json.loads(self.compare("--format", "json", *named).stdout)
        return delta

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace a text in a file, or put one at its end."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        text = file.read_text("utf-8") if file.exists() else ""
        file.write_text(text.replace(old, new) if old else text + new, "utf-8")

    def edit_history(self, **fields: Any) -> None:  # noqa: ANN401
        lines = read_history(self.history).lines
        for file in self.history.iterdir():
            file.unlink()
        write_history(self.history, [change(line, **fields) for line in lines])

    def forge(self, **fields: Any) -> None:  # noqa: ANN401
        """Let the artifact say otherwise."""
        data = self.done.results
        for row in data["results"]:
            row.update(fields)
        counts = {"total": 3, "pass": 0, "fail": 0, "infra_error": 0}
        data["summary"] = counts | {row["status"]: 3 for row in data["results"]}
        (self.done.artifacts / "results.json").write_text(json.dumps(data), encoding="utf-8")

    def _count(self) -> int:
        return len(self._starts.read_text("utf-8").split()) if self._starts.exists() else 0


def change(line: HistoryLine, **fields: Any) -> HistoryLine:  # noqa: ANN401
    return HistoryLine(**{name: getattr(line, name) for name in line.__struct_fields__} | fields)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made once; each test gets a copy."""
    folder = tmp_path_factory.mktemp("measured")
    Main(folder).make()
    return folder


@pytest.fixture
def main(measured: Path, tmp_path: Path) -> Main:
    shutil.copytree(measured, tmp_path, symlinks=True, dirs_exist_ok=True)
    found = Main(tmp_path)
    found.install(AGENT)
    return found


def test_a_change_that_no_agent_can_see_starts_none(main: Main) -> None:
    """Its rows count as measured, and say what stands for them; the gate's reports do too."""
    main.edit("app.py", "", "print(1)\n")
    assert main.reuse() == 0
    assert "reused from the history: 3 of 3 pairs" in main.done.stderr
    assert {row["status"] for row in main.rows} == {"pass"}
    assert {row["reused_from"]["run"][-6:] for row in main.rows} == {"runs/7"}

    delta = main.judge()
    assert delta["conclusion"] == "success"
    assert delta["counts"] == {"OK": 3}
    said = f"3 pairs were not run: reused from run 7 of {main.rows[0]['reused_from']['at'][:10]}"
    assert said in delta["measured_with"]
    assert said in main.compare("--history", str(main.history)).stdout
    assert "0 runs, 3 reused: 3 pass" in main.done.stdout
    assert delta["totals"]["trials"] == 0
    comment = main.compare("--history", str(main.history), "--format", "comment").stdout
    assert "0 runs, 3 pairs reused · measured at" in comment


@pytest.mark.parametrize(
    "path",
    [
        ".claude/skills/one/SKILL.md",
        ".claude/skills/one/scripts/find.sh",
        "AGENTS.md",
        ".claude/settings.json",
        "docs/rules.md",
        "tools/hook.sh",
        "routing.toml",
    ],
)
def test_what_an_agent_can_see_is_measured_again(main: Main, path: str) -> None:
    """Skills with all of their files, instructions, settings, and what these bring in."""
    main.edit(path, "", "# more\n")
    assert main.reuse() == 3


def test_only_the_edited_case_is_run(main: Main) -> None:
    """Its prompt and what it asks for both count."""
    main.edit("cases.json", "please load:one", "kindly load:one")
    assert main.reuse() == 1
    assert "1 run, 2 reused: 3 pass" in main.done.stdout
    main.edit("cases.json", '"two",\n', '"two",\n"expected_skill_min_tier": 2,\n')
    assert main.reuse() == 2


@pytest.mark.parametrize(
    "options",
    [("--provider-model", "claude:other"), ("--timeout-seconds", "200"), ("--max-turns", "9")],
)
def test_another_model_or_limit_is_measured_again(main: Main, options: tuple[str, str]) -> None:
    """They decide how an agent works."""
    assert main.reuse(*options) == 3


def test_another_version_of_the_cli_is_measured_again(main: Main) -> None:
    """The CLI is asked before any unit runs."""
    main.install(AGENT.replace("9.9.9", "9.10.0"))
    assert main.reuse() == 3


def test_with_tree_any_file_counts(main: Main) -> None:
    """For agents that look around before they choose."""
    options = ("--history", str(main.history), "--reuse", "tree", "--reuse-check", "0")
    assert main.run(*options) == 3
    remember(main.done.artifacts / "results.json", main.history)
    assert main.run(*options) == 0
    main.edit("app.py", "", "print(1)\n")
    assert main.run(*options) == 3


@pytest.mark.parametrize(
    ("fields", "cause"),
    [
        ({"at": "2020-01-01T00:00:00Z"}, "without a run in the last 14 days"),
        ({"at": "2999-01-01T00:00:00Z"}, "without a run in the last 14 days"),
        ({"passes": 0}, "that did not always pass in the last 14 days"),
        ({"trials": 2}, "that did not always pass in the last 14 days"),
        ({"fingerprint": None}, "without a fingerprint"),
        ({"fingerprint": "0" * 64}, "with another fingerprint"),
        ({"commit": ""}, "measured at an unknown commit"),
    ],
)
def test_only_a_recent_pass_of_all_trials_stands(
    main: Main, fields: dict[str, Any], cause: str
) -> None:
    """A failure is evidence that has to be seen; a flaky pair is no proof. The log says why."""
    main.edit_history(**fields)
    assert main.reuse() == 3
    assert f"reused from the history: 0 of 3 pairs; 3 {cause}" in main.done.stderr


def test_a_pass_of_more_trials_stands(main: Main) -> None:
    """It is more than what is asked for."""
    main.edit_history(trials=2, measured=2, passes=2)
    assert main.reuse() == 0


def test_an_agent_started_by_a_template_is_not_reused(main: Main, tmp_path: Path) -> None:
    """Its version is not known, so nothing says that it is the same agent; the log says so."""
    other = tmp_path / "bin" / "other"
    shutil.copy(tmp_path / "bin" / "claude", other)
    main.environ = {"AGENT_CLAUDE_TEMPLATE": f"{other} {{prompt}}"}
    assert main.reuse() == 3
    said = "without a fingerprint (claude is started by AGENT_CLAUDE_TEMPLATE, its version"
    assert f"0 of 3 pairs; 3 {said}" in main.done.stderr


def test_a_pair_that_also_failed_is_run(main: Main) -> None:
    """Also where its newest run passed: it is flaky."""
    first = read_history(main.history).lines[0]
    at = f"{first.at[:11]}00:00:00Z"
    write_history(main.history, [change(first, at=at, batch="b", passes=0)])
    assert main.reuse("--reuse-days", "2") == 1


def test_more_trials_than_were_measured_are_run(main: Main) -> None:
    """One pass does not stand for three."""
    assert main.reuse("--trials", "3") == 9
    assert "3 with fewer trials there than now" in main.done.stderr


def test_some_are_run_all_the_same(main: Main) -> None:
    """A service can change behind the same fingerprint."""
    assert main.reuse("--reuse-check", "100") == 3
    assert "0 of 3 pairs; 3 that could be, run as a check" in main.done.stderr


def test_without_a_history_all_is_run(main: Main) -> None:
    """The log says why; by default nothing is reused."""
    assert main.run("--reuse", "auto") == 3
    assert "no history was given" in main.done.stderr
    assert main.run("--history", str(main.history)) == 3


# ---- the gate


def test_a_reuse_is_proven_where_its_source_is_judged_beside_it(main: Main) -> None:
    """The lines of a judged batch are no record of it, but still say what it measured."""
    main.run()
    remember(main.done.artifacts / "results.json", main.history)
    first = str(main.done.artifacts)
    assert main.reuse() == 0
    assert {row["reused_from"]["batch"] for row in main.rows} == {Path(first).name}
    done = main.compare("--results", first, "--history", str(main.history))
    assert (done.code, "said to be reused, but" in done.stdout) == (0, False)


def test_g1_a_reuse_that_the_gates_own_history_does_not_show_is_missing(main: Main) -> None:
    """An artifact chooses no verdict: without the history none is believed.

    At a desk the results are one's own, and name the history that they were run with.
    """
    main.reuse()
    assert main.judge("--format", "json")["conclusion"] == "success"
    delta = main.judge("--commit", main.done.results["options"]["commit"])
    assert delta["conclusion"] == "failure"
    assert delta["counts"] == {"MISSING": 3}
    assert "no such pass" in delta["reasons"][0]
    why = "its reuse was rejected: the history that is read here (--history) has no such pass"
    assert {row["why"] for row in delta["rows"]} == {f"{why}; run it with --reuse never"}

    main.forge(reused_from={**main.rows[0]["reused_from"], "batch": "another"})
    assert main.judge()["counts"] == {"MISSING": 3}


@pytest.mark.parametrize(
    ("fields", "cause"),
    [
        ({"fingerprint": "0" * 64}, "something else was measured"),
        ({"trials": 0}, "no such pass"),
        ({"at": "2020-01-01T00:00:00Z"}, "no such pass"),
    ],
)
def test_g1_what_differs_from_the_history_is_missing(
    main: Main, fields: dict[str, Any], cause: str
) -> None:
    """The row must be of what was measured there, and when."""
    main.reuse()
    main.edit_history(**fields)
    delta = main.judge()
    assert delta["counts"] == {"MISSING": 3}
    assert cause in delta["reasons"][0]


def test_g1_what_is_too_old_by_the_gates_days_is_missing(main: Main) -> None:
    """The gate's own number decides."""
    at = (datetime.now(UTC) - timedelta(days=9)).isoformat()[:19] + "Z"
    main.edit_history(at=at)
    assert main.reuse() == 0
    assert main.judge()["counts"] == {"OK": 3}
    delta = main.judge("--history", str(main.history), "--reuse-days", "7")
    assert delta["counts"] == {"MISSING": 3}
    assert "more than 7 days before" in delta["reasons"][0]


def test_g1_what_the_change_can_move_is_never_reused(main: Main) -> None:
    """Even where artifact and history agree: git tells what the change edits."""
    main.reuse()
    main.edit(".claude/skills/one/SKILL.md", "Does one", "Does all")
    main.commit()
    delta = main.judge()
    assert delta["conclusion"] == "failure"
    assert delta["counts"] == {"MISSING": 3}
    assert "changed its description" in delta["reasons"][0]


def test_an_entry_of_the_baseline_moves_no_measurement(main: Main) -> None:
    """Its edit is judged by the reused pass."""
    main.edit("provider-baseline.json", '"pass"', '"fail"')
    assert main.reuse() == 0
    assert "MISSING" not in main.judge()["counts"]


def test_g1_a_failure_cannot_be_reused(main: Main) -> None:
    """Such a file is rejected."""
    main.reuse()
    main.forge(failure_kind="missing_required", status="fail")
    done = main.compare()
    assert done.code == 2
    assert "only a pass can be" in done.stderr
