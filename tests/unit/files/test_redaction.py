"""Secrets are taken out by value, in every form in which they are printed, and nothing else is."""

from __future__ import annotations

import base64
import json
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from routing_action.files.redaction import MASK, Redactor
from routing_action.files.secret_values import secret_values

TOKEN = 'ghp_Zz0/+<&>"é\\16'
PLAIN = "sk-ant-0123456789abcdef"
KEY = "-----BEGIN KEY-----\nMIIEpAIBAAKCAQEA7\nshort\nQ9x/Lk+0aaaaaaaaaaaa==\n-----END KEY-----\n"


@pytest.mark.parametrize(
    "form",
    [
        TOKEN,
        json.dumps(TOKEN)[1:-1],
        json.dumps(TOKEN, ensure_ascii=False)[1:-1],
        json.dumps(json.dumps(TOKEN))[1:-1].strip('\\"'),
        json.dumps(json.dumps({"a": TOKEN}, ensure_ascii=False)),
        json.dumps(TOKEN)[1:-1].replace("/", "\\/"),
        json.dumps(TOKEN, ensure_ascii=False)[1:-1]
        .replace("<", "\\u003c")
        .replace(">", "\\u003e")
        .replace("&", "\\u0026"),
        quote(TOKEN, safe=""),
        quote(TOKEN),
        quote_plus(TOKEN),
        quote(TOKEN, safe="").lower().replace("ghp_zz", "ghp_Zz"),
        base64.b64encode(TOKEN.encode()).decode(),
        base64.urlsafe_b64encode(TOKEN.encode()).decode(),
        base64.b64encode(TOKEN.encode()).decode().rstrip("="),
    ],
)
def test_every_form_of_a_value_is_redacted(form: str) -> None:
    """However a tool prints the secret, it does not reach the file."""
    redactor = Redactor([TOKEN])
    text = f'{{"out":"{form}"}} end'

    clean = redactor.text(text)

    assert MASK in clean
    assert "Zz0" not in clean
    assert clean.startswith('{"out":"')
    assert clean.endswith('"} end')
    assert redactor.data(text.encode()) == clean.encode()


@pytest.mark.parametrize("before", range(4))
@pytest.mark.parametrize("after", range(4))
def test_a_value_inside_an_encoded_header_is_redacted(before: int, after: int) -> None:
    """Basic authorization and the like encode the secret together with other words."""
    encoded = base64.b64encode(b"u" * before + PLAIN.encode() + b"\n" * after).decode()

    clean = Redactor([PLAIN]).text(f"Basic {encoded}")

    # At most the letters that the neighbours share are left on either side.
    left = clean.removeprefix("Basic ").replace(MASK, "").rstrip("=")
    assert MASK in clean
    assert len(left) <= 4 * 2 + 4


def test_the_lines_of_a_key_are_secrets_too() -> None:
    """A private key is often printed line by line, or cut in the middle."""
    redactor = Redactor([KEY])

    assert redactor.text(f"<{KEY}>") == f"<{MASK}>"
    assert redactor.text(json.dumps(KEY)) == f'"{MASK}"'
    assert redactor.text("x MIIEpAIBAAKCAQEA7 y") == f"x {MASK} y"
    assert redactor.text("short") == "short"


def test_a_value_is_found_without_the_blanks_around_it() -> None:
    """A secret that was pasted with its newline is used without it."""
    assert Redactor([PLAIN + "\n"]).text(f"key={PLAIN};") == f"key={MASK};"


def test_short_values_are_left_alone() -> None:
    """A value such as `1` or `true` would blot out ordinary text."""
    redactor = Redactor(["", "1", "true", "12345", "  abc  "])

    assert redactor.text("1 true 12345 abc") == "1 true 12345 abc"
    assert redactor.data(b"1 true") == b"1 true"


def test_without_secrets_nothing_changes() -> None:
    """The very same bytes come out, at once."""
    stream = Redactor().stream()
    chunk = b"a\xff\x00b"

    assert stream.feed(chunk) is chunk
    assert stream.flush() == b""


def test_the_longer_secret_goes_first() -> None:
    """A secret that begins like another one does not leave its tail."""
    redactor = Redactor(["abcdef", "abcdefgh"])

    assert redactor.text("abcdefgh abcdefg") == f"{MASK} {MASK}g"


def test_bytes_that_are_no_text_are_kept_and_do_not_hide_secrets() -> None:
    """Invalid UTF-8 and zero bytes pass through."""
    redactor = Redactor([PLAIN, "caf\udce9-secret"])

    assert redactor.data(b"\xff\0" + PLAIN.encode() + b"\xfe") == b"\xff\0[redacted]\xfe"
    assert redactor.data(b"caf\xe9-secret") == MASK.encode()


@pytest.mark.parametrize("value", ["\ud800 lone surrogate", "\udcff\udcfe raw bytes"])
def test_any_value_can_be_redacted(value: str) -> None:
    """No environment makes the redactor fail."""
    assert Redactor([value]).text(f"<{value}>") == f"<{MASK}>"


# --- streams --------------------------------------------------------------------------------------

# The shared machine is too noisy for a deadline.
patient = settings(deadline=None, max_examples=60)
SMALL = st.text(alphabet="ab\n/é", min_size=6, max_size=14)


@patient
@given(
    secrets=st.lists(SMALL, max_size=4),
    pieces=st.lists(st.one_of(st.binary(max_size=4), SMALL.map(str.encode)), max_size=12),
    cuts=st.lists(st.integers(0, 200), max_size=20),
    data=st.data(),
)
@example(["abcdef", "abcdefgh"], [b"abcdefg", b"abcdefgh"], [6, 7, 8, 9], None)
def test_any_chunking_gives_what_the_whole_gives(
    secrets: list[str], pieces: list[bytes], cuts: list[int], data: st.DataObject | None
) -> None:
    """It does not matter where the system cuts the stream."""
    if data is not None and secrets:
        pieces = [*pieces, *(data.draw(st.sampled_from(secrets)).encode() for _ in range(3))]
    whole = b"".join(pieces)
    redactor = Redactor(secrets)
    stream = redactor.stream()
    places = sorted({0, len(whole), *(cut for cut in cuts if cut < len(whole))})

    parts = [stream.feed(whole[a:b]) for a, b in pairwise(places)]

    assert b"".join(parts) + stream.flush() == redactor.data(whole)


@patient
@given(st.lists(SMALL, min_size=1, max_size=3), st.binary(max_size=60))
def test_byte_by_byte_gives_what_the_whole_gives(secrets: list[str], tail: bytes) -> None:
    """Not even single bytes let a secret through."""
    whole = secrets[0].encode()[:-1] + secrets[-1].encode() + tail
    redactor = Redactor(secrets)
    stream = redactor.stream()

    parts = [stream.feed(whole[index : index + 1]) for index in range(len(whole))]

    assert b"".join(parts) + stream.flush() == redactor.data(whole)


@patient
@given(st.lists(SMALL, max_size=3), st.text(alphabet="ab\n/é[]redct", max_size=80))
def test_text_and_bytes_agree(secrets: list[str], text: str) -> None:
    """The file and the report show the same."""
    redactor = Redactor(secrets)

    assert redactor.text(text).encode() == redactor.data(text.encode())


def test_a_complete_line_is_not_held_back() -> None:
    """Progress and early stops do not wait for the next output."""
    stream = Redactor([PLAIN, KEY]).stream()

    assert stream.feed(b"a line\n") == b"a line\n"
    assert stream.feed(b"half a li") == b"half a li"


def test_only_the_beginning_of_a_secret_is_held_back() -> None:
    """What may be a secret waits until it is known."""
    stream = Redactor([PLAIN]).stream()

    assert stream.feed(b"see sk-ant-01") == b"see "
    assert stream.feed(b"}") == b"sk-ant-01}"
    assert stream.feed(b"see " + PLAIN.encode()) == b"see [redacted]"
    assert stream.feed(b"sk-") == b""
    assert stream.flush() == b"sk-"
    assert stream.flush() == b""


def test_a_finished_secret_waits_where_a_longer_one_may_follow() -> None:
    """The longer secret is redacted as a whole, whatever the chunks."""
    stream = Redactor(["abcdef", "abcdefgh"]).stream()

    assert stream.feed(b"abcdef") == b""
    assert stream.feed(b"g") == b""
    assert stream.feed(b"h.") == b"[redacted]."


# --- which values ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "GITHUB_TOKEN",
        "ACTIONS_RUNTIME_TOKEN",
        "ACTIONS_ID_TOKEN_REQUEST_TOKEN",
        "ANTHROPIC_API_KEY",
        "AWS_SECRET_ACCESS_KEY",
        "DB_PASSWORD",
        "PGPASSWORD",
        "GH_PAT",
        "PAT",
        "SSH_PASSPHRASE",
        "GOOGLE_CREDENTIALS",
        "MY_AUTH",
        "DEPLOY_KEYS",
        "TOKEN_2",
        "npm_config__authToken",
        "clientSecret",
        "OPENAI_APIKEY",
        "MYSQL_PASSWD",
    ],
)
def test_variables_that_look_secret_are_found(name: str) -> None:
    """The usual names need not be listed by hand."""
    assert secret_values({name: "v4lue-of-it"}) == ("v4lue-of-it",)


@pytest.mark.parametrize(
    "name",
    ["PATH", "KEYBOARD", "AUTHOR", "MONKEY", "TOKENIZERS_PARALLELISM", "PATTERN", "AUTH_TYPE", "X"],
)
def test_other_variables_are_not(name: str) -> None:
    """A part of a word does not make a secret, and a description of one is none."""
    assert secret_values({name: "v4lue-of-it"}) == ()


def test_named_variables_count_whatever_their_name() -> None:
    """The credentials of a provider are known by name."""
    assert secret_values({"CLAUDE_LOGIN": "v4lue-of-it"}, ["CLAUDE_LOGIN"]) == ("v4lue-of-it",)


@pytest.mark.parametrize("value", ["", "true", "FALSE", "12345", "   1   "])
def test_trivial_values_are_left_out(value: str) -> None:
    """Booleans and short numbers would blot out the transcript."""
    assert secret_values({"MY_TOKEN": value}) == ()


def test_a_path_that_exists_is_no_secret(tmp_path: Path) -> None:
    """The evidence is made of paths; the secret is in the file."""
    environ = {"SSH_AUTH_SOCK": str(tmp_path), "API_KEY": "/not+a/path="}

    assert secret_values(environ) == ("/not+a/path=",)


def test_each_value_is_given_once_and_in_order() -> None:
    """The same token under two names is one secret."""
    environ = {"B_TOKEN": "zzzzzz", "A_TOKEN": "aaaaaa", "C_TOKEN": "zzzzzz"}

    assert secret_values(environ) == ("aaaaaa", "zzzzzz")
