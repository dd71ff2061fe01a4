"""What a description says of a stream of JSON lines: its parts, their paths and conditions.

Every field is described in docs/reference/routing-toml.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    StringConstraints,
    model_validator,
)
from pydantic_core.core_schema import CoreSchema, no_info_before_validator_function

_LONGEST_PATH = 300


def check_pattern(pattern: str) -> str:
    """The pattern itself; ValueError where it is no regular expression."""
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"not a regular expression: {error}") from None
    return pattern


def _flatten(value: Any, lead: str = "") -> Any:  # noqa: ANN401
    """Conditions by path, each with the values that fit; `a.b = 1` is a table in a table."""
    if not isinstance(value, dict):
        return value
    flat: dict[str, Any] = {}
    for name, wanted in value.items():
        path = f"{lead}.{name}" if lead else name
        if len(path) > _LONGEST_PATH:
            raise ValueError(f"a path of more than {_LONGEST_PATH} characters")
        if isinstance(wanted, dict):
            flat |= _flatten(wanted, path)
        else:
            flat[path] = wanted if isinstance(wanted, list | tuple) else [wanted]
    return flat


def _listed(value: object) -> object:
    """One value is a list of one, and none an empty one."""
    if value is None:
        return ()
    return value if isinstance(value, list | tuple) else (value,)


class _OneOrMore:
    """Marks a list that may be written as the one thing in it."""

    def __get_pydantic_core_schema__(
        self,
        source: object,
        handler: GetCoreSchemaHandler,
    ) -> CoreSchema:
        return no_info_before_validator_function(_listed, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        listed = handler(schema)
        return {"anyOf": [listed["items"], listed]}


FieldPath = Annotated[
    str, StringConstraints(pattern=r"^[^.\s]+(?:\.[^.\s]+){0,15}$", max_length=_LONGEST_PATH)
]
Short = Annotated[str, StringConstraints(min_length=1, max_length=300)]
Names = Annotated[tuple[Short, ...], Field(max_length=200)]
Kinds = Annotated[Names, Field(min_length=1)]
Pattern = Annotated[str, StringConstraints(max_length=1000)]
Expression = Annotated[Pattern, AfterValidator(check_pattern)]
Scalar = bool | int | str
Conditions = Annotated[
    dict[FieldPath, Annotated[tuple[Scalar, ...], Field(min_length=1, max_length=200)]],
    BeforeValidator(_flatten, json_schema_input_type=dict[str, Any]),
]
Paths = Annotated[tuple[FieldPath, ...], Field(min_length=1, max_length=8), _OneOrMore()]


class Model(BaseModel):
    """A table of the file, in which every unknown field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Part(Model):
    """Records of some kinds, of which those count that fit `where`.

    With `each`, every entry of the list there counts by itself, and paths start at the entry.
    """

    kinds: Kinds
    where: Conditions = Field(default_factory=dict)
    each: FieldPath | None = None


class TextPart(Part):
    """Records that hold what the agent wrote."""

    text: FieldPath


class CallPart(Part):
    """Records of a tool call; which field is its target is decided by the tool's name."""

    tool: FieldPath
    id: Paths | None = None
    skill: FieldPath | None = None
    file: FieldPath | None = None
    offset: FieldPath | None = None
    command: FieldPath | None = None
    cwd: FieldPath | None = None


_FAILED = re.compile(r"(?:^|[._])(?:is_?)?(?:error(?:ed)?|fail(?:ed|ure)?)$", re.IGNORECASE)
"""How a field is called that is true where a call failed."""


class ResultPart(Part):
    """Records of a tool's result; with `tools` only those of calls of these tools.

    Without success a call proves nothing.
    """

    tools: Names = ()
    id: Paths | None = None
    success: FieldPath | None = None
    success_is: Scalar = True
    success_pattern: Expression | None = None
    failure_pattern: Expression | None = None
    exit_code: FieldPath | None = None
    output: FieldPath | None = None
    folder: FieldPath | None = None

    @model_validator(mode="after")
    def _says_what_success_is(self) -> Self:
        patterns = self.success_pattern is not None or self.failure_pattern is not None
        if self.success is None and not patterns:
            raise ValueError("success: is missing, or success_pattern, or failure_pattern")
        if patterns and self.output is None:
            raise ValueError("output: is missing, the path of the text that a pattern is for")
        if self.success_is is True and _FAILED.search(self.success or ""):
            raise ValueError(f'success: "{self.success}" tells of failures: add success_is = false')
        return self


class FailurePart(Part):
    """Records of an API failure; with `when` only those in which that field holds something.

    Of several failures the last one is the cause, or the first one.
    """

    when: FieldPath | None = None
    message: FieldPath
    code: FieldPath | None = None
    status: FieldPath | None = None
    limit_codes: Names = ()
    keep: Literal["first", "last"] = "last"


class EndPart(Part):
    """Records that end a run."""


class UsagePart(Part):
    """Records of usage: the last one stands, or all are added up, each `id` once."""

    mode: Literal["last", "sum"] = "last"
    id: FieldPath | None = None
    input_tokens: FieldPath | None = None
    output_tokens: FieldPath | None = None
    cached_input_tokens: FieldPath | None = None
    reasoning_tokens: FieldPath | None = None
    cost_usd: FieldPath | None = None


class AboutPart(Part):
    """Records that tell of the run itself; `skills` is the catalogue that the agent is offered."""

    model: FieldPath | None = None
    cli_version: FieldPath | None = None
    skills: FieldPath | None = None


class ToolNames(Model):
    """Which tools load a skill, read a file, or run a command; all others are activity."""

    skill: Names = ()
    file: Names = ()
    shell: Names = ()


_P = TypeVar("_P", bound=Part)
Several = Annotated[tuple[_P, ...], Field(max_length=50), _OneOrMore()]
"""One table, or several of the same name."""
Some = Annotated[tuple[_P, ...], Field(min_length=1, max_length=50), _OneOrMore()]
PARTS = ("about", "usage", "text", "call", "result", "retry", "error", "end")
"""In the order in which they take a record: a call before its result."""


class Records(Model):
    """How a stream of JSON lines is read: `kind` is the field that says what a record is.

    Of several such fields the first one that a record has counts.
    """

    kind: Paths
    quiet: Names = ()
    subagent: FieldPath | None = None
    subagent_kinds: Names = ()
    loads: Literal["skill_tool", "skill_file"] = "skill_tool"
    tools: ToolNames
    call: Some[CallPart]
    result: Some[ResultPart]
    text: Several[TextPart] = ()
    end: Some[EndPart]
    error: Several[FailurePart] = ()
    retry: Several[FailurePart] = ()
    usage: Several[UsagePart] = ()
    about: Several[AboutPart] = ()

    def parts(self) -> Iterator[tuple[str, Part]]:
        """Every part with its name."""
        return ((name, part) for name in PARTS for part in getattr(self, name))

    @model_validator(mode="after")
    def _can_show_a_load(self) -> Self:
        by_file = self.loads == "skill_file"
        if not (self.tools.file if by_file else self.tools.skill):
            place = "file" if by_file else "skill"
            raise ValueError(f"tools: {place} is missing, the tools by which a skill is loaded")
        if not any(call.file if by_file else call.skill for call in self.call):
            place = "file, the path" if by_file else "skill, the name"
            raise ValueError(f"call: {place} of what is loaded, is missing")
        return self

    @model_validator(mode="after")
    def _success_can_differ(self) -> Self:
        """A field that is the same in every such record would make every call a success."""
        for part in self.result:
            fixed = {path for path, values in part.where.items() if len(values) == 1}
            lead = "$." if part.each else ""
            if part.success in fixed | {f"{lead}{path}" for path in self.kind}:
                raise ValueError(
                    f"result: success is `{part.success}`, which is the same in every record of "
                    "these kinds; name the field that differs when a tool fails"
                )
        return self
