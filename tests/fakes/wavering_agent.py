"""A stand-in for Claude Code that loads the skill in some of its runs only.

Used as `python wavering_agent.py FOLDER PROMPT`. The prompt says how the first runs with it end, as
`runs:FPPF`: F without the skill, P with it, E by an error of the service; later ones end as the
last. With `rate:0.95:SEED` instead each run passes with that probability, by the seed.
"""

import os
import random
import re
import sys
from pathlib import Path


def count_earlier(folder: Path, name: str) -> int:
    """How many runs with this prompt began before this one."""
    number = 0
    while True:
        try:
            os.close(os.open(folder / f"{name}.{number}", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            number += 1
        else:
            return number


def main() -> None:
    """Act as the prompt says, by the plain stand-in."""
    folder, prompt = Path(sys.argv[1]), sys.argv[2]
    found = re.search(r"(runs|rate):(\S+)", prompt)
    if found is None:
        raise SystemExit(f"no runs: or rate: in {prompt!r}")
    number = count_earlier(folder, re.sub(r"\W+", "-", prompt))
    if found[1] == "runs":
        letter = found[2][min(number, len(found[2]) - 1)]
    else:
        rate, _, seed = found[2].partition(":")
        drawn = random.Random(f"{seed}-{number}").random()  # noqa: S311 - no secret
        letter = "P" if drawn < float(rate) else "F"
    words = {"F": "mention:foo", "P": "load:foo", "E": "status:500"}[letter]
    plain = Path(__file__).with_name("fake_claude.py")
    os.execv(sys.executable, [sys.executable, str(plain), words])  # noqa: S606 - ourselves


main()
