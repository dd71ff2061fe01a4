"""`routing-action providers drift`: does an agent CLI still print what its reader rests on."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from routing_action.agents.diagnosis import version_key
from routing_action.agents.drift import Difference, Fact, compare_streams, fact_of
from routing_action.agents.provider import Provider
from routing_action.agents.survey import Survey, survey
from routing_action.cli.options import config_option, find_provider, format_option, path_option
from routing_action.cli.place import from_here
from routing_action.cli.streams.record import keep_recording, run_prompts
from routing_action.errors import UsageError
from routing_action.evidence.outcome import Outcome, RunEnd
from routing_action.results.batch_folder import one_line
from routing_action.run.evaluate import read_lines

SKILL = "routing-probe"
PROMPTS = {
    Fact.LOAD: f"Load the skill {SKILL} and do what it says.",
    Fact.UNKNOWN: "Load the skill no-such-skill; if there is none, say so.",
    Fact.ANSWER: "Without any tool or skill: which colour has a clear sky? One word.",
}
_SKILL_TEXT = f"""\
---
name: {SKILL}
description: Use only when a prompt names {SKILL}.
---

Say "probed" and nothing else.
"""
_COMPARABLE = (Outcome.COMPLETED, Outcome.SCHEMA_DRIFT, Outcome.KILLED, Outcome.NEVER_RAN)
"""A run that failed for want of a model says nothing about the stream."""
_STREAMS = ("stdout", "stderr")


@dataclass(frozen=True, slots=True)
class Drift:
    """What was found about one agent. `unseen` says what could not be looked at, and why.

    `is_due_known`: our own prompts were run, so that it is known what each was to show.
    """

    agent: str
    version: str
    recorded: str
    differences: Sequence[Difference] = ()
    wrong: Sequence[str] = ()
    unseen: Sequence[str] = ()
    is_due_known: bool = False
    runs: Sequence[tuple[Fact, Survey]] = field(default_factory=list)

    @property
    def has_drifted(self) -> bool:
        """True where a verdict could be wrong by what was found.

        Where all verdicts were seen to be as due, nothing that is gone was needed.
        """
        unread = any(one.breaks and one.what == "new" for one in self.differences)
        holds = self.is_due_known and not self.wrong and len(self.runs) == len(PROMPTS)
        return bool(self.wrong) or unread or (not holds and any(d.breaks for d in self.differences))


@click.command("drift", short_help="Compare what an installed CLI prints with its recordings.")
@click.option("--agent", required=True, metavar="NAME", help="The agent CLI.")
@path_option("--recordings", "recordings", metavar="DIR", default="tests/recordings/cli",
             show_default=True,
             help="Its recordings lie in DIR/AGENT/VERSION, or DIR/AGENT.")  # fmt: skip
@path_option("--stdout", "files", multiple=True,
             help="Compare this output, and start nothing (repeatable).")  # fmt: skip
@path_option("--to", "folder", metavar="DIR", written=True,
             help="Keep what was printed there, as new recordings.")  # fmt: skip
@click.option("--model", metavar="NAME", help="The model that it is to ask.")
@config_option
@format_option()
def drift_command(
    agent: str,
    recordings: Path,
    files: tuple[Path, ...],
    folder: Path | None,
    model: str | None,
    output_format: str,
) -> int:
    """Run an installed CLI on three fixed prompts, and compare it with its last known version.

    The prompts ask for a skill, for one that is not there, and for a word. They go to the model
    that the environment points the CLI to: a scripted one costs nothing. Exits with 1 where
    something that the reader rests on is gone, moved or not read, or a verdict is not as due; with
    4 where no run could be looked at.
    """
    provider = find_provider(agent)
    version, known = _read_recordings(provider, recordings, needed=folder is None)
    now, tried = _read(provider, files) if files else _run(provider, folder, model)
    runs = [(fact, run) for fact, run in tried if run.outcome in _COMPARABLE]
    unseen = [
        f"{fact.value}: {run.outcome.value}: {run.reading.failure_message}".rstrip(": ")
        for fact, run in tried
        if run.outcome not in _COMPARABLE
    ]
    found = Drift(
        agent=provider.name,
        version=now or "unknown version",
        recorded=version,
        differences=compare_streams(runs, known) if runs and known else (),
        wrong=[*_wrong(runs)] if not files else [],
        unseen=unseen,
        is_due_known=not files,
        runs=runs,
    )
    if output_format == "json":
        click.echo(json.dumps(_as_json(found), indent=2))
    else:
        click.echo("\n".join(one_line(line) for line in _lines(found)))
    return 4 if not runs else 1 if found.has_drifted else 0


def _read_recordings(provider: Provider, folder: Path, *, needed: bool) -> tuple[str, list[Survey]]:
    """The highest version that was recorded, and what is read of its recordings."""
    own = folder / provider.name
    versions = sorted(
        (one for one in own.glob("*") if [*one.glob("*.stdout")]),
        key=lambda one: version_key(one.name),
    )
    chosen = versions[-1] if versions else own
    found = [
        survey(provider, read_lines(file), end=RunEnd(exit_code=None))
        for file in sorted(chosen.glob("*.stdout"))
    ]
    if not found and needed:
        raise UsageError(
            f"there is no recording of {provider.name} in {from_here(own)}",
            remedy="name its folder with --recordings, or make the first ones with --to DIR",
        )
    return chosen.name if versions else "an unknown version" if found else "no version", found


def _read(provider: Provider, files: Sequence[Path]) -> tuple[str, list[tuple[Fact, Survey]]]:
    runs = [survey(provider, read_lines(file)) for file in files]
    version = next((run.reading.cli_version for run in runs if run.reading.cli_version), "")
    return version, [(fact_of(run), run) for run in runs]


def _run(
    provider: Provider, folder: Path | None, model: str | None
) -> tuple[str, list[tuple[Fact, Survey]]]:
    """The version of the CLI, and what each prompt gave."""
    runs: list[tuple[Fact, Survey]] = []
    version = ""
    with tempfile.TemporaryDirectory(prefix="routing-action-drift-") as made:
        temporary = Path(made).resolve()
        skill = temporary / "skills" / SKILL / "SKILL.md"
        skill.parent.mkdir(parents=True)
        skill.write_text(_SKILL_TEXT, encoding="utf-8")
        (temporary / "project").mkdir()
        options = [f"--skills={skill.parents[1]}", "--timeout-seconds=120"]
        options += [f"--provider-model={provider.name}:{model}"] if model else []
        prompts = {fact.value.replace(" ", "-"): prompt for fact, prompt in PROMPTS.items()}
        rows = run_prompts(provider.name, prompts, options, temporary, temporary / "project")
        for fact, (row, stem) in zip(PROMPTS, rows, strict=True):
            version = row["cli_version"] or version
            stdout, stderr = (read_lines(stem.with_suffix(f".{one}")) for one in _STREAMS)
            end = RunEnd(exit_code=row["exit_code"], timed_out=row["timed_out"])
            run = survey(provider, stdout, stderr, end=end, prompt=PROMPTS[fact])
            runs.append((fact, run))
            if folder is not None:
                own = folder / provider.name / (version or "unknown")
                keep_recording(row, stem, own, temporary)
    return version, runs


def _wrong(runs: Sequence[tuple[Fact, Survey]]) -> Iterator[str]:
    """What a run was to show and did not; a real model may have answered in another way."""
    for fact, run in runs:
        shown = fact_of(run)
        # Without a skill tool a skill that is not there looks like any file that is not.
        quiet = fact is not Fact.LOAD and shown in (Fact.ANSWER, Fact.UNKNOWN)
        if shown is not fact and not quiet:
            said = run.outcome.value if shown is Fact.OTHER else f"the run shows {shown.value}"
            yield f"{fact.value}: {said}"


def _lines(found: Drift) -> Iterator[str]:
    yield f"{found.agent} {found.version}, compared with the recordings of {found.recorded}"
    for one in found.differences:
        yield f"  {one}"
    for line in found.wrong:
        yield f"  verdict is not as due: {line}"
    for line in found.unseen:
        yield f"  could not be seen: {line}"
    if found.has_drifted:
        yield "  verdicts may be wrong: add a recording, and adapt the reader"
    elif found.runs:
        yield "  verdicts hold"


def _as_json(found: Drift) -> dict[str, Any]:
    return {
        "agent": found.agent,
        "version": found.version,
        "recorded": found.recorded,
        "drifted": found.has_drifted,
        "differences": [
            {"what": one.what, "kind": one.kind, "field": one.field or None,
             "detail": one.detail or None, "breaks": one.breaks}
            for one in found.differences
        ],
        "wrong": list(found.wrong),
        "unseen": list(found.unseen),
    }  # fmt: skip
