"""Gathers the facts about agent CLIs on this machine; `examine` starts each to ask its version."""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path, PurePath

from routing_action.agents.described.advice import find_fault_of_pairing
from routing_action.agents.diagnosis import Counted, Facts, Recordings
from routing_action.agents.discovery import our_providers
from routing_action.agents.provider import Provider
from routing_action.agents.survey import survey
from routing_action.evidence.transcript import LineKind
from routing_action.files.redaction import Redactor
from routing_action.files.removal import remove_tree
from routing_action.files.secret_values import secret_values
from routing_action.results.find import find_result_files
from routing_action.results.model import UnitResult
from routing_action.results.read import read_results
from routing_action.run.evaluate import read_lines
from routing_action.run.launch import cache_root, find_temp_root
from routing_action.run.lifecycle import new_uuid
from routing_action.run.other_sources import ask_version
from routing_action.run.settings import agent_templates, build_command
from routing_action.run.workspace.agent_home import (
    build_environment,
    find_login_files,
    make_agent_home,
)
from routing_action.run.workspace.staging import skills_in
from routing_action.run.workspace.template import new_folder

RECORDINGS = "tests/recordings"
"""Where `providers record` keeps what an agent of the user's own printed."""
_MOST_ERROR = 300


async def examine(
    providers: Sequence[Provider],
    environ: Mapping[str, str],
    root: Path,
    counted: Mapping[str, Mapping[str, Counted]] | None,
) -> list[Facts]:
    """The facts about each agent, all asked at once; `counted` as `count_records` gives it."""
    asked = (_examine(one, environ, root) for one in providers)
    facts = await asyncio.gather(*asked)
    if counted is None:
        return list(facts)
    return [replace(one, counted=counted.get(one.provider.name, {})) for one in facts]


def count_records(paths: Sequence[Path]) -> dict[str, dict[str, Counted]]:
    """What readers recognised in live results, by agent and CLI version ("" unknown).

    DocumentError where a path holds no results that can be read.
    """
    rows = [row for path in find_result_files(paths) for row in _live_rows(path)]
    found: dict[str, dict[str, Counted]] = {}
    for row in rows:
        versions = found.setdefault(row.agent, {})
        before = versions.get(row.cli_version or "", Counted())
        versions[row.cli_version or ""] = Counted(
            before.recognised + row.recognised_events,
            before.unrecognised + row.unrecognised_events,
        )
    return found


def _live_rows(path: Path) -> Iterable[UnitResult]:
    """A replay says nothing about the CLI that is installed here."""
    results = read_results(path)
    return () if results.options.replay else results.results


async def _examine(provider: Provider, environ: Mapping[str, str], root: Path) -> Facts:
    facts = replace(look(provider, environ, root), recordings=_read_recordings(provider, root))
    return await _started(facts, environ, root) if facts.path and not facts.own_command else facts


def look(
    provider: Provider, environ: Mapping[str, str], root: Path, *, shared: bool = False
) -> Facts:
    """What is known of an agent without starting it; `shared`: it works in the user's own home."""
    own = provider.name in agent_templates([provider.name], environ)
    program = build_command(provider, "", None, environ)[0]
    found = shutil.which(program, path=environ.get("PATH"))
    path = str(Path(found).absolute()) if found else ""
    return Facts(
        provider=provider,
        program=program,
        path=path,
        own_command=own,
        variables=tuple(name for name in provider.credential_variables if environ.get(name)),
        login_files=find_login_files(provider, environ),
        unseen_login=shared or _has_unseen_login(provider, environ, root),
        skills={folder: len(skills_in(root / folder)) for folder in provider.skill_folders},
    )


def _read_recordings(provider: Provider, root: Path) -> Recordings | None:
    """What the user's own description reads of its recordings; None for an agent of ours."""
    if provider.described is None or provider.name in our_providers():
        return None
    folder = root / RECORDINGS / provider.name
    runs = [survey(provider, read_lines(file)) for file in sorted(folder.glob("*.stdout"))]
    return Recordings(
        fault=find_fault_of_pairing(provider.described().records),
        folder=f"{RECORDINGS}/{provider.name}",
        count=len(runs),
        loads=sum(len(run.lines(LineKind.LOAD)) for run in runs),
        unread=tuple(dict.fromkeys(kind for run in runs for kind in run.unread)),
    )


def _has_unseen_login(provider: Provider, environ: Mapping[str, str], root: Path) -> bool:
    """True in doubt: a cloud account, a gateway, a keychain, settings of the repository."""
    folders = {root / PurePath(name).parent for name in provider.credential_files}
    return (
        provider.has_unseen_login
        or sys.platform == "darwin"
        or any(environ.get(name) for name in provider.pass_variables)
        or any(file.suffix in (".json", ".toml") for one in folders for file in one.glob("*.*"))
    )


async def _started(facts: Facts, environ: Mapping[str, str], root: Path) -> Facts:
    """Ask for the version as a unit would: in a home of its own, with the allowed environment."""
    provider = facts.provider
    with ExitStack() as undo:
        folder = new_folder(find_temp_root(root, environ))
        undo.callback(remove_tree, folder)
        home = make_agent_home(
            provider, folder / "home", cache_root=cache_root(environ), base_environ=environ
        )
        answer = await ask_version(
            (facts.path, *provider.version_arguments),
            home.path,
            build_environment(provider, home, environ),
            f"doctor-{new_uuid()}",
        )
    redactor = Redactor(secret_values(environ, provider.credential_variables))
    error = " ".join(redactor.text(answer.error).split())[:_MOST_ERROR]
    shown = "".join(char if char.isprintable() else "?" for char in error)
    return replace(facts, start_error=shown, version=answer.version)
