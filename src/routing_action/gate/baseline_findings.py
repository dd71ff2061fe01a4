"""What is wrong with a baseline: pairs it lacks, entries without a case, and unexplained ones."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from routing_action.corpus.baseline import Baseline, BaselineEntry, Pair, Status, iterate_pairs
from routing_action.corpus.cases_file import Corpus
from routing_action.corpus.naming import fold
from routing_action.files.nearest import suggest

ERROR = "error"
WARNING = "warning"


@dataclass(frozen=True, slots=True)
class BaselineFinding:
    """One thing that is wrong, with the file and line to look at; `rule` is its short name."""

    severity: str
    rule: str
    case_id: str
    provider: str
    file: str
    line: int
    message: str


@dataclass(frozen=True, slots=True)
class BaselineToCheck:
    """A baseline that was read, the line of each entry, and the names of its world."""

    file: str
    entries: Baseline
    lines: Mapping[Pair, int]
    known_providers: Collection[str]


def named_agents(checked: BaselineToCheck, default: Sequence[str]) -> tuple[str, ...]:
    """The known providers that the baseline names, in order of first use; else the default."""
    named = dict.fromkeys(pair[1] for pair, _ in iterate_pairs(checked.entries))
    return tuple(name for name in named if name in checked.known_providers) or tuple(default)


def check_baseline(
    checked: BaselineToCheck, corpus: Corpus, agents: Sequence[str]
) -> list[BaselineFinding]:
    """Every finding: what entries say first, in the file's order, then the pairs without one."""
    case_ids = {fold(case.case_id): case.case_id for case in corpus.cases}
    found = [
        BaselineFinding(
            severity, rule, *pair, checked.file, checked.lines[pair], f"{_label(pair)}: {message}"
        )
        for pair, entry in iterate_pairs(checked.entries)
        for severity, rule, message in (
            *_strangers(pair, case_ids, checked.known_providers),
            *_unexplained(entry),
        )
    ]
    return [*found, *_missing(checked, corpus, agents)]


def _strangers(
    pair: Pair, case_ids: Mapping[str, str], providers: Collection[str]
) -> Iterator[tuple[str, str, str]]:
    case_id, agent = pair
    same = case_ids.get(fold(case_id))
    if same is None:
        hint = "remove it with `routing-action baseline update --prune`"
        yield ERROR, "entry-without-case", f"there is no such case; {hint}"
    elif same != case_id:
        yield ERROR, "entry-without-case", f"there is no such case; did you mean {same}?"
    if agent not in providers:
        hint = suggest(agent, providers, f"known are {', '.join(sorted(providers))}")
        yield ERROR, "unknown-provider", f"there is no such provider; {hint}"


def _unexplained(entry: BaselineEntry) -> Iterator[tuple[str, str, str]]:
    if entry.reason:
        return
    if entry.allow_timeout:
        yield ERROR, "timeout-without-reason", "allow_timeout is true without a reason; give one"
    if entry.expected_status is not Status.PASS:
        status = entry.expected_status.value
        yield WARNING, "no-reason", f"{status} is expected without a reason; say why, for reviewers"


def _missing(
    checked: BaselineToCheck, corpus: Corpus, agents: Sequence[str]
) -> Iterator[BaselineFinding]:
    first_lines: dict[str, int] = {}
    for (case_id, _), line in checked.lines.items():
        first_lines.setdefault(case_id, line)
    for case_id in (case.case_id for case in corpus.cases):
        own = case_id in first_lines
        file = checked.file if own else corpus.file
        line = first_lines[case_id] if own else corpus.lines[case_id]
        for agent in agents:
            if agent not in checked.entries.get(case_id, {}):
                message = (
                    f"{_label((case_id, agent))}: has no baseline entry; run the case, then "
                    f"`routing-action baseline update --from DIR --cases {case_id}`"
                )
                yield BaselineFinding(ERROR, "missing-entry", case_id, agent, file, line, message)


def _label(pair: Pair) -> str:
    return f"{pair[0]} on {pair[1]}"
