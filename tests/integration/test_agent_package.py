"""The package of docs/how-to/write-an-agent-package.md, installed as a user would."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.command_line import ROOT

PACKAGE = ROOT / "docs/reference/examples/agent-package"
VEGA = """#!/usr/bin/env python3
import os, sys
prompt = sys.argv[-1]
if prompt == "--version":
    print("vega 1.0.0")
elif not os.environ.get("VEGA_KEY"):
    print('{"v": "refused", "why": "bad key", "status": 401}')
    raise SystemExit(1)
else:
    if "load" in prompt:
        print('{"v": "want", "skill": "foo"}')
        there = os.path.isfile(".vega/skills/foo/SKILL.md")
        print('{"v": "here"}' if there else '{"v": "missing"}')
    print('{"v": "says", "text": "I know of foo."}')
    print('{"v": "bye"}')
"""


@pytest.mark.slow
def test_the_documented_package_is_installed_and_measures(tmp_path: Path) -> None:
    """A load passes; a mention fails, and so does a call of a skill that is gone."""
    target = tmp_path / "site"
    done = subprocess.run(
        [sys.executable, "-m", "uv", "pip", "install", "--no-deps", "--target", str(target),
         str(PACKAGE)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if any(sign in done.stderr for sign in ("dns error", "Could not connect", "client error")):
        pytest.skip("the package registry, which has the build backend, is out of reach")
    assert done.returncode == 0, done.stderr

    project = tmp_path / "project"
    skill = project / ".vega/skills/foo/SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: foo\ndescription: For foo.\n---\nBe good.\n", encoding="utf-8")
    cases = [
        {"case_id": name, "prompt": prompt, "expected_skill": "foo"}
        for name, prompt in (("loads", "load it"), ("mentions", "name it"))
    ]
    (project / "cases.json").write_text(json.dumps(cases), encoding="utf-8")
    program = tmp_path / "bin/vega"
    program.parent.mkdir()
    program.write_text(VEGA, encoding="utf-8")
    program.chmod(0o755)

    def call(*words: str) -> subprocess.CompletedProcess[str]:
        path = f"{program.parent}:{os.environ['PATH']}"
        variables = {"PATH": path, "PYTHONPATH": str(target), "HOME": str(tmp_path)}
        variables["VEGA_KEY"] = "vega-key-1"
        return subprocess.run(
            [sys.executable, "-m", "routing_action", *words],
            cwd=project, env=variables, capture_output=True, text=True, check=False,
        )  # fmt: skip

    assert "vega: Vega" in call("providers", "list").stdout
    ran = call("run", "--agents", "vega", "--format", "json")
    rows = json.loads(ran.stdout)["results"]
    assert [(row["status"], row["failure_kind"]) for row in rows] == [
        ("pass", None), ("fail", "weak_evidence_only")
    ], ran.stderr  # fmt: skip
    stored = next(project.glob("tests/agent-routing/artifacts/*/transcripts/*.stdout"))
    assert "0 of" not in call("providers", "try", "--agent", "vega", f"--stdout={stored}").stdout
    skill.unlink()
    gone = json.loads(call("run", "--agents=vega", "--format=json").stdout)["results"]
    assert gone[0]["failure_kind"] == "invoked_but_not_loaded"
