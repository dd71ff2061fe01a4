"""Users' templates extend ours by block, can do nothing but render, and never lose a report."""

from __future__ import annotations

from pathlib import Path

import pytest

from routing_action.errors import UsageError
from routing_action.report.markdown import render_comment
from routing_action.report.render_all import render_all
from routing_action.report.sandbox import prefer_overrides
from tests.rendering.samples import PLACE, filled, green, huge, red
from tests.support.report_values import render_summary

EXTENDS = '{% extends "routing-action/comment.md.j2" %}'


def write(folder: Path, text: str, name: str = "comment.md.j2") -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder


def render(folder: Path) -> str:
    return render_comment(red(), PLACE, overrides=folder)


def test_a_template_of_the_same_name_extends_ours_by_block(tmp_path: Path) -> None:
    """One block is replaced, another is added to, the rest stays."""
    folder = write(
        tmp_path,
        EXTENDS + "{% block counts %}{{ page.counts | length }} words{% endblock %}"
        "{% block footer %}{{ super() }}See our wiki.{% endblock %}",
    )
    text = render(folder)
    assert "\n2 words\n" in text
    assert text.endswith("</sub>\nSee our wiki.\n")
    assert "> **Routing gate failed**: 2 regressions." in text


def test_a_change_of_the_shared_body_changes_every_report(tmp_path: Path) -> None:
    """body.md.j2 is what comment, summary and check are made of."""
    folder = write(
        tmp_path,
        '{% extends "routing-action/body.md.j2" %}{% block counts %}ours{% endblock %}',
        "body.md.j2",
    )
    assert "\nours\n" in render(folder)
    assert "\nours\n" in render_summary(red(), PLACE, overrides=folder)


@pytest.mark.parametrize(
    "expression",
    [
        "{{ page.reasons[0] }}",
        "{{ 'a' ~ page.reasons[0] ~ 'b' }}",
        "{% macro m(x) %}{{ x }}{% endmacro %}{{ m(page.reasons[0]) }}",
        "{% set x %}{{ page.reasons[0] }}{% endset %}{{ x }}",
        "{% autoescape false %}{{ page.reasons[0] }}{% endautoescape %}",
    ],
)
def test_whatever_a_template_prints_is_inert(tmp_path: Path, expression: str) -> None:
    """Who forgets a filter still pings no one."""
    folder = write(tmp_path, expression)
    text = render_comment(filled("@octocat"), PLACE, overrides=folder)
    assert "`@octocat`" in text


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("a\n{% if %}", 2, "Expected an expression"),
        ("a\nb\n{{ page.nothing }}", 3, "nothing"),
        ("{{ page.reasons | safe }}", 1, "No filter named 'safe'"),
        ("\n{{ 1 // 0 }}", 2, "ZeroDivisionError"),
        ('{% extends "routing-action/none.md.j2" %}', 1, "none.md.j2"),
        ('{% include "../secret" %}', 1, "secret"),
        ("{{ page.build() }}", 1, "cannot be called here"),
    ],
)
def test_a_faulty_template_is_named_with_file_and_line(
    tmp_path: Path, text: str, line: int, said: str
) -> None:
    """The cause says where to look, the remedy where to read."""
    with pytest.raises(UsageError) as caught:
        render(write(tmp_path, text))
    assert str(caught.value).startswith(f"{tmp_path.resolve()}/comment.md.j2:{line}: ")
    assert said in str(caught.value)
    assert caught.value.page == "how-to/change-the-reports.md"


@pytest.mark.parametrize(
    "text",
    [
        "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}",
        "{% for a in range(99999) %}{% endfor %}",
        "{% set r = range(9999) %}{% for a in r %}{% for b in r %}{% endfor %}{% endfor %}",
        "{% for a in range(9999) %}" + "x" * 10_000 + "{% endfor %}",
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
        '{% include "comment.md.j2" %}',
        "{{ 'x' * 999999999 }}",
        "{{ 9 ** 9 ** 9 }}",
        "{{ 999999999 * 999999999 }}",
        "{{ '%9999999d' % 1 }}",
        "{{ ''.__class__ }}",
        "{{ page.__init__.__globals__ }}",
        "{{ page.everything.__class__.__mro__ }}",
        "{{ 'x'.ljust(999999999) }}",
        "{{ '{0.__class__}'.format(page) }}",
        "{{ self.__dict__ }}",
        "{{ cycler('a').__init__ }}",
        "{{ lipsum() }}",
        "{% set x = page.reasons.append('y') %}",
    ],
)
def test_a_template_can_do_nothing_but_render(tmp_path: Path, text: str) -> None:
    """Endless loops, huge texts, attribute tricks and calls end in an error that names the file."""
    with pytest.raises(UsageError, match=r"comment\.md\.j2"):
        render(write(tmp_path, text))


@pytest.mark.slow
def test_calls_that_double_end(tmp_path: Path) -> None:
    """A macro that calls itself twice, and prints nothing, is counted too."""
    macro = "{% macro m(n) %}{% if n > 0 %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}"
    with pytest.raises(UsageError, match="does too much"):
        render(write(tmp_path, macro + "{{ m(60) }}"))


def test_texts_that_double_in_a_loop_end(tmp_path: Path) -> None:
    """Growth by `~` and by set blocks is counted, and the error names the cap."""
    doubled = "{% set a %}{{ a }}{{ a }}{% endset %}" * 40
    with pytest.raises(UsageError, match=r"comment\.md\.j2:1: .* does too much: .* 32 MiB"):
        render(write(tmp_path, "{% set a %}xxxx{% endset %}" + doubled))
    doubled = "{% set a = a ~ a %}" * 40
    with pytest.raises(UsageError, match="does too much"):
        render(write(tmp_path, "{% set a = 'xxxx' %}" + doubled))


def test_a_link_to_a_file_elsewhere_is_no_template(tmp_path: Path) -> None:
    """A repository can hold symbolic links; what they lead to is not read."""
    secret = tmp_path / "secret.txt"
    secret.write_text("hush", encoding="utf-8")
    folder = tmp_path / "templates"
    folder.mkdir()
    (folder / "other.md.j2").symlink_to(secret)
    write(folder, '{% include "other.md.j2" %}')
    with pytest.raises(UsageError, match=r"other\.md\.j2"):
        render(folder)


def test_a_report_is_never_lost_to_a_template(tmp_path: Path) -> None:
    """The built-in template is used instead, with a warning that tells why."""
    folder = write(tmp_path, "{% if %}")
    text, warnings = prefer_overrides(
        lambda overrides: render_comment(red(), PLACE, overrides=overrides), folder
    )
    assert text == render_comment(red(), PLACE)
    (warning,) = warnings
    assert warning.startswith(f"{tmp_path.resolve()}/comment.md.j2:1: ")
    assert warning.endswith("the built-in template was used")


def test_a_usable_template_comes_without_a_warning(tmp_path: Path) -> None:
    """And ours, where there is none, as well."""
    folder = write(tmp_path, "short")
    assert prefer_overrides(lambda o: render_comment(red(), PLACE, overrides=o), folder) == (
        "short\n",
        (),
    )
    assert prefer_overrides(lambda o: o, None) == (None, ())


def test_a_template_that_heeds_no_space_is_told_its_size(tmp_path: Path) -> None:
    """A comment that cannot fit is an error of the template, for which ours stands in."""
    folder = write(tmp_path, "{% for row in page.changed %}{{ row.case_id }}{% endfor %}")
    with pytest.raises(UsageError, match=r"even without rows it has \d+ bytes, more than 2000"):
        render_comment(huge(1000, "x"), PLACE, overrides=folder, budget=2000)


def test_a_template_too_long_for_the_shorter_comments_still_makes_the_first(tmp_path: Path) -> None:
    """Where GitHub finds that one too long, shorter ones of our own templates are tried."""
    folder = write(tmp_path, "x" * 10_000)
    rendered, warnings = render_all(red(), PLACE, folder)
    assert warnings == ()
    assert rendered.comment[0] == "x" * 10_000 + "\n"
    assert rendered.comment[2] == render_comment(red(), PLACE, budget=5_000)


def test_templates_may_use_numbers_loops_and_mappings(tmp_path: Path) -> None:
    """What a template reasonably needs."""
    folder = write(
        tmp_path,
        "{{ 7 * 6 }} {% for a in range(3) %}{{ loop.cycle('odd', 'even') }}{{ loop.index }} "
        "{% endfor %}{% for k, v in {'a': 1}.items() %}{{ k }}{{ v + 1 }}{% endfor %}",
    )
    assert render_comment(green(), PLACE, overrides=folder) == "42 odd1 even2 odd3 a2\n"
