"""The frontmatter of a SKILL.md is found in what a command printed, however it was printed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing_action.corpus.frontmatter import find_frontmatter

PLAIN = "---\nname: widget-testing\ndescription: Use it.\n---\n\n# Body\n"


def numbered(form: str) -> str:
    lines = enumerate(PLAIN.split("\n"), start=1)
    return "\n".join(form.format(number=number, line=line) for number, line in lines)


@pytest.mark.parametrize(
    "output",
    [
        PLAIN,
        "some text before\n" + PLAIN,
        PLAIN.replace("\n", "\r\n"),
        "\ufeff" + PLAIN,
        "\x1b[38;5;81m---\x1b[0m\n\x1b[1mname\x1b[0m: widget-testing\n---\n",
        '---\nname: "widget-testing"\n---\n',
        "---\nname: 'widget-testing'\n---\n",
        "---\nName:widget-testing\n---\n",
        "---\n# a comment\n\nlicense: MIT\nname: widget-testing\n...\n",
        "---\nname: widget-testing\ndescription: cut",
        "---\ndescription: >\n  folded\n  text\nname: widget-testing\n---\n",
        "---\nname: widget-testing\nname: second\n---\n",
        numbered("{number:6}\t{line}"),
        numbered("{number:6}→{line}"),
        numbered("{number:4} │ {line}"),
        numbered("{number}: {line}"),
        numbered("{number:6}  {line}"),
        numbered("{line}$"),
        numbered("{line}^M$"),
    ],
)
def test_the_name_is_read_from_the_frontmatter(output: str) -> None:
    """Line numbers, colours, quotes and line ends of a pager do not hide the name."""
    found = find_frontmatter(output)
    assert found.names == {"widget-testing"}
    assert found.opens


@pytest.mark.parametrize(
    "output",
    [
        "",
        "name: widget-testing\ndescription: no fence\n",
        "----\nname: widget-testing\n----\n",
        " ---\nname: widget-testing\n",
        "---\nSome text.\nname: widget-testing\n",
        "---\nlicense: MIT\n---\n",
        "# Body\n\n---\n\nA rule above, no key.\n",
    ],
)
def test_text_without_frontmatter_names_no_skill(output: str) -> None:
    """A rule in Markdown or a lone `name:` line is no frontmatter."""
    found = find_frontmatter(output)
    assert found.names == frozenset()
    assert not found.opens


def test_a_frontmatter_without_a_name_still_opens() -> None:
    """A block with a description alone shows that a file's first lines were printed."""
    found = find_frontmatter("---\ndescription: Use it.\nname:\n---\n")
    assert (found.names, found.opens) == (frozenset(), True)


def test_every_file_of_one_output_is_told() -> None:
    """Two files that were printed one after the other are two names."""
    both = PLAIN + PLAIN.replace("widget-testing", "order-api")
    assert find_frontmatter(both).names == {"widget-testing", "order-api"}


@given(st.text(max_size=200))
def test_any_output_is_searched_without_an_error(output: str) -> None:
    """A command may print anything."""
    find_frontmatter(output)
