"""Names, paths and tokens are compared whole, case-insensitively, with either separator."""

from __future__ import annotations

import pytest

from routing_action.corpus.naming import (
    bare_name,
    is_file_token,
    is_skill_file,
    names_token,
    path_is_file,
    path_is_skill,
    plugin_of,
    same_skill,
    skill_folder,
    split_path,
)


@pytest.mark.parametrize(
    ("token", "expected"),
    [
        ("widget-testing", False),
        ("acme:widget-testing", False),
        ("widget-testing/SKILL.md", True),
        ("widget-testing\\SKILL.md", True),
        ("README.md", True),
        ("v1.2", False),
        ("node.js", True),
    ],
)
def test_a_token_with_a_separator_or_an_ending_is_a_file(token: str, expected: bool) -> None:
    """A user writes a file as its path or its name, and a skill as its name."""
    assert is_file_token(token) is expected


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        ("/repo/.claude/skills/a", ("repo", ".claude", "skills", "a")),
        (r"C:\repo\skills\a", ("C:", "repo", "skills", "a")),
        ("./a//b/./c/", ("a", "b", "c")),
        ("src/../skills/a", ("skills", "a")),
        ("../skills/a", ("..", "skills", "a")),
        ("../../a", ("..", "..", "a")),
        ('"/repo/a" ', ("repo", "a")),
        ("", ()),
    ],
)
def test_a_path_is_split_at_both_separators(path: str, parts: tuple[str, ...]) -> None:
    """Windows paths, doubled separators, quotes and `..` name the same components."""
    assert split_path(path) == parts


def test_the_folder_of_a_skill_is_the_parent_of_its_file() -> None:
    """A base directory and the SKILL.md in it name the same skill."""
    assert skill_folder("/repo/skills/a/skill.md") == ("repo", "skills", "a")
    assert skill_folder("/repo/skills/a") == ("repo", "skills", "a")
    assert skill_folder("") == ()


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a/SKILL.md", True),
        ("a\\skill.MD", True),
        ("SKILL.md", True),
        ("a/SKILL.md.bak", False),
        ("a/MYSKILL.md", False),
        ("a/SKILLS.md", False),
        ("", False),
    ],
)
def test_only_a_whole_skill_md_is_a_skill_file(path: str, expected: bool) -> None:
    """A backup or a similar name beside SKILL.md is another file."""
    assert is_skill_file(path) is expected


@pytest.mark.parametrize(
    ("path", "plugin"),
    [
        ("/home/u/.codex/plugins/cache/market/acme/1.2.0/skills/widget/SKILL.md", "acme"),
        ("/home/u/.claude/plugins/cache/market/acme/abc1234/skills/widget", "acme"),
        ("/plugins/acme-tools/skills/widget-testing", "acme-tools"),
        ("/opt/acme/2.0.1/skills/widget", "acme"),
        ("/opt/acme/latest/skills/group/widget", "acme"),
        ("/1.0/skills/widget", "1.0"),
        ("/repo/.claude/skills/widget", ""),
        ("~/skills/widget", ""),
        ("$HOME/skills/widget", ""),
        ("skills/widget", ""),
        ("/repo/tools/widget", ""),
        ("widget", ""),
        ("", ""),
    ],
)
def test_the_plugin_of_a_skill_is_told_from_its_folder(path: str, plugin: str) -> None:
    """A plugin's name stands above `skills`, or in the plugin cache before the version."""
    assert plugin_of(path) == plugin


@pytest.mark.parametrize(
    ("called", "token", "expected"),
    [
        ("widget-testing", "widget-testing", True),
        ("Widget-Testing", "widget-testing", True),
        (" widget-testing ", "widget-testing", True),
        ("widget-testing", "widget-test", False),
        ("widget-test", "widget-testing", False),
        ("acme:widget-testing", "widget-testing", True),
        ("acme:widget-testing", "ACME:widget-testing", True),
        ("widget-testing", "acme:widget-testing", False),
        ("other:widget-testing", "acme:widget-testing", False),
        ("", "widget-testing", False),
        ("widget-testing", "", False),
    ],
)
def test_a_call_is_of_the_skill_that_bears_the_whole_name(
    called: str, token: str, expected: bool
) -> None:
    """`widget-test` is not `widget-testing`; a qualified token takes its own plugin alone."""
    assert same_skill(called, token) is expected


@pytest.mark.parametrize(
    ("path", "token", "expected"),
    [
        ("/repo/.agents/skills/widget-testing/SKILL.md", "widget-testing", True),
        (r"C:\repo\.agents\skills\Widget-Testing\SKILL.md", "widget-testing", True),
        ("/repo/.agents/skills/widget-testing", "widget-test", False),
        ("/checkouts/widget-testing/.agents/skills/order-api/SKILL.md", "widget-testing", False),
        ("/plugins/acme/skills/widget-testing", "acme:widget-testing", True),
        ("/plugins/other/skills/widget-testing", "acme:widget-testing", False),
        ("", "widget-testing", False),
    ],
)
def test_a_path_is_the_skills_by_its_own_folder_alone(
    path: str, token: str, expected: bool
) -> None:
    """A checkout that happens to be named like a skill proves nothing for it."""
    assert path_is_skill(path, token) is expected


@pytest.mark.parametrize(
    ("path", "token", "expected"),
    [
        ("/repo/.agents/skills/widget-testing/SKILL.md", "widget-testing/SKILL.md", True),
        (r"skills\widget-testing\skill.md", "widget-testing/SKILL.md", True),
        ("skills/my-widget-testing/SKILL.md", "widget-testing/SKILL.md", False),
        ("widget-testing/SKILL.md.bak", "widget-testing/SKILL.md", False),
        ("docs/README.md", "README.md", True),
        ("docs/OLDREADME.md", "README.md", False),
        ("README.md", "docs/README.md", False),
        ("README.md", "", False),
    ],
)
def test_a_file_is_matched_by_whole_components_at_its_end(
    path: str, token: str, expected: bool
) -> None:
    """`my-foo/SKILL.md` is not `foo/SKILL.md`, and a backup is another file."""
    assert path_is_file(path, token) is expected


@pytest.mark.parametrize(
    ("text", "token", "expected"),
    [
        ("I will use widget-testing.", "widget-testing", True),
        ("I will use WIDGET-TESTING now", "widget-testing", True),
        ("I will use widget-testing.", "widget-test", False),
        ("my-foo", "foo", False),
        ("foo-bar", "foo", False),
        ("foo_bar", "foo", False),
        ("a.foo", "foo", False),
        ("foo.md", "foo", False),
        ("acme:foo", "foo", True),
        ("foo:bar", "foo", False),
        ("(foo)", "foo", True),
        ("cat .agents/skills/foo/SKILL.md", "foo", True),
        ("cat .agents/skills/.system/foo/run.sh", "foo", True),
        ("cat foo/SKILL.md", "foo", True),
        ("cat r1/foo/SKILL.md.bak", "foo", False),
        ("ls /checkouts/foo/src", "foo", False),
        ("cd /home/foo", "foo", False),
        ("cd foo/src", "foo", False),
        (r"type C:\repo\skills\foo\notes.txt", "foo", True),
        ("read a/foo/SKILL.md", "foo/SKILL.md", True),
        (r"read a\foo\SKILL.md", "foo/SKILL.md", True),
        ("read a/my-foo/SKILL.md", "foo/SKILL.md", False),
        ("read a/foo/SKILL.md.bak", "foo/SKILL.md", False),
        ("anything", "", False),
    ],
)
def test_text_names_a_token_only_where_it_stands_whole(
    text: str, token: str, expected: bool
) -> None:
    """A longer name, a checkout folder or a backup file that holds the token does not name it."""
    assert names_token(text, token) is expected


@pytest.mark.parametrize(
    ("token", "name"),
    [
        ("foo", "foo"),
        ("acme:foo", "foo"),
        ("foo/SKILL.md", "foo"),
        ("plugins/acme/skills/foo/skill.md", "foo"),
        ("mcp:", "mcp:"),
        ("SKILL.md", ""),
        ("", ""),
    ],
)
def test_a_bare_name_is_the_skills_own(token: str, name: str) -> None:
    """Without its plugin; of its file the folder."""
    assert bare_name(token) == name
