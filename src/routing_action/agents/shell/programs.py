"""The programs that commands start: which of them print files, and which never do.

Only what a known program does is told here; of one that is not listed the output decides.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence

from routing_action.agents.shell.words import Segment, Word

PRINTERS = frozenset(
    "cat nl head tail bat batcat less more sed awk gawk mawk nawk fold fmt pr expand cut tac "
    "get-content gc type gcat gsed ghead gtail gnl".split()
)
FILTERS = PRINTERS | {"tee", "tr", "out-string", "select-object", "out-host", "write-output"}
SCRIPTED = frozenset({"sed", "awk", "gawk", "mawk", "nawk"})
POSIX_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh", "ash", "fish"})
OTHER_SHELLS = frozenset({"powershell", "pwsh", "cmd"})
INTERPRETER = re.compile(r"(?:python[\d.]*|py|pypy3?|node|nodejs|deno|bun|ruby|perl|php|lua)$")
INLINE = frozenset(
    {"-c", "-e", "-p", "-pe", "-ne", "-r", "--eval", "--print", "eval", "-E", "-lne", "-0777"}
)
_CMDLET = re.compile(
    r"(?<![\w-])(?:(?:Get|Set|Join|Select|ForEach|Out|Write|Push|Resolve)-[A-Z][a-z]+"
    r"|\[(?:System\.)?IO\.File\])|\\SKILL\.md",
    re.IGNORECASE,
)
_FROM_START = re.compile(r"(?:^|\s)(?:-n|-c|--lines|--bytes)[ =]?\+[01](?:\s|$)|^\+[01]\b")
_LATE_SED = re.compile(r"(?:[2-9]|[1-9]\d+)(?:,(?:\d+|\$|\+\d+))?p;?|1(?:,\d+)?d")
_LATE_SELECT = re.compile(r"-(?:skip|last)\b", re.IGNORECASE)
_LATE_AWK = re.compile(r"\bNR\s*(?:>=?|==)\s*(?:[2-9]|[1-9]\d)|\bNR\s*>\s*1\b")
_COUNT = re.compile(r"[+]?\d+[bkKmM]?")  # the value of `head -n 40`, `tail -n +5`
KEYWORDS = frozenset({"if", "then", "else", "elif", "do", "while", "until", "!", "{", "}", "time"})
WRAPPERS = frozenset(
    "env sudo command builtin exec nohup nice ionice setsid timeout stdbuf noglob busybox rtk "
    "export declare typeset readonly local &".split()
)
CHANGE_FOLDER = frozenset({"cd", "pushd", "chdir", "set-location", "sl"})
WRITERS = frozenset({"tee", "touch", "truncate", "apply_patch"})
COPIERS = frozenset({"cp", "mv", "install", "rsync", "ln", "copy-item", "move-item"})
NEVER = frozenset(
    "grep egrep fgrep zgrep rg ag ack sls select-string findstr ls dir tree find fd fdfind locate "
    "gci get-childitem wc test [ [[ test-path stat file git hg svn gh diff cmp comm cksum md5sum "
    "sha1sum sha256sum shasum get-filehash du chmod chown rm del mkdir rmdir basename dirname "
    "realpath readlink which resolve-path ssh scp sftp docker podman kubectl unset alias trap "
    "exit true false sleep wait pwd date out-null out-file".split()
)
"""Programs whose output is no file's text, or is that of another machine."""
LISTERS = frozenset({"find", "fd", "fdfind", "rg", "locate"})
"""Programs that name files which nobody named: as little as a glob they choose one skill."""
SPEAKERS = frozenset({"echo", "printf", "write-output", "write-host"})


def is_known(program: str) -> bool:
    """True for a program of which it is told here what it does."""
    known = (PRINTERS, NEVER, POSIX_SHELLS, OTHER_SHELLS, SPEAKERS, WRITERS, COPIERS)
    return any(program in one for one in known) or INTERPRETER.match(program) is not None


def is_powershell(command: str) -> bool:
    """True for a script of PowerShell, or with paths of Windows, that no program carries."""
    first = program_name(next(iter(command.split()), "").strip("'\""))
    carried = first in POSIX_SHELLS or first in OTHER_SHELLS
    return not carried and _CMDLET.search(command) is not None


def decode_script(option: str, text: str) -> str:
    """A script as it was given to a shell; PowerShell takes one in base64 of UTF-16."""
    if not option.casefold().startswith("-e") or "c" not in option.casefold():
        return text
    try:
        return base64.b64decode(text, validate=True).decode("utf-16-le")
    except ValueError:
        return text


def program_name(text: str) -> str:
    """A program's name, whatever folder it lies in."""
    name = text.replace("\\", "/").rpartition("/")[2].casefold()
    return name.removesuffix(".exe")


def carries_script(program: str, option: str) -> bool:
    """True for the option of a shell that a script follows."""
    if program in POSIX_SHELLS:
        return option.startswith("-") and not option.startswith("--") and option.endswith("c")
    return option.casefold() in ("-command", "-c", "/c", "/k", "-encodedcommand", "-enc", "/s")


def plain_arguments(arguments: list[Word]) -> list[Word]:
    """The arguments that are no options; after `--` all of them."""
    plain: list[Word] = []
    for index, word in enumerate(arguments):
        if word.text == "--":
            return plain + arguments[index + 1 :]
        if not (word.text.startswith("-") or _COUNT.fullmatch(word.text)):
            plain.append(word)
    return plain


def script_is_option(arguments: list[Word]) -> bool:
    """True where sed or awk got its script by an option, so that every word is a file."""
    options = ("-e", "-f", "--expression", "--file")
    return any(word.text.split("=")[0] in options for word in arguments)


def edits_in_place(program: str, arguments: list[Word]) -> bool:
    """True where the program changes the files that it is given."""
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


_SEEN, MAYBE, _HIDDEN = 2, 1, 0
"""Whether what a command prints is seen."""


def reach_output(segments: list[Segment]) -> list[int]:
    """For each segment: is what it prints seen? Then no file takes it, and filters pass it on.

    What a program of an unknown kind passes on may be seen. A segment is marked as `cut` where a
    filter after it drops the first lines.
    """
    reach = [_HIDDEN] * len(segments)
    for index in reversed(range(len(segments))):
        segment, seen = segments[index], _SEEN
        if segment.piped and index + 1 < len(segments):
            following = segments[index + 1]
            words = [word.text for word in following.words] or [""]
            program = program_name(words[0])
            late = skips_first_lines(program, words[1:])
            segment.cut = bool(following.words) and (late or following.cut)
            passes = _SEEN if program in FILTERS else MAYBE if not is_known(program) else _HIDDEN
            seen = min(passes, reach[index + 1])
        reach[index] = _HIDDEN if segment.outputs else seen
    return reach
