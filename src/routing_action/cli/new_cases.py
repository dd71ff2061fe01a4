"""`routing-action cases init`, `add` and `import`: write cases, and what is expected of them."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterable
from pathlib import Path

import click

from routing_action.agents.discovery import DEFAULT_AGENTS
from routing_action.cli.options import (
    agents_option,
    cases_option,
    config_option,
    find_provider,
    path_option,
    split_list,
)
from routing_action.cli.skill_set import (
    SKILLS_HELP,
    SKILLS_HERE,
    SkillSet,
    find_missing,
    read_skills,
    skills_here,
)
from routing_action.corpus.baseline import iterate_pairs
from routing_action.corpus.case import CASE_ID
from routing_action.corpus.case_warnings import check_cases
from routing_action.corpus.cases_file import (
    ID_RULE,
    MAX_CASES_BYTES,
    add_case,
    find_cases_file,
    parse_cases,
)
from routing_action.corpus.first_corpus import (
    NEAR_TWIN,
    CaseFields,
    build_case,
    build_seeds,
    first_baseline,
)
from routing_action.corpus.identity import describe_ambiguity
from routing_action.corpus.naming import fold
from routing_action.corpus.skill_files import SkillFile, known_skill
from routing_action.corpus.trigger_files import cases_of, parse_trigger_file
from routing_action.errors import DocumentError, UsageError
from routing_action.files.atomic import write_atomically
from routing_action.files.documents import decode_text, read_bytes
from routing_action.files.json_text import JsonText
from routing_action.files.program import own_program
from routing_action.gate.baselines import (
    DEFAULT_BASELINE_FILES,
    OpenBaseline,
    open_baseline,
    render_baseline,
)
from routing_action.gate.wording import count
from routing_action.results.batch_folder import one_line
from routing_action.run.workspace.staging import SKILL_FILE

_skills_option = path_option("--skills", metavar="PATH", help=f"{SKILLS_HELP} {SKILLS_HERE}")


@click.command("init")
@config_option
@path_option("--skills", required=True, metavar="PATH", help=SKILLS_HELP)
@path_option("--output", written=True, default="cases.json", show_default=True,
             help="The new case file.")  # fmt: skip
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
    _write_cases(output, seeds.cases)
    for one in find_missing((os.path.relpath(skills),)):
        click.echo(f"warning: no case for {one}", err=True)
    prompts = count(seeds.fill_ins, "prompt")
    click.echo(f"{output}: {count(len(seeds.cases), 'case')}, {prompts} to fill in")
    if not no_baseline:
        entries = first_baseline(seeds.cases, names)
        write_atomically(baseline, render_baseline(entries))
        expected, listed = len(entries) * len(names), ", ".join(names)
        click.echo(f"{baseline}: {expected} entries for {listed} (--agents), all expected to pass")
    if not any(case["category"] == NEAR_TWIN for case in seeds.cases):
        click.echo("no two skills have similar descriptions, so no case tells two of them apart")
    click.echo(f"next: rewrite the prompts in {output}: ask as a user would, not as a description")
    _show_next("cases", "check", "--cases", output, "--skills", skills, first="then")
    return 0


@click.command("add")
@click.option("--skill", required=True, metavar="NAME", help="The skill that the case is about.")
@click.option("--prompt", metavar="TEXT", help="What a user would ask; it does not name the skill. "
              "Default: a request from the skill's description, or a text to fill in.")  # fmt: skip
@click.option("--negative", is_flag=True, help="The skill must not be used for the prompt.")
@click.option("--id", "case_id", metavar="ID", help="Default: made from the skill's name.")
@click.option("--category", metavar="NAME", help="Default: request, or control with --negative.")
@cases_option
@_skills_option
@path_option("--baseline", "baseline_file", help="The baseline that gets entries too. Default: the "
             "one of `baseline update`, where it exists.")  # fmt: skip
def add(
    skill: str,
    prompt: str | None,
    negative: bool,
    case_id: str | None,
    category: str | None,
    cases_file: Path | None,
    skills: Path | None,
    baseline_file: Path | None,
) -> int:
    """Add a case for a skill at the end of the case file, in the file's own layout.

    The baseline gets an entry, which expects a pass, for each agent CLI that it names.
    """
    path = cases_file or find_cases_file(Path())
    data = read_bytes(
        path, MAX_CASES_BYTES, f"start one: `{own_program()} cases init --skills DIR`"
    )
    corpus = parse_cases(data, str(path))
    known = read_skills(skills) if skills else skills_here()
    if known is None:
        raise UsageError("no skills were found here", remedy="name their folder with --skills PATH")
    taken = {case.case_id: corpus.lines[case.case_id] for case in corpus.cases}
    _refuse_id(case_id, taken, path)
    if (prompt is None and negative) or (prompt is not None and not prompt.strip()):
        raise UsageError(
            "the case has no prompt", remedy="write what a user would ask with --prompt 'TEXT'"
        )
    found = _find_skill(skill, known)
    fields = build_case(found, known.files, taken, prompt=prompt or "", negative=negative)
    fields |= {"case_id": case_id or fields["case_id"], "category": category or fields["category"]}
    text, line = add_case(data, str(path), fields)
    changed = parse_cases(text.encode("utf-8", "surrogateescape"), str(path))
    opened = _open_baseline_beside(baseline_file)
    write_atomically(Path(os.path.realpath(path)), text)
    added = changed.cases[-1]
    what = f"must not use {found.folder}" if negative else f"expects {found.folder}"
    click.echo(one_line(f"{path}:{line}: added case {added.case_id}, which {what}"))
    for one in check_cases(changed):
        if one.case_id == added.case_id:
            click.echo(one_line(f"{path}:{line}: warning: {one.message}"), err=True)
    if opened is not None:
        _expect_passes(opened, fields)
    named = () if cases_file is None else ("--cases", path)
    if prompt is None:
        click.echo(f"next: rewrite the prompt in {path}:{line}: ask as a user would")
    _show_next("run", "--case-id", added.case_id, *named, first="next" if prompt else "then")
    return 0


def _refuse_id(case_id: str | None, taken: dict[str, int], path: Path) -> None:
    if case_id is None:
        return
    if not re.match(CASE_ID, case_id):
        raise UsageError(f"--id {case_id[:200]!r} is no case id", remedy=ID_RULE)
    same = next((one for one in taken if fold(one) == fold(case_id)), None)
    if same is not None:
        raise UsageError(
            f"{path}:{taken[same]} has the case {same} already",
            remedy="name another id, or leave --id out",
        )


def _find_skill(name: str, known: SkillSet) -> SkillFile:
    """The one skill that a name fits; UsageError with the nearest name for none or several."""
    titles = known.titles(name)
    if len(titles) > 1:
        raise UsageError(describe_ambiguity(name, titles), remedy="rename one of them")
    if not titles:
        every = ", ".join(one.folder for one in known.files)
        remedy = known.suggest(name, one_line(f"the skills there are {every[:500]}"))
        raise UsageError(f"{known.source} has no skill {name!r}", remedy=remedy)
    return next(one for one in known.files if known_skill(one, known.plugin).title == titles[0])


def _open_baseline_beside(named: Path | None) -> OpenBaseline | None:
    """The baseline that is named, else the default one; None where that does not exist."""
    here = (path for path in map(Path, DEFAULT_BASELINE_FILES) if path.is_file())
    path = named or next(here, None)
    return open_baseline(path) if path else None


def _expect_passes(opened: OpenBaseline, case: CaseFields) -> None:
    """Add the entries that the baseline's agents need; one that is there already stays."""
    agents = tuple(dict.fromkeys(pair[1] for pair, _ in iterate_pairs(opened.entries)))
    agents = agents or DEFAULT_AGENTS
    opened.write({**first_baseline([case], agents), **opened.entries})
    entries = "1 entry" if len(agents) == 1 else f"{len(agents)} entries"
    said = f"{opened.path}: {entries} for {', '.join(agents)}, expected to pass"
    if not opened.is_laid_out:
        said += "; the whole file is laid out anew: sorted, one field a line"
    click.echo(one_line(said))


@click.command("import")
@click.argument("trigger_file", type=click.Path(path_type=Path), metavar="FILE")
@click.option("--skill", metavar="NAME", help="The skill that the queries are about. Default: the "
              "one that FILE names, else the skill whose folder FILE lies in.")  # fmt: skip
@_skills_option
@path_option("--output", written=True, default="cases.json", show_default=True,
             help="The new case file.")  # fmt: skip
def import_triggers(
    trigger_file: Path, skill: str | None, skills: Path | None, output: Path
) -> int:
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
    around = _skill_around(trigger_file)
    name = skill or found.skill or around
    if not name:
        raise UsageError(
            f"{trigger_file} does not say which skill it is about",
            remedy="add --skill with the name of the skill's folder",
        )
    known = read_skills(skills) if skills else skills_here()
    if known is not None and name != around:
        _find_skill(name, known)
    cases = cases_of(found, name)
    _write_cases(output, cases)
    click.echo(f"{output}: {count(len(cases), 'case')} about {name}")
    _show_next("cases", "check", "--cases", output)
    return 0


def _skill_around(path: Path) -> str:
    """The name of the skill whose folder a file lies in; "" where it lies in none."""
    folders = path.resolve().parents
    return next((folder.name for folder in folders if (folder / SKILL_FILE).is_file()), "")


def _write_cases(path: Path, cases: Iterable[CaseFields]) -> None:
    write_atomically(path, json.dumps(list(cases), indent=2, ensure_ascii=False) + "\n")


def _show_next(*words: str | Path, first: str = "next") -> None:
    """The command that comes next, as it can be pasted."""
    click.echo(f"{first}: {own_program()} {shlex.join(map(str, words))}")


def _refuse_existing(
    path: Path, remedy: str = "name another file with --output or --baseline, or use --no-baseline"
) -> None:
    if os.path.lexists(path):
        raise DocumentError(
            "exists already, and is not replaced",
            file=str(path),
            remedy=remedy,
        )
