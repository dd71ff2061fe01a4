"""The page of a report: for whoever has a signed link, and made of the report's data alone."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from routing_action.bot.server.page import LINK_SECONDS, Links
from routing_action.corpus.baseline import Status
from tests.contract.test_bot_comments import HEAD
from tests.contract.test_bot_deliveries import comment, hub, replies
from tests.fakes.github.artifacts import Upload
from tests.fakes.github.repository import NAME, Fault, Repository
from tests.support.bot_server import Server, run_server, wait_until, write_config
from tests.support.report_values import make_delta, make_entry, make_regression
from tests.support.webhooks import SECRET

__all__ = ["hub"]

ADDRESS = "https://bot.example"
LINKS = Links(ADDRESS, [SECRET])


@pytest.fixture
def server(hub: Repository, tmp_path: Path) -> Iterator[Server]:
    config = write_config(tmp_path, hub.api_url, page_address=ADDRESS)
    with run_server(config) as made:
        yield made


def path_of(link: str) -> str:
    return link.removeprefix(ADDRESS)


def test_the_link_of_a_status_shows_the_report(hub: Repository, server: Server) -> None:
    """With a policy that runs the page's own script alone; opened again, it costs no request."""
    asked = {**comment("/routing status"), "installation": {"id": 7}}
    assert server.post(asked, "d-1") == 202
    wait_until(lambda: any("state=done" in body for body in hub.bodies()), "the reply")
    found = re.search(r"\((https://bot\.example/r/[^)]+)\)", replies(hub)[0])
    assert found is not None
    status, headers, text = server.fetch(path_of(found[1]))
    assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert "thief" in text
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'; script-src 'sha256-" in policy
    assert policy.endswith("frame-ancestors 'none'")
    assert "unsafe" not in policy
    assert headers["Referrer-Policy"] == "no-referrer"
    assert "no-store" in headers["Cache-Control"]
    before = len(hub.requests)
    assert server.fetch(path_of(found[1]))[2] == text
    assert len(hub.requests) == before
    server.stop()
    assert not any("sign=" in line for line in server.lines)


def test_no_html_of_an_artifact_is_shown(hub: Repository, server: Server) -> None:
    """A pull request of a stranger can upload any, and names of any form."""
    evil = "<script>alert(1)</script>"
    delta = make_delta(
        make_regression("red", "codex").model_copy(update={"case_id": evil}),
        make_entry("fine", "codex", got=Status.PASS),
        commit=HEAD,
    )
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("delta.json", delta.model_dump_json())
        archive.writestr("report.html", f"<html>forged{evil}</html>")
    hub.storage.uploads = {
        1: Upload(1, "routing-report-routing-a1", made.getvalue(), run_id=11, sha=HEAD)
    }
    status, _, text = server.fetch(path_of(LINKS.make(NAME, 7)))
    assert status == 200
    assert "forged" not in text
    assert evil not in text


def test_without_a_right_link_nothing_is_asked(hub: Repository, server: Server) -> None:
    """A missing, changed or ended signature, and one for another pull request."""
    link = path_of(LINKS.make(NAME, 7))
    ended = path_of(Links(ADDRESS, [SECRET], lambda: 1e9).make(NAME, 7))
    for wrong in (
        link.partition("?")[0],
        link.replace("/PR/7", "/PR/8"),
        link.replace("octo/demo", "octo/other"),
        link.replace("until=", "until=1"),
        link[:-1] + ("0" if link[-1] != "0" else "1"),
        link.replace("sign=", "sign=%FF"),
        ended,
        path_of(Links(ADDRESS, ["another secret"]).make(NAME, 7)),
    ):
        status, headers, text = server.fetch(wrong)
        assert (status, "/routing status" in text) == (403, True), wrong
        assert headers["Content-Type"].startswith("text/plain")
    assert server.fetch("/r/octo/demo/PR/x")[0] == 404
    assert not any("installation" in path for _, path in hub.requests)


def test_what_cannot_be_shown_is_told_without_details(hub: Repository, server: Server) -> None:
    """No report, no installation, and a GitHub that does not answer."""
    hub.comments.clear()
    status, _, text = server.fetch(path_of(LINKS.make(NAME, 7)))
    assert (status, text) == (404, "there is no report on this pull request yet\n")
    assert server.fetch(path_of(LINKS.make("octo/other", 7)))[0] == 502
    hub.faults.append(Fault("pulls/get", 403))
    assert server.fetch(path_of(LINKS.make(NAME, 8)))[0] == 502


def test_there_are_no_pages_by_default(hub: Repository, tmp_path: Path) -> None:
    """Neither a link nor an address."""
    assert Links("", [SECRET]).make(NAME, 7) == ""
    with run_server(write_config(tmp_path, hub.api_url)) as server:
        assert server.fetch(path_of(LINKS.make(NAME, 7)))[0] == 404


def test_a_link_holds_for_each_secret_until_it_ends() -> None:
    """While one secret replaces another; in any case of letters of the repository."""
    now = [1000.0]
    old = Links(ADDRESS, ["old"], lambda: now[0])
    both = Links(f"{ADDRESS}/", ["new", "old"], lambda: now[0])
    link = old.make("Octo/Demo", 7)
    until, sign = re.findall(r"=([^&]+)", link)
    assert both.make("a/b", 1).startswith(f"{ADDRESS}/r/a/b/PR/1?")
    assert both.holds("octo/demo", 7, until, sign)
    assert not Links(ADDRESS, ["new"]).holds("octo/demo", 7, until, sign)
    now[0] += LINK_SECONDS
    assert not both.holds("octo/demo", 7, until, sign)
