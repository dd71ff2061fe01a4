"""Says which cases an edit of a skill can move: all of them, or those that have to do with it.

An agent chooses by name and description, so a change of these competes with every other skill. What
the rest of a skill says counts only where the skill is loaded.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath

from routing_action.corpus.case import Case
from routing_action.corpus.frontmatter import FENCE, parse_fields
from routing_action.corpus.influences import MOVES_PROMPTS, find_influence
from routing_action.corpus.naming import bare_name, fold
from routing_action.corpus.similarity import Similarity
from routing_action.corpus.skill_files import parse_skill_file


def explain_skill_file(path: str, before: bytes | None, after: bytes | None) -> str:
    """How a SKILL.md's edit can move any prompt; "" where only its body changed."""
    if before is None:
        return f"{path} is new"
    if after is None:
        return f"{path} was removed"
    heads = _cut_frontmatter(before), _cut_frontmatter(after)
    if heads[0] == heads[1] and heads[0]:
        return ""
    texts = {parse_skill_file("", Path(path), data).description for data in (before, after)}
    return f"{path} changed its {'frontmatter' if len(texts) == 1 else 'description'}"


def read_reworded(before: bytes | None, after: bytes | None) -> tuple[str, str] | None:
    """A description before and after, where nothing else of the frontmatter changed; else None."""
    heads = [_cut_frontmatter(data or b"").decode("utf-8", "replace") for data in (before, after)]
    if not all(heads):
        return None
    old, new = (
        {key: value.text for key, value in parse_fields(head.splitlines()).items()}
        for head in heads
    )
    texts = old.pop("description", ""), new.pop("description", "")
    return texts if old == new else None


def _cut_frontmatter(data: bytes) -> bytes:
    """What stands between the fences, with them; empty where it is not closed."""
    lines = data.splitlines(keepends=True)
    fence = FENCE.encode()
    ends = [place for place, line in enumerate(lines) if line.rstrip() == fence]
    return b"".join(lines[: ends[1] + 1]) if len(ends) > 1 and ends[0] == 0 else b""


def find_owner(path: str, skills: Collection[str]) -> str | None:
    """The innermost of the skills' folders that a path lies in; None where it is in none."""
    return next((str(one) for one in PurePosixPath(path).parents if str(one) in skills), None)


def is_read_early(inner: str) -> bool:
    """Whether agents read a skill's file before they load the skill, by its path in the folder.

    `agents/openai.yaml` tells codex when to use a skill (OpenAI, "Agent Skills").
    """
    return fold(inner).startswith("agents/") or find_influence(inner, {}) in MOVES_PROMPTS


def name_skill(folder: str, data: bytes) -> frozenset[str]:
    """The names that agents may call a skill by: its folder's, and what its file says."""
    name = parse_skill_file("", Path(folder), data).name
    return frozenset(fold(one) for one in (PurePosixPath(folder).name, name) if one)


def find_cases_of_skill(
    cases: Iterable[Case], names: frozenset[str], loaded: Mapping[str, Collection[str]]
) -> list[str]:
    """The ids of the cases that name a skill, that loaded it, or of which that is not known.

    `loaded` holds for each case that was measured earlier the skills that were loaded.
    """
    return [
        case.case_id
        for case in cases
        if names & _skills_of(case)
        or case.case_id not in loaded
        or not names.isdisjoint(loaded[case.case_id])
    ]


NEAR, SHARE, ADDED, TWINS = 0.02, 0.3, 0.2, 0.3
"""A prompt is near to a text from this similarity on, if that is so large a share of the one to the
skill that it wants, a smaller one for what an edit adds; two descriptions are from the last one on.
"""


def find_near_cases(
    cases: Sequence[Case], edited: Sequence[str], descriptions: Mapping[str, str]
) -> list[str]:
    """The ids of the cases whose prompt or wanted skill is near to an edited description.

    `edited` are its texts, the oldest first; `descriptions` those of all skills, by folded names.
    An agent may understand more than letters tell: what this misses is measured in
    docs/how-to/measure-fewer-cases.md.
    """
    likeness = Similarity((*descriptions.values(), *(case.prompt for case in cases)))
    known = {fold(word) for word in edited[0].split()}
    added = " ".join(word for word in edited[-1].split() if fold(word) not in known)
    twins = {
        name
        for name, text in descriptions.items()
        if max(likeness.measure(text, one) for one in edited) >= TWINS
    }
    found = []
    for case in cases:
        wanted = fold(bare_name(case.expected_skill))
        own = likeness.measure(case.prompt, descriptions.get(wanted, ""))
        nearest = max(likeness.measure(case.prompt, one) for one in edited)
        if (
            wanted in twins
            or nearest >= max(NEAR, SHARE * own)
            or likeness.measure(case.prompt, added) >= max(NEAR, ADDED * own)
        ):
            found.append(case.case_id)
    return found


def _skills_of(case: Case) -> set[str]:
    """The skills that a case expects, requires, allows or disallows, or whose files it names."""
    named = {case.expected_skill, *case.required_skills, *case.optional_skills}
    named |= set(case.disallowed_skills)
    for aliases in case.provider_aliases.values():
        named |= {*aliases, *aliases.values()}
    for token in _file_tokens(case):
        named.update(token.replace("\\", "/").split("/"))
    return {fold(bare_name(name)) for name in named if name}


def find_cases_of_file(cases: Iterable[Case], path: str) -> list[str]:
    """The ids of the cases that require evidence of a file."""
    return [case.case_id for case in cases if names_file(case, path)]


def names_file(case: Case, path: str) -> bool:
    """Whether a case requires evidence of a file."""
    tokens = _file_tokens(case)
    whole = f"/{fold(path)}" if tokens else ""
    return any(whole.endswith(f"/{fold(token.removeprefix('./'))}") for token in tokens)


def _file_tokens(case: Case) -> tuple[str, ...]:
    return (*case.required_files, *case.required_all_evidence, *case.required_evidence)
