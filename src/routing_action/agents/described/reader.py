"""Reads a stream of JSON lines as its description says: by the paths of fields."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from routing_action.agents.described.parts import (
    AboutPart,
    CallPart,
    EndPart,
    FailurePart,
    Part,
    Records,
    ResultPart,
    TextPart,
    UsagePart,
)
from routing_action.agents.described.paths import Entry, entries_of, find_value, kind_of
from routing_action.agents.described.routing_file import Description
from routing_action.agents.provider import ReadContext
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
from routing_action.evidence.tiers import canonical_call
from routing_action.evidence.transcript import (
    LEADS_NOWHERE,
    OF_A_DESCRIPTION,
    EvidenceLine,
    LineKind,
    Usage,
)

_TOKENS = ("input_tokens", "output_tokens", "cached_input_tokens", "reasoning_tokens")
_MOST_IDS = 10_000


class DescribedReader(RecordReader):
    """Reads one run. `hints` are given on the description itself: where it is the user's own."""

    def __init__(
        self,
        name: str,
        described: Description,
        context: ReadContext,
        *,
        hints: bool = False,
        records: Records | None = None,
    ) -> None:
        """Start with nothing used; `records` are those of a session log."""
        super().__init__(context)
        self._name = name
        self.layout = records or described.records
        self._text_load = re.compile(described.text_load) if described.text_load else None
        self.text_shows_loads = self._text_load is not None
        self.prose_on_stderr = described.prose_on_stderr
        self.file_loads = self.layout.loads == "skill_file"
        self.stderr_rules = tuple(
            StderrRule(re.compile(rule.pattern), rule.failure) for rule in described.stderr_failures
        )
        self._parts: dict[str, list[tuple[Callable[..., Iterable[EvidenceLine]], Part]]] = {}
        for part_name, part in self.layout.parts():
            for kind in part.kinds:
                self._parts.setdefault(kind, []).append((getattr(self, f"_{part_name}"), part))
        self._counted: set[str] = set()
        self._sums: dict[str, float] = {}
        self._hints = hints
        self._paths: dict[str, bool] = {}
        self._early_ends = self._echoes = 0
        self._nested = False

    def finish(self, exit_code: int | None = None) -> Iterable[EvidenceLine]:
        """Say what may be wrong with the description: it would look like a wrong skill."""
        found = super().finish(exit_code)
        hints = tuple(f"{OF_A_DESCRIPTION}{self._name}: {hint}" for hint in self._find_hints())
        if self._hints and hints:
            self.note(notes=(*self.summary.notes, *hints))
        return found

    def _find_hints(self) -> Iterator[str]:
        for path, leads_somewhere in self._paths.items():
            if not leads_somewhere:
                yield f"{path}: {LEADS_NOWHERE}"
        if self._early_ends:
            yield (
                "records.end: the run continued after it; name the record that ends a run, or add "
                "`where`"
            )
        if self._echoes:
            yield "records.text: the prompt is there too, and was left out; add `where`"

    def reopen(self) -> None:
        """Another turn after the terminal event: the description may take a step's end for it."""
        self._early_ends += self.summary.terminal
        super().reopen()

    def is_record(self, record: Record) -> bool:
        """True where a field that tells the kind is there."""
        return bool(kind_of(record, self.layout))

    def in_subagent(self, record: Record) -> bool:
        """True where the field of a sub-agent holds something, or did so in the last that tells."""
        if self.layout.subagent_kinds:
            return self._nested
        return bool(find_value(record, self.layout.subagent))

    def on_text(self, text: str) -> Iterable[EvidenceLine]:
        """In plain text only a whole line of the described form is a load."""
        match = self._text_load.fullmatch(text) if self._text_load else None
        if match is None or not match["skill"]:
            return super().on_text(text)
        self.tool_events += 1
        return (self.line(LineKind.LOAD, canonical_call(match["skill"]), skill=match["skill"]),)

    def on_record(self, record: Record) -> Iterable[EvidenceLine] | None:
        """Every part of the description that names the record's kind; a call before its result."""
        kind = kind_of(record, self.layout)
        if kind in self.layout.subagent_kinds:
            self._nested = bool(find_value(record, self.layout.subagent))
        parts = self._parts.get(kind)
        if parts is None:
            return () if kind in self.layout.quiet else None
        found: list[EvidenceLine] = []
        for take, part in parts:
            for entry in entries_of(record, part):
                found += take(entry, part)
        return found

    # ---- the parts

    def _about(self, entry: Entry, part: AboutPart) -> Iterable[EvidenceLine]:
        model = as_text(entry.find(part.model))
        if not self.in_subagent(entry.record):
            self.answered(model)
        self.note(
            model=self.summary.model or model or None,
            cli_version=as_text(entry.find(part.cli_version)) or self.summary.cli_version,
        )
        skills = entry.find(part.skills)
        if isinstance(skills, list):
            self.offer(as_text(one) or as_text(as_record(one).get("name")) for one in skills)
        return ()

    def _usage(self, entry: Entry, part: UsagePart) -> Iterable[EvidenceLine]:
        identity = as_text(entry.find(part.id))
        if identity in self._counted:
            return ()
        if identity and part.mode == "sum" and len(self._counted) < _MOST_IDS:
            self._counted.add(identity)
        for name in (*_TOKENS, "cost_usd"):
            value = entry.find(getattr(part, name))
            number = as_amount(value) if name == "cost_usd" else as_count(value)
            if number is not None:
                before = self._sums.get(name, 0) if part.mode == "sum" else 0
                self._sums[name] = before + number
        counts: dict[str, Any] = {name: self._sums.get(name) for name in _TOKENS}
        self.note(usage=Usage(**counts), cost_usd=self._sums.get("cost_usd"))
        return ()

    def _find(self, entry: Entry, name: str, path: str | None) -> object:
        """What stands at a path that must lead somewhere; `name` is its place in routing.toml."""
        value = entry.find(path)
        if path:
            place = f'records.{name} = "{path}"'
            self._paths[place] = value is not None or self._paths.get(place, False)
        return value

    def _text(self, entry: Entry, part: TextPart) -> Iterable[EvidenceLine]:
        """What the agent wrote; its prompt, where a stream repeats it, is no answer."""
        text = flatten_text(self._find(entry, "text.text", part.text))
        if not text.strip():
            return ()
        if text.strip() == self.context.prompt.strip():
            self._echoes += 1
            return ()
        self.turn()
        return self.say(text)

    def _call(self, entry: Entry, part: CallPart) -> Iterable[EvidenceLine]:
        """A record without a tool's name is no call: text may be of the same kind."""
        tool = as_text(self._find(entry, "call.tool", part.tool))
        if not tool:
            return ()
        self.turn()
        tools = self.layout.tools
        identity = self._identity(entry, part.id)
        if tool in tools.skill:
            skill = as_text(self._find(entry, "call.skill", part.skill)).strip().lstrip("/")
            self.call(identity, "skill", tool, skill)
        elif tool in tools.file:
            start = as_count(entry.find(part.offset)) or 0
            path = as_text(entry.find(part.file))
            self.call(identity, "file", tool, path, partial=start > 1)
        elif tool in tools.shell:
            command = command_text(entry.find(part.command))
            self.call(identity, "shell", tool, command, cwd=as_text(entry.find(part.cwd)))
        else:
            self.call(identity, "tool", tool, render_arguments(as_record(entry.value)))
        return ()

    def _result(self, entry: Entry, part: ResultPart) -> Iterable[EvidenceLine]:
        """It succeeded where field and text say so, and no exit code says otherwise."""
        identity = self._identity(entry, part.id)
        if part.tools:
            call = self.calls.peek(identity)
            if call is None or call.name not in part.tools:
                return ()
        shown = entry.find(part.output)
        output = flatten_text(shown) or "\n".join(as_text(one) for one in as_list(shown))
        return self.result(
            identity,
            ok=self._succeeded(entry, part, output),
            output=output,
            base=as_text(entry.find(part.folder)),
        )

    def _succeeded(self, entry: Entry, part: ResultPart, output: str) -> bool:
        if part.success is not None:
            value = self._find(entry, "result.success", part.success)
            if type(value) is not type(part.success_is) or value != part.success_is:
                return False
        if part.success_pattern and not re.search(part.success_pattern, output):
            return False
        if part.failure_pattern and re.search(part.failure_pattern, output):
            return False
        return entry.find(part.exit_code) in (None, 0)

    def _identity(self, entry: Entry, paths: tuple[str, ...] | None) -> object:
        """Without a field for it, a call is paired with the result in the same record alone."""
        if not paths:
            return f"line {self.number} {entry.place}"
        found = [entry.find(path) for path in paths]
        return found[0] if len(found) == 1 else None if None in found else repr(found)

    def _retry(self, entry: Entry, part: FailurePart) -> Iterable[EvidenceLine]:
        return self._report(entry, part, self.retry)

    def _error(self, entry: Entry, part: FailurePart) -> Iterable[EvidenceLine]:
        if part.keep == "first" and self.summary.failure is not None:
            return ()
        return self._report(entry, part, self.fail)

    def _report(
        self, entry: Entry, part: FailurePart, report: Callable[..., None]
    ) -> Iterable[EvidenceLine]:
        """Report an API failure; a limit of the CLI's own is noted instead."""
        if part.when is not None and not entry.find(part.when):
            return ()
        code = as_text(entry.find(part.code))
        if code in part.limit_codes:
            self.note(limit=True)
        else:
            message = flatten_text(entry.find(part.message))
            report(message, kind=code, status=entry.find(part.status))
        return ()

    def _end(self, entry: Entry, part: EndPart) -> Iterable[EvidenceLine]:
        """The end of the run, not of one of its sub-agents."""
        if self.in_subagent(entry.record):
            return ()
        if self.summary.failure is None:
            self.note(retrying=None)
        self.end()
        return ()
