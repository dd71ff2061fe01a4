"""Makes units ready to start: from recordings, or live in a workspace and home of their own."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from routing_action.agents.discovery import all_providers
from routing_action.agents.provider import Provider, ReadContext
from routing_action.corpus.units import Unit
from routing_action.files.removal import remove_tree
from routing_action.results.model import OfferedSkill
from routing_action.results.notes import KEPT_WORKSPACE
from routing_action.run.launcher import Launch, Launcher
from routing_action.run.logs.session_logs import SessionLogs
from routing_action.run.offered import find_offered, index_staged
from routing_action.run.other_sources import supplement_reading
from routing_action.run.replay.recordings import ReplaySet
from routing_action.run.reuse.fingerprint import View, fingerprint, look_at
from routing_action.run.settings import RunSettings, build_command, limit_arguments, log_folders
from routing_action.run.workspace.agent_home import (
    AgentHome,
    build_environment,
    make_agent_home,
)
from routing_action.run.workspace.custody import Custody
from routing_action.run.workspace.leftovers import TempFolders
from routing_action.run.workspace.missing_skills import find_missing_skills, refuse_missing
from routing_action.run.workspace.staging import find_skills, stage_skills, staged_skills
from routing_action.run.workspace.template import (
    WorkspaceTemplate,
    choose_temp_root,
)
from routing_action.run.workspace.watch import watch_instructions, watch_program


class ReplayLauncher(Launcher):
    """Starts the replay agent, a true executable, in an empty folder of its own.

    What skills there were is unknown: a recording does not tell.
    """

    def __init__(self, recordings: ReplaySet, settings: RunSettings) -> None:
        """Replay from a set, at the pace of the settings."""
        self._recordings = recordings
        self._settings = settings
        self._speed = settings.replay.speed if settings.replay else math.inf
        self.folders = TempFolders(find_temp_root(settings.root, settings.environ))

    def prepare(self, unit: Unit, unit_run_id: str) -> Launch:
        """The replay agent's command for a pair, with what the recording says about itself."""
        agent, case_id = unit.agent, unit.case.case_id
        recorded = self._recordings.script_for(agent, case_id, unit.trial)
        argv = self._recordings.argv_for(agent, case_id, unit.trial, self._speed)
        folder = self.folders.new()
        return Launch(
            argv=(*argv[:-1], unit.case.prompt),
            cwd=folder,
            env={name: self._settings.environ.get(name, "") for name in ("PATH", "LANG")},
            context=ReadContext(),
            cli_version=recorded.cli_version or None,
            model=recorded.model or None,
            wall_seconds=recorded.timeout_s or None,
            output_bytes=self._recordings.output_bytes(agent, case_id, unit.trial),
            close=partial(_remove, folder),
        )

    def close(self) -> Sequence[str]:
        """Nothing is kept between units."""
        self.folders.close()
        return ()


class LiveLauncher:
    """Gives each unit a copy of the repository, a home, and an allow-listed environment.

    In a shared workspace the repository and the user's own home stand for these.
    """

    def __init__(
        self, settings: RunSettings, providers: Mapping[str, Provider], hidden: Iterable[Path]
    ) -> None:
        """`hidden` are the answer keys of this batch, which no agent may see."""
        environ = settings.environ
        self._settings = settings
        self._shared = settings.workspaces.shared
        self._providers = dict(providers)
        self._hidden = tuple(hidden)
        self.folders = TempFolders(find_temp_root(settings.root, settings.environ))
        self._user_home = Path(environ["HOME"]) if environ.get("HOME") else None
        self._lock = threading.Lock()
        self._templates: dict[str, WorkspaceTemplate] = {}
        self._offered: tuple[OfferedSkill, ...] = ()
        self._views: dict[str, View] = {}
        self._logs: dict[str, SessionLogs] = {}
        skills = settings.workspaces.skills
        self._skills = find_skills(skills) if skills else ()
        self.missing = {
            name: find_missing_skills(settings.root, one.skill_folders)
            for name, one in self._providers.items()
        }
        above = watch_instructions(settings.root.resolve() if self._shared else self.folders.root)
        self._watches = {
            name: (
                above,
                *watch_program(build_command(one, "", None, environ), environ.get("PATH")),
            )
            for name, one in self._providers.items()
        }

    def prepare(self, unit: Unit, unit_run_id: str) -> Launch:
        """Workspace, home, skills, environment and command of one unit."""
        provider, environ = self._providers[unit.agent], self._settings.environ
        with ExitStack() as undo:
            keep = self._settings.workspaces.keep
            folder = self.folders.new(below="home" if keep else "")
            undo.callback(remove_tree, folder)
            workspace, notes = self._workspace(provider, folder)
            home = self._home(provider, folder)
            known = [name for one in all_providers().values() for name in one.skill_folders]
            staged = staged_skills(workspace, provider, known)
            refuse_missing(unit.case, provider, staged, self.missing[provider.name])
            model = self._settings.provider_models.get(provider.name)
            limits = limit_arguments(provider, self._settings.limits)
            launch = Launch(
                argv=build_command(provider, unit.case.prompt, model, environ, limits),
                cwd=workspace,
                env=build_environment(provider, home, environ),
                context=ReadContext(
                    skills_roots=staged.roots,
                    cwd=str(workspace),
                    home=str(home.path),
                    skills=index_staged(
                        workspace, staged, self._settings.workspaces.skills, self._skills
                    ),
                ),
                notes=(*notes, *home.notes, *staged.notes),
                model=model,
                supplement=partial(
                    supplement_reading, provider, None if self._shared else home.path, staged
                ),
                new_log_lines=self._log_reader(provider, home),
                custody=self._custody(provider, workspace, home),
                close=partial(self._take_away, folder, workspace),
            )
            undo.pop_all()
        return launch

    def offered_skills(self) -> tuple[OfferedSkill, ...]:
        """Those of the batch's template, or of the user's own tree where agents work in that."""
        if self._templates:
            return self._offered  # as they were before the first agent could change them
        return find_offered(self._settings.root, self._providers.values(), self._skills)

    def fingerprint(self, unit: Unit, cli_version: str) -> str | None:
        """Of the batch's template and the unit; None where agents work in the user's own tree."""
        if self._shared:
            return None
        provider = self._providers[unit.agent]
        template = self._template(provider)
        with self._lock:
            if provider.name not in self._views:
                skills = staged_skills(template.path, provider).skills
                real = (one.path.resolve() for one in skills)
                inside = (one for one in real if one.is_relative_to(template.path))
                self._views[provider.name] = look_at(
                    template.path,
                    template.seal,
                    [one.relative_to(template.path).as_posix() for one in inside],
                    whole_tree=self._settings.reuse.mode == "tree",
                )
            view = self._views[provider.name]
        return fingerprint(view, unit.case, provider, self._settings, cli_version)

    def missing_skills(self) -> tuple[str, ...]:
        """The skills of the repository that this checkout has not, and why, each path once."""
        found = (str(one) for missing in self.missing.values() for one in missing)
        return tuple(dict.fromkeys(found))

    def close(self) -> Sequence[str]:
        """Remove the templates; gives what could not be removed."""
        with self._lock:
            templates = list(self._templates.values())
            self._templates.clear()
        left = [note for template in templates for note in _remove(template.path)]
        if not left:
            self.folders.close()
        return left

    def _take_away(self, folder: Path, workspace: Path) -> list[str]:
        """Remove what a unit had; of a kept one the home alone, since logins may lie in there."""
        if not self._settings.workspaces.keep:
            return _remove(folder)
        return [f"{KEPT_WORKSPACE}{workspace}", *_remove(folder / "home")]

    def _workspace(self, provider: Provider, folder: Path) -> tuple[Path, tuple[str, ...]]:
        """The folder to work in, and what people should know about it."""
        if self._shared:
            return self._settings.root.resolve(), ()
        template = self._template(provider)
        return template.make_workspace(folder / "repo"), template.notes

    def _template(self, provider: Provider) -> WorkspaceTemplate:
        """The batch's template; one more for each provider that skills are staged for.

        All are made before the first agent starts, which could change what they are made of.
        """
        with self._lock:
            if "" not in self._templates:
                self._make_templates()
            return self._templates[provider.name if self._skills else ""]

    def _make_templates(self) -> None:
        with ExitStack() as undo:

            def new() -> Path:
                folder = self.folders.new()
                undo.callback(remove_tree, folder)
                return folder

            plain = WorkspaceTemplate.build(
                self._settings.root, self.folders.root, hidden=self._hidden, path=new()
            )
            made = {"": plain}
            for one in self._providers.values() if self._skills else ():
                stage = partial(stage_skills, provider=one, skills=self._skills, keys=plain.keys)
                made[one.name] = plain.derive(stage, new())
            undo.pop_all()
        self._offered = find_offered(plain.path, self._providers.values(), self._skills)
        self._templates = made

    def _custody(self, provider: Provider, workspace: Path, home: AgentHome) -> Custody:
        watches = self._watches[provider.name]
        if self._shared:
            return Custody(watches=watches)
        sealed = {workspace: self._template(provider).seal, home.path: home.seal}
        return Custody(sealed, workspace, watches)

    def _home(self, provider: Provider, folder: Path) -> AgentHome:
        if self._shared and self._user_home:
            return AgentHome(self._user_home, is_users_own=True)
        environ = self._settings.environ
        return make_agent_home(
            provider,
            folder / "home",
            user_home=self._user_home,
            cache_root=cache_root(environ),
            base_environ=environ,
        )

    def _log_reader(
        self, provider: Provider, home: AgentHome
    ) -> Callable[[], Sequence[tuple[str, bytes]]] | None:
        """What reads the session logs: one snapshot per agent and batch, or one in a fresh home."""
        if not self._settings.scans_logs or provider.log_reader is None:
            return None
        folders = log_folders(provider, self._settings.environ)
        if not self._shared and not folders:
            return self._session_logs(provider.log_globs, home).new_lines
        with self._lock:
            if provider.name not in self._logs:
                self._logs[provider.name] = self._session_logs(folders or provider.log_globs, home)
            return self._logs[provider.name].new_lines

    def _session_logs(self, globs: Sequence[str], home: AgentHome) -> SessionLogs:
        asked = self._settings.logs
        return SessionLogs(globs, home.path, max_files=asked.max_files, max_bytes=asked.max_bytes)


def _remove(folder: Path) -> list[str]:
    return [f"could not be removed: {failure}" for failure in remove_tree(folder)]


def find_temp_root(root: Path, environ: Mapping[str, str]) -> Path:
    """Where a batch makes its folders; `root` is the repository."""
    return choose_temp_root(root, (environ.get("RUNNER_TEMP", ""), environ.get("TMPDIR", "")))


def cache_root(environ: Mapping[str, str]) -> Path | None:
    """Where big unpacked programs are shared between units: below the user's cache folder."""
    base = environ.get("XDG_CACHE_HOME") or (
        os.path.join(environ["HOME"], ".cache") if environ.get("HOME") else ""  # noqa: PTH118
    )
    return Path(base) / "routing-action" / "agent-caches" if base else None
