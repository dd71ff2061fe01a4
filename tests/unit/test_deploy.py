"""The files that start the bot's server in a container and under systemd fit what it takes."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from routing_action.bot.server.serve import HOOK_PATH
from routing_action.bot.server.settings import PREFIX, ServerSettings
from routing_action.bot.server.setup import PERMISSIONS
from tests.support.bot_server import wait_until, write_config

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
GUIDE = ROOT / "docs" / "how-to" / "run-the-bot-server.md"


def read(name: str) -> str:
    return (DEPLOY / name).read_text("utf-8")


@pytest.mark.parametrize("name", ["Containerfile", "compose.yaml", "routing-bot.service"])
def test_every_variable_is_a_setting(name: str) -> None:
    """A misspelt one would be passed over in silence."""
    known = {f"{PREFIX}{field.upper()}" for field in ServerSettings.model_fields}
    assert set(re.findall(r"\bROUTING_BOT_[A-Z_]+", read(name))) <= known


def test_every_setting_is_in_the_guide() -> None:
    """With its default."""
    text = GUIDE.read_text("utf-8")
    for name, field in ServerSettings.model_fields.items():
        assert f"`{name}`" in text
        if isinstance(field.default, int | float) and field.default:
            assert f"`{field.default:g}`" in text


def test_the_container_is_not_root_and_tells_its_health() -> None:
    """What it copies is there."""
    text = read("Containerfile")
    assert re.search(r"^USER (?!0|root)", text, re.MULTILINE)
    assert "/readyz" in text.partition("HEALTHCHECK")[2]
    kept = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    for source in re.findall(r"^COPY (\S+)", text, re.MULTILINE):
        assert (ROOT / source).exists()
        assert f"!{source}" in kept


def test_secrets_stay_out_of_commits() -> None:
    """Where the guides put them in a clone."""
    ignored = (ROOT / ".gitignore").read_text("utf-8").splitlines()
    for path in ("/deploy/secrets/", "/deploy/.env", "/bot.toml", "*.pem", "/webhook-secret"):
        assert path in ignored


@pytest.mark.slow
def test_what_the_container_builds_and_runs_works_outside_of_one(tmp_path: Path) -> None:
    """Each instruction in an empty folder and an environment of its own, as its own user would."""
    text = read("Containerfile").replace("\\\n", " ")
    venv, app, state = tmp_path / "venv", tmp_path / "app", tmp_path / "state"
    app.mkdir()
    variables = {"PATH": f"{venv / 'bin'}:/usr/bin:/bin", "HOME": str(tmp_path), **read_proxies()}

    def run(*command: str, **more: Any) -> subprocess.Popen[str]:  # noqa: ANN401
        return subprocess.Popen(command, cwd=app, env=variables, text=True, **more)

    subprocess.run((sys.executable, "-m", "venv", str(venv)), check=True)
    for line in text.splitlines():
        word, _, rest = line.partition(" ")
        if word == "COPY":
            source, target = rest.split()
            place = app / ("" if target == "./" else target)
            copy = shutil.copytree if (ROOT / source).is_dir() else shutil.copy
            copy(ROOT / source, place)
        elif word == "RUN":
            shell = rest.replace("/var/lib/routing-bot", str(state)).replace("chown", ": chown")
            assert run("sh", "-euc", shell, stdout=subprocess.DEVNULL).wait() == 0, shell
        elif word == "ENV":
            variables |= dict(one.split("=", 1) for one in shlex.split(rest))
    queue = variables["ROUTING_BOT_QUEUE"].replace("/var/lib/routing-bot", str(state))
    variables |= {"PYTHONPATH": str(app / "src"), "ROUTING_BOT_QUEUE": queue}
    variables |= {"ROUTING_BOT_PORT": str(find_port()), "ROUTING_BOT_HOST": "127.0.0.1"}
    config = write_config(tmp_path / "secrets", "http://127.0.0.1:1").parent
    variables |= {
        "ROUTING_BOT_APP_ID": "1",
        "ROUTING_BOT_PRIVATE_KEY_FILE": str(config / "app.pem"),
        "ROUTING_BOT_WEBHOOK_SECRET_FILES": str(config / "secret"),
    }
    health, entry, given = (
        json.loads(re.findall(pattern, text, re.MULTILINE)[-1])
        for pattern in (r"^HEALTHCHECK .*?CMD +(\[.*\])", r"^ENTRYPOINT (.*)", r"^CMD (.*)")
    )
    log = (tmp_path / "log").open("w")
    server = run(*entry, *given, stderr=log)
    try:
        wait_until(lambda: "listening" in Path(log.name).read_text(), "the server listens")
        assert run(*health).wait() == 0
        # The package's demo needs cases, baseline and recordings.
        assert sorted(one.name for one in app.iterdir()) == [
            "LICENSE", "cases.json", "provider-baseline.json", "requirements-bot.lock", "src",
            "templates", "tests",
        ]  # fmt: skip
        server.terminate()
        assert server.wait(60) == 0
        assert run(*health, stderr=subprocess.DEVNULL).wait() == 1
    finally:
        server.kill()
        server.wait()
        log.close()


def read_proxies() -> dict[str, str]:
    """What an installer needs to reach the packages from here."""
    wanted = re.compile(r"(?i)(pip|uv|https?)_\w+|ssl_cert_file|no_proxy")
    return {name: value for name, value in os.environ.items() if wanted.fullmatch(name)}


def find_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def test_the_compose_file_keeps_the_root_read_only() -> None:
    """And gives each service the secrets that it names."""
    made: dict[str, Any] = YAML(typ="safe").load(read("compose.yaml"))
    bot = made["services"]["bot"]
    assert bot["read_only"] is True
    assert bot["cap_drop"] == ["ALL"]
    for service in made["services"].values():
        for secret in service["secrets"]:
            assert secret in made["secrets"]
        named = [str(one) for one in service["environment"].values() if "/run/secrets/" in str(one)]
        assert {one.removeprefix("/run/secrets/") for one in named} <= set(service["secrets"])


def test_each_way_waits_for_the_grace() -> None:
    """Whoever ends the server gives it longer than it takes."""
    grace = ServerSettings.model_fields["grace_seconds"].default
    stops = re.findall(r"(?:stop_grace_period: |TimeoutStopSec=)(\d+)", read("compose.yaml") + read(
        "routing-bot.service"))  # fmt: skip
    assert len(stops) == 2
    assert all(int(one) > grace for one in stops)


def test_the_guide_names_the_path_of_the_webhook() -> None:
    """As the server serves it; the manifest asks for what is used."""
    assert f"POST {HOOK_PATH}" in GUIDE.read_text("utf-8")
    assert set(PERMISSIONS.values()) <= {"read", "write"}
