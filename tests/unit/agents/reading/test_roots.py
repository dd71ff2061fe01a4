"""Whether a path that an agent named lies in the folder that the skills were staged in."""

from __future__ import annotations

import pytest

from routing_action.agents.reading.roots import lies_under
from routing_action.evidence.reader_protocol import ReadContext

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
