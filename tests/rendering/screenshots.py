"""Saves pictures of every sample comment, as GitHub shows it on a phone, a tablet and a desk.

usage: python -m tests.rendering.screenshots FOLDER [SAMPLE ...]

Needs Chromium (Debian: apt-get install chromium fonts-liberation fonts-noto-color-emoji
fonts-dejavu-core).
"""

from __future__ import annotations

import itertools
import sys
import tempfile
from pathlib import Path

from routing_action.report.check import build_check
from tests.browser.chromium import start_browser
from tests.rendering.oracle import Oracle
from tests.rendering.pages import SCHEMES, WIDTHS, show_comment
from tests.rendering.samples import PLACE, red, sample_bodies


def main(arguments: list[str]) -> int:
    """Write NAME-WIDTH-SCHEME.png for each sample, and for a check run."""
    folder, *names = arguments
    kept = Path(folder)
    kept.mkdir(parents=True, exist_ok=True)
    check = build_check(red(), PLACE)
    bodies = {**sample_bodies(), "check-run": f"## {check.title}\n\n{check.summary}\n{check.text}"}
    chosen = {name: bodies[name] for name in names or bodies}
    with Oracle() as oracle, start_browser() as browser, tempfile.TemporaryDirectory() as scratch:
        for name, width, scheme in itertools.product(chosen, WIDTHS, SCHEMES):
            with show_comment(oracle, browser, Path(scratch), chosen[name], width, scheme) as page:
                page.screenshot(path=kept / f"{name}-{width}-{scheme}.png", full_page=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
