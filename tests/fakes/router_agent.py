"""A stand-in for Claude Code that routes by itself, by the descriptions of the skills.

It reads the skills of its workspace, loads the one whose description shares the most words with the
prompt (none where no word is shared), and then obeys that skill as a model would: each line of
SKILL.md that begins with `$ ` is a command that its tool runs in a shell.
"""

import json
import re
import subprocess
import sys
from pathlib import Path


def say(record: dict[str, object]) -> None:
    """Print one record."""
    sys.stdout.write(json.dumps(record) + "\n")
    sys.stdout.flush()


def call(number: int, name: str, given: dict[str, str], result: str) -> None:
    """A tool call with its successful result."""
    used = {"type": "tool_use", "id": f"t{number}", "name": name, "input": given}
    say({"type": "assistant", "message": {"content": [used]}})
    answer = {"type": "tool_result", "tool_use_id": f"t{number}", "content": result}
    say({"type": "user", "message": {"content": [answer]}})


def words(text: str) -> set[str]:
    """The words of a text, in lower case."""
    return set(re.findall(r"[a-z]{4,}", text.lower()))


def choose(prompt: str) -> tuple[str, str]:
    """Name and text of the skill that fits best; empty texts where none does."""
    best, found = 0, ("", "")
    for path in sorted(Path(".claude/skills").glob("*/SKILL.md")):
        text = path.read_text(encoding="utf-8")
        described = re.search(r"^description:(.*)$", text, re.MULTILINE)
        score = len(words(prompt) & words(described[1] if described else ""))
        if score > best:
            best, found = score, (path.parent.name, text)
    return found


def main() -> int:
    """Route the prompt, and obey."""
    prompt = sys.argv[-1]
    say({"type": "system", "subtype": "init", "claude_code_version": "9.9.9", "model": "fake"})
    name, text = choose(prompt)
    if name:
        call(1, "Skill", {"skill": name}, f"Launching skill: {name}")
    for number, line in enumerate(re.findall(r"^\$ (.*)$", text, re.MULTILINE), start=2):
        done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
        call(number, "Bash", {"command": line}, done.stdout + done.stderr)
    say({"type": "assistant", "message": {"content": [{"type": "text", "text": "Done."}]}})
    say({"type": "result", "subtype": "success", "is_error": False, "num_turns": 1})
    return 0


if __name__ == "__main__":
    sys.exit(main())
