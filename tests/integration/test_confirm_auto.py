"""`--confirm auto` from the outside: as few trials as decide, and a gate that decides by itself."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_line import ROOT, Finished, Project, loads
from tests.support.printed import find_commands
from tests.support.pull_request import NOTES, PullRequest, skill

AGENT = ROOT / "tests" / "fakes" / "wavering_agent.py"
OTHERS = 57
HISTORY = ("--history", "history")


class Field:
    """A project with pairs that all expect to pass, each with its own story."""

    def __init__(self, root: Path, **stories: str) -> None:
        """`stories` are the runs of each case; `steady` ones beside them always pass."""
        self.project = Project(root)
        (root / "starts").mkdir()
        words = [sys.executable, str(AGENT), str(root / "starts")]
        self.project.variables["AGENT_CLAUDE_TEMPLATE"] = f"{shlex.join(words)} {{prompt}}"
        cases = [loads(name, prompt=f"{name} runs:{runs}") for name, runs in stories.items()]
        self.project.write_cases(*cases, *(loads(f"rest-{n}") for n in range(OTHERS)))
        self.cases = ",".join(stories)
        self.write_baseline({name: {} for name in stories})

    def write_baseline(self, entries: dict[str, dict[str, Any]]) -> None:
        """With pairs that are not run, and share the chance of a false alarm."""
        known = {name: {"claude": {"expected_status": "pass", **more}}
                 for name, more in entries.items()}  # fmt: skip
        rest = {f"rest-{n}": {"claude": {"expected_status": "pass"}} for n in range(OTHERS)}
        path = self.project.root / "provider-baseline.json"
        path.write_text(json.dumps({**known, **rest}), encoding="utf-8")

    def write_history(self, **records: tuple[int, int]) -> None:
        """So many passes of so many trials, in one run of the default branch."""
        folder = self.project.root / "history"
        folder.mkdir()
        told = {"at": "2026-11-01T00:00:00Z", "commit": "c", "run": "1", "batch": "b"}
        lines = (
            {**told, "case_id": name, "agent": "claude", "passes": passes, "measured": trials,
             "trials": trials}
            for name, (passes, trials) in records.items()
        )  # fmt: skip
        text = "".join(f"{json.dumps(line)}\n" for line in lines)
        (folder / "2026-11.jsonl").write_text(text, encoding="utf-8")

    def run(self, *more: str) -> Finished:
        """All pairs, until they are decided."""
        return self.project.run("--confirm", "auto", "--case-id", self.cases, *more)

    def judge(self, *more: str) -> tuple[int, dict[str, dict[str, Any]], dict[str, Any]]:
        """The exit code, the rows of the delta by their cases, and all of it."""
        done = self.project.call("compare", "--format", "json", *more)
        delta = json.loads(done.stdout)
        rows = {row["case_id"]: row for row in delta["rows"] if row["agent"] == "claude"}
        return done.code, rows, delta


def count_trials(done: Finished) -> dict[str, int]:
    """How many trials each case had."""
    names = done.column("case_id")
    return {name: names.count(name) for name in dict.fromkeys(names)}


def test_a_pair_runs_until_it_is_decided_and_no_longer(tmp_path: Path) -> None:
    """What passes runs once, what broke as often as its record asks for."""
    field = Field(tmp_path, steady="P", broken="F", weak="FP", once="FPPPPP")
    field.write_history(steady=(30, 30), broken=(30, 30), weak=(70, 100), once=(30, 30))
    done = field.run(*HISTORY)
    assert count_trials(done) == {"steady": 1, "broken": 3, "weak": 2, "once": 6}
    options = done.results["options"]
    assert [options[name] for name in ("confirm", "detect", "false_alarm", "max_confirm")] == [
        "auto", 0.25, 0.01, 8,
    ]  # fmt: skip
    code, rows, delta = field.judge()
    assert code == 1
    assert {name: (row["kind"], row["gates"]) for name, row in rows.items()} == {
        "steady": ("OK", False),
        "broken": ("REGRESSION", True),
        "weak": ("OK", False),
        "once": ("OK", False),
    }
    assert rows["broken"]["chance"]["finding"] == "worse"
    assert delta["reasons"] == ["1 regression"]
    how = "each pair is judged by how often it passed before, as the results were run"
    assert f"{how}: --confirm auto --history history" in delta["notes"]


def test_with_fail_fast_nothing_starts_once_a_pair_is_proven_to_be_worse(tmp_path: Path) -> None:
    """It gets all trials that its proof needs; what may be chance ends nothing."""
    field = Field(tmp_path, once="FPPPPP", broken="F", later="P", last="F")
    field.write_history(once=(26, 30), broken=(27, 30), later=(30, 30), last=(30, 30))
    done = field.run(*HISTORY, "--fail-fast", "--max-parallel", "1")
    outcomes = dict(zip(done.column("case_id"), done.column("outcome"), strict=True))
    assert outcomes == {
        "once": "completed", "broken": "completed", "later": "not_run", "last": "not_run",
    }  # fmt: skip
    assert count_trials(done)["broken"] == 5
    assert "the gate is decided, since claude:broken failed 5 of 5" in done.column("error")[-1]
    _, rows, delta = field.judge()
    assert rows["broken"]["kind"] == "REGRESSION"
    assert delta["conclusion"] == "failure"
    assert delta["reasons"] == ["1 regression", "2 pairs were not run: the gate was decided"]
    assert delta["totals"]["trials"] == len([one for one in done.column("error") if not one])
    text = field.project.call("compare").stdout
    assert "claude:later" not in text


def test_a_red_row_says_its_numbers(tmp_path: Path) -> None:
    """So that a person can see how sure it is."""
    field = Field(tmp_path, broken="F", weak="FFFPP")
    field.write_history(broken=(29, 30), weak=(24, 30))
    field.run(*HISTORY)
    said = " ".join(field.project.call("compare").stdout.split())
    assert (
        "failed 4 of 4; before: 29 of 30; an unchanged pair does this once in 50,000 runs" in said
    )
    assert "NOT PROVEN claude:weak: wanted foo, got no skill" in said
    assert "failed 3 of 5; before: 24 of 30; an unchanged pair does this once in 24 runs" in said


def test_a_run_says_of_its_pairs_what_the_gate_will_say(tmp_path: Path) -> None:
    """What is not proven is red in neither, and nobody is told to try again by hand."""
    field = Field(tmp_path, weak="FFFPP")
    field.write_history(weak=(24, 30))
    done = field.run(*HISTORY)
    assert done.code == 0
    said = " ".join(done.stdout.split())
    assert "weak flaky 2/5" in said
    assert "NOT PROVEN claude:weak" in said
    assert "failed 3 of 5; before: 24 of 30" in said
    assert "verdict: no pair is proven to be worse than before" in said
    assert "--trials" not in said
    again = field.project.call("run", "--resume", done.artifacts.name)
    assert (again.code, "NOT PROVEN claude:weak" in again.stdout) == (0, True)
    assert field.judge()[0] == 0


def test_what_an_unchanged_pair_does_often_is_no_doubt(tmp_path: Path) -> None:
    """Two records that are nearly alike are judged alike."""
    field = Field(tmp_path, weaker="FPP", weak="FPP")
    field.write_history(weaker=(13, 20), weak=(14, 23))
    assert field.run(*HISTORY).code == 0
    kinds = {row["kind"] for row in field.judge()[1].values()}
    assert kinds == {"OK"}


def test_the_printed_rerun_is_judged_as_the_first_run_was(tmp_path: Path) -> None:
    """It names the test and the history; a rerun without them is said to undo the test."""
    field = Field(tmp_path, broken="F", weak="FP")
    field.write_history(broken=(30, 30), weak=(70, 100))
    first = field.run(*HISTORY)
    (again,) = find_commands(field.project.call("compare").stdout, "rerun")
    assert again.endswith("run --confirm auto --history history --agents claude --case-id broken")
    assert count_trials(field.project.call(*shlex.split(again)[1:])) == {"broken": 3}
    rerun = field.project.run("--case-id", "broken")
    both = ("--results", str(first.artifacts), "--results", str(rerun.artifacts))
    delta = field.judge(*both)[2]
    assert delta["notes"][0] == (
        f"all rows are judged by the majority, because {rerun.artifacts}/results.json was run "
        "without --confirm auto"
    )


def test_without_a_history_more_trials_are_needed(tmp_path: Path) -> None:
    """And the row says what was taken for the rate."""
    field = Field(tmp_path, broken="F")
    assert count_trials(field.run()) == {"broken": 7}
    said = " ".join(field.project.call("compare").stdout.split())
    assert "failed 7 of 7; before: not known, taken as 95%" in said


def test_without_the_test_a_row_says_what_the_history_knows(tmp_path: Path) -> None:
    """And how to use it."""
    field = Field(tmp_path, weak="F")
    field.write_history(weak=(13, 20))
    field.project.run("--case-id", "weak")
    said = " ".join(field.project.call("compare", *HISTORY).stdout.split())
    assert " run --agents claude --confirm auto --history history --case-id weak" in said
    assert "noise" not in said
    assert (
        "before: 13 of 20; run with --confirm auto and this --history to tell a fall from chance"
    ) in said


def test_what_is_not_proven_says_that_it_may_be_merged(tmp_path: Path) -> None:
    """The comment links the word to what it means, where there are links."""
    field = Field(tmp_path, weak="FFFPP")
    field.write_history(weak=(24, 30))
    field.run(*HISTORY)
    comment = field.project.call("compare", "--format", "comment").stdout
    assert "you may merge; a smaller fall is possible, so watch its history" in comment


def test_what_the_service_lost_says_nothing(tmp_path: Path) -> None:
    """A trial that could not be measured is neither for nor against the pair."""
    field = Field(tmp_path, broken="FEFF", lost="FE")
    field.write_history(broken=(30, 30), lost=(30, 30))
    done = field.run(*HISTORY, "--max-parallel", "1")
    assert count_trials(done) == {"broken": 4, "lost": 4}
    rows = field.judge(*HISTORY)[1]
    assert (rows["broken"]["kind"], rows["broken"]["measured"]) == ("REGRESSION", 3)
    # Its test came to no end, so that the majority of what was measured decides.
    assert (rows["lost"]["kind"], rows["lost"]["chance"]["finding"]) == ("REGRESSION", "open")


def test_the_gate_decides_by_its_own_settings(tmp_path: Path) -> None:
    """What a leg says that it was run by counts at a desk alone."""
    field = Field(tmp_path, weak="FPP")
    field.write_history(weak=(70, 100))
    done = field.run(*HISTORY)
    assert count_trials(done) == {"weak": 2}
    code, rows, _ = field.judge(*HISTORY)
    assert (code, rows["weak"]["kind"]) == (0, "OK")
    for asked in (("--confirm", "majority"), ("--commit", "0" * 40)):
        code, rows, delta = field.judge(*HISTORY, *asked)
        assert (code, rows["weak"]["kind"]) == (1, "REGRESSION")
        assert any("but judged by the majority of the trials" in note for note in delta["notes"])


def test_a_leg_that_ran_fewer_trials_makes_the_gate_no_laxer(tmp_path: Path) -> None:
    """One that was run without the test leaves its pairs to the majority."""
    field = Field(tmp_path, weak="F")
    field.write_history(weak=(70, 100))
    field.project.run("--case-id", field.cases)
    code, rows, delta = field.judge(*HISTORY, "--confirm", "auto")
    assert (code, rows["weak"]["kind"]) == (1, "REGRESSION")
    (note,) = (note for note in delta["notes"] if "but judged by" in note)
    assert "run without --confirm auto, but judged by --confirm auto --detect 0.25" in note


def test_a_flaky_pair_is_listed_and_red_after_its_date(tmp_path: Path) -> None:
    """The rate that its entry declares counts until then."""
    field = Field(tmp_path, weak="FFP")
    told = {"rate": 0.7, "until": "2999-12-31", "reason": "two skills are alike"}
    field.write_baseline({"weak": {"flaky": told}})
    assert count_trials(field.run()) == {"weak": 3}
    code, rows, delta = field.judge()
    assert (code, rows["weak"]["kind"]) == (0, "OK")
    listed = "weak on claude (0.7 until 2999-12-31: two skills are alike)"
    assert f"judged by the rate that the baseline declares: {listed}" in delta["notes"]
    field.write_baseline({"weak": {"flaky": {**told, "until": "2026-01-31"}}})
    code, rows, delta = field.judge()
    assert (code, rows["weak"]["kind"]) == (1, "EXPIRED")
    assert delta["reasons"] == ["1 flaky entry is past its date"]
    over = "declared flaky until 2026-01-31 (over): weak on claude (two skills are alike)"
    assert over in delta["notes"]


@pytest.mark.parametrize("runs", ["FFP", "P", "F"])
def test_a_run_says_that_a_flaky_entry_is_over_as_the_comparison_does(
    tmp_path: Path, runs: str
) -> None:
    """Whatever was measured: who sees a green run expects a green comparison."""
    field = Field(tmp_path, weak=runs, steady="P")
    told = {"rate": 0.7, "until": "2026-01-31", "reason": "two skills are alike"}
    field.write_baseline({"weak": {"flaky": told}, "steady": {}})
    done = field.run()
    said = " ".join(done.stdout.split())
    assert done.code == 1
    assert "EXPIRED claude:weak: its flaky entry ended 2026-01-31" in said
    assert "give it a later flaky.until there, in a reviewed change" in said
    assert "verdict: 1 flaky entry is over" in said
    assert "claude:steady" not in said
    again = field.project.call("run", "--resume", done.artifacts.name)
    assert (again.code, "EXPIRED claude:weak" in again.stdout) == (1, True)
    code, rows, _ = field.judge()
    assert (code, rows["weak"]["kind"]) == (1, "EXPIRED")


@pytest.mark.parametrize("is_added", [True, False])
def test_a_batch_is_no_history_of_itself(tmp_path: Path, is_added: bool) -> None:
    """Whether its lines are in the history already or not, every text is the same."""
    field = Field(tmp_path, broken="F", weak="FFFPP")
    field.write_history(broken=(29, 30), weak=(24, 30))
    done = field.run(*HISTORY)
    batch = str(done.artifacts)
    if is_added:
        assert field.project.call("history", *HISTORY, "--add", batch).code == 0
    code, rows, _ = field.judge(*HISTORY)
    assert code == 1
    chances = {name: rows[name]["chance"] for name in ("broken", "weak")}
    records = {name: (one["before_passes"], one["before_trials"]) for name, one in chances.items()}
    assert records == {"broken": (29, 30), "weak": (24, 30)}
    assert [len(rows[name]["history"]) for name in ("broken", "weak")] == [1, 1]
    comment = field.project.call("report", *HISTORY, "--format", "comment").stdout
    assert "29 of 30 trials passed in the last run of the default branch" in comment
    resumed = field.project.call("run", "--resume", done.artifacts.name).stdout
    assert "before: 29 of 30" in " ".join(resumed.split())


@pytest.mark.parametrize(("runs", "passed"), [("FFP", "1 of 3"), ("P", "1 of 1"), ("E", "")])
def test_a_flaky_entry_that_is_over_says_so_first_and_what_ends_it(
    tmp_path: Path, runs: str, passed: str
) -> None:
    """Whatever was measured; neither a run nor an acceptance is offered, since none helps."""
    field = Field(tmp_path, weak=runs)
    told = {"rate": 0.7, "until": "2026-01-31", "reason": "two skills are alike"}
    field.write_baseline({"weak": {"flaky": told}})
    field.run()
    this_run = f"{passed} passed" if passed else "not measured"
    said = f"its flaky entry ended 2026-01-31; this run: {this_run}"
    text = " ".join(field.project.call("compare").stdout.split())
    assert f"EXPIRED claude:weak: {said}" in text
    assert "gate: Routing gate failed" in text
    assert "1 flaky entry is past its date" in text
    assert (
        "sharpen the skill and remove flaky of weak › claude in provider-baseline.json, or give it "
        "a later flaky.until there, in a reviewed change; running again does not help"
    ) in text
    comment = field.project.call("compare", "--format", "comment").stdout
    assert said in comment
    for shown in (text, comment):
        assert not any(word in shown for word in ("baseline update", " run --", "no verdict"))


def test_a_killed_batch_goes_on_where_it_was(tmp_path: Path) -> None:
    """The trials that ended count, and the others follow."""
    field = Field(tmp_path, broken="F", once="FPPPPP")
    field.write_history(broken=(30, 30), once=(30, 30))
    whole = field.run(*HISTORY, "--max-parallel", "1")
    journal = whole.artifacts / "journal.jsonl"
    lines = journal.read_text("utf-8").splitlines(keepends=True)
    journal.write_text("".join(lines[:8]), encoding="utf-8")
    (whole.artifacts / "results.json").unlink()
    again = field.project.call("run", "--resume", whole.artifacts.name)
    assert count_trials(again) == count_trials(whole) == {"broken": 3, "once": 6}


@pytest.mark.parametrize("confirm", ["auto", "2"])
def test_without_a_baseline_nothing_is_run_again(tmp_path: Path, confirm: str) -> None:
    """A repository begins without one, and nothing is expected to pass yet."""
    field = Field(tmp_path, broken="F")
    (tmp_path / "provider-baseline.json").unlink()
    done = field.project.run("--case-id", "broken", "--confirm", confirm)
    assert done.code == 1
    assert count_trials(done) == {"broken": 1}


BAD_INPUT = {
    "--confirm": ("soon", "neither auto nor a number from 0 to 20"),
    "--false-alarm": ("1", "must be between 0 and 1"),
    "--detect": ("half", "must be between 0 and 1"),
    "--max-confirm": ("0", "0 is not in the range"),
    "--history": ("nowhere", "history"),
}


@pytest.mark.parametrize("option", ["--confirm", "--false-alarm", "--detect", "--max-confirm"])
def test_a_setting_that_makes_no_sense_is_an_error_of_use(tmp_path: Path, option: str) -> None:
    """With what may be written."""
    value, cause = BAD_INPUT[option]
    done = Field(tmp_path, steady="P").project.run(option, value)
    assert done.code == 2
    assert cause in done.stderr


def test_no_history_is_no_error_and_one_that_cannot_be_read_is(tmp_path: Path) -> None:
    """A repository begins without one."""
    field = Field(tmp_path, steady="P")
    done = field.run("--history", "nowhere")
    assert (done.code, "nowhere: is no folder" in done.stderr) == (2, True)
    (tmp_path / "history").mkdir()
    (tmp_path / "history" / "2026-01.jsonl").mkdir()
    done = field.run(*HISTORY)
    assert done.code == 4
    assert "the history in history cannot be read" in done.stderr


def look(change: PullRequest, *more: str, note: str = "near a skill that was") -> dict[str, int]:
    """The trials of each case, where pairs near an edited skill are looked at three times."""
    words = shlex.join(("--look", "3", "--changed-from", "main", *more))
    found = change.measure(confirm="auto", extra_arguments=words)
    assert note in found["stderr"]
    (file,) = Path(found["artifact-dir"]).glob("results.json")
    results = json.loads(file.read_text("utf-8"))
    assert results["options"]["look"] == 3
    names = [row["case_id"] for row in results["results"]]
    return {name: names.count(name) for name in dict.fromkeys(names)}


def test_pairs_near_an_edited_skill_are_looked_at_closer(change: PullRequest) -> None:
    """Those that want it; the others run once."""
    text = skill("deploying", "Bring a service to production, at any time.")
    change.propose({".claude/skills/deploying/SKILL.md": text})
    note = "run 3 times at once: 1 pair near a skill that was edited since main: deploy"
    assert look(change, note=note) == {"deploy": 3, "notes": 1}
    assert change.judge(confirm="auto").conclusion == "success"


def test_so_are_pairs_whose_prompt_is_near_to_what_the_skill_now_says(change: PullRequest) -> None:
    """A description that reaches for another skill's prompts."""
    change.propose({".claude/skills/deploying/SKILL.md": skill("deploying", NOTES)})
    assert look(change) == {"deploy": 3, "notes": 3}


def test_so_are_pairs_that_the_edited_skill_took_before(change: PullRequest) -> None:
    """The history knows them; an edit of the README brings none nearer."""
    change.propose({".claude/skills/deploying/SKILL.md": None, "README.md": "x"})
    line = {"at": "2026-11-01T00:00:00Z", "commit": "c", "run": "1", "batch": "b",
            "agent": "claude", "passes": 1, "measured": 1, "trials": 1}  # fmt: skip
    lines = ({**line, "case_id": "notes", "loaded": ["my:Deploying"]},)
    folder = change.folder / "history"
    folder.mkdir()
    text = "".join(f"{json.dumps(one)}\n" for one in lines)
    (folder / "2026-11.jsonl").write_text(text, encoding="utf-8")
    assert look(change, "--history", str(folder))["notes"] == 3
    plain = PullRequest(change.folder / "plain")
    plain.propose({"README.md": "x"})
    note = "no pair is run 3 times at once: none is near a skill edited since main"
    assert look(plain, note=note) == {"deploy": 1, "notes": 1}


@pytest.mark.parametrize("words", [("--look", "3"), ("--changed-from", "main")])
def test_a_look_needs_to_know_what_changed(tmp_path: Path, words: tuple[str, ...]) -> None:
    """Neither option means anything alone."""
    done = Field(tmp_path, steady="P").project.run(*words)
    assert done.code == 2
    assert "--look and --changed-from need each other" in done.stderr
