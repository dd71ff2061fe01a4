"""Artifacts over HTTP: listed by PyGithub, brought by aiohttp from another origin."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from routing_action.errors import DocumentError, HarnessError, UsageError
from routing_action.github.archives import Limits
from routing_action.github.artifacts import fetch_artifacts, list_artifacts
from routing_action.github.client import Client, Response
from routing_action.github.door import PyGithubDoor
from routing_action.github.downloads import ArtifactDownloads
from routing_action.github.failures import ApiError, PermissionMissingError
from tests.fakes.github.artifacts import Upload
from tests.fakes.github.doors import client_of
from tests.fakes.github.repository import NAME, Fault, Repository, Token
from tests.fakes.github.server import serve

ZIP = f"/repos/{NAME}/actions/artifacts/1/zip"


def zipped(name: str = "b/results.json", data: bytes = b"{}") -> bytes:
    """What upload-artifact makes."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)
    return made.getvalue()


@dataclass
class GitHub:
    """The API and its storage, and how long a client would have waited."""

    url: str
    repository: Repository
    waits: list[float] = field(default_factory=list)

    def downloads(self, token: str = "t") -> ArtifactDownloads:  # noqa: S107
        return ArtifactDownloads(self.url, token, sleep=self.waits.append)

    def fetch(self, folder: Path, limits: Limits | None = None, **asked: Any) -> tuple[Path, ...]:  # noqa: ANN401
        """List and download, as a command does."""
        client = Client(PyGithubDoor(self.url, "t", pause_seconds=0, write_seconds=0))
        found = list_artifacts(client, NAME, "11", **asked)
        return fetch_artifacts(self.downloads(), NAME, found, folder, limits=limits or Limits())


@pytest.fixture
def github(monkeypatch: pytest.MonkeyPatch) -> Iterator[GitHub]:
    """Two origins; whatever went over the API fits GitHub's description."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    repository = Repository(tokens={"t": Token(rights={"actions": "read"})})
    storage = repository.storage
    with serve(Repository(), storage.routes()) as storage.url, serve(repository) as url:
        yield GitHub(url, repository)
    assert repository.violations == []


def test_r1_the_newest_attempt_of_each_key_is_brought(github: GitHub, tmp_path: Path) -> None:
    """Over several pages, with others' artifacts between them."""
    github.repository.page_limit = 2
    github.repository.storage.add(
        Upload(90, "routing-results-s1-a1", zipped(data=b"old")),
        Upload(10, "routing-results-s1-a2", zipped(data=b"new")),
        Upload(50, "routing-results-s2-a1", zipped(data=b"two")),
        Upload(60, "coverage", zipped()),
        Upload(70, "routing-results-s1-a3", zipped(), run_id=12),
    )
    folders = github.fetch(tmp_path / "legs")
    assert [folder.name for folder in folders] == ["routing-results-s1-a2", "routing-results-s2-a1"]
    assert [(one / "b" / "results.json").read_bytes() for one in folders] == [b"new", b"two"]
    assert sorted(path.name for path in (tmp_path / "legs").iterdir()) == [
        one.name for one in folders
    ]


def test_r14_the_token_does_not_go_where_github_redirects_to(
    github: GitHub, tmp_path: Path
) -> None:
    """The storage belongs to somebody else, and its signed address is used as it is."""
    github.repository.storage.add(Upload(1, "routing-results-x-a1", zipped()))
    github.fetch(tmp_path)
    (headers,) = github.repository.storage.requests
    assert "Authorization" not in headers
    assert "Cookie" not in headers
    paths = [path.partition("?")[0] for _, path in github.repository.requests]
    assert paths == [f"/repos/{NAME}/actions/runs/11/artifacts", ZIP]


def test_r14_a_login_in_netrc_changes_nothing(
    github: GitHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A self-hosted runner may have one for this host."""
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("NETRC", str(netrc))
    github.repository.storage.add(Upload(1, "routing-results-x-a1", zipped()))
    github.fetch(tmp_path / "legs")
    assert "Authorization" not in github.repository.storage.requests[0]


@pytest.mark.parametrize("answers", [[0], [500], [403], [0, 503]])
def test_a_download_that_breaks_off_is_tried_with_a_new_address(
    github: GitHub, tmp_path: Path, answers: list[int]
) -> None:
    """A signed address holds for a minute alone."""
    github.repository.storage.add(Upload(1, "routing-results-x-a1", zipped(data=b"x" * 50_000)))
    github.repository.storage.answers = list(answers)
    (folder,) = github.fetch(tmp_path)
    assert len((folder / "b" / "results.json").read_bytes()) == 50_000
    assert github.waits == [1.0, 2.0][: len(answers)]


@pytest.mark.parametrize("status", [0, 302, 404, 500])
def test_the_tries_come_to_an_end(github: GitHub, tmp_path: Path, status: int) -> None:
    """A redirect of the storage is not followed; no text tells the signed address."""
    github.repository.storage.add(Upload(1, "routing-results-x-a1", zipped(data=b"x" * 50_000)))
    github.repository.storage.answers = [status] * 9
    with pytest.raises(ApiError) as caught:
        github.fetch(tmp_path)
    assert len(github.repository.storage.requests) == 3
    assert "sig=" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_the_api_itself_is_asked_again_by_the_clients_policy(
    github: GitHub, tmp_path: Path
) -> None:
    """Server errors, lost answers and rate limits are waited out."""
    github.repository.storage.add(Upload(1, "routing-results-x-a1", zipped()))
    github.repository.faults = [
        Fault("actions/download-artifact", 502),
        # aiohttp itself asks again once.
        Fault("actions/download-artifact", 0, times=2),
        Fault("actions/download-artifact", 429, headers={"Retry-After": "7"}),
    ]
    github.downloads().save(ZIP, tmp_path / "x", 10**6)
    assert github.waits == [1.0, 2.0, 7.0]


def test_r11_a_download_that_is_too_large_is_broken_off(github: GitHub, tmp_path: Path) -> None:
    """By what arrives: the storage sends no length."""
    github.repository.storage.add(Upload(1, "routing-results-x-a1", b"x" * 10**6))
    with pytest.raises(DocumentError, match="has more than 1000 bytes"):
        github.fetch(tmp_path, Limits(zip_bytes=1000))
    assert list(tmp_path.iterdir()) == []


def test_r11_all_artifacts_together_have_a_limit(github: GitHub, tmp_path: Path) -> None:
    """Each of them could stay just below its own."""
    for number in (1, 2, 3):
        data = zipped(data=b"x" * 400)
        github.repository.storage.add(Upload(number, f"routing-results-{number}-a1", data))
    with pytest.raises(DocumentError, match="routing-results-3-a1"):
        github.fetch(tmp_path, Limits(total_bytes=1000))


def test_r11_an_artifact_that_leads_out_of_its_folder_is_refused(
    github: GitHub, tmp_path: Path
) -> None:
    """Nothing of it is left."""
    github.repository.storage.add(Upload(1, "routing-results-x-a1", zipped("../../x")))
    with pytest.raises(DocumentError, match="leads out"):
        github.fetch(tmp_path / "legs")
    assert [path.name for path in tmp_path.rglob("*")] == ["legs"]


def test_r11_an_artifact_of_another_commit_is_refused(github: GitHub, tmp_path: Path) -> None:
    """The run is of the commit that is reported on, or nothing is shown."""
    github.repository.storage.add(Upload(1, "routing-results-x-a1", zipped(), sha="b" * 40))
    with pytest.raises(DocumentError, match="is not of commit aaaa"):
        github.fetch(tmp_path, head_sha="a" * 40)
    assert len(github.fetch(tmp_path, head_sha="b" * 40)) == 1


def test_r11_what_is_not_what_was_uploaded_is_refused(github: GitHub, tmp_path: Path) -> None:
    """GitHub tells the SHA-256 of each upload."""
    digest = f"sha256:{'0' * 64}"
    github.repository.storage.add(Upload(1, "routing-results-x-a1", zipped(), digest=digest))
    with pytest.raises(DocumentError, match="SHA-256 differs"):
        github.fetch(tmp_path)


def test_an_upload_without_a_digest_is_taken(github: GitHub, tmp_path: Path) -> None:
    """Older releases told none."""
    github.repository.storage.add(Upload(1, "routing-results-x-a1", zipped(), digest=""))
    assert len(github.fetch(tmp_path)) == 1


def test_an_expired_artifact_says_so(github: GitHub, tmp_path: Path) -> None:
    """An older attempt is not taken in its place: it would be another result."""
    github.repository.storage.add(
        Upload(1, "routing-results-x-a1", zipped()),
        Upload(2, "routing-results-x-a2", zipped(), expired=True),
    )
    with pytest.raises(DocumentError, match="routing-results-x-a2: has expired"):
        github.fetch(tmp_path)
    with pytest.raises(ApiError, match="410"):
        github.downloads().save(ZIP.replace("/1/", "/2/"), tmp_path / "x", 10**6)


def test_a_run_without_artifacts_is_an_empty_list(github: GitHub, tmp_path: Path) -> None:
    """Whoever asks decides what that means."""
    assert github.fetch(tmp_path) == ()


def test_r11_too_many_artifacts_are_refused(github: GitHub) -> None:
    """GitHub allows 500 in a job, and many jobs."""
    for number in range(1, 4):
        github.repository.storage.add(Upload(number, f"routing-results-{number}-a1", b""))
    client = client_of(github.repository)
    with pytest.raises(DocumentError, match="more than 2 artifacts"):
        list_artifacts(client, NAME, "11", limits=Limits(artifacts=2))


@pytest.mark.parametrize("run_id", ["", "0", "x", "1/../../2", "1" * 20])
def test_an_id_that_is_none_asks_for_nothing(github: GitHub, run_id: str) -> None:
    """It would become part of a path."""
    with pytest.raises(DocumentError, match="is no id of a run"):
        list_artifacts(client_of(github.repository), NAME, run_id)
    assert github.repository.requests == []


def test_r9_a_token_that_may_not_read_actions_names_the_permission(
    github: GitHub, tmp_path: Path
) -> None:
    """For the list and for the download."""
    github.repository.tokens["t"] = Token(rights={})
    with pytest.raises(PermissionMissingError) as caught:
        github.fetch(tmp_path)
    assert caught.value.permission == "actions: read"
    with pytest.raises(PermissionMissingError) as caught:
        github.downloads().save(ZIP, tmp_path / "x", 10**6)
    assert caught.value.permission == "actions: read"


@pytest.mark.parametrize("location", ["http://127.0.0.1:1/x", "file:///etc/passwd", "/x", "", None])
def test_an_https_api_leads_to_https_alone(
    location: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is downloaded in the open could be anything."""
    downloads = ArtifactDownloads("https://api.github.example", "t")
    answer = Response(200, {}, {"location": location})
    monkeypatch.setattr(downloads, "send", lambda *_: answer)
    with pytest.raises(ApiError, match="did not say where"):
        downloads.save(ZIP, tmp_path / "x", 1)


def test_a_server_that_is_not_there_is_an_error_without_the_token(tmp_path: Path) -> None:
    """Port 1 of this machine answers nothing."""
    downloads = ArtifactDownloads("http://127.0.0.1:1", "ghs_secret", sleep=lambda _: None)
    with pytest.raises(ApiError, match="no answer") as caught:
        downloads.save(ZIP, tmp_path / "x", 1)
    assert "ghs_secret" not in str(caught.value)


def test_a_disk_that_refuses_is_not_githubs_fault(github: GitHub, tmp_path: Path) -> None:
    """The folder is not there."""
    github.repository.storage.add(Upload(1, "routing-results-x-a1", zipped()))
    with pytest.raises(HarnessError, match="cannot be written"):
        github.downloads().save(ZIP, tmp_path / "missing" / "x", 10**6)


@pytest.mark.parametrize("url", ["", "file:///etc", "api.github.example"])
def test_an_api_address_that_is_none_is_a_usage_error(url: str) -> None:
    """The token goes nowhere."""
    with pytest.raises(UsageError, match="GITHUB_API_URL"):
        ArtifactDownloads(url, "t")
