"""The error tree: each class owns its exit code, its remedy and its place in the documentation.

Nothing here formats for a terminal; `cli.main` turns an error into an exit code and a message.
"""

from __future__ import annotations

from enum import IntEnum
from typing import ClassVar


class ExitCode(IntEnum):
    """The documented exit codes of every command (docs/reference/exit-codes.md)."""

    PASSED = 0
    GATE_FAILED = 1
    USAGE = 2
    NOTHING_TO_RUN = 3
    HARNESS = 4
    GITHUB = 5
    BUG = 70
    INTERRUPTED = 130


class RoutingActionError(Exception):
    """An error with a cause, a remedy and an exit code; shown without a traceback."""

    exit_code: ClassVar[ExitCode] = ExitCode.BUG
    anchor: ClassVar[str] = "bug"

    def __init__(self, cause: str, *, remedy: str = "", page: str = "") -> None:
        """Keep the cause in one sentence and the remedy as the next step to take.

        `page` is where the documentation says more, as `reference/cases.md#fields`.
        """
        super().__init__(cause)
        self.cause = cause
        self.remedy = remedy
        self.page = page

    def __str__(self) -> str:
        """Cause, then remedy on a line of its own where there is one."""
        return f"{self.cause}\n  remedy: {self.remedy}" if self.remedy else self.cause

    @property
    def sentence(self) -> str:
        """Cause and remedy on one line."""
        return " ".join("; ".join(filter(None, (self.cause, self.remedy))).split())


class UsageError(RoutingActionError):
    """A flag, a template or an environment setting that cannot be used."""

    exit_code = ExitCode.USAGE
    anchor = "usage"


class DocumentError(RoutingActionError):
    """A file that we read (cases, baseline, results, recording) is not what it must be.

    Names the file, and the line or the field where one is known.
    """

    exit_code = ExitCode.USAGE
    anchor = "document"

    def __init__(
        self,
        cause: str,
        *,
        file: str,
        line: int | None = None,
        owner: str = "",
        field: str = "",
        remedy: str = "",
        page: str = "",
    ) -> None:
        """Build `FILE[:LINE]: [OWNER:] [field FIELD:] CAUSE`; lines count from 1.

        `owner` is what the field belongs to, as `case one`.
        """
        place = f"{file}:{line}" if line is not None else file
        parts = (place, owner, f"field {field}" if field else "", cause)
        super().__init__(": ".join(filter(None, parts)), remedy=remedy, page=page)
        self.file = file
        self.line = line
        self.field = field


class NothingToRunError(RoutingActionError):
    """The filters left no case or no provider."""

    exit_code = ExitCode.NOTHING_TO_RUN
    anchor = "nothing-to-run"


class HarnessError(RoutingActionError):
    """The harness itself could not work: no artifact folder, no temporary space, no git."""

    exit_code = ExitCode.HARNESS
    anchor = "harness"


class GitHubError(RoutingActionError):
    """GitHub could not be reached or refused, for a command whose sole job is GitHub."""

    exit_code = ExitCode.GITHUB
    anchor = "github"
