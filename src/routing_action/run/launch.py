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
from routing_action.corpus.units import Unit
from routing_action.evidence.reader_protocol import Provider, ReadContext
from routing_action.files.removal import Removal, remove_tree
from routing_action.results.model import KEPT_WORKSPACE, OfferedSkill
from routing_action.run.logs.log_targets import make_targets
from routing_action.run.logs.logscan import LogScanner
from routing_action.run.offered import find_offered
from routing_action.run.other_sources import supplement_reading
from routing_action.run.replay.recordings import ReplaySet
from routing_action.run.settings import RunSettings, build_command, limit_arguments, log_folders
from routing_action.run.unit import Launch
from routing_action.run.workspace.agent_home import (
    AgentHome,
    allowed_environment,
    home_environment,
    make_agent_home,
)
from routing_action.run.workspace.skill_watch import SkillWatch
from routing_action.run.workspace.staging import (
    Skill,
    StagedSkills,
    find_skills,
    stage_skills,
    staged_skills,
)
from routing_action.run.workspace.template import (
    Workspace,
    WorkspaceTemplate,
    choose_temp_root,
    new_folder,
    shared_workspace,
)

_USER_FOLDERS = (
    "HOME", "TMPDIR", "TMP", "TEMP", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME",
    "XDG_CACHE_HOME", "XDG_RUNTIME_DIR",
)  # fmt: skip


class ReplayLauncher:
    """Starts the replay agent, a true executable, in an empty folder of its own."""

    def __init__(self, recordings: ReplaySet, settings: RunSettings) -> None:
        """Replay from a set, at the pace of the settings."""
        self._recordings = recordings
        self._settings = settings
        self._speed = settings.replay.speed if settings.replay else math.inf
        self._temp_root = choose_temp_root(settings.root, temp_candidates(settings.environ))

    def prepare(self, unit: Unit, unit_run_id: str) -> Launch:
        """The replay agent's command for a pair, with what the recording says about itself."""
        agent, case_id = unit.agent, unit.case.case_id
        recorded = self._recordings.script_for(agent, case_id, unit.trial)
        argv = self._recordings.argv_for(agent, case_id, unit.trial, self._speed)
        folder = new_folder(self._temp_root)
        return Launch(
            argv=(*argv[:-1], unit.case.prompt),
            cwd=folder,
            env={name: self._settings.environ.get(name, "") for name in ("PATH", "LANG")},
            context=ReadContext(),
            cli_version=recorded.cli_version or None,
            model=recorded.model or None,
            wall_seconds=recorded.timeout_s or None,
            output_bytes=self._recordings.output_bytes(agent, case_id, unit.trial),
            close=lambda: _left(remove_tree(folder)),
        )

    def offered_skills(self) -> tuple[OfferedSkill, ...]:
        """Unknown: a recording does not tell."""
        return ()

    def close(self) -> Sequence[str]:
        """Nothing is kept between units."""
        return ()


class LiveLauncher:
    """Gives each unit a copy of the repository, a home, and an allow-listed environment."""

    def __init__(
        self, settings: RunSettings, providers: Mapping[str, Provider], hidden: Iterable[Path]
    ) -> None:
        """`hidden` are the answer keys of this batch, which no agent may see."""
        self._settings = settings
        self._providers = dict(providers)
        self._hidden = tuple(hidden)
        self._temp_root = choose_temp_root(settings.root, temp_candidates(settings.environ))
        self._own = _own_places(settings)
        self._lock = threading.Lock()
        self._watch = SkillWatch(settings.root.resolve(), _known_skill_folders)
        self._found: dict[str, StagedSkills] = {}
        self._allowed: dict[str, dict[str, str]] = {}
        self._templates: dict[str, WorkspaceTemplate] = {}
        self._scanners: dict[str, LogScanner] = {}
        self._skills: tuple[Skill, ...] = (
            find_skills(settings.workspaces.skills) if settings.workspaces.skills else ()
        )

    def prepare(self, unit: Unit, unit_run_id: str) -> Launch:
        """Workspace, home, skills, environment and command of one unit."""
        provider = self._providers[unit.agent]
        if self._own is not None:
            return self._launch(provider, unit, *self._own)
        with ExitStack() as undo:
            folder = new_folder(self._temp_root)
            undo.callback(remove_tree, folder)
            workspace = self._workspace(provider, folder)
            home = self._home(provider, folder)
            launch = self._launch(
                provider,
                unit,
                workspace,
                home,
            )
            launch.close = lambda: self._take_away(folder, workspace, home)
            undo.pop_all()
        return launch

    def offered_skills(self) -> tuple[OfferedSkill, ...]:
        """Those of the batch's template, or of the user's own tree where agents work in that."""
        template = self._templates.get("")  # without the lock: one may just be made, for seconds
        if template is None and not self._settings.workspaces.shared:
            return ()
        tree = template.path if template else self._settings.root
        return find_offered(tree, self._providers.values(), self._skills)

    def _launch(
        self,
        provider: Provider,
        unit: Unit,
        workspace: Workspace,
        home: AgentHome,
    ) -> Launch:
        """Where nothing is to be taken away afterwards."""
        staged = self._staged(provider, workspace)
        context = ReadContext(
            skills_roots=staged.roots, cwd=str(workspace.path), home=str(home.path)
        )
        model = self._settings.provider_models.get(provider.name)
        return Launch(
            argv=self._command(provider, unit.case.prompt, model),
            cwd=workspace.path,
            env=self._environment(provider, home),
            context=context,
            notes=(*self._template_notes(provider), *home.notes, *staged.notes),
            model=model,
            supplement=partial(
                supplement_reading, provider, None if workspace.shared else home.path, staged
            ),
            new_log_lines=self._log_reader(provider, home),
        )

    def close(self) -> Sequence[str]:
        """Remove the templates; gives what could not be removed."""
        with self._lock:
            templates = list(self._templates.values())
            self._templates.clear()
        return [note for template in templates for note in _left(template.remove())]

    def _take_away(self, folder: Path, workspace: Workspace, home: AgentHome) -> list[str]:
        """Remove what a unit had; of a kept one the home alone, since logins may lie in there."""
        if not self._settings.workspaces.keep:
            return _left(remove_tree(folder))
        return [f"{KEPT_WORKSPACE}{workspace.path}", *_left(home.remove())]

    # ---- parts of a unit

    def _command(self, provider: Provider, prompt: str, model: str | None) -> tuple[str, ...]:
        limits = limit_arguments(provider, self._settings.limits)
        return build_command(provider, prompt, model, self._settings.environ, limits)

    def _workspace(self, provider: Provider, folder: Path) -> Workspace:
        if self._settings.workspaces.shared:
            return shared_workspace(self._settings.root)
        return self._template(provider).make_workspace(folder / "repo")

    def _template(self, provider: Provider) -> WorkspaceTemplate:
        """The batch's template; one more for each skill folder that skills are staged in."""
        with self._lock:
            if "" not in self._templates:
                self._templates[""] = WorkspaceTemplate.build(
                    self._settings.root, self._temp_root, hidden=self._hidden
                )
            plain = self._templates[""]
            if not self._skills:
                return plain
            if provider.name not in self._templates:
                self._templates[provider.name] = plain.derive(
                    lambda path: stage_skills(path, provider, self._skills, plain.keys)
                )
            return self._templates[provider.name]

    def _template_notes(self, provider: Provider) -> tuple[str, ...]:
        with self._lock:
            template = self._templates.get(provider.name) or self._templates.get("")
        return template.notes if template else ()

    def _staged(self, provider: Provider, workspace: Workspace) -> StagedSkills:
        """What the agent finds; each copy holds what its template does, so that is read once.

        The user's own tree is looked at for each unit: agents may have changed it.
        """
        if workspace.shared:
            return self._watch.find(provider)
        template = self._template(provider)
        with self._lock:
            if provider.name not in self._found:
                self._found[provider.name] = staged_skills(
                    template.path, provider, _known_skill_folders()
                )
            return self._found[provider.name].moved(template.path, workspace.path)

    def _home(self, provider: Provider, folder: Path) -> AgentHome:
        environ = self._settings.environ
        return make_agent_home(
            provider,
            folder / "home",
            user_home=Path(environ["HOME"]) if environ.get("HOME") else None,
            cache_root=cache_root(environ),
            base_environ=environ,
        )

    def _environment(self, provider: Provider, home: AgentHome) -> dict[str, str]:
        environ = self._settings.environ
        with self._lock:
            allowed = self._allowed.get(provider.name)
            if allowed is None:
                allowed = allowed_environment(provider, environ)
                if self._own is not None:  # the same home for each unit
                    allowed |= home_environment(provider, home)
                    allowed = _with_own_folders(allowed, provider, environ)
                self._allowed[provider.name] = allowed
        return {**allowed, **({} if self._own else home_environment(provider, home))}

    def _log_reader(
        self, provider: Provider, home: AgentHome
    ) -> Callable[[], Sequence[tuple[str, bytes]]] | None:
        """Session logs: one snapshot per agent and batch, or none at all in a fresh home."""
        if not self._settings.scans_logs or provider.log_reader is None:
            return None
        folders = log_folders(provider, self._settings.environ)
        if not self._settings.workspaces.shared and not folders:
            return self._scanner(home.path, provider.log_globs).new_lines
        with self._lock:
            if provider.name not in self._scanners:
                self._scanners[provider.name] = self._scanner(
                    home.path, folders or provider.log_globs
                )
            return self._scanners[provider.name].new_lines

    def _scanner(self, home: Path, globs: Sequence[str]) -> LogScanner:
        """A scanner that has taken its snapshot."""
        scanner = LogScanner(
            make_targets(globs, home),
            max_files=self._settings.logs.max_files,
            max_bytes=self._settings.logs.max_bytes,
        )
        scanner.snapshot()
        return scanner


def _own_places(settings: RunSettings) -> tuple[Workspace, AgentHome] | None:
    """The repository and the user's home, where units work in these: nothing is made then."""
    if not settings.workspaces.shared or not settings.environ.get("HOME"):
        return None
    return shared_workspace(settings.root), AgentHome(Path(settings.environ["HOME"]))


def _known_skill_folders() -> list[str]:
    return [name for one in all_providers().values() for name in one.skill_folders]


def _left(removal: Removal) -> list[str]:
    return [f"could not be removed: {failure}" for failure in removal.failures]


def temp_candidates(environ: Mapping[str, str]) -> list[str]:
    """Where temporary folders may be made, the best first; empty texts are unknown."""
    return [environ.get("RUNNER_TEMP", ""), environ.get("TMPDIR", "")]


def cache_root(environ: Mapping[str, str]) -> Path | None:
    """Where big unpacked programs are shared between units: below the user's cache folder."""
    base = environ.get("XDG_CACHE_HOME") or (
        os.path.join(environ["HOME"], ".cache") if environ.get("HOME") else ""  # noqa: PTH118
    )
    return Path(base) / "routing-action" / "agent-caches" if base else None


def _with_own_folders(
    env: dict[str, str], provider: Provider, environ: Mapping[str, str]
) -> dict[str, str]:
    """The user's own folders, for debugging in the shared workspace."""
    own = (*_USER_FOLDERS, *provider.home_variables)
    kept = {name: value for name, value in env.items() if name not in own}
    return {**kept, **{name: environ[name] for name in own if environ.get(name)}}
