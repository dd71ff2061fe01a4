"""The runner's own files, through which a step sets variables, PATH and outputs of a job.

GitHub's "Workflow commands for GitHub Actions" names them. An agent that finds them could speak
for the step, so what it wrote there is taken out again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from routing_action.files.atomic import unwritable
from routing_action.files.plain_files import open_regular
from routing_action.files.removal import remove_tree

_FOLDER = "_runner_file_commands"
_VARIABLES = tuple(f"GITHUB_{one}" for one in "ENV OUTPUT PATH STATE STEP_SUMMARY".split())


class RunnerFiles:
    """What these files hold when it is made."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        """Remember every file; None stands for one that is not there."""
        named = {Path(environ[name]) for name in _VARIABLES if environ.get(name)}
        temp = environ.get("RUNNER_TEMP")
        self._folders = {one.parent for one in named if one.parent.name == _FOLDER}
        self._folders |= {Path(temp) / _FOLDER} if temp else set()
        self._kept = {path: _read(path) for path in sorted(named | set(self._listed()))}

    def restore(self) -> tuple[str, ...]:
        """Put each file back as it was; the names of those that had to be."""
        changed = []
        for path in sorted(self._kept.keys() | set(self._listed())):
            then = self._kept.get(path)
            if (path.is_symlink() or path.exists() or then is not None) and _read(path) != then:
                _put_back(path, then)
                changed.append(path.name)
        return tuple(changed)

    def _listed(self) -> Iterator[Path]:
        for folder in self._folders:
            with suppress(OSError):
                yield from folder.iterdir()


def _read(path: Path) -> bytes | None:
    try:
        with open_regular(path) as file:
            return file.read()
    except OSError:
        return None


def _put_back(path: Path, content: bytes | None) -> None:
    remove_tree(path)
    if content is None:
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        raise unwritable(path, error) from None
