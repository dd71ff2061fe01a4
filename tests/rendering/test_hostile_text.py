"""Nothing that comes from outside acts in what we post, judged by a renderer like GitHub's."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from routing_action.corpus.naming import is_file_token
from routing_action.report.check import CHECK_BYTES, build_check
from routing_action.report.escape import phrase
from routing_action.report.markdown import (
    COMMENT_BYTES,
    SUMMARY_BYTES,
    render_comment,
    render_superseded,
)
from tests.rendering.hostile import HOSTILE
from tests.rendering.oracle import Judgement, Oracle
from tests.rendering.samples import PLACE, filled, huge, sample_bodies
from tests.support.report_values import render_summary

pytestmark = pytest.mark.slow

_OURS = re.compile(
    r"https://github\.com/octo/demo/(?:actions/runs/4242\b|commit/|blob/b{40}/)[A-Za-z0-9%/._~#-]*"
    r"|https://github\.com/octo/routing-action/blob/v1/docs/reference/[a-z-]+\.md#[a-z_-]+"
)
_HARMLESS = ("a=b", "a.b")
"""A skill and a file: no word of either acts, and neither is prose."""


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    with Oracle() as running:
        yield running


def assert_inert(judged: Judgement) -> None:
    """No mention, reference, image or link but ours."""
    assert judged.acting == []
    assert judged.images == []
    assert [url for url in judged.links if not _OURS.fullmatch(url)] == []


ROOM = 64 * 2**20
"""Bytes in which nothing has to be left out for the length of a text."""


def bodies(text: str, budget: int | None = None) -> dict[str, str]:
    """Everything in markdown that we post, full of a text, in its own budget or another."""
    delta = filled(text)
    check = build_check(delta, PLACE, budget=budget or CHECK_BYTES)
    return {
        "comment": render_comment(delta, PLACE, budget=budget or COMMENT_BYTES),
        "summary": render_summary(delta, PLACE, budget=budget or SUMMARY_BYTES),
        "check summary": check.summary,
        "check text": check.text,
        "superseded": render_superseded(PLACE, text),
    }


@pytest.fixture(scope="module")
def harmless(oracle: Oracle) -> dict[tuple[str, bool], str]:
    """The elements of every body where the text from outside is tame, names a file or does not."""
    return {
        (name, is_file_token(text)): oracle.judge(body).skeleton
        for text in _HARMLESS
        for name, body in bodies(text).items()
    }


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_hostile_text_reaches_no_one_and_builds_nothing(
    oracle: Oracle, harmless: dict[tuple[str, bool], str], number: int
) -> None:
    """R8: `#`, `|` and `@` in names and output break no table and ping no one."""
    posted, whole = bodies(HOSTILE[number]), bodies(HOSTILE[number], budget=ROOM)
    # All share their blocks with the comment, so a part of the texts is enough for the others.
    for name in list(posted) if number % 8 == 0 else ["comment"]:
        assert_inert(oracle.judge(posted[name]))
        judged = oracle.judge(whole[name])
        assert_inert(judged)
        assert judged.skeleton == harmless[name, is_file_token(HOSTILE[number])], name


def test_prose_is_only_what_stays_prose(oracle: Oracle) -> None:
    """A text that is shown without a code span makes no element of its own."""
    shown = [text for text in HOSTILE if phrase(text) == text]
    for text in shown:
        judged = oracle.judge(f"so: {text}")
        assert_inert(judged)
        assert judged.skeleton == "<p></p>"


@pytest.mark.parametrize("name", sorted(sample_bodies()))
def test_our_own_comments_act_on_no_one_either(oracle: Oracle, name: str) -> None:
    """Every comment that we can write links to our own pages alone."""
    judged = oracle.judge(sample_bodies()[name])
    assert_inert(replace_run(judged))
    assert "<strong>Routing" in judged.html


def replace_run(judged: Judgement) -> Judgement:
    """The superseded comment links to a later run."""
    links = [url.replace("/runs/4343", "/runs/4242") for url in judged.links]
    return Judgement(judged.acting, links, judged.images, judged.skeleton, judged.html)


@pytest.mark.parametrize("text", ["😀漢字" * 50, "</details>`|" * 30, "a" * 3000])
@pytest.mark.parametrize("budget", [3_000, 20_000, 60_000])
def test_a_trimmed_comment_still_renders_as_one(oracle: Oracle, text: str, budget: int) -> None:
    """R7: 1,000 failing cases are cut between parts: every table and fold is whole."""
    body = render_comment(huge(1000, text), PLACE, budget=budget)
    assert len(body.encode()) <= budget
    judged = oracle.judge(body)
    assert_inert(judged)
    top = re.sub(r"(?:<sub>|<p>|<b>|<div>).*", "", judged.skeleton)
    assert "<details>" not in top
    assert judged.html.count("<details") == len(re.findall(r"(?m)^<details(?: open)?>", body))
    assert judged.html.rstrip().endswith("</p>")
