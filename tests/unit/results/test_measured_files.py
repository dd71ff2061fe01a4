"""Results are found and loaded for a comparison; damaged ones are refused with their place."""

from __future__ import annotations

import gc
import json
from pathlib import Path
from typing import Any

import pytest

from routing_action.errors import DocumentError, ExitCode
from routing_action.results import measured_files, row_blocks
from routing_action.results.batch_folder import render_results
from routing_action.results.measured import NamedBatch
from routing_action.results.measured_files import read_batches
from tests.support.result_rows import make_results, make_row

BATCH = json.loads(render_results(make_results(make_row(1), make_row(2, case_id="two"))))


def write(folder: Path, **options: Any) -> Path:  # noqa: ANN401 - any option
    """A results.json in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    value = {**BATCH, "options": {**BATCH["options"], **options}}
    path = folder / "results.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def names(batches: list[NamedBatch]) -> list[tuple[str, int]]:
    return [(named.key, named.attempt) for named in batches]


def test_an_artifacts_folder_names_keys_and_attempts(tmp_path: Path) -> None:
    """The folder's name wins over what the batch was started with."""
    write(tmp_path / "routing-results-claude-s1of2-a2" / "batch", matrix_key="x", attempt=9)
    write(tmp_path / "routing-results-a-b-a10", attempt=1)
    assert names(read_batches([tmp_path])) == [("a-b", 10), ("claude-s1of2", 2)]


def test_without_such_a_folder_the_batch_names_itself(tmp_path: Path) -> None:
    """By its matrix key, else by its agents."""
    keyed = write(tmp_path / "one", matrix_key="claude-s1of1", attempt=3)
    plain = write(tmp_path / "two", agents=["claude", "codex"])
    assert names(read_batches([keyed, plain])) == [("claude-s1of1", 3), ("claude,codex", 1)]


def test_rows_are_lean_and_the_collector_comes_back(tmp_path: Path) -> None:
    """What a comparison needs is there."""
    assert gc.isenabled()
    (named,) = read_batches([write(tmp_path)])
    assert gc.isenabled()
    assert [(row.case_id, row.status) for row in named.batch.results] == [
        ("one", "pass"),
        ("two", "pass"),
    ]
    gc.disable()
    try:
        read_batches([tmp_path])
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_a_file_that_two_paths_lead_to_counts_once(tmp_path: Path) -> None:
    """Naming a folder and its file is no double measurement."""
    path = write(tmp_path)
    assert len(read_batches([tmp_path, path, path.parent / "." / path.name])) == 1


def test_the_search_passes_over_hidden_folders_links_and_depths(tmp_path: Path) -> None:
    """An artifact cannot lead elsewhere, and a search ends."""
    outside = write(tmp_path / "outside")
    root = tmp_path / "root"
    write(root / ".hidden")
    write(root / "a" / "b" / "c" / "d" / "e" / "f")
    (root / "folder").symlink_to(outside.parent)
    (root / "results.json").symlink_to(outside)
    assert len(read_batches([root])) == 1
    write(root / "a" / "b" / "c" / "d" / "e" / "f" / "too-deep")
    assert len(read_batches([root])) == 1


def test_an_empty_folder_and_a_missing_file_name_the_next_step(tmp_path: Path) -> None:
    """Nothing is never taken for nothing wrong."""
    for path, cause in ((tmp_path, "holds no results.json"), (tmp_path / "x", "no such file")):
        with pytest.raises(DocumentError, match=cause) as caught:
            read_batches([path])
        assert "name a batch's folder" in caught.value.remedy


def test_too_many_files_and_too_large_ones_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limits hold."""
    write(tmp_path / "a")
    write(tmp_path / "b")
    monkeypatch.setattr(measured_files, "MAX_FILES", 1)
    with pytest.raises(DocumentError, match="holds more than 1 files"):
        read_batches([tmp_path])
    monkeypatch.setattr(measured_files, "MAX_BYTES", 10)
    with pytest.raises(DocumentError, match="larger than 10 bytes"):
        read_batches([tmp_path / "a"])


def row(**changes: Any) -> bytes:  # noqa: ANN401 - any field
    """A batch whose second row is changed, a field a line."""
    rows = [BATCH["results"][0], {**BATCH["results"][1], **changes}]
    return json.dumps({**BATCH, "results": rows}, indent=0).encode()


BAD_FILES: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "1: no valid JSON: Input data was truncated"),
    "cut": (json.dumps(BATCH, indent=1).encode()[:-9], "no valid JSON: Input data was truncated"),
    "no json": (b'{"a": 1,\n oops}', "2: no valid JSON"),
    "nan": (b'{"schema_version": NaN}', "1: no valid JSON"),
    "text after": (json.dumps(BATCH).encode() + b"\nx", "2: no valid JSON"),
    "not utf-8": (b'{"schema_version": 1,\n"batch_run_id": "\xe9"}', "2: not UTF-8 text"),
    "list": (b"[]", "field schema_version: schema_version is None"),
    "newer": (b'{"schema_version": 2}', "schema_version is 2, this release reads 1"),
    "newer but alike": (json.dumps({**BATCH, "schema_version": 3}).encode(), "version is 3"),
    "version is a list": (b'{"schema_version":' + b"[" * 100_000, "schema_version is None"),
    "no options": (b'{"schema_version": 1, "batch_run_id": "x", "complete": true}',
                   "missing required field 'options'"),
    "status": (row(status="passed"), "field results[1].status: Invalid enum value 'passed'"),
    "type": (row(timed_out="no"), "field results[1].timed_out: Expected 'bool', got 'str'"),
    "tier": (row(token_hits={"x": {"tier": 1}}), "field results[1].token_hits[...]: Object miss"),
    "no agent": (row(agent=""), "field results[1].agent: is empty"),
    "no case": (row(case_id=""), "field results[1].case_id: is empty"),
    "trial": (row(trial=0), "field results[1].trial: counts from 1"),
    "same trial": (row(case_id="one"), "field results[1].trial: claude:one trial 1 is already"),
    "same id": (row(unit_run_id=BATCH["results"][0]["unit_run_id"]),
                "field results[1].unit_run_id:"),
    "too deep": (b'{"more":' + b"[" * 100_000, "nested too deeply"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_FILES)
def test_damaged_results_say_where(tmp_path: Path, name: str) -> None:
    """File, line or field, and what to do; never a traceback."""
    content, cause = BAD_FILES[name]
    path = tmp_path / "results.json"
    path.write_bytes(content)
    with pytest.raises(DocumentError) as caught:
        read_batches([path])
    assert caught.value.exit_code is ExitCode.USAGE
    assert str(caught.value).startswith(f"{path}")
    assert cause in str(caught.value)
    assert caught.value.remedy


def test_a_wrong_field_names_its_line(tmp_path: Path) -> None:
    """Where the file is small enough to look."""
    path = tmp_path / "results.json"
    path.write_bytes(row(status="passed"))
    with pytest.raises(DocumentError) as caught:
        read_batches([path])
    line = caught.value.line or 0
    assert path.read_text(encoding="utf-8").splitlines()[line - 1] == '"status": "passed",'


def test_a_byte_order_mark_is_no_damage(tmp_path: Path) -> None:
    """A file that went through an editor is read."""
    path = write(tmp_path)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert len(read_batches([path])) == 1


def test_a_folder_that_cannot_be_listed_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No part of an artifact is passed over in silence."""

    def refuse(_: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("routing_action.results.measured_files.os.scandir", refuse)
    with pytest.raises(DocumentError, match="cannot be listed: Permission denied"):
        read_batches([tmp_path])


MANY = make_results(*(make_row(n, trial=n, error="\n    },\n  ]\n}") for n in range(1, 30)))


@pytest.mark.parametrize("size", [1, 97, 1000, 2**20])
def test_a_run_file_is_read_in_blocks_to_the_same_batch(
    size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a block ends changes nothing, and the file is never held in one piece."""
    text = render_results(MANY)
    (tmp_path / "results.json").write_text(json.dumps(json.loads(text)), encoding="utf-8")
    (whole,) = read_batches([tmp_path])
    (tmp_path / "results.json").write_text(text, encoding="utf-8")
    monkeypatch.setattr(row_blocks, "BLOCK_BYTES", size)
    monkeypatch.setattr(measured_files, "read_bytes", None)
    (streamed,) = read_batches([tmp_path])
    assert streamed == whole
    assert len(streamed.batch.results) == 29


@pytest.mark.parametrize("name", ["status", "type", "no agent", "trial", "same trial", "same id"])
def test_damage_in_a_run_file_is_told_as_in_any_other(name: str, tmp_path: Path) -> None:
    """The layout of a run, which is read in blocks, gives the same place and cause."""
    content, cause = BAD_FILES[name]
    path = tmp_path / "results.json"
    path.write_text(json.dumps(json.loads(content), indent=2) + "\n", encoding="utf-8")
    with path.open("rb") as stream:
        assert row_blocks.has_run_layout(stream, 2**20)
    with pytest.raises(DocumentError) as caught:
        read_batches([path])
    assert cause in str(caught.value)
