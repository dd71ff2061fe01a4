"""Knows our own reports by how they begin, wherever somebody wrote them and under whatever name.

They hold prompts and expectations, so an agent that searched its workspace would find the answers.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from routing_action.files.plain_files import read_head

_HEAD_BYTES = 1024


def _is_document(head: bytes) -> bool:
    """A delta or results: both have a version, and a field that no other file has beside it."""
    start = head.lstrip()
    is_ours = start.startswith(b"{") and b'"schema_version"' in head[:200]
    return is_ours and (b'"conclusion"' in head or b'"batch_run_id"' in head)


def _is_page(head: bytes) -> bool:
    return b'<html lang="en" data-conclusion="' in head[:200]


def _is_comment(head: bytes) -> bool:
    return head.startswith(b"> [!") and b"\n> **Routing " in head[:80]


_KINDS: dict[str, Callable[[bytes], bool]] = {
    ".json": _is_document,
    ".html": _is_page,
    ".htm": _is_page,
    ".md": _is_comment,
}


def without_reports(root: Path, paths: Iterable[str]) -> list[str]:
    """The paths, relative to a folder, of files that are no report of ours."""
    return [path for path in paths if not _is_report(root, path)]


def _is_report(root: Path, path: str) -> bool:
    matches = _KINDS.get(os.path.splitext(path)[1].lower())  # noqa: PTH122 - a text, and many
    return matches is not None and matches(read_head(f"{root}/{path}", _HEAD_BYTES))
