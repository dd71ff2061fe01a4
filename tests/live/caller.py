"""Whoever starts the harness, at its worst: probe skills wherever a CLI looks, and many secrets."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.live.bench import ROOT
from tests.live.scenes import ANSWER_KEY, SKILL

PROBE = "probe-skill"
KEY = "made-up-key-0123456789"
SECRETS = {
    "GITHUB_TOKEN": "made-up-github-token-4411",
    "GH_TOKEN": "made-up-gh-token-5522",
    "ACTIONS_RUNTIME_TOKEN": "made-up-runtime-token-6633",
    "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "made-up-id-token-7744",
    "INPUT_GITHUB-TOKEN": "made-up-input-token-8855",
    "AWS_SECRET_ACCESS_KEY": "made-up-aws-key-9966",
    "NPM_TOKEN": "made-up-npm-token-1177",
    "DEPLOY_PASSWORD": "made-up-password-2288",
    "DATABASE_URL": "postgres://user:made-up-database-3399@db.example.invalid/x",
}
SECRET_PARTS = tuple(value.partition("@")[0].rpartition(":")[2] for value in SECRETS.values())

# Every folder that a CLI reads skills from, in the home of its user and in a repository.
HOME_PLACES = (
    ".claude/skills",
    ".claude/plugins/cache/market/probe/1.0.0/skills",
    ".codex/skills",
    ".codex/plugins/cache/market/probe/1.0.0/skills",
    ".agents/skills",
    ".copilot/skills",
    ".github/skills",
    ".gemini/skills",
    ".opencode/skills",
    ".config/opencode/skills",
    ".config/opencode/skill",
    ".config/agents/skills",
    ".qwen/skills",
    ".factory/skills",
    ".kilo/skills",
    ".config/kilo/skills",
    ".cline/skills",
    ".pi/agent/skills",
    ".kimi-code/skills",
)
REPOSITORY_PLACES = (
    ".claude/skills", ".agents/skills", ".codex/skills", ".github/skills", ".gemini/skills",
    ".opencode/skills", ".qwen/skills", ".factory/skills", ".kilo/skills", ".cline/skills",
    ".pi/skills",
)  # fmt: skip


@dataclass(frozen=True)
class Caller:
    """`root` holds the caller's home and project; `above` lies over the temporary folder.

    The two share no parent, so that an agent that searches upwards meets no answer key.
    """

    root: Path
    above: Path

    @property
    def home(self) -> Path:
        """The caller's own home, full of probes."""
        return self.root / "home"

    @property
    def project(self) -> Path:
        """The repository under test, with its cases and their history."""
        return self.root / "project"

    @property
    def temporary(self) -> Path:
        """TMPDIR, in which workspaces are made."""
        return self.above / "tmp"

    @property
    def stale_copy(self) -> Path:
        """A copy of the expected skill that is not the one under test."""
        return self.home / ".agents" / "skills" / SKILL / "SKILL.md"

    def list_files(self) -> dict[str, int]:
        """The files of home and project with their times of last change, without artifacts."""
        return {
            str(path): path.lstat().st_mtime_ns
            for path in self.root.rglob("*")
            if "artifacts" not in path.parts and not path.is_dir()
        }

    def environment(self, programs: list[Path], **extra: str) -> dict[str, str]:
        """What the caller's shell holds; the cache is the real one, for copilot's big unpack."""
        cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
        return {
            "PATH": os.pathsep.join([*map(str, programs), os.environ["PATH"]]),
            "HOME": str(self.home),
            "TMPDIR": str(self.temporary),
            "LANG": "C.UTF-8",
            "XDG_CACHE_HOME": cache,
            "XDG_CONFIG_HOME": str(self.home / ".config"),
            "CLAUDE_CONFIG_DIR": str(self.home / ".claude"),
            "CODEX_HOME": str(self.home / ".codex"),
            "COPILOT_HOME": str(self.home / ".copilot"),
            **SECRETS,
            **extra,
        }


def make_caller(root: Path) -> Caller:
    """Lay out home, project and temporary folder; `remove_caller` takes them away."""
    caller = Caller(root, Path(tempfile.mkdtemp(dir=_outside())))
    for folder in (caller.home, caller.project, caller.temporary):
        folder.mkdir(parents=True)
    for place in HOME_PLACES:
        _plant(caller.home / place)
    for place in REPOSITORY_PLACES:
        for over in (caller.above, caller.temporary, caller.root):
            _plant(over / place)
    caller.stale_copy.parent.mkdir()
    shutil.copyfile(ROOT / ".claude" / "skills" / SKILL / "SKILL.md", caller.stale_copy)
    _make_project(caller.project)
    return caller


def remove_caller(caller: Caller) -> None:
    """Take the folder over the temporary one away; the rest is the test's own."""
    shutil.rmtree(caller.above)


def _outside() -> str | None:
    """A folder far from the tests' own: in memory where there is room, since files cost less."""
    for place in ("/dev/shm", "/var/tmp"):
        if os.access(place, os.W_OK):
            status = os.statvfs(place)
            roomy = status.f_bavail * status.f_frsize > 2 << 30
            if roomy and not status.f_flag & os.ST_NOEXEC:
                return place
    return None


def _plant(folder: Path) -> None:
    name = f"{PROBE}-{len(str(folder))}-{abs(hash(str(folder))) % 10**6}"
    (folder / name).mkdir(parents=True)
    text = f"---\nname: {name}\ndescription: A {PROBE} of {folder}, for every ticket.\n---\nNo.\n"
    (folder / name / "SKILL.md").write_text(text, encoding="utf-8")


def _make_project(project: Path) -> None:
    """The skills of this repository, in one whose history knows the answer key."""
    (project / ".agents").mkdir()
    shutil.copytree(ROOT / ".claude" / "skills", project / ".claude" / "skills")
    (project / ".agents" / "skills").symlink_to("../.claude/skills")
    (project / "README.md").write_text("# A project\n", encoding="utf-8")
    git(project, "init", "--quiet", "--initial-branch=main")
    entry = f'{{"expected_status": "pass", "reason": "{ANSWER_KEY}"}}'
    for name, text in (
        ("cases.json", f'{{"cases": ["{ANSWER_KEY}"]}}'),
        ("provider-baseline.json", f'{{"answer-key": {{"claude": {entry}}}}}'),
    ):
        (project / name).write_text(f"{text}\n", encoding="utf-8")
        git(project, "add", "--all")
        git(project, "commit", "--quiet", "-m", f"Add {name} with {ANSWER_KEY}")


def git(folder: Path, *words: str) -> None:
    """Run git with an author of its own."""
    settings = ("-c", "user.name=maker", "-c", "user.email=maker@example.invalid")
    subprocess.run(["git", *settings, *words], cwd=folder, check=True, env=_plain())


def _plain() -> Mapping[str, str]:
    return {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
