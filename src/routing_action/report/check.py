"""The check run's output: title, summary, text, and remarks on the lines of the case file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath

from routing_action.corpus.baseline import Status
from routing_action.gate.model import Delta, DeltaEntry
from routing_action.gate.rules import DeltaKind
from routing_action.gate.wording import count, name_few
from routing_action.github.publication import Annotation, CheckOutput, Level, RunLinks
from routing_action.report.causes import describe_group, group_rows
from routing_action.report.edits import edits_headline
from routing_action.report.escape import cut, printable
from routing_action.report.markdown import Renderer, cut_bytes
from routing_action.report.reasons import index_passing, list_noise, say
from routing_action.report.steps import list_steps
from routing_action.report.suspects import describe_rest, list_suspects
from routing_action.report.view import changed_rows, find_headline, find_word

CHECK_BYTES = 60_000
_TITLE_LIMIT = 255
_MESSAGE_BYTES = 8_000
_DETAILS_BYTES = 60_000
_ROOM_FOR_COUNT = 200
_QUIET = (DeltaKind.NEW, DeltaKind.REMOVED, DeltaKind.IMPROVEMENT)


def build_check(
    delta: Delta,
    place: RunLinks,
    *,
    overrides: Path | None = None,
    budget: int = CHECK_BYTES,
    max_annotations: int = 200,
) -> CheckOutput:
    """The output within GitHub's limits: a title of 255 characters, summary and text in `budget`.

    Annotations are in the order of `changed_rows`; the summary says how many pairs
    beyond `max_annotations` have none. UsageError where a template cannot be used.
    """
    renderer = Renderer(delta, place, overrides)
    summary = renderer.render("check-summary.md.j2", budget - _ROOM_FOR_COUNT)
    edits = edits_headline(delta)  # where there is room
    title = f"{find_headline(delta)} (edited: {edits})" if edits else find_headline(delta)
    groups = group_rows(delta, changed_rows(delta))
    annotations = tuple(_annotations(delta, groups[:max_annotations], place))
    left = sum(map(len, groups[max_annotations:]))
    if annotations and left:
        have = "has" if left == 1 else "have"
        summary += f"\n{count(left, 'more pair')} {have} no annotation in the case file.\n"
    return CheckOutput(
        name=check_name(place),
        conclusion=delta.conclusion.value,
        title=cut(printable(title), _TITLE_LIMIT),
        summary=summary,
        text=renderer.render("check-text.md.j2", budget),
        annotations=annotations,
    )


def check_name(place: RunLinks) -> str:
    """The name of the check run, which branch protection can ask for."""
    key = cut(printable(place.key), 100)
    return "routing gate" if key == "routing" else f"routing gate ({key})"


def _annotations(
    delta: Delta, groups: Sequence[Sequence[DeltaEntry]], place: RunLinks
) -> Iterator[Annotation]:
    """None where the case file is not one of the repository: GitHub rejects such a path."""
    path = PurePosixPath(delta.cases_file)
    if path.is_absolute() or ".." in path.parts or not delta.cases_file:
        return
    passing = index_passing(delta)
    for group in groups:
        told = _tell(delta, group, passing.get(group[0].case_id, ()), place)
        yield _annotation(group, str(path), told)


def _tell(
    delta: Delta, group: Sequence[DeltaEntry], passing: Sequence[str], place: RunLinks
) -> Iterator[str]:
    """What broke, whether it is chance, what in the change it is about, and what to do."""
    row = group[0]
    yield say(describe_group(delta, group))
    yield from (say(sentence) for sentence in list_noise(row, passing))
    if row.gates:
        if row.got is Status.FAIL:
            yield from (say(suspect.sentence) for suspect in list_suspects(delta, row))
            yield from (say(sentence) for sentence in describe_rest(delta, row))
        for label, text in list_steps(delta, row, place=place, group=group):
            yield "\n".join(map(printable, f"{label}: {text}".split("\n")))


def _annotation(group: Sequence[DeltaEntry], path: str, told: Iterable[str]) -> Annotation:
    """On the line of the first case; on the first one where the file no longer holds the case."""
    row = group[0]
    line = row.line or 1
    cases = list(dict.fromkeys(one.case_id for one in group))
    who = cases[0] if len(cases) == 1 else count(len(cases), "case")
    agents = ", ".join(dict.fromkeys(one.agent for one in group))
    names = (f"cases: {printable(name_few(cases))}",) if len(cases) > 1 else ()
    return Annotation(
        path=path,
        start_line=line,
        end_line=line,
        level=_level(row),
        title=cut(f"{find_word(row).value}: {printable(who)} on {printable(agents)}", _TITLE_LIMIT),
        message=cut_bytes("\n".join((*told, *names)), _MESSAGE_BYTES),
        raw_details=cut_bytes("\n".join(_details(row)), _DETAILS_BYTES),
    )


def _level(row: DeltaEntry) -> Level:
    if row.gates:
        return "failure"
    plain = row.kind in _QUIET and not row.flaky and not row.not_alike
    return "notice" if plain else "warning"


def _details(row: DeltaEntry) -> Iterator[str]:
    if row.error:
        yield f"error: {printable(row.error)}"
    for proof in row.proofs:
        yield f"found for {printable(proof.token)} at tier {proof.tier}:"
        yield printable(proof.proof_line[:10_000])
