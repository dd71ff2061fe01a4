"""The command line: one file a command, and what `--help` says, which imports nothing."""

from __future__ import annotations

COMMANDS = {
    "demo": "Show a green gate and a red one, from recordings.",
    "run": "Run cases on agent CLIs and prove which skills they loaded.",
    "compare": "Judge results against the baseline at the merge base.",
    "report": "Render a delta for people.",
    "history": "Show how pairs did over time, and where their rate changed.",
    "publish": "Post a delta as check run and comment.",
    "evaluate": "Judge stored transcripts again; no agent is started.",
    "record": "Make recordings of a batch, for `run --replay`.",
    "noise": "Show how far the gate can be trusted on this corpus.",
    "plan": "Show what a run would do: units, and shards for a matrix.",
    "baseline": "Check the baseline, or update it from results.",
    "cases": "Check a case file, start one, or add a case.",
    "providers": "List the agent CLIs that are known, and check them.",
    "bot": "Try the reporting bot on a payload, or run its server.",
    "schema": "Print the JSON Schema of a file format.",
}
"""The commands in the order of a user's work, each with its one sentence."""

_HEAD = """\
Usage: routing-action [OPTIONS] COMMAND [ARGS]...

  Prove which skill an agent CLI loads for a prompt, and gate changes on it.

  The result goes to stdout, lifecycle and logging to stderr.

  Exit codes: 0 passed, 1 gate failed, 2 usage or input file, 3 nothing to run,
  4 the harness could not work, 5 GitHub, 70 a bug, 130 interrupted.

Options:
  --version   Show the version and exit.
  -h, --help  Show this message and exit.

Commands:
"""


def render_overview() -> str:
    """The whole text, at most 80 columns wide, without a newline at its end."""
    width = max(map(len, COMMANDS))
    lines = [f"  {name.ljust(width)}  {sentence}" for name, sentence in COMMANDS.items()]
    return _HEAD + "\n".join(lines)
