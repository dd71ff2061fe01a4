"""The commands of a comment: `/routing rerun`, `explain`, `accept`, `status`, `cancel`, `help`.

Pure: a comment's text goes in; commands come out, and what is wrong with a line that was meant to
be one, with its place and the nearest word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from routing_action.bot.comment_lines import Line, find_own_lines
from routing_action.bot.words import UnclosedQuoteError, Word, split_words
from routing_action.files.nearest import find_nearest

PREFIX = "/routing"
MOST_COMMANDS = 10
"""Lines of one comment that are obeyed; the rest is told as a mistake."""
MOST_TRIALS = 20

_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_NAME = re.compile(r"[^\s,\x00-\x1f`<>]{1,200}")


class Verb(StrEnum):
    """What a command does."""

    RERUN = "rerun"
    EXPLAIN = "explain"
    ACCEPT = "accept"
    STATUS = "status"
    CANCEL = "cancel"
    HELP = "help"


class Scope(StrEnum):
    """Which pairs a rerun is of."""

    FAILED = "failed"
    ALL = "all"
    NAMED = "named"


@dataclass(frozen=True, slots=True)
class Command:
    """One line that is to be obeyed.

    `line` counts the comment's lines from 1. `scope` is of a rerun; `case_ids` and `agents` are as
    they were written, none meaning all; `trials` is 0 where it was left out; `trust` is a commit.
    """

    line: int
    verb: Verb
    scope: Scope = Scope.FAILED
    case_ids: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    trials: int = 0
    reason: str = ""
    trust: str = ""


@dataclass(frozen=True, slots=True)
class Mistake:
    """A line that was meant as a command and is none; `column` counts characters from 1."""

    line: int
    column: int
    text: str
    cause: str
    nearest: str = ""


@dataclass(frozen=True, slots=True)
class _Grammar:
    """The options of a verb, each with the field that it sets, and how many cases it takes."""

    options: Mapping[str, str] = field(default_factory=dict)
    least_cases: int = 0
    most_cases: int = 0
    needed: tuple[str, ...] = ()


_AGENTS = {"agents": "agents", "agent": "agents"}
_GRAMMARS = {
    Verb.RERUN: _Grammar({**_AGENTS, "trials": "trials", "trust": "trust"}, 0, 100),
    Verb.EXPLAIN: _Grammar(_AGENTS, 1, 1),
    Verb.ACCEPT: _Grammar({**_AGENTS, "reason": "reason"}, 1, 100, ("reason",)),
    Verb.STATUS: _Grammar(),
    Verb.CANCEL: _Grammar(),
    Verb.HELP: _Grammar(),
}
_EXAMPLES = {
    Verb.EXPLAIN: "/routing explain CASE",
    Verb.ACCEPT: '/routing accept CASE --reason "why"',
}


class _MistakeError(ValueError):
    def __init__(self, column: int, cause: str, nearest: str = "") -> None:
        super().__init__(cause)
        self.column = column
        self.cause = cause
        self.nearest = nearest


def parse_comment(body: str) -> tuple[Command | Mistake, ...]:
    """The commands and mistakes of a comment, in order; empty where it addresses nobody.

    Only lines that begin with `/routing` as a word of its own count, and only where
    `find_own_lines` sees them.
    """
    meant = [line for line in find_own_lines(body) if _is_meant(line.text)]
    found: list[Command | Mistake] = [_parse_line(line) for line in meant[:MOST_COMMANDS]]
    if len(meant) > MOST_COMMANDS:
        line = meant[MOST_COMMANDS]
        cause = f"a comment holds at most {MOST_COMMANDS} commands; this and later ones are not run"
        found.append(Mistake(line.number, 1, line.text, cause))
    return tuple(found)


def _is_meant(text: str) -> bool:
    start, after = text[: len(PREFIX)], text[len(PREFIX) : len(PREFIX) + 1]
    return start.lower() == PREFIX and (not after or after.isspace())


def _parse_line(line: Line) -> Command | Mistake:
    try:
        return _parse_words(line, split_words(line.text)[1:])
    except UnclosedQuoteError as error:
        cause = "this quoted text is not closed"
        return Mistake(line.number, error.column, line.text, cause)
    except _MistakeError as error:
        return Mistake(line.number, error.column, line.text, error.cause, error.nearest)


def _parse_words(line: Line, words: Sequence[Word]) -> Command:
    if not words:
        return Command(line.number, Verb.HELP)
    verb = _find_verb(words[0])
    grammar = _GRAMMARS[verb]
    given: dict[str, tuple[str, ...]] = {}
    cases: list[Word] = []
    rest = iter(words[1:])
    for word in rest:
        if word.name:
            name, value = _read_option(grammar, verb, word, rest)
            if name in given:
                raise _MistakeError(word.column, f"`--{word.name}` is given twice")
            given[name] = value
        else:
            cases.append(word)
    scope = Scope.FAILED
    if verb is Verb.RERUN:
        scope, cases = _find_scope(cases)
    _require(verb, grammar, cases, given, len(line.text) + 1)
    return Command(
        line.number,
        verb,
        scope,
        tuple(dict.fromkeys(name for word in cases for name in _names(word))),
        given.get("agents", ()),
        int("".join(given.get("trials", ("0",)))),
        "".join(given.get("reason", ())),
        "".join(given.get("trust", ())),
    )


def _find_verb(word: Word) -> Verb:
    try:
        return Verb(word.text.lower())
    except ValueError:
        nearest = find_nearest(word.text, [verb.value for verb in Verb])
        raise _MistakeError(word.column, f"{word.text!r} is no command", nearest) from None


def _read_option(
    grammar: _Grammar, verb: Verb, word: Word, rest: Iterator[Word]
) -> tuple[str, tuple[str, ...]]:
    """The field that an option sets, and its value."""
    if word.name not in grammar.options:
        nearest = find_nearest(word.name, grammar.options)
        cause = f"{verb.value} has no option {word.text!r}"
        raise _MistakeError(word.column, cause, f"--{nearest}" if nearest else "")
    value = next(rest, None)
    if value is None or value.name:
        raise _MistakeError(word.column, f"`--{word.name}` needs a value")
    name = grammar.options[word.name]
    if name == "agents":
        return name, tuple(dict.fromkeys(part.lower() for part in _names(value)))
    if name == "trials":
        is_number = value.text.isascii() and value.text.isdecimal()
        if not is_number or not 1 <= int(value.text[:9]) <= MOST_TRIALS:
            raise _MistakeError(value.column, f"`--trials` takes a number from 1 to {MOST_TRIALS}")
    if name == "trust" and not _COMMIT.fullmatch(value.text.lower()):
        raise _MistakeError(value.column, "`--trust` takes the full id of the commit")
    if not value.text.strip():
        raise _MistakeError(value.column, f"`--{word.name}` is empty")
    return name, (value.text.lower() if name == "trust" else value.text.strip(),)


def _names(word: Word) -> Iterator[str]:
    """The names in a word: several stand with commas between them."""
    for name in word.text.split(","):
        if name and not _NAME.fullmatch(name):
            raise _MistakeError(word.column, f"{name[:40]!r} is no name")
        if name:
            yield name


def _find_scope(words: list[Word]) -> tuple[Scope, list[Word]]:
    """What a rerun is of, and the cases that it names."""
    known = {Scope.FAILED.value: Scope.FAILED, Scope.ALL.value: Scope.ALL}
    scopes = [word for word in words if word.text.lower() in known]
    if not words:
        return Scope.FAILED, []
    if not scopes:
        return Scope.NAMED, words
    if len(words) > 1:
        cause = f"give either {scopes[0].text.lower()!r} or the names of cases"
        raise _MistakeError(words[1].column, cause)
    return known[scopes[0].text.lower()], []


def _require(
    verb: Verb, grammar: _Grammar, cases: Sequence[Word], given: Mapping[str, object], end: int
) -> None:
    example = _EXAMPLES.get(verb, "")
    if len(cases) < grammar.least_cases:
        raise _MistakeError(end, f"{verb.value} needs a case: `{example}`")
    if len(cases) > grammar.most_cases:
        extra = cases[grammar.most_cases]
        cause = f"{verb.value} takes {_counted(grammar.most_cases)}, not {extra.text[:40]!r} too"
        raise _MistakeError(extra.column, cause)
    for name in grammar.needed:
        if name not in given:
            raise _MistakeError(end, f"{verb.value} needs `--{name}`: `{example}`")


def _counted(most: int) -> str:
    return {0: "no case", 1: "one case"}.get(most, f"at most {most} cases")
