"""How the real agent CLIs are started against a scripted model: workspace, home, arguments.

Every run gets a fresh copy of this repository as one commit and an empty home. Nothing here
knows what an agent prints.
"""

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

LIVE = Path(__file__).resolve().parent
ROOT = LIVE.parent.parent
PLUGIN_PARTS = (".claude-plugin", ".claude")
WITHHELD = ("cases.json", "provider-baseline.json", "tests", "benchmarks")
KEY = "made-up-key-000000"


@dataclass(frozen=True, slots=True)
class Bench:
    """The folders of one run, below one root that is thrown away afterwards."""

    root: Path
    plugin: bool

    @property
    def repo(self) -> Path:
        """The workspace."""
        return self.root / "repo"

    @property
    def home(self) -> Path:
        """The agent's home."""
        return self.root / "home"

    @property
    def copilot_cache(self) -> Path:
        """What copilot unpacks (235 MB), kept beside the root and shared by all runs."""
        return self.root.parent / "copilot"

    @property
    def plugin_dir(self) -> Path:
        """A checkout of the plugin outside the workspace, where the case asks for one."""
        return self.root / "plugins" / "routing-action"

    def environment(self, **extra: str) -> dict[str, str]:
        """Return all that an agent may see of the environment."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "TMPDIR": str(self.root / "tmp"),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            **extra,
        }


@dataclass(frozen=True, slots=True)
class Start:
    """How to start one CLI: arguments, environment and the model that is asked for."""

    argv: list[str]
    environment: dict[str, str]
    model: str


Starter: TypeAlias = Callable[[Path, Bench, str, str, Mapping[str, Any]], Start]


def start_claude(
    binary: Path, bench: Bench, url: str, prompt: str, options: Mapping[str, Any]
) -> Start:
    """Claude Code in its stream of JSON records."""
    model = options.get("model", "claude-sonnet-4-5")
    argv = [str(binary), "-p", "--verbose", "--output-format", "stream-json", "--model", model]
    argv += ["--permission-mode", "bypassPermissions"]
    argv += ["--include-partial-messages"] if options.get("partial_messages") else []
    argv += ["--plugin-dir", str(bench.plugin_dir)] if bench.plugin else []
    environment = bench.environment(
        ANTHROPIC_BASE_URL=url,
        ANTHROPIC_API_KEY=KEY,
        CLAUDE_CONFIG_DIR=str(bench.home / ".claude"),
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
        DISABLE_AUTOUPDATER="1",
        IS_SANDBOX="1",
    )
    return Start([*argv, prompt], environment, model)


def start_codex(
    binary: Path, bench: Bench, url: str, prompt: str, options: Mapping[str, Any]
) -> Start:
    """Codex CLI; a plugin is installed from the marketplace that this repository is."""
    model = options.get("model", "gpt-5.5")
    home = bench.home / ".codex"
    environment = bench.environment(CODEX_HOME=str(home), MOCK_KEY=KEY)
    if bench.plugin:
        for words in (["marketplace", "add", str(bench.plugin_dir)], ["add", "routing-action"]):
            market = ["--marketplace", "routing-action"] if words[0] == "add" else []
            command = [str(binary), "plugin", *words, *market]
            subprocess.run(command, env=environment, check=True, capture_output=True)
    provider = f'{{name="mock",base_url="{url}/v1",wire_api="responses",env_key="MOCK_KEY"}}'
    settings = {
        "analytics.enabled": "false",
        "model_provider": "mock",
        "model_providers.mock": provider,
        "model": model,
    }
    argv = [str(binary), "-a", "never", "exec", "--json", "-s", "danger-full-access"]
    argv += [word for key, value in settings.items() for word in ("-c", f"{key}={value}")]
    return Start([*argv, prompt], environment, model)


def start_copilot(
    binary: Path, bench: Bench, url: str, prompt: str, options: Mapping[str, Any]
) -> Start:
    """Copilot CLI in its JSON records."""
    model = options.get("model", "gpt-4.1")
    argv = [str(binary), "-p", prompt, "--allow-all-tools", "--no-ask-user"]
    argv += ["--output-format", "json", "--log-level", "debug"]
    argv += ["--plugin-dir", str(bench.plugin_dir)] if bench.plugin else []
    environment = bench.environment(
        COPILOT_HOME=str(bench.home / ".copilot"),
        COPILOT_OFFLINE="true",
        COPILOT_AUTO_UPDATE="false",
        COPILOT_MODEL=model,
        COPILOT_PROVIDER_BASE_URL=f"{url}/v1",
        COPILOT_PROVIDER_API_KEY=KEY,
    )
    return Start(argv, environment, model)


STARTERS: dict[str, Starter] = {
    "claude": start_claude,
    "codex": start_codex,
    "copilot": start_copilot,
}


# --- the workspace ------------------------------------------------------------------------


def build_bench(root: Path, *, plugin: bool) -> Bench:
    """Lay out the folders of one run: the filtered repository as one commit, an empty home.

    With `plugin`, the skills come from a plugin checkout and are not in the workspace.
    """
    bench = Bench(root, plugin)
    for folder in (bench.repo, bench.home / ".codex", root / "tmp"):
        folder.mkdir(parents=True)
    bench.copilot_cache.mkdir(exist_ok=True)
    (bench.home / ".cache").mkdir()
    (bench.home / ".cache" / "copilot").symlink_to(bench.copilot_cache)
    skipped = (*WITHHELD, ".agents", *PLUGIN_PARTS) if plugin else WITHHELD
    for path in _list_files():
        if path.parts[0] not in skipped and path.name not in skipped:
            _copy(ROOT / path, bench.repo / path)
    if plugin:
        for part in PLUGIN_PARTS:
            shutil.copytree(ROOT / part, bench.plugin_dir / part)
    _commit(bench)
    return bench


def _list_files() -> list[Path]:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [Path(name) for name in listed.split("\0") if name and (ROOT / name).exists()]


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, target, follow_symlinks=False)


def _commit(bench: Bench) -> None:
    when = "2026-01-01T12:00:00Z"
    who = {"NAME": "routing-action", "EMAIL": "routing-action@example.invalid", "DATE": when}
    author = {f"GIT_{role}_{key}": who[key] for role in ("AUTHOR", "COMMITTER") for key in who}
    environment = bench.environment(**author)
    (bench.repo / "README.md").touch()
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "Workspace"]):
        subprocess.run(["git", *words], cwd=bench.repo, env=environment, check=True)
