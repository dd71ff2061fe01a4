"""Cut GitHub's example webhooks to the events that the bot's server can be sent.

usage: python scripts/webhook_slice.py EXAMPLES.json

The argument is `api.github.com/index.json` of the npm package @octokit/webhooks-examples. Writes
tests/fakes/github/webhooks.json: for each event its examples, one a line, without addresses.
"""

import json
import sys
from pathlib import Path
from typing import Any

TARGET = Path(__file__).resolve().parent.parent / "tests" / "fakes" / "github" / "webhooks.json"
EVENTS = (
    "check_run",
    "check_suite",
    "installation",
    "installation_repositories",
    "issue_comment",
    "ping",
    "pull_request",
    "push",
    "workflow_job",
    "workflow_run",
)
FEW = ("pull_request", "push", "workflow_job", "workflow_run")
"""Of these, which the server does not handle, one example of each kind is enough."""


def main() -> int:
    """Write the slice; 2 where an event is not among the examples."""
    whole = {one["name"]: one["examples"] for one in json.loads(Path(sys.argv[1]).read_text())}
    if missing := [name for name in EVENTS if name not in whole]:
        print(f"no examples of {', '.join(missing)}", file=sys.stderr)
        return 2
    parts = (f'"{name}": [\n{_lines(name, whole[name])}\n]' for name in EVENTS)
    TARGET.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")
    return 0


def _lines(name: str, examples: list[Any]) -> str:
    chosen = {one.get("action", ""): one for one in reversed(examples)} if name in FEW else {}
    listed = chosen.values() or examples
    return ",\n".join(json.dumps(_without_addresses(one)) for one in listed)


def _without_addresses(value: Any) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(value, list):
        return [_without_addresses(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _without_addresses(one)
        for key, one in value.items()
        if key not in ("url", "_links", "node_id") and not key.endswith("_url")
    }


if __name__ == "__main__":
    sys.exit(main())
