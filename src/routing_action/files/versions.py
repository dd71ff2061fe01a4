"""Refuses a file of a newer version, with what to install; each reader says what it knows.

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


def check_version(
    content: Mapping[str, Any],
    field: str,
    known: int,
    *,
    file: str,
    line: int | None = None,
) -> None:
    """Raise DocumentError where the field is not the version that this release reads."""
    found = content.get(field)
    if found == known and not isinstance(found, bool):
        return
    remedy = "only routing-action writes this file: make it again"
    if isinstance(found, int) and found > known:
        writer = str(content.get(WRITTEN_BY, ""))
        name = "routing-action"
        asked = f"{name}=={writer}" if _RELEASE.fullmatch(writer) else f"--upgrade {name}"
        remedy = f"install the version that wrote it: `pip install {asked}`"
    shown = "missing" if found is None else repr(found)[:40]
    raise DocumentError(
        f"is {shown}, routing-action {__version__} reads {known}",
        file=file,
        line=line,
        field=field,
        remedy=remedy,
        page=_PAGE,
    )
