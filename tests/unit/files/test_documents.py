"""What every kind of document says where it cannot be read at all."""

from __future__ import annotations

import pytest

from routing_action.errors import DocumentError
from routing_action.files.documents import decode_text, parse_toml


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_a_file_that_another_editor_saved_is_named_as_such(encoding: str) -> None:
    """UTF-16 is told apart from a stray byte."""
    data = "\ufeff".encode(encoding)[:2] + "[]".encode(encoding)
    with pytest.raises(DocumentError, match="f:1: UTF-16, not UTF-8 text"):
        decode_text(data, "f")


def test_a_byte_order_mark_is_no_fault() -> None:
    """Editors of Windows write one."""
    assert decode_text("\ufeff[]".encode(), "f") == "[]"


def test_a_merge_conflict_in_settings_is_named_as_such() -> None:
    """`routing.toml` says the same of a conflict as a case file does."""
    text = b"[providers]\n<<<<<<< HEAD\na = 1\n=======\na = 2\n>>>>>>> other\n"
    with pytest.raises(DocumentError, match=r"f:2: holds an unresolved merge conflict"):
        parse_toml(text, "f", "")
