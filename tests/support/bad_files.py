"""What every reader of a file owes the person whose file is wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from routing_action.errors import DocumentError, ExitCode


def expect_refusal(
    read: Callable[[Path], object], path: Path, text: str, *, cause: str, remedy: str
) -> None:
    """Write the text and read it: exit code 2, the file's name, the cause, and a remedy."""
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DocumentError) as caught:
        read(path)
    assert caught.value.exit_code is ExitCode.USAGE
    assert str(caught.value).startswith(f"{path}:")
    assert cause in str(caught.value)
    assert remedy in caught.value.remedy
