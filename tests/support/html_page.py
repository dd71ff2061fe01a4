"""Reads an HTML report as text, for the tests: its elements, its data and its words."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path
from typing import Any

from routing_action.gate.model import Delta
from routing_action.github.publication import RunLinks
from routing_action.report.html.write import write_html
from routing_action.results.transcript_lines import UnitRecord
from tests.support.report_values import make_delta, make_entry, make_regression

PLACE = RunLinks(server_url="https://github.test", repository="octo/demo", sha="c" * 40,
                 run_id="7", run_number=12)  # fmt: skip
RED = make_delta(make_regression(), make_entry(), commit="b" * 40)


def render(
    delta: Delta = RED,
    *records: UnitRecord,
    place: RunLinks = PLACE,
    folder: Path | None = None,
    overrides: Path | None = None,
) -> str:
    """The report as a text; `folder` is where it would lie."""
    out = StringIO()
    write_html(out, delta, records, place, folder=folder, overrides=overrides)
    return out.getvalue()


class Page(HTMLParser):
    """The elements of a page, with the text of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.raw: list[tuple[str, str]] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag in {"script", "style"}:
            self.raw.append((dict(attrs).get("id") or tag, ""))

    def handle_data(self, data: str) -> None:
        if self.cdata_elem:
            name, text = self.raw[-1]
            self.raw[-1] = (name, text + data)
        else:
            self.words.append(data)

    def data(self, name: str) -> Any:  # noqa: ANN401 - JSON
        """What a script element of data holds."""
        return json.loads(dict(self.raw)[f"data-{name}"])

    @property
    def policy(self) -> str:
        """Its Content Security Policy."""
        (found,) = (a["content"] for _, a in self.elements if "http-equiv" in a)
        return found or ""
