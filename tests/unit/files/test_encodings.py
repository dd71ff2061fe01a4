"""A secret is found in what one command of a shell makes of it, however the output is cut."""

from __future__ import annotations

import base64
import codecs
import html
import json
from collections.abc import Callable

import pytest

from routing_action.files.redaction import MASK, Redactor

SECRET = "oat01-Zq8vT1xkLm93bWcRpYd7"
DATA = SECRET.encode()


def wrap(text: str, width: int) -> str:
    """Lines of a width."""
    return "\n".join(text[at : at + width] for at in range(0, len(text), width))


def columns(fmt: str, data: bytes = DATA, size: int = 1) -> str:
    """Numbers in a format, with blanks between them; bytes or words of the little end first."""
    words = [int.from_bytes(data[at : at + size], "little") for at in range(0, len(data), size)]
    return " ".join(fmt.format(word) for word in words)


def dump(address: str, group: int, text: str, data: bytes = DATA, row: int = 16) -> str:
    """Rows as xxd (groups of 2) and hexdump -C (of 1) print them."""
    rows = []
    for at in range(0, len(data), row):
        part = data[at : at + row]
        cells = " ".join(part[i : i + group].hex() for i in range(0, len(part), group))
        rows.append(
            address.format(at) + cells.ljust(40 if group == 2 else 48) + text.format(part.decode())
        )
    return "\n".join(rows) + "\n"


FORMS: dict[str, str] = {
    "upper case": SECRET.upper(),
    "lower case": SECRET.lower(),
    "reversed": SECRET[::-1],
    "rot13": codecs.encode(SECRET, "rot13"),
    "a character a line": wrap(SECRET, 1),
    "a blank after each character": " ".join(SECRET),
    "dots between": ".".join(SECRET),
    "two halves": f"{SECRET[:11]}\n{SECRET[11:]}",
    "hex": DATA.hex(),
    "upper hex": DATA.hex().upper(),
    "hex with blanks": DATA.hex(" "),
    "hex with colons": DATA.hex(":"),
    "hex over lines": wrap(DATA.hex(), 20),
    "hex escapes": "".join(f"\\x{byte:02x}" for byte in DATA),
    "hex numbers": ", ".join(f"0x{byte:02x}" for byte in DATA),
    "json escapes": "".join(f"\\u{byte:04x}" for byte in DATA),
    "octal escapes": "".join(f"\\{byte:03o}" for byte in DATA),
    "octal columns": columns("{:03o}"),
    "decimal columns": columns("{:3d}"),
    "html numbers": "".join(f"&#{byte};" for byte in DATA),
    "html hex numbers": "".join(f"&#x{byte:x};" for byte in DATA),
    "binary columns": columns("{:08b}"),
    "words in hex": columns("{:04x}", size=2),
    "words in octal": columns("{:06o}", size=2),
    "shifted words": columns("{:04x}", b"=" + DATA + b"\n", size=2),
    "url": "".join(f"%{byte:02X}" for byte in DATA),
    "base64": base64.b64encode(DATA).decode(),
    "base64 over lines": wrap(base64.b64encode(DATA).decode(), 7),
    "base64, shifted by one": wrap(base64.b64encode(b"x" + DATA + b"\n").decode(), 8),
    "base64, shifted by two": wrap(base64.b64encode(b"xy" + DATA + b"\n").decode(), 5),
    "base64 for urls": base64.urlsafe_b64encode(b"??" + DATA).decode(),
    "base32": base64.b32encode(DATA).decode(),
    "base32 over lines": wrap(base64.b32encode(b"abc" + DATA + b"def").decode(), 9),
    "xxd": dump("{:08x}: ", 2, "  {}"),
    "xxd of more": dump("{:08x}: ", 2, "  {}", b"=" + DATA + b"!"),
    "hexdump -C": dump("{:08x}  ", 1, "  |{}|"),
    "xxd with 8 a row": dump("{:08x}: ", 2, "  {}", row=8),
    "od -c": "\n".join(
        f"{at:07o}   " + "   ".join(SECRET[at : at + 16]) for at in range(0, len(SECRET), 16)
    ),
    "od -tx1": "\n".join(
        f"{at:07o} " + DATA[at : at + 16].hex(" ") for at in range(0, len(SECRET), 16)
    ),
    "od -b": "\n".join(f"{at:07o} " + columns("{:03o}", DATA[at : at + 16]) for at in (0, 16)),
    "od": "\n".join(f"{at:07o} " + columns("{:06o}", DATA[at : at + 16], 2) for at in (0, 16)),
    "hexdump": "\n".join(f"{at:07x} " + columns("{:04x}", DATA[at : at + 16], 2) for at in (0, 16)),
}
INSIDE: dict[str, Callable[[str], str]] = {
    "as text": lambda text: f"so: {text}\ndone\n",
    "in JSON": lambda text: json.dumps({"out": f"{text}\n", "more": "done"}) + "\n",
    "in JSON in JSON": lambda text: json.dumps({"out": json.dumps({"text": text})}) + "\n",
}


def rest_of(clean: str) -> str:
    """The letters and digits that were left."""
    return "".join(char for char in clean.replace(MASK, "").replace("\\n", "") if char.isalnum())


@pytest.mark.parametrize("inside", INSIDE)
@pytest.mark.parametrize("form", FORMS)
def test_a_secret_is_found_in_what_a_shell_makes_of_it(form: str, inside: str) -> None:
    """Encoded, turned or torn apart: no long part of it is left, and JSON stays JSON."""
    text = INSIDE[inside](FORMS[form])
    clean = Redactor([SECRET]).text(text)
    assert MASK in clean
    left = rest_of(clean)
    whole = rest_of(FORMS[form])
    assert not any(whole[at : at + 12] in left for at in range(len(whole) - 11)), clean
    assert not any(SECRET[at : at + 6] in clean for at in range(len(SECRET) - 5)), clean
    assert ("done" in clean) == ("done" in text)
    if inside != "as text":
        json.loads(clean)


@pytest.mark.parametrize("form", FORMS)
def test_it_does_not_matter_where_the_encoded_secret_is_cut(form: str) -> None:
    """Each cut of the stream gives what the whole gives."""
    redactor = Redactor([SECRET, "another-Secret-0042"])
    for inside in INSIDE.values():
        whole = inside(FORMS[form]).encode()
        expected = redactor.data(whole)
        for cut in range(1, len(whole)):
            stream = redactor.stream()
            parts = [stream.feed(whole[:cut]), stream.feed(whole[cut:]), stream.flush()]
            assert b"".join(parts) == expected, (cut, whole)


@pytest.mark.parametrize(
    "text", [html.escape('a"b<c>&d-0123456'), "a&#34;b&lt;c&gt;&amp;d-0123456"]
)
def test_a_secret_with_signs_is_found_in_html(text: str) -> None:
    """As a page shows it."""
    assert "0123456" not in Redactor(['a"b<c>&d-0123456']).text(f"<b>{text}</b>")


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-28T20:26:11Z 12:34:56",
        '{"id": 20261128, "at": "2026-11-28"}',
        "claude-sonnet-4-5 loads the skill deploying",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    """Digits alone are no secret once blanks and signs do not count."""
    assert Redactor(["20261128", SECRET, "123456"]).text(text) in (
        text,
        text.replace("20261128", MASK),
    )


def test_a_record_does_not_wait_for_the_next_one() -> None:
    """What ends a JSON line is in no secret, so that early stops see each record at once."""
    stream = Redactor([SECRET, "d0-and-more-of-it"]).stream()
    record = b'{"type":"result","text":"d0 000010"}\n'
    assert stream.feed(record) == record


def test_a_value_that_is_torn_too_far_apart_is_left() -> None:
    """Nothing is held back for ever."""
    text = "      ".join(SECRET) + " " * 5000
    stream = Redactor([SECRET]).stream()
    far = (" " * 900).join(SECRET).encode()
    assert MASK in Redactor([SECRET]).text(text)
    assert len(stream.feed(far + b" " * 9000)) > 9000
    assert MASK.encode() not in Redactor([SECRET]).data(far)


def test_a_value_that_is_learned_later_counts_from_then_on() -> None:
    """A token that was renewed while a unit ran."""
    redactor = Redactor()
    stream = redactor.stream()
    assert stream.feed(DATA) == DATA
    assert redactor.learn([SECRET])
    assert not redactor.learn([SECRET, "tiny"])
    assert stream.feed(DATA) + stream.flush() == MASK.encode()
