"""Splits a shell command line into its simple commands, without running or expanding anything.

Knows POSIX quoting, heredocs, redirections, pipes, groups and command substitution; PowerShell
and cmd are read with the backslash as an ordinary character. It must never raise: what cannot
be understood is simply cut where it stands.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

MAX_COMMAND = 200_000
MAX_DEPTH = 6
_HERE = ("pwd", "git rev-parse --show-toplevel")
_LONGEST_BRACE_LIST = 1_000

_GLOB = frozenset("*?[")
# Characters that mean nothing to a shell, outside and inside of double quotes.
_PLAIN = re.compile(r"""[^\s#;&|()<>'"`$\\*?\[{]+""")
_PLAIN_QUOTED = re.compile(r"""[^"`$\\]+""")
_QUOTED_ESCAPES = frozenset('$`"\\\n')


@dataclass(frozen=True, slots=True)
class Word:
    """A word after quote removal. `glob`: it holds an unquoted wildcard or brace list."""

    text: str
    glob: bool = False


@dataclass(slots=True)
class Segment:
    """One simple command.

    `piped` says that its standard output goes into the next segment; `cut` that a filter further
    on leaves out the first lines (`shell_reads` marks that).
    """

    words: list[Word] = field(default_factory=list)
    inputs: list[Word] = field(default_factory=list)
    outputs: list[Word] = field(default_factory=list)
    heredoc: str = ""
    piped: bool = False
    cut: bool = False

    @property
    def is_empty(self) -> bool:
        """True where nothing was written between two separators."""
        return not (self.words or self.inputs or self.outputs or self.heredoc)


def split_command(text: str, *, backslash_escapes: bool = True, depth: int = 0) -> list[Segment]:
    """The simple commands of a script in order; those inside `$(...)` come before their user."""
    scanner = _Scanner(text[:MAX_COMMAND], backslash_escapes, depth)
    scanner.run()
    return [segment for segment in scanner.segments if not segment.is_empty]


class _Scanner:
    """One pass over the characters; each method consumes from `self.at` on."""

    def __init__(self, text: str, backslash_escapes: bool, depth: int) -> None:
        self.text = text
        self.at = 0
        self.escape = "\\" if backslash_escapes else "`"
        self.posix = backslash_escapes
        self.depth = depth
        self.segments: list[Segment] = []
        self.segment = Segment()
        self.word: list[str] | None = None
        self.glob = False
        self.redirect = ""
        self.heredocs: list[tuple[Segment, str, bool]] = []

    def run(self) -> None:
        """Consume the whole text."""
        while self.at < len(self.text):
            self._step(self.text[self.at])
        self._end_segment()

    def _step(self, char: str) -> None:
        if char in " \t\r":
            self._end_word()
            self.at += 1
        elif char == "\n":
            self._end_segment()
            self.at += 1
            self._take_heredocs()
        elif char == "#" and self.word is None:
            end = self.text.find("\n", self.at)
            self.at = len(self.text) if end < 0 else end
        elif char in ";&|()":
            self._operator(char)
        elif char in "<>":
            self._redirection(char)
        else:
            self._in_word(char)

    def _in_word(self, char: str) -> None:
        if char == "'":
            self._single_quote()
        elif char == '"':
            self._double_quote()
        elif char == self.escape:
            self._escaped()
        elif char == "$":
            self._dollar()
        elif char == "`" and self.posix:
            self._substitution("`", 1)
        elif plain := _PLAIN.match(self.text, self.at):
            self._add(plain[0])
            self.at = plain.end()
        else:
            self._add(char)
            self.glob = self.glob or char in _GLOB or (char == "{" and self._is_brace_list())
            self.at += 1

    def _is_brace_list(self) -> bool:
        end = self.text.find("}", self.at, self.at + _LONGEST_BRACE_LIST)
        inner = self.text[self.at : end] if end > 0 else ""
        return ("," in inner or ".." in inner) and not any(c in inner for c in " \n;")

    def _add(self, text: str) -> None:
        self.word = self.word or []
        self.word.append(text)

    def _single_quote(self) -> None:
        end = self.text.find("'", self.at + 1)
        end = len(self.text) if end < 0 else end
        self._add(self.text[self.at + 1 : end])
        self.at = end + 1

    def _double_quote(self) -> None:
        self._add("")
        self.at += 1
        while self.at < len(self.text) and self.text[self.at] != '"':
            char = self.text[self.at]
            following = self.text[self.at + 1 : self.at + 2]
            if char == self.escape and (following in _QUOTED_ESCAPES or not self.posix):
                self._add("" if following == "\n" else following)
                self.at += 2
            elif char == "$":
                self._dollar()
            elif char == "`" and self.posix:
                self._substitution("`", 1)
            else:
                plain = _PLAIN_QUOTED.match(self.text, self.at)
                self._add(plain[0] if plain else char)
                self.at = plain.end() if plain else self.at + 1
        self.at += 1

    def _escaped(self) -> None:
        following = self.text[self.at + 1 : self.at + 2]
        if following != "\n":
            self._add(following)
        self.at += 2

    def _dollar(self) -> None:
        if self.text.startswith("$((", self.at):
            end = self.text.find("))", self.at)
            self._add("0")
            self.at = len(self.text) if end < 0 else end + 2
        elif self.text.startswith("$(", self.at):
            self._substitution(")", 2)
        elif self.text.startswith("${", self.at):
            end = self.text.find("}", self.at)
            end = len(self.text) if end < 0 else end
            self._add("$" + self.text[self.at + 2 : end])
            self.at = end + 1
        elif self.text.startswith("$'", self.at) and self.posix:
            self.at += 1
            self._single_quote()
        else:
            self._add("$")
            self.at += 1

    def _substitution(self, closing: str, skip: int) -> None:
        """A nested command: its segments are kept, its own text becomes an opaque `$()`."""
        start = self.at + skip
        end = self.text.find("`", start) if closing == "`" else self._matching(start)
        end = len(self.text) if end < 0 else end
        inner = self.text[start:end]
        self._add("$PWD" if inner.strip() in _HERE else "$()")
        if self.depth < MAX_DEPTH:
            nested = split_command(inner, backslash_escapes=self.posix, depth=self.depth + 1)
            self.segments.extend(nested)
        self.at = end + 1

    def _matching(self, start: int) -> int:
        """The index of the parenthesis that closes one opened before `start`, or -1."""
        level, at, quote = 1, start, ""
        while at < len(self.text):
            char = self.text[at]
            if char == "\\" and quote != "'":
                at += 1
            elif quote:
                quote = "" if char == quote else quote
            elif char in "'\"":
                quote = char
            elif char in "()":
                level += 1 if char == "(" else -1
                if level == 0:
                    return at
            at += 1
        return -1

    def _operator(self, char: str) -> None:
        if char == "&" and self.text[self.at + 1 : self.at + 2] == ">":
            self._end_word()
            self.at += 1
            self._redirection(">")
            return
        double = self.text[self.at + 1 : self.at + 2] == char
        piped = char == "|" and not double
        self._end_segment(piped=piped)
        self.at += 2 if (double and char in "&|;") else 1
        if piped and self.text[self.at : self.at + 1] == "&":
            self.at += 1

    def _redirection(self, char: str) -> None:
        descriptor = "".join(self.word) if self.word else ""
        if descriptor.isdigit() and not self.glob:
            self.word = None
        else:
            descriptor = ""
        self._end_word()
        start = self.at
        while self.at < len(self.text) and self.text[self.at] in "<>|&-" and self.at - start < 3:
            if self.text[self.at] == "-" and not self.text.startswith("<<-", start):
                break
            self.at += 1
        operator = self.text[start : self.at]
        if operator == "<" and self.text[self.at : self.at + 1] == "(":
            self._substitution(")", 1)
        elif not operator.endswith(">&") or not self._skip_descriptor():
            self.redirect = ("2" if descriptor not in ("", "0", "1") else "") + operator

    def _skip_descriptor(self) -> bool:
        """Consume the digit of `2>&1`; True where there was one."""
        start = self.at
        while self.at < len(self.text) and self.text[self.at] in "0123456789-":
            self.at += 1
        return self.at > start

    def _end_word(self) -> None:
        if self.word is None:
            return
        word = Word("".join(self.word), self.glob)
        redirect, self.word, self.glob, self.redirect = self.redirect, None, False, ""
        if not redirect:
            self.segment.words.append(word)
        elif redirect.endswith("<<<"):
            self.segment.heredoc += word.text
        elif redirect.endswith(("<<", "<<-")):
            self.heredocs.append((self.segment, word.text, redirect.endswith("-")))
        elif redirect.endswith("<"):
            self.segment.inputs.append(word)
        elif not redirect.startswith("2"):
            self.segment.outputs.append(word)

    def _end_segment(self, *, piped: bool = False) -> None:
        self._end_word()
        self.segment.piped = piped
        self.segments.append(self.segment)
        self.segment = Segment()

    def _take_heredocs(self) -> None:
        for segment, delimiter, strips in self.heredocs:
            body: list[str] = []
            while self.at < len(self.text):
                end = self.text.find("\n", self.at)
                end = len(self.text) if end < 0 else end
                line = self.text[self.at : end]
                self.at = end + 1
                if (line.lstrip("\t") if strips else line).rstrip("\r") == delimiter:
                    break
                body.append(line)
            segment.heredoc += "\n".join(body) + "\n"
        self.heredocs.clear()
