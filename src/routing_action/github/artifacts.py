"""Brings an artifact of another run: the newest attempt of a name, from where GitHub redirects to.

Everything about it is data that strangers may have made; nothing here chooses a pull request. The
token goes to the API's address alone; no text shows the signed address.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
import time
from collections.abc import Iterator
from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from routing_action.errors import DocumentError, HarnessError
from routing_action.github.archives import unpack
from routing_action.github.failures import LATER, ApiError, asking

if TYPE_CHECKING:
    from github.Artifact import Artifact
    from github.Repository import Repository

MAX_ZIP_BYTES = 256 * 2**20

_PAUSES = (1.0, 2.0, None)
_CHUNK = 2**18
_WAIT_SECONDS = 60
_TOTAL_SECONDS = 600
# A name becomes a folder.
_NO_FOLDER = re.compile(r"[^\w .,+=@-]")
_DIGEST = re.compile(r"sha256:(?P<hex>[0-9a-f]{64})")


class _LostError(Exception):
    """The download broke off, or its signed address no longer holds; another one may work."""


class _NoRedirect(HTTPRedirectHandler):
    """Leaves a redirect of the storage as the failure that it is."""

    def redirect_request(self, *_: object) -> None:
        """Nothing is asked in its place."""


def fetch_artifact(
    repository: Repository, run_id: int, name: str, folder: Path, *, head_sha: str = ""
) -> Path:
    """Unpack the newest `<name>-a<attempt>` of a run into a folder of its name below `folder`.

    GitHub knows no attempt of an artifact: the name does, and the highest one counts, whatever
    was uploaded last. Raises DocumentError where there is none, or it is of another commit than
    `head_sha` ("" takes any), has expired, is not what was uploaded, is too large or cannot be
    unpacked safely; ApiError where GitHub does not give it.
    """
    pattern = re.compile(rf"(?P<key>{re.escape(name)})-a(?P<attempt>[1-9][0-9]{{0,5}})")
    found = _find_newest(repository, run_id, pattern, head_sha)
    if not found:
        raise DocumentError(
            f"uploaded no report called {name}-a...",
            file=f"run {run_id}",
            remedy="see whether its aggregation ran, and has the same `key`",
        )
    return _bring(repository, found[name], folder)


def fetch_results(
    repository: Repository, run_id: int, pattern: re.Pattern[str], folder: Path
) -> None:
    """Unpack the newest attempt of each leg's results of a run into folders below `folder`.

    `pattern` has the groups `key` and `attempt`. Raises as `fetch_artifact` does.
    """
    found = _find_newest(repository, run_id, pattern)
    if not found:
        raise DocumentError(
            "uploaded no results (routing-results-...)",
            file=f"run {run_id}",
            remedy="give the run that measured: its id stands in its address, after /runs/",
        )
    for one in found.values():
        _bring(repository, one, folder)


def _bring(repository: Repository, one: Artifact, folder: Path) -> Path:
    if one.expired:
        raise DocumentError("has expired", file=one.name, remedy="run the job again")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".download-") as kept:
        file = Path(kept) / f"{one.name}.zip"
        digest = _download(repository, one, file)
        uploaded = _DIGEST.fullmatch(one.digest or "")
        if uploaded and digest != uploaded["hex"]:
            raise _error(one.name, "is not what was uploaded: its SHA-256 differs")
        unpack(file, folder / one.name)
    return folder / one.name


def _find_newest(
    repository: Repository, run_id: int, pattern: re.Pattern[str], head_sha: str = ""
) -> dict[str, Artifact]:
    """The highest attempt of each key among the artifacts of such a name."""
    from github.Artifact import Artifact  # noqa: PLC0415 - slow to import
    from github.PaginatedList import PaginatedList  # noqa: PLC0415

    address = f"{repository.url}/actions/runs/{run_id}/artifacts"
    found: dict[str, tuple[int, Artifact]] = {}
    with asking(f"list the artifacts of run {run_id}", "actions: read"):
        for one in PaginatedList(Artifact, repository.requester, address, list_item="artifacts"):
            match = pattern.fullmatch(one.name or "")
            if match is None or _NO_FOLDER.search(one.name):
                continue
            if head_sha and one.workflow_run.head_sha != head_sha:
                raise _error(one.name, f"is not of commit {head_sha}")
            attempt = int(match["attempt"])
            if attempt >= found.get(match["key"], (0,))[0]:
                found[match["key"]] = attempt, one
    return {key: one for key, (_, one) in found.items()}


def _download(repository: Repository, one: Artifact, file: Path) -> str:
    """Write the zip file; its SHA-256 in hex. Each try gets a new signed address."""
    for pause in _PAUSES:
        address = _locate(repository, one)
        try:
            return _save(address, file)
        except _LostError as error:
            if pause is None:
                cause = f"cannot download {one.name}: {error}"
                raise ApiError(cause, status=0, remedy=LATER) from None
            time.sleep(pause)
    raise AssertionError("the last try returns or raises")  # pragma: no cover


def _locate(repository: Repository, one: Artifact) -> str:
    with asking(f"download {one.name}", "actions: read"):
        headers, _ = repository.requester.requestJsonAndCheck(
            "GET", f"{repository.url}/actions/artifacts/{one.id}/zip"
        )
    address = str(headers.get("location", ""))
    if urlsplit(address).scheme not in {"https", repository.requester.scheme}:
        raise ApiError(f"cannot download {one.name}: GitHub did not say where it is", status=502)
    return address


def _save(address: str, file: Path) -> str:
    """The size is what arrives, whatever the headers say."""
    digest = hashlib.sha256()
    size = 0
    try:
        with file.open("wb") as target:
            for chunk in _receive(address):
                size += len(chunk)
                if size > MAX_ZIP_BYTES:
                    raise _error(file.name, f"has more than {MAX_ZIP_BYTES} bytes")
                digest.update(chunk)
                target.write(chunk)
    except OSError as error:
        raise HarnessError(
            f"{file} cannot be written: {error.strerror}", remedy="free space there"
        ) from None
    return digest.hexdigest()


def _receive(address: str) -> Iterator[bytes]:
    """The pieces as they come, by the environment's proxy, without token, cookies or a login."""
    end = time.monotonic() + _TOTAL_SECONDS
    # The scheme was judged where the address was found.
    request = Request(address, headers={"User-Agent": "routing-action"})  # noqa: S310
    try:
        with build_opener(_NoRedirect).open(request, timeout=_WAIT_SECONDS) as answer:
            if answer.status != 200:
                raise _LostError(f"the storage answered {answer.status}")
            while chunk := answer.read(_CHUNK):
                if time.monotonic() > end:
                    raise _LostError(f"the download took more than {_TOTAL_SECONDS} seconds")
                yield chunk
            if answer.length:
                raise _LostError("the download broke off")
    except HTTPError as error:
        error.close()
        raise _LostError(f"the storage answered {error.code}") from None
    except (OSError, HTTPException, ValueError) as error:
        raise _LostError(f"the download broke off: {type(error).__name__}") from None


def _error(file: str, cause: str) -> DocumentError:
    return DocumentError(cause, file=file, remedy="see which run uploaded it")
