"""Runs the harness on real agents against scripted models, and keeps all that was asked and said.

Judges nothing; the tests do.
"""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.live.caller import KEY, Caller
from tests.live.loopback import PORT, loopback_words
from tests.live.mock_models import Asked, serve
from tests.live.mock_scripts import Scripts
from tests.live.scenes import Scene, open_book

AGENTS = ("claude", "codex", "copilot")
RUN = (sys.executable, "-P", "-m", "routing_action", "run")
_PATIENCE_SECONDS = 300


@dataclass
class LiveBatch:
    """A harness run that is over: its exit code, results, and what the models were asked.

    `written` are the files of the caller's home and project that changed, but for its artifacts.
    """

    code: int
    seconds: float
    stdout: str
    stderr: str
    asked: list[Asked]
    network: str
    written: list[str] = field(default_factory=list)
    results: dict[str, Any] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """The batch's artifacts."""
        line = next(x for x in self.stderr.splitlines() if x.startswith("ARTIFACT_DIR="))
        return Path(line.removeprefix("ARTIFACT_DIR="))

    @property
    def rows(self) -> dict[tuple[str, str], dict[str, Any]]:
        """Rows by agent and case."""
        return {(row["agent"], row["case_id"]): row for row in self.results["results"]}

    def transcript(self, row: Mapping[str, Any]) -> str:
        """What the agent of a row printed."""
        file = self.folder / "transcripts" / f"{row['unit_run_id']}.stdout"
        return file.read_text("utf-8", "replace")

    def asked_by(self, agent: str) -> str:
        """All request bodies and headers of an agent, one after the other."""
        return "\n".join(f"{one.headers}\n{one.text}" for one in self.asked if one.agent == agent)

    def stored(self) -> dict[str, str]:
        """Every file of the batch's folder, as text."""
        files = (path for path in self.folder.rglob("*") if path.is_file())
        return {str(path): path.read_text("utf-8", "replace") for path in files}


@dataclass(frozen=True)
class Order:
    """What to run: words after `run`, and what the models say; `command` replaces `run` itself.

    With `uses_files` the caller's home gets the settings of `model_files`.
    `interfere` is called with the harness' process while it runs, and with what was asked so far.
    """

    caller: Caller
    programs: list[Path]
    scripts: Scripts
    words: Sequence[str] = ()
    agents: Sequence[str] = AGENTS
    command: Sequence[str] = RUN
    cwd: Path | None = None
    think_seconds: float = 0.0
    uses_files: bool = False
    variables: Mapping[str, str] = field(default_factory=dict)
    interfere: Callable[[subprocess.Popen[str], list[Asked]], None] | None = None


def run_scenes(
    caller: Caller,
    programs: list[Path],
    scenes: Iterable[Scene],
    *words: str,
    **more: Any,  # noqa: ANN401 - Order's
) -> LiveBatch:
    """Run scenes of one and the same set of agents through `routing-action run`."""
    listed = list(scenes)
    document = {"cases": [{**one.case, "category": "live"} for one in listed]}
    (caller.project / "cases.json").write_text(json.dumps(document), encoding="utf-8")
    more.setdefault("agents", tuple(listed[0].verdicts))
    return run_order(Order(caller, programs, open_book(listed), words, **more))


def run_order(order: Order) -> LiveBatch:
    """Run the harness to its end, in a loopback-only network where that is permitted."""
    before = order.caller.list_files()
    batch = asyncio.run(_run(order))
    after = order.caller.list_files()
    batch.written = sorted(path for path, _ in before.items() ^ after.items())
    return batch


async def _run(order: Order) -> LiveBatch:
    asked: list[Asked] = []
    with tempfile.TemporaryDirectory(prefix="live-") as folder:
        unix_socket = Path(folder) / "models"
        before = loopback_words(unix_socket)
        place: int | Path = unix_socket if before else 0
        async with serve(
            order.scripts, place, think_seconds=order.think_seconds, asked=asked
        ) as served:
            url = f"http://127.0.0.1:{PORT}" if before else served
            for name, text in model_files(url).items() if order.uses_files else ():
                file = order.caller.home / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
            began = time.monotonic()
            done = await asyncio.to_thread(_finish, order, [*(before or ())], url, asked)
            seconds = time.monotonic() - began
    network = "loopback only" if before else "the machine's"
    batch = LiveBatch(*done[:1], round(seconds, 1), *done[1:], asked, network)
    results = batch.folder / "results.json"
    if results.exists():
        batch.results = json.loads(results.read_text(encoding="utf-8"))
    return batch


def _finish(order: Order, before: list[str], url: str, asked: list[Asked]) -> tuple[int, str, str]:
    variables = {**model_variables(url, order.agents), **order.variables}
    options = ["--agents", ",".join(order.agents), "--timeout-seconds", "150"]
    process = subprocess.Popen(
        [*before, *order.command, *options, *order.words],
        cwd=order.cwd or order.caller.project,
        env=order.caller.environment(order.programs, **variables),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        if order.interfere is not None:
            order.interfere(process, asked)
        stdout, stderr = process.communicate(timeout=_PATIENCE_SECONDS)
    except BaseException:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        raise
    return process.returncode, stdout, stderr


def model_variables(url: str, agents: Iterable[str]) -> dict[str, str]:
    """What points the agents at the scripted models; the path says who asks."""
    known = {
        "claude": {"ANTHROPIC_BASE_URL": f"{url}/claude", "ANTHROPIC_API_KEY": KEY},
        "codex": {"OPENAI_API_KEY": KEY, "AGENT_CODEX_TEMPLATE": codex_template(f"{url}/codex")},
        "copilot": {
            "COPILOT_OFFLINE": "true",
            "COPILOT_PROVIDER_BASE_URL": f"{url}/copilot/v1",
            "COPILOT_PROVIDER_API_KEY": KEY,
            "COPILOT_MODEL": "gpt-4.1",
        },
    }
    known["gemini"] = {"GOOGLE_GEMINI_BASE_URL": f"{url}/gemini", "GEMINI_API_KEY": KEY}
    known["opencode"] = {
        "OPENAI_API_KEY": KEY,
        "OPENCODE_CONFIG_CONTENT": json.dumps(opencode_settings(f"{url}/opencode/v1")),
    }
    known["kilo"] = {
        "OPENAI_API_KEY": KEY,
        "KILO_CONFIG_CONTENT": json.dumps(opencode_settings(f"{url}/kilo/v1")),
    }
    known["qwen"] = {
        "OPENAI_API_KEY": KEY,
        "OPENAI_BASE_URL": f"{url}/qwen/v1",
        "OPENAI_MODEL": "mock",
    }
    known["kimi"] = {
        "KIMI_MODEL_API_KEY": KEY,
        "KIMI_MODEL_BASE_URL": f"{url}/kimi/v1",
        "KIMI_MODEL_NAME": "mock",
        "KIMI_MODEL_PROVIDER_TYPE": "openai",
    }
    none: dict[str, str] = {}
    return {name: value for agent in agents for name, value in known.get(agent, none).items()}


def model_files(url: str) -> dict[str, str]:
    """What points further agents there: login files and settings in the caller's home."""
    pi = {"baseUrl": f"{url}/pi/v1", "api": "openai-completions", "apiKey": KEY}
    cline = {
        "provider": "openai-compatible", "apiKey": KEY, "model": "mock",
        "baseUrl": f"{url}/cline/v1",
    }  # fmt: skip
    entry = {"settings": cline, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}
    droid = {
        "model": "mock", "displayName": "mock", "baseUrl": f"{url}/droid/v1", "apiKey": KEY,
        "provider": "generic-chat-completion-api",
    }  # fmt: skip
    contents = {
        ".pi/agent/models.json": {"providers": {"mock": {**pi, "models": [{"id": "mock"}]}}},
        ".cline/data/settings/providers.json": {
            "version": 1,
            "lastUsedProvider": "openai-compatible",
            "modes": {},
            "providers": {"openai-compatible": entry},
        },
        ".factory/settings.json": {"customModels": [droid], "cloudSessionSync": False},
    }
    return {path: json.dumps(content) for path, content in contents.items()}


MODELS = {"pi": "mock/mock", "droid": "custom:mock"}
"""What some must be told with --provider-model, since they would take another model."""


def opencode_settings(url: str) -> dict[str, Any]:
    """Opencode takes a model server by its configuration alone, and asks about nothing."""
    options = {"baseURL": url, "apiKey": KEY}
    models = {"mock": {"name": "Mock", "tool_call": True}}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "Mock", "options": options}
    return {
        "provider": {"mock": {**provider, "models": models}},
        "model": "mock/mock",
        "small_model": "mock/mock",
        "autoupdate": False,
        "share": "disabled",
        "permission": "allow",
    }


def codex_template(url: str) -> str:
    """Codex takes a model server by its configuration alone."""
    provider = f'{{name="mock",base_url="{url}/v1",wire_api="responses",env_key="OPENAI_API_KEY"}}'
    return (
        "codex -a never exec --json -s danger-full-access -c analytics.enabled=false "
        f"-c model_provider=mock -c 'model_providers.mock={provider}' -c model=gpt-5 {{prompt}}"
    )


COPILOT_EVERYWHERE = (
    "copilot -p {prompt} --allow-all-tools --allow-all-paths --no-ask-user --output-format json "
    "--log-level debug"
)
"""Without copilot's own rule of paths, so that nothing but the harness isolates it."""


def wait_until(process: subprocess.Popen[str], condition: Callable[[], bool]) -> None:
    """Until it holds, or the process has ended."""
    end = time.monotonic() + _PATIENCE_SECONDS
    while not condition() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.02)
