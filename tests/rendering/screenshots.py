"""Saves a picture of every sample comment, rendered as GitHub shows it.

usage: python -m tests.rendering.screenshots FOLDER

Needs `chromium` on PATH (Debian: apt-get install chromium fonts-noto-color-emoji
fonts-dejavu-core).
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.rendering.oracle import Oracle
from tests.rendering.samples import sample_bodies

_WIDTH = 880
_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--hide-scrollbars",
)  # fmt: skip
_PAGE = """<!doctype html><meta charset="utf-8"><style>{css}</style>
<body style="margin:0"><div style="padding:16px 24px" class="markdown-body">{html}</div>"""


def main(arguments: list[str]) -> int:
    """Write NAME.png, and NAME-open.png with all folds open, for each sample."""
    folder = Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    with Oracle() as oracle:
        css = (oracle.packages / "github-markdown-css" / "github-markdown-light.css").read_text()
        for name, body in sample_bodies().items():
            html = oracle.judge(body).html
            opened = html.replace("<details>", "<details open>")
            for suffix, shown in (("", html), ("-open", opened)):
                if suffix and opened == html:
                    continue
                _shoot(_PAGE.format(css=css, html=shown), folder / f"{name}{suffix}.png")
    return 0


def _shoot(page: str, picture: Path) -> None:
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("chromium is missing: apt-get install chromium")
    height = 4000 if picture.stem.endswith("-open") else 1100
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "page.html"
        file.write_text(page, encoding="utf-8")
        command = [chromium, *_FLAGS, f"--user-data-dir={scratch}/profile"]
        command += [f"--window-size={_WIDTH},{height}", f"--screenshot={picture}", file.as_uri()]
        subprocess.run(command, check=True, capture_output=True, timeout=120)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
