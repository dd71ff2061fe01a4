"""Finds the values that must not be written: in variables, login files and configurations.

It reads no environment by itself. A value is taken for its name, its place (a header, an address)
or its shape; what evidence needs (models, addresses, dates, paths) is left alone.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote

from routing_action.files.plain_files import read_head
from routing_action.files.redaction import MINIMUM_LENGTH

_SECRET_WORDS = frozenset("KEY PAT AUTH".split())
_SECRET_ENDINGS = (
    *("TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "APIKEY"),
    *("COOKIE", "BEARER"),
)
# Words that name a secret in a login file, and other things in the environment.
_LOGIN_WORDS = frozenset("ACCESS REFRESH SESSION JWT SIG SIGNATURE PASS".split())
# What a variable of such a name holds when its last word is one of these is no secret.
_DESCRIBING_WORDS = frozenset(
    "TYPE METHOD MODE NAME DIR SOCK PROVIDER ALGORITHM ENABLED ENDPOINT URL URI SCOPE SCOPES"
    " EXPIRES EXPIRY AT IN FILE PATH HELPER COUNT LIMIT".split()
)
_COUNTING_WORDS = frozenset("MAX MIN LIMIT BUDGET".split())
_PLAIN_HEADERS = frozenset(
    "accept content-type user-agent anthropic-beta anthropic-version openai-beta".split()
)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s\"'<>\\]+")
_USER = re.compile(r"^[^/?#]*?//([^/?#]*)@")
_QUERY = re.compile(r"[?&;]([^=&;#]+)=([^&;#]+)")
_BARE_PROXY = re.compile(r"[^\s/:@]+:([^\s/@]+)@")
_HEADER = re.compile(r"^\s*([A-Za-z0-9!#$%&'*+.^_`|~-]+):[ \t]*(\S.*?)\s*$", re.MULTILINE)
_SCHEME = re.compile(r"(?:basic|bearer|token|negotiate|apikey)[ \t]+(\S+)", re.IGNORECASE)
_SETTING = re.compile(
    r"([A-Za-z_][\w.-]*)[\"']?[ \t]*[=:][ \t]*(\"(?:\\.|[^\"\\\n])*\"|'[^'\n]*'|[^\s,;\"']+)"
)
_COOKIE = re.compile(r"[^=;\s]+=([^;\s]+)")
_NETRC = re.compile(r"\b(?:password|passwd|account)\s+(\S+)")
_RUN = re.compile(r"[^\s\"'`,;:=<>(){}\[\]|]+")
_WORDS = re.compile(
    r"[a-z]+(?:[ ._/-][a-z]+)*|[\d.:,+TZ -]+|\$\{?\w+\}?|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
    r"|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+"
)
"""Words, numbers and dates, variables and their names, mail addresses."""
_VERSIONED = re.compile(
    r"[A-Za-z][a-z]+(?:[-.][a-z]+)*[-.]?v?\d{1,2}[a-z]?(?:[-.]\d{1,2}|[-.][a-z]+)*(?:-\d{8})?"
)
"""Names with a version, as models have."""

_SHORTEST_RANDOM = 16
_LONGEST_TEXT = 1 << 20


def secret_values(environ: Mapping[str, str], names: Iterable[str] = ()) -> tuple[str, ...]:
    """The values to redact: of the named variables, and of those whose name looks secret.

    A name looks secret if one of its words (parts between `_` and other signs, or in camelCase;
    plurals count) is KEY, PAT or AUTH, or ends in TOKEN, SECRET, PASSWORD, PASSWD, PASSPHRASE,
    CREDENTIAL, APIKEY, COOKIE or BEARER: `GITHUB_TOKEN`, `PGPASSWORD`,
    `npm_config__authToken`, but not `PATH`, `KEYBOARD` or `TOKENIZERS_PARALLELISM`. A last word
    such as TYPE, MODE or NAME says that the value only describes a secret
    (`AUTH_TYPE=oauth-personal`), unless the variable is named.

    Of every other variable the credentials inside count: of an address (before `@`, and after `?`
    by the same names), and of headers (`..._HEADERS`).

    Left out are values that say nothing or that the evidence needs: of fewer than 6 characters
    (so booleans and short numbers), and absolute paths that exist (`SSH_AUTH_SOCK`,
    `GOOGLE_APPLICATION_CREDENTIALS`): the secret is in the file, and a path of the workspace
    must stay readable. Each value once, sorted.
    """
    named = set(names)
    found: set[str] = set()
    for name, value in environ.items():
        if name in named or _looks_secret(name):
            found.add(value)
        found |= set(_inside(name, value))
    return tuple(sorted(value for value in found if not _is_trivial(value)))


def secrets_in(text: str) -> tuple[str, ...]:
    """The secrets of a login file or a configuration, whatever its form, sorted.

    JSON is read as such; anything else by its lines (TOML, YAML, INI, dotenv, netrc), its
    addresses, and its words that look random.
    """
    try:
        found = set(_in_document(json.loads(text), ""))
    except (ValueError, RecursionError):
        found = set(_in_lines(text))
    return tuple(sorted(value for value in found if not _is_trivial(value)))


def read_secrets(path: Path, *, random_alone: bool = False) -> tuple[str, ...]:
    """The secrets of a file, none where it cannot be read; of an agent's own what looks random.

    An agent could write a word of the evidence into its login file, to have it taken out.
    """
    with suppress(OSError, RuntimeError, ValueError):
        path = path if random_alone else path.resolve()
        text = read_head(path, _LONGEST_TEXT).decode("utf-8", "surrogateescape")
        return tuple(sorted(set(_random_words(text)))) if random_alone else secrets_in(text)
    return ()


def address_secrets(text: str) -> Iterator[str]:
    """What the addresses in a text carry before `@` and, under a secret's name, after `?`."""
    for address in _ADDRESS.findall(text):
        if user := _USER.match(address):
            name, _, password = user[1].partition(":")
            for secret in (password, "" if _is_word(name) else name):
                yield from (secret, unquote(secret))
        for name, value in _QUERY.findall(address):
            if _looks_secret(name, _LOGIN_WORDS | {"CODE"}):
                yield from (value, unquote(value))


def header_secrets(text: str) -> Iterator[str]:
    """The values of headers, one a line; of `Basic` and `Bearer` what follows, also decoded."""
    for name, value in _HEADER.findall(text):
        if name.lower() not in _PLAIN_HEADERS:
            yield from _header_value(value)
        if _looks_secret(name, _LOGIN_WORDS | {"API"}):
            yield value


def _header_value(value: str) -> Iterator[str]:
    for part in (value, *_COOKIE.findall(value)):
        if not _is_word(part):
            yield part
    scheme = _SCHEME.fullmatch(value)
    if not scheme:
        return
    yield scheme[1]
    try:
        decoded = base64.b64decode(scheme[1], validate=True).decode()
    except (binascii.Error, ValueError):
        return
    yield decoded.partition(":")[2]


def _inside(name: str, value: str) -> Iterator[str]:
    yield from address_secrets(value)
    upper = name.upper()
    if upper.endswith(("HEADER", "HEADERS")):
        yield from header_secrets(value)
        yield from _pairs_of_headers(value)
    if "COOKIE" in upper:
        yield from _header_value(value)
    if upper.endswith("_PROXY"):
        yield from _BARE_PROXY.findall(value)


def _pairs_of_headers(value: str) -> Iterator[str]:
    """Headers as JSON, or as `name=value` with commas between (OpenTelemetry)."""
    try:
        document = json.loads(value)
    except (ValueError, RecursionError):
        for part in value.split(","):
            if "=" in part and "\n" not in value:
                yield from _header_value(unquote(part.partition("=")[2].strip()))
        return
    for one in document.values() if isinstance(document, dict) else ():
        if isinstance(one, str):
            yield from _header_value(one)


def _in_document(value: object, name: str) -> Iterator[str]:
    """The secrets of a JSON value; those of a list bear the list's name."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _random_words(str(key))
            yield from _in_document(item, str(key))
    elif isinstance(value, list):
        for item in value:
            yield from _in_document(item, name)
    elif isinstance(value, str):
        yield from _of_setting(name, value)


def _in_lines(text: str) -> Iterator[str]:
    yield from address_secrets(text)
    yield from header_secrets("\n".join(re.findall(r"(?i)\bauthorization:.*", text)))
    yield from _NETRC.findall(text)
    for name, value in _SETTING.findall(text):
        yield from _of_setting(name, value[1:-1] if value[0] in "'\"" else value)
    yield from _random_words(text)
    whole = text.strip()
    if len(whole.split()) == 1 and not _is_word(whole):
        yield whole


def _of_setting(name: str, value: str) -> Iterator[str]:
    """The secrets in one value, which is one itself where its name says so and it is no word."""
    yield from address_secrets(value)
    yield from _header_value(value) if _SCHEME.fullmatch(value) else ()
    is_plain = "://" in value or value.startswith("$")
    is_secret = _looks_secret(name, _LOGIN_WORDS)
    is_key = name.lower().endswith(("key", "auth", "pat"))
    is_named = _WORDS.fullmatch(value) or (is_key and _VERSIONED.fullmatch(value))
    if is_secret and not is_plain and (_is_strong(name) or not is_named):
        yield value
    else:
        yield from _random_words(value)


def _random_words(text: str) -> Iterator[str]:
    """Words that look random: of 16 or more letters and digits without a sign between them."""
    for word in _RUN.findall(text):
        if "://" not in word and any(map(_is_random, re.split(r"[-_./+@~%]", word))):
            yield word


def _is_random(part: str) -> bool:
    if len(part) < _SHORTEST_RANDOM:
        return False
    digits, lower, upper = (
        sum(map(kind, part)) for kind in (str.isdigit, str.islower, str.isupper)
    )
    return (digits >= 2 and lower + upper >= 3) or min(lower, upper) >= 0.3 * len(part)


def _is_strong(name: str) -> bool:
    words = [word.upper() for word in _WORD.findall(name)]
    return bool(words) and words[-1].endswith(_SECRET_ENDINGS)


def _looks_secret(name: str, more: frozenset[str] = frozenset()) -> bool:
    words = [word.upper() for word in _WORD.findall(name)]
    if not words or words[-1] in _DESCRIBING_WORDS or not _COUNTING_WORDS.isdisjoint(words):
        return False
    singular = [word.removesuffix("S") for word in words]
    marks = _SECRET_WORDS | more
    return any(word in marks or word.endswith(_SECRET_ENDINGS) for word in (*singular, *words))


def _is_word(value: str) -> bool:
    return bool(_WORDS.fullmatch(value) or _VERSIONED.fullmatch(value))


def _is_trivial(value: str) -> bool:
    if len(value.strip()) < MINIMUM_LENGTH:
        return True
    # Path.exists raises for a name that is too long.
    return value.startswith("/") and "\0" not in value and os.path.exists(value)  # noqa: PTH110
