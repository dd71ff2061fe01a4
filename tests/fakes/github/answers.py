"""What goes back to a client."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Answer:
    """A status, any JSON, and headers."""

    status: int
    body: Any
    headers: Mapping[str, str] = field(default_factory=dict)
