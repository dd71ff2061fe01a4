"""A delta for people: text and GitHub markdown."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from routing_action.corpus.baseline import BaselineEntry, MadeWith
from routing_action.corpus.case import Case
from routing_action.corpus.cases_file import Corpus
from routing_action.gate.build_delta import build_delta
from routing_action.gate.conclusion import Policy
from routing_action.gate.find_baselines import Baselines
from routing_action.gate.model import BaselineSource, Delta
from routing_action.github.publication import RunLinks
from routing_action.report.markdown import render_comment
from routing_action.report.terminal.console import ConsoleStyle, render_delta_text
from routing_action.results.model import OfferedSkill
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
    assert "REGRESSION  claude:a: expected pass, got fail (weak_evidence_only)" in text
    assert "rerun: routing-action run --agents claude --case-id a" in text
    assert "--from r.json --cases a --agents claude --accept-regression --reason 'why, " in text
    assert "lock it in: routing-action baseline update --from r.json --cases b" in text
    assert "not comparable: CLI version was 1, is 2" in text
    assert "OK          codex:b [flaky 2/3]: pass, as expected" in text
    assert text.endswith("gate: Routing gate failed: 1 regression")
    assert "at aaaaaaaaaaaa of 2026-01-01T00:00:00Z, merge base of origin/main and HEAD" in text
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
        "| 🔴&nbsp;**REGRESSION**<br>`a` on `claude` | used `bar`, which is disallowed"
        "<br>failed 1 of 1<br>only here: passes on `codex` |\n"
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
    assert "Routing is as expected, partial" in render_comment(same, RunLinks())
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
