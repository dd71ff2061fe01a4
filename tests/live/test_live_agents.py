"""The harness end to end on the real agent CLIs, against a scripted model on loopback.

What this proves: formats, plumbing, isolation and verdicts. How a model routes it cannot prove.
"""

import asyncio
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.live.clis import install_clis
from tests.live.mock_models import Call, Step, serve

ROOT = Path(__file__).resolve().parents[2]
SKILL = "writing-routing-cases"
CASE = {
    "case_id": "live",
    "prompt": "We shipped a skill for release notes and nothing proves that agents find it.",
    "expected_skill": SKILL,
}
KEY = "made-up-key-0123456789"

pytestmark = pytest.mark.live

LOADS = (Step(say="I will use a skill.", do=(Call("skill", SKILL),)), Step(say="Done."))
OTHER = (Step(do=(Call("skill", "triaging-red-gate"),)), Step(say="Done."))
BY_HAND = (
    Step(do=(Call("read", ".claude/skills/writing-routing-cases/SKILL.md"),)),
    Step(say="Done."),
)
MENTIONS = (Step(say=f"The skill {SKILL} could help, but I answer myself."),)
LISTS = (Step(do=(Call("shell", "ls -R .agents/skills; grep -rl name .agents/skills"),)),
         Step(say="Done."))  # fmt: skip
MISSING_KEY = (Step(status=401, error="authentication_error", say="invalid x-api-key"),)


def run_harness(agent: str, steps: tuple[Step, ...], tmp_path: Path) -> tuple[int, dict[str, Any]]:
    """Run ./test.sh for one agent and one case; its exit code and its only row."""
    programs = install_clis()
    cases = tmp_path / "cases.json"
    cases.write_text(json.dumps([CASE]), encoding="utf-8")
    return asyncio.run(_run(agent, steps, programs, cases, tmp_path))


async def _run(
    agent: str, steps: tuple[Step, ...], programs: list[Path], cases: Path, tmp_path: Path
) -> tuple[int, dict[str, Any]]:
    output = tmp_path / "results.json"
    async with serve(steps) as url:
        done = await asyncio.to_thread(
            subprocess.run,
            [
                str(ROOT / "test.sh"),
                *("--agents", agent, "--cases", str(cases), "--output", str(output)),
                *("--artifacts-root", str(tmp_path / "artifacts"), "--timeout-seconds", "120"),
            ],
            env=environment(agent, url, programs),
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    assert output.exists(), done.stderr[-3000:]
    results = json.loads(output.read_text(encoding="utf-8"))
    (row,) = results["results"]
    assert KEY not in output.read_text(encoding="utf-8")
    return done.returncode, row


def environment(agent: str, url: str, programs: list[Path]) -> dict[str, str]:
    """The caller's environment, with the agent pointed at the scripted model."""
    extra = {
        "claude": {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": KEY},
        "codex": {"OPENAI_API_KEY": KEY, "AGENT_CODEX_TEMPLATE": codex_template(url)},
        "copilot": {
            "COPILOT_OFFLINE": "true",
            "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
            "COPILOT_PROVIDER_API_KEY": KEY,
            "COPILOT_MODEL": "gpt-4.1",
        },
    }[agent]
    kept = ("HOME", "LANG", "TMPDIR", "XDG_CACHE_HOME", "PIP_INDEX_URL", "UV_DEFAULT_INDEX")
    base = {name: os.environ[name] for name in kept if name in os.environ}
    return {**base, "PATH": os.pathsep.join([*map(str, programs), os.environ["PATH"]]), **extra}


def codex_template(url: str) -> str:
    """Codex takes a model server by its configuration alone."""
    provider = f'{{name="mock",base_url="{url}/v1",wire_api="responses",env_key="OPENAI_API_KEY"}}'
    return (
        "codex -a never exec --json -s danger-full-access -c analytics.enabled=false "
        f"-c model_provider=mock -c 'model_providers.mock={provider}' -c model=gpt-5 {{prompt}}"
    )


@pytest.mark.parametrize("agent", ["claude", "codex", "copilot"])
def test_a_proven_load_passes(agent: str, tmp_path: Path) -> None:
    """The expected skill, really loaded by the real CLI, passes through ./test.sh."""
    code, row = run_harness(agent, LOADS, tmp_path)
    assert (row["status"], row["failure_kind"]) == ("pass", None), row
    assert code == 0
    assert row["token_hits"][SKILL]["tier"] == 1
    assert (row["outcome"], row["unrecognised_events"]) == ("completed", 0)
    assert row["cli_version"]


@pytest.mark.parametrize(
    ("agent", "steps", "kind"),
    [
        ("claude", BY_HAND, "evidence_too_weak"),
        ("claude", MENTIONS, "weak_evidence_only"),
        ("codex", LISTS, "weak_evidence_only"),
        ("copilot", BY_HAND, "evidence_too_weak"),
        ("copilot", OTHER, "missing_required"),
    ],
)
def test_a_near_miss_fails(agent: str, steps: tuple[Step, ...], kind: str, tmp_path: Path) -> None:
    """What only looks like a load fails, with the kind that says why."""
    code, row = run_harness(agent, steps, tmp_path)
    assert (code, row["status"], row["failure_kind"]) == (1, "fail", kind), row


def test_a_refused_key_is_infrastructure(tmp_path: Path) -> None:
    """A 401 says nothing about routing; a run that measured nothing is not green."""
    code, row = run_harness("claude", MISSING_KEY, tmp_path)
    assert (code, row["status"], row["outcome"]) == (1, "infra_error", "auth"), row
