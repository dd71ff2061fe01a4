"""Takes secrets out of what is stored: by their value, in the forms in which values are printed.

Knows no provider and reads no environment; a value that it was not given stays.
"""

from __future__ import annotations

from collections.abc import Iterable

from routing_action.files.encodings import exact_forms, folded_forms, plain_forms
from routing_action.files.matching import ExactForms, FoldedForms

MASK = "[redacted]"
MINIMUM_LENGTH = 6
MINIMUM_LINE_LENGTH = 12

_MASK_BYTES = MASK.encode()


class Redactor:
    """Replaces each of the given values by `[redacted]`.

    A value is found as it is, JSON-escaped (once or twice), and quoted for a URL or HTML. If it has
    8 or more letters and digits, it is also found with other letters' case, with blanks, signs or
    line breaks between its letters, reversed, in rot13, in base64 and base32 (also in the middle of
    something encoded), in hex, octal, decimal or binary numbers, and in the rows of a dump. Of a
    value of several lines each line of 12 or more characters counts too. Values of fewer than 6
    characters are ignored: ordinary text would be lost. Longer forms go first.
    """

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._values: set[str] = set()
        self._exact, self._folded = ExactForms(()), FoldedForms(())
        self.learn(values)

    def learn(self, values: Iterable[str]) -> bool:
        """Redact these too from now on, also in streams that have begun; whether any was new."""
        new = {value for value in values if len(value.strip()) >= MINIMUM_LENGTH} - self._values
        if not new:
            return False
        self._values |= new
        wholes = {whole for value in self._values for whole in (value, value.strip())}
        lines = {line for value in self._values for line in _lines(value)}
        self._exact = ExactForms(form for one in wholes | lines for form in exact_forms(one))
        folded = {form for one in wholes for form in folded_forms(one)}
        self._folded = FoldedForms(folded.union(*map(plain_forms, lines)))
        return True

    def text(self, value: str) -> str:
        """The text without the secrets."""
        if not self._values:
            return value
        return self.data(value.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")

    def data(self, value: bytes) -> bytes:
        """The bytes (UTF-8) without the secrets; anything else in them is left as it is."""
        stream = self.stream()
        return stream.feed(value) + stream.flush()

    def stream(self) -> StreamRedactor:
        """A redactor for one stream that comes in chunks."""
        return StreamRedactor(self)

    def split(self, stage: int, data: bytes, *, is_last: bool) -> tuple[bytes, bytes]:
        """The redacted beginning that no later bytes can change, and the untouched rest."""
        spans, hold = (self._exact, self._folded)[stage].find(data, is_last=is_last)
        position = 0
        parts: list[bytes] = []
        for start, end in spans:
            parts += (data[position:start], _MASK_BYTES)
            position = end
        if not parts and hold == len(data):
            return data, b""
        parts.append(data[position:hold])
        return b"".join(parts), data[max(hold, position) :]


class StreamRedactor:
    """Redacts a stream: all that it returns, joined, is what `Redactor.data` makes of the whole.

    Only an end of the data that may be the beginning of a secret is held back, until the next
    bytes tell, or `flush`.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._held = [b"", b""]

    def feed(self, chunk: bytes) -> bytes:
        """Take the next bytes, and give those that are safe by now."""
        return self._pass(chunk, is_last=False)

    def flush(self) -> bytes:
        """The held back rest, as nothing more can complete it."""
        return self._pass(b"", is_last=True)

    def _pass(self, data: bytes, *, is_last: bool) -> bytes:
        for stage in (0, 1):
            whole = self._held[stage] + data if self._held[stage] else data
            data, self._held[stage] = self._redactor.split(stage, whole, is_last=is_last)
        return data


def _lines(value: str) -> list[str]:
    lines = [line.strip() for line in value.splitlines()]
    return [line for line in lines if len(lines) > 1 and len(line) >= MINIMUM_LINE_LENGTH]
