"""Which files a shell command prints: the rule by which a codex load, and any shell read, is told.

A file counts where a program that prints files names it literally as its input, and nothing is
redirected into it. Listings, searches, globs, git, tests and in-place edits print no file in
this sense. Source of the rule: docs/explanation/evidence.md, 'What a native load is'.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from routing_action.agents.shell.words import MAX_DEPTH, Segment, Word, split_command

_PRINTERS = frozenset(
    "cat nl head tail bat batcat less more sed awk gawk mawk nawk fold fmt pr expand cut tac "
    "get-content gc type gcat gsed ghead gtail gnl".split()
)
_FILTERS = _PRINTERS | {"tee", "tr", "out-string", "select-object", "out-host", "write-output"}
_SCRIPTED = frozenset({"sed", "awk", "gawk", "mawk", "nawk"})
_POSIX_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh", "ash", "fish"})
_OTHER_SHELLS = frozenset({"powershell", "pwsh", "cmd"})
_INTERPRETER = re.compile(r"(?:python[\d.]*|py|pypy3?|node|nodejs|deno|bun|ruby|perl|php|lua)$")
_INLINE = frozenset(
    {"-c", "-e", "-p", "-pe", "-ne", "-r", "--eval", "--print", "eval", "-E", "-lne", "-0777"}
)
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
_FROM_START = re.compile(r"(?:^|\s)(?:-n|-c|--lines|--bytes)[ =]?\+[01](?:\s|$)|^\+[01]\b")
_LATE_SED = re.compile(r"(?:[2-9]|[1-9]\d+)(?:,(?:\d+|\$|\+\d+))?p;?|1(?:,\d+)?d")
_LATE_SELECT = re.compile(r"-(?:skip|last)\b", re.IGNORECASE)
_LATE_AWK = re.compile(r"\bNR\s*(?:>=?|==)\s*(?:[2-9]|[1-9]\d)|\bNR\s*>\s*1\b")
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_VARIABLE = re.compile(r"\$(?:env:)?([A-Za-z_]\w*)")
_COUNT = re.compile(r"[+]?\d+[bkKmM]?")  # the value of `head -n 40`, `tail -n +5`
_KEYWORDS = frozenset({"if", "then", "else", "elif", "do", "while", "until", "!", "{", "}", "time"})
_WRAPPERS = frozenset(
    "env sudo command builtin exec nohup nice ionice setsid timeout stdbuf noglob busybox rtk "
    "export declare typeset readonly local &".split()
)
_CHANGE_FOLDER = frozenset({"cd", "pushd", "chdir", "set-location", "sl"})
_WRITERS = frozenset({"tee", "touch", "truncate", "apply_patch"})
_COPIERS = frozenset({"cp", "mv", "install", "rsync", "ln", "copy-item", "move-item"})
_SPEAKERS = frozenset({"echo", "printf", "write-output", "write-host"})


@dataclass(slots=True)
class CommandReads:
    """What a command prints: `files` in order, `written` paths, `spoken` text of its own."""

    files: list[str] = field(default_factory=list)
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
    state.script(command, posix=True, depth=0)
    written = {posixpath.normpath(path) for path in state.reads.written}
    state.reads.files = [
        path for path in state.reads.files if posixpath.normpath(path) not in written
    ]
    return state.reads


class _State:
    """The folder, the variables and the findings while a script is walked."""

    def __init__(self, cwd: str) -> None:
        self.cwd = cwd[:_LONGEST]
        self.variables: dict[str, str] = {}
        self.early: set[str] = set()
        self.reads = CommandReads()

    def script(self, text: str, *, posix: bool, depth: int) -> None:
        if depth > MAX_DEPTH:
            return
        segments = split_command(text, backslash_escapes=posix)
        for segment, shown in zip(segments, _reach_output(segments), strict=True):
            words = self._command_words(segment)
            self.reads.written += [self._path(word) for word in segment.outputs]
            if words or segment.inputs:
                self._one(segment, words, shown=shown, posix=posix, depth=depth)

    def _command_words(self, segment: Segment) -> list[Word]:
        """The words from the program on, past keywords, assignments and wrappers."""
        words = list(segment.words)
        wrapped = False
        while words:
            text = words[0].text
            assigned = _ASSIGNMENT.fullmatch(text)
            if assigned and not words[0].glob:
                self.variables[assigned[1]] = self._expand(assigned[2])[:_LONGEST]
            elif _program(text) in _WRAPPERS:
                wrapped = True
            elif not (text in _KEYWORDS or (wrapped and _is_wrapper_argument(text))):
                break
            words.pop(0)
        return words

    def _one(
        self, segment: Segment, words: list[Word], *, shown: bool, posix: bool, depth: int
    ) -> None:
        program = _program(self._expand(words[0].text)) if words else "cat"
        arguments = words[1:]
        if program in _POSIX_SHELLS or program in _OTHER_SHELLS:
            self._shell(program, arguments, segment, depth)
        elif program == "eval":
            self.script(" ".join(w.text for w in arguments), posix=posix, depth=depth + 1)
        elif not self._has_effect(program, arguments):
            self._shows(program, arguments, segment, shown=shown)

    def _has_effect(self, program: str, arguments: list[Word]) -> bool:
        """Follow a command that changes the folder, writes or speaks; False where it does not."""
        if program in _CHANGE_FOLDER:
            self._change_folder(arguments)
        elif program in _WRITERS or _edits_in_place(program, arguments):
            self.reads.written += [self._path(word) for word in _plain(arguments)]
        elif program in _COPIERS:
            self.reads.written += [self._path(word) for word in _plain(arguments)[-1:]]
        elif program in _SPEAKERS:
            self.reads.spoken += [word.text for word in arguments]
        else:
            return False
        return True

    def _shows(self, program: str, arguments: list[Word], segment: Segment, *, shown: bool) -> None:
        """A command that may print files."""
        if program in _PRINTERS:
            self.reads.spoken += [segment.heredoc] if segment.heredoc else []
            self._print(program, arguments, segment, shown)
        elif _INTERPRETER.match(program):
            self._interpreter(arguments, segment, shown)

    def _shell(self, program: str, arguments: list[Word], segment: Segment, depth: int) -> None:
        posix = program in _POSIX_SHELLS
        for index, word in enumerate(arguments):
            if _carries_script(program, word.text):
                rest = arguments[index + 1 :]
                text = rest[0].text if posix and rest else " ".join(w.text for w in rest)
                self.script(text, posix=posix, depth=depth + 1)
                if not posix and not _HIDES.search(text):
                    self.reads.files += [self._join(m[2]) for m in _DOTNET_READS.finditer(text)]
                return
        if segment.heredoc:
            self.script(segment.heredoc, posix=posix, depth=depth + 1)

    def _change_folder(self, arguments: list[Word]) -> None:
        targets = _plain(arguments)
        if targets:
            self.cwd = self._path(targets[0])[:_LONGEST]

    def _print(self, program: str, arguments: list[Word], segment: Segment, shown: bool) -> None:
        if not shown:
            return
        late = segment.cut or skips_first_lines(program, [word.text for word in arguments])
        candidates = _plain(arguments)
        if program in _SCRIPTED and not _script_is_option(arguments):
            candidates = candidates[1:]
        named = [*candidates, *segment.inputs]
        paths = [self._path(word) for word in named if not word.glob]
        self.reads.files += paths
        if late:
            self.reads.late.update(path for path in paths if path not in self.early)
        else:
            self.early.update(paths)
            self.reads.late.difference_update(paths)

    def _interpreter(self, arguments: list[Word], segment: Segment, shown: bool) -> None:
        if not shown:
            return
        for index, word in enumerate(arguments):
            if word.text in _INLINE and index + 1 < len(arguments):
                self._code(arguments[index + 1].text, shown)
                rest = [w for w in arguments[index + 2 :] if not w.text.startswith("-")]
                self.reads.files += [self._path(w) for w in rest if not w.glob]
                return
        if segment.heredoc:
            self._code(segment.heredoc, shown)

    def _code(self, code: str, shown: bool) -> None:
        """String literals of a script that opens files and writes none."""
        literals = [match[2].replace("\\\\", "\\") for match in _LITERAL.finditer(code)]
        paths = [self._join(text) for text in literals if text]
        if _SCRIPT_WRITES.search(code):
            self.reads.written += paths
        elif shown and _SCRIPT_READS.search(code):
            self.reads.files += paths

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


def _program(text: str) -> str:
    name = text.replace("\\", "/").rpartition("/")[2].casefold()
    return name.removesuffix(".exe")


def _is_wrapper_argument(text: str) -> bool:
    """Options of `env`, `timeout 10`, `nice -n 5` and the like, which precede the program."""
    return text.startswith("-") or text.rstrip("smhd").replace(".", "", 1).isdigit()


def _carries_script(program: str, option: str) -> bool:
    if program in _POSIX_SHELLS:
        return option.startswith("-") and not option.startswith("--") and option.endswith("c")
    return option.casefold() in ("-command", "-c", "/c", "/k", "-encodedcommand", "/s")


def _plain(arguments: list[Word]) -> list[Word]:
    """The arguments that are no options; after `--` all of them."""
    plain: list[Word] = []
    for index, word in enumerate(arguments):
        if word.text == "--":
            return plain + arguments[index + 1 :]
        if not (word.text.startswith("-") or _COUNT.fullmatch(word.text)):
            plain.append(word)
    return plain


def _script_is_option(arguments: list[Word]) -> bool:
    """True where sed or awk got its script by an option, so that every word is a file."""
    options = ("-e", "-f", "--expression", "--file")
    return any(word.text.split("=")[0] in options for word in arguments)


def _edits_in_place(program: str, arguments: list[Word]) -> bool:
    if program == "sed":
        return any(
            w.text.startswith(("-i", "--in-place")) or re.fullmatch(r"-[nErsz]+i\S*", w.text)
            for w in arguments
        )
    return program == "perl" and any(re.match(r"-\w*i", w.text) for w in arguments)


def skips_first_lines(program: str, arguments: Sequence[str]) -> bool:
    """True where a printer's own options leave out the beginning of what it prints."""
    text = " ".join(arguments)
    if program == "tail":
        return _FROM_START.search(text) is None
    if program == "sed":
        return any(_LATE_SED.fullmatch(word.strip()) for word in arguments)
    if program.endswith("awk"):
        return any(_LATE_AWK.search(word) for word in arguments)
    return program == "select-object" and _LATE_SELECT.search(text) is not None


def _reach_output(segments: list[Segment]) -> list[bool]:
    """For each segment: is what it prints seen? Then no file takes it, and filters pass it on.

    A segment is marked as `cut` where a filter after it drops the first lines.
    """
    reach = [False] * len(segments)
    for index in reversed(range(len(segments))):
        segment, seen = segments[index], True
        if segment.piped and index + 1 < len(segments):
            following = segments[index + 1]
            words = [word.text for word in following.words] or [""]
            late = skips_first_lines(_program(words[0]), words[1:])
            segment.cut = bool(following.words) and (late or following.cut)
            seen = _program(words[0]) in _FILTERS and reach[index + 1]
        reach[index] = seen and not segment.outputs
    return reach
