"""What an earlier run measured is taken over where GitHub and its report vouch for it, else not."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from routing_action.action.rerun.take_over import Change, bring_results, take_over
from routing_action.corpus.baseline import Status
from routing_action.errors import RoutingActionError, UsageError
from routing_action.github.failures import ApiError
from tests.fakes.github.artifacts import Upload
from tests.fakes.github.repository import NAME, Repository, Token
from tests.fakes.github.server import connect, serve
from tests.support.report_values import make_delta, make_entry

HEAD, OTHER = "a" * 40, "b" * 40
CHANGE = Change(NAME, 7, HEAD, "routing")
RESULTS = b'{"results": "of claude"}'
LEG, REPORT = "routing-results-claude-a2", "routing-report-routing-a1"


def pack(**files: bytes) -> bytes:
    """A zip file; `__` in a name stands for `/`."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, data in files.items():
            archive.writestr(name.replace("__", "/") + ".json", data)
    return made.getvalue()


def report(**changes: object) -> dict[str, Any]:
    """The delta of run 11, which judged one leg."""
    entry = {"run": "11", "name": LEG, "sha256": hashlib.sha256(RESULTS).hexdigest()}
    delta = make_delta(make_entry("one", "claude", got=Status.PASS), commit=OTHER, pull_request=7)
    return {**json.loads(delta.model_dump_json()), "results": [entry], **changes}


def keep(hub: Repository, delta: dict[str, Any], leg: bytes = RESULTS) -> None:
    """The artifacts of run 11: its report, the leg, and one that no gate has judged."""
    hub.storage.uploads = {}
    hub.storage.add(
        Upload(1, REPORT, pack(delta=json.dumps(delta).encode())),
        Upload(2, LEG, pack(batch__results=leg)),
        Upload(3, "routing-results-forged-a1", pack(batch__results=b"{}")),
        Upload(4, "routing-results-codex-a1", pack(codex__not_measured=b"{}")),
    )


@pytest.fixture
def hub() -> Iterator[Repository]:
    """A pull request's own run, at its head."""
    repository = Repository(tokens={"t": Token(rights={"actions": "read"})})
    repository.add_run(11, HEAD, head_repository={"full_name": NAME})
    keep(repository, report())
    kept = repository.storage
    with serve(Repository(), kept.routes()) as kept.url, serve(repository):
        yield repository
    assert repository.violations == []


def bring(hub: Repository, folder: Path, own_run: str = "12") -> tuple[str, ...]:
    """Take over run 11."""
    repository = connect(hub)
    delta = take_over(repository, CHANGE, "11", folder / "report")
    return bring_results(repository, delta, folder / "results", (own_run,))


def test_results_come_as_they_were_judged(hub: Repository, tmp_path: Path) -> None:
    """What no gate has judged is left out; why a leg was not measured comes along."""
    assert bring(hub, tmp_path) == ("11",)
    place = tmp_path / "results" / "11"
    assert (place / LEG / "batch" / "results.json").read_bytes() == RESULTS
    assert {one.name for one in place.iterdir()} == {LEG, "routing-results-codex-a1"}


def test_a_run_by_command_counts_by_the_commit_of_its_report(
    hub: Repository, tmp_path: Path
) -> None:
    """GitHub files it under the default branch."""
    hub.runs[11] |= {"event": "workflow_dispatch", "head_sha": "c" * 40}
    with pytest.raises(UsageError, match="its report is not of #7 at aaaaaaaaaaaa"):
        bring(hub, tmp_path)
    keep(hub, report(commit=HEAD))
    assert bring(hub, tmp_path / "again") == ("11",)


def _run(**changes: object) -> Callable[[Repository], object]:
    return lambda hub: hub.runs[11].update(changes)


def _report(**changes: object) -> Callable[[Repository], object]:
    return lambda hub: keep(hub, report(**changes))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (_run(head_repository={"full_name": "stranger/demo"}), "a fork's own"),
        (_run(head_sha=OTHER), "it measured bbbbbbbbbbbb"),
        (_run(event="push"), "started by push"),
        (_report(pull_request=8), "not of #7"),
        (_report(pull_request=None), "not of #7"),
        (_report(errors=["job measure failed"], conclusion="failure"), "job measure failed"),
        (_report(results=[]), "does not tell which results"),
        (_report(results=[{"run": "../1", "name": LEG, "sha256": "0" * 64}]), "does not tell"),
        (_report(results=[{"run": "11", "name": "lost", "sha256": "0" * 64}]), "lost of run 11"),
        (lambda hub: keep(hub, report(), b"changed"), f"{LEG} of run 11 are not those"),
    ],
)
def test_what_nobody_vouches_for_is_refused_with_the_reason(
    hub: Repository, tmp_path: Path, change: Callable[[Repository], object], told: str
) -> None:
    """A fork, another commit, another pull request, a report in doubt, a file that was changed."""
    change(hub)
    with pytest.raises(UsageError) as error:
        bring(hub, tmp_path)
    assert told in error.value.cause
    assert error.value.remedy


@pytest.mark.parametrize(("run", "kind"), [("12", ApiError), ("../11", UsageError)])
def test_a_run_that_is_not_there_is_an_error(
    hub: Repository, tmp_path: Path, run: str, kind: type[RoutingActionError]
) -> None:
    """Whatever an input says."""
    with pytest.raises(kind):
        take_over(connect(hub), CHANGE, run, tmp_path)
