"""`routing-action bot`: tries the bot on a payload, without GitHub; the server is `bot_server`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from pydantic import ValidationError

from routing_action.cli.bot_server import COMMANDS
from routing_action.cli.options import format_option, path_option
from routing_action.errors import DocumentError, ExitCode
from routing_action.files.documents import decode_text, find_fault, name_field, read_bytes
from routing_action.files.json_text import JsonText
from routing_action.gate.deltas import read_delta
from routing_action.github.comments import Marker
from routing_action.github.context import MAX_EVENT_BYTES, Context

_REPORT = "delta.json"


@click.group("bot", short_help="Try the reporting bot, or run its server.")
def command() -> None:
    """Commands of the reporting bot, which answers `/routing ...` in pull requests."""


for _one in COMMANDS:
    command.add_command(_one)


@command.command("try", short_help="Show what the bot would do about a payload.")
@click.argument("payload", type=click.Path(path_type=Path))
@click.option(
    "--event",
    type=click.Choice(["issue_comment"]),
    default="issue_comment",
    show_default=True,
    help="What kind of event the payload is of.",
)
@path_option(
    "--delta",
    "delta_file",
    help="The report that the pull request has. Default: delta.json beside PAYLOAD, if it exists.",
)
@click.option(
    "--permission",
    type=click.Choice(["admin", "write", "read", "none"]),
    default="write",
    show_default=True,
    help="What the comment's author may do in the repository.",
)
@format_option("text", "json")
def try_payload(
    payload: Path, event: str, delta_file: Path | None, permission: str, output_format: str
) -> int:
    """Show what the bot would post and start because of a webhook's PAYLOAD. Sends nothing.

    It cannot show how `accept` edits a baseline, since it reads no repository.
    """
    # PyGithub is slow to import.
    from routing_action.bot.handle import handle_comment  # noqa: PLC0415
    from routing_action.bot.last_report import LastReport  # noqa: PLC0415
    from routing_action.bot.rehearsal import Rehearsal  # noqa: PLC0415
    from routing_action.bot.work import Settings  # noqa: PLC0415

    found = _read_payload(payload)
    beside = payload.with_name(_REPORT)
    path = delta_file or (beside if beside.is_file() else None)
    report = LastReport(problem="there is no report on this pull request yet")
    if path is not None:
        delta = read_delta(path)
        head = delta.commit or "0" * 40
        marker = Marker("routing", head, "1", 1, 1, delta.conclusion.value, "1")
        report = LastReport(marker, "", delta)
    rehearsal = Rehearsal(found, report.marker.sha if report.marker else None, permission)
    context = Context(event_name=event, repository=found.repository.full_name)
    outcomes = handle_comment(
        found, rehearsal.repository, Settings(), context, lambda: report, worker="try"
    )
    if output_format == "json":
        told = [{"what": what, "body": body} for what, body in rehearsal.sent]
        click.echo(json.dumps(told, indent=2))
    elif outcomes:
        click.echo("\n\n".join(_show(what, body) for what, body in rehearsal.sent))
    else:
        click.echo("nothing: this comment holds no command of a person on a pull request")
    return ExitCode.PASSED


def _read_payload(path: Path) -> Any:  # noqa: ANN401 - the model is slow to import
    from routing_action.bot.payload import CommentEvent  # noqa: PLC0415

    data = read_bytes(path, MAX_EVENT_BYTES, "name a payload, such as docs/samples/rerun.json")
    document = JsonText(str(path), decode_text(data, str(path)))
    try:
        return CommentEvent.model_validate(document.decode())
    except ValidationError as error:
        fault = find_fault(error)
        raise DocumentError(
            fault.cause,
            file=str(path),
            line=document.line_of(fault.where) if fault.where else 1,
            field=name_field(fault.where),
            remedy="save a delivery as GitHub's page of the webhook shows it",
        ) from None


def _show(what: str, body: Any) -> str:  # noqa: ANN401 - any JSON
    """A request as a person reads it."""
    if isinstance(body, dict) and set(body) == {"body"}:
        return f"--- {what}\n{body['body'].partition(chr(10))[2].strip()}"
    if isinstance(body, dict) and set(body) == {"content"}:
        return f"--- {what}: {body['content']}"
    return f"--- {what}\n{json.dumps(body, indent=2)}" if body else f"--- {what}"
