"""Turns what a reader finds into evidence lines: calls with results, text, and shell reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from routing_action.agents.reading.calls import Call, PendingCalls, quote_line
from routing_action.agents.reading.decoding import Record, is_blank
from routing_action.agents.reading.roots import lies_under
from routing_action.agents.reading.shown_skill_files import in_a_skills_root, shown_files
from routing_action.agents.reading.summary import RunSummary
from routing_action.corpus.naming import is_skill_file, skill_folder
from routing_action.evidence.reader_protocol import ReadContext
from routing_action.evidence.tiers import canonical_base, canonical_call
from routing_action.evidence.transcript import EvidenceLine, LineKind

QUOTE_LIMIT = 4_000
TEXT_LIMIT = 200_000
_TARGET_LIMIT = 4_000
_SHELL_SIGNS = "'\"\\`^\n"


def _always(_text: str) -> bool:
    return True


class ProofWriter(RunSummary):
    """Writes the evidence lines of one run, at the current source line.

    `shell_loads` is True where a shell read of SKILL.md is the native load (codex). What
    `context.may_name` rules out is left out, but for the first sign of activity.
    """

    shell_loads = False

    def __init__(self, context: ReadContext) -> None:
        """Start at line 0; `context` resolves paths."""
        super().__init__()
        self.context = context
        self.number = 0
        self._may_name = context.may_name or _always
        self._line = b""
        self._quote: str | None = ""
        self._subagent = False
        self._active = False
        self._calls = PendingCalls()
        self._seen_cwd = ("", True)

    @property
    def quote(self) -> str:
        """The current source line, cut to a bounded length."""
        if self._quote is None:
            self._quote = quote_line(self._line)
        return self._quote

    def line(self, kind: LineKind, text: str, **fields: Any) -> EvidenceLine:  # noqa: ANN401
        """An evidence line at the current source line."""
        fields.setdefault("number", self.number)
        fields.setdefault("quote", self.quote)
        fields.setdefault("subagent", self._subagent)
        return EvidenceLine(kind, text[:TEXT_LIMIT], **fields)

    def mention(self, text: str, kind: LineKind = LineKind.MENTION) -> list[EvidenceLine]:
        """Text that proves nothing, or no line at all where it is empty or cannot name a token."""
        if is_blank(text) or not self._may_name(text):
            return []
        return [self.line(kind, text)]

    def say(self, text: str) -> list[EvidenceLine]:
        """Text that the assistant wrote."""
        if not self.summary.has_text and not is_blank(text):
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
        place = (self.number, self._line, self._subagent)
        self._calls.open(identity, Call(kind, name, target, *place, partial, cwd))

    def pending(self, identity: object) -> Call | None:
        """The call of an id that still waits for its result."""
        return self._calls.find(identity)

    def forget(self, identity: object) -> None:
        """Drop a call that its completion told otherwise."""
        self._calls.close(identity)

    def result(
        self, identity: object, *, ok: bool, output: str = "", base: str = ""
    ) -> list[EvidenceLine]:
        """Pair a result with its call: what the two prove together."""
        call = self._calls.close(identity)
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
        place = {"number": call.number, "quote": call.quote, "subagent": call.subagent}
        if call.kind == "skill" and not call.target:
            text = f'"name":"Skill" {call.name} {output[:500]}'
            yield self.line(LineKind.ATTEMPT, text, **place)
            return
        if call.kind == "skill":
            kind = LineKind.LOAD if ok else LineKind.ATTEMPT
            yield self.line(
                kind, canonical_call(call.target), skill=call.target, path=base, **place
            )
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

    # ---- the shell rule

    def _shell_reads(self, call: Call, output: str, place: Record) -> Iterator[EvidenceLine]:
        shown = shown_files(call.target, call.cwd, output)
        for path in shown.files:
            yield self._read(path, partial=False, place=place)
        for path, proven in shown.skills:
            yield self._skill_read(path, proven=proven, place=place)

    def _matters(self, call: Call) -> bool:
        """False only where a call names no token and reads no SKILL.md: it is activity alone.

        In a command a variable can put a name together, and quotes and escapes inside of a name
        are dropped.
        """
        text = f"{call.name} {call.target}"
        if call.kind != "shell":
            return self._may_name(text)
        bare = f"{call.cwd} {call.target}"
        for sign in _SHELL_SIGNS:
            bare = bare.replace(sign, "")
        return "$" in text or "skill" in bare.casefold() or self._may_name(f"{text}\n{bare}")

    def are_idle_commands(self, commands: Iterable[str], cwd: str = "") -> bool:
        """True where each of some commands is idle; they are looked at together, since it is fast.

        One that is not can hide none of the others, as no name goes on over a zero sign.
        """
        return self.is_idle_command("\0".join(commands), cwd)

    def is_idle_command(self, command: str, cwd: str = "") -> bool:
        """True where a command is activity alone, if no string of its line names a token."""
        if cwd != self._seen_cwd[0]:
            self._seen_cwd = (cwd, not self._matters(Call("shell", "", "", 0, b"", cwd=cwd)))
        if "$" in command or not self._seen_cwd[1]:
            return False
        bare = command
        for sign in _SHELL_SIGNS:
            bare = bare.replace(sign, "")
        return "skill" not in bare.casefold() and (bare == command or not self._may_name(bare))

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
