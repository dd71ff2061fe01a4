"""Nothing is imported once agents run: they can write to what would be read."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.command_line import ROOT

AGENT = """
import json, sys
prompt = sys.argv[-1]
encoding = "utf-16" if prompt == "wide" else "utf-8"
def say(**record):
    sys.stdout.buffer.write((json.dumps(record, ensure_ascii=False) + "\\n").encode(encoding))
say(type="system", subtype="init")
if prompt == "bad":
    sys.exit(3)
use = {"type": "tool_use", "id": "t", "name": "Skill", "input": {"skill": "foo"}}
say(type="assistant", message={"content": [use]})
shown = "Launching skill: foo \\u6f22\\u5b57"
answer = {"type": "tool_result", "tool_use_id": "t", "content": shown}
say(type="user", message={"content": [answer]})
say(type="result", is_error=False, num_turns=1)
"""
AUDIT = """
import sys
late = []
def hook(name, values):
    if name == "subprocess.Popen" and "agent.py" in str(values[1]):
        late.append("")
    if name == "import" and late:
        late.append(values[0])
sys.addaudithook(hook)
from routing_action.__main__ import main
main(["run", "--agents", "claude", "--format", sys.argv[1]])
print("LATE", late.count("") > 0, [one for one in late if one])
"""


@pytest.mark.parametrize("output", ["text", "json"])
def test_g2_nothing_is_imported_after_the_first_agent_started(tmp_path: Path, output: str) -> None:
    """Whatever agents print: wide letters, UTF-16, nothing, or a skill that was not wanted."""
    (tmp_path / "agent.py").write_text(AGENT, encoding="utf-8")
    prompts = {"plain": "foo", "wide": "foo", "bad": "foo", "other": ""}
    cases = [
        {"case_id": prompt, "prompt": prompt, "expected_skill": skill}
        for prompt, skill in prompts.items()
    ]
    (tmp_path / "cases.json").write_text(json.dumps(cases), encoding="utf-8")
    command = shlex.join([sys.executable, str(tmp_path / "agent.py")])
    environ = {
        **{name: value for name, value in os.environ.items() if not name.startswith("COV")},
        "PYTHONPATH": str(ROOT / "src"),
        "AGENT_CLAUDE_TEMPLATE": f"{command} {{prompt}}",
    }
    done = subprocess.run(
        [sys.executable, "-c", AUDIT, output],
        cwd=tmp_path,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines()[-1] == "LATE True []", done.stdout + done.stderr
