"""A fake agent with a stream of its own: the example of docs/how-to/use-a-custom-agent.md.

usage: python acme_agent.py run --json [--model NAME] PROMPT

It reads skills from `.acme/skills` of the folder it is started in. The prompt may carry words for
it: `load:NAME`, `mention:NAME`, `busy` (the service asks for fewer calls), `tell` (its folders and
its key). Without ACME_API_KEY it is not signed in.
"""

import json
import os
import sys
from pathlib import Path

PRICE = 0.125


def say(event: str, **fields: object) -> None:
    """Print one record."""
    sys.stdout.write(json.dumps({"event": event, **fields}) + "\n")
    sys.stdout.flush()


def load(skill: str) -> None:
    """Call the skill tool; it succeeds where the skill is there."""
    file = Path(".acme/skills") / skill / "SKILL.md"
    say("tool.start", call={"id": "c1", "name": "load_skill", "args": {"skill": skill}})
    ok = file.is_file()
    output = file.read_text(encoding="utf-8") if ok else f"no skill {skill}"
    say("tool.end", call={"id": "c1", "ok": ok, "output": output})
    say("usage", step="s1", tokens={"in": 100, "out": 10}, cost=PRICE)


def main(arguments: list[str]) -> int:
    """Act as the prompt says."""
    if arguments == ["--version"]:
        sys.stdout.write("acme 1.2.3\n")
        return 0
    prompt = arguments[-1]
    words = dict(word.partition(":")[::2] for word in prompt.split())
    model = arguments[arguments.index("--model") + 1] if "--model" in arguments else "acme-1"
    skills = sorted(path.parent.name for path in Path(".acme/skills").glob("*/SKILL.md"))
    say("session", version="1.2.3", model=model, skills=skills)
    if not os.environ.get("ACME_API_KEY"):
        say("failed", error={"message": "sign in first", "code": "unauthorized", "status": 401})
        return 1
    if "busy" in words:
        say("failed", error={"message": "retry after 0.05 seconds", "code": "busy", "status": 429})
        return 1
    if "load" in words:
        load(words["load"])
    if "tell" in words:
        told = (str(Path.cwd()), os.environ["HOME"], os.environ["ACME_API_KEY"])
        say("message", content={"text": " ".join(told)})
    say("message", content={"text": f"I could use {words.get('mention', 'nothing')}."})
    say("usage", step="s2", tokens={"in": 50, "out": 5}, cost=PRICE)
    say("heartbeat")
    say("done")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
