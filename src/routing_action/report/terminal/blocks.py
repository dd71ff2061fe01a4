"""One block of text for each cause of a delta: what broke, the proof, and what to do now."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from routing_action.corpus.baseline import Status
from routing_action.evidence.outcome import Outcome
from routing_action.files.program import own_program
from routing_action.gate.model import Delta, DeltaEntry
from routing_action.gate.rules import DeltaKind
from routing_action.gate.wording import name_few
from routing_action.github.publication import RunLinks
from routing_action.report.causes import describe_group, group_rows, list_taken, name_group
from routing_action.report.differences import compare_sentences
from routing_action.report.escape import cut, excerpt, printable
from routing_action.report.reasons import (
    describe_trials,
    index_passing,
    list_noise,
    list_proofs,
    say,
)
from routing_action.report.remedies import find_fix
from routing_action.report.steps import accept_rows, describe_acceptance, rerun_command
from routing_action.report.suspects import adjust_rerun, describe_rest, list_suspects
from routing_action.report.terminal.cells import shorten, visible
from routing_action.report.terminal.layout import (
    LABEL_WIDTH,
    ConsoleStyle,
    command,
    flow,
    labelled,
    split_words,
    wrap,
)

Word: TypeAlias = Callable[[DeltaEntry], tuple[str, str]]
"""What a row is called, and the colour of that (SGR number)."""

_MOST_FULL = 12
_MOST_NAMED = 60
_MOST_PROOFS = 2
_CAUSE_WIDTH = 400
_PROOF_WIDTH = 160
_NOTHING_TO_MEASURE = (
    DeltaKind.UNDECLARED, DeltaKind.REMOVED, DeltaKind.UNMEASURED, DeltaKind.EXPIRED,
)  # fmt: skip
_MOST_EDITED = 2
CHANGE_WIDTH = 400


@dataclass(frozen=True, slots=True)
class Blocks:
    """How rows of a delta are shown: by which word, and where the results are for the commands.

    Without `results` nothing can be accepted; at a `place` they are those of its run. `whole` are
    the agents of which all cases were measured. `told` are texts before and after an edit that
    were shown.
    """

    delta: Delta
    style: ConsoleStyle
    word: Word
    results: str | None
    whole: frozenset[str]
    place: RunLinks | None = None
    passing: dict[str, list[str]] = field(default_factory=dict)
    told: set[tuple[str, str]] = field(default_factory=set)

    def draw(self, rows: Sequence[DeltaEntry]) -> Iterator[str]:
        """A block for each cause; of very many the first ones in full, then their names alone.

        A blank line stands around what has more to it than a name.
        """
        self.passing.update(index_passing(self.delta))
        groups = group_rows(self.delta, rows)
        above = True
        for number, group in enumerate(groups[:_MOST_NAMED]):
            facts = list(self._facts(group)) if number < _MOST_FULL else []
            yield from [""] if facts and not above else []
            yield from (*self._headline(group), *facts)
            yield from [""] if facts else []
            above = bool(facts)
        if len(groups) > _MOST_NAMED:
            where = "--format json" if self.results is not None else "results.json"
            yield f"and {len(groups) - _MOST_NAMED} more; see {where}"

    def _headline(self, group: Sequence[DeltaEntry]) -> Iterator[str]:
        word, colour = self.word(group[0])
        name, *words = split_words(f"{name_group(group)}{self._what(group)}")
        first, *rest = flow([f"{word} {name}", *words], self.style.width, indent="  ")
        yield self.style.paint(word, colour) + first.removeprefix(word)
        yield from rest

    def _what(self, group: Sequence[DeltaEntry]) -> str:
        row, many = group[0], len(group) > 1
        if row.kind is DeltaKind.EXPIRED:
            return f": {say(describe_group(self.delta, group))}"
        if row.got is Status.INFRA_ERROR:
            kind = f" ({row.failure_kind})" if row.failure_kind else ""
            cause = f": {shorten(_name_error(row), _CAUSE_WIDTH)}" if row.error else ""
            return f"{' ' if many else ': '}not measured{kind}{cause}"
        trials = describe_trials(row)
        noise = list(map(say, list_noise(row, self.passing.get(row.case_id, ()))))[bool(trials) :]
        what = say(describe_group(self.delta, group))
        if list_taken(self.delta, group):
            return f": {what} ({trials})"
        kind = row.failure_kind if row.got is Status.FAIL and row.failure_kind else ""
        told = ("" if kind in what or row.timed_out else kind, "" if many else trials)
        marks = ", ".join(filter(None, told))
        what += f" ({marks})" if marks else ""
        return f"{', each: ' if many else ': '}{'; '.join((what, *noise))}"

    def _facts(self, group: Sequence[DeltaEntry]) -> Iterator[str]:
        row, width = group[0], self.style.width
        for number, (prompt, wanted) in enumerate(list_taken(self.delta, group)):
            yield from labelled("" if number else "prompts", f"“{prompt}” → {wanted}", width)
        is_lost = row.got is Status.INFRA_ERROR and row.kind is not DeltaKind.EXPIRED
        if row.got is Status.FAIL and (row.gates or row.flaky):
            if row.error:
                yield from labelled("cause", shorten(row.error, _CAUSE_WIDTH), width)
            yield from self._proofs(row)
            yield from self._change(row)
        if row.gates or is_lost:
            fix = _find_fix(self.delta, row, group)
            yield from labelled("fix", fix, width) if fix else ()
        cases = tuple(dict.fromkeys(one.case_id for one in group))
        rerun = is_lost or row.stale or (row.gates and row.kind not in _NOTHING_TO_MEASURE)
        if rerun:
            for agent in dict.fromkeys(one.agent for one in group):
                own = [one for one in group if one.agent == agent]
                named = tuple(dict.fromkeys(one.case_id for one in own))
                yield from command("rerun", self._rerun(own[0], named), width)
        accept = list(self._accept(group)) if self.results is not None else []
        yield from accept
        if not accept and len(cases) > 1 and not rerun:
            yield from labelled("cases", name_few(map(printable, cases)), width)

    def _accept(self, group: Sequence[DeltaEntry]) -> Iterator[str]:
        row, width = group[0], self.style.width
        if accept := accept_rows(self.delta, group, self.results or "", self.place):
            label = "lock in" if row.kind is DeltaKind.IMPROVEMENT else "accept"
            yield from command(label, accept, width)
        note = describe_acceptance(self.delta, row) if accept else ""
        if row.gates and note:
            yield from labelled("", note, width)

    def _rerun(self, row: DeltaEntry, cases: Sequence[str]) -> str:
        rows = (one for one in self.delta.rows if one.kind is not DeltaKind.REMOVED)
        known = {one.case_id for one in rows if one.agent == row.agent}
        if row.agent in self.whole and known <= set(cases):
            return adjust_rerun(self.delta, row, self.delta.run_commands[row.agent])
        return rerun_command(self.delta, row.model_copy(update={"case_id": ",".join(cases)}))

    def _proofs(self, row: DeltaEntry) -> Iterator[str]:
        """The best that was found for the skills that took the prompt, or were wanted."""
        room = min(self.style.width, _PROOF_WIDTH) - LABEL_WIDTH
        for proof in list_proofs(row)[:_MOST_PROOFS]:
            where = f"{proof.token} at tier {proof.tier} ({proof.source_detail}):"
            yield from labelled("found", where, self.style.width)
            line = excerpt(visible(proof.proof_line), proof.token, room)
            yield f"{'':{LABEL_WIDTH}}{shorten(cut(line, room), room)}"

    def _change(self, row: DeltaEntry) -> Iterator[str]:
        """What the change does to the skills that decide who takes the prompt."""
        width = self.style.width
        if not self.delta.edits_known:
            return
        skills = [one for one in list_suspects(self.delta, row) if one.is_of_skill]
        for suspect in skills[:_MOST_EDITED]:
            yield from labelled("edited", say(suspect.sentence), width)
            self.told.add((suspect.before, suspect.after))
            for sign, text in compare_sentences(suspect.before, suspect.after, CHANGE_WIDTH):
                lines = wrap(text, width - LABEL_WIDTH - 2)
                yield from (f"{'':{LABEL_WIDTH}}{sign} {line}" for line in lines)
        rest = next(describe_rest(self.delta, row), ())
        if rest and not skills:
            yield from labelled("edited", say(rest), width)


def _name_error(row: DeltaEntry) -> str:
    """What stopped a pair; a missing CLI without the remedies, which the run said at its start."""
    error = row.error or ""
    return error.partition("; ")[0] if _is_ours(row) else error


def _find_fix(delta: Delta, row: DeltaEntry, group: Sequence[DeltaEntry]) -> str:
    """What to do; "" where the harness did not start a unit, and its error says what to do."""
    if _is_ours(row):
        return f"{own_program()} providers doctor --agents {shlex.quote(row.agent)}"
    is_said = row.failure_kind == Outcome.NOT_RUN and "; " in (row.error or "")
    return "" if is_said else find_fix(delta, row, group)


def _is_ours(row: DeltaEntry) -> bool:
    """True where the harness found no CLI, and its error ends with what to do."""
    error = row.error or ""
    is_told = error.startswith("`") and "; " in error
    return row.failure_kind == Outcome.CLI_MISSING and is_told
