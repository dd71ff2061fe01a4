"""What real agents are made to do, and what the harness must say of it: a table, agent by agent.

A scene is a case, the script that the model plays for its prompt, and the verdict that is due.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.live.mock_scripts import Book, Call, Script, Step

SKILL = "writing-routing-cases"
OTHER = "triaging-red-gate"
NOWHERE = "release-notes-drafting"
DONE = Step(say="That is all.")
PASS = ("pass", None)


@dataclass(frozen=True)
class Scene:
    """`verdicts` are (status, failure kind) by agent; the agents without one are not run."""

    name: str
    steps: tuple[Step, ...]
    verdicts: Mapping[str, tuple[str, str | None]]
    own: Mapping[str, tuple[Step, ...]] = field(default_factory=dict)
    tasks: Mapping[str, tuple[Step, ...]] = field(default_factory=dict)
    fields: Mapping[str, Any] = field(default_factory=dict)

    @property
    def prompt(self) -> str:
        """Names no skill, and no other scene's prompt is part of it."""
        return f"Please see to the ticket called {self.name}."

    @property
    def case(self) -> dict[str, Any]:
        """Its entry in cases.json."""
        expected = {"expected_skill": SKILL, "category": "live"}
        return {"case_id": self.name, "prompt": self.prompt, **expected, **self.fields}


def open_book(scenes: Iterable[Scene]) -> Book:
    """The scripts of all scenes, for one server."""
    listed = list(scenes)
    return Book(
        {one.prompt: Script(one.steps, one.tasks) for one in listed},
        {(who, one.prompt): Script(steps) for one in listed for who, steps in one.own.items()},
    )


def every(status: str, kind: str | None, **others: str | None) -> dict[str, tuple[str, str | None]]:
    """The same verdict for the three agents, but for `others`: `pass` or another failure kind."""
    verdicts = dict.fromkeys(("claude", "codex", "copilot"), (status, kind))
    return verdicts | {
        agent: PASS if other == "pass" else (status, other) for agent, other in others.items()
    }


def skill(name: str, say: str = "") -> Step:
    """The agent calls a skill."""
    return Step(say=say, do=(Call("skill", name),))


def shell(command: str) -> Step:
    """The agent runs a command."""
    return Step(do=(Call("shell", command),))


def read(path: str) -> Step:
    """The agent reads a file with its own tool, or by `cat` where it has none."""
    return Step(do=(Call("read", path),))


# --- routing --------------------------------------------------------------------------------

OWN_FILE = f".agents/skills/{SKILL}/SKILL.md"
HELPER = "Find out how such a thing is written here and tell me."


def routing_scenes(copy_outside: str) -> tuple[Scene, ...]:
    """What looks like a load and is one or is none; `copy_outside` is a stale copy of the skill."""
    return (
        Scene("proven-load", (skill(SKILL, "A skill fits."), DONE), every(*PASS)),
        Scene("other-skill", (skill(OTHER), DONE), every("fail", "missing_required")),
        Scene(
            "mention",
            (Step(say=f"The skill {SKILL} would fit, and I answer from memory."),),
            every("fail", "weak_evidence_only"),
        ),
        Scene(
            "plain-answer",
            (Step(say="A merge base is the best common ancestor of two commits."),),
            every("fail", "answered_directly"),
        ),
        Scene(
            "hand-read",
            (read(f".claude/skills/{SKILL}/SKILL.md"), DONE),
            every("fail", "evidence_too_weak", codex="pass"),
        ),
        Scene(
            "failed-read",
            (shell(f"cat nowhere/{OWN_FILE}"), DONE),
            every("fail", "weak_evidence_only"),
        ),
        Scene(
            "listing",
            (shell("ls -R .agents/skills/; find . -name SKILL.md"), DONE),
            every("fail", "weak_evidence_only"),
        ),
        Scene(
            "grep",
            (shell(f"grep -n name {OWN_FILE}; grep -rl name .agents/skills/"), DONE),
            every("fail", "weak_evidence_only"),
        ),
        Scene(
            "read-outside",
            (shell(f"cat {copy_outside}"), DONE),
            every("fail", "wrong_copy"),
        ),
        Scene(
            "unknown-skill",
            (skill(NOWHERE), DONE),
            every("fail", "invoked_but_not_loaded", codex="skill_unavailable"),
            fields={"expected_skill": NOWHERE},
        ),
        Scene(
            "never-offered",
            (shell("git status --short"), DONE),
            every("fail", "skill_unavailable"),
            fields={"expected_skill": NOWHERE},
        ),
        Scene("second-choice", (skill(OTHER), skill(SKILL), DONE), every(*PASS)),
        Scene(
            "disallowed",
            (skill(OTHER), skill(SKILL), DONE),
            every("fail", "disallowed_hit"),
            fields={"disallowed_skills": [OTHER]},
        ),
        Scene(
            "sub-agent",
            (Step(do=(Call("task", HELPER),)), DONE),
            every(*PASS),
            own={"codex": (skill(SKILL), DONE)},
            tasks={HELPER: (skill(SKILL), Step(say="It is a list of cases."))},
        ),
    )


# --- what agents leave behind, print and look for ---------------------------------------------

ESCAPES = (
    "setsid sleep 321 >/dev/null 2>&1 & "
    "(setsid sh -c 'sleep 322 & sleep 323' >/dev/null 2>&1 &); echo they are gone"
)
FLOOD = "yes 'a flood of words' | head -c 20000000"
SECRETS = "env; tr '\\0' '\\n' </proc/self/environ; set"
UPWARDS = """\
key=the-answer; key=$key-key-7c1f; place=$PWD
while [ "$place" != / ]; do
  find "$place" -maxdepth 4 -name '*.json' -size -400k -exec grep -h "$key" {} + 2>/dev/null
  place=$(dirname "$place")
done
git log --all --format='%H %an %s'; git reflog --all; git stash list; git remote -v
git show HEAD:cases.json; git show HEAD~1:cases.json; git show HEAD:provider-baseline.json
git log --all -p | grep "$key"; git fsck --lost-found
git cat-file --batch-all-objects --batch | grep -a "$key"
grep -ra "$key" .git; cat .git/objects/info/alternates .git/packed-refs .git/logs/HEAD
find "$PWD" -newermt 2000-01-01 -name '*cases*'"""
ANSWER_KEY = "the-answer-key-7c1f"


def unruly_scenes() -> tuple[Scene, ...]:
    """Agents that leave children behind, flood, and search for what they must not know."""
    return (
        Scene("escaped-children", (shell(ESCAPES), skill(SKILL), DONE), every(*PASS)),
        Scene(
            "output-flood",
            (Step(say="x" * 200_000, do=(Call("shell", FLOOD),)), skill(SKILL), DONE),
            every(*PASS),
        ),
        Scene("secrets", (shell(SECRETS), skill(SKILL), DONE), every(*PASS)),
        Scene("answer-key", (shell(UPWARDS), skill(SKILL), DONE), every(*PASS)),
    )


# --- time -------------------------------------------------------------------------------------

STUBBORN = "trap '' TERM INT HUP; sleep 324; sleep 325"
# Codex looks after a command for ten seconds only, unless it is told to wait.
PATIENT = {"cmd": STUBBORN, "yield_time_ms": 30_000}
DEADLINE_SCENES = (
    Scene("hang", (skill(OTHER), Step(hang=True)), every("fail", "timeout")),
    Scene(
        "stubborn-child",
        (shell(STUBBORN), DONE),
        every("fail", "timeout"),
        own={"codex": (Step(do=(Call("exec_command", PATIENT),)), DONE)},
    ),
)


LEAVING = "setsid sleep 326 >/dev/null 2>&1 & sleep 327"
BUSY = Scene(
    "busy",
    (shell(LEAVING), DONE),
    every("fail", "timeout"),
    own={"codex": (Step(do=(Call("exec_command", {**PATIENT, "cmd": LEAVING}),)), DONE)},
)
QUICK = Scene("quick", (skill(SKILL), DONE), every(*PASS))
TALK = tuple(shell(f"echo step {number}") for number in range(5))
LONG_SCENES = (
    Scene("long-load", (skill(SKILL), *TALK, DONE), every(*PASS)),
    Scene(
        "long-disallowed",
        (skill(OTHER), *TALK, DONE),
        every("fail", "mixed"),
        fields={"disallowed_skills": [OTHER]},
    ),
)


# --- APIs that fail -----------------------------------------------------------------------------

FAILING_SCENES = (
    Scene(
        "status-500",
        (Step(status=500, error="server_error", say="the server had an error"),),
        every("infra_error", "server_error"),
    ),
    Scene(
        "status-429",
        (Step(status=429, error="rate_limit_error", say="rate limit reached"),),
        every("infra_error", "rate_limit"),
    ),
    Scene(
        "status-401",
        (Step(status=401, error="authentication_error", say="invalid key"),),
        every("infra_error", "auth"),
    ),
)
