"""Reads trigger files of skill-creator and its kin, and turns them into cases.

Forms (skill-creator's run_eval.py and its evals.json): a list of `{"query", "should_trigger"}`, or
an object with such a list, or one of prompts, under `evals`, and perhaps the name of the skill as
`skill_name`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, StrictBool

from routing_action.files.documents import validate
from routing_action.files.json_text import JsonText

CATEGORY = "trigger"


class Trigger(BaseModel):
    """A query, and whether the skill should take it; without a word of that it should."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    query: Annotated[
        str,
        Field(validation_alias=AliasChoices("query", "prompt"), min_length=1, max_length=100_000),
    ]
    should_trigger: StrictBool = True


@dataclass(frozen=True, slots=True)
class TriggerFile:
    """The queries in the file's order; `skill` is "" where the file does not name it."""

    skill: str
    triggers: tuple[Trigger, ...]


def parse_trigger_file(document: JsonText, value: object) -> TriggerFile | None:
    """A trigger file's decoded content; None where it is none, such as a case file.

    Raises DocumentError for an entry that is no trigger, with its line and field.
    """
    path: tuple[str, ...] = ()
    skill: object = ""
    if isinstance(value, dict):
        path, skill, value = ("evals",), value.get("skill_name"), value.get("evals")
    skill = skill if isinstance(skill, str) else ""
    entries = value if isinstance(value, list) else []
    fields = [set(entry) for entry in entries if isinstance(entry, dict)]
    known = any("should_trigger" in own or "query" in own for own in fields)
    if any("case_id" in own for own in fields) or not (known or (skill and fields)):
        return None
    guide = 'a trigger is {"query": "...", "should_trigger": true}'
    return TriggerFile(
        skill,
        tuple(
            validate(Trigger, document, (*path, place), entry, remedy=guide)
            for place, entry in enumerate(entries)
        ),
    )


def cases_of(file: TriggerFile, skill: str) -> list[dict[str, Any]]:
    """The fields of a case for each query: the skill is expected, or it must not be used."""
    return [
        {
            "case_id": f"trigger-{number}",
            "category": CATEGORY,
            "prompt": trigger.query,
            "expected_skill": skill if trigger.should_trigger else "",
            **({} if trigger.should_trigger else {"disallowed_skills": [skill]}),
        }
        for number, trigger in enumerate(file.triggers, start=1)
    ]
