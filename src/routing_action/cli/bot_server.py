"""`routing-action bot serve` and what a person does around it: deliveries, manifest, doctor."""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from routing_action.cli.options import Command, format_option, path_option
from routing_action.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from routing_action.bot.server.queue.deliveries import Kept
    from routing_action.bot.server.queue.sql_queue import SqlQueue
    from routing_action.bot.server.settings import ServerSettings

_HOOK_URL = re.compile(r"https://[^\s/?#@]+/webhook")
_STATES = ("dead", "waiting", "taken", "done")


def _config_option(command: Command) -> Command:
    text = "Settings in TOML. Each can also be a variable ROUTING_BOT_<NAME>, which comes first."
    return path_option("--config", "config_file", help=text)(command)


def _read(config_file: Path | None) -> ServerSettings:
    from routing_action.bot.server.settings import read_settings  # noqa: PLC0415 - slow to import

    return read_settings(config_file, os.environ)


def _open(config_file: Path | None) -> SqlQueue:
    from routing_action.bot.server.queue.open_queue import open_queue  # noqa: PLC0415

    try:
        return open_queue(_read(config_file).read_queue())
    except ModuleNotFoundError as error:
        raise _not_installed(error) from None


def _not_installed(error: ModuleNotFoundError) -> UsageError:
    return UsageError(
        f"the server's package {error.name} is not installed",
        remedy="install them with `pip install 'routing-action[bot]'`, or requirements-bot.lock",
    )


@click.command("serve", short_help="Take webhooks and answer them.")
@_config_option
def serve(config_file: Path | None) -> int:
    """Take GitHub's webhooks, and answer comments and buttons, until SIGTERM or SIGINT.

    Logs are lines of JSON on stderr. /healthz (it runs), /readyz (the queue can be written) and
    /metrics are on the same port. A delivery is tried 6 times within about 10 minutes; then it is
    dead.

    Metrics: routing_bot_deliveries_total by result (kept, ignored, rejected, failed),
    routing_bot_handling_seconds by event and result (done, again, dead),
    routing_bot_queue_deliveries by state (waiting, taken, dead), routing_bot_queue_age_seconds,
    routing_bot_api_requests_left by installation.
    """
    settings = _read(config_file)
    try:
        from routing_action.bot.server.meter import log_json  # noqa: PLC0415 - needs the extra
        from routing_action.bot.server.serve import serve as run  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise _not_installed(error) from None
    log_json()
    if not run(settings, logging.getLogger("routing_action.bot").info):
        # A thread that waits for GitHub would hold the process up; its delivery was given back.
        sys.stderr.flush()
        os._exit(ExitCode.PASSED)
    return ExitCode.PASSED


@click.group("deliveries", short_help="Look at deliveries, and try dead ones again.")
def deliveries() -> None:
    """Deliveries in the queue of a server, which may be running."""


@deliveries.command("list", short_help="The newest deliveries.")
@click.option("--state", type=click.Choice(_STATES), default="dead", show_default=True,
              help="Which ones: dead ones failed again and again, and were given up.")  # fmt: skip
@click.option("--most", type=click.IntRange(1, 10_000), default=50, show_default=True,
              help="How many.")  # fmt: skip
@_config_option
@format_option("text", "json")
def list_deliveries(state: str, most: int, config_file: Path | None, output_format: str) -> int:
    """List the newest deliveries in a state: id, time, event, repository, attempts, error."""
    from routing_action.bot.server.queue.deliveries import State  # noqa: PLC0415

    queue = _open(config_file)
    found = [_describe(one) for one in queue.list(State(state), most)]
    queue.close()
    if output_format == "json":
        click.echo(json.dumps(found, indent=2))
        return ExitCode.PASSED
    for one in found:
        error = json.dumps(one["error"]) if one["error"] else ""
        words = (one["id"], one["received"], one["event"], one["repository"], one["attempts"])
        click.echo("  ".join(map(str, (*words, error))).rstrip())
    if not found:
        click.echo(f"no delivery is {state}", err=True)
    return ExitCode.PASSED


@deliveries.command("show", short_help="One delivery, with its payload.")
@click.argument("delivery_id", metavar="ID")
@_config_option
def show(delivery_id: str, config_file: Path | None) -> int:
    """Print a delivery as JSON. A payload can hold what is not public; done ones have none."""
    queue = _open(config_file)
    kept = queue.show(delivery_id)
    queue.close()
    if kept is None:
        raise UsageError(
            f"there is no such delivery: {delivery_id!r}",
            remedy="list them with `routing-action bot deliveries list --state STATE`",
        )
    body = kept.delivery.body
    found = {**_describe(kept), "payload": json.loads(body) if body else None}
    click.echo(json.dumps(found, indent=2))
    return ExitCode.PASSED


@deliveries.command("retry", short_help="Try dead deliveries again.")
@click.argument("delivery_ids", metavar="ID...", nargs=-1, required=True)
@_config_option
def retry(delivery_ids: tuple[str, ...], config_file: Path | None) -> int:
    """Let deliveries that were given up be handled again, by the server that runs or the next."""
    queue = _open(config_file)
    again = [one for one in delivery_ids if queue.retry(one, time.time())]
    queue.close()
    for one in again:
        click.echo(f"{one} waits again")
    for one in delivery_ids:
        if one not in again:
            raise _unknown(one)
    return ExitCode.PASSED


def _unknown(delivery_id: str) -> UsageError:
    return UsageError(
        f"there is no such delivery, or it is not dead: {delivery_id!r}",
        remedy="list them with `routing-action bot deliveries list --state dead`",
    )


def _describe(kept: Kept) -> dict[str, object]:
    return {
        "id": kept.delivery.id,
        "received": datetime.fromtimestamp(kept.received, UTC).isoformat(timespec="seconds"),
        "event": kept.delivery.event,
        "repository": kept.delivery.repository,
        "state": kept.state.value,
        "attempts": kept.attempts,
        "error": kept.error,
    }


@click.command("manifest", short_help="Print the manifest of the App.")
@click.option("--hook-url", required=True, metavar="URL",
              help="Where GitHub reaches the server: https://HOST/webhook.")  # fmt: skip
@click.option("--name", default="routing-bot", show_default=True, help="The App's name.")
@click.option("--url", default="https://github.com", show_default=True, help="The App's home page.")
def manifest(hook_url: str, name: str, url: str) -> int:
    """Print the manifest that GitHub makes the App from: exactly what the bot uses, as JSON."""
    from routing_action.bot.server.setup import make_manifest  # noqa: PLC0415

    if not _HOOK_URL.fullmatch(hook_url):
        raise UsageError(
            f"--hook-url is no address of a webhook: {hook_url!r}",
            remedy="write it as https://HOST/webhook, such as https://bot.example.com/webhook",
        )
    click.echo(json.dumps(make_manifest(name, hook_url, url), indent=2))
    return ExitCode.PASSED


@click.command("doctor", short_help="Check settings, App, webhook and queue.")
@_config_option
def doctor(config_file: Path | None) -> int:
    """Check the secrets, the queue, the App's permissions and events, and the webhook's address."""
    from routing_action.bot.server.setup import examine  # noqa: PLC0415

    settings = _read(config_file)
    is_fine = True
    for one in examine(settings):
        is_fine &= not one.fault
        told = f"FAIL  {one.what}: {one.fault}\n      remedy: {one.remedy}"
        click.echo(told if one.fault else f"ok    {one.what}")
    return ExitCode.PASSED if is_fine else ExitCode.HARNESS


COMMANDS = (serve, deliveries, manifest, doctor)
