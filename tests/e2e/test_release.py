"""The workflow that publishes a version, run on a tag of a clone; what it would publish is kept."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path

import pytest

from routing_action import __version__
from tests.e2e.bench import E2E, Bench, Finished
from tests.e2e.server import GitHub, serve
from tests.live.clis import install_node, install_packages
from tests.support.command_line import ROOT

pytestmark = pytest.mark.slow

WORKFLOW = ".github/workflows/release.yml"
SETUP = re.compile(r"      - uses: actions/setup-\w+@.*\n        with:\n(?:          .*\n)+")
UPLOAD = '"$RUNNER_TEMP/uv/bin/uv" publish'
LEG = ("--matrix", "os:ubuntu-latest", "--matrix", "python:3.11")
DIGEST = f"sha256:{'5' * 64}"
NOTES = f"## [{__version__}] - 2026-01-01\n\n### Added\n\n- It can be `installed`, $(really).\n\n"
PROGRAM = """\
#!/usr/bin/env bash
printf '%s\\n' "${0##*/} $*" >>"$CALLS"
[[ "$*" != *--password-stdin* ]] || cat >>"$CALLS"
while (($#)); do
  case $1 in
    inspect) printf 'registry.test/octo/demo@DIGEST\\n' ;;
    PATCH) exit 1 ;; # the tag of the major version is new
    --notes-file) cat -- "$2" >>"$CALLS" ;;
  esac
  shift
done
"""


def git(folder: Path, *words: str) -> str:
    own = ("-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "core.hooksPath=/dev/null")
    return subprocess.run(
        ["git", *own, *words], cwd=folder, check=True, capture_output=True, text=True
    ).stdout


def clone(to: Path) -> Path:
    """The project as it lies here, without a gate that takes its time, and ready for a release."""
    to.mkdir(parents=True)
    names = git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    kept = "\0".join(name for name in names if name and (ROOT / name).is_file())
    subprocess.run(
        ["/usr/bin/env", "bash", "-c", f"tar -C '{ROOT}' --null -cf - -T - | tar -C '{to}' -xf -"],
        input=kept, text=True, check=True,
    )  # fmt: skip
    (to / ".ci" / "run").write_text("#!/usr/bin/env bash\necho the gate\n", encoding="utf-8")
    change = to / "CHANGELOG.md"
    head, _, text = change.read_text("utf-8").partition("## [Unreleased]\n")
    change.write_text(f"{head}## [Unreleased]\n\n{NOTES}## [0.0.1]\n{text}", encoding="utf-8")
    workflow = to / WORKFLOW
    text, steps = SETUP.subn("", workflow.read_text("utf-8"))
    assert (steps, text.count(UPLOAD)) == (5, 1)
    workflow.write_text(text.replace(UPLOAD, "echo upload"), encoding="utf-8")
    git(to, "init", "--quiet", "--initial-branch=main")
    git(to, "add", "--all")
    git(to, "commit", "--quiet", "--message=release")
    return to


def release(folder: Path, tag: str, github: GitHub, variables: Mapping[str, str]) -> Finished:
    """What the push of a tag starts."""
    git(folder, "tag", tag)
    programs = folder.parent / "programs"
    programs.mkdir()
    (programs / "uv").symlink_to(Path(sys.executable).with_name("uv"))
    # Stands for what setup-python brings, which has pip; the first on PATH may have none.
    subprocess.run([sys.executable, "-I", "-m", "venv", programs.parent / "python"], check=True)
    (programs / "python").symlink_to(programs.parent / "python" / "bin" / "python")
    for name in ("gh", "docker"):
        (programs / name).write_text(PROGRAM.replace("DIGEST", DIGEST), encoding="utf-8")
        (programs / name).chmod(0o755)
    bench = Bench(
        folder,
        github.url,
        install_packages(E2E),
        [str(programs), *map(str, install_node())],
        variables=variables,
    )
    calls = ("--env", f"CALLS={folder.parent / 'calls'}")
    event = {"ref": f"refs/tags/{tag}", "repository": {"full_name": "octo/demo"}}
    return bench.run("release.yml", "push", event, *LEG, *calls, seconds=900)


@pytest.fixture
def github() -> Iterator[GitHub]:
    """Where artifacts are kept between jobs."""
    with serve() as one:
        yield one


def test_a_tag_is_built_tried_attested_and_published_by_what_was_built(
    tmp_path: Path, github: GitHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same files in each step; the image by its digest; notes are not run by a shell."""
    monkeypatch.setenv("PIP_CACHE_DIR", str(Path.home() / ".cache" / "pip"))
    folder = clone(tmp_path / "clone")
    done = release(folder, f"v{__version__}", github, {"IMAGE_REGISTRY": "registry.test"})
    leg = "try (ubuntu-latest, 3.11)"
    assert set(done.jobs.values()) == {"success"}, done.log[-5000:]
    assert len(done.jobs) == 7
    assert "the gate" in done.of("check")
    (built,) = (one for one in github.results.artifacts if one.name == "dist")
    with zipfile.ZipFile(BytesIO(built.data)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    base = f"routing_action-{__version__}"
    packages = [f"{base}-py3-none-any.whl", f"{base}.tar.gz"]
    assert set(files) == {*packages, "SHA256SUMS", "sbom.cdx.json"}
    for line in files["SHA256SUMS"].decode().splitlines():
        digest, _, name = line.partition("  ")
        assert hashlib.sha256(files[name]).hexdigest() == digest
    tried = done.of(leg)
    assert tried.count("gate: Routing gate failed: 2 regressions") == 2
    assert re.findall(r"trying (\S+) with Python 3", tried) == packages
    shown = " ".join(f"dist/{name}" for name in packages)
    attested = re.findall(r"attested (.*)", done.log)
    assert f"dist/SHA256SUMS {shown} dist/sbom.cdx.json" in attested
    assert f"{shown} with dist/sbom.cdx.json" in attested
    assert f"registry.test/octo/demo@{DIGEST}" in attested
    assert f"upload --trusted-publishing always {shown}" in done.log
    calls = (tmp_path / "calls").read_text("utf-8")
    assert f"docker push registry.test/octo/demo:{__version__}" in calls
    notes = calls.partition("### Added\n\n")[2].partition("\ngh ")[0]
    assert notes == (
        f"- It can be `installed`, $(really).\n\nImage: registry.test/octo/demo@{DIGEST}"
    )
    commit = git(folder, "rev-parse", "HEAD").strip()
    assert f"gh api --method POST repos/octo/demo/git/refs -f ref=refs/tags/v0 -f sha={commit}" in (
        calls
    )


def test_a_tag_that_is_not_the_version_publishes_nothing(tmp_path: Path, github: GitHub) -> None:
    """The log names both."""
    done = release(clone(tmp_path / "clone"), "v99.0.0", github, {})
    assert (done.code, done.jobs["build"]) == (1, "failure")
    assert f"the version is {__version__} in src/routing_action/__init__.py, not 99.0.0" in done.log
    assert not any(result == "success" for job, result in done.jobs.items() if job != "check")
    assert not (tmp_path / "calls").exists()
