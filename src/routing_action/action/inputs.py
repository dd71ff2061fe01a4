"""The inputs of the composite action: their names, how they are read, and the names they lead to.

Pure: it takes a mapping of variables and touches no disk.
"""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import TypeAdapter, ValidationError

from routing_action.errors import UsageError

PREFIX = "ROUTING_INPUT_"
COMMANDS = ("run", "plan", "aggregate", "publish", "history", "command")
"""What `command` can be; the first is the default."""

DEFAULT_KEY = "routing"

_LEGAL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
_ILLEGAL = re.compile(r"[^A-Za-z0-9._-]+")
_HASHED = re.compile(r"-[0-9a-f]{8}$")
_SHARD = re.compile(r"(\d+)/(\d+)")
_LIST = TypeAdapter(list[str])
_SEPARATORS = re.compile(r"[,\r\n]+")


def variable(name: str) -> str:
    """The environment variable that an input comes in: `case-ids` is ROUTING_INPUT_CASE_IDS."""
    return PREFIX + name.upper().replace("-", "_")


@dataclass(frozen=True, slots=True)
class Inputs:
    """The inputs as the step's environment holds them; one that is not set is empty."""

    environ: Mapping[str, str]

    def text(self, name: str) -> str:
        """The value without the white space around it."""
        return self.environ.get(variable(name), "").strip()

    def lines(self, name: str) -> tuple[str, ...]:
        """The lines that hold anything."""
        return tuple(line.strip() for line in self.text(name).splitlines() if line.strip())

    def names(self, name: str) -> tuple[str, ...]:
        """A list whose parts are separated by commas or lines, each once, in order; or as JSON."""
        text = self.text(name)
        try:
            found = _LIST.validate_json(text)
        except ValidationError:
            found = _SEPARATORS.split(text)
        parts = (part.strip() for part in found)
        return tuple(dict.fromkeys(part for part in parts if part))

    def flag(self, name: str) -> bool:
        """`true` or `false`, in any case; empty is false. Anything else is a UsageError."""
        value = self.text(name).lower()
        if value in ("", "false"):
            return False
        if value != "true":
            raise UsageError(
                f"input {name}: {value!r} is neither true nor false", remedy="write one of the two"
            )
        return True

    def share(self, name: str, default: float) -> float:
        """A number between 0 and 1, without both; empty is the default."""
        try:
            value = float(self.text(name) or default)
        except ValueError:
            value = 0.0
        if not 0 < value < 1:
            raise UsageError(
                f"input {name}: {self.text(name)!r} is not between 0 and 1",
                remedy=f"such as {default:g}",
            )
        return value

    def words(self, name: str) -> tuple[str, ...]:
        """A command line as words; nothing is expanded."""
        try:
            return tuple(shlex.split(self.text(name)))
        except ValueError as error:
            raise UsageError(
                f"input {name}: {error}", remedy="balance the quotes; no shell reads them"
            ) from None

    def choice(self, name: str, allowed: tuple[str, ...]) -> str:
        """One of the allowed words; empty is the first of them."""
        value = self.text(name) or allowed[0]
        if value not in allowed:
            raise UsageError(
                f"input {name}: {value!r} is unknown", remedy=f"write one of {', '.join(allowed)}"
            )
        return value


def comment_key(inputs: Inputs) -> str:
    """The key of comment and check run; it also stands in an artifact's name."""
    key = inputs.text("key") or DEFAULT_KEY
    if not _LEGAL.fullmatch(key):
        raise UsageError(
            f"input key: {key!r} cannot name an artifact",
            remedy="use letters, digits, `.`, `_` and `-`, at most 80 of them",
        )
    return key


def leg_key(inputs: Inputs) -> str:
    """The key of a leg: `matrix-key`, else agents and shard, in a form that names an artifact."""
    return legal_key(inputs.text("matrix-key") or _default_key(inputs))


def _default_key(inputs: Inputs) -> str:
    agents = "-".join(inputs.names("agents")) or "all"
    shard = _SHARD.fullmatch(inputs.text("shard"))
    return f"{agents}-s{shard[1]}of{shard[2]}" if shard and shard[2] != "1" else agents


def legal_key(key: str) -> str:
    """A key that an artifact's name can hold; two keys never become one.

    upload-artifact rejects quotes, `: < > | * ?`, both slashes and line ends in a name. A key that
    has to be changed, or that looks as if it had been, gets a hash of the original.
    """
    if _LEGAL.fullmatch(key) and not _HASHED.search(key):
        return key
    digest = hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()[:8]
    cleaned = _ILLEGAL.sub("-", key).strip("-._")[:70]
    return f"{cleaned or 'leg'}-{digest}"


def results_artifact(key: str, attempt: int) -> str:
    """The artifact of one leg; `results.measured_files` takes key and attempt from it again."""
    return f"routing-results-{key}-a{attempt}"


def report_artifact(key: str) -> str:
    """The artifact of an aggregation, without its attempt."""
    return f"routing-report-{key}"
