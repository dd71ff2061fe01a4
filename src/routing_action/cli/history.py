"""`routing-action history`: how pairs did over time, and where their rate changed."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import tempfile
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import click

from routing_action.cli.options import (
    format_option,
    history_option,
    path_option,
    read_history_option,
    spell_names,
    split_list,
    stdout_style,
)
from routing_action.cli.place import from_here
from routing_action.errors import NothingToRunError, UsageError
from routing_action.files.atomic import write_atomically
from routing_action.gate.wording import name_few
from routing_action.git.command import find_work_tree
from routing_action.git.data_branch import DATA_BRANCH, open_data_branch
from routing_action.git.merge_base import list_outside
from routing_action.report.terminal.history_text import render_history
from routing_action.results.find import find_result_files
from routing_action.results.past.history import History, parse_history
from routing_action.results.past.history_lines import append_to_folder, build_lines
from routing_action.results.past.trends import Trend, build_trends
from routing_action.results.read import read_results

_DAY = re.compile(r"\d{4}-\d\d-\d\d")  # Python takes 20261129 and 2026-W48-7 too
_PAGE = "how-to/keep-a-history.md"


@click.command("history", short_help="Show how pairs did over time.")
@history_option
@click.option(
    "--case", "--case-id", "cases", multiple=True, metavar="IDS", help="Only these cases."
)
@click.option("--agent", "--agents", "agents", multiple=True, metavar="NAMES",
              help="Only these agents.")  # fmt: skip
@click.option("--since", metavar="DATE", help="Only runs from this day on (UTC), as 2026-11-29.")
@path_option(
    "--add",
    "added",
    multiple=True,
    metavar="PATH",
    help="First append what these results measured to the folder of --history.",
)
@path_option(
    "--fetch",
    "copied_to",
    metavar="DIR",
    written=True,
    help="Copy the branch's files into this folder, for --history of other commands.",
)
@path_option(
    "--site",
    metavar="DIR",
    written=True,
    help="Write the dashboard, index.html, and badge.json into this folder.",
)
@format_option("text", "json", "csv")
def command(
    history_folder: Path | None,
    cases: tuple[str, ...],
    agents: tuple[str, ...],
    since: str | None,
    added: tuple[Path, ...],
    copied_to: Path | None,
    site: Path | None,
    output_format: str,
) -> int:
    """Show the pass rate of each pair, the worst first, and where it changed.

    The history is the folder of --history, else the branch routing-action-data at the remote, which
    the action keeps. A rate has its 95% interval. A change is shown where chance alone would make
    one in at most 5% of pairs that never changed.
    """
    if copied_to is not None and history_folder is not None:
        raise UsageError(
            "give one of --fetch and --history",
            remedy="leave out --history: --fetch copies the branch at the remote",
        )
    _check_day(since)
    if added:
        _add(added, history_folder)
    history = read_history_option(history_folder, None) if history_folder else _fetch(copied_to)
    trends = build_trends(_select(history, cases, agents, since).lines)
    if not trends:
        raise NothingToRunError(
            "the history has no run that matches" if history.lines else "the history has no run yet"
        )
    if site is not None:
        _write_site(site, trends)
    if output_format == "text":
        text = render_history(trends, stdout_style(os.environ).width)
    else:
        text = _to_json(trends) if output_format == "json" else _to_csv(trends)
    click.echo(text, nl=False)
    return 0


def _check_day(text: str | None) -> None:
    try:
        is_day = text is None or bool(_DAY.fullmatch(text) and date.fromisoformat(text))
    except ValueError:  # a day that no month has
        is_day = False
    if not is_day:
        raise UsageError(f"--since {text!r} is no day", remedy="write it as 2026-11-29")


def _add(paths: Sequence[Path], folder: Path | None) -> None:
    if folder is None:
        raise UsageError("--add needs the folder of the history", remedy="give --history DIR too")
    results = [read_results(path) for path in find_result_files(paths)]
    lines = [line for one in results for line in build_lines(one, one.batch_run_id)]
    replays = sum(one.options.replay is not None for one in results)
    if replays:
        batches = "1 batch is a replay" if replays == 1 else f"{replays} batches are replays"
        click.echo(f"routing-action: {batches}, which measures nothing: not added", err=True)
    top = find_work_tree(Path.cwd())
    made = [one.options.commit or "" for one in results if one.options.replay is None]
    if top and (outside := list_outside(top, made)):
        commits = name_few(one[:12] for one in outside)
        own = [one.batch_run_id for one in results if one.options.commit in outside]
        click.echo(
            f"routing-action: warning: not on the default branch: {commits}; a history with such "
            "results tells nothing of that branch. To take them back, remove from "
            f"{from_here(folder)} the lines that hold {' or '.join(own)}",
            err=True,
        )
    count = append_to_folder(folder, lines)
    click.echo(f"routing-action: {count} new in {from_here(folder)}", err=True)


def _fetch(copied_to: Path | None) -> History:
    """What the branch at the remote has, also as files in a folder that is named.

    Raises UsageError where there is no such branch.
    """
    top = find_work_tree(Path.cwd())
    with tempfile.TemporaryDirectory() as place:
        branch = open_data_branch(top, Path(place), os.environ) if top else None
        if branch is None or not branch.fetch():
            where = f"the remote has no branch {DATA_BRANCH}" if branch else "there is no remote"
            raise UsageError(
                f"no history: {where}",
                remedy="name a folder with --history DIR, or let the action keep one",
                page=_PAGE,
            )
        files = branch.read()
    if copied_to is not None:
        for name, data in files.items():
            write_atomically(copied_to / name, data.decode("utf-8", "replace"))
    return parse_history(files, None)


def _select(
    history: History, cases: tuple[str, ...], agents: tuple[str, ...], since: str | None
) -> History:
    """The lines that are asked for; UsageError for a name that no line has."""
    lines: Iterable[Any] = history.lines
    known = {line.case_id for line in history.lines}, {line.agent for line in history.lines}
    wanted = [
        spell_names(split_list(names), have, f"the history has no {what}", f"its {what}s")
        for names, have, what in zip((cases, agents), known, ("case", "agent"), strict=True)
    ]
    return History(
        tuple(
            line
            for line in lines
            if (not cases or line.case_id in wanted[0])
            and (not agents or line.agent in wanted[1])
            and line.at >= (since or "")
        ),
        history.unread,
    )


def _write_site(folder: Path, trends: list[Trend]) -> None:
    from routing_action.report.html.site import (  # noqa: PLC0415 - jinja2 is slow to import
        BADGE_FILE,
        SITE_FILE,
        render_badge,
        render_site,
    )

    repository = os.environ.get("GITHUB_REPOSITORY", "")
    write_atomically(folder / SITE_FILE, render_site(trends, repository))
    write_atomically(folder / BADGE_FILE, render_badge(trends))
    written = " and ".join(from_here(folder / name) for name in (SITE_FILE, BADGE_FILE))
    click.echo(f"routing-action: wrote {written}", err=True)


def _describe(trend: Trend) -> dict[str, Any]:
    change, low_high = trend.change, trend.interval
    return {
        "case_id": trend.pair[0],
        "agent": trend.pair[1],
        "runs": len(trend.lines),
        "passed": trend.record.passes,
        "trials": trend.record.trials,
        "rate": None if trend.rate is None else round(trend.rate, 4),
        "low": round(low_high[0], 4),
        "high": round(low_high[1], 4),
        "flips": trend.flips,
        "streak": trend.streak,
        "duration_ms": trend.duration_ms,
        "cost_usd": None if trend.cost_usd is None else round(trend.cost_usd, 6),
        "change": None
        if change is None
        else {
            "commit": trend.lines[change.place].commit,
            "at": trend.lines[change.place].at,
            "before": {"passed": change.before.passes, "trials": change.before.trials},
            "since": {"passed": change.since.passes, "trials": change.since.trials},
            "p": change.p,
            "with": [
                {"what": one.what, "before": one.before, "after": one.after} for one in trend.causes
            ],
        },
    }


def _to_json(trends: Iterable[Trend]) -> str:
    return json.dumps([_describe(one) for one in trends], indent=2) + "\n"


def _to_csv(trends: Iterable[Trend]) -> str:
    out = io.StringIO()
    writer = None
    for trend in trends:
        row = _describe(trend)
        change = row.pop("change") or {"commit": "", "at": "", "with": []}
        row |= {
            "change_commit": change["commit"],
            "change_at": change["at"],
            "change_with": "; ".join(one["what"] for one in change["with"]),
        }
        if writer is None:
            writer = csv.DictWriter(out, row, lineterminator="\n")
            writer.writeheader()
        writer.writerow({name: _plain(value) for name, value in row.items()})
    return out.getvalue()


def _plain(value: object) -> object:
    """A text that no spreadsheet takes for a formula."""
    is_formula = isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r"))
    return f"'{value}" if is_formula else value
