"""Finds recorded runs in a folder, checks them, and says how to start the agent that replays them.

A set lies in `DIR/PROVIDER/CASE_ID.stdout|.stderr|.json`; `CASE_ID@2.stdout` is for trial 2. The
agent itself is `replay_agent.py`, a program of its own that is started like any agent CLI.
"""

from __future__ import annotations

import math
import re
import signal
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from routing_action.errors import DocumentError, UsageError
from routing_action.files.documents import read_text, validate
from routing_action.files.json_text import JsonText
from routing_action.run.replay import replay_agent

SUFFIXES = (".stdout", ".stderr", ".json")
AS_FAST_AS_POSSIBLE = math.inf
_TRIAL = re.compile(r"@[1-9]\d*$")
_UNSAFE = re.compile(r"[/\\\x00-\x1f\x7f]")
_LONGEST_NAME = 200
_MOST_BYTES = 2**24
_RECORD = "record that pair, or leave it out with --case-id or --agents"
_CORRECT = "correct the recording's JSON, or remove it: then the exit code is 0"
_STOPS = {signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU}


def _check_end(code: int) -> int:
    if not 0 <= code <= 255 and -code not in signal.valid_signals() - _STOPS:
        raise ValueError("must be 0 to 255, or minus the number of a signal")
    return code


_Seconds = Annotated[float, Field(strict=True, ge=0, le=1e6)]
_Bytes = Annotated[int, Field(strict=True, ge=0, le=2**40)]


class Script(BaseModel):
    """What is recorded of a run besides its output; docs/how-to/record-and-replay.md describes it.

    A negative `exit_code` is the signal that ended the run. `timings` are pairs of seconds since
    the start and bytes of stdout until then. With `hang` it never ends; `timeout_s` is the wall
    deadline that the harness then gives it, 0 for its own.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    exit_code: Annotated[int, Field(strict=True), AfterValidator(_check_end)] = 0
    duration_s: _Seconds = 0.0
    cli_version: str = ""
    model: str = ""
    timings: tuple[tuple[_Seconds, _Bytes], ...] = ()
    hang: Annotated[bool, Field(strict=True)] = False
    timeout_s: _Seconds = 0.0
    note: str = ""


class ReplaySet:
    """A folder of recordings that has been read and checked."""

    def __init__(self, folder: Path) -> None:
        """Check the folder and every recording in it.

        Raises UsageError where the folder is missing; DocumentError where it holds no recording,
        where a recording's JSON is malformed, or where one is a link that leaves the folder.
        """
        if not folder.is_dir():
            raise UsageError(
                f"the folder of recordings {folder} is missing",
                remedy="name a folder with --replay=DIR; it holds PROVIDER/CASE_ID.stdout",
            )
        self.folder = folder.resolve()
        self._stems = {stem: _read(files) for stem, files in sorted(self._find().items())}
        if not self._stems:
            raise DocumentError(
                "holds no recording",
                file=str(folder),
                remedy="put recordings there as PROVIDER/CASE_ID.stdout",
            )

    @property
    def trials(self) -> int:
        """The highest trial that any case has a recording of its own for; 1 where none has."""
        found = (_TRIAL.search(stem) for _, stem in self._stems)
        return max((int(match[0][1:]) for match in found if match), default=1)

    def script_for(self, provider: str, case_id: str, trial: int = 1) -> Script:
        """What is recorded of a pair besides its output: exit code, versions, pace."""
        return self._stems[provider, self._stem(provider, case_id, trial)]

    def output_bytes(self, provider: str, case_id: str, trial: int = 1) -> int:
        """How many bytes of standard output are recorded of a pair."""
        stem = self.folder / provider / self._stem(provider, case_id, trial)
        try:
            return stem.with_name(f"{stem.name}.stdout").stat().st_size
        except FileNotFoundError:
            return 0

    def argv_for(
        self,
        provider: str,
        case_id: str,
        trial: int = 1,
        speed: float = AS_FAST_AS_POSSIBLE,
    ) -> tuple[str, ...]:
        """The command that replays a pair, with `{prompt}` as in a provider's `command`.

        `speed` 2 is twice as fast as recorded; 0 and infinity leave out all waiting. A trial
        without a recording of its own replays that of the case. Raises DocumentError, naming the
        file that is expected, where the pair is not recorded, UsageError where a name can be no
        file's.

        The program is started by its path, isolated from the working folder and the environment:
        an agent's environment has no PYTHONPATH, and a workspace may hold a `json.py`.
        """
        stem = self.folder / provider / self._stem(provider, case_id, trial)
        start = (sys.executable, "-I", "-S", str(Path(replay_agent.__file__).resolve()))
        return (*start, "--recording", str(stem), "--speed", f"{speed:g}", "{prompt}")

    def _stem(self, provider: str, case_id: str, trial: int) -> str:
        check_name(provider, "provider")
        check_name(case_id, "case id")
        for stem in (f"{case_id}@{trial}", case_id):
            if (provider, stem) in self._stems:
                return stem
        raise DocumentError(
            f"there is no recording of case {case_id} on {provider}",
            file=str(self.folder / provider / f"{case_id}.stdout"),
            remedy=_RECORD,
        )

    def _find(self) -> dict[tuple[str, str], list[Path]]:
        """The files of each recording, by provider and stem."""
        found: dict[tuple[str, str], list[Path]] = {}
        for file in _files_in(self.folder):
            if not file.resolve().is_relative_to(self.folder):
                raise DocumentError(
                    "is a link that leaves the folder of recordings",
                    file=str(file),
                    remedy="replace the link by the file itself",
                )
            found.setdefault((file.parent.name, file.name[: -len(file.suffix)]), []).append(file)
        return found


def check_name(name: str, what: str) -> None:
    """Raise UsageError where a provider's name or a case id cannot be part of a file name."""
    if (
        not name
        or name.startswith(".")
        or _UNSAFE.search(name)
        or _TRIAL.search(name)
        or len(name.encode("utf-8", "replace")) > _LONGEST_NAME
    ):
        raise UsageError(
            f"the {what} {name!r} cannot name a recording",
            remedy=f"use a {what} without separators, a leading dot or an ending such as @2, "
            f"of at most {_LONGEST_NAME} bytes",
        )


def _files_in(folder: Path) -> list[Path]:
    """The recording files of all providers; other files (a README) are passed over."""
    try:
        providers = [path for path in sorted(folder.iterdir()) if path.is_dir()]
        return [
            path
            for provider in providers
            for path in sorted(provider.iterdir())
            if path.suffix in SUFFIXES
        ]
    except OSError as error:
        raise DocumentError(
            f"could not be listed: {error.strerror}", file=str(folder), remedy="check its rights"
        ) from error


def _read(files: Iterable[Path]) -> Script:
    """The script of one recording; an empty one where it has no JSON."""
    file = next((file for file in files if file.suffix == ".json"), None)
    return read_script(file) if file else Script()


def read_script(file: Path) -> Script:
    """What the JSON of a recording says; DocumentError, with the place, where it is malformed."""
    document = JsonText(str(file), read_text(file, _MOST_BYTES))
    return validate(Script, document, (), document.decode(), remedy=_CORRECT)
