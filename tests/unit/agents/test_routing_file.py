"""What a description of an agent may say, and what it may not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from routing_action.agents.described.routing_file import Description, RoutingFile, read_routing_file
from routing_action.errors import DocumentError

RECORDS: dict[str, Any] = {
    "kind": "event",
    "tools": {"skill": ["load"]},
    "call": {"kinds": ["call"], "tool": "name", "skill": "args.skill"},
    "result": {"kinds": ["result"], "success": "ok"},
    "end": {"kinds": ["done"]},
}


def described(**fields: Any) -> Description:  # noqa: ANN401 - any field
    """A description that is complete, with changes."""
    basics = {"command": ["acme", "{prompt}"], "records": RECORDS}
    return Description.model_validate({**basics, **fields})


def refusal(**fields: Any) -> str:  # noqa: ANN401 - any field
    """Why a description is refused."""
    with pytest.raises(ValidationError) as caught:
        described(**fields)
    return str(caught.value)


def test_little_is_enough() -> None:
    """A command, and where a call, its result and the end stand."""
    assert described().version_arguments == ("--version",)


@pytest.mark.parametrize(
    "command",
    [
        ["acme", "{prompt}"],
        ["acme", "--prompt={prompt}"],
        ["acme", "-p={prompt}", "--json"],
        ["bash", "scripts/run.sh", "{prompt}"],
        ["bash", "-eu", "scripts/run.sh", "{prompt}"],
        ["pwsh", "-NoProfile", "-File", "run.ps1", "{prompt}"],
        ["acme", "-c", "model=x", "{prompt}"],
        ["./sh", "run", "-c", "{prompt}"],
    ],
)
def test_a_command_is_a_list_in_which_the_prompt_is_an_argument(command: list[str]) -> None:
    """A script may be named, also for a shell to run."""
    assert described(command=command).command == tuple(command)


@pytest.mark.parametrize(
    ("command", "cause"),
    [
        ([], "at least 1"),
        ("acme {prompt}", "tuple"),
        ([" ", "{prompt}"], "first word"),
        (["{prompt}"], "first word"),
        (["acme"], "{prompt} is missing"),
        (["acme", "say {prompt}"], "argument of its own"),
        (["python3", "-c", "print('{prompt}')"], "argument of its own"),
        (["acme", "{prompt}", "{prompt} again"], "argument of its own"),
        (["acme", "a\0b", "{prompt}"], "pattern"),
        (["sh", "-c", "acme $0", "{prompt}"], "run its text as a command"),
        (["/bin/bash", "-lc", "acme", "{prompt}"], "run its text as a command"),
        (["env", "A=1", "dash", "-ec", "x", "{prompt}"], "run its text as a command"),
        (["bash", "--norc", "-c", "x", "{prompt}"], "run its text as a command"),
        (["cmd.exe", "/c", "acme", "{prompt}"], "run its text as a command"),
        (["C:\\Windows\\cmd.EXE", "/C", "acme", "{prompt}"], "run its text as a command"),
        (["pwsh", "-NoProfile", "-Command", "{prompt}"], "run its text as a command"),
        (["powershell", "-EncodedCommand", "{prompt}"], "run its text as a command"),
        (["fish", "--command=x", "{prompt}"], "run its text as a command"),
    ],
)
def test_a_command_never_meets_a_shell(command: object, cause: str) -> None:
    """Neither as one text, nor through a shell that is named."""
    assert cause in refusal(command=command)


@pytest.mark.parametrize(
    ("name", "words"),
    [("model_arguments", ["-m"]), ("turn_arguments", ["-t"]), ("budget_arguments", ["-b"])],
)
def test_arguments_hold_the_place_of_their_value(name: str, words: list[str]) -> None:
    """Else the value would be lost in silence."""
    said = refusal(**{name: words})
    assert f"{name}: {{" in said
    assert "} is missing" in said


@pytest.mark.parametrize("path", ["/etc", "../x", "a/../../b", "a\\b", ""])
@pytest.mark.parametrize("field", ["skill_folders", "credential_files", "shared_caches"])
def test_no_path_leads_out_of_home_or_workspace(field: str, path: str) -> None:
    """They are relative, and stay inside."""
    assert field in refusal(**{field: [path]})
    assert "home_variables" in refusal(home_variables={"ACME_HOME": path})


@pytest.mark.parametrize(
    "name",
    ["GITHUB_TOKEN", "github_token", "ACTIONS_RUNTIME_TOKEN", "INPUT_TOKEN", "RUNNER_TEMP",
     "ROUTING_ACTION_UNIT", "A-B", "", "1A", "A=B"],
)  # fmt: skip
def test_no_variable_of_the_workflow_is_asked_for(name: str) -> None:
    """Neither as a secret nor otherwise."""
    for fields in (
        {"credential_variables": [name]},
        {"pass_variables": [name]},
        {"set_variables": {name: "1"}},
        {"home_variables": {name: ".x"}},
    ):
        assert next(iter(fields)) in refusal(**fields)


@pytest.mark.parametrize(
    ("pattern", "cause"), [("acme: no key", "start with"), ("^acme(", "not a regular expression")]
)
def test_a_pattern_of_standard_error_is_anchored(pattern: str, cause: str) -> None:
    """An agent's prose must not look like a failure of its CLI."""
    assert cause in refusal(stderr_failures=[{"pattern": pattern}])
    kept = described(stderr_failures=[{"pattern": "^acme: no key", "failure": "auth"}])
    assert kept.stderr_failures[0].failure == "auth"


@pytest.mark.parametrize(
    ("pattern", "cause"), [("loaded .*", "(?P<skill>"), ("(?P<skill>", "not a regular expression")]
)
def test_a_load_in_plain_text_names_its_skill(pattern: str, cause: str) -> None:
    """Without a name it would be anybody's."""
    assert cause in refusal(text_load=pattern)
    assert described(text_load=r"\* skill (?P<skill>\S+)").text_load


@pytest.mark.parametrize("missing", ["kind", "tools", "call", "result", "end"])
def test_what_a_proof_needs_is_required(missing: str) -> None:
    """Without success of the result, for one, every failed call would be a load."""
    records = {name: part for name, part in RECORDS.items() if name != missing}
    assert f"records.{missing}" in refusal(records=records)


@pytest.mark.parametrize("path", ["", ".", "a.", "a..b", "a b"])
def test_a_path_names_its_parts(path: str) -> None:
    """Parts stand between single dots."""
    assert "records.kind" in refusal(records={**RECORDS, "kind": path})


def test_a_file_without_agents_is_fine() -> None:
    """It may be for later."""
    assert RoutingFile.model_validate({}).providers == {}


@pytest.mark.parametrize(
    ("records", "cause"),
    [
        ({"result": {"kinds": ["r"], "success": "event"}}, "the same in every record"),
        ({"result": {"kinds": ["r"], "success": "a.ok", "where": {"a": {"ok": True}}}},
         "the same in every record"),
        ({"result": {"kinds": ["r"], "each": "x", "success": "$.event"}},
         "the same in every record"),
        ({"result": {"kinds": ["r"], "success": "a.isError"}}, "add success_is = false"),
        ({"result": {"kinds": ["r"]}}, "success: is missing, or success_pattern"),
        ({"result": {"kinds": ["r"], "success_pattern": "^ok"}}, "output: is missing"),
        ({"result": {"kinds": ["r"], "success_pattern": "(", "output": "o"}},
         "not a regular expression"),
        ({"tools": {"file": ["cat"]}}, "tools: skill is missing"),
        ({"call": {"kinds": ["c"], "tool": "t"}}, "call: skill, the name"),
        ({"loads": "skill_file"}, "tools: file is missing"),
        ({"loads": "skill_file", "tools": {"file": ["cat"]}}, "call: file, the path"),
        ({"kind": []}, "at least 1"),
        ({"end": []}, "at least 1"),
        ({"text": {"kinds": ["t"], "text": "t", "where": {"a": {"b" * 200: {"c" * 200: 1}}}}},
         "more than 300 characters"),
        ({"text": {"kinds": ["t"], "text": "t", "where": "role"}}, "where"),
    ],
)  # fmt: skip
def test_what_would_pass_every_call_or_none_is_an_error(records: Any, cause: str) -> None:  # noqa: ANN401
    """A field that never differs says nothing about success."""
    assert cause in refusal(records={**RECORDS, **records})


def test_one_part_may_be_several_tables(tmp_path: Path) -> None:
    """An error in one of them is named by its number, in a single one by the field alone."""
    file = tmp_path / "routing.toml"
    head = '[providers.acme]\ncommand = ["acme", "{prompt}"]\n[providers.acme.records]\n'
    head += 'kind = "event"\ntools = { skill = ["load"] }\nend = { kinds = ["done"] }\n'
    call = 'kinds = ["c"]\ntool = "t"\nskill = "s"\n'
    result = '[providers.acme.records.result]\nkinds = ["r"]\nsuccess = "ok"\n'
    for text, place in (
        (f"[providers.acme.records.call]\n{call}id = 3\n", "records.call.id"),
        (f"[[providers.acme.records.call]]\n{call}[[providers.acme.records.call]]\n{call}id = 3\n",
         "records.call[1].id"),
    ):  # fmt: skip
        file.write_text(f"{head}{result}{text}", encoding="utf-8")
        with pytest.raises(DocumentError) as caught:
            read_routing_file(file)
        assert caught.value.field == f"providers.acme.{place}"
