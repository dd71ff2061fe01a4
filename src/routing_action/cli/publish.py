"""`routing-action publish`: post a delta as check run and comment."""

from __future__ import annotations

import os
from pathlib import Path

import click

from routing_action.action.post import marker_for, open_github, post
from routing_action.action.publish import mark_origin
from routing_action.cli.options import delta_option, path_option, templates_option
from routing_action.cli.place import find_delta
from routing_action.errors import ExitCode, GitHubError, UsageError
from routing_action.gate.deltas import read_delta
from routing_action.github.comments import CommentMode, is_key
from routing_action.github.context import read_context
from routing_action.report.render_all import render_all

TOKEN_VARIABLE = "GITHUB_TOKEN"  # noqa: S105 - the name of a variable


@click.command("publish", short_help="Post a delta as check run and comment.")
@delta_option
@click.option(
    "--comment-mode",
    type=click.Choice([mode.value for mode in CommentMode]),
    default=CommentMode.ALWAYS.value,
    show_default=True,
    help="When the pull request gets a comment.",
)
@click.option(
    "--key", default="routing", show_default=True, help="Tells apart several gates' comments."
)
@templates_option
@click.option("--report-url", default="", metavar="URL", help="Where the full report is.")
@path_option(
    "--dry-run",
    metavar="DIR",
    written=True,
    help="Write each payload into this folder, and post nothing.",
)
def command(
    delta_file: Path | None,
    comment_mode: str,
    key: str,
    templates: Path | None,
    report_url: str,
    dry_run: Path | None,
) -> int:
    """Post a delta as check run and comment, from inside a workflow run.

    Repository, run and pull request come from the variables that GitHub Actions sets, the token
    from GITHUB_TOKEN. It judges nothing: the exit code is 0, or 5 where something could not be
    posted.
    """
    if not is_key(key):
        raise UsageError(
            f"--key {key!r}: cannot stand in a comment's marker",
            remedy="use letters, digits, `.`, `_` and `-`, at most 80 of them",
        )
    delta = read_delta(delta_file or find_delta())
    context = read_context(os.environ)
    if context.event_name == "workflow_run":
        delta = mark_origin(delta, context)
    if not context.repository:
        raise UsageError(
            "GITHUB_REPOSITORY is not set", remedy="run this inside a workflow, or set GITHUB_*"
        )
    links = context.links(key, report_url)
    rendered, warnings = render_all(delta, links, templates)
    done = post(
        rendered,
        marker_for(delta, links),
        repository=open_github(context, os.environ.get(TOKEN_VARIABLE, ""), dry_run),
        context=context,
        links=links,
        mode=CommentMode(comment_mode),
    )
    for warning in (*warnings, *done.warnings):
        click.echo(f"routing-action: warning: {warning}", err=True)
    for name, url in (("comment", done.comment_url), ("check run", done.check_url)):
        if url:
            click.echo(f"{name}: {url}")
    if done.warnings:
        raise GitHubError("not everything could be posted", remedy="see the warnings above")
    return ExitCode.PASSED
