"""Makes docs/images/comment.png: a red comment as GitHub shows it.

usage: python -m tests.rendering.readme_picture [FILE]

Needs Chromium (Debian: apt-get install chromium fonts-liberation fonts-noto-color-emoji
fonts-dejavu-core).
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.browser.chromium import open_page, start_browser
from tests.rendering.oracle import Oracle
from tests.support.command_line import ROOT
from tests.support.own_repository import NEWEST, OwnRepository

PICTURE = ROOT / "docs" / "images" / "comment.png"
_GREEDY = (
    "Finds tests that fail only sometimes and makes them steady. Use when the same test passes "
    "and fails without any change, or when commits of a version that goes out tomorrow changed it."
)
_WIDTH, _HEIGHT = 880, 758
_PAGE = """<!doctype html><meta charset="utf-8"><style>{css}
body {{ margin: 0 }} .markdown-body {{ padding: 16px 24px }}</style>
<div class="markdown-body">{html}</div>"""


def write_comment(folder: Path) -> str:
    """The comment of a pull request whose new description takes the prompt of another skill."""
    own = OwnRepository(folder)
    own.start("claude,codex,copilot")
    own.write(
        ".claude/skills/flaky-tests/SKILL.md",
        f"---\nname: flaky-tests\ndescription: {_GREEDY}\n---\n# flaky-tests\n",
    )
    own.shell(
        "git switch -qc wider-description",
        "git commit -qam 'Widen a description'",
        "routing-action run --agents claude,codex,copilot --skills .claude/skills || true",
        NEWEST,
        'routing-action compare --results "$BATCH/results.json" --merge-base-of main '
        '--output "$BATCH/delta.json" || true',
        'routing-action report --delta "$BATCH/delta.json" --results "$BATCH/results.json" '
        "--output-dir ../reports",
    )
    return (folder / "reports" / "comment.md").read_text("utf-8")


def take_picture(body: str, file: Path, scratch: Path) -> None:
    """What a reader sees of the comment without scrolling."""
    with Oracle() as oracle:
        css = oracle.packages / "github-markdown-css" / "github-markdown-light.css"
        html = _PAGE.format(css=css.read_text("utf-8"), html=oracle.judge(body).html)
    page = scratch / "page.html"
    page.write_text(html, encoding="utf-8")
    with (
        start_browser() as browser,
        open_page(browser, page, size=(_WIDTH, _HEIGHT)) as watched,
    ):
        watched.page.screenshot(path=file)


def main(arguments: list[str]) -> int:
    """Write the picture."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        take_picture(write_comment(folder), Path(arguments[0]) if arguments else PICTURE, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
