"""What is published of a delta on GitHub, as values: rendered by reports, posted by the action."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote

Level = Literal["notice", "warning", "failure"]


@dataclass(frozen=True, slots=True)
class Annotation:
    """A remark on lines of a file (counted from 1); plain text, which GitHub shows as it is."""

    path: str
    start_line: int
    end_line: int
    level: Level
    title: str
    message: str
    raw_details: str = ""


@dataclass(frozen=True, slots=True)
class CheckOutput:
    """A completed check run: `conclusion` is GitHub's word, `summary` and `text` are markdown."""

    name: str
    conclusion: Literal["success", "failure", "neutral"]
    title: str
    summary: str
    text: str
    annotations: tuple[Annotation, ...] = ()


@dataclass(frozen=True, slots=True)
class RunLinks:
    """A workflow run and a commit; empty strings mean unknown, as for a run on a desk.

    `server_url` has no slash at its end, `repository` is `owner/name`, `sha` is the commit whose
    files links show (a pull request's head), `key` tells apart the comments and check runs of
    several gates in one repository, `report_url` leads to the artifact with the HTML report,
    `docs_url` to the folder of this project's documentation, without a slash at its end. `results`
    is where the results of no run are, as options of `baseline update` behind its first `--from`.
    """

    server_url: str = ""
    repository: str = ""
    sha: str = ""
    run_id: str = ""
    run_attempt: int = 1
    run_number: int = 0
    key: str = "routing"
    report_url: str = ""
    docs_url: str = ""
    results: str = ""

    @property
    def run_url(self) -> str:
        """The page of the workflow run and attempt; empty where unknown."""
        if not (self._base and self.run_id):
            return ""
        return f"{self._base}/actions/runs/{_quote(self.run_id)}/attempts/{self.run_attempt}"

    def commit_url(self, sha: str) -> str:
        """The page of a commit; empty where the repository is unknown."""
        return f"{self._base}/commit/{_quote(sha)}" if self._base and sha else ""

    def file_url(self, path: str, line: int | None = None) -> str:
        """A file at the commit, and one of its lines; empty where unknown.

        `path` is relative to the repository's top, with `/` between its parts.
        """
        if not (self._base and self.sha and path) or path.startswith("/"):
            return ""
        anchor = f"#L{line}" if line else ""
        return f"{self._base}/blob/{_quote(self.sha)}/{_quote(path)}{anchor}"

    def docs_page(self, page: str) -> str:
        """A page such as `reference/delta-words.md#new`; empty where its folder is unknown."""
        return f"{self.docs_url}/{page}" if self.docs_url else ""

    @property
    def _base(self) -> str:
        if not (self.server_url and self.repository):
            return ""
        return f"{self.server_url}/{_quote(self.repository)}"


def _quote(part: str) -> str:
    """A part of an address; a lone surrogate, which JSON can hold, becomes a question mark."""
    return quote(part, errors="replace")
