"""Cut GitHub's OpenAPI description to the operations that the tests' stand-in answers.

usage: python scripts/openapi_slice.py API_DESCRIPTION.json

The argument is `generated/api.github.com.json` of the npm package @octokit/openapi. Writes
tests/fakes/github/openapi.json: the operations, all that they refer to, and no prose.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TARGET = Path(__file__).resolve().parent.parent / "tests" / "fakes" / "github" / "openapi.json"
PROSE = {"description", "summary", "examples", "example", "externalDocs", "x-github", "tags"}

OPERATIONS = {
    "actions/cancel-workflow-run",
    "actions/create-workflow-dispatch",
    "actions/download-artifact",
    "actions/get-workflow",
    "actions/get-workflow-run",
    "actions/list-jobs-for-workflow-run",
    "actions/list-workflow-run-artifacts",
    "actions/list-workflow-runs-for-repo",
    "actions/re-run-workflow-failed-jobs",
    "apps/create-installation-access-token",
    "apps/get-authenticated",
    "apps/get-repo-installation",
    "apps/get-webhook-config-for-app",
    "apps/list-webhook-deliveries",
    "apps/redeliver-webhook-delivery",
    "checks/create",
    "checks/get",
    "checks/list-annotations",
    "checks/list-for-ref",
    "checks/update",
    "issues/create-comment",
    "issues/delete-comment",
    "issues/get-comment",
    "issues/list-comments",
    "issues/update-comment",
    "pulls/create-review-comment",
    "pulls/get",
    "pulls/list",
    "pulls/list-files",
    "pulls/list-review-comments",
    "reactions/create-for-issue-comment",
    "repos/compare-commits-with-basehead",
    "repos/create-or-update-file-contents",
    "repos/get-collaborator-permission-level",
    "repos/get-commit",
    "repos/get-content",
    "repos/list-activities",
    "repos/list-pull-requests-associated-with-commit",
    "users/get-authenticated",
}


def main() -> int:
    """Write the slice; 2 where an operation is not in the description."""
    whole = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    paths = dict(_operations(whole["paths"]))
    found = {one["operationId"] for verbs in paths.values() for one in verbs.values()}
    if missing := OPERATIONS - found:
        print(f"not in the description: {', '.join(sorted(missing))}", file=sys.stderr)
        return 2
    slim = _without_prose(paths)
    components: dict[str, dict[str, Any]] = {}
    waiting = list(_references(slim))
    while waiting:
        kind, name = waiting.pop()
        if name not in components.setdefault(kind, {}):
            value = _without_prose(whole["components"][kind][name])
            components[kind][name] = value
            waiting += _references(value)
    document = {
        "openapi": whole["openapi"],
        "info": {"title": "GitHub's REST API, in part", "version": whole["info"]["version"]},
        "paths": slim,
        "components": {kind: dict(sorted(them.items())) for kind, them in components.items()},
    }
    TARGET.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return 0


def _operations(paths: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for path, verbs in paths.items():
        kept = {verb: one for verb, one in verbs.items() if one.get("operationId") in OPERATIONS}
        if kept:
            yield path, kept


def _without_prose(value: Any, *, named: bool = False) -> Any:  # noqa: ANN401 - any JSON
    """The same without texts for people; names of properties and components are kept."""
    if isinstance(value, list):
        return [_without_prose(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _without_prose(one, named=key in ("properties", "headers", "paths"))
        for key, one in value.items()
        if named or key not in PROSE
    }


def _references(value: Any) -> Iterator[tuple[str, str]]:  # noqa: ANN401 - any JSON
    if isinstance(value, list):
        for one in value:
            yield from _references(one)
    elif isinstance(value, dict):
        target = value.get("$ref")
        if isinstance(target, str):
            _, _, kind, name = target.split("/")
            yield kind, name
        for one in value.values():
            yield from _references(one)


if __name__ == "__main__":
    sys.exit(main())
