"""The pairs of a report that a command names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from routing_action.bot.commands import Command
from routing_action.corpus.baseline import Pair
from routing_action.corpus.naming import fold
from routing_action.files.nearest import suggest


def choose_pairs(
    command: Command, known: Sequence[Pair], is_meant: Callable[[Pair], bool]
) -> tuple[list[Pair], str]:
    """Those that are meant, of the cases and agents that are named, else of all; or what is wrong.

    The second is "" where every name is known, in whatever case of letters.
    """
    fault = _find_unknown(command.case_ids, (pair[0] for pair in known), "case")
    fault = fault or _find_unknown(command.agents, (pair[1] for pair in known), "agent")
    cases, agents = set(map(fold, command.case_ids)), set(map(fold, command.agents))
    chosen = [
        pair
        for pair in ([] if fault else known)
        if is_meant(pair)
        and (not cases or fold(pair[0]) in cases)
        and (not agents or fold(pair[1]) in agents)
    ]
    return chosen, fault


def _find_unknown(names: Iterable[str], known: Iterable[str], noun: str) -> str:
    spelled = dict.fromkeys(known)
    folded = {fold(one) for one in spelled}
    for name in names:
        if fold(name) not in folded:
            hint = suggest(name, spelled, "the report lists all that there are")
            return f"there is no {noun} {name}: {hint}"
    return ""
