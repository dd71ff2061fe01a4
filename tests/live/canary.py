"""The canary: does the newest CLI of an agent still print what its reader rests on.

usage: python -m tests.live.canary AGENT --to DIR     run it on a scripted model, and compare
       python -m tests.live.canary --report DIR       one text for an issue, of all that differs

The first installs nothing: the CLI is the one on PATH. It writes DIR/AGENT.json, and the new
recordings beside it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from routing_action.agents.discovery import our_providers
from routing_action.agents.drift import Fact
from routing_action.cli.streams.drift import PROMPTS, SKILL
from tests.live.batch import MODELS, model_files, model_variables
from tests.live.mock_models import serve
from tests.live.mock_scripts import Book, Call, Script, Step

_DONE = Step(say="That is all.")
SCRIPTS = Book(
    {
        PROMPTS[Fact.LOAD]: Script((Step(do=(Call("skill", SKILL),)), _DONE)),
        PROMPTS[Fact.UNKNOWN]: Script((Step(do=(Call("skill", "no-such-skill"),)), _DONE)),
        PROMPTS[Fact.ANSWER]: Script((Step(say="Blue."),)),
    }
)
_MOST_LINE = 300


async def watch(agent: str, folder: Path) -> int:
    """Run `providers drift` on an agent against the scripted model; its exit code."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="canary-") as home:
        async with serve(SCRIPTS) as url:
            for name, text in model_files(url).items():
                file = Path(home) / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
            words = ["providers", "drift", "--agent", agent, "--to", str(folder / "recordings")]
            words += ["--model", MODELS[agent]] if agent in MODELS else []
            done = await asyncio.to_thread(
                subprocess.run,
                [sys.executable, "-P", "-m", "routing_action", *words, "--format", "json"],
                env={
                    "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": home,
                    **model_variables(url, [agent]),
                },
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
            )  # fmt: skip
    answer: dict[str, Any] = {"agent": agent, "error": done.stderr.strip()[-2000:]}
    if done.stdout.startswith("{"):
        answer = json.loads(done.stdout)
    (folder / f"{agent}.json").write_text(json.dumps(answer), encoding="utf-8")
    sys.stdout.write(done.stdout + done.stderr)
    return done.returncode


def report(folder: Path) -> str:
    """What differs, agent by agent, as Markdown; "" where nothing does.

    What a CLI printed stands in one fence that it cannot close.
    """
    answers = [json.loads(file.read_text("utf-8")) for file in sorted(folder.glob("*.json"))]
    seen = {answer["agent"] for answer in answers}
    lines = [line for answer in answers for line in _lines(answer)]
    if not lines:
        return ""
    lines += [f"{agent}: was not looked at" for agent in our_providers() if agent not in seen]
    text = "\n".join(re.sub(r"[\x00-\x1f\x7f]", " ", line)[:_MOST_LINE] for line in lines)
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    return (
        "The newest CLIs differ from the recordings.\n\n"
        f"{fence}text\n{text}\n{fence}\n\n"
        "What they printed is in the artifacts `drift-AGENT` of the run: put the folders of "
        "`recordings` into `tests/recordings/cli`, add their labels, and adapt the reader where "
        "a verdict is not as due.\n"
    )


def _lines(answer: dict[str, Any]) -> Iterator[str]:
    name = answer["agent"]
    if "differences" not in answer:
        yield f"{name}: could not be looked at: {answer['error']}"
        return
    said = [
        f"  {one['what']} {'field of ' if one['field'] else ''}{one['kind']} {one['field'] or ''} "
        f"{'(breaks the reader) ' if one['breaks'] else ''}{one['detail'] or ''}".rstrip()
        for one in answer["differences"]
    ]
    said += [f"  verdict is not as due: {line}" for line in answer["wrong"]]
    said += [f"  could not be seen: {line}" for line in answer["unseen"]]
    news = any(one["what"] == "new" for one in answer["differences"])
    if answer["drifted"] or news or answer["unseen"]:
        yield f"{name} {answer['version']}, recorded: {answer['recorded']}"
        yield from said


def main(arguments: Sequence[str] | None = None) -> int:
    """Look at one agent, or report on all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("agent", nargs="?", help="the name of an agent")
    parser.add_argument("--to", type=Path, help="where the comparison and recordings go")
    parser.add_argument("--report", type=Path, help="the folder of all comparisons")
    options = parser.parse_args(arguments)
    if options.report:
        sys.stdout.write(report(options.report))
        return 0
    if not (options.agent and options.to):
        parser.error("give AGENT and --to DIR, or --report DIR")
    return asyncio.run(watch(options.agent, options.to))


if __name__ == "__main__":
    sys.exit(main())
