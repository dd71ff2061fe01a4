"""Chooses the baseline that decides in a workflow run, by what started it."""

from __future__ import annotations

from dataclasses import dataclass

from routing_action.errors import UsageError
from routing_action.github.context import Context


@dataclass(frozen=True, slots=True)
class BaseChoice:
    """At most one of the two; neither means that the checked-in baseline decides."""

    merge_base_of: str | None = None
    ref: str | None = None


def choose_base(context: Context, baseline_ref: str) -> BaseChoice:
    """The baseline of an event (docs/explanation/gate.md, "Two baselines").

    `baseline_ref` always wins. A pull request is held to its merge base, a merge group to the
    commit that it is based on, a push to the checked-in file, and anything else to the default
    branch.
    """
    if baseline_ref:
        return BaseChoice(ref=baseline_ref)
    if context.event_name in ("pull_request", "pull_request_target"):
        return BaseChoice(merge_base_of=f"origin/{context.base_ref}")
    if context.event_name == "merge_group":
        return BaseChoice(ref=_base_of_group(context))
    if context.event_name == "push":
        return BaseChoice()
    return BaseChoice(ref=f"origin/{_default_branch(context)}")


def _base_of_group(context: Context) -> str:
    group = context.event.get("merge_group")
    sha = group.get("base_sha") if isinstance(group, dict) else None
    if not isinstance(sha, str) or not sha:
        raise UsageError(
            "the merge_group event does not tell its base_sha",
            remedy="name the commit to compare with by the input baseline-ref",
        )
    return sha


def _default_branch(context: Context) -> str:
    """The payload's; a scheduled run has none in it, and always is of the default branch."""
    repository = context.event.get("repository")
    branch = repository.get("default_branch") if isinstance(repository, dict) else None
    if isinstance(branch, str) and branch:
        return branch
    if context.event_name == "schedule" and context.ref_name:
        return context.ref_name
    raise UsageError(
        f"the default branch is not known in a run by {context.event_name or 'nothing'}",
        remedy="name the commit to compare with by the input baseline-ref",
    )
