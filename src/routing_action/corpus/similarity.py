"""How near two texts are: the cosine of their letters' n-grams, weighed by how rare these are.

TF-IDF as of G. Salton and C. Buckley, Term-weighting approaches in automatic text retrieval,
Information Processing & Management 24 (1988). N-grams of letters find one word in other forms.
`benchmarks/neighbours.py` compares it with other measures.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping

from routing_action.corpus.naming import fold

_WORD = re.compile(r"\w+")
_LETTERS = 4


class Similarity:
    """Compares texts of one corpus, from 0 (no n-gram in common) to 1."""

    def __init__(self, texts: Iterable[str]) -> None:
        """`texts` say how rare an n-gram is."""
        counts = [set(_cut(text)) for text in texts]
        self._seen = Counter(gram for one in counts for gram in one)
        self._texts = len(counts)
        self._vectors: dict[str, Mapping[str, float]] = {}

    def measure(self, one: str, other: str) -> float:
        """The cosine of both; 0 where one of them holds no word."""
        first, second = self._vector(one), self._vector(other)
        return sum(weight * second.get(gram, 0.0) for gram, weight in first.items())

    def _vector(self, text: str) -> Mapping[str, float]:
        if text not in self._vectors:
            weights = {
                gram: count * math.log((self._texts + 1) / (self._seen[gram] + 0.5))
                for gram, count in Counter(_cut(text)).items()
            }
            length = math.hypot(*weights.values()) or 1.0
            self._vectors[text] = {gram: weight / length for gram, weight in weights.items()}
        return self._vectors[text]


def _cut(text: str) -> list[str]:
    padded = f" {' '.join(_WORD.findall(fold(text)))} "
    return [padded[place : place + _LETTERS] for place in range(len(padded) - _LETTERS + 1)]
