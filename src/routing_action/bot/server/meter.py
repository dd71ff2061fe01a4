"""What the server tells about itself: numbers for Prometheus, and lines of JSON for logs."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from routing_action.bot.server.queue.deliveries import Depth

_SECONDS = (0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300)
_FIELDS = ("delivery", "event", "attempt")


class Meter:
    """Counts; `render` is what `/metrics` answers. No name of a person or repository is in it."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._taken = Counter(
            "routing_bot_deliveries",
            "Deliveries that came in, by what was answered: kept, ignored, rejected, failed.",
            ["result"],
            registry=self._registry,
        )
        self._handled = Histogram(
            "routing_bot_handling_seconds",
            "How long a delivery took, by event and by how it ended: done, again, dead.",
            ["event", "result"],
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._queue = Gauge(
            "routing_bot_queue_deliveries",
            "Deliveries in the queue, by state: waiting, taken, dead.",
            ["state"],
            registry=self._registry,
        )
        self._age = Gauge(
            "routing_bot_queue_age_seconds",
            "How long the oldest waiting delivery has waited.",
            registry=self._registry,
        )
        self._budget = Gauge(
            "routing_bot_api_requests_left",
            "Requests that GitHub still takes in this hour, by installation.",
            ["installation"],
            registry=self._registry,
        )

    def count_taken(self, result: str) -> None:
        """A delivery was answered."""
        self._taken.labels(result).inc()

    def count_handled(self, result: str, event: str, seconds: float) -> None:
        """A delivery was worked on."""
        self._handled.labels(event, result).observe(seconds)

    def tell_budget(self, installation: int, left: int) -> None:
        """GitHub said how many requests are left."""
        self._budget.labels(str(installation)).set(left)

    def render(self, depth: Depth) -> bytes:
        """The text that Prometheus reads."""
        for state in ("waiting", "taken", "dead"):
            self._queue.labels(state).set(getattr(depth, state))
        self._age.set(depth.oldest_seconds)
        return generate_latest(self._registry)


class _JsonLines(logging.Formatter):
    """One object a line; bodies, tokens and secrets are never given to a logger."""

    def format(self, record: logging.LogRecord) -> str:
        """Time in UTC, level, message, what it is about, and a traceback where there is one."""
        told: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
        }
        told |= {name: value for name in _FIELDS if (value := getattr(record, name, None))}
        if record.exc_info:
            told["traceback"] = self.formatException(record.exc_info)
        return json.dumps(told, ensure_ascii=True)


def log_json() -> None:
    """Write what our own loggers and the libraries' warnings say to stderr, as lines of JSON."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonLines())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    logging.getLogger("routing_action").setLevel(logging.INFO)
