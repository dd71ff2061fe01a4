"""What a reader knows of a run as a whole so far: counts, failures, and whether it has ended."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from routing_action.agents.reading.background import BackgroundTasks
from routing_action.agents.reading.failures import classify_failure, is_throttling, retry_after_in
from routing_action.agents.reading.models import describe_models
from routing_action.corpus.naming import same_skill, skill_folder, skill_key
from routing_action.evidence.transcript import ApiFailure, Reading
from routing_action.evidence.unavailable import continues_refusal, is_refusal

_REFUSAL_LIMIT = 20_000
_MOST_REFUSALS = 100


class RunSummary:
    """The summary so far; what changes with almost every record is counted apart."""

    def __init__(self) -> None:
        """Start with nothing seen."""
        self.summary = Reading()
        self.resets_at: float | None = None
        self.tasks = BackgroundTasks()
        self.recognised = 0
        self.unrecognised = 0
        self.turns = 0
        self.tool_events = 0
        self.places: dict[str, str] = {}
        self._refusal = ""
        self._answered: dict[str, None] = {}

    def summarise(self, *, is_record_stream: bool) -> Reading:
        """Everything in one value."""
        model, fell_back = describe_models(self.summary.model, self._answered)
        notes = (*self.summary.notes, fell_back) if fell_back else self.summary.notes
        return replace(
            self.summary,
            model=model,
            notes=notes,
            is_record_stream=is_record_stream,
            recognised=self.recognised,
            unrecognised=self.unrecognised,
            turns=self.turns,
            tool_events=self.tool_events,
            unfinished=self.tasks.open_agents,
        )

    @property
    def terminal_seen(self) -> bool:
        """True once the terminal event came, and nothing that was announced may follow it."""
        return self.summary.terminal and not self.tasks.awaited

    def note(self, **changes: Any) -> None:  # noqa: ANN401 - a wrong name is an error
        """Change fields of the summary other than the counts."""
        self.summary = replace(self.summary, **changes)

    def answered(self, model: object) -> None:
        """A message of the main agent names the model that wrote it; `<synthetic>` is none."""
        if isinstance(model, str) and model and not model.startswith("<"):
            self._answered[model] = None

    def turn(self) -> None:
        """A model turn happened; what failed or ended before has recovered, or continues."""
        self.turns += 1
        self.reopen()
        if self.summary.retrying is not None or self.summary.failure is not None:
            self.note(retrying=None, failure=None)

    def fail(self, message: str, **details: Any) -> None:  # noqa: ANN401 - those of classify_failure
        """The CLI reports an API failure as final."""
        failure = self._note_failure("failure", message, details)
        if failure is not ApiFailure.API_ERROR:  # which says less than a retry before it
            self._throttle(failure, message, **details)

    def retry(self, message: str, **details: Any) -> None:  # noqa: ANN401 - as above
        """The CLI reports that it tries an API call again."""
        self._throttle(self._note_failure("retrying", message, details), message, **details)

    def _note_failure(self, name: str, message: str, details: dict[str, Any]) -> ApiFailure:
        """Note a failure under its name, and what it says."""
        self.refuse(message)
        failure = classify_failure(message, **details)
        if failure is ApiFailure.RATE_LIMIT and self.resets_at is not None:
            failure = ApiFailure.QUOTA
        explained = self._explained(message, failure, details.get("seconds"))
        self.note(**{name: failure}, failure_message=explained)
        return failure

    def _explained(self, message: str, failure: ApiFailure, seconds: float | None) -> str:
        """The message with the time of the reset, where only a field of the stream has it."""
        if failure is not ApiFailure.QUOTA or (self.resets_at is None and seconds is None):
            return message[:500]
        when = _in_words(seconds) if seconds is not None else _at(self.resets_at or 0.0)
        return f"{message[:400]} (the limit resets {when})"

    def _throttle(
        self,
        failure: ApiFailure,
        message: str,
        *,
        seconds: float | None = None,
        **details: Any,  # noqa: ANN401
    ) -> None:
        throttled = self.resets_at is None and is_throttling(failure, message, **details)
        wait = retry_after_in(message) if seconds is None else seconds
        self.note(throttled=throttled, retry_after=wait if throttled else None)

    def offer(self, names: Iterable[str]) -> None:
        """The agent says what skills it offers; several lists (sub-agents) are one."""
        known = self.summary.catalogue or ()
        self.note(catalogue=tuple(dict.fromkeys((*known, *(name for name in names if name)))))

    def offer_at(self, name: str, path: str) -> None:
        """The agent says where a skill that it offers lies."""
        folder = "/".join(skill_folder(path))
        if name and folder and skill_key(name) not in self.places:
            self.places[skill_key(name)] = path
            self.note(offered_at=(*self.summary.offered_at, folder))

    def refuse(self, text: str) -> None:
        """Keep a line of the CLI's own where it says that a skill was not taken."""
        for line in text[:_REFUSAL_LIMIT].splitlines():
            listed = bool(self._refusal) and continues_refusal(line, self._refusal)
            if not (listed or is_refusal(line)):
                self._refusal = ""
                continue
            self._refusal = self._refusal if listed else line
            if len(self.summary.refusals) < _MOST_REFUSALS and self.is_staged(line):
                self.note(refusals=(*self.summary.refusals, line.strip()[:500]))

    def is_staged(self, line: str) -> bool:
        """False where a line is about a SKILL.md that certainly lies elsewhere."""
        return True

    def loaded_name(self, called: str, base: str) -> str:
        """The skill that a call loaded from `base`: another one where both names are offered."""
        folder = (skill_folder(base) or ("",))[-1]
        offered = self.summary.catalogue or ()
        two = (called.rpartition(":")[2], folder)
        if same_skill(*two) or not all(any(same_skill(o, n) for o in offered) for n in two):
            return called
        return folder

    def end(self) -> None:
        """The CLI printed its genuine terminal event."""
        self.tasks.turn_ended()
        self.note(terminal=True)

    def reopen(self) -> None:
        """Another turn begins after a terminal event, which was an interim one."""
        if self.summary.terminal:
            self.note(terminal=False)


def _in_words(seconds: float) -> str:
    minutes = int(seconds // 60)
    return f"in {minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"in {minutes} min"


def _at(moment: float) -> str:
    """Seconds since 1970, of an amount that a calendar knows."""
    known = min(moment, 4e9)
    return f"at {datetime.fromtimestamp(known, UTC):%Y-%m-%d %H:%M} UTC"
