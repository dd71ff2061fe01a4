"""Which files a shell command prints: the rule by which a codex load, and any shell read, is told.

A file counts where a program that prints files names it literally as its input, and nothing is
redirected into it. What other programs were given, and what variables and lists stand for, may
have been printed: the output decides. Listings, searches, globs, git, tests and in-place edits
print no file in this sense. Source: docs/reference/evidence-rules.md, 'What a native load is'.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field, replace

from routing_action.agents.shell.programs import (
    CHANGE_FOLDER,
    COPIERS,
    INLINE,
    INTERPRETER,
    KEYWORDS,
    LISTERS,
    MAYBE,
    NEVER,
    OTHER_SHELLS,
    POSIX_SHELLS,
    PRINTERS,
    SCRIPTED,
    SPEAKERS,
    WRAPPERS,
    WRITERS,
    carries_script,
    decode_script,
    edits_in_place,
    is_known,
    is_powershell,
    plain_arguments,
    program_name,
    reach_output,
    script_is_option,
    skips_first_lines,
)
from routing_action.agents.shell.words import MAX_DEPTH, Segment, Word, split_command

_LITERAL = re.compile(r"""(['"`])((?:\\.|(?!\1)[^\\\n])*)\1""")
_SCRIPT_READS = re.compile(r"open|read|slurp|cat|file_get_contents|IO\.File", re.IGNORECASE)
_SCRIPT_WRITES = re.compile(
    r"""open\([^()]*,\s*(?:mode\s*=\s*)?['"][rb]*[wax+]|unlink|remove\(|rename|"""
    r"""(?<!stdout\.)(?<!stdout\.buffer\.)\bwrite|copy(?!fileobj\([^;]*stdout)|"""
    r"""Set-Content|Out-File|Add-Content""",
    re.IGNORECASE,
)
_DOTNET_READS = re.compile(
    r"""::(?:ReadAllText|ReadAllLines|ReadLines)\(\s*(['"])([^'"\n]+)\1\s*\)""", re.IGNORECASE
)
_HIDES = re.compile(r"[|>=]")  # what is read goes elsewhere
_LONGEST = 1_000
"""Characters of a variable or a folder that are kept: doubling it again and again stays cheap."""
_MOST_VARIABLES = 50
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_OPEN = re.compile(r"[${}]")  # what stands for the end of a path is not known
_VARIABLE = re.compile(r"\$(?:env:)?([A-Za-z_]\w*)")


@dataclass(slots=True)
class CommandReads:
    """What a command prints: `files` in order, `written` paths, `spoken` text of its own.

    `possible` are paths that programs of an unknown kind were given. `open_ended`: something else
    may have been printed too, what a variable or a list stands for; `unknown`: by a program of an
    unknown kind, whatever it was given; not where a glob chose the files. `decoded` are scripts
    that the command carries in base64. `cwd` is the folder at the end.
    """

    files: list[str] = field(default_factory=list)
    possible: list[str] = field(default_factory=list)
    open_ended: bool = False
    unknown: bool = False
    decoded: list[str] = field(default_factory=list)
    cwd: str = ""
    written: list[str] = field(default_factory=list)
    spoken: list[str] = field(default_factory=list)
    late: set[str] = field(default_factory=set)
    """Files of which the command shows no first line."""


def reads_of(command: str, cwd: str = "") -> CommandReads:
    """The files that a command line prints literally; never raises.

    `cwd` is the folder that the command starts in, "" where unknown; a path is completed by it
    and by an earlier `cd`.
    """
    state = _State(cwd)
    state.script(command, posix=not is_powershell(command))
    reads = state.reads
    reads.cwd = state.cwd
    written = {posixpath.normpath(path) for path in reads.written}
    reads.files = [path for path in reads.files if posixpath.normpath(path) not in written]
    reads.possible = [path for path in reads.possible if posixpath.normpath(path) not in written]
    reads.unknown = reads.unknown and not state.chosen_by_glob
    return reads


class _State:
    """The folder, the variables and the findings while a script is walked."""

    def __init__(self, cwd: str) -> None:
        self.cwd = cwd[:_LONGEST]
        self.variables: dict[str, str] = {}
        self.early: set[str] = set()
        self.posix = True
        self.depth = 0
        self.chosen_by_glob = False
        self.reads = CommandReads()

    def script(self, text: str, *, posix: bool) -> None:
        if self.depth > MAX_DEPTH:
            return
        outer, self.posix = self.posix, posix
        self.depth += 1
        segments = split_command(text, backslash_escapes=posix)
        for segment, shown in zip(segments, reach_output(segments), strict=True):
            self.chosen_by_glob |= any(word.glob and "{" not in word.text for word in segment.words)
            words = self._command_words(segment)
            self.reads.written += [self._path(word) for word in segment.outputs]
            if words or segment.inputs:
                self._one(segment, words, shown)
        self.posix = outer
        self.depth -= 1

    def _command_words(self, segment: Segment) -> list[Word]:
        """The words from the program on, past keywords, assignments and wrappers."""
        words = list(segment.words)
        wrapped = False
        while words:
            text = words[0].text
            assigned = _ASSIGNMENT.fullmatch(text)
            if assigned and not words[0].glob:
                self.variables[assigned[1]] = self._expand(assigned[2])[:_LONGEST]
            elif program_name(text) in WRAPPERS:
                wrapped = True
            elif not (text in KEYWORDS or (wrapped and _is_wrapper_argument(text))):
                break
            words.pop(0)
        return words

    def _one(self, segment: Segment, words: list[Word], shown: int) -> None:
        program = program_name(self._expand(words[0].text)) if words else "cat"
        arguments = words[1:]
        if program in POSIX_SHELLS or program in OTHER_SHELLS:
            self._shell(program, arguments, segment)
        elif program == "eval":
            self.script(" ".join(w.text for w in arguments), posix=self.posix)
        elif not self._has_effect(program, arguments):
            self.chosen_by_glob |= program in LISTERS
            self._shows(program, arguments, segment, shown)
            if not self.posix and shown and program in PRINTERS:
                self.reads.open_ended = True
            if segment.heredoc and ("$(" in segment.heredoc or "`" in segment.heredoc):
                quoted = segment.heredoc.replace('"', '\\"')
                self.script(f': "{quoted}"', posix=self.posix)
            if not is_known(program) or "-exec" in {word.text for word in arguments}:
                self._other(arguments, segment, shown)

    def _has_effect(self, program: str, arguments: list[Word]) -> bool:
        """Follow a command that changes the folder, writes or speaks; False where it does not."""
        if program in CHANGE_FOLDER:
            targets = map(self._path, plain_arguments(arguments))
            self.cwd = next(targets, self.cwd)[:_LONGEST]
        elif program in WRITERS or edits_in_place(program, arguments):
            self.reads.written += [self._path(word) for word in plain_arguments(arguments)]
        elif program in COPIERS:
            self.reads.written += [self._path(word) for word in plain_arguments(arguments)[-1:]]
        elif program in SPEAKERS:
            self.reads.spoken += [word.text for word in arguments]
        else:
            return False
        return True

    def _shows(self, program: str, arguments: list[Word], segment: Segment, shown: int) -> None:
        """A command that may print files."""
        if program in PRINTERS:
            self.reads.spoken += [segment.heredoc] if segment.heredoc else []
            self._print(program, arguments, segment, shown)
        elif shown and INTERPRETER.match(program):
            self._interpreter(arguments, segment)

    def _other(self, arguments: list[Word], segment: Segment, shown: int) -> None:
        """A program of an unknown kind: it may start another one, or print what it was given."""
        for index, word in enumerate(arguments[: _LONGEST if shown else 0]):
            if is_known(program_name(word.text)) and not word.glob:
                before = len(self.reads.files)
                inner = replace(segment, inputs=[], heredoc="")
                self._one(inner, arguments[index:], shown)
                may_print = program_name(word.text) not in NEVER
                self.reads.open_ended |= may_print and len(self.reads.files) == before
                self.reads.unknown |= may_print
                return
        if shown and (arguments or segment.inputs):
            self.reads.unknown = True
            words = [*plain_arguments(arguments), *segment.inputs]
            values = (replace(word, text=word.text.rpartition("=")[2]) for word in words)
            self.reads.possible += self._literal(list(values))

    def _shell(self, program: str, arguments: list[Word], segment: Segment) -> None:
        posix = program in POSIX_SHELLS
        for index, word in enumerate(arguments):
            if carries_script(program, word.text):
                rest = arguments[index + 1 :]
                text = rest[0].text if posix and rest else " ".join(w.text for w in rest)
                if not posix and (script := decode_script(word.text, text)) != text:
                    self.reads.decoded.append(script)
                    text = script
                self.script(text, posix=posix)
                if not posix and not _HIDES.search(text):
                    self.reads.files += [self._join(m[2]) for m in _DOTNET_READS.finditer(text)]
                return
        if segment.heredoc:
            self.script(segment.heredoc, posix=posix)
        self.reads.open_ended |= not arguments  # a script comes from the program before

    def _print(self, program: str, arguments: list[Word], segment: Segment, shown: int) -> None:
        if not shown:
            return
        late = segment.cut or skips_first_lines(program, [word.text for word in arguments])
        candidates = plain_arguments(arguments)
        if program in SCRIPTED and not script_is_option(arguments):
            script = next((word for word in arguments if not word.text.startswith("-")), None)
            candidates = [word for word in candidates if word is not script]
        paths = self._literal([*candidates, *segment.inputs])
        if shown == MAYBE:
            self.reads.possible += paths
            return
        self.reads.files += paths
        if late:
            self.reads.late.update(path for path in paths if path not in self.early)
        else:
            self.early.update(paths)
            self.reads.late.difference_update(paths)

    def _literal(self, words: list[Word]) -> list[str]:
        """The paths that words say; of PowerShell a word can be a list of them."""
        paths: list[str] = []
        for word in words:
            for text in word.text.split(",") if not self.posix else [word.text]:
                path = self._join(self._expand(text))
                is_open = _OPEN.search("/".join(path.split("/")[-2:])) is not None
                self.reads.open_ended |= is_open
                self.reads.unknown |= is_open and not word.glob
                paths += [] if word.glob or is_open or not text else [path]
        return paths

    def _interpreter(self, arguments: list[Word], segment: Segment) -> None:
        for index, word in enumerate(arguments):
            if word.text in INLINE and index + 1 < len(arguments):
                self._code(arguments[index + 1].text)
                rest = [w for w in arguments[index + 2 :] if not w.text.startswith("-")]
                self.reads.files += [self._path(w) for w in rest if not w.glob]
                return
        if segment.heredoc:
            self._code(segment.heredoc)

    def _code(self, code: str) -> None:
        """String literals of a script that opens files and writes none."""
        literals = [match[2].replace("\\\\", "\\") for match in _LITERAL.finditer(code)]
        paths = [self._join(text) for text in literals if text and not _OPEN.search(text)]
        if _SCRIPT_WRITES.search(code):
            self.reads.written += paths
        elif _SCRIPT_READS.search(code):
            self.reads.files += paths
            self.reads.open_ended = True

    def _expand(self, text: str) -> str:
        """Replace variables that this script assigned a literal to, and `$PWD`."""
        known = {"PWD": self.cwd or ".", **self.variables}
        return _VARIABLE.sub(lambda m: known.get(m[1], m[0]), text, count=_MOST_VARIABLES)

    def _path(self, word: Word) -> str:
        return self._join(self._expand(word.text))

    def _join(self, path: str) -> str:
        path = path.replace("\\", "/")
        return path if is_rooted(path) or not self.cwd else posixpath.join(self.cwd, path)


def is_rooted(path: str) -> bool:
    """True where a path does not depend on the working folder."""
    return path.startswith(("/", "~", "$")) or path[1:2] == ":"


def _is_wrapper_argument(text: str) -> bool:
    """Options of `env`, `timeout 10`, `nice -n 5` and the like, which precede the program."""
    return text.startswith("-") or text.rstrip("smhd").replace(".", "", 1).isdigit()
