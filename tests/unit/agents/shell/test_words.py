"""A command line is cut into its simple commands as a shell would, without running anything."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing_action.agents.shell.words import MAX_COMMAND, Segment, split_command


def words(command: str, *, posix: bool = True) -> list[list[str]]:
    segments = split_command(command, backslash_escapes=posix)
    return [[word.text for word in segment.words] for segment in segments]


def only(command: str, *, posix: bool = True) -> Segment:
    (segment,) = split_command(command, backslash_escapes=posix)
    return segment


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("", []),
        ("  \t ", []),
        (";;", []),
        ("cat a b", [["cat", "a", "b"]]),
        ("cat 'a b'", [["cat", "a b"]]),
        ('cat "a b"', [["cat", "a b"]]),
        ("cat ''", [["cat", ""]]),
        ("cat a' 'b", [["cat", "a b"]]),
        (r"cat a\ b", [["cat", "a b"]]),
        (r'cat "a\"b\\c\d"', [["cat", 'a"b\\c\\d']]),
        ("cat a\\\nb", [["cat", "ab"]]),
        ('cat "a\\\nb"', [["cat", "ab"]]),
        ("cat $'a b'", [["cat", "a b"]]),
        ("cat 'open", [["cat", "open"]]),
        ('cat "open', [["cat", "open"]]),
        ("a; b && c || d & e\nf | g", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"], ["g"]]),
        ("a |& b", [["a"], ["b"]]),
        ("(a; b)", [["a"], ["b"]]),
        ("a # b; c\nd", [["a"], ["d"]]),
        ("a #", [["a"]]),
        ("a b#c", [["a", "b#c"]]),
        ("a $x ${y} $z", [["a", "$x", "$y", "$z"]]),
        ("a ${y", [["a", "$y"]]),
        ("a $((1 + 2)) b", [["a", "0", "b"]]),
        ("a $((1", [["a", "0"]]),
        ("a $", [["a", "$"]]),
        ("a \r\n b\r", [["a"], ["b"]]),
    ],
)
def test_a_script_is_cut_into_simple_commands(command: str, expected: list[list[str]]) -> None:
    """Quotes, escapes, comments and operators mean what they mean in a shell."""
    assert words(command) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("echo $(cat a)", [["cat", "a"], ["echo", "$()"]]),
        ("echo `cat a`", [["cat", "a"], ["echo", "$()"]]),
        ('echo "x $(cat a) y"', [["cat", "a"], ["echo", "x $() y"]]),
        ('echo "x `cat a` y"', [["cat", "a"], ["echo", "x $() y"]]),
        ("cat $(pwd)/a", [["pwd"], ["cat", "$PWD/a"]]),
        (
            "echo $(a $(b) ')' \")\" \\) c)",
            [["b"], ["a", "$()", ")", ")", ")", "c"], ["echo", "$()"]],
        ),
        ("echo $(cat a", [["cat", "a"], ["echo", "$()"]]),
        ("diff <(cat a) b", [["cat", "a"], ["diff", "$()", "b"]]),
    ],
)
def test_a_nested_command_comes_before_its_user(command: str, expected: list[list[str]]) -> None:
    """What runs inside a substitution is a command of its own."""
    assert words(command) == expected


def test_nesting_ends_at_a_bounded_depth() -> None:
    """A command that nests without end is cut, not followed for ever."""
    assert len(split_command("$(" * 50 + "cat a" + ")" * 50)) == 7


@pytest.mark.parametrize(
    ("word", "glob"),
    [
        ("a*", True),
        ("a?", True),
        ("[ab]", True),
        ("{a,b}", True),
        ("{1..3}", True),
        ("{a}", False),
        ("{a b", False),
        ("'a*'", False),
        ('"a*"', False),
        (r"a\*", False),
        ("a", False),
    ],
)
def test_an_unquoted_wildcard_makes_a_glob(word: str, glob: bool) -> None:
    """A name that the shell completes is no literal name."""
    assert only(f"cat {word}").words[1].glob is glob


@pytest.mark.parametrize(
    ("command", "inputs", "outputs"),
    [
        ("cat < a", ["a"], []),
        ("cat <a", ["a"], []),
        ("cat a > b", [], ["b"]),
        ("cat a >> b", [], ["b"]),
        ("cat a >| b", [], ["b"]),
        ("cat a 1> b", [], ["b"]),
        ("cat a &> b", [], ["b"]),
        ("cat a 2> b", [], []),
        ("cat a 2>> b", [], []),
        ("cat a 2>&1", [], []),
        ("cat a >&2", [], []),
        ("cat a 2>&-", [], []),
        ("cat a <> b", [], ["b"]),
        ("cat a >", [], []),
    ],
)
def test_redirections_are_no_words(command: str, inputs: list[str], outputs: list[str]) -> None:
    """Where output goes and input comes from is kept apart; errors do not matter."""
    segment = only(command)
    assert [word.text for word in segment.inputs] == inputs
    assert [word.text for word in segment.outputs] == outputs
    assert [word.text for word in segment.words][:1] == ["cat"]


def test_a_word_that_ends_in_a_digit_is_no_descriptor() -> None:
    """`a2>b` writes the output of `a2`; only a number alone names a descriptor."""
    segment = only("run a2>b")
    assert [word.text for word in segment.words] == ["run", "a2"]
    assert [word.text for word in segment.outputs] == ["b"]


@pytest.mark.parametrize(
    ("command", "body"),
    [
        ("cat <<EOF\none\ntwo\nEOF\nls", "one\ntwo\n"),
        ("cat <<'EOF' | wc\n$(x)\nEOF\nls", "$(x)\n"),
        ("cat <<-EOF\n\tone\n\tEOF\nls", "\tone\n"),
        ("cat <<EOF\r\none\r\nEOF\r\nls", "one\r\n"),
        ("cat <<EOF\nnever ended", "never ended\n"),
        ("cat <<< 'one two'", "one two"),
    ],
)
def test_a_heredoc_is_text_and_no_command(command: str, body: str) -> None:
    """Lines up to the delimiter are input of the command, whatever they look like."""
    assert split_command(command)[0].heredoc == body
    assert all(segment.words[0].text in ("cat", "wc", "ls") for segment in split_command(command))


def test_only_a_pipe_hands_output_on() -> None:
    """`||`, `;` and `&` end a command whose output is seen."""
    assert [segment.piped for segment in split_command("a | b || c; d & e")] == [
        True,
        False,
        False,
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (r"type C:\repo\a.md", [["type", r"C:\repo\a.md"]]),
        (r'Get-Content "C:\my repo\a.md"', [["Get-Content", r"C:\my repo\a.md"]]),
        ('echo "a`"b"', [["echo", 'a"b']]),
        ("cat a`\n b", [["cat", "a", "b"]]),
    ],
)
def test_powershell_keeps_its_backslashes(command: str, expected: list[list[str]]) -> None:
    """In PowerShell and cmd a backslash separates folders, and the backtick escapes."""
    assert words(command, posix=False) == expected


@given(st.text(alphabet="ab '\"\\$(){}`<>|&;#\n\t\r*[]=-2EOF", max_size=60), st.booleans())
def test_any_text_is_cut_without_an_error(command: str, posix: bool) -> None:
    """An agent's command may be anything."""
    split_command(command, backslash_escapes=posix)


@pytest.mark.parametrize("piece", ["{", "$(", "`", "cat a|", "((", "\\", "'\"", "<<A\n"])
def test_a_command_of_endless_repetition_is_cut_in_time(piece: str) -> None:
    """A hostile command costs work that grows with its length, no more."""
    split_command(piece * 30_000 + "}")


def test_what_lies_beyond_the_limit_is_not_looked_at() -> None:
    """A command of megabytes is cut."""
    (segment,) = split_command("a" * (MAX_COMMAND + 1))
    assert len(segment.words[0].text) == MAX_COMMAND
