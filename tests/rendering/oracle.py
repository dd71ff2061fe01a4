"""Asks a renderer that works as GitHub's what a body of markdown becomes."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Self, cast

from tests.live.clis import install_node, install_packages

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a body creates: `acting` is text that GitHub would act upon, `skeleton` its elements."""

    acting: list[str]
    links: list[str]
    images: list[str]
    skeleton: str
    html: str


class Oracle:
    """One Node.js process for many bodies, each judged once; a context manager."""

    def __init__(self) -> None:
        self._judged: dict[str, Judgement] = {}

    def __enter__(self) -> Self:
        """Install the packages where needed, and start."""
        self.packages = install_packages(HERE)
        self._process = subprocess.Popen(
            [_find_node(), "--input-type=module", "-e", (HERE / "oracle.mjs").read_text()],
            cwd=self.packages.parent,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        """Close its input, upon which it ends."""
        self._process.communicate()

    def judge(self, body: str) -> Judgement:
        """Render one body."""
        if body not in self._judged:
            self._judged[body] = self._ask(body)
        return self._judged[body]

    def _ask(self, body: str) -> Judgement:
        ask, answers = cast("IO[str]", self._process.stdin), cast("IO[str]", self._process.stdout)
        ask.write(json.dumps(body) + "\n")
        ask.flush()
        return Judgement(**json.loads(answers.readline()))


def _find_node() -> str:
    (folder,) = install_node() or (None,)
    return str(folder / "node") if folder else shutil.which("node") or "node"
