"""Units stream from results.json files, whatever their layout, and from no more than is there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from routing_action.errors import DocumentError
from routing_action.results import row_blocks, unit_files
from routing_action.results.batch_folder import render_results
from routing_action.results.model import Options, Results
from routing_action.results.unit_files import stream_units
from tests.support.result_rows import make_results, make_row


def write(folder: Path, results: Results, **layout: Any) -> Path:  # noqa: ANN401
    """A results.json as a run writes it, or in another layout."""
    folder.mkdir(parents=True, exist_ok=True)
    text = render_results(results)
    if layout:
        text = json.dumps(json.loads(text), **layout)
    path = folder / "results.json"
    path.write_text(text, encoding="utf-8")
    return path


def of_attempt(results: Results, attempt: int) -> Results:
    options = Options.model_validate({**results.options.model_dump(), "attempt": attempt})
    return results.model_copy(update={"options": options})


def ids(*paths: Path) -> list[str]:
    return [record.row.unit_run_id for record in stream_units(paths)]


HOSTILE = '\n    },\n    {"results": [\n  "results": [\n  ]\n}'
RESULTS = make_results(
    *(make_row(n, trial=n, error=HOSTILE, output_excerpt="é\x00\u2028" * 50) for n in range(1, 40))
)
IDS = [row.unit_run_id for row in RESULTS.results]


@pytest.mark.parametrize("size", [1, 97, 1000, 2**20])
def test_every_row_comes_once_and_in_order_whatever_the_size_of_a_block(
    size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a block ends makes no difference, nor does text that looks like the end of a row."""
    monkeypatch.setattr(row_blocks, "BLOCK_BYTES", size)
    records = list(stream_units([write(tmp_path, RESULTS)]))
    assert [record.row.unit_run_id for record in records] == IDS
    assert records[0].row.error == HOSTILE


@pytest.mark.parametrize("layout", [{"indent": None}, {"indent": 4}, {"indent": "\t"}])
def test_other_layouts_give_the_same_rows(layout: dict[str, Any], tmp_path: Path) -> None:
    """A minified or hand-made file is read in one piece."""
    assert ids(write(tmp_path, RESULTS, **layout)) == IDS


def test_a_file_is_not_held_in_memory_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Our own layout never takes the way of one piece."""
    monkeypatch.setattr(unit_files, "read_bytes", None)
    assert ids(write(tmp_path, RESULTS)) == IDS


def test_an_empty_batch_has_no_units(tmp_path: Path) -> None:
    """A run that was interrupted at once leaves a file without rows."""
    assert ids(write(tmp_path, make_results())) == []


def test_only_the_highest_attempt_of_a_key_is_shown(tmp_path: Path) -> None:
    """A job that ran again replaces its first attempt; other jobs stay."""
    first = write(tmp_path / "routing-results-claude-a1", make_results(make_row(1)))
    second = write(tmp_path / "routing-results-claude-a2", make_results(make_row(2)))
    other = write(tmp_path / "routing-results-codex-a1", make_results(make_row(3, agent="codex")))
    assert ids(tmp_path) == ids(second, other)
    assert ids(first) == [make_row(1).unit_run_id]


@pytest.mark.parametrize("layout", [{}, {"indent": None}])
def test_attempts_are_told_by_the_plan_where_no_artifact_names_them(
    layout: dict[str, Any], tmp_path: Path
) -> None:
    """The same rule holds for folders of a desk, in every layout."""
    write(tmp_path / "x", of_attempt(make_results(make_row(1)), 2), **layout)
    write(tmp_path / "y", make_results(make_row(2)), **layout)
    assert ids(tmp_path) == [make_row(1).unit_run_id]


def break_rows(text: str) -> str:
    return text.replace('"trial": 1,', '"trial": "one",', 1)


@pytest.mark.parametrize("layout", [{}, {"indent": None, "separators": (", ", ": ")}])
def test_a_damaged_file_is_named(layout: dict[str, Any], tmp_path: Path) -> None:
    """The error tells which artifact to fetch again, streamed or not."""
    path = write(tmp_path, RESULTS, **layout)
    path.write_text(break_rows(path.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(DocumentError, match=r"results\.json: cannot be read: Expected `int`"):
        ids(path)


@pytest.mark.parametrize(
    "text",
    ["", "{}", '{\n  "a": [\n    {\n    }\n  ]\n}', '{\n  "results": [\n    {\n    }\n  ]\n}'],
)
def test_what_is_no_batch_is_refused(text: str, tmp_path: Path) -> None:
    """Nothing is guessed where there are no rows."""
    path = tmp_path / "results.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DocumentError):
        ids(path)


def test_two_damaged_files_are_refused_when_their_attempts_are_asked_for(tmp_path: Path) -> None:
    """Also where only the head of a file is read at first."""
    for name in ("x", "y"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "results.json").write_text("{}", encoding="utf-8")
    with pytest.raises(DocumentError, match="cannot be read"):
        ids(tmp_path)


def test_a_file_that_is_gone_is_named(tmp_path: Path) -> None:
    """A path that does not exist is no empty report."""
    with pytest.raises(DocumentError, match=r"gone\.json"):
        ids(tmp_path / "gone.json")
