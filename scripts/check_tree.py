"""Find what no other tool of the gate forbids: long modules, unfinished code, traces of a machine.

usage: python scripts/check_tree.py [FOLDER]

Reads the files that git tracks or would track; changes nothing.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

MAX_MODULE_LINES = 320
SOURCE = "src/"

# The patterns are put together from pieces, so that this file does not match itself.
UNFINISHED = re.compile(
    rb"\b(?:" + b"|".join((b"NotImplemented" + b"Error", b"TO" + b"DO", b"FIX" + b"ME")) + rb")\b"
)
REGISTRY = re.compile(
    rb"\b(?:"
    + b"|".join(
        (
            rb"py" + rb"pi\.org",
            rb"python" + rb"hosted\.org",
            rb"npm" + rb"js\.(?:org|com)",
            rb"debian" + rb"\.org",
        )
    )
    + rb")\b"
)
# An absolute path, not the tail of a longer one or of an address.
MACHINE_PATH = re.compile(rb"(?:(?<=file://)|(?<![\w.~}/-]))/(?:" + b"work|" + b"root)/")


def list_files(root: Path) -> list[str]:
    """Return the paths that git tracks, or would on the next `git add`, sorted."""
    command = [
        "git",
        "-C",
        str(root),
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]
    output = subprocess.run(command, check=True, capture_output=True).stdout
    return sorted({name for name in output.decode("utf-8", "surrogateescape").split("\0") if name})


def find_problems(root: Path, names: list[str]) -> Iterator[str]:
    """Yield one line, `PATH:LINE: what is wrong`, for each finding, in the order of the names."""
    for name in names:
        path = root / name
        if name.rpartition("/")[2] == "uv.lock":
            yield f"{name}:1: the locks are requirements*.lock, which name no registry"
        if path.is_symlink() or not path.is_file():
            continue
        content = path.read_bytes()
        yield from find_traces(name, content)
        if name.startswith(SOURCE) and name.endswith(".py"):
            yield from check_module(name, content)


def find_traces(name: str, content: bytes) -> Iterator[str]:
    """Yield what ties a file to the machine or the registry it was made with."""
    yield from _report(name, content, REGISTRY, "names the host of a package registry")
    yield from _report(name, content, MACHINE_PATH, "names an absolute path of one machine")


def check_module(name: str, content: bytes) -> Iterator[str]:
    """Yield what is wrong with a module of the package."""
    lines = len(content.splitlines())
    if lines > MAX_MODULE_LINES:
        yield f"{name}:{lines}: has {lines} lines, more than {MAX_MODULE_LINES}; split it"
    yield from _report(name, content, UNFINISHED, "is unfinished")


def _report(name: str, content: bytes, pattern: re.Pattern[bytes], what: str) -> Iterator[str]:
    for match in pattern.finditer(content):
        line = content.count(b"\n", 0, match.start()) + 1
        yield f"{name}:{line}: {what}: {match.group().decode()}"


def main(arguments: list[str]) -> int:
    """Print the findings; return 1 where there are any, else 0."""
    root = Path(arguments[0]) if arguments else Path(__file__).parent.parent
    problems = list(find_problems(root, list_files(root)))
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
