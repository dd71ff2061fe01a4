"""Reads workflows and the action as GitHub does: YAML 1.2, in which `on` is no truth value."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

ROOT = Path(__file__).resolve().parents[2]
ACTION = ROOT / "action.yml"
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def load_yaml(text: str) -> dict[str, Any]:
    """The document as plain values."""
    loaded: dict[str, Any] = YAML(typ="safe", pure=True).load(text)
    return loaded


def read_yaml(path: Path) -> dict[str, Any]:
    """The document of a file."""
    return load_yaml(path.read_text("utf-8"))


def steps_of(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every step of a workflow or of a composite action."""
    if "runs" in document:
        yield from document["runs"].get("steps", [])
    for job in document.get("jobs", {}).values():
        yield from job.get("steps", [])
