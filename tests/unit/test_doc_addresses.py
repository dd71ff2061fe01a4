"""Messages name pages of the documentation that exist, and no path of this repository."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.unit.test_docs import DOCS, ROOT, anchors_of

PAGE = re.compile(r"(?:reference|how-to|explanation|tutorial)/[\w-]+\.md(?:#[\w-]+)?")


def texts_of(file: Path) -> Iterator[str]:
    """The texts of a module that may be shown: all but its docstrings."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    said = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
            yield node.value


def test_messages_name_pages_that_exist() -> None:
    """A reader who follows a message finds the page, and no user is sent to a file of ours."""
    texts = [text for file in (ROOT / "src").rglob("*.py") for text in texts_of(file)]
    assert not [text for text in texts if "docs/how-to" in text or "docs/reference" in text]
    pages = {page for text in texts for page in PAGE.findall(text)}
    assert pages
    for page in pages:
        name, _, anchor = page.partition("#")
        assert (DOCS / name).is_file(), page
        assert not anchor or anchor in anchors_of(DOCS / name), page
