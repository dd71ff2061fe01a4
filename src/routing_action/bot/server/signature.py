"""Proves that a delivery comes from GitHub: the SHA-256 HMAC of its bytes, by a secret."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Sequence

_FORM = re.compile(r"sha256=(?P<hex>[0-9a-f]{64})")


class Signature:
    """What a header claims; sees the bytes of the body as they come.

    Several secrets hold while one replaces another. Source: GitHub's "Validating webhook
    deliveries".
    """

    def __init__(self, header: str, secrets: Sequence[str]) -> None:
        """`header` is X-Hub-Signature-256; without a secret nothing is proven."""
        form = _FORM.fullmatch(header)
        self._given = form["hex"] if form else ""
        self._sums = [hmac.new(one.encode(), digestmod=hashlib.sha256) for one in secrets if one]

    @property
    def is_claimed(self) -> bool:
        """False where the header cannot belong to any body."""
        return bool(self._given)

    def add(self, chunk: bytes) -> None:
        """The next bytes of the body."""
        for one in self._sums:
            one.update(chunk)

    def is_proven(self) -> bool:
        """True where the header belongs to all of the bytes; in constant time."""
        proven = [hmac.compare_digest(one.hexdigest(), self._given) for one in self._sums]
        return any(proven)
