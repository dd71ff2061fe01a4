"""What a person reads at the end of a run."""

from __future__ import annotations

import re

import pytest
from syrupy.assertion import SnapshotAssertion

from routing_action.corpus.baseline import Status
from routing_action.evidence.outcome import Outcome
from routing_action.evidence.transcript import SourceKind
from routing_action.report.terminal.cells import cell_width
from routing_action.report.terminal.console import ConsoleStyle, render_console
from routing_action.results.model import KEPT_WORKSPACE, Results, TokenHit
from tests.support.result_rows import make_results, make_row

HIT = TokenHit(
    best_score=60,
    tier=2,
    source_kind=SourceKind.CLI_OUTPUT,
    source_detail="read at stdout line 5",
    proof_line="cat foo/SKILL.md\x1b[31m\nsecond",
)


def render(results: Results, style: ConsoleStyle | None = None) -> str:
    """The text with fixed surroundings."""
    return render_console(
        results,
        reason="1 pair failed",
        artifacts="/tmp/batch",
        program="./test.sh",
        style=style or ConsoleStyle(),
    )


FAILED = make_row(
    2,
    agent="codex",
    status=Status.FAIL,
    failure_kind="evidence_too_weak",
    matched_evidence=(),
    missing_evidence=("foo",),
    token_hits={"foo": HIT},
    loaded_skills=("other",),
)


def test_a_red_pair_shows_why_the_proof_and_how_to_rerun_it() -> None:
    """A maintainer can act on the text alone."""
    text = render(make_results(make_row(), FAILED))
    assert "codex:one: FAIL evidence_too_weak" in text
    assert "missing  foo" in text
    assert "loaded   other" in text
    assert "found    foo at tier 2 (read at stdout line 5):\n" in text
    assert "           cat foo/SKILL.md [31m second\n" in text
    assert "rerun    ./test.sh --agents codex --case-id one" in text
    assert "2 runs: 1 pass, 1 fail, 0 infra_error" in text
    assert text.endswith("verdict: 1 pair failed\nartifacts: /tmp/batch")


def test_the_matrix_has_a_line_for_each_case_and_a_column_for_each_agent() -> None:
    """All pairs are seen at a glance; one that was not run is a dash."""
    lines = render(make_results(make_row(), FAILED, make_row(3, case_id="two"))).splitlines()
    assert lines[0].split() == ["case", "claude", "codex"]
    assert lines[1].split() == ["one", "pass", "FAIL"]
    assert lines[2].split() == ["two", "pass", "-"]


def test_trials_show_their_share_and_disagreement() -> None:
    """A flaky pair is called flaky."""
    rows = [make_row(n, trial=n, status=Status.PASS if n < 3 else Status.FAIL) for n in (1, 2, 3)]
    assert "flaky 2/3" in render(make_results(*rows))


def test_nothing_of_an_agent_reaches_the_terminal_unescaped() -> None:
    """Control characters of a proof line are not printed."""
    assert "\x1b" not in render(make_results(FAILED))


def test_colour_marks_the_cells_only_where_it_is_wanted() -> None:
    """With colour the words stay; without it no escape is there."""
    text = render(make_results(make_row(), FAILED), ConsoleStyle(colour=True))
    assert "\x1b[31mFAIL" in text
    assert "\x1b[32mpass" in text


def test_an_infrastructure_error_shows_its_cause_and_a_disallowed_skill_its_name() -> None:
    """Both kinds of red name what to look at."""
    infra = make_row(
        1, status=Status.INFRA_ERROR, failure_kind="auth", outcome=Outcome.AUTH, error="HTTP 401"
    )
    used = make_row(2, case_id="two", status=Status.FAIL, disallowed_hits=("bar",))
    text = render(make_results(infra, used))
    assert "cause    HTTP 401" in text
    assert "used     bar though disallowed" in text


def test_a_long_list_is_cut_with_the_count_of_the_rest() -> None:
    """Hundreds of red pairs do not flood the terminal."""
    rows = [make_row(n, case_id=f"c{n}", status=Status.FAIL) for n in range(1, 41)]
    text = render(make_results(*rows))
    assert "and 10 more; see results.json" in text


def test_cost_and_long_names_are_shown_within_the_width() -> None:
    """Money is told with who reported it; a long case id keeps both ends."""
    row = make_row(1, cost_usd=0.25, case_id="begin" + "c" * 100 + "end")
    text = render(make_results(row), ConsoleStyle(width=60))
    assert "0.2500 USD reported by claude" in text
    assert re.search(r"^begin.*…c+end  pass$", text, re.MULTILINE)


def test_later_trials_name_themselves() -> None:
    """A red second trial says which one it was."""
    text = render(make_results(make_row(1, trial=2, status=Status.FAIL)))
    assert "claude:one trial 2: FAIL" in text


def make_long() -> Results:
    """Five agents, long names, several kinds of red."""
    agents = ("claude", "codex", "copilot", "gemini", "opencode")
    long = "review-a-pull-request-that-changes-the-public-interface-of-the-billing-service-17"
    rows = [
        make_row(10 * n + m, agent=agent, case_id=case, trial=1, duration_ms=1000 * (n + 5 * m))
        for n, agent in enumerate(agents)
        for m, case in enumerate((long, "bump"))
    ]
    red = make_row(
        99,
        agent="codex",
        case_id=f"{long}-b",
        status=Status.FAIL,
        failure_kind="weak_evidence_only",
        missing_evidence=("a-skill-with-a-name", "another-skill-with-a-name", long),
        token_hits={long: HIT},
        loaded_skills=("one-more-skill-with-a-name", "other"),
        error="the agent said something that is rather long and does not fit into one line at all",
        timed_out=True,
        duration_ms=300_000,
        cost_usd=1.5,
        notes=("the agent finds no skill in the folders in which it looks for them: a, b and c",),
    )
    return make_results(*rows, red)


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_the_whole_text_fits_the_terminal(width: int, snapshot: SnapshotAssertion) -> None:
    """Only commands and paths, which are there to be copied, may be longer."""
    text = render(make_long(), ConsoleStyle(width=width))
    assert text == snapshot
    assert all(
        cell_width(line) <= width for line in text.splitlines() if not line.startswith("  rerun")
    )


def test_the_slowest_units_are_named_where_there_are_many() -> None:
    """What to look at when a run takes too long."""
    lines = render(make_long()).splitlines()
    first = lines.index("slowest") + 1
    assert lines[first].startswith("  300.0 s  codex:review-")
    assert lines[first].endswith("-17-b (timeout)")
    assert lines[first + 1] == "    9.0 s  opencode:bump"
    assert lines[first + 5] == ""
    assert "slowest" not in render(make_results(make_row()))


def test_of_many_kept_workspaces_the_first_are_told() -> None:
    """The others stand in results.json; a path is never cut, so that it can be copied."""
    rows = [
        make_row(number, case_id=f"c{number}", notes=(f"{KEPT_WORKSPACE}/tmp/{'x' * 90}/{number}",))
        for number in range(12)
    ]
    text = render(make_results(*rows), ConsoleStyle(width=60))
    assert f"  claude:c0  /tmp/{'x' * 90}/0\n" in text
    assert "and 2 more" in text
    assert "kept" not in render(make_results(make_row(1)))


def test_a_skill_that_a_sub_agent_loaded_is_told_as_such() -> None:
    """Whoever looks for the reason of a red pair sees who took the other skill."""
    row = make_row(
        1,
        status=Status.FAIL,
        failure_kind="missing_required",
        missing_evidence=("foo",),
        loaded_skills=("bar", "baz"),
        subagent_skills=("baz",),
    )
    assert "  loaded   bar, baz (in a sub-agent)\n" in render(make_results(row))
