"""What every page needs: values as JSON that is safe in a script element, and its policy.

Inside a script element only `<` can end or confuse the element; with `&`, `>` and the two line
separators escaped too, the text is also safe for tools that treat it as XML or JavaScript (HTML
Standard, 'Restrictions for contents of script elements').
"""

from __future__ import annotations

import base64
import hashlib
import json

import msgspec
from markupsafe import Markup

from routing_action.report.escape import printable

_ESCAPES = (
    (b"<", b"\\u003c"),
    (b">", b"\\u003e"),
    (b"&", b"\\u0026"),
    ("\u2028".encode(), b"\\u2028"),
    ("\u2029".encode(), b"\\u2029"),
)
_encode = msgspec.json.Encoder().encode


def to_script(value: object) -> Markup:
    """A value as JSON that is safe as the text of a script element."""
    data = to_json(value)
    for plain, escape in _ESCAPES:
        data = data.replace(plain, escape)
    return Markup(data.decode())  # noqa: S704 - escaped above


def to_json(value: object) -> bytes:
    """A value as JSON, whatever text and numbers are in it."""
    try:
        return _encode(value)
    except (UnicodeEncodeError, OverflowError):
        # Lone surrogates and integers beyond 64 bits: the standard library writes both.
        return json.dumps(msgspec.to_builtins(value)).encode()


def csp_hash(text: str) -> str:
    """The source expression that lets an inline script or style of this very text through.

    Source: Content Security Policy Level 3, section 2.3.1, 'hash-source'.
    """
    digest = hashlib.sha256(str(text).encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


FILTERS = {"printable": printable, "csp_hash": csp_hash}
"""The filters that the templates of pages have."""
