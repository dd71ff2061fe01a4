"""Takes secrets out of what is stored: by their value, in the forms in which values are printed.

Knows no provider and reads no environment by itself; a value that it was not given stays.
"""

from __future__ import annotations

import base64
import json
import os
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from urllib.parse import quote, quote_plus

MASK = "[redacted]"
MINIMUM_LENGTH = 6
MINIMUM_LINE_LENGTH = 12

_MASK_BYTES = MASK.encode()
_KEY_BYTES = 4

_SECRET_WORDS = frozenset("KEY PAT AUTH".split())
_SECRET_ENDINGS = ("TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "APIKEY")
# What a variable of such a name holds when its last word is one of these is no secret.
_DESCRIBING_WORDS = frozenset("TYPE METHOD MODE NAME DIR SOCK PROVIDER ALGORITHM ENABLED".split())
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


class Redactor:
    r"""Replaces each of the given values by `[redacted]`.

    A value is found as it is; JSON-escaped (once or twice, as transcripts hold JSON in JSON, with
    or without `\u` escapes for other letters, with `\/`, with `\u003c`); URL-quoted; and in
    base64 (also in the middle of something encoded, as in a Basic authorization header). Of a
    value of several lines each line of 12 or more characters counts too. Values of fewer than 6
    characters are ignored: ordinary text would be lost. Longer forms go first.
    """

    def __init__(self, values: Iterable[str] = ()) -> None:
        forms = sorted(
            {form for value in values for form in _forms(value)},
            key=lambda form: (-len(form), form),
        )
        encoded = sorted({_encode(form) for form in forms}, key=lambda form: (-len(form), form))
        self._text = re.compile("|".join(map(re.escape, forms))) if forms else None
        self._matcher = _Matcher(encoded) if encoded else None

    def text(self, value: str) -> str:
        """The text without the secrets."""
        return self._text.sub(MASK, value) if self._text else value

    def data(self, value: bytes) -> bytes:
        """The bytes (UTF-8) without the secrets; anything else in them is left as it is."""
        return self._matcher.redact(value) if self._matcher else value

    def stream(self) -> StreamRedactor:
        """A redactor for one stream that comes in chunks."""
        return StreamRedactor(self._matcher)


class StreamRedactor:
    """Redacts a stream: all that it returns, joined, is what `Redactor.data` makes of the whole.

    Only an end of the data that may be the beginning of a secret is held back, until the next
    bytes tell, or `flush`.
    """

    def __init__(self, matcher: _Matcher | None) -> None:
        self._matcher = matcher
        self._held = b""

    def feed(self, chunk: bytes) -> bytes:
        """Take the next bytes, and give those that are safe by now."""
        if self._matcher is None:
            return chunk
        safe, self._held = self._matcher.split(self._held + chunk)
        return safe

    def flush(self) -> bytes:
        """The held back rest, as nothing more can complete it."""
        held, self._held = self._held, b""
        return self._matcher.redact(held) if self._matcher else held


class _Matcher:
    """Finds any of some byte strings, given longest first."""

    def __init__(self, forms: list[bytes]) -> None:
        self._pattern = re.compile(b"|".join(map(re.escape, forms)))
        self._ordered = sorted(forms)
        self._longest = len(forms[0])
        keys = sorted({form[:_KEY_BYTES] for form in forms})
        self._beginning = re.compile(b"(?=" + b"|".join(map(re.escape, keys)) + b")")

    def redact(self, data: bytes) -> bytes:
        """The whole data without any of the strings."""
        return self._pattern.sub(_MASK_BYTES, data) if self._may_match(data) else data

    def split(self, data: bytes) -> tuple[bytes, bytes]:
        """The redacted beginning that no later bytes can change, and the untouched rest.

        The rest is the longest end of the data that is a proper beginning of one of the strings.
        A match that begins before it is final: if a longer string could still match at the same
        place, the rest would begin there.
        """
        position, hold = 0, self._hold(data, 0)
        parts: list[bytes] = []
        for match in self._pattern.finditer(data) if self._may_match(data) else ():
            if match.start() >= hold:
                break
            parts += (data[position : match.start()], _MASK_BYTES)
            position = match.end()
            if position > hold:
                hold = self._hold(data, position)
        parts.append(data[position:hold])
        return b"".join(parts), data[hold:]

    def _may_match(self, data: bytes) -> bool:
        """Plain searches first: they run ten times as fast as one pattern of many branches."""
        return any(form in data for form in self._ordered)

    def _hold(self, data: bytes, start: int) -> int:
        """Where the longest end begins that is a proper beginning of a string; else the length."""
        size = len(data)
        window = max(start, size - self._longest + 1)
        for position in self._possible(data, window):
            end = data[position:]
            index = bisect_left(self._ordered, end)
            # The strings that begin so stand next to each other; the end itself comes first.
            if index < len(self._ordered) and self._ordered[index] == end:
                index += 1
            if index < len(self._ordered) and self._ordered[index].startswith(end):
                return position
        return size

    def _possible(self, data: bytes, window: int) -> Iterator[int]:
        """Positions, in order, at which a string may begin; all of the last few."""
        last = max(window, len(data) - _KEY_BYTES + 1)
        for match in self._beginning.finditer(data, window):
            if match.start() >= last:
                break
            yield match.start()
        yield from range(last, len(data))


def secret_values(
    environ: Mapping[str, str],
    names: Iterable[str] = (),
    *,
    exists: Callable[[str], bool] = os.path.exists,
) -> tuple[str, ...]:
    """The values to redact: of the named variables, and of those whose name looks secret.

    A name looks secret if one of its words (parts between `_` and other signs, or in camelCase;
    plurals count) is KEY, PAT or AUTH, or ends in TOKEN, SECRET, PASSWORD, PASSWD, PASSPHRASE,
    CREDENTIAL or APIKEY: `GITHUB_TOKEN`, `ACTIONS_RUNTIME_TOKEN`, `PGPASSWORD`,
    `npm_config__authToken`, but not `PATH`, `KEYBOARD` or `TOKENIZERS_PARALLELISM`. A last word
    such as TYPE, MODE or NAME says that the value only describes a secret
    (`AUTH_TYPE=oauth-personal`), unless the variable is named.

    Left out are values that say nothing or that the evidence needs: of fewer than 6 characters
    (so booleans and short numbers), and absolute paths that exist (`SSH_AUTH_SOCK`,
    `GOOGLE_APPLICATION_CREDENTIALS`): the secret is in the file, and a path of the workspace
    must stay readable. Each value once, sorted.
    """
    named = set(names)
    return tuple(
        sorted(
            {
                value
                for name, value in environ.items()
                if (name in named or _looks_secret(name)) and not _is_trivial(value, exists)
            }
        )
    )


def _looks_secret(name: str) -> bool:
    words = [word.upper() for word in _WORD.findall(name)]
    if not words or words[-1] in _DESCRIBING_WORDS:
        return False
    singular = [word.removesuffix("S") for word in words]
    return any(word in _SECRET_WORDS or word.endswith(_SECRET_ENDINGS) for word in singular)


def _is_trivial(value: str, exists: Callable[[str], bool]) -> bool:
    if len(value.strip()) < MINIMUM_LENGTH:
        return True
    return value.startswith("/") and "\0" not in value and exists(value)


def _forms(value: str) -> set[str]:
    """All forms of a value; its lines, which are printed as text, in JSON's forms alone."""
    forms: set[str] = set()
    for whole in {value, value.strip()}:
        if len(whole) >= MINIMUM_LENGTH:
            forms |= {whole, *_json_forms(whole), *_url_forms(whole), *_base64_forms(whole)}
    lines = [line.strip() for line in value.splitlines()]
    for line in lines if len(lines) > 1 else ():
        if len(line) >= MINIMUM_LINE_LENGTH:
            forms |= {line, *_json_forms(line)}
    return forms


def _json_forms(value: str) -> set[str]:
    """The value inside a JSON string, and that again inside a JSON string."""
    once = _escape(value)
    return once | {twice for form in once for twice in _escape(form)}


def _escape(value: str) -> set[str]:
    forms = {json.dumps(value, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False)}
    forms |= {form.replace("/", "\\/") for form in forms}
    # Go escapes these for HTML (encoding/json, HTMLEscape).
    html = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}
    return forms | {"".join(html.get(char, char) for char in form) for form in forms}


def _url_forms(value: str) -> set[str]:
    """As Python, JavaScript's encodeURIComponent, and form encoding quote it."""
    data = _encode(value)
    forms = {quote(data, safe=safe) for safe in ("", "/", "!'()*")} | {quote_plus(data)}
    return forms | {re.sub("%..", lambda code: code[0].lower(), form) for form in forms}


def _base64_forms(value: str) -> set[str]:
    """In base64, in both alphabets: whole, and where other bytes stand before and after it.

    A base64 letter holds 6 bits, so a value can begin at three places of a group of letters; the
    letters that it shares with its neighbours are left out of the form.
    """
    data = _encode(value)
    forms: set[str] = set()
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        whole = encode(data).decode()
        forms |= {whole, whole.rstrip("=")}
        for before, shared in ((0, 0), (1, 2), (2, 3)):
            letters = encode(b"\0" * before + data).decode()
            end = len(letters.rstrip("=")) - (1 if letters.endswith("=") else 0)
            forms.add(letters[shared:end])
    return forms


def _encode(value: str) -> bytes:
    """UTF-8; bytes that were not (os.environ keeps them as surrogates) become what they were."""
    try:
        return value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return value.encode("utf-8", "surrogatepass")
