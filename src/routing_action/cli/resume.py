"""`run --resume BATCH`: the batch's own arguments again, out of its journal."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from pathlib import Path

import click
from click.core import ParameterSource

from routing_action.cli.options import split_list
from routing_action.cli.wiring import show_complete
from routing_action.errors import DocumentError, UsageError
from routing_action.results.journal import Journal
from routing_action.run.resume import open_journal

_OUTSIDE = frozenset("resume artifacts_root batch_file output_format".split())
"""What says nothing about the batch itself, and is not kept."""
_FREE = _OUTSIDE | frozenset("output proof_log no_progress run_all keep_workspace".split())
"""What may be given anew."""


def kept_arguments(context: click.Context, *pinned: str) -> tuple[str, ...]:
    """The options that were given, as arguments; `pinned` ones are added and count."""
    names = {option.name or "" for option in _given_options(context)}
    return (*_arguments(context, names - _OUTSIDE), *pinned)


def resume_batch(context: click.Context, batch: str, artifacts_root: Path) -> int:
    """Run the command again as the journal says; the context's object is the open journal."""
    journal = open_journal(batch, artifacts_root)
    try:
        own = _arguments(context, _FREE - _OUTSIDE)
        again = _parse(context, journal, own)
        _refuse_contradictions(context, again)
        code = show_complete(
            journal,
            os.environ,
            cases=again.params["cases_file"],
            batch_file=context.params["batch_file"],
            as_json=context.params["output_format"] == "json",
        )
        if code is not None:
            return code
        for name in ("batch_file", "output_format"):
            again.params[name] = context.params[name]
        with again:
            code = again.command.invoke(again)
        return int(code)
    finally:
        journal.close()


def _parse(context: click.Context, journal: Journal, own: Iterator[str]) -> click.Context:
    then = journal.earlier.header.arguments if journal.earlier else ()
    arguments = [*then, *own, f"--artifacts-root={journal.path.parent.parent}"]
    try:
        again = context.command.make_context("run", arguments, obj=journal)
    except (click.ClickException, click.exceptions.Exit) as error:
        message = error.format_message() if isinstance(error, click.ClickException) else "a stop"
        raise DocumentError(
            f"`run` does not take them: {message}",
            file=str(journal.path),
            line=1,
            field="arguments",
            remedy="start a new batch; only the harness writes the journal",
        ) from None
    if again.params["resume"] is not None or again.params["self_test"]:
        raise DocumentError(
            "not those of a batch", file=str(journal.path), line=1, field="arguments"
        )
    return again


def _refuse_contradictions(context: click.Context, again: click.Context) -> None:
    for option in _given_options(context):
        name = option.name or ""
        then = again.params.get(name)
        if name not in _FREE and _plain(context.params[name]) != _plain(then):
            raise UsageError(
                f"{option.opts[0]} contradicts the batch, whose options stand in its journal",
                remedy=f"leave {option.opts[0]} out, or start a new batch without --resume",
            )


def _plain(value: object) -> object:
    """A value to compare: lists that were given in one word or in several are the same."""
    return split_list(value) if isinstance(value, tuple) else value


def _given_options(context: click.Context) -> Iterator[click.Option]:
    for option in context.command.params:
        source = context.get_parameter_source(option.name or "")
        if source is ParameterSource.COMMANDLINE and isinstance(option, click.Option):
            yield option


def _arguments(context: click.Context, names: Collection[str]) -> Iterator[str]:
    """The given options of these names, as words of a command line."""
    for option in _given_options(context):
        value = context.params[option.name or ""]
        if option.name not in names:
            continue
        if isinstance(value, bool):
            yield (option.opts if value else option.secondary_opts)[0]
        else:
            values = value if isinstance(value, tuple) else (value,)
            yield from (f"{option.opts[0]}={one}" for one in values)
