"""An artifact over HTTP: listed by PyGithub, brought from another origin."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from routing_action.errors import DocumentError, HarnessError
from routing_action.github import artifacts
from routing_action.github.artifacts import fetch_artifact
from routing_action.github.failures import ApiError, PermissionMissingError
from tests.fakes.github.artifacts import Storage, Upload
from tests.fakes.github.repository import NAME, Fault, Repository, Token
from tests.fakes.github.server import connect, serve

ZIP = f"/repos/{NAME}/actions/artifacts/1/zip"


def zipped(name: str = "b/results.json", data: bytes = b"{}") -> bytes:
    """What upload-artifact makes."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)
    return made.getvalue()


GOOD = Upload(1, "routing-report-x-a1", zipped())


@pytest.fixture
def storage(repository: Repository) -> Iterator[Storage]:
    """The origin that GitHub redirects to, for a token that may read artifacts."""
    repository.tokens = {"t": Token(rights={"actions": "read"})}
    kept = repository.storage
    with serve(Repository(), kept.routes()) as kept.url:
        yield kept


def fetch(repository: Repository, folder: Path, head_sha: str = "a" * 40) -> Path:
    """Bring the report of the key `x`, as a stage does."""
    return fetch_artifact(connect(repository), 11, "routing-report-x", folder, head_sha=head_sha)


def test_r1_the_newest_attempt_is_brought(
    repository: Repository, storage: Storage, tmp_path: Path
) -> None:
    """Over several pages, with others' artifacts between them; numbers count, not uploads."""
    repository.page_limit = 2
    storage.add(
        Upload(90, "routing-report-x-a9", zipped(data=b"old")),
        Upload(10, "routing-report-x-a10", zipped(data=b"new")),
        Upload(50, "routing-report-y-a11", zipped(data=b"two")),
        Upload(60, "coverage", zipped()),
        Upload(70, "routing-report-x-a12", zipped(), run_id=12),
    )
    folder = fetch(repository, tmp_path / "legs")
    assert folder == tmp_path / "legs" / "routing-report-x-a10"
    assert (folder / "b" / "results.json").read_bytes() == b"new"
    assert list((tmp_path / "legs").iterdir()) == [folder]


@pytest.mark.parametrize(
    "name",
    [
        "coverage",
        "routing-report-x",
        "routing-report-x-a0",
        "routing-report-x-a01",
        "routing-report-x-a1 ",
        "routing-report-x-a1\n",
        "routing-report-x-a9999999",
        "routing-report-x-a1-a1",
        "routing-report-x/../x-a1",
        "routing-report--a1",
        "routing-report-x-a١",
        "ROUTING-REPORT-x-a1",
        "routing-results-x-a1",
    ],
)
def test_r11_names_of_another_form_are_none_of_ours(
    repository: Repository, storage: Storage, tmp_path: Path, name: str
) -> None:
    """A name becomes a folder, so nothing but the exact form counts."""
    storage.add(replace(GOOD, name=name))
    with pytest.raises(DocumentError, match="run 11: uploaded no report called routing-report-x"):
        fetch(repository, tmp_path)


def test_r14_the_token_does_not_go_where_github_redirects_to(
    repository: Repository, storage: Storage, tmp_path: Path
) -> None:
    """The storage belongs to somebody else, and its signed address is used as it is."""
    storage.add(GOOD)
    fetch(repository, tmp_path)
    (headers,) = storage.requests
    assert "Authorization" not in headers
    assert "Cookie" not in headers
    paths = [path.partition("?")[0] for _, path in repository.requests]
    assert paths == [f"/repos/{NAME}/actions/runs/11/artifacts", ZIP]


def test_r14_a_login_in_netrc_changes_nothing(
    repository: Repository, storage: Storage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A self-hosted runner may have one for this host."""
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("NETRC", str(netrc))
    storage.add(GOOD)
    fetch(repository, tmp_path / "legs")
    assert "Authorization" not in storage.requests[0]


@pytest.mark.parametrize("answers", [[0], [500], [403], [0, 503]])
def test_a_download_that_breaks_off_is_tried_with_a_new_address(
    repository: Repository, storage: Storage, tmp_path: Path, answers: list[int]
) -> None:
    """A signed address holds for a minute alone."""
    storage.add(replace(GOOD, data=zipped(data=b"x" * 50_000)))
    storage.answers = list(answers)
    folder = fetch(repository, tmp_path)
    assert len((folder / "b" / "results.json").read_bytes()) == 50_000
    assert repository.waits == [1.0, 2.0][: len(answers)]


@pytest.mark.parametrize("status", [0, 302, 404, 500])
def test_the_tries_come_to_an_end(
    repository: Repository, storage: Storage, tmp_path: Path, status: int
) -> None:
    """A redirect of the storage is not followed; no text shows the signed address."""
    storage.add(replace(GOOD, data=zipped(data=b"x" * 50_000)))
    storage.answers = [status] * 9
    with pytest.raises(ApiError) as caught:
        fetch(repository, tmp_path)
    assert len(storage.requests) == 3
    assert "sig=" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_the_api_itself_is_asked_again_by_the_clients_rules(
    repository: Repository, storage: Storage, tmp_path: Path
) -> None:
    """Server errors, lost answers and rate limits are waited out."""
    storage.add(GOOD)
    repository.faults = [
        Fault("actions/download-artifact", 502),
        Fault("actions/download-artifact", 0),
        Fault("actions/download-artifact", 429, headers={"Retry-After": "7"}),
    ]
    fetch(repository, tmp_path)
    assert repository.waits == [1.0, 2.0, 7.0]


def test_r11_a_download_that_is_too_large_is_broken_off(
    repository: Repository, storage: Storage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By what arrives: the storage sends no length."""
    monkeypatch.setattr(artifacts, "MAX_ZIP_BYTES", 1000)
    storage.add(replace(GOOD, data=b"x" * 10**6))
    with pytest.raises(DocumentError, match="has more than 1000 bytes"):
        fetch(repository, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_r11_an_artifact_that_leads_out_of_its_folder_is_an_error(
    repository: Repository, storage: Storage, tmp_path: Path
) -> None:
    """Nothing of it is left."""
    storage.add(replace(GOOD, data=zipped("../../x")))
    with pytest.raises(DocumentError, match="leads out"):
        fetch(repository, tmp_path / "legs")
    assert [path.name for path in tmp_path.rglob("*")] == ["legs"]


def test_r11_an_artifact_of_another_commit_is_an_error(
    repository: Repository, storage: Storage, tmp_path: Path
) -> None:
    """The run is of the commit that is reported on, or nothing is shown."""
    storage.add(replace(GOOD, sha="b" * 40))
    with pytest.raises(DocumentError, match="is not of commit aaaa"):
        fetch(repository, tmp_path)
    assert fetch(repository, tmp_path, head_sha="b" * 40).is_dir()


def test_r11_what_is_not_what_was_uploaded_is_an_error(
    repository: Repository, storage: Storage, tmp_path: Path
) -> None:
    """GitHub knows the SHA-256 of each upload."""
    storage.add(replace(GOOD, digest=f"sha256:{'0' * 64}"))
    with pytest.raises(DocumentError, match="SHA-256 differs"):
        fetch(repository, tmp_path)


@pytest.mark.parametrize("digest", ["", "md5:1", "sha256:" + "0" * 63])
def test_an_upload_without_a_digest_is_taken(
    repository: Repository, storage: Storage, tmp_path: Path, digest: str
) -> None:
    """Older releases had none."""
    storage.add(replace(GOOD, digest=digest))
    assert fetch(repository, tmp_path).is_dir()


def test_an_expired_artifact_says_so(
    repository: Repository, storage: Storage, tmp_path: Path
) -> None:
    """An older attempt is not taken in its place: it would be another result."""
    storage.add(GOOD, Upload(2, "routing-report-x-a2", zipped(), expired=True))
    with pytest.raises(DocumentError, match="routing-report-x-a2: has expired"):
        fetch(repository, tmp_path)


def test_an_artifact_that_expires_meanwhile_says_so(
    repository: Repository, storage: Storage, tmp_path: Path
) -> None:
    """Between the list and the download."""
    storage.add(GOOD)
    repository.before["actions/download-artifact"] = lambda: storage.uploads.update(
        {1: replace(GOOD, expired=True)}
    )
    with pytest.raises(ApiError, match="410"):
        fetch(repository, tmp_path)


def test_r9_a_token_that_may_not_read_actions_names_the_permission(
    repository: Repository, storage: Storage, tmp_path: Path
) -> None:
    """For the list and for the download."""
    storage.add(GOOD)

    def lose() -> None:
        repository.tokens["t"] = Token(rights={})

    repository.before["actions/download-artifact"] = lose
    for _ in range(2):
        with pytest.raises(PermissionMissingError) as caught:
            fetch(repository, tmp_path)
        assert caught.value.permission == "actions: read"


@pytest.mark.parametrize("location", ["file:///etc/passwd", "ftp://127.0.0.1/x", "/x", ""])
def test_the_download_is_no_file_and_no_other_scheme(
    repository: Repository, storage: Storage, tmp_path: Path, location: str
) -> None:
    """What GitHub redirects to is an address on the web."""
    storage.add(GOOD)
    headers = {"Location": location} if location else {}
    repository.faults = [Fault("actions/download-artifact", 302, headers=headers)]
    with pytest.raises(ApiError, match="did not say where"):
        fetch(repository, tmp_path)


def test_an_https_api_leads_to_https_alone(
    repository: Repository, storage: Storage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is downloaded in the open could be anything."""
    storage.add(GOOD)
    github = connect(repository)
    monkeypatch.setattr(type(github.requester), "scheme", property(lambda _: "https"))
    with pytest.raises(ApiError, match="did not say where"):
        fetch_artifact(github, 11, "routing-report-x", tmp_path, head_sha="a" * 40)
    assert storage.requests == []


def test_a_disk_that_is_full_is_not_githubs_fault(
    repository: Repository, storage: Storage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing can be written."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    storage.add(GOOD)
    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(HarnessError, match="cannot be written: No space left"):
        fetch(repository, tmp_path)
