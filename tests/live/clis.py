"""Installs the pinned agent CLIs from the npm registry, once per lock file, into a cache."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

LIVE = Path(__file__).resolve().parent
_INSTALL_SECONDS = 900


def cache_folder() -> Path:
    """Where installed CLIs are kept: below the user's cache folder, by the lock's hash."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    digest = hashlib.sha256((LIVE / "package-lock.json").read_bytes()).hexdigest()[:16]
    return Path(base) / "routing-action" / "live-agents" / digest


def install_clis() -> Path:
    """The folder of the CLIs' programs; skips the test where they cannot be had."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        pytest.skip("Node.js is not installed: install Node 20 or later to run the live tests")
    folder = cache_folder()
    programs = folder / "node_modules" / ".bin"
    if not (folder / "complete").exists():
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("package.json", "package-lock.json", ".npmrc"):
            shutil.copyfile(LIVE / name, folder / name)
        done = subprocess.run(
            [npm, "ci", "--no-progress"],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=_INSTALL_SECONDS,
            check=False,
        )
        if done.returncode != 0:
            _skip_or_fail(done.stderr)
        (folder / "complete").touch()
    return programs


def _skip_or_fail(message: str) -> None:
    """Only an unreachable registry skips; anything else is a fault of ours."""
    unreachable = ("ENOTFOUND", "ECONNREFUSED", "EAI_AGAIN", "ETIMEDOUT", "ENETUNREACH")
    if any(code in message for code in unreachable):
        pytest.skip(f"the npm registry is out of reach: {message[-300:]}")
    pytest.fail(f"npm ci failed: {message[-2000:]}")
