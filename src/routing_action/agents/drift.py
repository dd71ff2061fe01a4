"""What is new, gone or moved in a CLI's stream, against recordings of an earlier version."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from routing_action.agents.survey import Survey
from routing_action.evidence.outcome import Outcome
from routing_action.evidence.transcript import LineKind


class Fact(StrEnum):
    """What a run shows, which is also what a probe is to show."""

    LOAD = "load"
    UNKNOWN = "unknown skill"
    ANSWER = "answer"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that differs. `what`: new, gone or moved; of a `kind` of record or its `field`.

    `breaks`: the reader rests on it, or does not read it.
    """

    what: str
    kind: str
    field: str = ""
    detail: str = ""
    breaks: bool = False

    def __str__(self) -> str:
        """A line for people."""
        name = f"field of {self.kind}: {self.field}" if self.field else f"kind: {self.kind}"
        return f"{self.what} {name}" + (f" ({self.detail})" if self.detail else "")


def fact_of(run: Survey) -> Fact:
    """What a run shows; OTHER where it failed, or did not end by itself."""
    if run.outcome is not Outcome.COMPLETED:
        return Fact.OTHER
    if run.lines(LineKind.LOAD):
        return Fact.LOAD
    return Fact.UNKNOWN if run.lines(LineKind.ATTEMPT) else Fact.ANSWER


def compare_streams(
    runs: Sequence[tuple[Fact, Survey]], recorded: Sequence[Survey]
) -> list[Difference]:
    """The differences of runs, each with what it was to show, to all recordings of a version.

    New is what no recording has. Gone is a kind that every recording has which shows the same
    fact (for a run that shows none, every complete one), and a field that every record of its
    kind had.
    """
    whole = [one for one in recorded if one.kinds and fact_of(one) is not Fact.OTHER]
    ever, always = _shapes(recorded), _common(whole)
    new: dict[str, set[str]] = {}
    gone: dict[str, set[str]] = {}
    for fact in dict.fromkeys(fact for fact, _ in runs):
        now = _shapes([run for one, run in runs if one is fact])
        alike = [set(one.kinds) for one in whole if fact in (fact_of(one), Fact.OTHER)]
        for kind in set.intersection(*alike) - set(now) if alike else ():
            gone.setdefault(kind, set()).add("")
        for kind, shapes in now.items():
            added = shapes - ever[kind] if kind in ever else {""}
            new.setdefault(kind, set()).update(added)
            gone.setdefault(kind, set()).update(always.get(kind, set()) - shapes)
    return [*_differences(new, gone, [run for _, run in runs])]


def _shapes(runs: Sequence[Survey]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for run in runs:
        for kind, seen in run.kinds.items():
            found.setdefault(kind, set()).update(seen.shapes)
    return found


def _common(runs: Sequence[Survey]) -> dict[str, set[str]]:
    """The shapes that each run has which has records of the kind."""
    found: dict[str, set[str]] = {}
    for run in runs:
        for kind, seen in run.kinds.items():
            every = {shape for shape, times in seen.shapes.items() if times == seen.count}
            found[kind] = found.get(kind, every) & every
    return found


def _differences(
    new: dict[str, set[str]], gone: dict[str, set[str]], runs: Sequence[Survey]
) -> Iterator[Difference]:
    for kind in sorted({*new, *gone}):
        added, lost = set(new.get(kind, ())), set(gone.get(kind, ()))
        if "" in added:
            example = next(run.kinds[kind] for run in runs if kind in run.kinds)
            unread = example.read < example.count
            detail = f"{'not read' if unread else 'read'}: {example.example[:160]}"
            yield Difference("new", kind, detail=detail, breaks=unread)
            continue
        if "" in lost:
            yield Difference("gone", kind, breaks=True)
            continue
        for old in _outermost(lost):
            there = _moved_to(old, lost, added)
            added.discard(there)
            what = "moved" if there else "gone"
            yield Difference(what, kind, f"{old} -> {there}" if there else old, breaks=True)
        yield from (Difference("new", kind, path) for path in _outermost(added))


def _outermost(paths: set[str]) -> list[str]:
    """Those that lie in no other one of them."""
    return [
        path
        for path in sorted(paths)
        if not any(path.startswith((f"{one}.", f"{one}[", f"{one}=")) for one in paths)
    ]


def _moved_to(old: str, lost: set[str], added: set[str]) -> str:
    """Where a field that is gone may be now: the same name elsewhere, or the only new one there."""
    same = sorted(path for path in added if _leaf(path) == _leaf(old))
    if same:
        return same[0]
    parent = old.rpartition(".")[0]
    beside = [path for path in added if path.rpartition(".")[0] == parent and "=" not in path]
    lost_beside = [path for path in lost if path.rpartition(".")[0] == parent and "=" not in path]
    return beside[0] if len(beside) == 1 and lost_beside == [old] else ""


def _leaf(path: str) -> str:
    return path.rpartition(".")[2]
