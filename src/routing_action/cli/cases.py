"""`routing-action cases check` and `init`: say what is wrong with a case file, or start one."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from routing_action.agents.discovery import DEFAULT_AGENTS, all_providers
from routing_action.cli.options import (
    agents_option,
    cases_option,
    config_option,
    find_provider,
    format_option,
    path_option,
    split_list,
)
from routing_action.corpus.case import Case
from routing_action.corpus.case_warnings import Finding, check_cases
from routing_action.corpus.cases_file import (
    MAX_CASES_BYTES,
    Corpus,
    find_cases_file,
    read_cases,
)
from routing_action.corpus.first_corpus import build_seeds, first_baseline
from routing_action.corpus.identity import SkillIndex, describe_ambiguity
from routing_action.corpus.naming import fold
from routing_action.corpus.skill_files import SkillFile, index_skills, read_skill_file
from routing_action.corpus.trigger_files import cases_of, parse_trigger_file
from routing_action.errors import DocumentError, UsageError
from routing_action.files.atomic import write_atomically
from routing_action.files.documents import decode_text, read_bytes
from routing_action.files.json_text import JsonText
from routing_action.files.nearest import suggest
from routing_action.gate.baselines import render_baseline
from routing_action.gate.wording import count
from routing_action.results.batch_folder import one_line
from routing_action.run.workspace.missing_skills import MissingSkill, find_missing_skills
from routing_action.run.workspace.staging import SKILL_FILE, find_skills, plugin_name, skills_in

_SKILL_FOLDERS = tuple(name for one in all_providers().values() for name in one.skill_folders)
SKILLS_HELP = "A skill, a folder of skills, or a plugin."


@click.group("cases", short_help="Check a case file, or start one from skills.")
def command() -> None:
    """Work on a case file."""


@command.command("check")
@cases_option
@path_option(
    "--skills",
    metavar="PATH",
    help=f"{SKILLS_HELP} Checks their frontmatter, and the names that cases use. "
    "Default: the folders here that agents look in, such as .claude/skills.",
)
@click.option("--strict", is_flag=True, help="Exit with 1 on warnings too.")
@format_option()
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
    places = _SKILL_FOLDERS if skills is None else (os.path.relpath(skills),)
    findings += [Finding("", 1, "skill-missing", one.why, one.path) for one in _missing(places)]
    if output_format == "json":
        warnings = [{**asdict(one), "file": one.file or str(path)} for one in findings]
        click.echo(json.dumps({"cases": len(corpus.cases), "warnings": warnings}, indent=2))
    else:
        for one in findings:
            place = f"{one.file or path}:{one.line}"
            click.echo(one_line(f"{place}: warning: {one.message}"))
        counts = f"{count(len(corpus.cases), 'case')}, {count(len(findings), 'warning')}"
        click.echo(f"{path}: {counts}")
    return 1 if strict and findings else 0


def _find_skill_folder() -> Path | None:
    """The first folder of this repository that agents look in and that holds skills."""
    folders = map(Path, _SKILL_FOLDERS)
    return next((folder for folder in folders if skills_in(folder)), None)


@command.command("init")
@config_option
@path_option("--skills", required=True, metavar="PATH", help=SKILLS_HELP)
@path_option("--output", default="cases.json", show_default=True, help="The new case file.")
@path_option(
    "--baseline", default="provider-baseline.json", show_default=True, help="The new baseline."
)
@click.option("--no-baseline", is_flag=True, help="Write no baseline.")
@agents_option("The agent CLIs of the baseline. Default: claude,codex,copilot.")
def init(
    skills: Path, output: Path, baseline: Path, no_baseline: bool, agents: tuple[str, ...]
) -> int:
    """Start a case file from skills, and a baseline that expects every case to pass.

    Each skill gets a request from its description, similar skills get a negative control, and
    one case needs no skill. You write the prompts that start with FILL IN. An existing file is
    never replaced.
    """
    names = tuple(find_provider(name).name for name in split_list(agents)) or DEFAULT_AGENTS
    if not no_baseline and os.path.realpath(output) == os.path.realpath(baseline):
        raise UsageError("--output and --baseline name the same file", remedy="name two files")
    for path in (output,) if no_baseline else (output, baseline):
        _refuse_existing(path)
    seeds = build_seeds(read_skills(skills).files)
    write_atomically(output, json.dumps(seeds.cases, indent=2, ensure_ascii=False) + "\n")
    for one in _missing((os.path.relpath(skills),)):
        click.echo(f"warning: no case for {one}", err=True)
    prompts = count(seeds.fill_ins, "prompt")
    click.echo(f"{output}: {count(len(seeds.cases), 'case')}, {prompts} to fill in")
    if not no_baseline:
        entries = first_baseline(seeds.cases, names)
        write_atomically(baseline, render_baseline(entries))
        expected, listed = len(entries) * len(names), ", ".join(names)
        click.echo(f"{baseline}: {expected} entries for {listed} (--agents), all expected to pass")
    click.echo(f"next: routing-action cases check --cases {output} --skills {skills}")
    return 0


@command.command("import")
@click.argument("trigger_file", type=click.Path(path_type=Path), metavar="FILE")
@click.option("--skill", metavar="NAME", help="The skill that the queries are about. Default: the "
              "one that FILE names, else the skill whose folder FILE lies in.")  # fmt: skip
@path_option("--output", default="cases.json", show_default=True, help="The new case file.")
def import_triggers(trigger_file: Path, skill: str | None, output: Path) -> int:
    """Turn a trigger file of skill-creator into a case file.

    A query that should trigger the skill expects it; any other must not use it. An existing file
    is never replaced.
    """
    _refuse_existing(output, "name another file with --output")
    data = read_bytes(trigger_file, MAX_CASES_BYTES, "name the trigger file")
    document = JsonText(str(trigger_file), decode_text(data, str(trigger_file)))
    found = parse_trigger_file(document, document.decode())
    if found is None or not found.triggers:
        raise DocumentError(
            "is no trigger file, or an empty one",
            file=str(trigger_file),
            remedy='a trigger file is a list of {"query": "...", "should_trigger": true}',
        )
    name = skill or found.skill or _skill_around(trigger_file)
    if not name:
        raise UsageError(
            f"{trigger_file} does not say which skill it is about",
            remedy="add --skill with the name of the skill's folder",
        )
    cases = cases_of(found, name)
    write_atomically(output, json.dumps(cases, indent=2, ensure_ascii=False) + "\n")
    click.echo(f"{output}: {count(len(cases), 'case')} about {name}")
    click.echo(f"next: routing-action cases check --cases {shlex.quote(str(output))}")
    return 0


def _skill_around(path: Path) -> str:
    """The name of the skill whose folder a file lies in; "" where it lies in none."""
    folders = path.resolve().parents
    return next((folder.name for folder in folders if (folder / SKILL_FILE).is_file()), "")


def _refuse_existing(
    path: Path, remedy: str = "name another file with --output or --baseline, or use --no-baseline"
) -> None:
    if os.path.lexists(path):
        raise DocumentError(
            "exists already, and is not replaced",
            file=str(path),
            remedy=remedy,
        )


# ---- the skills that cases are about


@dataclass(frozen=True, slots=True)
class SkillSet:
    """The skills below a path; `plugin` is the plugin's name, "" where there is none."""

    source: Path
    files: tuple[SkillFile, ...]
    plugin: str = ""


def read_skills(source: Path) -> SkillSet:
    """The skills that a path names, as `--skills` of `run` finds them; UsageError for none."""
    try:
        found = find_skills(source)
    except UsageError as error:
        missing = _missing((os.path.relpath(source),))
        error.remedy = str(missing[0]) if missing else error.remedy
        raise
    files = tuple(read_skill_file(skill.name, skill.path / SKILL_FILE) for skill in found)
    return SkillSet(source, files, plugin_name(source))


def _missing(folders: Iterable[str]) -> tuple[MissingSkill, ...]:
    """The skills of folders below the current one that this checkout has not."""
    return find_missing_skills(Path(), (one for one in folders if not one.startswith("..")))


def check_skills(corpus: Corpus, skills: SkillSet) -> list[Finding]:
    """Unknown skills in the cases' order, then what is wrong with each skill's file."""
    index = index_skills(skills.files, skills.plugin)
    found = [
        Finding(case.case_id, corpus.lines[case.case_id], rule, message)
        for case in corpus.cases
        for rule, message in _wrong_names(case, index, skills)
    ]
    found += [
        Finding("", problem.line, problem.rule, problem.message, str(skill.path))
        for skill in skills.files
        for problem in skill.problems
    ]
    return found


def _wrong_names(case: Case, index: SkillIndex, skills: SkillSet) -> Iterator[tuple[str, str]]:
    for name, tokens in (
        ("expected_skill", (case.expected_skill,)),
        ("required_skills", case.required_skills),
        ("optional_skills", case.optional_skills),
        ("disallowed_skills", case.disallowed_skills),
    ):
        for token in filter(None, tokens):
            fits = [_titles(one, index, skills.plugin) for one in _names(token, case)]
            several = next((titles for titles in fits if len(titles) > 1), ())
            if several:
                what = describe_ambiguity(token, several)
                yield "ambiguous-skill", f"{case.case_id}: {name}: {what}"
            elif not any(fits):
                place = f"which is no skill of {skills.source}{_hint(token, skills)}"
                yield "unknown-skill", f"{case.case_id}: {name} names {token}, {place}"


def _names(token: str, case: Case) -> set[str]:
    """A token, and the other names that it goes by on some agent."""
    names = {token}
    for aliases in case.provider_aliases.values():
        for alias, canonical in aliases.items():
            if fold(token) in (fold(alias), fold(canonical)):
                names |= {alias, canonical}
    return names


def _titles(token: str, index: SkillIndex, plugin: str) -> tuple[str, ...]:
    """The skills that a name fits; where they are of no known plugin, whatever its plugin."""
    return index.titles(token if plugin else token.rpartition(":")[2])


def _hint(token: str, skills: SkillSet) -> str:
    known = [name for one in skills.files for name in (one.folder, one.name) if name]
    hint = suggest(token.rpartition(":")[2], known)
    return f"; {hint}" if hint else ""
