"""Results are found and read; damaged ones are an error with its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from routing_action.errors import DocumentError, ExitCode
from routing_action.results import find, read
from routing_action.results.batch_folder import render_results
from routing_action.results.measured import MeasuredBatch
from routing_action.results.model import Options, Results
from routing_action.results.read import read_batches, read_results, stream_rows
from tests.support.result_rows import make_results, make_row

BATCH = json.loads(render_results(make_results(make_row(1), make_row(2, case_id="two"))))


def write(folder: Path, **options: Any) -> Path:  # noqa: ANN401 - any option
    """A results.json in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    value = {**BATCH, "options": {**BATCH["options"], **options}}
    path = folder / "results.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def names(batches: list[MeasuredBatch]) -> list[tuple[str, int]]:
    return [(named.key, named.attempt) for named in batches]


def test_an_artifacts_folder_names_keys_and_attempts(tmp_path: Path) -> None:
    """A batch that says nothing of a matrix takes them over."""
    shard = {"matrix_key": "claude-s1of2", "attempt": 2}
    write(tmp_path / "routing-results-claude-s1of2-a2" / "batch", **shard)
    write(tmp_path / "routing-results-a-b-a10", attempt=1)
    assert names(read_batches([tmp_path])) == [("a-b", 10), ("claude-s1of2", 2)]


@pytest.mark.parametrize("options", [{"matrix_key": "x"}, {"matrix_key": "a", "attempt": 9}])
def test_g1_an_artifact_holds_what_it_is_named_after(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    """Results of another leg or attempt were put there by somebody else."""
    write(tmp_path / "routing-results-a-a2", **options)
    with pytest.raises(DocumentError, match="lies in the artifact"):
        read_batches([tmp_path])


def test_g1_an_artifact_inside_another_has_no_name_of_its_own(tmp_path: Path) -> None:
    """An agent may have made it; a second results.json in one artifact is an error."""
    write(tmp_path / "routing-results-a-a1" / "routing-results-b-a9")
    assert names(read_batches([tmp_path])) == [("a", 1)]
    write(tmp_path / "routing-results-a-a1")
    with pytest.raises(DocumentError, match="is a second"):
        read_batches([tmp_path])


def test_g2_rows_that_were_changed_are_rejected(tmp_path: Path) -> None:
    """The counts are those of the rows, and a row that passes lacks nothing."""
    path = write(tmp_path)
    text = path.read_text("utf-8")
    changed = text.replace('"status":"pass"', '"status":"fail"').replace(
        '"status": "pass"', '"status": "fail"'
    )
    path.write_text(changed, "utf-8")
    with pytest.raises(DocumentError, match="does not match the rows"):
        read_batches([path])
    value = json.loads(text)
    value["results"][0]["missing_evidence"] = ["foo"]
    path.write_text(json.dumps(value), "utf-8")
    with pytest.raises(DocumentError, match="passes although evidence is missing"):
        read_batches([path])


def test_without_such_a_folder_the_batch_names_itself(tmp_path: Path) -> None:
    """By its matrix key, else by its agents."""
    keyed = write(tmp_path / "one", matrix_key="claude-s1of1", attempt=3)
    plain = write(tmp_path / "two", agents=["claude", "codex"])
    assert names(read_batches([keyed, plain])) == [("claude-s1of1", 3), ("claude,codex", 1)]


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
    monkeypatch.setattr(find, "MAX_FILES", 1)
    with pytest.raises(DocumentError, match="holds more than 1 files"):
        read_batches([tmp_path])
    monkeypatch.setattr(read, "MAX_BYTES", 10)
    with pytest.raises(DocumentError, match="larger than 10 bytes"):
        read_batches([tmp_path / "a"])


def row(**changes: Any) -> bytes:  # noqa: ANN401 - any field
    """A batch whose second row is changed, a field a line."""
    rows = [BATCH["results"][0], {**BATCH["results"][1], **changes}]
    return json.dumps({**BATCH, "results": rows}, indent=0).encode()


BAD_FILES: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "1: no valid JSON"),
    "cut": (json.dumps(BATCH, indent=1).encode()[:-9], "no valid JSON"),
    "no json": (b'{"a": 1,\n oops}', "2: no valid JSON"),
    "nan": (b'{"schema_version": NaN}', "1: NaN is no JSON number"),
    "text after": (json.dumps(BATCH).encode() + b"\nx", "2: no valid JSON"),
    "not utf-8": (b'{"schema_version": 1,\n"batch_run_id": "\xe9"}', "2: not UTF-8 text"),
    "key twice": (b'{"schema_version": 1,\n"schema_version": 1}', "2: field schema_version: "),
    "list": (b"[]", "field schema_version: is missing"),
    "no version": (b"{}", "field schema_version: is missing"),
    "newer": (b'{"schema_version": 2}', "schema_version: is 2, routing-action"),
    "newer but alike": (json.dumps({**BATCH, "schema_version": 3}).encode(), "version: is 3"),
    "version is a list": (b'{"schema_version":' + b"[" * 100_000, "nested too deeply"),
    "no options": (json.dumps({k: v for k, v in BATCH.items() if k != "options"}).encode(),
                   "field options: is missing"),
    "no rows": (json.dumps({k: v for k, v in BATCH.items() if k != "results"}).encode(),
                "field results: "),
    "status": (row(status="passed"), "field results[1].status: must be 'pass'"),
    "type": (row(timed_out="no"), "field results[1].timed_out: must be true or false"),
    "tier": (row(token_hits={"x": {"tier": 1}}), "field results[1].token_hits.x.best_score: "),
    "no agent": (row(agent=""), "field results[1].agent: is empty"),
    "no case": (row(case_id=""), "field results[1].case_id: is empty"),
    "trial": (row(trial=0), "field results[1].trial: must be greater than or equal to 1"),
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

    monkeypatch.setattr("routing_action.results.find.os.scandir", refuse)
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
    monkeypatch.setattr(read, "BLOCK_BYTES", size)
    monkeypatch.setattr(read, "read_bytes", None)
    (streamed,) = read_batches([tmp_path])
    assert streamed == whole
    assert len(streamed.rows) == 29


@pytest.mark.parametrize("name", ["status", "type", "no agent", "trial", "same trial", "same id"])
def test_damage_in_a_run_file_is_told_as_in_any_other(name: str, tmp_path: Path) -> None:
    """The layout of a run, which is read in blocks, gives the same place and cause."""
    content, cause = BAD_FILES[name]
    path = tmp_path / "results.json"
    path.write_text(json.dumps(json.loads(content), indent=2) + "\n", encoding="utf-8")
    with pytest.raises(DocumentError) as caught:
        read_batches([path])
    assert cause in str(caught.value)


# ---- rows that stream


def lay_out(folder: Path, results: Results, **layout: Any) -> Path:  # noqa: ANN401
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
    return [row.unit_run_id for _, rows in stream_rows(paths) for row in rows]


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
    monkeypatch.setattr(read, "BLOCK_BYTES", size)
    results = read_results(lay_out(tmp_path, RESULTS))
    assert [one.unit_run_id for one in results.results] == IDS
    assert results.results[0].error == HOSTILE


@pytest.mark.parametrize("layout", [{"indent": None}, {"indent": 4}, {"indent": "\t"}])
def test_other_layouts_give_the_same_rows(layout: dict[str, Any], tmp_path: Path) -> None:
    """A minified or hand-made file is read in one piece."""
    assert ids(lay_out(tmp_path, RESULTS, **layout)) == IDS


def test_a_file_is_not_held_in_memory_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Our own layout never takes the way of one piece."""
    monkeypatch.setattr(read, "read_bytes", None)
    assert ids(lay_out(tmp_path, RESULTS)) == IDS


def test_an_empty_batch_has_no_units(tmp_path: Path) -> None:
    """A run that was interrupted at once leaves a file without rows."""
    assert ids(lay_out(tmp_path, make_results())) == []


def test_only_the_highest_attempt_of_a_key_is_shown(tmp_path: Path) -> None:
    """A job that ran again replaces its first attempt; other jobs stay."""
    first = lay_out(tmp_path / "routing-results-claude-a1", make_results(make_row(1)))
    second = lay_out(tmp_path / "routing-results-claude-a2", make_results(make_row(2)))
    other = lay_out(tmp_path / "routing-results-codex-a1", make_results(make_row(3, agent="codex")))
    assert ids(tmp_path) == ids(second, other)
    assert ids(first) == [make_row(1).unit_run_id]


@pytest.mark.parametrize("layout", [{}, {"indent": None}])
def test_attempts_are_told_by_the_plan_where_no_artifact_names_them(
    layout: dict[str, Any], tmp_path: Path
) -> None:
    """The same rule holds for folders of a desk, in every layout."""
    lay_out(tmp_path / "x", of_attempt(make_results(make_row(1)), 2), **layout)
    lay_out(tmp_path / "y", make_results(make_row(2)), **layout)
    assert ids(tmp_path) == [make_row(1).unit_run_id]


def break_rows(text: str) -> str:
    return text.replace('"trial": 1,', '"trial": "one",', 1)


@pytest.mark.parametrize("layout", [{}, {"indent": None, "separators": (", ", ": ")}])
def test_a_damaged_file_is_named(layout: dict[str, Any], tmp_path: Path) -> None:
    """The error tells which artifact to fetch again, streamed or not."""
    path = lay_out(tmp_path, RESULTS, **layout)
    path.write_text(break_rows(path.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(DocumentError, match=r"\[0\]\.trial: must be a valid integer"):
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
    with pytest.raises(DocumentError, match="schema_version: is missing"):
        ids(tmp_path)


def test_a_file_that_is_gone_is_named(tmp_path: Path) -> None:
    """A path that does not exist is no empty report."""
    with pytest.raises(DocumentError, match=r"gone\.json"):
        ids(tmp_path / "gone.json")


# ---- whole results


def test_a_file_that_only_looks_like_a_runs_is_read_too(tmp_path: Path) -> None:
    """Somebody's tool moved the rows, or has them stand in another way."""
    skill = {"name": "foo", "agents": ["claude"], "path": "skills/foo", "description": "x"}
    rows = BATCH["results"]
    moved = {**{k: v for k, v in BATCH.items() if k != "skills"}, "skills": [skill]}
    path = tmp_path / "results.json"
    path.write_text(json.dumps(moved, indent=2), encoding="utf-8")
    assert len(read_results(path).results) == len(read_batches([path])[0].rows) == len(rows)
    head = json.dumps({**BATCH, "results": []}, indent=2).removesuffix("[]\n}")
    odd = json.dumps(rows[0]).replace('"token_hits": {}', '"token_hits": {\n    },\n"x": 1')
    text = f"{head}[\n    {odd},\n    {json.dumps(rows[1])[:-1]}\n    }}\n  ]\n}}"
    path.write_text(text, encoding="utf-8")
    assert len(read_results(path).results) == len(read_batches([path])[0].rows) == len(rows)


@pytest.mark.parametrize("text", ["[]", "{}", '{"schema_version": 2}'])
def test_results_of_another_schema_are_refused(tmp_path: Path, text: str) -> None:
    """A results.json that another release wrote is not half-read."""
    path = tmp_path / "results.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DocumentError, match="schema_version: is"):
        read_results(path)


def test_results_with_a_wrong_field_name_it(tmp_path: Path) -> None:
    """A damaged results.json says which field."""
    path = tmp_path / "results.json"
    path.write_text('{"schema_version": 1, "batch_run_id": "x"}', encoding="utf-8")
    with pytest.raises(DocumentError, match=r"field batch_run_id"):
        read_results(path)


def test_fields_of_a_later_release_are_passed_over(tmp_path: Path) -> None:
    """In the file, its options and its rows, for every reader."""
    rows = [{**BATCH["results"][0], "new": 1}]
    value = {**BATCH, "new": 1, "options": {**BATCH["options"], "new": 1}, "results": rows}
    value["summary"] = {**BATCH["summary"], "total": 1, "pass": 1}
    path = tmp_path / "results.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    assert len(read_results(path).results) == 1
    assert len(read_batches([path])[0].rows) == 1
    assert ids(path) == [BATCH["results"][0]["unit_run_id"]]


def test_totals_that_do_not_match_are_an_error(tmp_path: Path) -> None:
    """Whoever changed rows by hand is told."""
    path = tmp_path / "results.json"
    summary = {**BATCH["summary"], "total": 9}
    path.write_text(json.dumps({**BATCH, "summary": summary}), encoding="utf-8")
    with pytest.raises(DocumentError, match="summary does not match the rows"):
        read_results(path)
