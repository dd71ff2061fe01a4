"""Stands in for claude, codex and copilot where the pages of the documents are walked through.

usage: python page_agent.py AGENT ... PROMPT

It loads each skill of its folder whose description shares two long words with the prompt; codex
only the one that shares most.
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.support.streams import load, run_of, say, shell

WORD = re.compile("[a-z]{5,}")
FOLDERS = {"claude": ".claude", "codex": ".agents", "copilot": ".github"}


def choose(agent: str, words: set[str]) -> list[Path]:
    """The skills that fit a prompt, best first."""
    shared = {
        file: len(words & set(WORD.findall(file.read_text("utf-8").lower())))
        for file in sorted(Path(FOLDERS[agent], "skills").glob("*/SKILL.md"))
    }
    fitting = sorted((file for file in shared if shared[file] > 1), key=shared.__getitem__)[::-1]
    return fitting[:1] if agent == "codex" else fitting


def main(agent: str, arguments: list[str]) -> int:
    """Print a session in the agent's own format."""
    if "--version" in arguments:
        sys.stdout.write("9.9.9\n")
        return 0
    records = [say(agent, "I look for a skill.")]
    for file in choose(agent, set(WORD.findall(max(arguments, key=len).lower()))):
        name, text = file.parent.name, file.read_text("utf-8")
        records += shell(agent, f"cat {file}", text) if agent == "codex" else load(agent, name)
    sys.stdout.buffer.write(run_of(agent, *records))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
