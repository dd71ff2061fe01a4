"""A door that posts nothing: each request becomes a numbered JSON file in a folder."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from routing_action.errors import HarnessError
from routing_action.github.client import Response

_NAME = re.compile(r"[^A-Za-z0-9]+")


class DryRunDoor:
    """Writes what would be sent, and answers as an empty repository would."""

    def __init__(self, folder: Path) -> None:
        """The folder is made where it is not there."""
        self._folder = folder
        self._count = 0
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise HarnessError(
                f"{folder} cannot be made: {error.strerror}", remedy="name another --dry-run folder"
            ) from None

    def send(self, verb: str, path: str, body: Mapping[str, Any] | None) -> Response:
        """Writing requests are kept; nothing is found by reading ones."""
        if verb == "GET":
            return Response(200, {}, {"check_runs": []} if "check-runs" in path else [])
        self._count += 1
        name = f"{self._count:02}-{verb.lower()}-{_NAME.sub('-', path).strip('-')}.json"
        text = json.dumps({"method": verb, "path": path, "body": body}, indent=2) + "\n"
        (self._folder / name).write_text(text, encoding="utf-8")
        return Response(201, {}, {"id": self._count, "html_url": ""})
