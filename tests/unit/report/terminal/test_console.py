"""What a person reads at the end of a run."""

from __future__ import annotations

import re

import pytest
from syrupy.assertion import SnapshotAssertion

from routing_action.corpus.baseline import Status
from routing_action.evidence.chance import Record
from routing_action.evidence.chance_sequence import Finding
from routing_action.evidence.outcome import Outcome
from routing_action.evidence.transcript import SourceKind
from routing_action.gate.judging.certainty import Chance
from routing_action.gate.judging.settle import Weighed
from routing_action.report.terminal.cells import cell_width
from routing_action.report.terminal.console import render_console
from routing_action.report.terminal.layout import LABEL_WIDTH, ConsoleStyle
from routing_action.results.model import Results, TokenHit, UnitResult
from routing_action.results.notes import KEPT_WORKSPACE
from tests.support.result_rows import make_results, make_row

HIT = TokenHit(
    best_score=60,
    tier=2,
    source_kind=SourceKind.CLI_OUTPUT,
    source_detail="read at stdout line 5",
    proof_line="cat foo/SKILL.md\x1b[31m\nsecond",
)


def render(
    results: Results, style: ConsoleStyle | None = None, *, is_compared: bool = False
) -> str:
    """The text with fixed surroundings."""
    return render_console(
        results,
        reason="1 pair failed",
        artifacts="/tmp/batch",
        program="./test.sh",
        style=style or ConsoleStyle(),
        is_compared=is_compared,
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
    assert "FAIL codex:one: wanted foo, got other (evidence_too_weak, failed 1 of 1:" in text
    assert "only here: passes on claude" in " ".join(text.split())
    assert "found    foo at tier 2 (read at stdout line 5):\n" in text
    assert "           cat foo/SKILL.md [31m second\n" in text
    assert "rerun    ./test.sh --agents codex\n" in text
    assert "2 runs: 1 pass, 1 fail; 3.0 s of agent time\n" in text
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
    assert "\x1b[1mcase  claude  codex\x1b[0m" in text


@pytest.mark.parametrize(
    ("rows", "colour"),
    [
        ([make_row()], "32"),
        ([make_row(), FAILED], "31"),
        ([make_row(1, status=Status.INFRA_ERROR)], "33"),
    ],
    ids=["green", "red", "not measured"],
)
def test_the_verdict_has_the_colour_of_what_it_says(rows: list[UnitResult], colour: str) -> None:
    """A look at the end is enough."""
    text = render(make_results(*rows), ConsoleStyle(colour=True))
    assert f"\x1b[{colour}mverdict: 1 pair failed\x1b[0m\n" in text


def test_an_infrastructure_error_shows_its_cause_and_a_disallowed_skill_its_name() -> None:
    """Both kinds of red name what to look at; what failed stands first."""
    infra = make_row(
        1, status=Status.INFRA_ERROR, failure_kind="auth", outcome=Outcome.AUTH, error="HTTP 401"
    )
    used = make_row(2, case_id="two", status=Status.FAIL, disallowed_hits=("bar",))
    text = render(make_results(infra, used))
    assert "infra claude:one: not measured (auth): HTTP 401\n" in text
    assert "FAIL claude:two: used bar, which is disallowed" in text
    assert text.index("FAIL claude:two") < text.index("infra claude:one")


def test_a_long_list_is_cut_with_the_count_of_the_rest() -> None:
    """Hundreds of red pairs do not flood the terminal: some in full, some by name."""
    rows = [make_row(n, case_id=f"c{n}", status=Status.FAIL) for n in range(1, 71)]
    text = render(make_results(*rows))
    assert text.count("  rerun    ") == 12
    assert text.count("FAIL claude:c") == 60
    assert "and 10 more; see results.json" in text


CAUSES = {
    "cli_missing": "`claude` is not on PATH; install it with `npm install --global some-package`",
    "auth": "HTTP 401: the key was rejected",
}


@pytest.mark.parametrize("kind", CAUSES)
@pytest.mark.parametrize("stopped", [False, True], ids=["each", "stopped after the first"])
@pytest.mark.parametrize("count", [2, 20])
def test_one_cause_has_one_block_and_no_table(kind: str, count: int, stopped: bool) -> None:
    """An agent that cannot work fills no screen: its cause, the fix, and one command for all."""
    errors = [f"{CAUSES[kind]} (request req-{n}f00ba{n}, 0.{n} s)" for n in range(count + 1)]
    after = f"not run: claude was stopped after {kind} ({errors[1]})"
    rows = [
        make_row(
            n,
            case_id=f"c{n}",
            status=Status.INFRA_ERROR,
            failure_kind="not_run" if stopped and n > 1 else kind,
            error=after if stopped and n > 1 else errors[n],
        )
        for n in range(1, count + 1)
    ]
    text = render(make_results(*rows))
    assert text.startswith(f"infra claude: {count} cases not measured ({kind}): ")
    assert text.count("  fix  ") == 1
    assert text.count("npm install") == 0  # the run said it when it started
    assert text.count("  rerun  ") == 1
    assert "  rerun    ./test.sh --agents claude\n" in text
    assert len(text.splitlines()) <= 10


def test_of_a_selection_the_command_names_the_cases() -> None:
    """What was not chosen is not measured again, and paid for."""
    rows = [
        make_row(n, case_id=f"c{n}", status=Status.INFRA_ERROR, failure_kind="auth", error="401")
        for n in (1, 2)
    ]
    results = make_results(*rows)
    chosen = results.options.model_copy(update={"categories": ("some",)})
    text = render(results.model_copy(update={"options": chosen}))
    assert "  rerun    ./test.sh --agents claude --case-id c1,c2\n" in text


def test_an_agent_that_was_measured_in_part_keeps_its_column() -> None:
    """The table leaves out only those of which one cause says all."""
    infra = {"status": Status.INFRA_ERROR, "failure_kind": "rate_limit", "error": "429"}
    rows = [
        make_row(1, agent="codex"),
        make_row(2, agent="codex", case_id="two", **infra),
        make_row(3, **infra),
        make_row(4, case_id="two", **infra),
    ]
    text = render(make_results(*rows))
    assert text.startswith("case  codex\none   pass\ntwo   infra\n\n")
    assert "infra claude: 2 cases not measured (rate_limit): 429\n" in text
    assert "infra codex:two: not measured (rate_limit): 429\n" in text


def test_totals_of_a_replay_say_that_its_runs_and_costs_were_recorded() -> None:
    """No agent was started, so none took time or money now."""
    live = make_results(make_row(1, cost_usd=0.25))
    options = live.options.model_copy(update={"replay": "recordings"})
    text = render(live.model_copy(update={"options": options}))
    assert "1 recorded run: 1 pass; 0.2500 USD reported by claude when recorded\n" in text


def test_before_a_comparison_only_the_table_and_the_totals_are_shown() -> None:
    """What failed is said once, by the comparison; so is the verdict."""
    text = render(make_results(make_row(), FAILED), is_compared=True)
    assert text.splitlines() == [
        "case  claude  codex",
        "one   pass    FAIL",
        "",
        "2 runs: 1 pass, 1 fail; 3.0 s of agent time",
    ]


def test_cost_and_long_names_are_shown_within_the_width() -> None:
    """Money is told with who reported it; a long case id keeps both ends."""
    row = make_row(1, cost_usd=0.25, case_id="begin" + "c" * 100 + "end")
    text = render(make_results(row), ConsoleStyle(width=60))
    assert "0.2500 USD reported by claude" in text
    assert re.search(r"^begin.*…c+end  pass$", text, re.MULTILINE)


@pytest.mark.parametrize(("passed", "word"), [(2, "flaky"), (1, "FAIL")])
def test_trials_that_disagree_are_counted(passed: int, word: str) -> None:
    """Whether a red pair is noise stands beside its name."""
    rows = [
        make_row(n, trial=n, status=Status.PASS if n <= passed else Status.FAIL) for n in (1, 2, 3)
    ]
    text = render(make_results(*rows))
    assert f"{word} claude:one: its trials disagree (flaky: {passed} of 3 passed)" in text


@pytest.mark.parametrize(
    ("spans", "text"),
    [
        ([("00:00.000", "00:04.000"), ("00:01.000", "00:05.000")], "took 5.0 s,"),
        ([("00:00.000", "00:04.000"), ("50:00.000", "50:01.000")], "took 5.0 s,"),
        ([("00:00.000", "10:05.000")], "took 10 min 5 s,"),
    ],
    ids=["side by side", "after a pause", "long"],
)
def test_the_time_that_a_person_waited_stands_beside_that_of_the_agents(
    spans: list[tuple[str, str]], text: str
) -> None:
    """Agents run side by side; a batch that was resumed did not run in between."""
    rows = [
        make_row(
            n,
            case_id=f"c{n}",
            started_at_utc=f"2026-01-01T00:{start}Z",
            ended_at_utc=f"2026-01-01T00:{end}Z",
        )
        for n, (start, end) in enumerate(spans)
    ]
    assert text in render(make_results(*rows))


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
    below_rerun = re.compile(r"  rerun(\n)?  +.*")
    for line in below_rerun.sub("", text).splitlines():
        longest = max(map(cell_width, line.split()), default=0)
        assert cell_width(line) <= max(width, LABEL_WIDTH + longest)


def test_the_slowest_units_are_named_where_there_are_many() -> None:
    """What to look at when a run takes too long."""
    lines = render(make_long()).splitlines()
    first = lines.index("slowest") + 1
    assert lines[first].startswith("   5 min 0 s  codex:review-")
    assert lines[first].endswith("-17-b (timeout)")
    assert lines[first + 1] == "       9.0 s  opencode:bump"
    assert lines[first + 5] == ""


@pytest.mark.parametrize(("count", "seconds"), [(5, 60), (60, 5), (60, 0)])
def test_where_nothing_took_long_nothing_is_called_slow(count: int, seconds: int) -> None:
    """Five seconds are nothing to look at, and of a few units everybody sees which it was."""
    rows = [make_row(n, case_id=f"c{n}", duration_ms=seconds * 1000) for n in range(count)]
    assert "slowest" not in render(make_results(*rows))


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
    assert "wanted foo, got bar, baz (in a sub-agent)" in render(make_results(row))


def test_only_what_was_started_is_a_run() -> None:
    """Units that nobody needed are counted apart."""
    lost = make_row(
        3, case_id="two", status=Status.INFRA_ERROR, outcome=Outcome.NOT_RUN,
        failure_kind="not_run", error="not run: the gate is decided",
    )  # fmt: skip
    assert "2 runs: 1 pass, 1 fail; 1 not started;" in render(
        make_results(make_row(), FAILED, lost)
    )


def test_what_is_red_stands_first() -> None:
    """Before a pair of which trials failed as often as they always do."""
    rows = [make_row(10 + trial, case_id="often", trial=trial, status=status, failure_kind=kind)
            for trial, status, kind in ((1, Status.FAIL, "mixed"), (2, Status.FAIL, "mixed"),
                                        (3, Status.PASS, None))]  # fmt: skip
    chance = Chance(Finding.SAME, 2, 3, Record(5, 10), None, 0.5)
    text = render_console(
        make_results(*rows, FAILED), reason="1 pair failed", artifacts="/tmp/batch",
        program="./test.sh", style=ConsoleStyle(), weighed=Weighed({("often", "claude"): chance}),
    )  # fmt: skip
    assert text.index("FAIL codex:one") < text.index("OK claude:often")
