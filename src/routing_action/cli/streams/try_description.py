"""`routing-action providers try`: what is read of an agent's recorded output, and what not."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from routing_action.agents.provider import Provider
from routing_action.agents.reading.decoding import decode_record
from routing_action.agents.survey import Seen, Survey, survey
from routing_action.cli.options import config_option, find_provider, format_option, path_option
from routing_action.cli.place import from_here
from routing_action.evidence.outcome import Outcome, RunEnd
from routing_action.evidence.transcript import LineKind
from routing_action.files.program import own_program
from routing_action.gate.wording import count
from routing_action.results.batch_folder import one_line
from routing_action.run.evaluate import read_lines
from routing_action.run.replay.recordings import Script, read_script

_LONGEST_EXAMPLE = 160
_MOST_TEXTS = 3
_MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class Tried:
    """One recording and what was read of it."""

    file: Path
    script: Script
    found: Survey


@click.command("try", short_help="Say what is read of an agent's recorded output, and what not.")
@click.option("--agent", required=True, metavar="NAME", help="Whose output it is.")
@path_option("--stdout", "files", multiple=True, required=True,
             help="A recording of standard output (repeatable). NAME.stderr and NAME.json beside "
             "NAME.stdout are its standard error and its exit code.")  # fmt: skip
@click.option("--prompt", default="", metavar="TEXT", help="What the agent was asked.")
@config_option
@format_option()
def try_command(agent: str, files: tuple[Path, ...], prompt: str, output_format: str) -> int:
    """Read recordings of an agent by its reader, or by its description in routing.toml.

    Exits with 1 where a kind of record is not read, or nothing shows that a load would be proven.
    """
    provider = find_provider(agent)
    tried = [_read(provider, file, prompt) for file in files]
    advice = _advice(provider, files)
    missing = [*_missing(provider, tried)]
    unread = any(one.found.unread for one in tried)
    if output_format == "json":
        click.echo(json.dumps(_as_json(provider, tried, advice, missing), indent=2))
    else:
        for one in tried:
            click.echo("\n".join(one_line(line) for line in _describe(provider, one)))
        for title, lines in (("look at", advice), ("still missing", missing)):
            if lines:
                click.echo("\n".join([title, *(f"  {one_line(line)}" for line in lines)]))
        if not (unread or advice or missing):
            click.echo("all is read, and loads, failed calls, other runs and failures are shown")
    return 1 if unread or not any(one.found.lines(LineKind.LOAD) for one in tried) else 0


def _read(provider: Provider, file: Path, prompt: str) -> Tried:
    stderr, facts = file.with_suffix(".stderr"), file.with_suffix(".json")
    script = read_script(facts) if facts.is_file() else Script()
    errors = [*read_lines(stderr)] if stderr.is_file() else []
    end = RunEnd(exit_code=script.exit_code, timed_out=script.hang)
    return Tried(file, script, survey(provider, read_lines(file), errors, end=end, prompt=prompt))


def _describe(provider: Provider, one: Tried) -> Iterator[str]:
    found = one.found
    reading = found.reading
    total, read = reading.recognised + reading.unrecognised, reading.recognised
    yield f"{from_here(one.file)}: {read} of {count(total, 'record')} read"
    for name, seen in found.kinds.items():
        mark = "" if seen.read == seen.count else "  NOT READ" if not seen.read else "  partly read"
        yield f"  {name:<28} {seen.count:>4}{mark}"
        if mark:
            yield f"    for example, line {seen.number}: {_short(seen)}"
    for number, text in found.texts[:_MOST_TEXTS]:
        yield f"  line {number} is no record: {text[:_LONGEST_EXAMPLE]}"
    yield f"  loads        {_named(found, LineKind.LOAD)}"
    yield f"  failed calls {_named(found, LineKind.ATTEMPT)}"
    yield f"  reads        {_named(found, LineKind.READ)}"
    yield f"  other calls  {_named(found, LineKind.TOOL_CALL)}"
    yield f"  answer       {'yes' if reading.has_text else 'none'}"
    yield f"  failure      {_failure(found)}"
    yield f"  end          {', '.join(f'line {n}' for n in found.ends) or 'none'}"
    yield f"  outcome      {found.outcome.value}"
    for note in reading.notes:
        yield f"  note: {note}"


def _short(seen: Seen) -> str:
    return seen.example[:_LONGEST_EXAMPLE] + ("…" if len(seen.example) > _LONGEST_EXAMPLE else "")


def _named(found: Survey, kind: LineKind) -> str:
    lines = found.lines(kind)
    shown = [f"{line.skill or line.path or line.text[:60]} (line {line.number})" for line in lines]
    return (
        ", ".join(shown[:5]) + (f" and {len(shown) - 5} more" if len(shown) > 5 else "") or "none"
    )


def _failure(found: Survey) -> str:
    failure = found.reading.failure or found.reading.retrying
    return f"{failure.value}: {found.reading.failure_message}" if failure else "none"


def _advice(provider: Provider, files: Sequence[Path]) -> list[str]:
    if provider.described is None:
        return []
    from routing_action.agents.described.advice import advise  # noqa: PLC0415 - slow to import

    decoded = (decode_record(line) for file in files for line in read_lines(file))
    return [*advise(provider.described().records, [one for one in decoded if one is not None])]


def _missing(provider: Provider, tried: Sequence[Tried]) -> Iterator[str]:
    """What no recording shows yet, of all that a verdict can rest on."""
    again = f"{own_program()} providers record --agent {provider.name} --name"
    if not any(one.found.lines(LineKind.LOAD) for one in tried):
        yield (
            "positives: no recording shows a load. If one has it, correct `call`, `result` and "
            f"`tools`; else: {again} load -- PROMPT"
        )
    if not any(one.found.lines(LineKind.ATTEMPT) for one in tried):
        yield (
            "failed calls: no recording shows a skill that could not be loaded, so that a failure "
            f"may look like a load: {again} unknown -- 'Load the skill no-such-skill.'"
        )
    if not any(_is_plain(one.found) for one in tried):
        yield (
            "negatives: no recording is a complete run without a load: "
            f"{again} answer -- 'What is 2 + 2?'"
        )
    failed = (Outcome.AUTH, Outcome.QUOTA, Outcome.RATE_LIMIT, Outcome.SERVER_ERROR)
    if not any(one.found.outcome in (*failed, Outcome.API_ERROR) for one in tried):
        yield f"failures: no recording is of a run that failed: with a wrong key, {again} key -- Hi"


def _is_plain(found: Survey) -> bool:
    calls = (LineKind.LOAD, LineKind.ATTEMPT)
    return found.outcome is Outcome.COMPLETED and not any(found.lines(kind) for kind in calls)


def _as_json(
    provider: Provider, tried: Sequence[Tried], advice: list[str], missing: list[str]
) -> dict[str, Any]:
    return {
        "agent": provider.name,
        "recordings": [
            {
                "file": str(one.file),
                "kinds": {
                    name: {
                        "count": seen.count,
                        "read": seen.read,
                        "example": seen.example[: _LONGEST_EXAMPLE * 4],
                        "line": seen.number,
                    }
                    for name, seen in one.found.kinds.items()
                },
                "no_records": len(one.found.texts),
                "loads": [line.skill for line in one.found.lines(LineKind.LOAD)],
                "failed_calls": [line.skill for line in one.found.lines(LineKind.ATTEMPT)],
                "reads": [line.path for line in one.found.lines(LineKind.READ)],
                "failure": failure.value
                if (failure := one.found.reading.failure or one.found.reading.retrying)
                else None,
                "ends": list(one.found.ends),
                "outcome": one.found.outcome.value,
                "notes": list(one.found.reading.notes),
            }
            for one in tried
        ],
        "look_at": advice,
        "missing": missing,
    }
