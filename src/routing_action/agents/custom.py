"""Builds a provider from the user's description, and reads its stream by field paths."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from routing_action.agents.provider import Provider, ReadContext
from routing_action.agents.reading.decoding import (
    Record,
    as_amount,
    as_count,
    as_list,
    as_record,
    as_text,
    command_text,
    flatten_text,
    render_arguments,
)
from routing_action.agents.reading.failures import StderrRule
from routing_action.agents.reading.records import RecordReader
from routing_action.agents.routing_file import (
    AboutPart,
    CallPart,
    CustomProvider,
    FailurePart,
    Records,
    ResultPart,
    UsagePart,
)
from routing_action.evidence.tiers import canonical_call
from routing_action.evidence.transcript import LEADS_NOWHERE, EvidenceLine, LineKind, Usage

_TOKENS = ("input_tokens", "output_tokens", "cached_input_tokens", "reasoning_tokens")
_MOST_IDS = 10_000
_READER_FIELDS = {"title", "records", "text_load", "stderr_failures"}
"""What of a description is not a field of the same name in the record of an agent."""


def build_provider(name: str, described: CustomProvider) -> Provider:
    """The record of an agent that the user described."""
    usage, end = described.records.usage, described.records.end
    tells = usage is not None and usage.cost_usd is not None
    at_end = tells and usage is not None and set(usage.kinds) <= set(end.kinds)
    return Provider(
        name=name,
        title=described.title or name,
        reader=partial(CustomReader, name, described),
        has_unseen_login=True,
        reports_cost="end" if at_end else "during" if tells else "never",
        documentation="Described in routing.toml: a call of a skill tool with a successful result.",
        **described.model_dump(exclude=_READER_FIELDS),
    )


def find_value(record: Record, path: str | None) -> object:
    """What stands at `a.b.0`: names of fields, and numbers for places in a list; None for none."""
    value: object = record if path else None
    for part in (path or "").split("."):
        if isinstance(value, list):
            place = int(part) if part.isdecimal() and len(part) < 6 else len(value)
            value = value[place] if place < len(value) else None
        else:
            value = as_record(value).get(part)
    return value


class CustomReader(RecordReader):
    """Reads a stream of JSON lines as its description says."""

    def __init__(self, name: str, described: CustomProvider, context: ReadContext) -> None:
        """Start with nothing used."""
        super().__init__(context)
        self._name = name
        self._records_layout: Records = described.records
        self._text_load = re.compile(described.text_load) if described.text_load else None
        self.text_shows_loads = self._text_load is not None
        self.stderr_rules = tuple(
            StderrRule(re.compile(rule.pattern), rule.failure) for rule in described.stderr_failures
        )
        self._counted: set[str] = set()
        self._sums: dict[str, float] = {}
        self._paths: dict[str, bool] = {}

    def finish(self, exit_code: int | None = None) -> Iterable[EvidenceLine]:
        """Name the paths at which no record had anything: a wrong one looks like a wrong skill."""
        found = super().finish(exit_code)
        wrong = (path for path, leads_somewhere in self._paths.items() if not leads_somewhere)
        hints = tuple(f"routing.toml: {self._name}: {path}: {LEADS_NOWHERE}" for path in wrong)
        if hints:
            self.note(notes=(*self.summary.notes, *hints))
        return found

    def is_record(self, record: Record) -> bool:
        """True where the field that tells the kind is there."""
        return isinstance(find_value(record, self._records_layout.kind), str)

    def in_subagent(self, record: Record) -> bool:
        """True where the field of a sub-agent holds something."""
        return bool(find_value(record, self._records_layout.subagent))

    def on_text(self, text: str) -> Iterable[EvidenceLine]:
        """In plain text only a whole line of the described form is a load."""
        match = self._text_load.fullmatch(text) if self._text_load else None
        if match is None or not match["skill"]:
            return super().on_text(text)
        self.tool_events += 1
        return (self.line(LineKind.LOAD, canonical_call(match["skill"]), skill=match["skill"]),)

    def on_record(self, record: Record) -> Iterable[EvidenceLine] | None:
        """Every part of the description that names the record's kind; a call before its result."""
        layout = self._records_layout
        kind = as_text(find_value(record, layout.kind))
        found: list[EvidenceLine] = []
        known = kind in layout.quiet
        for name in ("about", "usage", "text", "call", "result", "retry", "error", "end"):
            part = getattr(layout, name)
            if part is not None and kind in part.kinds:
                known = True
                found += getattr(self, f"_{name}")(record, part)
        return found if known else None

    # ---- the parts

    def _about(self, record: Record, part: AboutPart) -> Iterable[EvidenceLine]:
        model = as_text(find_value(record, part.model))
        if not self.in_subagent(record):
            self.answered(model)
        self.note(
            model=self.summary.model or model or None,
            cli_version=as_text(find_value(record, part.cli_version)) or self.summary.cli_version,
        )
        skills = find_value(record, part.skills)
        if isinstance(skills, list):
            self.offer(as_text(one) or as_text(as_record(one).get("name")) for one in skills)
        return ()

    def _usage(self, record: Record, part: UsagePart) -> Iterable[EvidenceLine]:
        identity = as_text(find_value(record, part.id))
        if identity in self._counted:
            return ()
        if identity and part.mode == "sum" and len(self._counted) < _MOST_IDS:
            self._counted.add(identity)
        for name in (*_TOKENS, "cost_usd"):
            value = find_value(record, getattr(part, name))
            number = as_amount(value) if name == "cost_usd" else as_count(value)
            if number is not None:
                before = self._sums.get(name, 0) if part.mode == "sum" else 0
                self._sums[name] = before + number
        counts: dict[str, Any] = {name: self._sums.get(name) for name in _TOKENS}
        self.note(usage=Usage(**counts), cost_usd=self._sums.get("cost_usd"))
        return ()

    def _find(self, record: Record, name: str, path: str) -> object:
        """What stands at a path that must lead somewhere; `name` is its place in routing.toml."""
        value = find_value(record, path)
        place = f'records.{name} = "{path}"'
        self._paths[place] = value is not None or self._paths.get(place, False)
        return value

    def _text(self, record: Record, part: Any) -> Iterable[EvidenceLine]:  # noqa: ANN401
        self.turn()
        return self.say(flatten_text(self._find(record, "text.text", part.text)))

    def _call(self, record: Record, part: CallPart) -> Iterable[EvidenceLine]:
        self.turn()
        tool = as_text(self._find(record, "call.tool", part.tool))
        tools = self._records_layout.tools
        identity = self._identity(record, part.id)
        if tool in tools.skill:
            skill = as_text(self._find(record, "call.skill", part.skill)).strip().lstrip("/")
            self.call(identity, "skill", tool, skill)
        elif tool in tools.file:
            self.call(identity, "file", tool, as_text(find_value(record, part.file)))
        elif tool in tools.shell:
            command = command_text(find_value(record, part.command))
            cwd = as_text(find_value(record, part.cwd))
            self.call(identity, "shell", tool, command, cwd=cwd)
        else:
            self.call(identity, "tool", tool, render_arguments(record))
        return ()

    def _result(self, record: Record, part: ResultPart) -> Iterable[EvidenceLine]:
        """It succeeded where the field says so, and no exit code says otherwise."""
        value = self._find(record, "result.success", part.success)
        code = find_value(record, part.exit_code)
        ok = type(value) is type(part.success_is) and value == part.success_is
        shown = find_value(record, part.output)
        return self.result(
            self._identity(record, part.id),
            ok=ok and code in (None, 0),
            output=flatten_text(shown) or "\n".join(as_text(one) for one in as_list(shown)),
            base=as_text(find_value(record, part.folder)),
        )

    def _identity(self, record: Record, path: str | None) -> object:
        """Without a field for it, a call is paired with the result in the same record alone."""
        return find_value(record, path) if path else f"line {self.number}"

    def _retry(self, record: Record, part: FailurePart) -> Iterable[EvidenceLine]:
        return self._report(record, part, self.retry)

    def _error(self, record: Record, part: FailurePart) -> Iterable[EvidenceLine]:
        return self._report(record, part, self.fail)

    def _report(
        self, record: Record, part: FailurePart, report: Callable[..., None]
    ) -> Iterable[EvidenceLine]:
        """Report an API failure; a limit of the CLI's own is noted instead."""
        if part.when is not None and not find_value(record, part.when):
            return ()
        code = as_text(find_value(record, part.code))
        if code in part.limit_codes:
            self.note(limit=True)
        else:
            message = flatten_text(find_value(record, part.message))
            report(message, kind=code, status=find_value(record, part.status))
        return ()

    def _end(self, record: Record, part: Any) -> Iterable[EvidenceLine]:  # noqa: ANN401
        if self.summary.failure is None:
            self.note(retrying=None)
        self.end()
        return ()
