"""The files that start the bot's server in a container and under systemd fit what it takes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from routing_action.bot.server.serve import HOOK_PATH
from routing_action.bot.server.settings import PREFIX, ServerSettings
from routing_action.bot.server.setup import PERMISSIONS

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
    for source in re.findall(r"^COPY (\S+)", text, re.MULTILINE):
        assert (ROOT / source).exists()


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
