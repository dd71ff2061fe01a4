"""Refuses a file of another version, with what to do; each reader says what it knows.

docs/reference/file-versions.md tells what a version promises.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from routing_action import __version__
from routing_action.errors import DocumentError

WRITTEN_BY = "written_by"
"""The field with the version of this program that wrote a file."""

_RELEASE = re.compile(r"\d{1,4}\.\d{1,4}\.\d{1,4}")
_PAGE = "reference/file-versions.md"
_WAY = "the way you installed this one"


def check_version(
    content: Mapping[str, Any],
    field: str,
    known: int,
    *,
    file: str,
    line: int | None = None,
    remedy: str = "only routing-action writes this file: make it again",
) -> None:
    """Raise DocumentError where the field is not the version that this release reads.

    `remedy` is for what is no newer version, such as a number in quotes.
    """
    found = content.get(field)
    if type(found) is int and found == known:
        return
    if type(found) is int and found > known:
        remedy = _name_release(str(content.get(WRITTEN_BY, "")))
    shown = "missing" if field not in content else "null" if found is None else repr(found)[:40]
    raise DocumentError(
        f"is {shown}, routing-action {__version__} reads {known}",
        file=file,
        line=line,
        field=field,
        remedy=remedy,
        page=_PAGE,
    )


def _name_release(writer: str) -> str:
    """What to install: the release that wrote a file, where that is newer than this one."""
    if not _RELEASE.fullmatch(writer):
        return f"install a newer version, {_WAY}"
    if _order(writer) > _order(__version__):
        return f"install version {writer} or newer, {_WAY}"
    return (
        f"version {writer}, which the file names as its writer, does not write this: "
        f"make the file again, or install a newer version, {_WAY}"
    )


def _order(release: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", release)[:3]]
