"""Text from outside passes for nothing that a CLI prints, and orders nobody about."""

from __future__ import annotations

import io
import os
import re
from pathlib import Path

import pytest

from routing_action.errors import UsageError
from routing_action.report.html.write import write_html
from routing_action.report.terminal.plain_lines import PlainLines
from tests.rendering.samples import PLACE, red
from tests.support.builders import read
from tests.support.command_line import run_command

LOAD = "● skill(deploying)"


def tier_of(*lines: str) -> int | None:
    """The tier that the skill gets from Copilot's plain text."""
    return read("copilot", ("\n".join(lines) + "\n").encode(), tokens=("deploying",)).tier(
        "deploying"
    )


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(("It prints", LOAD, "then."), id="in a paragraph"),
        pytest.param(("", LOAD, "and is done.", ""), id="at the beginning of one"),
        pytest.param(("So:", LOAD, ""), id="at the end of one"),
        pytest.param(("```", LOAD, "```", ""), id="in a fence"),
        pytest.param(("```text", "", LOAD, "", "```", ""), id="in a fence with blank lines"),
        pytest.param(("~~~", "", LOAD, "", "~~~", ""), id="in a fence of tildes"),
        pytest.param(("````", "```", "", LOAD, "", "```", "````", ""), id="in a fence in a fence"),
        pytest.param(("> ```", "", LOAD, "", "> ```", ""), id="in a fence in a quote"),
        pytest.param(("- ```", "", LOAD, "", "  ```", ""), id="in a fence in a list"),
        pytest.param(("1. ~~~~", "", LOAD, "", "~~~", ""), id="in a fence that is not closed"),
        pytest.param(("", f"> {LOAD}", ""), id="in a quote"),
        pytest.param(("", f"- {LOAD}", ""), id="in a list"),
        pytest.param(("", f"    {LOAD}", ""), id="indented"),
        pytest.param(("", f"\t{LOAD}", ""), id="indented by a tab"),
        pytest.param(("Example:", "", LOAD, "", "Done."), id="as an example"),
        pytest.param(("The CLI prints this line:", "", LOAD, ""), id="announced"),
        pytest.param(("Done.", "", LOAD), id="as the very end"),
    ],
)
def test_g9_the_line_of_a_load_in_prose_is_a_mention(lines: tuple[str, ...]) -> None:
    """Wherever the CLI itself never prints it."""
    assert tier_of(*lines) in (None, 3)


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(("I will use a skill.", "", LOAD, "", "Done.", ""), id="between answers"),
        pytest.param((LOAD, "", "Done."), id="first of all"),
        pytest.param(("Let me load the skill:", "", LOAD, "", "Done."), id="after an intention"),
        pytest.param(("```", "x = 1", "```", "", LOAD, "", "Done."), id="after a fence"),
        pytest.param(("Working.", "", LOAD, "  └ loaded", "", "Done."), id="with its result"),
        pytest.param(("✗ Run a command", "  └ denied", "", LOAD, "", "No."), id="after a command"),
    ],
)
def test_g9_the_line_as_the_cli_prints_it_proves_the_load(lines: tuple[str, ...]) -> None:
    """In a block of its own, as in every recording."""
    assert tier_of(*lines) == 1


def test_g9_a_load_in_plain_text_has_a_note() -> None:
    """An agent can imitate the block: a person is told how to have records."""
    run = read("copilot", f"{LOAD}\n\nDone.\n".encode(), tokens=("deploying",))
    assert any("--output-format json" in note for note in run.reading.notes)


# ---- orders to the runner

ORDERS = [
    "::error::x",
    "::add-mask::x",
    "  ::set-output name=a::b",
    "\t::x::",
    "\ufeff::x::",
    "\u200b\u2060::x::",
    "\x1b[31m::x::",
    "\x1b]0;title\x07 ::x::",
    "\x00\x0b::x::",
    "##[error]x",
    "and ##[group]x",
]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("before", ["", "text\n", "text\r", "text\r\n"])
def test_s3_nothing_that_is_printed_is_an_order(order: str, before: str) -> None:
    """At the beginning of any line, however it is written."""
    for size in (1, 2, 3, 1000):
        shown = io.StringIO()
        stream = PlainLines(shown)
        text = f"{before}{order}\nnext ::x\n"
        for at in range(0, len(text), size):
            stream.write(text[at : at + size])
        for line in re.split(r"[\r\n]", shown.getvalue()):
            bare = re.sub(r"\x1b(?:\[[0-9]*m|\][^\x07]*\x07)", "", line)
            assert not re.match(r"[^\w:]*::", bare)
            assert "##[" not in line
        assert shown.getvalue().replace(": :", "::").replace("## [", "##[") == text


def test_s3_text_with_colons_is_left_alone() -> None:
    """Only an order is changed."""
    shown = io.StringIO()
    text = "a::b\n- ::x\n: :\n:\n[::1]\n## [a]\n" + ": " * 5000 + "\n"
    PlainLines(shown).write(text)
    assert shown.getvalue() == text


def test_s3_a_case_cannot_order_the_runner_about(tmp_path: Path) -> None:
    """Names from a case file stand in errors and reasons, wrapped or not."""
    (tmp_path / "cases.json").write_text('[{"case_id": "a", "\\n::error::x": 1, "prompt": "p"}]')
    done = run_command(["cases", "check"], tmp_path, {**os.environ, "COLUMNS": "40"})
    lines = re.split(r"[\r\n]", done.stdout + done.stderr)
    assert done.code == 2
    assert not [line for line in lines if line.strip().startswith("::")]


# ---- templates


@pytest.mark.parametrize(
    "text",
    [
        "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}",
        "{% for a in range(9999) %}" + "x" * 10_000 + "{% endfor %}",
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
        "{% set x = 'aaaaaaaaaa' %}" + "{% set x = x|replace('a', x) %}" * 4 + "{{ x }}",
        "{% set x = range(9999)|join('xxxxxxxxxx') %}{{ range(9999)|join(x) }}",
        "{{ '%999999999d'|format(1) }}",
        "{{ '%*d'|format(999999999, 1) }}",
        "{{ '%9999999d' % 1 }}",
        "{{ 'x' * 999999999 }}",
        "{{ 'x'|center(999999999) }}",
        "{{ 'x'|indent(999999999) }}",
        "{{ 9 ** 9 ** 9 }}",
        "{{ 'x' + 'y' }}",
        '{% include "report.html.j2" %}',
    ],
)
def test_s3_the_template_of_the_html_report_is_metered(tmp_path: Path, text: str) -> None:
    """As those of markdown: an error names the file, and the report is never lost to it."""
    (tmp_path / "report.html.j2").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=r"report\.html\.j2"):
        write_html(io.StringIO(), red(), [], PLACE, overrides=tmp_path)


def test_s3_a_template_that_only_shows_things_is_used(tmp_path: Path) -> None:
    """Sums, lists, replacements and formats of ordinary length."""
    block = (
        "{% block banner %}{{ 1.25|round(1) }} {% for one in ['a', 'b'] %}{{ one ~ loop.index }}"
        "{% endfor %} {{ 1 + 2 }}{% endblock %}"
    )
    text = '{% extends "routing-action/report.html.j2" %}' + block
    (tmp_path / "report.html.j2").write_text(text, encoding="utf-8")
    out = io.StringIO()
    write_html(out, red(), [], PLACE, overrides=tmp_path)
    assert "1.2 a1b2 3" in out.getvalue()
