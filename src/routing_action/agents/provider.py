"""What the harness must know of an agent CLI: a record of data, and the reader of its output."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

from routing_action.corpus.identity import NO_SKILLS, SkillIndex
from routing_action.evidence.transcript import EvidenceLine, Reading, Usage

if TYPE_CHECKING:
    from routing_action.agents.described.routing_file import Description


def _always(_text: str) -> bool:
    return True


class Reader(Protocol):
    """Turns the raw lines of one run into evidence lines, one line at a time.

    A reader never raises, whatever the bytes; it counts what it does not recognise, and every line
    of more than LINE_LIMIT bytes (evidence/transcript.py), which it does not look into.
    """

    def feed(self, line: bytes) -> Iterable[EvidenceLine]:
        """Take the next stdout line without its newline; give what it proves."""

    def feed_stderr(self, line: bytes) -> None:
        """Take the next stderr line; it can explain a failure, never give evidence."""

    def finish(self, exit_code: int | None = None) -> Iterable[EvidenceLine]:
        """Say that the output has ended; give what only the end decides."""

    @property
    def terminal_seen(self) -> bool:
        """True once the CLI has printed its terminal event."""

    @property
    def reading(self) -> Reading:
        """The summary so far; complete after `finish`."""


@dataclass(frozen=True, slots=True)
class ReadContext:
    """What a reader knows of the run that it reads.

    `skills_roots`: the folders that the skills were staged in; a read elsewhere is a wrong copy.
    Empty means unknown: every skills folder counts. `cwd` and `home` resolve relative paths.
    Text that `may_name` rules out can name no token, and need not be evidence. `skills` are those
    that the agent had; `prompt` is what it was asked, "" where that is not known.
    """

    skills_roots: tuple[str, ...] = ()
    cwd: str = ""
    home: str = ""
    may_name: Callable[[str], bool] = _always
    skills: SkillIndex = NO_SKILLS
    prompt: str = ""


def template_variable(agent: str) -> str:
    """The variable that names another command for an agent."""
    return f"AGENT_{agent.upper()}_TEMPLATE"


@dataclass(frozen=True, slots=True)
class Provider:
    """One agent CLI as data. Paths are relative to the agent's home unless said otherwise.

    `command` holds the argv, in which `{prompt}` and `{model}` stand for themselves as whole
    arguments; `model_arguments` is added where a model is asked for. `home_variables` maps an
    environment variable to a folder inside the unit's own home. `credential_variables` are the
    only secrets that reach this agent; `pass_variables` other variables it may see (no secrets);
    `set_variables` are fixed. `credential_files` are login files that are copied from the
    user's home into the agent home; of those that `credential_fields` names, which hold other
    settings too, the one JSON field alone (`security.auth`) is copied. `home_files` are contents
    of files that the home gets where no login file of that name was copied. `shared_caches` are
    folders under the user's home that are safe to share (linked in). `skill_folders` are the
    folders, relative to the workspace, where this CLI finds a repository's skills; the first is
    where skills are staged.
    `log_globs` name the session logs for the log fallback. `drops_skill_file_tokens`: a
    `.../SKILL.md` requirement is dropped for this provider.

    `turn_arguments` and `budget_arguments` are the CLI's own limits, with `{turns}` and `{usd}`;
    empty where it has none. `reports_cost` says when the stream holds the cost: at the end, or
    `during` the run too. `memory_mb` is what a run was seen to take, in MB. `serial_login`: a
    login file is good for one process at a time, since its refresh token is single use.
    `usage_in_log` finds the run's tokens in a line of its session log, None where that is another
    line: for a CLI whose stream does not tell them.
    `record_flags` are options of which one must be given so that loads show in its output; empty
    where they show without.
    `has_unseen_login`: it can log in by what no variable and no file of ours shows: another CLI's
    login, a model that needs no key.
    `state` is what people must know of the service behind it, with the source.
    `described` gives the description of an agent that is data, None for one that is code.
    `tested_versions` are the lowest and the highest version whose output was recorded.
    """

    name: str
    title: str
    command: tuple[str, ...]
    reader: Callable[[ReadContext], Reader]
    model_arguments: tuple[str, ...] = ()
    home_variables: Mapping[str, str] = field(default_factory=dict)
    set_variables: Mapping[str, str] = field(default_factory=dict)
    credential_variables: tuple[str, ...] = ()
    pass_variables: tuple[str, ...] = ()
    credential_files: tuple[str, ...] = ()
    credential_fields: Mapping[str, str] = field(default_factory=dict)
    home_files: Mapping[str, str] = field(default_factory=dict)
    shared_caches: tuple[str, ...] = ()
    skill_folders: tuple[str, ...] = ()
    log_globs: tuple[str, ...] = ()
    log_reader: Callable[[ReadContext], Reader] | None = None
    usage_in_log: Callable[[bytes], Usage | None] | None = None
    version_arguments: tuple[str, ...] = ("--version",)
    drops_skill_file_tokens: bool = False
    turn_arguments: tuple[str, ...] = ()
    budget_arguments: tuple[str, ...] = ()
    reports_cost: Literal["never", "end", "during"] = "never"
    record_flags: tuple[str, ...] = ()
    memory_mb: int = 400
    tested_versions: tuple[str, str] | None = None
    serial_login: bool = False
    has_unseen_login: bool = False
    npm_package: str = ""
    documentation: str = ""
    state: str = ""
    described: Callable[[], Description] | None = None
