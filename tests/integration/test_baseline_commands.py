"""`baseline update` and `baseline check` from the outside."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from routing_action.results.batch_folder import render_results
from routing_action.results.model import OfferedSkill, UnitResult
from tests.support.command_line import ROOT, Finished, Project, loads
from tests.support.result_rows import make_results, make_row

ONE = """{
  "one": {
    "claude": {
      "expected_status": "pass",
      "allow_timeout": false
    }
  }
}
"""


LATER = (
    "takes effect when merged: the gate of this pull request stays red until then "
    "(a pair that is new in it counts at once)"
)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project with two cases and a baseline for the first."""
    project = Project(tmp_path)
    project.write_cases(loads("one"), loads("two"))
    (tmp_path / "provider-baseline.json").write_text(ONE, encoding="utf-8")
    return project


def measure(project: Project, *rows: UnitResult, folder: str = "batch", **changes: Any) -> str:  # noqa: ANN401 - any field
    """Results on disk; the folder's name."""
    path = project.root / folder / "results.json"
    path.parent.mkdir(parents=True)
    path.write_text(render_results(make_results(*rows, **changes)), encoding="utf-8")
    return folder


def numbered(*changes: dict[str, Any]) -> Sequence[UnitResult]:
    return [make_row(number, **fields) for number, fields in enumerate(changes, 1)]


def update(project: Project, *arguments: str) -> Finished:
    """`baseline update` from the folder `batch`."""
    return project.call("baseline", "update", "--from", "batch", *arguments)


def text_of(project: Project) -> str:
    return (project.root / "provider-baseline.json").read_text(encoding="utf-8")


def entry_of(project: Project, case_id: str = "one", agent: str = "claude") -> dict[str, Any]:
    entry: dict[str, Any] = json.loads(text_of(project))[case_id][agent]
    return entry


def expect(project: Project, **fields: Any) -> None:  # noqa: ANN401 - any field
    """Give the first case's entry other fields."""
    entry = {"expected_status": "pass", **fields}
    (project.root / "provider-baseline.json").write_text(
        json.dumps({"one": {"claude": entry}}, indent=2) + "\n", encoding="utf-8"
    )


def test_missing_pairs_are_added_in_the_files_style(project: Project) -> None:
    """What was measured is declared, whether it passed or not."""
    rows = numbered(
        {"case_id": "two", "status": "fail", "failure_kind": "missing_required"},
        {"case_id": "two", "agent": "codex"},
    )
    measure(project, *rows)
    done = update(project)
    assert (done.code, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "+ two claude: fail (missing_required)",
        "+ two codex: pass",
        "provider-baseline.json: 2 added",
    ]
    assert text_of(project) == ONE.replace(
        "  }\n}",
        """  },
  "two": {
    "claude": {
      "expected_status": "fail",
      "allow_timeout": false
    },
    "codex": {
      "expected_status": "pass",
      "allow_timeout": false
    }
  }
}""",
    )


def test_a_file_in_another_layout_is_laid_out_once_and_said_so(project: Project) -> None:
    """The first update touches every line; the next ones only what they change."""
    path = project.root / "provider-baseline.json"
    path.write_text(json.dumps({"two": {"b": {"expected_status": "fail", "reason": "weak"}},
                                **json.loads(ONE)}), encoding="utf-8")  # fmt: skip
    measure(project, *numbered({"agent": "codex"}))
    assert update(project).stdout.splitlines()[-1] == (
        "provider-baseline.json: 1 added; the whole file is laid out anew: sorted, one field a line"
    )
    assert list(json.loads(text_of(project))) == ["one", "two"]
    assert entry_of(project, "two", "b")["reason"] == "weak"
    measure(project, *numbered({"agent": "copilot"}), folder="more")
    again = project.call("baseline", "update", "--from", "more")
    assert again.stdout.splitlines()[-1] == "provider-baseline.json: 1 added"


def test_an_improvement_is_raised_and_loses_its_reason(project: Project) -> None:
    """A fixed weakness is locked in."""
    expect(project, expected_status="fail", reason="weak")
    measure(project, make_row())
    done = update(project)
    assert (done.code, "~ one claude: fail -> pass\n" in done.stdout) == (0, True)
    assert entry_of(project) == {"expected_status": "pass", "allow_timeout": False}


def test_an_expected_infra_error_becomes_what_was_measured(project: Project) -> None:
    """Also a fail is better known than nothing; its reason stays for the reviewer."""
    expect(project, expected_status="infra_error", reason="no licence")
    measure(project, *numbered({"status": "fail"}))
    assert "~ one claude: infra_error -> fail" in update(project).stdout
    assert entry_of(project) == {
        "expected_status": "fail",
        "allow_timeout": False,
        "reason": "no licence",
    }


@pytest.mark.parametrize(
    ("row", "told"),
    [
        (
            {"status": "fail", "failure_kind": "missing_required"},
            "expected pass, got fail (missing_required)",
        ),
        (
            {"status": "infra_error", "failure_kind": "quota"},
            "expected pass, got infra_error (quota)",
        ),
        ({"timed_out": True}, "expected pass, got pass (timed out)"),
        (
            {"case_id": "two", "status": "infra_error"},
            "infra_error, which needs --accept-regression",
        ),
        ({"case_id": "two", "timed_out": True}, "pass (timed out), which needs"),
        ({"case_id": "three"}, "the cases file has no such case"),
    ],
)
def test_nothing_is_lowered_by_itself(project: Project, row: dict[str, Any], told: str) -> None:
    """A regression is refused with its reason, and the file stays as it is."""
    measure(project, *numbered(row))
    done = update(project)
    assert done.code == 1
    assert f"! {row.get('case_id', 'one')} claude: rejected: {told}" in done.stdout
    assert "1 rejected" in done.stdout
    assert text_of(project) == ONE


@pytest.mark.parametrize(
    ("row", "entry", "told"),
    [
        ({"status": "fail"}, {"expected_status": "fail", "allow_timeout": False}, "pass -> fail"),
        (
            {"status": "infra_error"},
            {"expected_status": "infra_error", "allow_timeout": False},
            "pass -> infra_error",
        ),
        (
            {"timed_out": True},
            {"expected_status": "pass", "allow_timeout": True},
            "allow_timeout -> true",
        ),
        (
            {"status": "fail", "timed_out": True},
            {"expected_status": "fail", "allow_timeout": True},
            "pass -> fail, allow_timeout -> true",
        ),
    ],
)
def test_a_regression_is_accepted_with_a_reason(
    project: Project, row: dict[str, Any], entry: dict[str, Any], told: str
) -> None:
    """The reason stands in the file, where a reviewer sees it."""
    measure(project, *numbered(row))
    done = update(project, "--accept-regression", "--reason", "known: see docs")
    assert (done.code, done.stdout.splitlines()) == (
        0,
        [
            f'~ one claude: {told}, reason "known: see docs"',
            "provider-baseline.json: 1 changed",
            LATER,
        ],
    )
    assert entry_of(project) == {**entry, "reason": "known: see docs"}


def test_an_infra_error_is_added_with_a_reason_alone(project: Project) -> None:
    """A pair that nobody can measure can be declared so."""
    measure(project, *numbered({"case_id": "two", "status": "infra_error"}))
    assert update(project, "--accept-regression", "--reason", "no licence").code == 0
    assert entry_of(project, "two")["reason"] == "no licence"


def test_an_infra_error_leaves_an_expected_fail_alone(project: Project) -> None:
    """Not being measured says nothing, even where regressions are accepted."""
    expect(project, expected_status="fail", reason="weak")
    before = text_of(project)
    measure(project, *numbered({"status": "infra_error"}))
    done = update(project, "--accept-regression", "--reason", "x")
    assert (done.code, text_of(project)) == (0, before)
    assert "= one claude: stays fail, as it could not be measured" in done.stdout
    assert "nothing to change" in done.stdout


def test_a_flaky_pair_is_not_raised(project: Project) -> None:
    """Two of three is no lasting improvement."""
    expect(project, expected_status="fail", reason="weak")
    measure(project, *numbered({"trial": 1}, {"trial": 2, "status": "fail"}, {"trial": 3}))
    done = update(project)
    assert (done.code, entry_of(project)["expected_status"]) == (0, "fail")
    assert "= one claude: stays fail, as it is flaky: 2 of 3 trials passed" in done.stdout


def test_a_flaky_pair_that_times_out_keeps_its_status(project: Project) -> None:
    """Accepting the timeout does not raise it."""
    expect(project, expected_status="fail", reason="weak")
    measure(
        project,
        *numbered({"trial": 1}, {"trial": 2, "status": "fail", "timed_out": True}, {"trial": 3}),
    )
    assert update(project, "--accept-regression", "--reason", "slow").code == 0
    assert entry_of(project) == {
        "expected_status": "fail",
        "allow_timeout": True,
        "reason": "slow",
    }


def test_the_same_results_twice_change_nothing(project: Project) -> None:
    """G1: an update is stable."""
    measure(project, *numbered({"case_id": "one"}, {"case_id": "two"}))
    update(project)
    before = text_of(project)
    stamp = (project.root / "provider-baseline.json").stat().st_mtime_ns
    done = update(project)
    assert (done.code, "nothing to change" in done.stdout, text_of(project)) == (0, True, before)
    assert (project.root / "provider-baseline.json").stat().st_mtime_ns == stamp


def test_a_fingerprint_is_recorded_on_demand(project: Project) -> None:
    """G6: version, model, corpus and date; a date alone is no news."""
    measure(project, *numbered({"cli_version": "2.1.0", "model": "large"}))
    done = update(project, "--record-fingerprint")
    assert "~ one claude: fingerprint\n" in done.stdout
    made_with = entry_of(project)["made_with"]
    assert made_with.pop("recorded_on") > "2026"
    assert made_with == {"cli_version": "2.1.0", "model": "large", "corpus_sha256": "0" * 64}
    assert text_of(project).count("\n") == ONE.count("\n") + 6
    assert "nothing to change" in update(project, "--record-fingerprint").stdout
    assert "nothing to change" in update(project).stdout


def test_a_changed_entry_does_not_keep_an_old_fingerprint(project: Project) -> None:
    """G6: what was recorded with another version is recorded anew."""
    expect(project, expected_status="fail", made_with={"cli_version": "1.0.0"})
    measure(project, *numbered({"cli_version": "2.1.0"}))
    update(project)
    assert entry_of(project)["made_with"]["cli_version"] == "2.1.0"


def test_filters_choose_cases_and_agents(project: Project) -> None:
    """The command that a report names updates that case alone."""
    rows = [{"case_id": c, "agent": a} for c in ("one", "two") for a in ("claude", "codex")]
    measure(project, *numbered(*rows))
    done = update(project, "--cases", "TWO", "--agents", "codex")
    assert done.stdout.splitlines()[0] == "+ two codex: pass"
    assert json.loads(text_of(project)).keys() == {"one", "two"}
    done = update(project, "--cases", "three")
    assert (done.code, "no result of case 'three'" in done.stderr) == (2, True)
    assert "remedy: measured: one, two" in done.stderr


def test_a_new_file_is_sorted_and_never_replaces_one(project: Project) -> None:
    """--init is for the first time."""
    measure(project, *numbered({"case_id": "two"}, {"case_id": "one", "agent": "codex"}))
    done = update(project, "--init")
    assert (done.code, "exists already" in done.stderr, "--baseline FILE" in done.stderr) == (
        2, True, True)  # fmt: skip
    (project.root / "provider-baseline.json").unlink()
    assert "routing-action baseline update --init --from DIR" in update(project).stderr
    assert update(project, "--init").code == 0
    assert list(json.loads(text_of(project))) == ["one", "two"]
    assert text_of(project).startswith('{\n  "one": {\n    "codex": {\n      "expected_status"')


def test_a_new_file_stands_beside_the_cases(tmp_path: Path) -> None:
    """The earlier harness's place is kept where the cases are there."""
    project = Project(tmp_path)
    folder = tmp_path / "tests" / "agent-routing"
    folder.mkdir(parents=True)
    (folder / "cases.json").write_text(json.dumps([loads("one")]), encoding="utf-8")
    measure(project, make_row())
    assert update(project, "--init").code == 0
    assert (folder / "provider-baseline.json").is_file()


def test_pruning_removes_what_has_no_case(project: Project) -> None:
    """With or without results."""
    project.write_cases(loads("two"))
    done = project.call("baseline", "update", "--prune")
    assert (done.code, done.stdout.splitlines()[0]) == (0, "- one claude: the case is gone")
    assert json.loads(text_of(project)) == {}
    measure(project, *numbered({"case_id": "two"}))
    assert update(project, "--prune").code == 0
    assert list(json.loads(text_of(project))) == ["two"]


GONE = '\n\t"gone": {"claude": {"expected_status": "pass"}} ,'
LOOSE = f"""{{ "two" :{{"codex": {{"expected_status":"fail", "reason" : "é, }}"}} }},{GONE}
  "one": {{"a": {{"expected_status": "pass"}},   "claude":
  {{"expected_status": "pass"}}, "b": {{"expected_status": "pass"}}
}}}}

"""
A, B = '"a": {"expected_status": "pass"},   ', ', "b": {"expected_status": "pass"}'


@pytest.mark.parametrize(
    ("arguments", "cut"),
    [
        (("--prune",), (GONE,)),
        (("--prune-agents", "codex"), (LOOSE[1 : LOOSE.index(GONE)],)),
        (("--prune-agents", "a"), (A,)),
        (("--prune-agents", "b"), (B,)),
        (("--prune", "--prune-agents", "a,b"), (GONE, A, B)),
    ],
)
def test_pruning_touches_nothing_but_what_it_prunes(
    project: Project, arguments: tuple[str, ...], cut: tuple[str, ...]
) -> None:
    """Order and layout of the others stay, whatever the newest batch measured."""
    (project.root / "provider-baseline.json").write_text(LOOSE, encoding="utf-8")
    measure(project, *numbered({}), folder="tests/agent-routing/artifacts/batch")
    done = project.call("baseline", "update", *arguments)
    expected = LOOSE
    for text in cut:
        expected = expected.replace(text, "")
    assert (done.code, "laid out anew" in done.stdout) == (0, False), done.stderr
    assert "".join(text_of(project).split()) == "".join(expected.split())
    assert "newest batch" not in done.stderr


def test_pruning_needs_the_cases(project: Project) -> None:
    """Without a case file every entry would be gone; other updates do without."""
    (project.root / "cases.json").unlink()
    assert project.call("baseline", "update", "--prune").code == 2
    assert text_of(project) == ONE
    measure(project, make_row())
    assert update(project).code == 0


def test_an_artifacts_folder_of_several_legs_is_taken_together(project: Project) -> None:
    """R1: the highest attempt of each key counts."""
    measure(project, *numbered({"status": "fail"}), folder="batch/routing-results-claude-a1")
    measure(project, *numbered({"case_id": "one"}), folder="batch/routing-results-claude-a2")
    measure(project, *numbered({"agent": "codex"}), folder="batch/routing-results-codex-a1")
    assert update(project).stdout.splitlines()[0] == "+ one codex: pass"


def test_of_a_folder_of_several_batches_the_newest_of_each_pair_counts(project: Project) -> None:
    """As the help promises, whatever the folders are called."""
    old, new = "2026-01-01T00:00:00.000Z", "2026-01-02T00:00:00.000Z"
    two = {"case_id": "two"}
    measure(project, *numbered(two), folder="batch/a", generated_at_utc=new)
    measure(project, *numbered({**two, "status": "fail"}, {"case_id": "one"}), folder="batch/b",
            generated_at_utc=old)  # fmt: skip
    done = update(project, "--cases", "two")
    assert (done.code, done.stdout.splitlines()[0]) == (0, "+ two claude: pass"), done.stdout


def test_a_pair_that_was_measured_before_the_skills_changed_is_not_written(
    project: Project,
) -> None:
    """A rerun of some pairs after an edit of a skill says nothing about the others."""
    skill = OfferedSkill(
        name="foo", agents=("claude",), path=".claude/skills/foo", description="Old."
    )
    edited = skill.model_copy(update={"description": "New."})
    for day, case_id, offered in ((1, "two", skill), (2, "one", edited)):
        measure(project, *numbered({"case_id": case_id}), folder=f"batch/{day}",
                generated_at_utc=f"2026-01-0{day}T00:00:00.000Z",
                skills=(offered,))  # fmt: skip
    done = update(project)
    told = "! two claude: rejected: measured before the skills changed; run it again"
    assert (done.code, done.stdout.splitlines()[0]) == (1, told), done.stdout
    assert text_of(project) == ONE


def test_an_unknown_case_is_named_whatever_else_is_wrong(project: Project) -> None:
    """In one sentence, with the name that was meant."""
    measure(project, *numbered({"case_id": "two"}), complete=False)
    done = update(project, "--cases", "tow")
    assert done.code == 2
    assert "no result of case 'tow'" in done.stderr
    assert "did you mean two?" in done.stderr
    assert text_of(project) == ONE


def test_a_real_run_can_be_recorded(project: Project) -> None:
    """What `run` writes is what `update` reads."""
    artifacts = project.run().artifacts
    done = project.call("baseline", "update", "--from", str(artifacts / "results.json"))
    assert (done.code, "+ two claude: pass" in done.stdout) == (0, True)


def test_a_link_stays_a_link(project: Project) -> None:
    """What it leads to is written."""
    real = project.root / "real.json"
    (project.root / "provider-baseline.json").rename(real)
    (project.root / "provider-baseline.json").symlink_to(real)
    measure(project, *numbered({"case_id": "two"}))
    assert update(project).code == 0
    assert (project.root / "provider-baseline.json").is_symlink()
    assert "two" in json.loads(real.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "holds no batch"),
        (("--repo", "a/b"), "leave it out, or name the run too"),
        (("--from", "batch", "--from-run", "1"), "leave one of them out"),
        (("--from", "batch", "--accept-regression"), 'for example: --reason "'),
        (("--from", "batch", "--accept-regression", "--reason", " "), 'for example: --reason "'),
        (("--from", "batch", "--reason", "a\nb"), "write one line"),
        (("--from", "batch", "--reason", "x" * 501), "at most 500 characters"),
        (("--from", "nowhere"), "name a batch's folder"),
    ],
)
def test_what_cannot_be_done_is_usage(
    project: Project, arguments: tuple[str, ...], told: str
) -> None:
    """Exit 2 and the next step."""
    done = project.call("baseline", "update", *arguments)
    assert (done.code, told in done.stderr) == (2, True), done.stderr


BAD_BASELINES: dict[str, tuple[str | bytes, str, str]] = {
    "no json": ("{", "no valid JSON", "add the missing }"),
    "list": ("[]", "must be an object", "CASE_ID"),
    "empty case": ('{"one": {}}', "field one: names no provider", "remove the case"),
    "status": ('{"one": {"claude": {"expected_status": "ok"}}}',
               "field one.claude.expected_status: unknown status 'ok'", "remedy:"),
    "field": ('{"one": {"claude": {"expected_status": "pass", "reasons": ""}}}',
              "field one.claude.reasons: unknown field", "did you mean reason?"),
    "twice": ('{"one": {"claude": {"expected_status": "pass"}}, "one": {}}',
              "field one: the key 'one' is given twice", "keep one"),
    "type": ('{"one": {"claude": {"expected_status": "pass", "allow_timeout": "no"}}}',
             "field one.claude.allow_timeout: must be true or false", "without quotes"),
    "latin": (b'{"caf\xe9": 1}', "not UTF-8 text", "save the file as UTF-8"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_BASELINES)
@pytest.mark.parametrize("command", ["check", "update"])
def test_a_malformed_baseline_is_explained(project: Project, name: str, command: str) -> None:
    """Exit 2, file, field and remedy, no traceback, and the file is left alone."""
    text, cause, remedy = BAD_BASELINES[name]
    content = text if isinstance(text, bytes) else text.encode()
    path = project.root / "provider-baseline.json"
    path.write_bytes(content)
    measure(project, make_row())
    done = update(project) if command == "update" else project.call("baseline", "check")
    assert (done.code, done.stdout, "Traceback" in done.stderr) == (2, "", False)
    assert f"routing-action: error: {path}:1: " in done.stderr
    assert cause in done.stderr
    assert remedy in done.stderr
    assert path.read_bytes() == content


GOOD_ROW = json.loads(render_results(make_results(make_row())))["results"][0]
BAD_RESULTS: dict[str, tuple[str, str]] = {
    "empty": ("", "no valid JSON"),
    "list": ("[]", "field schema_version: is missing"),
    "newer": ('{"schema_version": 2}', "schema_version: is 2"),
    "status": (json.dumps({**GOOD_ROW, "status": "ok"}), "results[0].status: must be"),
    "missing": (json.dumps({k: v for k, v in GOOD_ROW.items() if k != "agent"}),
                "field results[0].agent: is missing"),
    "type": (json.dumps({**GOOD_ROW, "trial": "1"}), "results[0].trial: must be a valid"),
    "trial": (json.dumps({**GOOD_ROW, "trial": 0}), "field results[0].trial: must be gr"),
    "twice": (json.dumps(GOOD_ROW) + "," + json.dumps(GOOD_ROW), "field results[1].trial:"),
    "no name": (json.dumps({**GOOD_ROW, "case_id": ""}), "field results[0].case_id: is empty"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_RESULTS)
def test_malformed_results_are_explained(project: Project, name: str) -> None:
    """Exit 2, file, field and remedy, no traceback; the baseline is left alone."""
    text, cause = BAD_RESULTS[name]
    measure(project)
    path = project.root / "batch" / "results.json"
    if text.startswith(('{"unit', '{"agent')):
        text = path.read_text(encoding="utf-8").replace('"results": []', f'"results": [{text}]')
    path.write_text(text, encoding="utf-8")
    done = update(project)
    assert (done.code, done.stdout, "Traceback" in done.stderr) == (2, "", False), done.stderr
    assert "routing-action: error: batch/results.json" in done.stderr
    assert cause in done.stderr
    assert "remedy: " in done.stderr
    assert text_of(project) == ONE


def test_a_hostile_result_cannot_write_to_the_terminal(project: Project) -> None:
    """Names from an artifact are shown escaped."""
    measure(project, *numbered({"case_id": "x\u001b[31m\nok"}))
    (project.root / "cases.json").unlink()
    done = update(project)
    assert "+ x\\x1b[31m\\nok claude: pass" in done.stdout


# --- check ------------------------------------------------------------------------------------


def check(project: Project, *arguments: str) -> tuple[int, list[str], dict[str, Any]]:
    """Exit code, text lines and JSON of `baseline check`."""
    text = project.call("baseline", "check", *arguments)
    as_json = project.call("baseline", "check", *arguments, "--format", "json")
    assert text.code == as_json.code
    return text.code, text.stdout.splitlines(), json.loads(as_json.stdout)


def test_check_names_missing_pairs_and_how_to_add_them(project: Project) -> None:
    """For the agents that the baseline names, one line a case; with the line of the case."""
    code, lines, described = check(project)
    assert code == 1
    assert lines[0] == (
        "cases.json:1: error: two: no baseline entry for claude; measure it with "
        "`routing-action run --case-id two --agents claude`, then "
        "`routing-action baseline update --cases two`"
    )
    assert lines[1].endswith("provider-baseline.json: 1 entry, 1 error, 0 warnings")
    assert [found["rule"] for found in described["errors"]] == ["missing-entry"]
    code, lines, described = check(project, "--agents", "claude,codex")
    assert [(one["case_id"], one["provider"]) for one in described["errors"]] == [
        ("one", "codex"),
        ("two", "claude,codex"),
    ]
    assert "provider-baseline.json:3: error: one: no baseline entry for codex" in lines[0]


def test_check_names_strangers_and_what_is_unexplained(project: Project) -> None:
    """Each with its line; expected failures and time-outs without a reason are warnings alone."""
    late = '{"expected_status": "pass", "allow_timeout": true}'
    fail = '{"expected_status": "fail"}'
    (project.root / "provider-baseline.json").write_text(
        f'{{"one": {{"claude": {late},\n"claud": {fail}}},\n"TWO": {{"claude": {fail}}},\n'
        f'"gone": {{"claude": {{"expected_status": "infra_error", "reason": "x"}},\n'
        f'"ten": {{"expected_status": "pass"}}}}, "two": {{"claude": {fail}}}}}',
        encoding="utf-8",
    )
    code, lines, described = check(project)
    assert code == 1
    prune = "routing-action baseline update --prune"
    assert [line.partition("baseline.json:")[2] for line in lines[:-1]] == [
        "1: warning: one on claude: allow_timeout is true without a reason; give one",
        "2: error: claud: no such agent CLI (1 entry); did you mean claude?",
        "2: warning: one on claud: fail is expected without a reason; say why, for reviewers",
        "3: error: TWO: no such case (1 entry); did you mean two?",
        "3: warning: TWO on claude: fail is expected without a reason; say why, for reviewers",
        f"4: error: gone: no such case (2 entries); remove it with `{prune}`",
        f"5: error: ten: no such agent CLI (1 entry); remove it with `{prune}-agents ten`",
        "5: warning: two on claude: fail is expected without a reason; say why, for reviewers",
    ]
    assert (len(described["errors"]), len(described["warnings"])) == (4, 4)


MISSPELT = {
    "agent": ({"cluade": 16}, "cluade: no such agent CLI (16 entries)", "claude"),
    "one of two agents": (
        {"claude": 16, "codexx": 16},
        "codexx: no such agent CLI (16",
        "codex",
    ),
    "agent in some entries": (
        {"claude": 16, "copliot": 3},
        "copliot: no such agent CLI (3",
        "copilot",
    ),
}


@pytest.mark.parametrize("name", MISSPELT)
def test_a_misspelt_agent_is_one_error(project: Project, name: str) -> None:
    """Neither each of its entries is an error, nor each pair that it was to be the entry of."""
    agents, cause, meant = MISSPELT[name]
    cases = [f"case-{number}" for number in range(16)]
    project.write_cases(*map(loads, cases))
    entries = {
        case: {agent: {"expected_status": "pass"} for agent, most in agents.items() if place < most}
        for place, case in enumerate(cases)
    }
    path = project.root / "provider-baseline.json"
    path.write_text(json.dumps(entries), encoding="utf-8")
    _, lines, described = check(project)
    errors = [one for one in described["errors"] if one["rule"] == "unknown-provider"]
    assert len(errors) == 1
    assert cause in lines[0]
    assert lines[0].endswith(f"did you mean {meant}?")
    missing = [one for one in described["errors"] if one["rule"] == "missing-entry"]
    assert len(missing) == (13 if name == "agent in some entries" else 0)


@pytest.mark.parametrize("name", ["tow", "TWO", "two-"])
def test_a_misspelt_case_is_one_error(project: Project, name: str) -> None:
    """Its entries on every agent, and those that the case seems to lack, are one mistake."""
    entry = {"claude": {"expected_status": "pass"}, "codex": {"expected_status": "pass"}}
    path = project.root / "provider-baseline.json"
    path.write_text(json.dumps({"one": entry, name: entry}, indent=1), encoding="utf-8")
    code, lines, _ = check(project)
    assert code == 1
    assert [line.partition("baseline.json:")[2] for line in lines[:-1]] == [
        f"11: error: {name}: no such case (2 entries); did you mean two?"
    ]


def test_check_passes_with_warnings_alone(project: Project) -> None:
    """An expected failure without a reason stops nobody."""
    project.write_cases(loads("one"))
    expect(project, expected_status="fail")
    code, lines, described = check(project)
    assert (code, len(lines), described["warnings"][0]["rule"]) == (0, 2, "no-reason")


@pytest.mark.parametrize(
    ("days", "rule"),
    [(-1, "flaky-over"), (0, "flaky-ends-soon"), (14, "flaky-ends-soon"), (16, "")],
)
def test_check_warns_of_an_excuse_that_is_over_or_ends_soon(
    project: Project, days: int, rule: str
) -> None:
    """Before the gate is red for it."""
    project.write_cases(loads("one"))
    until = (datetime.now(UTC) + timedelta(days=days)).date().isoformat()
    flaky = {"rate": 0.7, "until": until, "reason": "two skills are alike"}
    expect(project, expected_status="pass", flaky=flaky)
    code, lines, described = check(project)
    assert (code, [one["rule"] for one in described["warnings"]]) == (0, [rule] if rule else [])
    assert not rule or until in lines[0]


def test_an_empty_baseline_lacks_the_default_agents(project: Project) -> None:
    """A first baseline is told what it needs."""
    (project.root / "provider-baseline.json").write_text("{}", encoding="utf-8")
    code, _, described = check(project)
    wanted = {found["provider"] for found in described["errors"]}
    assert (code, wanted) == (1, {"claude,codex,copilot"})


def test_this_repositorys_own_baseline_is_complete(project: Project) -> None:
    """We follow our own advice."""
    done = project.call("baseline", "check", "--cases", str(ROOT / "cases.json"),
                        "--baseline", str(ROOT / "provider-baseline.json"))  # fmt: skip
    assert done.code == 0, done.stdout


def test_a_missing_baseline_names_the_command_that_makes_one(project: Project) -> None:
    """Exit 2 and the next step."""
    (project.root / "provider-baseline.json").unlink()
    done = project.call("baseline", "check")
    assert (done.code, "baseline update --init --from DIR" in done.stderr) == (2, True)


def test_an_agent_that_is_no_longer_measured_is_taken_out_whole(project: Project) -> None:
    """Its entries alone go; one that has none is a slip."""
    both = {"claude": {"expected_status": "pass"}, "codex": {"expected_status": "pass"}}
    path = project.root / "provider-baseline.json"
    path.write_text(json.dumps({"one": both, "two": both}, indent=2) + "\n", encoding="utf-8")
    done = project.call("baseline", "update", "--prune-agents", "Codex")
    assert (done.code, "2 removed" in done.stdout) == (0, True), done.stderr
    assert json.loads(text_of(project)) == {
        case: {"claude": {"expected_status": "pass"}} for case in ("one", "two")
    }
    again = project.call("baseline", "update", "--prune-agents", "codex")
    assert (again.code, "the baseline has no entry of 'codex'" in again.stderr) == (2, True)
    assert "remedy: its agents are: claude" in again.stderr


@pytest.mark.parametrize(
    "reason", ["TEXT", "WHY", "why, for example: the new skill is meant to take it"]
)
def test_the_placeholder_of_a_reason_is_no_reason(project: Project, reason: str) -> None:
    """A command of the report, copied as it stands, says nothing to whoever reads it later."""
    done = project.call("baseline", "update", "--prune", "--reason", reason)
    assert done.code == 2
    assert "the reason is a placeholder" in done.stderr
