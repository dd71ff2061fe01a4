"""The artifacts of a run: which of them are ours, which are the newest, and what they hold.

Everything about them is data that strangers may have made; nothing here chooses a pull request.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from routing_action.errors import DocumentError
from routing_action.github.archives import LIMITS, Limits, unpack
from routing_action.github.client import Client

RESULTS = "routing-results"
REPORT = "routing-report"

_NAME = re.compile(r"(?P<key>[A-Za-z0-9][A-Za-z0-9._-]{0,79})-a(?P<attempt>[1-9]\d{0,5})")
_DIGEST = re.compile(r"sha256:(?P<hex>[0-9a-f]{64})")
_RUN = re.compile(r"[1-9]\d{0,18}")


@dataclass(frozen=True, slots=True)
class Artifact:
    """One that is called `<prefix>-<key>-a<attempt>`; `digest` is SHA-256 in hex, or empty."""

    id: int
    name: str
    key: str
    attempt: int
    expired: bool
    digest: str


class Downloads(Protocol):
    """Brings what an API path redirects to."""

    def save(self, path: str, file: Path, limit: int) -> str:
        """Write it to a file; its SHA-256 in hex. Raises DocumentError above `limit` bytes."""
        ...


def list_artifacts(
    client: Client,
    repository: str,
    run_id: str,
    *,
    prefix: str = RESULTS,
    head_sha: str = "",
    limits: Limits = LIMITS,
) -> tuple[Artifact, ...]:
    """The newest artifact of each key that a run and its earlier attempts left, ordered by key.

    GitHub tells no attempt of an artifact: the name does, and the highest one counts, whatever
    was uploaded last. Names of another form are passed over. Raises DocumentError where an
    artifact is of another commit than `head_sha`, or where there are too many.
    """
    if not _RUN.fullmatch(run_id):
        raise _refusal(f"run {run_id[:40]!r}", "is no id of a run")
    found = []
    for page in client.pages(f"/repos/{repository}/actions/runs/{run_id}/artifacts"):
        for record in (page.get("artifacts") if isinstance(page, dict) else None) or []:
            artifact = parse_artifact(record, prefix)
            if artifact is None:
                continue
            if head_sha and _commit_of(record) not in ("", head_sha):
                raise _refusal(artifact.name, f"is not of commit {head_sha}")
            found.append(artifact)
    newest = choose_newest(found)
    if len(newest) > limits.artifacts:
        raise _refusal(f"run {run_id}", f"has more than {limits.artifacts} artifacts of ours")
    return newest


def parse_artifact(record: object, prefix: str = RESULTS) -> Artifact | None:
    """An entry of GitHub's list; None where it is none of ours."""
    if not isinstance(record, dict):
        return None
    name, number = record.get("name"), record.get("id")
    if not isinstance(name, str) or type(number) is not int or not name.startswith(f"{prefix}-"):
        return None
    match = _NAME.fullmatch(name.removeprefix(f"{prefix}-"))
    if match is None:
        return None
    digest = _DIGEST.fullmatch(str(record.get("digest")))
    return Artifact(
        id=number,
        name=name,
        key=match["key"],
        attempt=int(match["attempt"]),
        expired=record.get("expired") is True,
        digest=digest["hex"] if digest else "",
    )


def choose_newest(artifacts: Iterable[Artifact]) -> tuple[Artifact, ...]:
    """The highest attempt of each key, ordered by key; of two with one name the later upload."""
    newest: dict[str, Artifact] = {}
    for one in sorted(artifacts, key=lambda one: (one.key, one.attempt, one.id)):
        newest[one.key] = one
    return tuple(newest.values())


def fetch_artifacts(
    downloads: Downloads,
    repository: str,
    artifacts: Sequence[Artifact],
    folder: Path,
    *,
    limits: Limits = LIMITS,
) -> tuple[Path, ...]:
    """Unpack each artifact into a folder of its name below `folder`; these folders, in order.

    Raises DocumentError where one has expired, is not what was uploaded, is too large, or cannot
    be unpacked safely; ApiError where GitHub refuses.
    """
    folder.mkdir(parents=True, exist_ok=True)
    left = limits.total_bytes
    made = []
    for one in artifacts:
        if one.expired:
            raise DocumentError("has expired", file=one.name, remedy="run the job again")
        bounds = replace(limits, unpacked_bytes=min(limits.unpacked_bytes, left))
        left -= _fetch(downloads, repository, one, folder, bounds)
        made.append(folder / one.name)
    return tuple(made)


def _fetch(
    downloads: Downloads, repository: str, one: Artifact, folder: Path, limits: Limits
) -> int:
    path = f"/repos/{repository}/actions/artifacts/{one.id}/zip"
    with tempfile.TemporaryDirectory(dir=folder, prefix=".download-") as kept:
        file = Path(kept) / f"{one.name}.zip"
        digest = downloads.save(path, file, limits.zip_bytes)
        if one.digest and digest != one.digest:
            raise _refusal(one.name, "is not what was uploaded: its SHA-256 differs")
        return unpack(file, folder / one.name, limits)


def _commit_of(record: dict[str, Any]) -> str:
    run = record.get("workflow_run")
    sha = run.get("head_sha") if isinstance(run, dict) else None
    return sha if isinstance(sha, str) else ""


def _refusal(file: str, cause: str) -> DocumentError:
    return DocumentError(cause, file=file, remedy="see which run uploaded it")
