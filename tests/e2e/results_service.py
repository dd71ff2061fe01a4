"""GitHub's artifact service as `@actions/artifact` speaks to it, with the state of one repository.

Artifacts of a run are immutable and unique by name. What is not there raises, so that a test ends
with what is missing in place of a default answer.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

SERVICE = "/twirp/github.actions.results.api.v1.ArtifactService/"


@dataclass
class Artifact:
    """One upload; `data` is its zip once it is finalised."""

    id: int
    run_id: str
    name: str
    blocks: dict[str, bytes] = field(default_factory=dict)
    data: bytes = b""
    is_final: bool = False

    @property
    def digest(self) -> str:
        return "sha256:" + hashlib.sha256(self.data).hexdigest()


@dataclass
class ResultsService:
    """The artifacts of every run; `url` is set by whoever serves the routes."""

    url: str = ""
    artifacts: list[Artifact] = field(default_factory=list)
    on_final: Callable[[Artifact], None] = field(default=lambda _: None)

    def names(self, run_id: str = "1") -> list[str]:
        """The names of a run's artifacts, sorted."""
        return sorted(one.name for one in self.artifacts if one.run_id == run_id and one.is_final)

    def routes(self) -> list[web.RouteDef]:
        return [
            web.post(SERVICE + "{method}", self._call),
            web.put("/blob/{id}", self._put),
            web.get("/blob/{id}", self._get),
        ]

    async def _call(self, request: web.Request) -> web.Response:
        body = await request.json()
        run_id = _run_of(request.headers["Authorization"])
        answer = getattr(self, "_" + _snake(request.match_info["method"]))(body, run_id)
        return answer if isinstance(answer, web.Response) else web.json_response(answer)

    def _create_artifact(self, body: dict[str, Any], run_id: str) -> dict[str, Any] | web.Response:
        name = body["name"]
        if self._find(run_id, name) is not None:
            text = "an artifact with this name already exists on the workflow run"
            return web.json_response({"code": "already_exists", "msg": text}, status=409)
        made = Artifact(len(self.artifacts) + 1, run_id, name)
        self.artifacts.append(made)
        return {"ok": True, "signed_upload_url": f"{self.url}/blob/{made.id}?sig=made-up"}

    def _finalize_artifact(self, body: dict[str, Any], run_id: str) -> dict[str, Any]:
        made = self._require(run_id, body["name"])
        given = _value(body.get("hash"))
        assert int(body["size"]) == len(made.data), "the size is not that of what was uploaded"
        assert given == made.digest, "the hash is not that of what was uploaded"
        made.is_final = True
        self.on_final(made)
        return {"ok": True, "artifact_id": str(made.id)}

    def _list_artifacts(self, body: dict[str, Any], run_id: str) -> dict[str, Any]:
        name, number = (_value(body.get(key)) for key in ("name_filter", "id_filter"))
        return {
            "artifacts": [
                {
                    "workflow_run_backend_id": body["workflow_run_backend_id"],
                    "workflow_job_run_backend_id": body["workflow_job_run_backend_id"],
                    "database_id": str(one.id),
                    "name": one.name,
                    "size": str(len(one.data)),
                    "created_at": "2026-01-01T00:00:00Z",
                    "digest": one.digest,
                }
                for one in self.artifacts
                if one.run_id == run_id
                and one.is_final
                and name in (None, one.name)
                and number in (None, str(one.id))
            ]
        }

    def _get_signed_artifact_url(self, body: dict[str, Any], run_id: str) -> dict[str, Any]:
        return {
            "signed_url": f"{self.url}/blob/{self._require(run_id, body['name']).id}?sig=made-up"
        }

    async def _put(self, request: web.Request) -> web.Response:
        """Azure's block blobs: single blocks, then their list; or everything at once."""
        made = self.artifacts[int(request.match_info["id"]) - 1]
        data = await request.read()
        kind = request.query.get("comp", "")
        if kind == "block":
            made.blocks[request.query["blockid"]] = data
        elif kind == "blocklist":
            ids = re.findall(r"<Latest>([^<]+)</Latest>", data.decode())
            made.data = b"".join(made.blocks[one] for one in ids)
        else:
            assert request.headers["x-ms-blob-type"] == "BlockBlob"
            made.data = data
        return web.Response(status=201)

    async def _get(self, request: web.Request) -> web.Response:
        made = self.artifacts[int(request.match_info["id"]) - 1]
        return web.Response(body=made.data, content_type="application/zip")

    def _find(self, run_id: str, name: str) -> Artifact | None:
        known = (one for one in self.artifacts if (one.run_id, one.name) == (run_id, name))
        return next(known, None)

    def _require(self, run_id: str, name: str) -> Artifact:
        found = self._find(run_id, name)
        assert found is not None, f"no artifact {name} in run {run_id}"
        return found


def runtime_token(run_id: str) -> str:
    """A token as the runner gives to actions: its scope names run and job; nothing signs it."""
    claims = {"scp": f"Actions.Results:{run_id}:job", "exp": 4_000_000_000}
    parts = ({"alg": "none"}, claims)
    encoded = (base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in parts)
    return ".".join([*(part.decode() for part in encoded), "made-up"])


def _run_of(authorization: str) -> str:
    payload = authorization.removeprefix("Bearer ").split(".")[1]
    claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    return str(claims["scp"]).split(":")[1]


def _value(wrapped: Any) -> Any:  # noqa: ANN401 - any JSON
    """A wrapped value of protobuf's JSON form, which comes bare or as an object."""
    return wrapped["value"] if isinstance(wrapped, dict) else wrapped


def _snake(name: str) -> str:
    name = name.replace("URL", "Url")
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
