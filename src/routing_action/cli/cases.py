"""`routing-action cases check`: say what is wrong with a case file, and with its skills."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path

import click

from routing_action.cli.new_cases import add, import_triggers, init
from routing_action.cli.options import cases_option, format_option, path_option
from routing_action.cli.skill_set import (
    SKILL_FOLDERS,
    SKILLS_HELP,
    SKILLS_HERE,
    SkillSet,
    find_missing,
    read_skills,
    skills_here,
)
from routing_action.corpus.case import Case
from routing_action.corpus.case_warnings import Finding, check_cases
from routing_action.corpus.cases_file import Corpus, find_cases_file, read_cases
from routing_action.corpus.first_corpus import generated_prompts
from routing_action.corpus.identity import describe_ambiguity
from routing_action.corpus.naming import fold
from routing_action.corpus.skill_files import known_skill
from routing_action.files.program import own_program
from routing_action.gate.wording import count, name_few
from routing_action.results.batch_folder import one_line


@click.group("cases", short_help="Check a case file, start one, or add a case.")
def command() -> None:
    """Work on a case file."""


@command.command("check")
@cases_option
@path_option(
    "--skills",
    metavar="PATH",
    help=f"{SKILLS_HELP} Checks their frontmatter, and the names that cases use. {SKILLS_HERE}",
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
    found = read_skills(skills) if skills else skills_here()
    if found is not None:
        given = {"--skills": skills, "--cases": cases_file}
        options = [word for name, value in given.items() if value for word in (name, str(value))]
        findings += check_skills(corpus, found, options)
    places = SKILL_FOLDERS if skills is None else (os.path.relpath(skills),)
    findings += [Finding("", 1, "skill-missing", one.why, one.path) for one in find_missing(places)]
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


for _one in (init, add, import_triggers):
    command.add_command(_one)


# ---- the skills that cases are about

_GENERATED = "prompt-as-generated"
_REWRITE = "the prompt still repeats a skill's description; write what a user would ask"


def check_skills(corpus: Corpus, skills: SkillSet, options: Iterable[str] = ()) -> list[Finding]:
    """Unknown skills in the cases' order, skills without a case, and what is wrong with each file.

    `options` are those of `cases add` that lead to the same files.
    """
    found = [
        Finding(case.case_id, corpus.lines[case.case_id], rule, message)
        for case in corpus.cases
        for rule, message in _wrong_names(case, skills)
    ]
    generated = generated_prompts(skills.files)
    found += [
        Finding(case.case_id, corpus.lines[case.case_id], _GENERATED, f"{case.case_id}: {_REWRITE}")
        for case in corpus.cases
        if case.prompt in generated
    ]
    found += _without_case(corpus, skills, options)
    found += [
        Finding("", problem.line, problem.rule, problem.message, str(skill.path))
        for skill in skills.files
        for problem in skill.problems
    ]
    return found


def _without_case(corpus: Corpus, skills: SkillSet, options: Iterable[str]) -> Iterator[Finding]:
    """One finding for all skills that no case expects."""
    covered = {
        title
        for case in corpus.cases
        for token in _expected(case)
        for name in _names(token, case)
        for title in skills.titles(name)
    }
    titles = {one.folder: known_skill(one, skills.plugin).title for one in skills.files}
    bare = [folder for folder, title in titles.items() if title not in covered]
    if bare:
        words = shlex.join(("cases", "add", "--skill", bare[0], *options))
        message = f"no case expects {name_few(bare)}; add one: `{own_program()} {words}`"
        yield Finding("", 1, "skill-without-case", message)


def _expected(case: Case) -> tuple[str, ...]:
    """Every token that a case requires, of whatever kind."""
    legacy = (*case.required_all_evidence, *case.required_evidence)
    tokens = (case.expected_skill, *case.required_skills, *case.required_files, *legacy)
    return tuple(filter(None, tokens))


def _wrong_names(case: Case, skills: SkillSet) -> Iterator[tuple[str, str]]:
    for name, tokens in (
        ("expected_skill", (case.expected_skill,)),
        ("required_skills", case.required_skills),
        ("optional_skills", case.optional_skills),
        ("disallowed_skills", case.disallowed_skills),
    ):
        for token in filter(None, tokens):
            fits = [skills.titles(one) for one in _names(token, case)]
            several = next((titles for titles in fits if len(titles) > 1), ())
            if several:
                what = describe_ambiguity(token, several)
                yield "ambiguous-skill", f"{case.case_id}: {name}: {what}"
            elif not any(fits):
                hint = skills.suggest(token)
                place = f"which is no skill of {skills.source}{f'; {hint}' if hint else ''}"
                yield "unknown-skill", f"{case.case_id}: {name} names {token}, {place}"


def _names(token: str, case: Case) -> set[str]:
    """A token, and the other names that it goes by on some agent."""
    names = {token}
    for aliases in case.provider_aliases.values():
        for alias, canonical in aliases.items():
            if fold(token) in (fold(alias), fold(canonical)):
                names |= {alias, canonical}
    return names
