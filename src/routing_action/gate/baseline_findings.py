"""What is wrong with a baseline: pairs it lacks, entries without a case, and unexplained ones."""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from routing_action.corpus.baseline import Baseline, BaselineEntry, Pair, Status, iterate_pairs
from routing_action.corpus.cases_file import Corpus
from routing_action.corpus.naming import fold
from routing_action.files.nearest import find_nearest
from routing_action.files.program import own_program

_SOON_DAYS = 14
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
    """A baseline that was read, the line of each entry, and the names of its world.

    `today` (YYYY-MM-DD) tells what is over, "" where nothing ends.
    """

    file: str
    entries: Baseline
    lines: Mapping[Pair, int]
    known_providers: Collection[str]
    today: str = ""


@dataclass(frozen=True, slots=True)
class _Strangers:
    """The names in a baseline that nobody knows, each with the known one that is meant, or ""."""

    cases: Mapping[str, str]
    agents: Mapping[str, str]

    def names_of(self, pair: Pair) -> set[Pair]:
        """The pairs that a misspelt entry may stand under."""
        case_ids = [pair[0], *(one for one, meant in self.cases.items() if meant == pair[0])]
        agents = [pair[1], *(one for one, meant in self.agents.items() if meant == pair[1])]
        return set(itertools.product(case_ids, agents))


def named_agents(checked: BaselineToCheck, default: Sequence[str]) -> tuple[str, ...]:
    """The known providers that the baseline names or means, in order of first use; else default."""
    named = dict.fromkeys(pair[1] for pair, _ in iterate_pairs(checked.entries))
    known = checked.known_providers
    meant = dict.fromkeys(name if name in known else find_nearest(name, known) for name in named)
    return tuple(filter(None, meant)) or tuple(default)


def check_baseline(
    checked: BaselineToCheck, corpus: Corpus, agents: Sequence[str]
) -> list[BaselineFinding]:
    """Every finding: what entries say first, in the file's order, then the cases without one.

    A name that nobody knows is one finding, however many entries are of it.
    """
    strangers = _find_strangers(checked, [case.case_id for case in corpus.cases])
    found = [
        BaselineFinding(
            WARNING, rule, *pair, checked.file, checked.lines[pair], f"{_label(pair)}: {message}"
        )
        for pair, entry in iterate_pairs(checked.entries)
        for rule, message in (*_unexplained(entry), *_ending(entry, checked.today))
    ]
    found += _report_strangers(checked, strangers)
    found.sort(key=lambda one: (one.line, one.severity))
    return [*found, *_missing(checked, corpus, agents, strangers)]


def _find_strangers(checked: BaselineToCheck, case_ids: Sequence[str]) -> _Strangers:
    """A case is meant where its name is like, and it has no entry of its own."""
    spelled = {fold(case_id): case_id for case_id in case_ids}
    free = [case_id for case_id in case_ids if case_id not in checked.entries]
    known_ids = frozenset(case_ids)
    unknown = [case_id for case_id in checked.entries if case_id not in known_ids]
    named = dict.fromkeys(pair[1] for pair, _ in iterate_pairs(checked.entries))
    known = checked.known_providers
    return _Strangers(
        {one: spelled.get(fold(one)) or find_nearest(one, free) for one in unknown},
        {one: find_nearest(one, known) for one in named if one not in known},
    )


def _report_strangers(checked: BaselineToCheck, strangers: _Strangers) -> Iterator[BaselineFinding]:
    """One finding a name, on the line of its first entry."""
    for place, rule, what, names in (
        (0, "entry-without-case", "case", strangers.cases),
        (1, "unknown-provider", "agent CLI", strangers.agents),
    ):
        for name, meant in names.items():
            lines = [line for pair, line in checked.lines.items() if pair[place] == name]
            entries = "1 entry" if len(lines) == 1 else f"{len(lines)} entries"
            prune = f"--prune-agents {shlex.quote(name)}" if place else "--prune"
            remove = f"remove it with `{own_program()} baseline update {prune}`"
            hint = f"did you mean {meant}?" if meant else remove
            message = f"{name}: no such {what} ({entries}); {hint}"
            pair = ("", name) if place else (name, "")
            yield BaselineFinding(ERROR, rule, *pair, checked.file, min(lines), message)


def _unexplained(entry: BaselineEntry) -> Iterator[tuple[str, str]]:
    if entry.flaky and entry.expected_status is not Status.PASS:
        status = entry.expected_status.value
        yield "flaky-without-pass", f"flaky says how often it passes, but {status} is expected"
    if entry.reason:
        return
    if entry.allow_timeout:
        yield "timeout-without-reason", "allow_timeout is true without a reason; give one"
    if entry.expected_status is not Status.PASS:
        status = entry.expected_status.value
        yield "no-reason", f"{status} is expected without a reason; say why, for reviewers"


def _ending(entry: BaselineEntry, today: str) -> Iterator[tuple[str, str]]:
    """Whether an excuse is over, or so soon that it is to be renewed now."""
    if entry.flaky is None or not today:
        return
    until, what = entry.flaky.until, "give a later `until`, or remove `flaky`"
    if today > until:
        yield "flaky-over", f"flaky ended {until}, so the pair is red; {what}"
    elif (date.fromisoformat(today) + timedelta(days=_SOON_DAYS)).isoformat() >= until:
        yield "flaky-ends-soon", f"flaky ends {until}, after which the pair is red; {what}"


def _missing(
    checked: BaselineToCheck, corpus: Corpus, agents: Sequence[str], strangers: _Strangers
) -> Iterator[BaselineFinding]:
    """One finding a case, for all agents that it has no entry of, not even a misspelt one."""
    first_lines: dict[str, int] = {}
    for (case_id, _), line in checked.lines.items():
        first_lines.setdefault(case_id, line)
    for case_id in (case.case_id for case in corpus.cases):
        bare = [
            agent
            for agent in agents
            if not any(pair in checked.lines for pair in strangers.names_of((case_id, agent)))
        ]
        own = case_id in first_lines
        file = checked.file if own else corpus.file
        line = first_lines[case_id] if own else corpus.lines[case_id]
        if bare:
            message = (
                f"{case_id}: no baseline entry for {', '.join(bare)}; measure it with "
                f"`{own_program()} run --case-id {case_id} --agents {','.join(bare)}`, then "
                f"`{own_program()} baseline update --cases {case_id}`"
            )
            named = ",".join(bare)
            yield BaselineFinding(ERROR, "missing-entry", case_id, named, file, line, message)


def _label(pair: Pair) -> str:
    return f"{pair[0]} on {pair[1]}"
