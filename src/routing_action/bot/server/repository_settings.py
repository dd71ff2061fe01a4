"""A repository's settings: the table `[bot]` of `.github/routing.toml` at its default branch."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from routing_action.bot.server.settings import find_line
from routing_action.bot.work import Settings
from routing_action.errors import DocumentError
from routing_action.files.documents import find_fault, name_field, parse_toml
from routing_action.files.nearest import suggest
from routing_action.github.proposals import read_file

if TYPE_CHECKING:
    from github.Repository import Repository

FILE = ".github/routing.toml"
_DEFAULT = Settings()
_GUIDE = "correct it at the default branch; the table [bot] takes key and workflow"


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    key: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,64}$")] = _DEFAULT.key
    workflow: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,100}\.ya?ml$")] = _DEFAULT.workflow


class _File(BaseModel):
    """Other tables of the file are not the bot's."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    bot: _Table = _Table()


def fetch_settings(repository: Repository, default_branch: str, settings: Settings) -> Settings:
    """The settings with what the file says; read anew each time, so that a push counts at once.

    Raises DocumentError, which names file, line and field, where it is not right; ApiError where
    GitHub does not answer.
    """
    known = read_file(repository, FILE, default_branch)
    table = _parse(known.text) if known is not None else _Table()
    return replace(settings, key=table.key, workflow=table.workflow)


def _parse(text: str) -> _Table:
    try:
        return _File.model_validate(parse_toml(text.encode(), FILE, _GUIDE)).bot
    except ValidationError as error:
        kind, cause, where, _ = find_fault(error)
        remedy = _GUIDE
        if kind == "extra_forbidden":
            remedy = suggest(where[-1], _Table.model_fields, _GUIDE)
        raise DocumentError(
            cause,
            file=FILE,
            line=find_line(text, str(where[-1])),
            field=name_field(where),
            remedy=remedy,
        ) from None
