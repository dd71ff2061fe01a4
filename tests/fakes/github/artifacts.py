"""The artifacts of a repository: listed and redirected to by its API, served by another origin."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.fakes.github.description import Operation


@dataclass
class Upload:
    """An uploaded zip file; `digest` is told as it is where it is not None."""

    id: int
    name: str
    data: bytes
    run_id: int = 11
    sha: str = "a" * 40
    expired: bool = False
    digest: str | None = None

    def shown(self) -> dict[str, Any]:
        """As the API lists it."""
        sha256 = hashlib.sha256(self.data).hexdigest()
        return {
            "id": self.id,
            "name": self.name,
            "size_in_bytes": len(self.data),
            "expired": self.expired,
            "digest": f"sha256:{sha256}" if self.digest is None else self.digest,
            "workflow_run": {"id": self.run_id, "head_sha": self.sha},
        }


@dataclass
class Storage:
    """The other origin; `requests` are the headers of all that came there.

    `answers` are statuses given first, 0 breaks a download off; without one the data is sent,
    in pieces and with no Content-Length.
    """

    uploads: dict[int, Upload] = field(default_factory=dict)
    url: str = ""
    requests: list[Mapping[str, str]] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    _count: int = 0
    _signed: set[str] = field(default_factory=set)

    def add(self, *uploads: Upload) -> None:
        """Keep uploads; a name is unique in a run."""
        for one in uploads:
            same = [kept for kept in self.uploads.values() if kept.name == one.name]
            assert not any(kept.run_id == one.run_id for kept in same), "409: the name is taken"
            self.uploads[one.id] = one

    def of_run(self, operation: Operation, query: Mapping[str, str]) -> list[dict[str, Any]]:
        """What a run has, newest first, as the API lists it."""
        run_id = int(operation.values["run_id"])
        found = [one.shown() for one in self.uploads.values() if one.run_id == run_id]
        named = [one for one in found if query.get("name") in (None, one["name"])]
        return sorted(named, key=lambda one: -int(one["id"]))

    def sign(self, upload: int) -> str:
        """An address that holds once; its signature breaks where it is quoted again."""
        self._count += 1
        signature = f"sig=a%2Bb%2F{self._count}"
        self._signed.add(signature)
        return f"{self.url}/blob/{upload}?{signature}"

    def routes(self) -> list[web.RouteDef]:
        """For a server of its own."""
        return [web.get("/blob/{id}", self._send)]

    async def _send(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(request.headers)
        self._signed.remove(request.rel_url.raw_query_string)
        status = self.answers.pop(0) if self.answers else 200
        if status not in (0, 200):
            return web.Response(status=status, headers={"Location": "/blob/1"})
        answer = web.StreamResponse()
        await answer.prepare(request)
        data = self.uploads[int(request.match_info["id"])].data
        await answer.write(data[: len(data) // 2])
        if status == 0:
            assert request.transport is not None
            request.transport.abort()
            return answer
        await answer.write(data[len(data) // 2 :])
        await answer.write_eof()
        return answer
