"""Reads a file of agents that are described as data: a user's routing.toml, or one of ours.

Every field is described in docs/reference/routing-toml.md. A command is a list of arguments
and never meets a shell. Every error names file, field or line, and what to do.
"""

from __future__ import annotations

import hashlib
import re
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, StringConstraints, ValidationError, model_validator

from routing_action.agents.described.parts import FieldPath, Model, Pattern, Records, check_pattern
from routing_action.errors import DocumentError
from routing_action.evidence.transcript import ApiFailure
from routing_action.files.documents import find_fault, name_field, parse_toml, read_bytes
from routing_action.files.nearest import suggest
from routing_action.files.versions import check_version

MAX_BYTES = 2**17
ROUTING_SCHEMA_VERSION = 1
_VERSION = "schema_version"
_PAGE = "how-to/use-a-custom-agent.md"
_FIX = "correct the file"
_SHELLS = frozenset("sh bash dash ash zsh ksh fish cmd powershell pwsh busybox".split())
_TAKES_TEXT = re.compile(
    r"-[a-z]{0,4}c[a-z]{0,4}|--?command(?:=.*)?|-ec?|-enc[a-z]*|/[ckr]", re.IGNORECASE | re.DOTALL
)
_NAMED = re.compile(r"(?P<field>[a-z_]+): (?P<cause>.*)", re.DOTALL)
"""What a check of a whole table says of one of its fields."""
_OWN_ARGUMENT = re.compile(r"(?:--?[A-Za-z][\w-]*=)?\{prompt\}")
_WORKFLOW = ("GITHUB_", "ACTIONS_", "INPUT_", "RUNNER_", "ROUTING_ACTION_")
PROMPT = "{prompt}"


def _check_variable(name: str) -> str:
    if name.upper().startswith(_WORKFLOW):
        raise ValueError(f"{name} belongs to the workflow or to the harness: no agent gets it")
    return name


def _check_folder(path: str) -> str:
    parts = PurePosixPath(path)
    if parts.is_absolute() or ".." in parts.parts or "\\" in path or "\0" in path:
        raise ValueError("must be a relative path without `..` and backslashes")
    return path


def _check_anchored(pattern: str) -> str:
    if not pattern.startswith("^"):
        raise ValueError("must start with ^: only lines that the CLI itself begins may match")
    return check_pattern(pattern)


def _check_text_load(pattern: str) -> str:
    if "skill" not in re.compile(check_pattern(pattern)).groupindex:
        raise ValueError("needs a group (?P<skill>...) for the name of the skill")
    return pattern


Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,31}$")]
Variable = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,127}$"),
    AfterValidator(_check_variable),
]
Folder = Annotated[
    str, StringConstraints(min_length=1, max_length=300), AfterValidator(_check_folder)
]
Folders = Annotated[tuple[Folder, ...], Field(max_length=200)]
Word = Annotated[str, StringConstraints(max_length=4000, pattern=r"^[^\x00]*$")]


class StderrFailure(Model):
    """A line of standard error that explains a failure, by an anchored pattern."""

    pattern: Annotated[Pattern, AfterValidator(_check_anchored)]
    failure: ApiFailure | None = None


class Description(Model):
    """One agent. Paths are relative to the agent's home, `skill_folders` to its workspace."""

    title: str = ""
    command: Annotated[tuple[Word, ...], Field(min_length=1, max_length=200)]
    model_arguments: tuple[Word, ...] = ()
    turn_arguments: tuple[Word, ...] = ()
    budget_arguments: tuple[Word, ...] = ()
    version_arguments: tuple[Word, ...] = ("--version",)
    tested_versions: tuple[str, str] | None = None
    skill_folders: Folders = ()
    home_variables: dict[Variable, Folder] = Field(default_factory=dict)
    set_variables: dict[Variable, Word] = Field(default_factory=dict)
    credential_variables: tuple[Variable, ...] = ()
    credential_files: Folders = ()
    credential_fields: dict[Folder, FieldPath] = Field(default_factory=dict)
    pass_variables: tuple[Variable, ...] = ()
    shared_caches: Folders = ()
    memory_mb: Annotated[int, Field(ge=1, le=1_000_000)] = 400
    serial_login: bool = False
    has_unseen_login: bool = True
    npm_package: Annotated[str, StringConstraints(max_length=214)] = ""
    documentation: str = "Described as data: a call of a skill tool with a successful result."
    state: str = ""
    record_flags: tuple[Word, ...] = ()
    home_files: dict[Folder, str] = Field(default_factory=dict)
    log_globs: Folders = ()
    log_records: Records | None = None
    prose_on_stderr: bool = False
    records: Records
    text_load: Annotated[Pattern, AfterValidator(_check_text_load)] | None = None
    stderr_failures: Annotated[tuple[StderrFailure, ...], Field(max_length=200)] = ()

    @model_validator(mode="after")
    def _check_commands(self) -> Self:
        _check_command(self.command)
        for name, words, place in (
            ("model_arguments", self.model_arguments, "{model}"),
            ("turn_arguments", self.turn_arguments, "{turns}"),
            ("budget_arguments", self.budget_arguments, "{usd}"),
        ):
            if words and not any(place in word for word in words):
                raise ValueError(f"{name}: {place} is missing")
        return self


class RoutingFile(Model):
    """The whole of routing.toml: agents by name."""

    schema_version: Literal[1] = 1
    providers: dict[Name, Description] = Field(default_factory=dict)


def _check_command(words: tuple[str, ...]) -> None:
    if not words[0].strip() or PROMPT in words[0]:
        raise ValueError("command: its first word must be a program")
    holding = [word for word in words if PROMPT in word]
    if not holding:
        raise ValueError(f"command: {PROMPT} is missing")
    if not all(_OWN_ARGUMENT.fullmatch(word) for word in holding):
        raise ValueError(f"command: {PROMPT} must be an argument of its own, or --name={PROMPT}")
    for place, word in enumerate(words):
        program = re.split(r"[/\\]", word)[-1].casefold().removesuffix(".exe")
        options = takewhile(lambda one: one[:1] in ("-", "/"), words[place + 1 :])
        if program in _SHELLS and any(_TAKES_TEXT.fullmatch(one) for one in options):
            raise ValueError(
                f"command: {word} would run its text as a command; put that into a script and "
                "name the script"
            )


# ---- the file


def read_routing_file(path: Path) -> tuple[dict[str, Description], str]:
    """The agents of a file, in its order, and its SHA-256; DocumentError where it is not right."""
    data = read_bytes(path, MAX_BYTES, "name the file with --config FILE")
    file = str(path)
    value = parse_toml(data, file, _FIX)
    if _VERSION in value:
        remedy = f"write {ROUTING_SCHEMA_VERSION}, without quotes, or leave the field out"
        check_version(value, _VERSION, ROUTING_SCHEMA_VERSION, file=file, remedy=remedy)
    try:
        parsed = RoutingFile.model_validate(value)
    except ValidationError as error:
        kind, cause, found, remedy = find_fault(error)
        where = _as_written(found, value)
        if named := _NAMED.fullmatch(cause):
            where, cause = [*where, named["field"]], named["cause"]
        if kind == "extra_forbidden":
            known = [*RoutingFile.model_fields, *Description.model_fields]
            remedy = suggest(where[-1], known, "correct its name, or remove it")
        elif kind == "tuple_type" and where[-1:] == ["command"]:
            cause = "must be a list of arguments, since no shell reads it"
            remedy = 'write ["acme", "run", "{prompt}"]'
        raise DocumentError(
            cause, file=file, field=name_field(where), remedy=remedy or _FIX, page=_PAGE
        ) from None
    return dict(parsed.providers), hashlib.sha256(data).hexdigest()


def _as_written(where: list[str | int], document: Any) -> list[str | int]:  # noqa: ANN401
    """A place without the number of the one table that stands for a list of it."""
    found: list[str | int] = []
    here = document
    for part in where:
        if isinstance(part, int) and not isinstance(here, list):
            continue
        found.append(part)
        here = (
            here[part]
            if isinstance(here, list) and isinstance(part, int)
            else (here.get(part) if isinstance(here, dict) else None)
        )
    return found
