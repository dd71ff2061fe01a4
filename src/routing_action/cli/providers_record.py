"""`routing-action providers record`: run an agent once, and keep what it prints."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import click

from routing_action.cli.options import config_option, find_provider, path_option
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
@partial(config_option, expose=True)
@click.argument("prompt")
def record_command(
    agent: str,
    folder: Path | None,
    name: str,
    skills: Path | None,
    timeout_seconds: float,
    force: bool,
    config: Path | None,
    prompt: str,
) -> int:
    """Run one PROMPT as a unit of `run` does, and keep its output without secrets and paths.

    The agent gets a home, a workspace and an environment of its own. Read the recording before
    you commit it: only the values of secrets that the run knew are masked.
    """
    provider = find_provider(agent)
    folder = folder or Path("tests/recordings") / provider.name
    stem = folder / name
    if not re.fullmatch(r"[\w.-]{1,100}", name) or name.startswith("."):
        raise UsageError(
            f"--name {name}: cannot name a file", remedy="use letters, digits, - and _"
        )
    if stem.with_name(f"{name}.stdout").exists() and not force:
        raise DocumentError(
            "exists already, and is not replaced",
            file=f"{from_here(stem)}.stdout",
            remedy="give another --name, or replace it with --force",
        )
    click.echo(
        one_line(f"{provider.title} runs once; this may cost what one prompt costs"), err=True
    )
    with tempfile.TemporaryDirectory(prefix="routing-action-record-") as made:
        temporary = Path(made).resolve()
        options = [f"--config={config}"] if config else []
        options += [f"--skills={skills}"] if skills else []
        options += [f"--timeout-seconds={timeout_seconds:g}"]
        row, transcripts = _run_once(provider.name, prompt, options, temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for stream in ("stdout", "stderr"):
            data = (transcripts / f"{row['unit_run_id']}.{stream}").read_bytes()
            (folder / f"{name}.{stream}").write_bytes(_neutral(data, temporary))
    facts = {"exit_code": row["exit_code"], "duration_s": row["duration_ms"] / 1000}
    facts |= {key: row[key] for key in ("cli_version", "model") if row[key]}
    if row["timed_out"]:
        facts |= {"hang": True}
    write_atomically(folder / f"{name}.json", json.dumps(facts) + "\n")
    place = from_here(stem)
    click.echo(one_line(f"{place}.stdout: outcome {row['outcome']}; read it before you commit it"))
    click.echo(
        f"next: {own_program()} providers try --agent {provider.name} --stdout {place}.stdout"
    )
    return 0


def _run_once(
    agent: str, prompt: str, options: list[str], temporary: Path
) -> tuple[dict[str, Any], Path]:
    """The row of a batch of one unit, and the folder of its transcripts."""
    cases, units = temporary / "cases.json", temporary / "units"
    units.mkdir()
    cases.write_text(json.dumps([{"case_id": "recording", "prompt": prompt}]), encoding="utf-8")
    words = ["run", f"--cases={cases}", "--agents", agent, f"--artifacts-root={temporary}/batches"]
    words += ["--no-progress", *options]
    done = subprocess.run(
        [sys.executable, "-P", "-m", "routing_action", *words],
        env={**os.environ, "RUNNER_TEMP": "", "TMPDIR": str(units)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    results = [*temporary.glob("batches/*/results.json")]
    rows = json.loads(results[0].read_text("utf-8"))["results"] if results else []
    if not rows or rows[0]["exit_code"] is None:
        said = (rows[0]["error"] if rows else "") or done.stderr.strip()[-600:]
        raise HarnessError(
            f"{agent} could not be run: {said}",
            remedy=f"{own_program()} providers doctor --agents {agent}",
        )
    return rows[0], results[0].parent / "transcripts"


def _neutral(data: bytes, temporary: Path) -> bytes:
    """The same bytes with the unit's own folders under names that say nothing of this machine."""
    found = re.compile(re.escape(os.fsencode(temporary)) + rb"/units/[\w./-]*?/(repo|home)\b")
    return found.sub(lambda match: _HOMES[match[1].decode()].encode(), data)
