"""Serves GitHub's stand-ins on loopback: the API, and the artifacts of workflow runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.e2e.results_service import Artifact, ResultsService
from tests.fakes.github.artifacts import Upload
from tests.fakes.github.repository import Repository
from tests.fakes.github.server import serve as serve_repository


@dataclass
class GitHub:
    """Both stand-ins and their address; `head` is the commit that runs are of."""

    repository: Repository = field(default_factory=Repository)
    results: ResultsService = field(default_factory=ResultsService)
    url: str = ""
    head: str = "a" * 40

    def keep(self, artifact: Artifact) -> None:
        """Show what was uploaded to whoever asks the API for another run's artifacts."""
        upload = Upload(artifact.id, artifact.name, artifact.data, int(artifact.run_id), self.head)
        self.repository.storage.add(upload)


@contextmanager
def serve() -> Iterator[GitHub]:
    """A GitHub with an empty repository, for as long as the block lasts."""
    github = GitHub()
    github.results.on_final = github.keep
    storage = github.repository.storage
    with (
        serve_repository(Repository(), storage.routes()) as storage.url,
        serve_repository(github.repository, github.results.routes()) as url,
    ):
        github.url = github.results.url = url
        yield github
