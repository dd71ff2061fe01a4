"""The comment tells in half a minute what happened, to whom, and what to do."""

from __future__ import annotations

import re

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from routing_action.corpus.baseline import Status
from routing_action.gate.conclusion import Conclusion
from routing_action.gate.model import Delta
from routing_action.gate.rules import DeltaKind
from routing_action.gate.wording import format_duration
from routing_action.github.publication import RunLinks
from routing_action.report.markdown import render_comment, render_superseded
from routing_action.report.view import GateOutcome, find_outcome
from tests.rendering import samples
from tests.rendering.samples import PLACE, SKILLS, entry, make, quiet, regression, sample_bodies
from tests.support.report_values import render_summary

LOST_SHARD = "claude: the results of shard 2/3 are missing"
BODIES = sample_bodies()


class Markdown(SingleFileSnapshotExtension):
    """One readable file for each comment."""

    file_extension = "md"
    _write_mode = WriteMode.TEXT


@pytest.mark.parametrize("name", sorted(BODIES))
def test_the_comments_are_as_reviewed(name: str, snapshot: SnapshotAssertion) -> None:
    """A change of what people see is seen in review."""
    assert BODIES[name] == snapshot(extension_class=Markdown, name=name)


@pytest.mark.parametrize(
    ("delta", "outcome", "alert"),
    [
        (samples.green(), GateOutcome.PASSED, ""),
        (samples.red(), GateOutcome.FAILED, "CAUTION"),
        (samples.new_coverage(), GateOutcome.FAILED, "CAUTION"),
        (samples.lost(), GateOutcome.ERROR, "CAUTION"),
        (samples.nothing_measured(), GateOutcome.NOT_MEASURED, "WARNING"),
        (samples.no_baseline(), GateOutcome.NO_BASELINE, "IMPORTANT"),
        (samples.unlike(), GateOutcome.NOT_COMPARABLE, "WARNING"),
        (samples.infra_only(), GateOutcome.PASSED, ""),
        (
            make([], Conclusion.FAILURE, ("nothing was measured",)),
            GateOutcome.NOT_MEASURED,
            "CAUTION",
        ),
        (
            make(
                list(samples.infra_only().rows),
                Conclusion.FAILURE,
                ("1 infra_error (--fail-on-infra)",),
            ),
            GateOutcome.FAILED,
            "CAUTION",
        ),
        (
            make(
                list(samples.nothing_measured().rows),
                Conclusion.FAILURE,
                ("9 pairs were not measured",),
            ),
            GateOutcome.NOT_MEASURED,
            "CAUTION",
        ),
        (
            make(quiet(), Conclusion.FAILURE, (LOST_SHARD,), errors=(LOST_SHARD,)),
            GateOutcome.ERROR,
            "CAUTION",
        ),
    ],
)
def test_each_outcome_is_told_apart(delta: Delta, outcome: GateOutcome, alert: str) -> None:
    """G4: failed, lost, not measured, not comparable and no baseline look and read differently."""
    assert find_outcome(delta) is outcome
    start = f"> [!{alert}]\n> **Routing " if alert else "✅ **Routing is as expected**: "
    assert render_comment(delta, PLACE).startswith(start)


def test_titles_of_all_outcomes_differ() -> None:
    """No two outcomes share their first line."""
    firsts = {name: re.findall(r"\*\*Routing[^*]*", body)[0] for name, body in BODIES.items()}
    outcomes = {(firsts[name], find_outcome(build())) for name, build in samples.SAMPLES.items()}
    assert len({first for first, _ in outcomes}) == len(outcomes)


def test_a_change_for_one_provider_that_breaks_another_is_named() -> None:
    """Better on codex, worse on claude."""
    body = render_comment(samples.mixed(), PLACE)
    line = "Helps one provider, breaks another**: `notes-from-tags` got better on `codex` and worse"
    assert line in body


def test_the_case_links_to_its_line_at_the_head() -> None:
    """A click leads to the case."""
    url = f"https://github.com/octo/demo/blob/{'b' * 40}/cases.json#L27"
    assert f"<br>[`notes-from-tags`]({url}) on `claude` |" in render_comment(samples.red(), PLACE)


def test_without_a_place_nothing_is_linked() -> None:
    """Outside a workflow run there is no address to lead to."""
    body = render_comment(samples.red(), RunLinks())
    assert "](" not in body
    assert "Run the red pairs again here" in body
    assert "--from RESULTS --cases notes-from-tags --agents claude" in body


def test_an_address_that_could_break_out_is_no_link() -> None:
    """The address of an artifact comes from elsewhere."""
    place = RunLinks(report_url="https://x.example/)[@octocat](https://y.example")
    assert "octocat" not in render_comment(samples.red(), place)
    script = RunLinks(report_url="javascript:alert(1)")
    assert "javascript" not in render_comment(samples.red(), script)


def test_what_could_not_be_measured_is_not_offered_to_be_accepted() -> None:
    """It is to be measured: an expectation of it would say nothing."""
    body = render_comment(samples.infra_only(), PLACE)
    assert "could not be measured" in body
    assert "accept it" not in body


@pytest.mark.parametrize("kind", [DeltaKind.NEW, DeltaKind.UNDECLARED, DeltaKind.REGRESSION])
def test_what_could_not_be_measured_is_not_offered_to_be_declared(kind: DeltaKind) -> None:
    """Neither as a command nor as an entry to write, of whatever kind the row is."""
    row = entry("lost", "codex", kind, gates=True, got=Status.INFRA_ERROR, failure_kind="auth")
    body = render_comment(make([row], Conclusion.FAILURE, ("1 pair",)), PLACE)
    evidence = body.partition("<details open><summary>🔴")[2].partition("</details>")[0]
    assert "Run again" in evidence
    for offer in ("accept it", "accept-regression", "Put it back", "expected_status"):
        assert offer not in evidence


def test_red_rows_stand_before_what_was_removed() -> None:
    """What needs work comes first."""
    gone = entry("old", "claude", DeltaKind.REMOVED, got=None, why="the case was removed")
    body = render_comment(make([gone, regression()], Conclusion.FAILURE, ("1 regression",)), PLACE)
    assert body.index("`notes-from-tags`") < body.index("`old`")


def test_the_evidence_sets_what_the_wanted_skill_says_beside_what_took_the_prompt() -> None:
    """Two descriptions that overlap explain most misroutes."""
    body = render_comment(samples.red(), PLACE)
    wanted = "- `writing-release-notes` (wanted) says: `Use when a release is being"
    assert body.index(wanted) < body.index("- `summarising-commits` says: `Use when asked what")
    other = samples.red().model_copy(
        update={"skills": tuple(s.model_copy(update={"agents": ("codex",)}) for s in SKILLS)}
    )
    assert " says: " not in render_comment(other, PLACE)  # claude was not offered these


def test_a_skill_that_a_sub_agent_loaded_is_told_apart() -> None:
    """In the table and in the evidence."""
    row = regression().model_copy(update={"subagent_skills": ("summarising-commits",)})
    body = render_comment(make([row], Conclusion.FAILURE, ("1 regression",)), PLACE)
    assert "got `summarising-commits` (in a sub-agent)<br>" in body
    assert "- **Loaded instead**: `summarising-commits` (in a sub-agent)\n" in body


def test_a_disallowed_skill_and_a_lost_pair_say_what_happened() -> None:
    """Each kind of red row has its own words and commands."""
    refused = regression().model_copy(update={"disallowed_hits": ("summarising-commits",)})
    body = render_comment(make([refused], Conclusion.FAILURE, ("1 regression",)), PLACE)
    assert "got `summarising-commits`, which is disallowed" in body
    assert "- **Used though disallowed**: `summarising-commits`" in body
    lost = render_comment(samples.lost(), PLACE)
    assert "This is **no verdict on the change**" in lost
    assert "./test.sh --agents codex --case-id triage-crash" in lost


def test_a_new_case_that_ran_out_of_time_can_be_declared_so() -> None:
    """The declaration holds all that the baseline needs."""
    late = entry("slow", "codex", DeltaKind.NEW, gates=True, got=Status.FAIL, timed_out=True)
    body = render_comment(make([late], Conclusion.FAILURE, ("1 new pair",)), PLACE)
    assert (
        '{"slow": {"codex": {"expected_status": "fail", "allow_timeout": true, "reason": "why"}}}'
    ) in body


def test_the_summary_unfolds_the_matrix() -> None:
    """The job's page has room for it."""
    assert "<details open><summary>All 5 cases on 3 agents: 13 pass, 2 fail<" in render_summary(
        samples.red(), PLACE
    )


def test_many_agents_and_long_notes_are_cut_with_a_count() -> None:
    """A delta from elsewhere can hold any number of anything."""
    agents = tuple(f"agent{n}" for n in range(30))
    rows = [entry("a", agent) for agent in agents]
    notes = tuple(f"note {n}" for n in range(9))
    body = render_comment(make(rows, agents=agents, notes=notes), PLACE)
    assert "1 case on 20 agents of 30: 30 pass<" in body
    assert "- and 4 more notes in `delta.json`" in body


def test_what_was_superseded_says_why_and_by_what() -> None:
    """R12: an old red comment does not stay when nothing ran later."""
    body = render_superseded(PLACE, "nothing was measured for the latest commit")
    assert body.startswith("> [!NOTE]\n> **Routing: the earlier result is superseded**: nothing")
    assert "[the latest run](https://github.com/octo/demo/actions/runs/4242/attempts/1)" in body
    assert "the latest run." in render_superseded(RunLinks(), "@octocat")
    assert "`@octocat`" in render_superseded(RunLinks(), "@octocat")


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [(0, "0.0 s"), (9_140, "9.1 s"), (245_000, "4 min 5 s"), (7_620_000, "2 h 7 min")],
)
def test_durations_are_short(milliseconds: int, text: str) -> None:
    """Two units at most."""
    assert format_duration(milliseconds) == text


@pytest.mark.parametrize("sign", ["#12", "@octocat", "a|b", "x`y", "<b>", "[a](b)"])
def test_r8_signs_in_names_break_no_table_and_ping_nobody(sign: str) -> None:
    """Each stands in a code span, and each row of the table keeps its cells."""
    row = regression(f"case {sign}", f"agent {sign}")
    text = render_comment(make([row], Conclusion.FAILURE), RunLinks())
    (line,) = [one for one in text.splitlines() if one.startswith("| 🔴")]
    assert len(re.findall(r"(?<!\\)\|", line)) == 3
    outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", line)
    assert sign not in outside
    assert sign.replace("|", "\\|") in line
