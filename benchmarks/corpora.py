"""Corpora for planted regressions: skills, prompts, and what stands for an agent's choice.

The choices are made without the measure that selects cases: by rare words, by letters, and by
meaning, where other words for the same thing count as that thing and pushy words draw prompts.
"""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from routing_action.corpus.case import Case
from routing_action.corpus.cases_file import read_cases
from routing_action.corpus.skill_files import read_skill_file

_SYLLABLES = "ba ko ri tu me la zo ni pa ge du vi so ra xe ul or im qua fe".split()
_PUSHY = frozenset("all always any before every first".split())
_PUSH = "use this always first for any task before every other"
_WORD = re.compile(r"[a-z0-9]+")
_LEAST = 0.6
EDITS = ("steal", "steal in other words", "borrow", "push", "narrow", "reword", "replace", "typo")


@dataclass(frozen=True, slots=True)
class Small:
    """Descriptions by skill, cases, and for words that mean the same one of them."""

    name: str
    skills: Mapping[str, str]
    cases: tuple[Case, ...]
    meanings: Mapping[str, str] = field(default_factory=dict)


def make_corpus(seed: int, skills: int = 20, prompts: int = 3) -> Small:
    """Skills in families that share words; prompts use other words for half of what they mean."""
    draw = random.Random(seed)  # noqa: S311 - no secret
    words: set[str] = set()
    meanings: dict[str, str] = {}

    def concept() -> list[str]:
        new: list[str] = []
        while len(new) < 3:
            word = "".join(draw.choices(_SYLLABLES, k=draw.choice((2, 3, 3, 4))))
            if word not in words:
                words.add(word)
                new.append(word)
        meanings.update(dict.fromkeys(new, new[0]))
        return new

    families = [[concept() for _ in range(4)] for _ in range(skills // 4)]
    general = [concept() for _ in range(12)]
    texts: dict[str, str] = {}
    cases: list[Case] = []
    for number in range(skills):
        own, family = [concept() for _ in range(7)], families[number % len(families)]
        told = [one[0] for one in (*own, *draw.sample(family, 2), *draw.sample(general, 3))]
        texts[f"skill-{number}"] = " ".join(draw.sample(told, len(told)))
        for place in range(prompts):
            asked = [
                draw.choice(one) if draw.random() < 0.5 else one[0] for one in draw.sample(own, 4)
            ]
            asked += [draw.choice(one) for one in (draw.choice(family), *draw.sample(general, 3))]
            cases.append(
                Case(
                    case_id=f"case-{number}-{place}",
                    prompt=" ".join(draw.sample(asked, len(asked))),
                    expected_skill=f"skill-{number}",
                )
            )
    return Small(f"generated {seed}", texts, tuple(cases), meanings)


def read_corpus(root: Path) -> Small:
    """A repository's own skills and cases."""
    files = [read_skill_file(file.parent.name, file) for file in root.glob("**/SKILL.md")]
    texts = {file.folder: file.description for file in files}
    return Small("this repository", texts, read_cases(root.parents[1] / "cases.json").cases)


Choose = Callable[[Mapping[str, str], str], str]
"""The skill that takes a prompt, "" for none, by the descriptions of all."""


def choices(corpus: Small) -> dict[str, Choose]:
    """What stands for an agent, three times."""

    def by_meaning(text: str) -> list[str]:
        return [corpus.meanings.get(word, word) for word in _words(text)]

    return {
        "words": _choice(_words, pushy=False),
        "letters": _choice(_grams, pushy=False),
        "meaning": _choice(by_meaning, pushy=True),
    }


def _words(text: str) -> list[str]:
    return [word.removesuffix("s") for word in _WORD.findall(text.lower()) if len(word) > 2]


def _grams(text: str) -> list[str]:
    padded = f" {' '.join(_words(text))} "
    return [padded[place : place + 5] for place in range(len(padded) - 4)]


def _choice(cut: Callable[[str], list[str]], *, pushy: bool) -> Choose:
    def choose(skills: Mapping[str, str], prompt: str) -> str:
        parts = {name: set(cut(text)) for name, text in skills.items()}
        seen = Counter(part for own in parts.values() for part in own)
        asked = Counter(cut(prompt))
        scores = {"": _LEAST}
        for name, own in parts.items():
            weights = (
                math.log((len(skills) + 1) / (seen[part] + 0.5)) * min(count, 2)
                for part, count in asked.items()
                if part in own
            )
            scores[name] = sum(weights) / math.sqrt(len(own) + 5)
            if pushy:
                scores[name] += 0.25 * len(_PUSHY.intersection(skills[name].lower().split()))
        return max(scores, key=lambda name: scores[name])

    return choose


def make_edits(corpus: Small, seed: str, count: int) -> Iterator[tuple[str, str, str]]:
    """The kind of each edit, the skill, and its new description."""
    draw = random.Random(seed)  # noqa: S311 - no secret
    others: dict[str, list[str]] = {}
    for word, meaning in corpus.meanings.items():
        others.setdefault(meaning, []).append(word)

    def reword(text: str) -> str:
        means = (corpus.meanings.get(word, word) for word in text.split())
        return " ".join(draw.choice(others.get(word, [word])) for word in means)

    for number in range(count):
        name = draw.choice(sorted(corpus.skills))
        text = corpus.skills[name]
        other = draw.choice([case for case in corpus.cases if case.expected_skill != name])
        words = text.split()
        new = {
            "steal": f"{text} {' '.join(other.prompt.split()[:8])}",
            "steal in other words": f"{text} {reword(other.prompt)}",
            "borrow": f"{text} {corpus.skills.get(other.expected_skill, '')}",
            "push": f"{text} {_PUSH}",
            "narrow": " ".join(words[: len(words) // 2]),
            "reword": reword(text),
            "replace": " ".join(draw.sample(words, len(words) // 4)),
            "typo": " ".join((*words[:-1], words[-1][::-1])),
        }
        kind = EDITS[number % len(EDITS)]
        yield kind, name, new[kind]


def moved_cases(
    corpus: Small, choose: Choose, before: Mapping[str, str], edited: Mapping[str, str]
) -> set[str]:
    """The cases that another skill takes now."""
    return {
        case.case_id for case in corpus.cases if choose(edited, case.prompt) != before[case.case_id]
    }
