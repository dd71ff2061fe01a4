"""Which baseline decides, by what started the workflow."""

from __future__ import annotations

from typing import Any

import pytest

from routing_action.action.aggregate import choose_base
from routing_action.errors import UsageError
from routing_action.github.context import Context

REPOSITORY = {"repository": {"default_branch": "trunk"}}
GROUP = {"merge_group": {"base_sha": "a" * 40, "head_sha": "b" * 40}}


@pytest.mark.parametrize(
    ("name", "event", "choice"),
    [
        ("pull_request", {}, ("origin/main", None)),
        ("merge_group", GROUP, (None, "a" * 40)),
        ("push", REPOSITORY, (None, None)),
        ("workflow_dispatch", REPOSITORY, (None, "origin/trunk")),
        ("schedule", {"schedule": "0 4 * * 1"}, (None, "origin/here")),
    ],
)
def test_each_event_has_its_baseline(
    name: str, event: dict[str, Any], choice: tuple[str | None, str | None]
) -> None:
    """The merge base of a pull request, the base of a group, the default branch otherwise."""
    context = Context(event_name=name, event=event, base_ref="main", ref_name="here")
    assert choose_base(context, "") == choice


@pytest.mark.parametrize("name", ["pull_request", "merge_group", "push", "schedule"])
def test_the_operators_ref_always_decides(name: str) -> None:
    """It was named on purpose."""
    context = Context(event_name=name, base_ref="main")
    assert choose_base(context, "v1") == (None, "v1")


@pytest.mark.parametrize(
    ("name", "event"),
    [("merge_group", {}), ("merge_group", {"merge_group": 1}), ("workflow_dispatch", {}), ("", {})],
)
def test_where_the_event_does_not_tell_a_ref_must_be_named(
    name: str, event: dict[str, Any]
) -> None:
    """No other commit is taken in its place."""
    with pytest.raises(UsageError, match=r"remedy: name the commit .* baseline-ref"):
        choose_base(Context(event_name=name, event=event), "")
