"""Every command of the pages and of the helper skills is run as it stands, or says why not."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from functools import reduce
from pathlib import Path

import pytest

from tests.support.command_line import ROOT
from tests.support.doc_pages import DOCS, Step, missing_lines, steps_of
from tests.support.own_repository import OwnRepository

FOLDERS = ("tutorial", "how-to", "explanation")
PAGES = [
    ROOT / "README.md",
    DOCS / "agent-routing-tests.md",
    *(page for folder in FOLDERS for page in sorted((DOCS / folder).glob("*.md"))),
]
SKILLS = sorted((ROOT / ".claude" / "skills").glob("*/SKILL.md"))
MEASURE = "routing-action run --agents claude,codex --skills .claude/skills"


def name_of(path: Path) -> str:
    return path.parent.name if path.name == "SKILL.md" else path.relative_to(ROOT).as_posix()


def steps(page: Path) -> list[Step]:
    return list(steps_of(page.read_text("utf-8")))


def lines_of(found: list[Step]) -> Iterator[str]:
    """The commands that are run; the last one of a block ends with the exit code that it names."""
    for step in found:
        if step.reason or not step.commands:
            continue
        *first, last = step.commands
        yield from first
        yield f"code=0; {last} || code=$?; [ $code = {step.exit_code} ]" if step.exit_code else last


def fresh(_: OwnRepository) -> None:
    """Skills, and nothing else."""


def ready(own: OwnRepository) -> None:
    """Cases and baseline of claude and codex, a remote, and one batch."""
    own.start("claude,codex")
    own.shell("git clone -q --bare . ../origin.git", "git remote add origin ../origin.git")
    own.shell("git fetch -q origin", MEASURE)


def with_claude_alone(own: OwnRepository) -> None:
    """It finds the skills where they are."""
    own.start("claude")


def with_a_regression(own: OwnRepository) -> None:
    """The newest batch has a red pair."""
    ready(own)
    own.break_release_notes()
    own.shell(f"{MEASURE} || true")


def with_a_history(own: OwnRepository) -> None:
    """What the batch measured was kept."""
    ready(own)
    (batch,) = (own.root / "tests/agent-routing/artifacts").glob("*-*")
    own.shell(f"routing-action history --history .routing-history --add '{batch}'")


def with_an_edited_skill(own: OwnRepository) -> None:
    """A change that can move any prompt, after what was measured was kept."""
    with_a_history(own)
    own.write(".claude/skills/release-notes/SKILL.md", "---\nname: release-notes\n---\n")


PREPARE: dict[str, Callable[[OwnRepository], None]] = {
    "README.md": fresh,
    "docs/tutorial/quick-start-action.md": fresh,
    "docs/how-to/accept-a-change.md": with_a_regression,
    "docs/how-to/keep-a-history.md": with_claude_alone,
    "docs/how-to/know-the-noise.md": with_claude_alone,
    "docs/how-to/measure-fewer-cases.md": with_an_edited_skill,
    "docs/how-to/reuse-results.md": with_a_history,
}


def test_a_block_that_is_not_run_says_why() -> None:
    """A reason is a sentence, and any other mark above a block is a slip."""
    for page in PAGES:
        for step in steps(page):
            known = not step.mark or len(step.reason.split()) > 2 or step.exit_code
            assert known, f"{name_of(page)}: {step.mark}"


def test_most_blocks_are_run() -> None:
    """Here, or by a test that their reason names; others are the exception."""
    told = [step for page in PAGES for step in steps(page) if step.commands]
    assert len(told) > 50
    run = [step for step in told if not step.reason or re.search(r"\btests?\b", step.reason)]
    assert len(run) > 0.7 * len(told)


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_page_works_as_it_stands(page: Path, tmp_path: Path) -> None:
    """Its commands end well in a fresh repository, and print the lines that it shows."""
    found = steps(page)
    own = OwnRepository(tmp_path)
    lines = list(lines_of(found))
    if not lines:
        return
    cwd = ROOT if any("./test.sh" in line for line in lines) else own.root
    if cwd == ROOT:
        artifacts = f" --artifacts-root '{tmp_path}/artifacts'"
        lines = [
            re.sub(r"^\./test\.sh(?! bot).*?(?=;|$)", rf"\g<0>{artifacts}", line) for line in lines
        ]
    else:
        PREPARE.get(name_of(page), ready)(own)
        for step in found:
            if step.file:
                own.write(step.file, step.text)
    printed = own.shell(*lines, cwd=cwd)
    for step in found:
        if not step.reason:
            assert missing_lines(step.printed, printed) == []


NAMES = {
    "CASE_ID": "release-notes-request",
    "--token SKILL": "--token release-notes",
    "UNIT_RUN_ID": '$(ls "$BATCH/transcripts" | head -1 | cut -d. -f1)',
}


def with_acme(own: OwnRepository) -> None:
    """The agent whose description the skill shows is installed, and loads what a prompt names."""
    own.start("claude")
    own.add_program("acme", sys.executable, str(ROOT / "tests" / "fakes" / "acme_agent.py"))
    own.environment["ACME_API_KEY"] = "made-up-key-0123456789"
    cases = json.loads((own.root / "cases.json").read_text("utf-8"))
    for case in cases:
        skill = case["expected_skill"]
        case["prompt"] = f"load:{skill}" if skill else "Say hello."
    own.write("cases.json", json.dumps(cases))


SKILL_WORLDS = {
    "adding-agent-provider": (with_acme, "6 entries, 0 errors"),
    "fixing-skill-descriptions": (ready, "gate: Routing is as expected"),
    "reading-evidence-tiers": (ready, "release-notes: "),
    "setting-up-routing-action": (fresh, "provider-baseline.json: 3 entries"),
    "triaging-red-gate": (with_a_regression, "~ release-notes-request claude: pass -> fail"),
    "updating-provider-baseline": (
        with_a_regression,
        "~ release-notes-request claude: pass -> fail",
    ),
    "writing-routing-cases": (ready, "cases.json: 3 cases, 0 warnings"),
}


@pytest.mark.slow
@pytest.mark.parametrize("skill", SKILLS, ids=name_of)
def test_the_commands_of_a_helper_skill_work(skill: Path, tmp_path: Path) -> None:
    """None is a usage error, the baseline passes its check, and the work of the skill is done."""
    prepare, done = SKILL_WORLDS[skill.parent.name]
    own = OwnRepository(tmp_path)
    prepare(own)
    found = steps(skill)
    for step in found:
        if step.file:
            own.write(step.file, step.text)
    lines = []
    for line in lines_of(found):
        named = reduce(lambda text, pair: text.replace(*pair), NAMES.items(), line)
        # 1 is an answer: a red pair, a prompt to fill in, something rejected.
        final = line.startswith("BATCH=") or ("check" in line and "--strict" not in line)
        lines.append(named if final else f"{named} || [ $? = 1 ]")
    printed = own.shell(*lines)
    assert done in printed
    if "baseline check" in "".join(lines):
        assert ", 0 errors, 0 warnings" in printed
