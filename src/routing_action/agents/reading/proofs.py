"""Writes what the calls of a run prove, as evidence lines.

Calls are paired with their results by id alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from routing_action.agents.provider import ReadContext
from routing_action.agents.reading.decoding import Record
from routing_action.agents.reading.skill_reads import in_a_skills_root, lies_under, shown_files
from routing_action.agents.reading.summary import RunSummary
from routing_action.corpus.frontmatter import find_frontmatter
from routing_action.corpus.naming import is_skill_file, skill_folder, skill_key
from routing_action.evidence.tiers import canonical_base, canonical_call
from routing_action.evidence.transcript import EvidenceLine, LineKind

QUOTE_LIMIT = 4_000
TEXT_LIMIT = 200_000
_TARGET_LIMIT = 4_000
_MOST_CALLS = 1_000
"""Calls that are kept without a result: more come from no healthy run."""
_SHELL_SIGNS = str.maketrans("", "", "'\"\\`^\n")
_ROOTED_FILE = re.compile(r"(?:^|[\s=`'\"])((?:[/~]|[A-Za-z]:)[^\s`'\"]*SKILL\.md)", re.IGNORECASE)


@dataclass(slots=True)
class Call:
    """A tool call that waits for its result.

    `kind`: `skill`, `file`, `shell` or `tool`. `target`: the skill's name, the path, the command.
    `line` is the source line, cut.
    """

    kind: str
    name: str
    target: str
    number: int
    line: bytes
    subagent: bool = False
    partial: bool = False
    cwd: str = ""


class PendingCalls:
    """Pairs each result with its call. An id that is no word and no number pairs nothing."""

    def __init__(self) -> None:
        """Start with no call."""
        self._waiting: dict[str | tuple[str], Call] = {}

    def open(self, identity: object, call: Call) -> None:
        """Remember a call; an earlier one of the same id will never get its result."""
        unpaired = (f"unpaired {len(self._waiting)}",)
        key = _key(identity) if isinstance(identity, str | int) else unpaired
        if len(self._waiting) < _MOST_CALLS:
            if key in self._waiting:
                self._waiting[unpaired] = self._waiting[key]
            self._waiting[key] = call

    def close(self, identity: object) -> Call | None:
        """Take the call of an id out, None where there is none."""
        return self._waiting.pop(_key(identity), None)

    def peek(self, identity: object) -> Call | None:
        """The call of an id that waits for its result, None where there is none."""
        return self._waiting.get(_key(identity))

    def take_all(self) -> list[Call]:
        """Take out every call that never got a result."""
        left = list(self._waiting.values())
        self._waiting.clear()
        return left


def _key(identity: object) -> str | tuple[str]:
    """A string itself, anything else so that it is like no string."""
    return identity if isinstance(identity, str) else (repr(identity),)


def _quote_line(line: bytes) -> str:
    """A source line as it is quoted: invalid UTF-8 is replaced, and NUL dropped."""
    return line.decode("utf-8", "replace").replace("\x00", "")


class ProofWriter(RunSummary):
    """Writes the evidence lines of one run, at the current source line.

    `shell_loads` is True where a shell read of SKILL.md is the native load (codex), `file_loads`
    where a read by the agent's own tool is. What `context.may_name` rules out is left out, but for
    the first sign of activity.
    """

    shell_loads = False
    file_loads = False

    def __init__(self, context: ReadContext) -> None:
        """Start at line 0; `context` resolves paths."""
        super().__init__()
        self.context = context
        self.number = 0
        self._line = b""
        self._record: Record = {}
        self._active = False
        self.calls = PendingCalls()

    def in_subagent(self, record: Record) -> bool:
        """True where a record belongs to a sub-agent."""
        return False

    def is_staged(self, line: str) -> bool:
        """False where the rooted SKILL.md that a line is about lies outside the staged folders."""
        path = _ROOTED_FILE.search(line)
        return path is None or lies_under(path[1], self.context)

    def _place(self) -> tuple[int, bytes, bool]:
        """The current source line: its number, its beginning, and whether a sub-agent wrote it."""
        return self.number, self._line[:QUOTE_LIMIT], self.in_subagent(self._record)

    def line(self, kind: LineKind, text: str, **fields: Any) -> EvidenceLine:  # noqa: ANN401
        """An evidence line at the current source line."""
        if "number" not in fields:
            number, line, subagent = self._place()
            fields |= {"number": number, "quote": _quote_line(line), "subagent": subagent}
        return EvidenceLine(kind, text[:TEXT_LIMIT], **fields)

    def mention(self, text: str, kind: LineKind = LineKind.MENTION) -> list[EvidenceLine]:
        """Text that proves nothing, or no line at all where it is empty or cannot name a token."""
        if not text or text.isspace() or not self.context.may_name(text):
            return []
        return [self.line(kind, text)]

    def say(self, text: str) -> list[EvidenceLine]:
        """Text that the assistant wrote."""
        if not self.summary.has_text and text and not text.isspace():
            self.note(has_text=True)
        return self.mention(text)

    def call(
        self,
        identity: object,
        kind: str,
        name: str,
        target: str,
        *,
        partial: bool = False,
        cwd: str = "",
    ) -> None:
        """Remember a tool call until its result comes."""
        self.tool_events += 1
        target = target if kind == "shell" else target[:_TARGET_LIMIT]
        place = self._place()
        self.calls.open(identity, Call(kind, name, target, *place, partial, cwd))

    def result(
        self, identity: object, *, ok: bool, output: str = "", base: str = ""
    ) -> list[EvidenceLine]:
        """Pair a result with its call: what the two prove together."""
        call = self.calls.close(identity)
        found = [] if call is None else list(self.settle(call, ok=ok, output=output, base=base))
        return found + self.mention(output, LineKind.TOOL_RESULT)

    def settle(
        self, call: Call, *, ok: bool, output: str = "", base: str = ""
    ) -> Iterator[EvidenceLine]:
        """The evidence lines of a call whose result is known."""
        matters = call.kind == "skill" or self._matters(call)
        if not matters and self._active:
            return
        self._active = True
        place = {"number": call.number, "quote": _quote_line(call.line), "subagent": call.subagent}
        if call.kind == "skill" and not call.target:
            text = f'"name":"Skill" {call.name} {output[:500]}'
            yield self.line(LineKind.ATTEMPT, text, **place)
            return
        if call.kind == "skill":
            kind = LineKind.LOAD if ok else LineKind.ATTEMPT
            base = base or self.places.get(skill_key(call.target), "")
            skill = self.loaded_name(call.target, base) if ok and base else call.target
            yield self.line(kind, canonical_call(skill), skill=skill, path=base, **place)
            return
        if call.kind == "file" and self._loads_by(call, ok=ok):
            yield self._file_load(call, output, place, ok=ok)
            return
        if ok and matters and call.kind == "file":
            yield self._read(call.target, partial=call.partial, place=place)
        if ok and matters and call.kind == "shell":
            yield from self._shell_reads(call, output, place)
        is_command = call.kind == "shell" or call.name.startswith("mcp")
        detail = "command" if is_command else "tool"
        text = f"{call.name} {call.target}".strip()
        path = call.target if call.kind == "file" else ""
        yield self.line(LineKind.TOOL_CALL, text, path=path, detail=detail, **place)

    # ---- a load by reading SKILL.md

    def _loads_by(self, call: Call, *, ok: bool) -> bool:
        """True where a read is this agent's way to load a skill, and shows the file's beginning."""
        path = call.target
        if not self.file_loads or not is_skill_file(path) or (ok and call.partial):
            return False
        rooted = in_a_skills_root(path, roots_known=bool(self.context.skills_roots))
        return rooted and lies_under(path, self.context)

    def _file_load(self, call: Call, output: str, place: Record, *, ok: bool) -> EvidenceLine:
        folder = skill_folder(call.target)[-1]
        names = find_frontmatter(output).names if ok else frozenset()
        return self.line(
            LineKind.LOAD if ok else LineKind.ATTEMPT,
            canonical_call(folder),
            skill=folder,
            path=call.target,
            declared=next(iter(names), "") if len(names) == 1 else "",
            **place,
        )

    def _shell_reads(self, call: Call, output: str, place: Record) -> Iterator[EvidenceLine]:
        shown = shown_files(call.target, call.cwd, output, self.context.skills)
        for path in shown.files:
            yield self._read(path, partial=False, place=place)
        for path, proven in shown.skills:
            read = self._skill_read(path, proven=proven, place=place)
            yield replace(read, declared=shown.declared) if proven else read

    def _matters(self, call: Call) -> bool:
        """False only where a call names no token and reads no SKILL.md: it is activity alone.

        In a command a variable can put a name together, and quotes and escapes inside of a name
        are dropped.
        """
        text = f"{call.name} {call.target}"
        if call.kind != "shell":
            return "skill.md" in text.casefold() or self.context.may_name(text)
        bare = f"{call.cwd} {call.target}".translate(_SHELL_SIGNS)
        names = "$" in text or "skill" in bare.casefold()
        return names or self.context.may_name(f"{text}\n{bare}")

    def _skill_read(self, path: str, *, proven: bool, place: Record) -> EvidenceLine:
        """A SKILL.md that a shell printed: the native load where the CLI has no skill tool."""
        read = self._read(path, partial=not proven, place=place)
        rooted = in_a_skills_root(path, roots_known=bool(self.context.skills_roots))
        if not (self.shell_loads and proven and rooted) or read.wrong_copy:
            return read
        folder = skill_folder(path)
        return replace(read, kind=LineKind.LOAD, text=canonical_base(path), skill=folder[-1])

    def _read(self, path: str, *, partial: bool, place: Record) -> EvidenceLine:
        wrong = is_skill_file(path) and not lies_under(path, self.context)
        return self.line(
            LineKind.READ, f"read {path}", path=path, partial=partial, wrong_copy=wrong, **place
        )
