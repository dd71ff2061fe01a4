"""Serves GitHub's stand-ins on loopback: the API, and the artifacts of workflow runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from aiohttp import web

from tests.e2e.results_service import ResultsService
from tests.fakes.github.repository import Repository
from tests.fakes.github.server import serve as serve_repository

_RUNS = "/repos/octo/demo/actions/runs/{run_id}/artifacts"
_ZIP = "/repos/octo/demo/actions/artifacts/{id}/zip"


@dataclass
class GitHub:
    """Both stand-ins, and their address."""

    repository: Repository = field(default_factory=Repository)
    results: ResultsService = field(default_factory=ResultsService)
    url: str = ""

    def routes(self) -> list[web.RouteDef]:
        """What is asked for beside the API that posts: by actions, and by download-artifact."""
        listing = web.get(_RUNS, self._list_artifacts)
        return [*self.results.routes(), listing, web.get(_ZIP, self._artifact)]

    async def _list_artifacts(self, request: web.Request) -> web.Response:
        """Another run's artifacts, for a token of this repository alone."""
        token = request.headers.get("Authorization", "").rpartition(" ")[2]
        if self.repository.tokens[token].rights.get("actions") != "read":
            return web.json_response(
                {"message": "Resource not accessible by integration"}, status=403
            )
        run_id = request.match_info["run_id"]
        name = request.query.get("name")
        listed = [
            {
                "id": one.id,
                "name": one.name,
                "size_in_bytes": len(one.data),
                "created_at": "2026-01-01T00:00:00Z",
                "expired": False,
                "digest": one.digest,
            }
            for one in self.results.artifacts
            if one.run_id == run_id and one.is_final and name in (None, one.name)
        ]
        return web.json_response({"total_count": len(listed), "artifacts": listed})

    async def _artifact(self, request: web.Request) -> web.Response:
        where = f"{self.url}/blob/{request.match_info['id']}?sig=made-up"
        return web.Response(status=302, headers={"Location": where})


@contextmanager
def serve() -> Iterator[GitHub]:
    """A GitHub with an empty repository, for as long as the block lasts."""
    github = GitHub()
    with serve_repository(github.repository, github.routes()) as url:
        github.url = github.results.url = url
        yield github
