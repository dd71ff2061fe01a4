"""What a transcript decodes to: evidence lines, usage, and the summary of a reading.

Readers (agents/) make these values, and the rules of this room judge them. Nothing here knows a
format.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, field
from enum import StrEnum

LINE_LIMIT = 8 * 2**20
"""Bytes of a line that are read; a longer one is counted as not recognised."""
LONGEST_PAUSE = 120.0
"""Seconds: a limit that lifts within them is waited for, any other one is a quota."""
LEADS_NOWHERE = "no record of the run has anything there"
OF_A_DESCRIPTION = "routing.toml: "
"""Begins a note on the description of an agent's stream."""
FELL_BACK = "the CLI fell back"
"""In a note on a run that another model answered than the one that was asked for."""


class LineKind(StrEnum):
    """What kind of fact an evidence line states; it decides the best tier the line may reach."""

    LOAD = "load"
    ATTEMPT = "attempt"
    READ = "read"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    MENTION = "mention"


class SourceKind(StrEnum):
    """Where an evidence line came from."""

    CLI_OUTPUT = "cli_output"
    LOG_FALLBACK = "log_fallback"


class EndedBy(StrEnum):
    """Why a unit's process ended, as the process door saw it."""

    EXIT = "exit"
    TERMINAL_GRACE = "terminal_grace"
    WALL_DEADLINE = "wall_deadline"
    IDLE_DEADLINE = "idle_deadline"
    STOPPED_EARLY = "stopped_early"
    COST_LIMIT = "cost_limit"
    OUTPUT_LIMIT = "output_limit"
    CANCELLED = "cancelled"
    START_FAILED = "start_failed"
    NOT_STARTED = "not_started"

    @property
    def is_deadline(self) -> bool:
        """True where a deadline of ours ended the process."""
        return self in (EndedBy.WALL_DEADLINE, EndedBy.IDLE_DEADLINE)


class ApiFailure(StrEnum):
    """An API failure that the CLI itself reported, by what the user can do about it."""

    AUTH = "auth"
    QUOTA = "quota"
    RATE_LIMIT = "rate_limit"
    SERVER_ERROR = "server_error"
    CONTEXT = "context"
    MCP_SERVER = "mcp_server"
    API_ERROR = "api_error"


@dataclass(frozen=True, slots=True)
class EvidenceLine:
    """A piece of decoded text that may prove something.

    `text` is what the tier rules see: for a load one canonical line. `quote` is the source line
    it was decoded from, cut to a bounded length, and `number` that line's number (from 1).
    `skill` is the name a native call asked for; `path` is the file that was read, or the base
    directory of a load, `plugin` that folder's plugin where the CLI tells it. `declared` is the
    name in the frontmatter that a read showed. `partial` marks a read that did not show the file's
    first lines. `wrong_copy` marks a read or load outside the folder that the skills were staged
    in.
    """

    kind: LineKind
    text: str
    number: int
    quote: str = ""
    skill: str = ""
    path: str = ""
    plugin: str = ""
    declared: str = ""
    partial: bool = False
    subagent: bool = False
    wrong_copy: bool = False
    source: SourceKind = SourceKind.CLI_OUTPUT
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that a run used, counted once; None where the CLI does not say."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_input_tokens: int | None = None
    reasoning_tokens: int | None = None
    premium_requests: float | None = None

    def plus(self, other: Usage) -> Usage:
        """Both together; None where neither says."""
        return Usage(*map(_add, astuple(self), astuple(other)))


def _add(one: int | None, other: int | None) -> int | None:
    return one if other is None else other + (one or 0)


@dataclass(frozen=True, slots=True)
class Reading:
    """The summary of one transcript, without its evidence lines.

    `terminal` is True after a genuine terminal event (not one that follows an abort).
    `failure` is an API failure reported as final; `retrying` one that was still being retried at
    the end. `throttled`: the latest of either asked for fewer calls, `retry_after` (seconds) when
    to call again, where it said. `turns` counts model turns or tool events, `has_text` says
    whether the assistant wrote anything. `catalogue` lists the skills that the agent was offered,
    None where the stream does not say; `offered_at` the folders that it says they lie in.
    `refusals` are the CLI's own lines about skills that it did not take. `foreign` counts those of
    the `unrecognised` that are no records at all. `shows_loads` is False where the output is of a
    kind in which no load of a skill can show. `unfinished` counts background agents that the CLI
    announced and did not see end.
    """

    recognised: int = 0
    unrecognised: int = 0
    foreign: int = 0
    is_record_stream: bool = False
    shows_loads: bool = True
    unfinished: int = 0
    terminal: bool = False
    failure: ApiFailure | None = None
    retrying: ApiFailure | None = None
    failure_message: str = ""
    throttled: bool = False
    retry_after: float | None = None
    limit: bool = False
    turns: int = 0
    tool_events: int = 0
    has_text: bool = False
    usage: Usage | None = None
    cost_usd: float | None = None
    cli_version: str | None = None
    model: str | None = None
    catalogue: tuple[str, ...] | None = None
    offered_at: tuple[str, ...] = ()
    refusals: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())

    @property
    def is_answered(self) -> bool:
        """Whether anything came from the model: a turn, a tool call or a text."""
        return bool(self.turns or self.tool_events or self.has_text)
