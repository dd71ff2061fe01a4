"""`routing-action providers record`: run an agent once, and keep what it prints."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from routing_action.cli.options import config_option, find_provider, known_agents, path_option
from routing_action.cli.place import from_here
from routing_action.errors import DocumentError, HarnessError, UsageError
from routing_action.files.atomic import write_atomically
from routing_action.files.program import own_program
from routing_action.results.batch_folder import one_line

_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,99}")
_HOMES = {"repo": "/repo", "home": "/home/user"}


@click.command("record", short_help="Run an agent once, in a clean home, and keep what it prints.")
@click.option("--agent", required=True, metavar="NAME", help="The agent CLI.")
@path_option("--to", "folder", metavar="DIR", written=True,
             help="The folder. Default: tests/recordings/AGENT.")  # fmt: skip
@click.option("--name", default="first", show_default=True, metavar="NAME",
              help="The name of the recording.")  # fmt: skip
@path_option("--skills", metavar="PATH", help="Skills to stage, as for `run`.")
@click.option("--timeout-seconds", type=click.FloatRange(1), default=300, show_default=True,
              help="The wall time of the run.")  # fmt: skip
@click.option("--force", is_flag=True, help="Replace a recording of this name.")
@click.option("--model", metavar="NAME", help="The model that it is to ask.")
@config_option
@click.argument("prompt")
def record_command(
    agent: str,
    folder: Path | None,
    name: str,
    skills: Path | None,
    timeout_seconds: float,
    force: bool,
    model: str | None,
    prompt: str,
) -> int:
    """Run one PROMPT as a unit of `run` does, and keep its output without secrets and paths.

    The agent gets a home, a workspace and an environment of its own. Read the recording before
    you commit it: only the values of secrets that the run knew are masked.
    """
    provider = find_provider(agent)
    folder = folder or Path("tests/recordings") / provider.name
    stem = folder / name
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"--name {name}: cannot name a file", remedy="use letters, digits, - and _"
        )
    if stem.with_name(f"{name}.stdout").exists() and not force:
        raise DocumentError(
            "exists already, and is not replaced",
            file=f"{from_here(stem)}.stdout",
            remedy="give another --name, or replace it with --force",
        )
    said = f"{provider.title} runs once; this costs what one prompt costs"
    click.echo(one_line(said), err=True)
    with tempfile.TemporaryDirectory(prefix="routing-action-record-") as made:
        temporary = Path(made).resolve()
        options = [f"--skills={skills}"] if skills else []
        options += [f"--timeout-seconds={timeout_seconds:g}"]
        options += [f"--provider-model={provider.name}:{model}"] if model else []
        ((row, stored),) = run_prompts(provider.name, {name: prompt}, options, temporary)
        keep_recording(row, stored, folder, temporary)
    place = from_here(stem)
    click.echo(one_line(f"{place}.stdout: outcome {row['outcome']}; read it before you commit it"))
    click.echo(
        f"next: {own_program()} providers try --agent {provider.name} --stdout {place}.stdout"
    )
    return 0


def run_prompts(
    agent: str,
    prompts: Mapping[str, str],
    options: Sequence[str],
    temporary: Path,
    cwd: Path | None = None,
) -> list[tuple[dict[str, Any], Path]]:
    """Run each prompt by its name, with `run`: its row, and its transcripts without a suffix.

    All that is made lies in `temporary`. Raises HarnessError where the CLI could not be started.
    """
    cases, units = temporary / "cases.json", temporary / "units"
    units.mkdir()
    listed = [{"case_id": name, "prompt": prompt} for name, prompt in prompts.items()]
    cases.write_text(json.dumps(listed), encoding="utf-8")
    words = ["run", f"--cases={cases}", "--agents", agent, f"--artifacts-root={temporary}/batches"]
    config = known_agents().file
    words += [f"--config={Path(config).resolve()}"] if config else []
    done = subprocess.run(
        [sys.executable, "-P", "-m", "routing_action", *words, "--no-progress", *options],
        cwd=cwd,
        env={**os.environ, "RUNNER_TEMP": "", "TMPDIR": str(units)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    results = [*temporary.glob("batches/*/results.json")]
    rows = json.loads(results[0].read_text("utf-8"))["results"] if results else []
    if not rows or any(row["exit_code"] is None for row in rows):
        said = (rows[0]["error"] if rows else "") or done.stderr.strip()[-600:]
        raise HarnessError(
            f"{agent} could not be run: {said}",
            remedy=f"{own_program()} providers doctor --agents {agent}",
        )
    return [(row, results[0].parent / "transcripts" / row["unit_run_id"]) for row in rows]


def keep_recording(row: Mapping[str, Any], stored: Path, folder: Path, temporary: Path) -> None:
    """Keep a run as `FOLDER/CASE.stdout`, `.stderr` and `.json`, without paths of this machine."""
    stem = folder / row["case_id"]
    folder.mkdir(parents=True, exist_ok=True)
    for stream in ("stdout", "stderr"):
        data = stored.with_suffix(f".{stream}").read_bytes()
        stem.with_name(f"{stem.name}.{stream}").write_bytes(_neutral(data, temporary))
    facts = {"exit_code": row["exit_code"], "duration_s": row["duration_ms"] / 1000}
    facts |= {key: row[key] for key in ("cli_version", "model") if row[key]}
    facts |= {"hang": True} if row["timed_out"] else {}
    write_atomically(stem.with_name(f"{stem.name}.json"), json.dumps(facts) + "\n")


def _neutral(data: bytes, temporary: Path) -> bytes:
    """The same bytes with the unit's own folders under names that say nothing of this machine."""
    found = re.compile(re.escape(os.fsencode(temporary)) + rb"/units/[\w./-]*?/(repo|home)\b")
    return found.sub(lambda match: _HOMES[match[1].decode()].encode(), data)
