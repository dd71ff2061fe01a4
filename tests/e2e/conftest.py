"""The repositories that the tests of whole workflows start from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.bench import AGENTS
from tests.e2e.demo import Demo, make_demo, make_template


@pytest.fixture(scope="module")
def templates(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """With all three agents, and with one, whose runs take less time."""
    folder = tmp_path_factory.mktemp("demo")
    return make_template(folder / "large", AGENTS), make_template(folder / "small", ["codex"])


@pytest.fixture
def demo(templates: tuple[Path, Path], tmp_path: Path) -> Iterator[Demo]:
    """A repository that is measured on all three agents."""
    with make_demo(templates[0], tmp_path) as made:
        yield made


@pytest.fixture
def small(templates: tuple[Path, Path], tmp_path: Path) -> Iterator[Demo]:
    """A repository that is measured on codex alone."""
    with make_demo(templates[1], tmp_path) as made:
        made.variables["ROUTING_AGENTS"] = "codex"
        yield made
