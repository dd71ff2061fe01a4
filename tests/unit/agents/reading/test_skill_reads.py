"""A command proves a SKILL.md only where it names it and its output shows the frontmatter."""

from __future__ import annotations

import pytest

from routing_action.agents.provider import ReadContext
from routing_action.agents.reading.skill_reads import in_a_skills_root, lies_under, shown_files
from tests.support.streams import skill_text

W = "skills/widget-testing/SKILL.md"
O = "skills/order-api/SKILL.md"  # noqa: E741 - the other skill
WIDGET, ORDER = skill_text("widget-testing"), skill_text("order-api")


@pytest.mark.parametrize(
    ("command", "output", "skills"),
    [
        (f"cat {W}", WIDGET, {W: True}),
        (f"sed -n 5,20p {W}", "# widget-testing\n", {W: False}),
        (f"cat {W} {O}", WIDGET + ORDER, {W: True, O: True}),
        (f"cat {W}; cat {O} 2>/dev/null", WIDGET, {W: True, O: False}),
        (f"cat {W} {O}", "---\ndescription: nameless\n---\n", {W: False, O: False}),
        (f"cat {W}", "---\ndescription: nameless\n---\n", {W: True}),
        (f"cat {W}", WIDGET.replace("widget-testing", "Widget-Testing"), {W: True}),
        (f"ls {W}", WIDGET, {}),
        (f"cat {W}", "", {}),
        (f"cat {W}", " \n", {}),
        (f"cat {W}; cat {O}", f"{WIDGET}cat: {O}: No such file or directory\n", {W: True}),
        (f"cat {W}", f"cat: {W}: Permission denied\n{WIDGET}", {}),
        (
            f"head {W}",
            f"head: cannot open '{W}' for reading: No such file or directory",
            {},
        ),
        (f"sed p {W}", f"sed: couldn't read '{W}': Is a directory\n{WIDGET}", {}),
    ],
)
def test_a_skill_file_is_proven_by_its_frontmatter(
    command: str, output: str, skills: dict[str, bool]
) -> None:
    """The name must be shown, or the one file's first lines; an unreadable file is no read."""
    assert dict(shown_files(command, "", output).skills) == skills


@pytest.mark.parametrize(
    "command",
    [
        f"echo '---'; echo 'name: widget-testing'; echo '---'; cat {W} 2>/dev/null; true",
        f"printf -- '---\\nname: widget-testing\\n---\\n'; tail -3 {W}",
        f"cat <<'E'\n{WIDGET}E\ntail -3 {W}",
    ],
)
def test_frontmatter_that_the_command_itself_says_proves_nothing(command: str) -> None:
    """Whoever prints the proof by hand has not read the file."""
    assert not any(dict(shown_files(command, "", WIDGET).skills).values())


def test_other_files_are_told_apart_from_skill_files() -> None:
    """A reference file that was read counts as a file, never as a skill."""
    shown = shown_files(f"cat README.md {W} README.md", "/r", WIDGET)
    assert shown.files == ("/r/README.md",)
    assert shown.skills == ((f"/r/{W}", True),)


def test_the_work_for_one_command_is_bounded() -> None:
    """A command that names endless files, with as many errors, is looked at in part."""
    names = [f"f{number}" for number in range(5_000)]
    output = "".join(f"cat: {name}: No such file or directory\n" for name in names)
    assert shown_files(f"cat {' '.join(names)}", "", output + "x").files == ()
    assert len(shown_files(f"cat {' '.join(names)}", "", "x").files) == 1_000


@pytest.mark.parametrize(
    ("path", "known", "unknown"),
    [
        (".agents/skills/widget/SKILL.md", True, True),
        ("/home/u/.codex/skills/.system/widget/SKILL.md", True, True),
        ("r1/widget/SKILL.md", True, True),
        ("R12/widget/SKILL.md", True, True),
        ("r1/x/widget/SKILL.md", True, False),
        ("r1/SKILL.md", True, False),
        ("docs/widget/SKILL.md", True, False),
        ("notes/skills/SKILL.md", True, False),
        ("SKILL.md", False, False),
    ],
)
def test_a_copy_outside_any_skills_folder_is_no_load(path: str, known: bool, unknown: bool) -> None:
    """Where no staged root is known, a folder named `skills` or a root alias must stand above."""
    assert in_a_skills_root(path, roots_known=True) is known
    assert in_a_skills_root(path, roots_known=False) is unknown


# ---- where skills were staged

STAGED = ("/checkout/u1/repo/.agents/skills",)
KNOWN = ReadContext(STAGED, cwd="/checkout/u1/repo", home="/checkout/u1/home")
NO_CWD = ReadContext(STAGED)
IN_HOME = ReadContext(("/checkout/u1/home/.codex/skills",), home="/checkout/u1/home")
WORKSPACE = ReadContext(("/checkout/u1/repo",))


@pytest.mark.parametrize(
    ("path", "context", "expected"),
    [
        ("/anywhere/skills/w/SKILL.md", ReadContext(), True),
        ("/checkout/u1/repo/.agents/skills/w/SKILL.md", KNOWN, True),
        ("/CHECKOUT/u1/repo/.agents/skills/W/SKILL.md", KNOWN, True),
        ("/checkout/u1/repo/x/../.agents/skills/w/SKILL.md", KNOWN, True),
        ("/checkout/u1/repo/.agents/skills/../../../u2/w/SKILL.md", KNOWN, False),
        ("/checkout/u1/repo/.agents/skills-old/w/SKILL.md", KNOWN, False),
        ("/home/user/.agents/skills/w/SKILL.md", KNOWN, False),
        (".agents/skills/w/SKILL.md", KNOWN, True),
        ("./.agents/skills/w/SKILL.md", KNOWN, True),
        (".agents\\skills\\w\\SKILL.md", KNOWN, True),
        ("../other/.agents/skills/w/SKILL.md", KNOWN, False),
        ("docs/w/SKILL.md", KNOWN, False),
        ("~/.agents/skills/w/SKILL.md", KNOWN, False),
        ("$HOME/.agents/skills/w/SKILL.md", KNOWN, False),
        ("~/.codex/skills/w/SKILL.md", IN_HOME, True),
        ("$HOME/.codex/skills/w/SKILL.md", IN_HOME, True),
        ("~/.codex/skills/w/SKILL.md", NO_CWD, False),
        ("$OTHER/skills/w/SKILL.md", KNOWN, False),
        (".agents/skills/w/SKILL.md", NO_CWD, True),
        ("skills/w/SKILL.md", NO_CWD, False),
        (".claude/skills/w/SKILL.md", NO_CWD, False),
        ("w/SKILL.md", NO_CWD, False),
        ("../w/SKILL.md", NO_CWD, False),
        ("r1/w/SKILL.md", NO_CWD, True),
        ("r1/w/SKILL.md", KNOWN, True),
        ("/r1/w/SKILL.md", KNOWN, False),
        ("x/r1/w/SKILL.md", KNOWN, False),
        (".claude/skills/w/SKILL.md", WORKSPACE, True),
        ("../repo2/.claude/skills/w/SKILL.md", WORKSPACE, False),
        ("C:\\checkout\\skills\\w\\SKILL.md", ReadContext(("C:/checkout/skills",)), True),
        ("D:\\work\\skills\\w\\SKILL.md", ReadContext(("C:/checkout/skills",)), False),
    ],
)
def test_a_path_counts_only_under_a_staged_root(
    path: str, context: ReadContext, expected: bool
) -> None:
    """A copy elsewhere, in the home or in another checkout, is not what was staged."""
    assert lies_under(path, context) is expected


def test_codex_own_home_variable_means_its_skills_folder() -> None:
    """`$CODEX_HOME/skills` is `.codex/skills` in the unit's home, as the provider sets it."""
    assert lies_under("$CODEX_HOME/skills/w/SKILL.md", IN_HOME)


def test_any_of_several_roots_is_enough() -> None:
    """Skills can be staged in more than one folder."""
    context = ReadContext(("/a/skills", "/b/skills"))
    assert lies_under("/b/skills/w/SKILL.md", context)
    assert not lies_under("/c/skills/w/SKILL.md", context)
