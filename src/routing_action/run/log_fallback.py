"""Reads what the session logs of an agent gained in a run as evidence of a weaker kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from routing_action.evidence.evidence import EvidenceCollector, as_log_line
from routing_action.evidence.reader_protocol import ReadContext, Reader
from routing_action.files.redaction import Redactor


def read_session_logs(
    logs: Iterable[tuple[str, bytes]],
    make_reader: Callable[[ReadContext], Reader],
    context: ReadContext,
    redactor: Redactor,
    found: EvidenceCollector,
) -> str | None:
    """Add the evidence of all logs to `found`; give the log with the best hit, None without one.

    `logs` are paths with the whole lines that were written since the start of the run.
    """
    readers: dict[str, Reader] = {}
    for path, data in logs:
        reader = readers.setdefault(path, make_reader(context))
        for line in redactor.data(data).split(b"\n"):
            found.extend(as_log_line(one, path) for one in reader.feed(line))
    for path, reader in readers.items():
        found.extend(as_log_line(one, path) for one in reader.finish())
    best = min(found.hits.values(), key=lambda hit: hit.rank, default=None)
    return best.detail.partition(" at ")[2].rpartition(" line ")[0] if best else None
