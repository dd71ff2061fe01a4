"""What a released version wrote is read; what a newer one wrote says what to install."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from routing_action import __version__
from routing_action.agents.described.routing_file import read_routing_file
from routing_action.cli.schema import SCHEMAS, render_schema
from routing_action.corpus.cases_file import read_cases
from routing_action.errors import DocumentError
from routing_action.gate.baselines import read_baseline
from routing_action.gate.deltas import read_delta
from routing_action.gate.rules import DeltaKind
from routing_action.results.journal import read_journal
from routing_action.results.read import read_batches, read_results, stream_rows
from tests.support.command_line import ROOT, run_command

KEPT = ROOT / "tests" / "recordings" / "versions"
VERSIONS = sorted(path.name for path in KEPT.iterdir())
ROWS = 9
READERS: dict[str, Callable[[Path], Any]] = {
    "results.json": read_results,
    "delta.json": read_delta,
    "journal.jsonl": read_journal,
    "provider-baseline.json": read_baseline,
    "cases.json": read_cases,
}
FIELDS = {name: "journal" if name == "journal.jsonl" else "schema_version" for name in READERS}

EDITED = (
    f"version {__version__}, which the file names as its writer, does not write this: "
    "make the file again, or install a newer version, the way"
)


def test_every_released_version_is_kept() -> None:
    """Each that the changelog names, with a file of each kind."""
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    released = set(re.findall(r"^## \[(\d+\.\d+\.\d+)\]", text, re.MULTILINE))
    assert released | {"0.1.0"} <= set(VERSIONS)
    for version in VERSIONS:
        assert {path.name for path in (KEPT / version).iterdir()} == set(READERS)


@pytest.mark.parametrize("version", VERSIONS)
def test_each_file_of_a_released_version_is_read(version: str) -> None:
    """By each reader that there is for it."""
    folder = KEPT / version
    assert len(read_results(folder / "results.json").results) == ROWS
    ((_, rows),) = stream_rows([folder])
    assert len(list(rows)) == ROWS
    (batch,) = read_batches([folder])
    assert len(batch.rows) == ROWS
    assert {row.kind.value for row in read_delta(folder / "delta.json").rows} >= {"OK"}
    assert len(read_journal(folder / "journal.jsonl").rows) == ROWS
    assert "steady" in read_baseline(folder / "provider-baseline.json")[0]
    assert len(read_cases(folder / "cases.json").cases) > 1


@pytest.mark.parametrize("version", VERSIONS)
def test_a_batch_of_a_released_version_is_compared_and_shown_again(
    version: str, tmp_path: Path
) -> None:
    """With the verdict that it had."""
    folder = tmp_path / "kept"
    shutil.copytree(KEPT / version, folder)
    words = ("--results", "kept", "--cases", "kept/cases.json",
             "--baseline", "kept/provider-baseline.json", "--output", "again.json")  # fmt: skip
    done = run_command(["compare", *words], tmp_path, {"PATH": "/usr/bin:/bin"})
    assert done.code == 1, done.stderr
    before = read_delta(folder / "delta.json").counts
    now = read_delta(tmp_path / "again.json").counts
    kinds = (DeltaKind.REGRESSION, DeltaKind.OK)
    assert [now.get(kind) for kind in kinds] == [before.get(kind) for kind in kinds]
    for form in ("text", "html", "junit", "comment"):
        shown = run_command(
            ["report", "--delta", "kept/delta.json", "--format", form], tmp_path, {}
        )
        assert shown.code == 0, shown.stderr


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize(
    ("writer", "advice"),
    [
        ("7.3.1", "install version 7.3.1 or newer, the way"),
        ("; rm -rf ~", "install a newer version, the way"),
        (None, "install a newer version, the way"),
        (__version__, EDITED),
    ],
)
def test_a_newer_file_names_the_version_to_install(
    name: str, writer: str | None, advice: str, tmp_path: Path
) -> None:
    """As it says itself, where that is a version newer than this one."""
    text = (KEPT / VERSIONS[-1] / name).read_text("utf-8")
    first, _, rest = text.partition("\n")
    content = json.loads(first if name == "journal.jsonl" else text)
    if isinstance(content, list):
        content = {"cases": content}
    content |= {FIELDS[name]: 99, "written_by": writer}
    written = json.dumps(content) + ("\n" + rest if name == "journal.jsonl" else "")
    (tmp_path / name).write_text(written, encoding="utf-8")
    with pytest.raises(DocumentError) as caught:
        READERS[name](tmp_path / name)
    assert f"field {FIELDS[name]}: is 99, routing-action {__version__} reads " in str(caught.value)
    assert caught.value.remedy == f"{advice} you installed this one"


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("version", ["1", "2", 1.0, 2.0, True, None, [2]])
def test_a_version_of_another_type_is_not_read_without_a_word(
    name: str, version: object, tmp_path: Path
) -> None:
    """Whoever wrote it meant a version, and learns what to write."""
    text = (KEPT / VERSIONS[-1] / name).read_text("utf-8")
    first, _, rest = text.partition("\n")
    content = json.loads(first if name == "journal.jsonl" else text)
    content = {"cases": content} if isinstance(content, list) else content
    written = json.dumps({**content, FIELDS[name]: version})
    file = tmp_path / name
    file.write_text(f"{written}\n{rest}" if name == "journal.jsonl" else written, "utf-8")
    with pytest.raises(DocumentError, match=f"field {FIELDS[name]}: is ") as caught:
        READERS[name](file)
    assert caught.value.remedy


def test_a_baseline_names_the_version_that_it_does_not_have(tmp_path: Path) -> None:
    """A case may have that name."""
    file = tmp_path / "provider-baseline.json"
    entry = {"claude": {"expected_status": "pass"}}
    file.write_text(json.dumps({"schema_version": entry}), encoding="utf-8")
    assert "schema_version" in read_baseline(file)[0]
    file.write_text(json.dumps({"one": entry, "schema_version": 1}, indent=1), encoding="utf-8")
    with pytest.raises(DocumentError) as caught:
        read_baseline(file)
    assert str(caught.value) == (
        f"{file}:7: field schema_version: unknown field\n"
        "  remedy: remove the field: a baseline holds cases alone"
    )


@pytest.mark.parametrize(
    ("version", "cause", "remedy"),
    [
        ("2", "is 2, ", "install a newer version, the way you installed this one"),
        ('"1"', "is '1', ", "write 1, without quotes, or leave the field out"),
    ],
)
def test_routing_toml_can_say_its_version(
    version: str, cause: str, remedy: str, tmp_path: Path
) -> None:
    """As the other files that people write."""
    file = tmp_path / "routing.toml"
    file.write_text("schema_version = 1\n", encoding="utf-8")
    assert read_routing_file(file)[0] == {}
    file.write_text(f"schema_version = {version}\n", encoding="utf-8")
    with pytest.raises(DocumentError) as caught:
        read_routing_file(file)
    assert f"field schema_version: {cause}" in str(caught.value)
    assert caught.value.remedy == remedy


def test_a_file_says_which_version_wrote_it() -> None:
    """Each that a run or a comparison writes."""
    folder = KEPT / "0.1.0"
    head = json.loads((folder / "journal.jsonl").read_text("utf-8").partition("\n")[0])
    kept = [
        json.loads((folder / name).read_text("utf-8")) for name in ("results.json", "delta.json")
    ]
    assert [one["written_by"] for one in (head, *kept)] == ["0.1.0"] * 3


@pytest.mark.parametrize("name", SCHEMAS)
def test_each_schema_has_an_id_with_its_version(name: str) -> None:
    """By which a tool distinguishes them."""
    assert re.fullmatch(rf"urn:routing-action:{name}:\d+", json.loads(render_schema(name))["$id"])
