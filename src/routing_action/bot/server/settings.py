"""The server's settings, from a TOML file, from ROUTING_BOT_* variables, or from both."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
)

from routing_action.errors import DocumentError, UsageError
from routing_action.files.documents import find_fault, parse_toml, read_bytes
from routing_action.files.nearest import suggest

PREFIX = "ROUTING_BOT_"
GUIDE = "see the page how-to/run-the-bot-server.md"

_MAX_BYTES = 2**16
_MAX_SECRET_BYTES = 2**14
_PAGE_ADDRESS = re.compile(r"(https?://[^\s/?#]+)?/?")


def _split(value: object) -> object:
    """A variable holds several words with blanks between them."""
    return value.split() if isinstance(value, str) else value


def _check_page_address(value: str) -> str:
    if not _PAGE_ADDRESS.fullmatch(value):
        raise ValueError("must begin with https:// and have no path, as https://bot.example.com")
    return value


class ServerSettings(BaseModel):
    """Where secrets are, what to listen on, where deliveries are kept.

    Of each pair of a value and a file the file is read where the value is left out.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    app_id: Annotated[int, Field(ge=1)]
    private_key: SecretStr | None = None
    private_key_file: Path | None = None
    webhook_secrets: Annotated[tuple[SecretStr, ...], BeforeValidator(_split)] = ()
    webhook_secret_files: Annotated[tuple[Path, ...], BeforeValidator(_split)] = ()
    queue: str = "routing-bot.db"
    queue_address_file: Path | None = None
    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65_535)] = 8080
    page_address: Annotated[str, AfterValidator(_check_page_address)] = ""
    workers: Annotated[int, Field(ge=1, le=64)] = 8
    grace_seconds: Annotated[float, Field(ge=0, le=3600)] = 25.0
    api_url: Annotated[str, Field(pattern=r"^https?://[^\s/]+(/\S*)?$")] = "https://api.github.com"
    server_url: Annotated[str, Field(pattern=r"^https?://[^\s/]+(/\S*)?$")] = "https://github.com"

    def read_private_key(self) -> str:
        """The App's key as PEM. Raises UsageError where it is none."""
        key = self.private_key.get_secret_value() if self.private_key else ""
        if not key and self.private_key_file:
            key = _read_secret(self.private_key_file)
        # A variable often holds the lines of a key with \n between them.
        key = key.replace("\\n", "\n").strip()
        if not key.startswith("-----BEGIN "):
            raise UsageError(
                "the App's private key is missing" if not key else "the private key is no PEM text",
                remedy="set private_key_file to the .pem file of the App's settings page",
            )
        return f"{key}\n"

    def read_webhook_secrets(self) -> tuple[str, ...]:
        """The secrets that hold, at least one. Raises UsageError where there is none."""
        named = [one.get_secret_value() for one in self.webhook_secrets]
        found = [*named, *map(_read_secret, self.webhook_secret_files)]
        if not found or not all(found):
            raise UsageError(
                "the webhook's secret is missing or empty",
                remedy="set webhook_secret_files to a file with the secret of the App's webhook",
            )
        return tuple(found)

    def read_queue(self) -> str:
        """The path or the address of the queue; an address may hold a password."""
        return _read_secret(self.queue_address_file) if self.queue_address_file else self.queue


def _read_secret(path: Path) -> str:
    data = read_bytes(path, _MAX_SECRET_BYTES, "write the secret into it")
    return data.decode("utf-8", "replace").strip()


def read_settings(file: Path | None, environ: Mapping[str, str]) -> ServerSettings:
    """The settings of a file, each of which a variable `ROUTING_BOT_<NAME>` replaces.

    Paths in a file are relative to its folder. Raises DocumentError that names file, line and
    field, and UsageError that names a variable; neither shows a value.
    """
    text = read_bytes(file, _MAX_BYTES, f"name a file with --config; {GUIDE}") if file else b""
    values = parse_toml(text, str(file), GUIDE)
    for name in ServerSettings.model_fields:
        values[name] = _from_folder(file, name, values[name]) if name in values else None
        values[name] = environ.get(f"{PREFIX}{name.upper()}") or values[name]
    given = {name: value for name, value in values.items() if value is not None}
    try:
        return ServerSettings.model_validate(given)
    except ValidationError as error:
        raise _explain(error, file, text, environ) from None


def _from_folder(file: Path | None, name: str, value: Any) -> Any:  # noqa: ANN401 - any TOML
    """Paths of a file as they are from here; what has another form is left to the model."""
    folder = file.parent if file else Path()
    if name.endswith("_file") and isinstance(value, str):
        return str(folder / value)
    if name.endswith("_files") and isinstance(value, list):
        return [str(folder / one) if isinstance(one, str) else one for one in value]
    is_path = name == "queue" and isinstance(value, str) and "://" not in value
    return str(folder / value) if is_path else value


def _explain(
    error: ValidationError, file: Path | None, text: bytes, environ: Mapping[str, str]
) -> Exception:
    kind, cause, where, _ = find_fault(error)
    name = str(where[0]) if where else ""
    variable = f"{PREFIX}{name.upper()}"
    remedy = GUIDE
    if kind == "extra_forbidden":
        remedy = suggest(name, ServerSettings.model_fields, GUIDE)
    if file is None or environ.get(variable):
        return UsageError(f"{variable}: {cause}", remedy=remedy)
    return DocumentError(
        cause, file=str(file), line=find_line(text.decode(), name), field=name, remedy=remedy
    )


def find_line(text: str, name: str) -> int | None:
    """The line of a TOML file that sets a plain key; None where there is none."""
    found = re.search(rf"^[ \t]*\"?{re.escape(name)}\"?[ \t]*=", text, re.MULTILINE)
    return text.count("\n", 0, found.start()) + 1 if found else None
