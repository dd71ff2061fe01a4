"""A delta for people: text and GitHub markdown."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from routing_action.corpus.baseline import BaselineEntry, MadeWith, Status
from routing_action.corpus.case import Case
from routing_action.corpus.cases_file import Corpus
from routing_action.gate.build_delta import build_delta
from routing_action.gate.conclusion import Conclusion, Policy
from routing_action.gate.find_baselines import Baselines
from routing_action.gate.model import BaselineSource, Delta, DeltaLeftOut, FieldEdit
from routing_action.gate.rules import DeltaKind
from routing_action.github.publication import RunLinks
from routing_action.report.markdown import render_comment
from routing_action.report.terminal.delta_text import render_delta_text
from routing_action.report.terminal.layout import ConsoleStyle
from routing_action.results.model import OfferedSkill
from tests.rendering import samples
from tests.support.measured import batch, expect, row
from tests.support.result_rows import make_hit

NOW = datetime(2026, 1, 2, tzinfo=UTC)
SOURCE = BaselineSource(
    path="provider-baseline.json",
    commit="a" * 40,
    date="2026-01-01T00:00:00Z",
    how="merge base of origin/main and HEAD",
    present=True,
    edited=True,
)
CORPUS = Corpus(
    "cases.json",
    tuple(Case(case_id=name, prompt="p") for name in ("a", "b")),
    {"a": 2, "b": 5},
    "f" * 64,
)
PROOF = make_hit(3, 10, "mention at stdout line 4", "```@octocat | see foo```")


def delta(**policy: Any) -> Delta:  # noqa: ANN401
    """A regression with proof, an improvement that is not comparable, and a flaky pair."""
    made = BaselineEntry.model_validate(
        {"expected_status": "fail", "made_with": MadeWith(cli_version="1")}
    )
    ref = expect({("a", "claude"): "pass", ("b", "claude"): made, ("b", "codex"): "pass"})
    ref |= {"a": {**ref["a"], **expect({("a", "codex"): "pass"})["a"]}}
    rows = [

        row("a", "claude", "fail", failure_kind="weak_evidence_only", missing_evidence=("foo",),
            token_hits={"foo": PROOF}, error="it said `no`", disallowed_hits=("bar",),
            loaded_skills=("bar",), cost_usd=0.5, cli_version="2", model="m"),
        row("b", "claude", "pass", cli_version="2"),
        row("a", "codex"),
        *(row("b", "codex", "fail" if n == 2 else "pass", trial=n) for n in (1, 2, 3)),
    ]  # fmt: skip
    return build_delta(
        [batch(rows)],
        Baselines(ref, ref, SOURCE),
        CORPUS,
        unmeasured={},
        policy=Policy(**policy),
        now=NOW,
    )


def offered(name: str, agents: tuple[str, ...], description: str) -> OfferedSkill:
    return OfferedSkill(name=name, agents=agents, path=f"skills/{name}", description=description)


def test_a_delta_tells_of_the_skills_that_were_wanted_or_used_where_a_pair_failed() -> None:
    """Not of those that no failed pair is about, nor to an agent that was not offered them."""
    rows = [
        row("a", "claude", "fail", missing_evidence=("acme:foo", "foo/SKILL.md"),
            loaded_skills=("bar",), subagent_skills=("bar",)),
        row("b", "codex", loaded_skills=("baz",)),
    ]  # fmt: skip
    both = ("claude", "codex")
    skills = (
        offered("Foo", both, "Use for foo."),
        offered("bar", ("claude",), "Use for bar."),
        offered("bar", ("codex",), "Use for bar on codex."),
        offered("baz", both, "Use for baz."),
        offered("foo", ("claude",), ""),
    )
    legs = [batch(rows[:1], key="claude"), batch(rows[1:], key="codex")]
    told = [replace(leg, skills=skills) for leg in legs]
    entries = expect({("a", "claude"): "pass", ("b", "codex"): "pass"})
    made = build_delta(
        told,
        Baselines(entries, entries, SOURCE),
        CORPUS,
        unmeasured={},
        policy=Policy(),
        now=NOW,
    )
    assert made.prompts == {"a": "p", "b": "p"}
    assert [(s.name, s.agents, s.description) for s in made.skills] == [
        ("Foo", ("claude",), "Use for foo."),
        ("bar", ("claude",), "Use for bar."),
    ]
    assert made.rows[0].subagent_skills == ("bar",)


def test_the_text_names_verdict_rows_reasons_and_remedies() -> None:
    """Red first, with rerun and accept; improvements can be locked in."""
    text = render_delta_text(delta(), ConsoleStyle(), "r.json")
    said = " ".join(text.split())
    assert "REGRESSION claude:a: wanted foo, got bar, which is disallowed" in said
    assert "only here: passes on codex" in said
    assert "rerun routing-action run --agents claude --case-id a" in said
    assert "--from r.json --cases a --agents claude --accept-regression --reason 'WHY'" in said
    assert "lock in routing-action baseline update --from r.json --cases b" in said
    assert "not comparable: CLI version was 1, is 2" in said
    assert "OK codex:b: pass, as expected (flaky: 2 of 3 passed)" in said
    assert text.endswith("gate: Routing gate failed: 1 regression")
    assert "at aaaaaaaaaaaa of 2026-01-01, merge base of origin/main and HEAD" in said
    assert "note: this change edits the baseline" in text


def test_the_text_has_colour_only_on_demand() -> None:
    """The gate's line is red."""
    assert "\x1b[31mgate: " in render_delta_text(delta(), ConsoleStyle(colour=True))
    assert "\x1b" not in render_delta_text(delta(), ConsoleStyle())


def test_the_markdown_holds_verdict_table_evidence_matrix_and_baseline() -> None:
    """A reader of the pull request needs nothing else."""
    text = render_comment(delta(), RunLinks())
    assert text.startswith("> [!CAUTION]\n> **Routing gate failed**: 1 regression.\n")
    assert (
        "| 🔴&nbsp;**REGRESSION**<br>`a` on `claude` | wanted `foo`, got `bar`, which is disallowed"
        "<br>failed 1 of 1: measured once<br>only here: passes on `codex` |\n"
    ) in text
    assert "- **Missing**: `foo`" in text
    assert "````text\n```@octocat | see foo```\n````" in text
    assert "| case | `claude` | `codex` |" in text
    assert "| `a` | 🔴 REGRESSION | ✅ pass |" in text
    assert "| `b` | 🟢 IMPROVEMENT | 🟡 pass (flaky) |" in text
    assert "merge base of origin/main and HEAD" in text


def test_a_template_can_be_overridden(tmp_path: Path) -> None:
    """A user's folder may replace a template of ours."""
    (tmp_path / "comment.md.j2").write_text("only {{ page.title }}", encoding="utf-8")
    assert render_comment(delta(), RunLinks(), overrides=tmp_path) == "only Routing gate failed\n"


def test_a_quiet_delta_says_that_nothing_changed() -> None:
    """Green in both formats, and the first use of a baseline is explained."""
    ref = expect({("a", "claude"): "pass"})
    absent = SOURCE.model_copy(update={"present": False, "edited": False})
    quiet = build_delta(
        [batch([row("a", "claude")])],
        Baselines(None, ref, absent),
        CORPUS,
        unmeasured={},
        policy=Policy(providers=("claude",)),
        now=NOW,
    )
    text = render_delta_text(quiet, ConsoleStyle())
    assert "note: no baseline: provider-baseline.json does not exist at aaaaaaaaaaaa" in text
    comment = render_comment(quiet, RunLinks())
    assert "> [!IMPORTANT]\n> **Routing has no baseline to compare with yet, partial: " in comment
    same = build_delta(
        [batch([row("a", "claude")])],
        Baselines(
            ref, ref, SOURCE.model_copy(update={"commit": None, "how": "the checked-in file"})
        ),
        CORPUS,
        unmeasured={},
        policy=Policy(),
        now=NOW,
    )
    assert "Routing is as expected where it was measured, partial" in render_comment(
        same, RunLinks()
    )
    assert "provider-baseline.json, the checked-in file" in render_delta_text(same, ConsoleStyle())


def test_a_very_long_delta_is_cut_with_the_count_of_the_rest() -> None:
    """A terminal is not flooded."""
    ref = expect({(f"c{n}", "claude"): "pass" for n in range(80)})
    long = build_delta(
        [batch([row(f"c{n}", "claude", "fail") for n in range(80)])],
        Baselines(ref, ref, SOURCE),
        CORPUS,
        unmeasured={},
        policy=Policy(),
        now=NOW,
    )
    assert "and 20 more; see --format json" in render_delta_text(long, ConsoleStyle())


SAMPLES = {
    "red": samples.red,
    "new pairs": samples.new_coverage,
    "lost": samples.lost,
    "infra": samples.infra_only,
    "not measured": samples.nothing_measured,
    "edited": samples.edited,
    "another CLI": samples.unlike,
}


@pytest.mark.parametrize("name", SAMPLES)
def test_the_text_is_as_reviewed(name: str, snapshot: SnapshotAssertion) -> None:
    """In 80 columns; commands alone are longer, each on a line of its own."""
    text = render_delta_text(SAMPLES[name](), ConsoleStyle(), "BATCH")
    assert text == snapshot
    assert all(len(line) <= 80 or line.startswith("    ") for line in text.splitlines())


def alike(count: int, kind: DeltaKind, **fields: Any) -> Delta:  # noqa: ANN401
    """So many pairs of claude and of codex that share all but their names."""
    rows = [
        samples.entry(f"c{n}", agent, kind, **fields)
        for agent in ("claude", "codex")
        for n in range(count)
    ]
    conclusion = Conclusion.FAILURE if fields.get("gates") else Conclusion.SUCCESS
    made = samples.make(rows, conclusion, ())
    commands = {agent: f"./test.sh --agents {agent}" for agent in ("claude", "codex")}
    return made.model_copy(update={"run_commands": commands})


INFRA = {
    "got": Status.INFRA_ERROR,
    "failure_kind": "auth",
    "error": "HTTP 401: the key was rejected",
    "gates": True,
}


@pytest.mark.parametrize("count", [2, 20, 100])
@pytest.mark.parametrize(
    ("kind", "fields", "blocks", "commands"),
    [
        (DeltaKind.REGRESSION, INFRA, 2, ["rerun    ./test.sh --agents claude"]),
        (DeltaKind.REGRESSION, {"got": Status.FAIL, "timed_out": True, "gates": True}, 2, []),
        (DeltaKind.UNDECLARED, {"gates": True, "was": None}, 1, ["baseline update --from BATCH "]),
        (
            DeltaKind.UNDECLARED,
            {"gates": True, "was": None, "got": Status.FAIL},
            1,
            ["baseline update --from BATCH "],
        ),
        (DeltaKind.IMPROVEMENT, {"was": Status.FAIL}, 1, ["baseline update --from BATCH "]),
        (DeltaKind.REMOVED, {"gates": True, "got": None, "why": "put it back"}, 1, []),
        (DeltaKind.MISSING, {"gates": True, "got": None, "why": "no result"}, 1, []),
        (DeltaKind.NEW, {"was": None, "why": "new: passes, as declared"}, 1, []),
    ],
)
def test_one_cause_is_one_block_with_one_command(
    count: int, kind: DeltaKind, fields: dict[str, Any], blocks: int, commands: list[str]
) -> None:
    """However many pairs have it, the text fits a screen."""
    text = render_delta_text(alike(count, kind, **fields), ConsoleStyle(), "BATCH")
    lines = text.splitlines()
    word = "UNMEASURED" if fields.get("got") is Status.INFRA_ERROR else kind.value
    assert sum(line.startswith(f"{word} ") for line in lines) == blocks
    for command in commands:
        assert text.count(command) == 1
    assert len(lines) <= 24


def test_the_same_cause_with_two_words_is_one_block() -> None:
    """A key that was rejected is one thing to fix, whatever the baseline expects of its pairs."""
    rows = [
        samples.entry("a", "claude", DeltaKind.REGRESSION, **INFRA),
        samples.entry("b", "claude", DeltaKind.INFRA, **{**INFRA, "gates": False}),
    ]
    text = render_delta_text(samples.make(rows, Conclusion.FAILURE, ()), ConsoleStyle())
    assert "UNMEASURED claude: 2 cases not measured (auth): HTTP 401" in text
    assert text.count("cases not measured") == 1


def test_where_nothing_could_be_measured_no_change_is_blamed() -> None:
    """The gate stays red, and says that and why."""
    rows = [
        samples.entry("a", "claude", DeltaKind.REGRESSION, **INFRA),
        samples.entry("b", "claude", DeltaKind.NEW, **INFRA),
    ]
    reasons = ("2 pairs could not be measured (auth)",)
    text = render_delta_text(samples.make(rows, Conclusion.FAILURE, reasons), ConsoleStyle())
    counts, verdict = text.splitlines()[-2:]
    assert counts.startswith("2 UNMEASURED")
    assert verdict == f"gate: Routing was not measured: {reasons[0]}"
    comment = render_comment(samples.make(rows, Conclusion.FAILURE, reasons), RunLinks())
    assert "REGRESSION" not in text + comment
    assert "Fix what changed" not in comment
    assert "> **No verdict on the change**: what is red could not be measured." in comment


def test_the_counts_begin_with_what_is_red() -> None:
    """A case that was removed as it should be comes after a regression."""
    gone = samples.entry("old", "claude", DeltaKind.REMOVED, got=None, line=None)
    made = samples.make([samples.regression(), gone], Conclusion.FAILURE, ())
    assert "\n1 REGRESSION, 1 REMOVED" in render_delta_text(made, ConsoleStyle())
    comment = render_comment(made, RunLinks())
    assert "**1** REGRESSION · **1** REMOVED" in comment
    assert "accept several at once" not in comment


@pytest.mark.parametrize(
    ("cases", "options"),
    [("cases.json", ""), ("a b/c.json", " --cases-file 'a b/c.json' --baseline ")],
)
def test_an_entry_without_its_case_has_the_command_that_removes_it(
    cases: str, options: str
) -> None:
    """In the terminal and in the comment; an entry that is to be put back has none."""
    told = {"gates": True, "got": None, "why": "the case was removed"}
    gone = samples.entry("old", "claude", DeltaKind.REMOVED, line=None, **told)
    made = samples.make([gone], Conclusion.FAILURE, ()).model_copy(update={"cases_file": cases})
    command = f"routing-action baseline update --prune{options}"
    assert command in render_delta_text(made, ConsoleStyle())
    assert command in render_comment(made, RunLinks())
    back = made.model_copy(update={"rows": (gone.model_copy(update={"line": 3}),)})
    assert "--prune" not in render_delta_text(back, ConsoleStyle())


def test_an_edit_that_a_red_pair_shows_is_named_once_more_and_not_repeated() -> None:
    """Red pairs come first; each other edit stands in full below them."""
    made = samples.stolen()
    (suspect, *_) = [one for one in made.skills if one.before]
    text = FieldEdit(field="description", before=suspect.before or "", after=suspect.description)
    other = FieldEdit(field="name", before="old-name", after="new-name")
    edit = made.edits[0].model_copy(update={"fields": (text, other), "path": suspect.path})
    shown = render_delta_text(made.model_copy(update={"edits": (edit,)}), ConsoleStyle())
    assert shown.index("REGRESSION ") < shown.index("this change edits: ")
    assert "    name: old-name → new-name\n    description: see above\n" in shown
    left = made.model_copy(update={"edits": (edit,), "edits_known": False})
    assert " → " in render_delta_text(left, ConsoleStyle()).partition("description: ")[2]


def test_wrong_routes_keep_a_block_each_and_of_very_many_the_last_only_their_names() -> None:
    """Each has its own fix; nobody reads a hundred of them at once."""
    rows = [samples.regression(f"c{n}") for n in range(20)]
    text = render_delta_text(samples.make(rows, Conclusion.FAILURE, ()), ConsoleStyle())
    assert text.count("REGRESSION claude:c") == 20
    assert text.count("  accept") == 12


def test_what_was_left_out_of_the_selection_is_not_run_again() -> None:
    """The command for a cause names the cases where they are not all."""
    made = alike(2, DeltaKind.REGRESSION, **INFRA)
    left = (DeltaLeftOut(case_id="other", agent="claude"),)
    text = render_delta_text(
        made.model_copy(update={"left_out": left, "not_selected": 1}), ConsoleStyle()
    )
    assert "rerun    ./test.sh --agents claude --case-id c0,c1\n" in text
    assert "rerun    ./test.sh --agents codex\n" in text


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        (
            {},
            ["edited   This change edits neither summarising-commits nor"],
        ),
        (
            {"writing-release-notes": "Use for changelogs."},
            [
                "edited   This change edits the description of writing-release-notes",
                "           - Use for changelogs.",
                "           + Use when a release is being prepared",
            ],
        ),
        (
            {"summarising-commits": "", "writing-release-notes": "Use for changelogs."},
            [
                "edited   This change adds summarising-commits",
                "           + Use",
                "           - Use for changelogs.",
            ],
        ),
    ],
    ids=["neither", "the wanted one", "both"],
)
def test_a_red_pair_shows_what_the_change_did_to_the_descriptions(
    before: dict[str, str], expected: list[str]
) -> None:
    """Before and after, of the skill that should have taken the prompt and of the one that did."""
    skills = tuple(
        one.model_copy(update={"before": before.get(one.name)}) for one in samples.SKILLS
    )
    rows = [samples.regression()]
    text = render_delta_text(
        samples.make(rows, Conclusion.FAILURE, (), skills=skills, edits_known=True),
        ConsoleStyle(),
    )
    for line in expected:
        assert line in text
    assert text.count("  edited  ") == max(len(before), 1)


def test_nothing_of_a_skill_reaches_the_terminal_unescaped() -> None:
    """A description can hold orders to a terminal."""
    skills = tuple(
        one.model_copy(update={"before": "\x1b[2J\u202e gone", "description": "\x1b]0;x\x07"})
        for one in samples.SKILLS
    )
    made = samples.make([samples.regression()], Conclusion.FAILURE, (), skills=skills)
    assert re.fullmatch(r"[^\x00-\x09\x0b-\x1f\u202e]+", render_delta_text(made, ConsoleStyle()))


def test_stale_pairs_of_several_agents_are_run_again_by_agent() -> None:
    """Each command names the cases that its own agent has to measure."""
    said = "measured before the skills changed"
    rows = [
        samples.entry(*pair, stale=said)
        for pair in (("a", "claude"), ("b", "claude"), ("c", "codex"))
    ]
    fails = {"was": Status.FAIL, "got": Status.FAIL, "stale": said, "passed": 0}
    rows += [
        samples.entry(name, "claude", DeltaKind.OK, missing_evidence=(name,), **fails)
        for name in ("d", "e")
    ]
    fresh = [samples.entry("f", agent) for agent in ("claude", "codex")]
    text = render_delta_text(samples.make([*rows, *fresh]), ConsoleStyle())
    assert "rerun    ./test.sh --agents claude --case-id a,b\n" in text
    assert "rerun    ./test.sh --agents codex --case-id c\n" in text
    assert "wanted d, got no skill" in text
    assert "wanted e, got no skill" in text
