"""The sticky comment against a stand-in that is held to GitHub's own description."""

from __future__ import annotations

from dataclasses import replace

import pytest

from routing_action.errors import UsageError
from routing_action.github.comments import (
    Bodies,
    CommentAction,
    CommentMode,
    Marker,
    StickyComment,
    decide_comment,
    parse_marker,
)
from routing_action.github.failures import ApiError, PermissionMissingError
from routing_action.github.people import name_authors
from tests.fakes.github.repository import Fault, Repository, Token
from tests.fakes.github.server import connect

OURS = Marker("routing", "a" * 40, "11", number=5, attempt=1, conclusion="failure", news="abc")
BODIES = Bodies(("red",), "superseded")


def post(
    repository: Repository,
    marker: Marker = OURS,
    *,
    mode: CommentMode = CommentMode.ALWAYS,
    bodies: Bodies = BODIES,
    token: str = "t",  # noqa: S107
    app: str = "",
) -> CommentAction:
    """Publish as a run does."""
    sticky = StickyComment(connect(repository, token), 7, name_authors(app))
    return sticky.publish(mode, marker, bodies).action


def test_a_second_run_updates_the_comment_of_the_first(repository: Repository) -> None:
    """One comment, with the newest text."""
    assert post(repository) is CommentAction.CREATE
    newer = replace(OURS, number=6)
    assert post(repository, newer, bodies=Bodies(("grün 🟢",), "")) is CommentAction.UPDATE
    assert repository.bodies() == [f"{newer.line}\ngrün 🟢"]


def test_r3_an_old_run_does_not_overwrite_a_newer_one(repository: Repository) -> None:
    """Both orders of two runs, and of two attempts, end with the newer text."""
    post(repository, replace(OURS, number=6), bodies=Bodies(("new",), ""))
    assert post(repository, bodies=Bodies(("old",), "")) is CommentAction.NOTHING
    assert repository.bodies()[0].endswith("\nnew")
    post(repository, replace(OURS, number=6, attempt=2), bodies=Bodies(("newer",), ""))
    post(repository, replace(OURS, number=6, attempt=1), bodies=Bodies(("old",), ""))
    assert repository.bodies()[0].endswith("\nnewer")


@pytest.mark.parametrize("other", [4, 6])
def test_r3_two_runs_that_both_create_leave_one_comment(repository: Repository, other: int) -> None:
    """The lowest id is kept, with the text of the newer run."""
    theirs = replace(OURS, number=other)

    def meanwhile() -> None:
        repository.add_comment(7, f"{theirs.line}\ntheirs")

    repository.before["issues/create-comment"] = meanwhile
    post(repository, bodies=Bodies(("ours",), ""))
    if other > OURS.number:
        # The newer run looks after it has created, too, and takes what the older one made away.
        post(repository, theirs, bodies=Bodies(("theirs",), ""))
    newest = "theirs" if other > OURS.number else "ours"
    assert [body.partition("\n")[2] for body in repository.bodies()] == [newest]


def test_r4_two_keys_keep_a_comment_each(repository: Repository) -> None:
    """Two gates in one repository do not overwrite each other."""
    post(repository)
    post(repository, replace(OURS, key="other"))
    post(repository)
    assert len(repository.bodies()) == 2


def test_r5_a_marker_behind_250_comments_is_found(repository: Repository) -> None:
    """All pages are read."""
    for number in range(250):
        repository.add_comment(7, f"comment {number}", "someone")
    repository.add_comment(7, f"{OURS.line}\nold")
    assert post(repository) is CommentAction.UPDATE
    assert len(repository.bodies()) == 251


@pytest.mark.parametrize("status", [500, 502, 0])
def test_r6_a_comment_that_was_made_despite_the_failure_is_not_made_again(
    repository: Repository, status: int
) -> None:
    """After a failure that does not tell, the marker is looked for first."""
    repository.faults = [Fault("issues/create-comment", status, after=True)]
    assert post(repository) is CommentAction.CREATE
    assert len(repository.bodies()) == 1
    assert [verb for verb, _ in repository.requests].count("POST") == 1


def test_a_failure_that_made_nothing_is_tried_again(repository: Repository) -> None:
    """A hiccup costs a retry alone."""
    repository.faults = [Fault("issues/create-comment", 502, times=2)]
    post(repository)
    assert len(repository.bodies()) == 1


def test_r7_what_github_finds_too_long_is_posted_shorter(repository: Repository) -> None:
    """The verdict is always there."""
    post(repository, bodies=Bodies(("x" * 70_000, "y" * 66_000, "short"), ""))
    assert repository.bodies() == [f"{OURS.line}\nshort"]
    post(repository, bodies=Bodies(("x" * 70_000, "shorter"), ""))
    assert repository.bodies() == [f"{OURS.line}\nshorter"]


def test_r9_a_read_only_token_names_the_permission_it_lacks(repository: Repository) -> None:
    """A fork's token reads and does not write."""
    repository.tokens["fork"] = Token(rights={"pull-requests": "read"})
    with pytest.raises(PermissionMissingError) as caught:
        post(repository, token="fork")
    assert caught.value.permission == "pull-requests: write"
    assert repository.bodies() == []


def test_a_look_alike_by_somebody_else_is_left_alone(repository: Repository) -> None:
    """Nobody can make us edit, or hide, by pasting our first line."""
    repository.add_comment(7, f"{replace(OURS, number=99).line}\nfooled", "mallory")
    repository.add_comment(7, f"quoted:\n{OURS.line}")
    assert post(repository) is CommentAction.CREATE
    assert len(repository.bodies()) == 3


def test_a_personal_token_finds_its_own_comment(repository: Repository) -> None:
    """The author is whoever the token belongs to."""
    repository.tokens["p"] = Token(login="maintainer", personal=True)
    post(repository, token="p")
    assert post(repository, token="p") is CommentAction.UPDATE
    assert len(repository.bodies()) == 1


@pytest.mark.parametrize("guarded", [False, True])
@pytest.mark.parametrize("first", ["t", "app"])
def test_one_comment_is_continued_by_the_workflow_and_the_app(
    repository: Repository, first: str, guarded: bool
) -> None:
    """In both directions; another App's, or a person's with our first line, is nobody's.

    Where the one may not edit what the other has written, a new one takes its place.
    """
    repository.guards_comments = guarded
    repository.tokens["app"] = Token(login="our-bot[bot]")
    for login in ("our-bot", "mallory", "other-bot[bot]", "our-bot[bot]x"):
        repository.add_comment(7, f"{replace(OURS, number=99).line}\nfooled", login)
    second = "app" if first == "t" else "t"
    assert post(repository, token=first, app="our-bot") is CommentAction.CREATE
    newer = replace(OURS, number=6)
    for _ in range(2):
        assert post(repository, newer, token=second, app="our-bot") is CommentAction.UPDATE
    assert repository.bodies()[4:] == [f"{newer.line}\nred"]


def test_an_app_that_was_not_named_keeps_one_comment(repository: Repository) -> None:
    """Its login is known once it has written; the workflow's comment is continued anyway."""
    repository.tokens["app"] = Token(login="our-bot[bot]")
    for number in (6, 7):
        post(repository, replace(OURS, number=number), token="app")
    assert [parse_marker(body) for body in repository.bodies()] == [replace(OURS, number=7)]


@pytest.mark.parametrize("slug", ["octo[bot]", "a b", "-x", "X", "a\nb", "x" * 200])
def test_what_is_no_name_of_an_app_is_refused(slug: str) -> None:
    """Nobody's comments count by a slip."""
    with pytest.raises(UsageError, match="is no name of an App"):
        name_authors(slug)


def test_r12_an_old_red_comment_becomes_superseded(repository: Repository) -> None:
    """A later run with nothing to say does not leave it red; a later red one brings it back."""
    mode = CommentMode.ON_CHANGE
    post(repository, mode=mode)
    green = replace(OURS, number=6, conclusion="success", news="-")
    assert post(repository, green, mode=mode) is CommentAction.SUPERSEDE
    assert repository.bodies() == [f"{green.line}\nsuperseded"]
    assert post(repository, replace(OURS, number=7), mode=mode) is CommentAction.UPDATE
    assert len(repository.bodies()) == 1


def test_a_new_red_result_makes_a_new_comment_where_that_is_wanted(repository: Repository) -> None:
    """The old one says that it is superseded, and is not taken for the sticky one any more."""
    mode = CommentMode.NEW_ON_REGRESSION
    post(repository, mode=mode)
    assert post(repository, replace(OURS, number=6), mode=mode) is CommentAction.UPDATE
    other = replace(OURS, number=7, news="def")
    assert post(repository, other, mode=mode) is CommentAction.REPLACE
    first, second = repository.bodies()
    assert first.endswith("\nsuperseded")
    assert "conclusion=superseded" in first
    assert second == f"{other.line}\nred"
    assert post(repository, replace(other, number=8), mode=mode) is CommentAction.UPDATE
    assert len(repository.bodies()) == 2


@pytest.mark.parametrize(
    ("mode", "news", "action"),
    [
        (CommentMode.ALWAYS, "-", CommentAction.CREATE),
        (CommentMode.ON_CHANGE, "-", CommentAction.NOTHING),
        (CommentMode.ON_CHANGE, "abc", CommentAction.CREATE),
        (CommentMode.NEW_ON_REGRESSION, "-", CommentAction.NOTHING),
        (CommentMode.NEW_ON_REGRESSION, "abc", CommentAction.CREATE),
        (CommentMode.OFF, "abc", CommentAction.NOTHING),
    ],
)
def test_the_mode_decides_about_a_first_comment(
    mode: CommentMode, news: str, action: CommentAction
) -> None:
    """Green with nothing to say is silent unless a comment is always wanted."""
    assert decide_comment(mode, None, replace(OURS, news=news)) is action


def test_mode_off_asks_github_for_nothing(repository: Repository) -> None:
    """Not even what is there."""
    assert post(repository, mode=CommentMode.OFF) is CommentAction.NOTHING
    assert repository.requests == []


@pytest.mark.parametrize(
    "body",
    [
        None,
        "",
        "text",
        OURS.line + " x",
        " " + OURS.line,
        OURS.line.replace("key=routing", "key=a b"),
        OURS.line.replace("number=5", "number=-5"),
        OURS.line.replace("a" * 40, "a" * 39),
        OURS.line.replace("attempt=1", "attempt=" + "9" * 400),
    ],
)
def test_only_an_exact_first_line_is_a_marker(body: object) -> None:
    """What people write never counts."""
    assert parse_marker(body) is None


def test_a_marker_reads_back_as_it_was_written() -> None:
    """With unknown parts too, and with the line ends that GitHub may make of it."""
    desk = Marker("k", "", "", 0, 1, "success")
    assert parse_marker(f"{OURS.line}\r\nrest") == OURS
    assert parse_marker(desk.line) == desk


def test_a_refusal_of_the_shortest_form_is_told(repository: Repository) -> None:
    """There is nothing left to try."""
    with pytest.raises(ApiError, match="422"):
        post(repository, bodies=Bodies(("x" * 70_000,), ""))


def test_a_spare_comment_that_is_gone_already_is_no_failure(repository: Repository) -> None:
    """Another run was faster to delete it; any other failure is an error."""
    first, spare = (
        repository.add_comment(7, f"{replace(OURS, number=n).line}\nold") for n in (3, 4)
    )

    def meanwhile() -> None:
        del repository.comments[spare]

    repository.before["issues/delete-comment"] = meanwhile
    assert post(repository) is CommentAction.UPDATE
    assert list(repository.comments) == [first]
    repository.add_comment(7, f"{OURS.line}\nspare")
    repository.faults = [Fault("issues/delete-comment", 422)]
    with pytest.raises(ApiError):
        post(repository)
