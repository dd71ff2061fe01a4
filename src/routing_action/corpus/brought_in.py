"""Finds the files that plugins, instruction files and settings bring in, and so move any prompt."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import TypeAlias

from routing_action.corpus.influences import Influence, find_influence

ReadFiles: TypeAlias = Callable[[Iterable[str]], Mapping[str, bytes]]
"""The contents of files by their paths, without those that cannot be had."""

_IMPORT = re.compile(rb"(?:^|\s)@([A-Za-z0-9._~/-]{1,300})")
_PLUGIN = ".claude-plugin/plugin.json"
_PLUGIN_FOLDERS = ("agents", "commands", "hooks")


def name_brought(
    paths: Collection[str], read: ReadFiles, named: Mapping[str, Influence]
) -> dict[str, Influence]:
    """The named files and folders, with those that plugins and instruction files bring in.

    `paths` are all files, a container that is searched fast.
    """
    plugins = [path.removesuffix(_PLUGIN) for path in paths if path.endswith(_PLUGIN)]
    folders = (f"{plugin}{folder}" for plugin in plugins for folder in _PLUGIN_FOLDERS)
    found = {**named, **dict.fromkeys(folders, Influence.SETTINGS)}
    return found | dict.fromkeys(_find_imports(paths, read, found), Influence.INSTRUCTIONS)


def _find_imports(
    paths: Collection[str], read: ReadFiles, named: Mapping[str, Influence]
) -> set[str]:
    """The files that instruction files bring in by `@path` (Claude Code's and Gemini's memory)."""
    seen: set[str] = set()
    files = {one for one in paths if find_influence(one, named) is Influence.INSTRUCTIONS}
    while files:
        found = {
            posixpath.normpath(posixpath.join(posixpath.dirname(one), path.decode("ascii")))
            for one, content in read(files).items()
            for path in _IMPORT.findall(content)
        }
        files = {path for one in found if (path := one.rstrip(".")) in paths and path not in seen}
        seen |= files
    return seen


def find_set(paths: Iterable[str], settings: Iterable[bytes]) -> Iterator[str]:
    """Those of the paths that stand in an agent's settings: hooks, servers, files to read."""
    text = b"\0".join(settings)
    for path in paths:
        word = path.encode("utf-8", "surrogateescape")
        if word in text and re.search(rb"(?<![\w-])" + re.escape(word) + rb"(?![\w.-])", text):
            yield path
