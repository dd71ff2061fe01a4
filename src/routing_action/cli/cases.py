"""`routing-action cases check` and `init`: say what is wrong with a case file, or start one."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click

from routing_action.agents.discovery import DEFAULT_AGENTS, all_providers
from routing_action.cli.options import cases_option, config_option, find_provider, split_list
from routing_action.cli.skill_warnings import check_skills, read_skills
from routing_action.corpus.case_seeds import build_seeds, first_baseline
from routing_action.corpus.case_warnings import Finding, check_cases
from routing_action.corpus.cases_file import find_cases_file, read_cases
from routing_action.errors import DocumentError, UsageError
from routing_action.files.atomic import write_atomically
from routing_action.gate.baselines import render_baseline
from routing_action.results.batch_folder import one_line
from routing_action.run.workspace.staging import skills_in

SKILLS_HELP = "A skill, a folder of skills, or a plugin."


@click.group("cases", short_help="Check a case file, or start one from skills.")
def command() -> None:
    """Work on a case file."""


@command.command("check")
@cases_option
@click.option(
    "--skills",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help=f"{SKILLS_HELP} Checks their frontmatter, and the names that cases use. "
    "Default: the folders here that agents look in, such as .claude/skills.",
)
@click.option("--strict", is_flag=True, help="Exit with 1 on warnings too.")
@click.option("--format", "output_format", type=click.Choice(["text", "json"]), default="text",
              show_default=True)  # fmt: skip
def check(cases_file: Path | None, skills: Path | None, strict: bool, output_format: str) -> int:
    """Read a case file as a run would.

    Exits with 2 where it cannot be used; warnings alone give 0, or 1 with --strict.
    """
    path = cases_file or find_cases_file(Path())
    corpus = read_cases(path)
    findings = check_cases(corpus)
    folder = skills or _find_skill_folder()
    if folder is not None:
        findings += check_skills(corpus, read_skills(folder))
    if output_format == "json":
        click.echo(
            json.dumps(
                {"cases": len(corpus.cases), "warnings": _describe(findings, path)}, indent=2
            )
        )
    else:
        for finding in findings:
            place = f"{finding.file or path}:{finding.line}"
            click.echo(one_line(f"{place}: warning: {finding.message}"))
        click.echo(f"{path}: {len(corpus.cases)} cases, {len(findings)} warnings")
    return 1 if strict and findings else 0


def _find_skill_folder() -> Path | None:
    """The first folder of this repository that agents look in and that holds skills."""
    folders = (Path(name) for one in all_providers().values() for name in one.skill_folders)
    return next((folder for folder in folders if skills_in(folder)), None)


def _describe(findings: list[Finding], path: Path) -> list[dict[str, str | int]]:
    return [
        {
            "case_id": found.case_id,
            "file": found.file or str(path),
            "line": found.line,
            "rule": found.rule,
            "message": found.message,
        }
        for found in findings
    ]


@command.command("init")
@config_option
@click.option(
    "--skills",
    required=True,
    type=click.Path(path_type=Path),
    metavar="PATH",
    help=SKILLS_HELP,
)
@click.option(
    "--output",
    default="cases.json",
    show_default=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The new case file.",
)
@click.option(
    "--baseline",
    default="provider-baseline.json",
    show_default=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The new baseline.",
)
@click.option("--no-baseline", is_flag=True, help="Write no baseline.")
@click.option("--agents", multiple=True, metavar="NAMES",
              help="The agent CLIs of the baseline. Default: claude,codex,copilot.")  # fmt: skip
def init(
    skills: Path, output: Path, baseline: Path, no_baseline: bool, agents: tuple[str, ...]
) -> int:
    """Start a case file from skills, and a baseline that expects every case to pass.

    Each skill gets a request that its description speaks of, skills that are alike a negative
    control, and one case needs no skill. Prompts that start with FILL IN are yours to write.
    Replaces no file.
    """
    names = tuple(find_provider(name).name for name in split_list(agents)) or DEFAULT_AGENTS
    if not no_baseline and os.path.realpath(output) == os.path.realpath(baseline):
        raise UsageError("--output and --baseline name the same file", remedy="name two files")
    for path in (output,) if no_baseline else (output, baseline):
        _refuse_existing(path)
    seeds = build_seeds(read_skills(skills).files)
    write_atomically(output, json.dumps(seeds.cases, indent=2, ensure_ascii=False) + "\n")
    click.echo(f"{output}: {len(seeds.cases)} cases, {seeds.fill_ins} prompts to fill in")
    if not no_baseline:
        entries = first_baseline(seeds.cases, names)
        write_atomically(baseline, render_baseline(entries))
        count, listed = len(entries) * len(names), ", ".join(names)
        click.echo(f"{baseline}: {count} entries for {listed} (--agents), all expected to pass")
    click.echo(f"next: routing-action cases check --cases {output} --skills {skills}")
    return 0


def _refuse_existing(path: Path) -> None:
    if os.path.lexists(path):
        raise DocumentError(
            "exists already, and nothing is replaced",
            file=str(path),
            remedy="name another file with --output or --baseline, or use --no-baseline",
        )
