"""U1: how many cases `plan --changed-from` selects, and how many planted regressions it misses.

Each edit of one skill is tried on every corpus with every choice. The verdict is another one than
that of all cases where the edit moves cases and none of these was selected; where only some were,
the gate is red, but does not list all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from benchmarks.corpora import (
    EDITS,
    Small,
    choices,
    make_corpus,
    make_edits,
    moved_cases,
    read_corpus,
)
from benchmarks.measure import ROOT, Row
from routing_action.corpus.first_corpus import similarity
from routing_action.corpus.naming import fold
from routing_action.corpus.skill_edits import find_cases_of_skill, find_near_cases

Select = Callable[[Small, str, str, Mapping[str, frozenset[str]]], set[str]]
EDITS_OF_EACH = 40


def select_near(
    corpus: Small, name: str, new: str, loaded: Mapping[str, frozenset[str]]
) -> set[str]:
    """What `--neighbours` selects."""
    texts = {fold(skill): text for skill, text in ({**corpus.skills, name: new}).items()}
    near = find_near_cases(corpus.cases, (corpus.skills[name], new), texts)
    return {*near, *find_cases_of_skill(corpus.cases, frozenset({fold(name)}), loaded)}


def select_by_words(
    corpus: Small, name: str, new: str, loaded: Mapping[str, frozenset[str]]
) -> set[str]:
    """By words in common, as `cases init` finds similar skills: what the chosen measure beats."""
    edited = [frozenset(text.lower().split()) for text in (corpus.skills[name], new)]
    near = {
        case.case_id
        for case in corpus.cases
        if max(similarity(frozenset(case.prompt.lower().split()), one) for one in edited) > 0.05
    }
    return near | set(find_cases_of_skill(corpus.cases, frozenset({fold(name)}), loaded))


def list_corpora(small: bool) -> Iterator[Small]:
    """Generated ones of 20 skills, and this repository's own."""
    yield from map(make_corpus, range(1 if small else 5))
    yield read_corpus(ROOT / ".claude" / "skills")


def try_edits(
    corpora: Sequence[Small], selects: Mapping[str, Select], count: int
) -> tuple[Counter[str], dict[str, list[float]], dict[str, Counter[str]], Counter[str]]:
    """How many edits of each kind move a case, and for each selection what it takes.

    Then how many verdicts are wrong by kind, and how many edits move a case that it leaves out.
    """
    moving: Counter[str] = Counter()
    shares: dict[str, list[float]] = {name: [] for name in selects}
    missed: dict[str, Counter[str]] = {name: Counter() for name in selects}
    left_out: Counter[str] = Counter()
    for corpus in corpora:
        for how, choose in choices(corpus).items():
            before = {case.case_id: choose(corpus.skills, case.prompt) for case in corpus.cases}
            loaded = {case_id: frozenset({fold(name)}) for case_id, name in before.items()}
            for kind, name, new in make_edits(corpus, f"{corpus.name} {how}", count):
                moved = moved_cases(corpus, choose, before, {**corpus.skills, name: new})
                moving[kind] += bool(moved)
                for key, select in selects.items():
                    chosen = select(corpus, name, new, loaded)
                    shares[key].append(len(chosen) / len(corpus.cases))
                    missed[key][kind] += bool(moved) and not moved & chosen
                    left_out[key] += bool(moved - chosen)
    return moving, shares, missed, left_out


def try_bodies(corpora: Sequence[Small]) -> tuple[list[float], int, int]:
    """The share that the body of a skill selects, and how many of these edits miss a case.

    A body moves what loads the skill, which the history tells.
    """
    shares: list[float] = []
    tried = missed = 0
    for corpus in corpora:
        for choose in choices(corpus).values():
            before = {case.case_id: choose(corpus.skills, case.prompt) for case in corpus.cases}
            loaded = {case_id: frozenset({fold(name)}) for case_id, name in before.items()}
            for name in corpus.skills:
                chosen = find_cases_of_skill(corpus.cases, frozenset({fold(name)}), loaded)
                shares.append(len(chosen) / len(corpus.cases))
                tried += 1
                missed += any(before[case_id] == name for case_id in before.keys() - {*chosen})
    return shares, tried, missed


def measure(_rounds: int, small: bool) -> Iterator[Row]:
    """Shares, and what is missed: none by default, which selects all cases for a description."""
    corpora = list(list_corpora(small))
    bodies, tried, lost = try_bodies(corpora[:-1])
    yield Row("U1", "body of 1 of 20 skills: share of units", bodies, "", most=0.4)
    yield Row("U1", f"body: regressions missed, of {tried}", [lost], "", most=0)
    selects = {"--neighbours": select_near, "words in common": select_by_words}
    moving, shares, missed, left_out = try_edits(corpora, selects, 8 if small else EDITS_OF_EACH)
    for key in selects:
        what, moved = f"description, {key}", f"of {moving.total()} that move a case"
        average = sum(shares[key]) / len(shares[key])
        most = (0.4, 0) if key == "--neighbours" else (1, moving.total())
        yield Row("U1", f"{what}: share of units", [average], "", most=most[0])
        yield Row("U1", f"{what}: wrong verdicts, {moved}", [missed[key].total()], "", most=most[1])
        yield Row("U1", f"{what}: red without all cases, {moved}", [left_out[key]], "", least=0)
    for kind in EDITS:
        what = f"--neighbours, {kind}: wrong verdicts, of {moving[kind]}"
        yield Row("U1", what, [missed["--neighbours"][kind]], "", least=0)
