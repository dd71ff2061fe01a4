"""Digests what an agent can see for a case, so that two measurements of the same can be told.

It starts nothing. Two equal fingerprints mean that nothing differs that we know of: the service
behind an agent can change all the same.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from routing_action.agents.provider import Provider
from routing_action.corpus.brought_in import find_set, name_brought
from routing_action.corpus.case import Case
from routing_action.corpus.influences import MOVES_PROMPTS, Influence, find_influence
from routing_action.corpus.skill_edits import names_file
from routing_action.files.plain_files import open_regular
from routing_action.run.settings import RunSettings, build_command, limit_arguments
from routing_action.run.workspace.seal import Seal

_MOST_BYTES = 4 * 2**20
"""Of a file that may bring others in; it is part of the digest as a whole."""


@dataclass(frozen=True, slots=True)
class View:
    """What every unit of an agent finds: a digest of the files that can move any prompt.

    `others` are the remaining files, of which a case may ask for some.
    """

    digest: str
    others: Mapping[str, bytes]


def look_at(root: Path, seal: Seal, skill_folders: Iterable[str], *, whole_tree: bool) -> View:
    """The view of a workspace that holds what `seal` says.

    `skill_folders` are the real folders of the skills that the agent finds, relative to the
    workspace, "." for the workspace itself. With `whole_tree` every file can move a prompt.
    """
    files = {path: seal[path] for path in sorted(seal) if not path.startswith(".git/")}
    starts = tuple(f"{folder}/" for folder in skill_folders)
    if whole_tree or "./" in starts:
        return View(_digest(files), {})
    named = name_brought(files, partial(_read, root), {})
    kinds = {path: find_influence(path, named) for path in files}
    settings = [path for path, kind in kinds.items() if kind is Influence.SETTINGS]
    unknown = [path for path, kind in kinds.items() if kind is None]
    moving = {
        *(path for path, kind in kinds.items() if kind in MOVES_PROMPTS),
        *(path for path in files if path.startswith(starts)),
        *find_set(unknown, _read(root, settings).values()),
    }
    return View(
        _digest({path: content for path, content in files.items() if path in moving}),
        {path: content for path, content in files.items() if path not in moving},
    )


def _read(root: Path, paths: Iterable[str]) -> dict[str, bytes]:
    """The contents of regular files that can be read."""
    found: dict[str, bytes] = {}
    for path in paths:
        with suppress(OSError), open_regular(root / path) as file:
            found[path] = file.read(_MOST_BYTES)
    return found


def fingerprint(
    view: View, case: Case, provider: Provider, settings: RunSettings, cli_version: str
) -> str:
    """The digest of all that can decide a unit, and of how it is judged, in hex.

    That is prompt and expectations, files, agent, CLI version, model, arguments, limits, the
    variables that are passed on, and this program itself.
    """
    environ, limits = settings.environ, settings.limits
    model = settings.provider_models.get(provider.name)
    argv = build_command(
        provider, case.prompt, model, environ, limit_arguments(provider, settings.limits)
    )
    passed = {name: environ[name] for name in provider.pass_variables if name in environ}
    asked = {path: content for path, content in view.others.items() if names_file(case, path)}
    parts = {
        "program": own_digest(),
        "case": case.model_dump(mode="json"),
        "files": view.digest,
        "asked": _digest(asked),
        "agent": provider.name,
        "description": settings.config_sha256,
        "cli": cli_version,
        "argv": argv,
        "variables": passed,
        "seconds": (limits.timeout_for(provider.name), limits.idle_timeout_seconds),
        "limits": (limits.max_unit_cost_usd, limits.max_turns, limits.max_output_mb),
        "subagents": settings.count_subagents,
        "logs": (settings.scans_logs, settings.gates_on_logs),
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _digest(files: Mapping[str, bytes]) -> str:
    whole = hashlib.sha256()
    for path, content in files.items():
        for part in (path.encode("utf-8", "surrogateescape"), content):
            whole.update(len(part).to_bytes(8, "big") + part)
    return whole.hexdigest()


@functools.cache
def own_digest() -> str:
    """The digest of this program: another release may judge the same output otherwise."""
    root = Path(__file__).parents[1]
    files = {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*.py"))}
    return _digest(files)
