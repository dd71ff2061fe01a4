"""The forms in which a value is printed: as it is, quoted, and encoded by a shell command.

Two kinds: `exact_forms` stand in the bytes as they are; `folded_forms` are looked for in the view
that `fold_bytes` gives, in which case, blanks, punctuation and line breaks are gone.
"""

from __future__ import annotations

import base64
import codecs
import html
import json
import re
from collections.abc import Callable, Iterator
from urllib.parse import quote, quote_plus

SHORTEST_FOLDED = 8

_BARRIER = b"}"  # stays in the view, so that nothing runs from one JSON record into the next
# The letter n goes too, so that the commonest escape, `\n`, needs no decoding: every byte that is
# left out now and then costs time.
_LEFT_OUT = b"nN"
_KEPT = (
    bytes(byte for byte in range(128) if chr(byte).isalnum() and byte not in _LEFT_OUT) + _BARRIER
)
_LOWER = bytes(range(256)).lower()
_DELETED = bytes(set(range(256)) - set(_KEPT))
_BLANKED = bytes(_LOWER[byte] if byte in _KEPT else 0x20 for byte in range(256))


def fold_bytes(data: bytes) -> bytes:
    """The view: ASCII letters in lower case and digits alone (and `}`)."""
    return data.translate(_LOWER, _DELETED)


def blank_bytes(data: bytes) -> bytes:
    """The same at its places: a blank for each byte that the view leaves out."""
    return data.translate(_BLANKED)


def exact_forms(value: str) -> set[bytes]:
    """The value as it is, in a JSON string (also twice), quoted for a URL, and for HTML."""
    page = html.escape(value)
    pages = {page, page.replace("&quot;", "&#34;").replace("&#x27;", "&#39;")}
    quoted = {*_json_forms(value), *_url_forms(value), *pages}
    forms = {value, *quoted}
    return {encode(form) for form in forms} | {
        form.encode("utf-8", "surrogatepass") for form in forms
    }


def plain_forms(value: str) -> set[bytes]:
    """The value in the view, whatever its case, and what stands between its letters."""
    folded = (fold_bytes(form) for form in exact_forms(value))
    # Digits alone would be taken for a time or a count.
    return {form for form in folded if len(form) >= SHORTEST_FOLDED and not form.isdigit()}


def folded_forms(value: str) -> set[bytes]:
    """All forms of the value in the view: plain, reversed, and encoded."""
    turned = plain_forms(value[::-1]) | plain_forms(codecs.encode(value, "rot13"))
    made = {fold_bytes(form) for form in _encoded(encode(value))}
    return plain_forms(value) | turned | {form for form in made if len(form) >= SHORTEST_FOLDED}


def _encoded(data: bytes) -> Iterator[bytes]:
    for form in ("{:02x}", "x{:02x}", "0x{:02x}", "u00{:02x}", "{:03o}", "{}", "{:03}", "{:08b}"):
        yield "".join(map(form.format, data)).encode()
    for start in (0, 1):  # words of two bytes, as od and hexdump print them
        words = [data[at] | data[at + 1] << 8 for at in range(start, len(data) - 1, 2)]
        for form in ("{:04x}", "{:06o}"):
            yield "".join(map(form.format, words)).encode()
    yield from _grouped(data, base64.b64encode, 3, 6)
    yield from _grouped(data, base64.b32encode, 5, 5)


def _grouped(
    data: bytes, transcode: Callable[[bytes], bytes], size: int, bits: int
) -> Iterator[bytes]:
    """In base64 or base32, wherever in a group the value begins.

    The letters that it shares with what stands before and after it are left out.
    """
    for before in range(size):
        letters = transcode(b"\0" * before + data)
        first = -(-8 * before // bits)
        yield letters[first : 8 * (before + len(data)) // bits]


def _json_forms(value: str) -> set[str]:
    """The value inside a JSON string, and that again inside a JSON string."""
    once = _escape(value)
    return once | {twice for form in once for twice in _escape(form)}


def _escape(value: str) -> set[str]:
    forms = {json.dumps(value, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False)}
    forms |= {form.replace("/", "\\/") for form in forms}
    # Go escapes these for HTML (encoding/json, HTMLEscape).
    escapes = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}
    return forms | {"".join(escapes.get(char, char) for char in form) for form in forms}


def _url_forms(value: str) -> set[str]:
    """As Python, JavaScript's encodeURIComponent, and form encoding quote it."""
    data = encode(value)
    forms = {quote(data, safe=safe) for safe in ("", "/", "!'()*")} | {quote_plus(data)}
    return forms | {re.sub("%..", lambda code: code[0].lower(), form) for form in forms}


def encode(value: str) -> bytes:
    """UTF-8; bytes that were not (os.environ keeps them as surrogates) become what they were."""
    try:
        return value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return value.encode("utf-8", "surrogatepass")
