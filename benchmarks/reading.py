"""B3: how fast transcripts are judged, with few tokens and with many, against the plain way.

`evaluate` on a long run of each agent, by CPU seconds; those of an empty run are taken off. The
plain way is `json.loads` of every line, and a search for each token in the lower-cased texts of the
record: an escape in the JSON can hide a token, so that the line itself is not what is searched.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from benchmarks.measure import MEGABYTE, Row, Usage, divide, run_measured, run_product, take_turns
from benchmarks.transcripts import SHAPES, SKILL, write_session

MEGABYTES = 200
WORDS = (
    "widget order api test build deploy review docs release lint schema query cache image audio "
    "video triage issue branch merge config secret update check report trace graph index render"
).split()
PLAIN = """
import json, sys

def texts(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from texts(one)

tokens, found = sys.argv[2:], set()
for line in open(sys.argv[1], encoding="utf-8"):
    text = " ".join(texts(json.loads(line))).lower()
    found.update(token for token in tokens if token in text)
"""


def measure(rounds: int, small: bool) -> Iterator[Row]:
    """The rows of B3."""
    megabytes = 4 if small else MEGABYTES
    with tempfile.TemporaryDirectory() as folder:
        path, empty = Path(folder) / "transcript", Path(folder) / "empty"
        empty.touch()
        for agent in SHAPES:
            write_session(agent, path, int(megabytes * MEGABYTE))
            size = path.stat().st_size / MEGABYTE
            for count, least in ((3, 40), (100, 15)):
                tokens = make_tokens(count)
                plain, start, whole = take_turns(
                    rounds,
                    partial(_read_plainly, path, tokens),
                    partial(_read, agent, empty, tokens),
                    partial(_read, agent, path, tokens),
                )
                pairs = zip(whole, start, strict=True)
                # The clock has ticks of 10 ms.
                ours = [max(used.own_cpu - nothing.own_cpu, 0.01) for used, nothing in pairs]
                what = f"{agent}, {count} tokens"
                speeds = [size / seconds for seconds in ours]
                yield Row("B3", f"{what}: reading", speeds, "MB/s", least=least)
                ratios = divide([used.own_cpu for used in plain], ours)
                yield Row("B3", f"{what}: against the plain way", ratios, least=2)


def make_tokens(count: int) -> list[str]:
    """The skill that the run loads, and names as users choose them."""
    tokens = [SKILL, "widget-test", "order-api"]
    chance = random.Random(3)  # noqa: S311 - the same each time
    while len(tokens) < count:
        name = "-".join(chance.sample(WORDS, chance.choice([2, 2, 3])))
        if name not in tokens:
            tokens.append(name)
    return tokens[:count]


def _read(agent: str, path: Path, tokens: Sequence[str]) -> Usage:
    options = [word for token in tokens for word in ("--token", token)]
    return run_product("evaluate", "--agent", agent, "--stdout", path, *options, cwd=path.parent)


def _read_plainly(path: Path, tokens: Sequence[str]) -> Usage:
    return run_measured([sys.executable, "-I", "-S", "-c", PLAIN, str(path), *tokens])
