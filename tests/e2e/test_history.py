"""The history under act: main writes it, a pull request reads it, and races lose nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.e2e import test_documented_workflows as documented
from tests.e2e.bench import Finished
from tests.e2e.demo import GATE, Demo
from tests.e2e.test_documented_workflows import ENTRY, KEYS, ONE, SKILL, WORKFLOW
from tests.integration.test_action_definition import OWN

pytestmark = pytest.mark.slow

demo = documented.demo

BRANCH = "routing-action-data"
MEASURED = {"plan": "success", "measure (claude)": "success", GATE: "success", "history": "success"}
DENY = f"""#!/bin/sh
while read -r old new ref; do
  if [ "$ref" = refs/heads/{BRANCH} ]; then echo "GH013: not allowed for this token" >&2; exit 1; fi
done
"""


@pytest.fixture
def main(demo: Demo) -> Demo:
    """A repository with the quick start's workflow on main, measured on claude."""
    text = re.sub(rf"{OWN}@0+ # \S+", "./", ONE)
    place = demo.origin.path / "provider-baseline.json"
    place.write_text(json.dumps({"ship": {"claude": ENTRY}}), encoding="utf-8")
    other = SKILL.replace("ship-it", "other").replace("a version", "nothing")
    demo.origin.commit(
        {f".github/workflows/{WORKFLOW}": text, ".claude/skills/other/SKILL.md": other}
    )
    return demo


def push(main: Demo, run_id: str) -> Finished:
    """The run of a push to main."""
    event = {"ref": "refs/heads/main"}
    return main.run(WORKFLOW, "push", event, *KEYS, run_id=run_id)


def lines(main: Demo) -> list[dict[str, Any]]:
    """What the branch holds."""
    names = main.origin.git("ls-tree", "--name-only", BRANCH).split()
    files = [one for one in names if one.endswith(".jsonl")]
    texts = [main.origin.git("show", f"{BRANCH}:{one}") for one in files]
    return [json.loads(line) for text in texts for line in text.splitlines()]


def propose(main: Demo) -> Finished:
    """The run of a pull request that takes the skill away."""
    main.change({".claude/skills/ship-it/SKILL.md": None})
    request = {
        "number": 7,
        "head": {"sha": main.head, "ref": "change", "repo": {"full_name": "octo/demo"}},
        "base": {"ref": "main", "repo": {"full_name": "octo/demo"}},
    }
    event = {"number": 7, "pull_request": request}
    return main.run(WORKFLOW, "pull_request", event, *KEYS, ref="refs/heads/merge", run_id="3")


def test_a_push_to_main_writes_the_history_and_a_pull_request_shows_it(main: Demo) -> None:
    """A run of main, and a red pull request, which appends nothing."""
    done = push(main, "1")
    assert (done.code, dict(done.jobs)) == (0, MEASURED), done.log[-5000:]
    (line,) = lines(main)
    assert (line["case_id"], line["agent"], line["passes"]) == ("ship", "claude", 1)
    assert line["commit"] == main.origin.git("rev-parse", "main")
    assert line["run"] == "https://github.com/octo/demo/actions/runs/1"
    badge = json.loads(main.origin.git("show", f"{BRANCH}:badge.json"))
    assert badge["message"] == "1 of 1 pairs passed their last run"
    assert "data-trends" in main.origin.git("show", f"{BRANCH}:index.html")
    done = propose(main)
    assert done.code == 1, done.log[-5000:]
    assert "history" not in done.jobs
    (row,) = main.delta(run_id="3")["rows"]
    assert row["history"] == [[1, 1]]
    assert "**Before**: `▇` 1 of 1 trial passed in the last run of the default" in main.comment
    assert '"▇"' in main.report(run_id="3").read("report.html").decode()
    assert lines(main) == [line]


def test_a_repository_without_the_permission_goes_on_with_a_warning(main: Demo) -> None:
    """Nothing else is red for it."""
    hook = main.origin.path / ".git" / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(DENY, encoding="utf-8")
    hook.chmod(0o755)
    done = push(main, "1")
    assert (done.code, dict(done.jobs)) == (0, MEASURED), done.log[-5000:]
    (warning,) = re.findall(r"::warning (.*)", done.of("history"))
    assert "the history is not kept" in warning
    assert "contents: write" in warning
    assert main.origin.git("branch", "--list", BRANCH) == ""


def test_two_runs_that_push_at_once_lose_no_line(main: Demo, tmp_path: Path) -> None:
    """Another run is faster just when this one pushes; it fetches again, and appends to both."""
    assert push(main, "1").code == 0
    git = main.origin.path / ".git"
    faster = tmp_path / "faster.jsonl"
    (old,) = lines(main)
    month = main.origin.git("ls-tree", "--name-only", BRANCH).split()[0]
    other = {**old, "batch": "another", "run": "another"}
    faster.write_text(
        "".join(json.dumps(one, separators=(",", ":")) + "\n" for one in (old, other)), "utf-8"
    )
    # Only once, and before the push is decided: what a run beside this one does.
    hook = git / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(
        f"""#!/bin/sh
[ -e "{tmp_path}/done" ] && exit 0
touch "{tmp_path}/done"
unset GIT_QUARANTINE_PATH GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES
export GIT_DIR="{git}" GIT_INDEX_FILE="{tmp_path}/index"
export GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x
git read-tree {BRANCH}
blob=$(git hash-object -w "{faster}")
git update-index --add --cacheinfo "100644,$blob,{month}"
commit=$(git commit-tree -p {BRANCH} -m faster "$(git write-tree)")
git update-ref refs/heads/{BRANCH} "$commit"
""",
        encoding="utf-8",
    )
    hook.chmod(0o755)
    done = push(main, "2")
    assert (done.code, dict(done.jobs)) == (0, MEASURED), done.log[-5000:]
    assert (tmp_path / "done").exists()
    assert [one["run"].rpartition("/")[2] for one in lines(main)] == ["1", "another", "2"]
    assert main.origin.count(BRANCH) == 3
