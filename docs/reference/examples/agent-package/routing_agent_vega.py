"""Vega: announces a skill, and says in the next record whether it came; neither has an id."""

from __future__ import annotations

from collections.abc import Iterable

from routing_action.agents.provider import Provider
from routing_action.agents.reading.decoding import Record, as_text
from routing_action.agents.reading.records import RecordReader
from routing_action.evidence.transcript import EvidenceLine


class VegaReader(RecordReader):
    """Reads `want`, which is a call, and `here` or `missing`, which is what became of it."""

    _calls = 0

    def is_record(self, record: Record) -> bool:
        """Vega's records say what they are in `v`."""
        return isinstance(record.get("v"), str)

    def on_record(self, record: Record) -> Iterable[EvidenceLine] | None:
        """What a record proves: nothing (), some lines, or None where it is not known."""
        kind = record["v"]
        if kind == "says":
            self.turn()
            return self.say(as_text(record.get("text")))
        if kind == "want":
            self.turn()
            self._calls += 1
            self.call(self._calls, "skill", "want", as_text(record.get("skill")))
            return ()
        if kind in ("here", "missing"):
            return self.result(self._calls, ok=kind == "here")
        if kind == "refused":
            self.fail(as_text(record.get("why")), status=record.get("status"))
            return ()
        if kind == "bye":
            self.end()
            return ()
        return None


PROVIDER = Provider(
    name="vega",
    title="Vega",
    command=("vega", "--records", "{prompt}"),
    reader=VegaReader,
    model_arguments=("--model", "{model}"),
    skill_folders=(".vega/skills",),
    credential_variables=("VEGA_KEY",),
    documentation="Wants a skill; the record `here` after it proves the load.",
)
