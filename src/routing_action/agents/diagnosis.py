"""What is right and wrong about an agent CLI on a machine, from the facts that were gathered.

Every text is described in docs/how-to/check-the-agents.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from routing_action.agents.provider import Provider, template_variable

DRIFT_THRESHOLD = 0.05
_MOST_KINDS = 5
"""From this share of records that were not recognised on, a reader is not to be trusted."""


class Level(StrEnum):
    """How bad a finding is; a problem keeps an agent from being measured."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at; `remedy` is the next step, "" where none is needed."""

    check: str
    level: Level
    text: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Counted:
    """Records of an agent's streams that a reader recognised, and that it did not."""

    recognised: int = 0
    unrecognised: int = 0

    @property
    def drift(self) -> float:
        """The share that was not recognised; 0 where nothing was counted."""
        seen = self.recognised + self.unrecognised
        return self.unrecognised / seen if seen else 0.0


@dataclass(frozen=True, slots=True)
class Recordings:
    """What a description of the user's own reads of the recordings in `folder`.

    `fault` is what makes it useless whatever is recorded, "" for nothing.
    """

    folder: str
    fault: str = ""
    count: int = 0
    loads: int = 0
    unread: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Facts:
    """What was found out about one agent on this machine.

    `path` is where the program lies, "" where it was not found. `start_error` says why it did not
    start, or how it failed. `variables` and `login_files` are the names of those credentials that
    are there; `unseen_login`: it may log in without them. `skills` counts the skills in each of
    its folders here. `recordings`: what the user's own description reads, None for an agent of
    ours. `counted` is what earlier results hold, by CLI version ("" unknown); None
    where none were given.
    """

    provider: Provider
    program: str
    path: str = ""
    start_error: str = ""
    version: str | None = None
    own_command: bool = False
    variables: tuple[str, ...] = ()
    login_files: tuple[str, ...] = ()
    unseen_login: bool = False
    skills: Mapping[str, int] = field(default_factory=dict)
    counted: Mapping[str, Counted] | None = None
    recordings: Recordings | None = None


def diagnose(facts: Facts, threshold: float = DRIFT_THRESHOLD) -> tuple[Finding, ...]:
    """Every finding, in the order in which a user would repair them."""
    return (
        _program(facts),
        *_start(facts),
        _credentials(facts),
        _skills(facts),
        *_description(facts),
        *_limits(facts.provider),
        _drift(facts, threshold),
    )


def _program(facts: Facts) -> Finding:
    if facts.path:
        return Finding("program", Level.OK, facts.path)
    text, remedy = describe_missing(facts.provider, facts.program, own_command=facts.own_command)
    return Finding("program", Level.PROBLEM, text, remedy)


def describe_missing(provider: Provider, program: str, *, own_command: bool) -> tuple[str, str]:
    """What is said of a program that is not there, and the next step."""
    name, command = template_variable(provider.name), provider.command[0]
    gone = "does not exist, or cannot be executed" if "/" in program else "is not on PATH"
    if own_command:
        text = f"`{program}`, the program of {name}, {gone}"
        return text, f"correct {name}, or unset it to start `{command}`"
    package = provider.npm_package
    install = f"install it with `npm install --global {package}`" if package else "install it"
    return f"`{program}` {gone}", f"{install}, or set {name} to its command"


def _start(facts: Facts) -> Iterator[Finding]:
    if facts.own_command:
        yield Finding("starts", Level.OK, "not checked: your own command starts it")
        return
    if not facts.path:
        return
    if facts.start_error:
        yield Finding("starts", Level.PROBLEM, facts.start_error, _by_hand(facts))
        return
    yield Finding("starts", Level.OK, "yes")
    yield _version(facts)


def _by_hand(facts: Facts) -> str:
    return f"run `{facts.program} {' '.join(facts.provider.version_arguments)}` by hand"


def _version(facts: Facts) -> Finding:
    version, tested = facts.version, facts.provider.tested_versions
    if version is None:
        text = "it prints no version, so results cannot name the one that they measured"
        return Finding("version", Level.WARNING, text, _by_hand(facts))
    if tested is None:
        return Finding("version", Level.WARNING, f"{version}; no version of it was tested")
    known = tested[0] if tested[0] == tested[1] else f"{tested[0]} to {tested[1]}"
    text = f"{version} (tested: {known})"
    key = version_key(version)
    if version_key(tested[0]) <= key <= version_key(tested[1]):
        return Finding("version", Level.OK, text)
    age = "older" if key < version_key(tested[0]) else "newer"
    remedy = "run a case, then check the drift with --results-dir DIR"
    return Finding("version", Level.WARNING, f"{text}: {age} than the tested versions", remedy)


def version_key(text: str) -> tuple[int, ...]:
    """The numbers of a version, to compare; 1.0.0-rc.1 counts as 1.0.0."""
    released = re.split(r"[-+]", text, maxsplit=1)[0]
    return tuple(int(part[:18]) for part in re.findall(r"\d+", released))


def _credentials(facts: Facts) -> Finding:
    provider = facts.provider
    names = (*facts.variables, *facts.login_files)
    if not provider.credential_variables and not provider.credential_files:
        return Finding("credentials", Level.OK, "it needs none")
    if facts.variables or (names and not provider.serial_login):
        return Finding("credentials", Level.OK, ", ".join(names))
    if names:
        text = f"only {', '.join(names)}: its refresh token works once, so units run one at a time"
        remedy = f"set {' or '.join(provider.credential_variables)}"
        return Finding("credentials", Level.WARNING, text, remedy)
    if facts.own_command:
        return Finding("credentials", Level.OK, "none; your own command starts it")
    wanted = " or ".join(provider.credential_variables)
    text, remedy = f"{wanted} is not set", f"set {wanted}"
    if provider.credential_files:
        text, remedy = f"{text}, and there is no login file", f"{remedy}, or sign in with the CLI"
    if facts.unseen_login:
        return Finding("credentials", Level.WARNING, f"{text}; it may log in without", remedy)
    return Finding("credentials", Level.PROBLEM, text, remedy)


def _skills(facts: Facts) -> Finding:
    if not facts.provider.skill_folders:
        remedy = "add skill_folders to its description, or keep its skills in its home"
        return Finding("skills", Level.WARNING, "it has no skill folder in a repository", remedy)
    counts = ", ".join(f"{folder} ({count})" for folder, count in facts.skills.items())
    if any(facts.skills.values()):
        return Finding("skills", Level.OK, counts)
    remedy = "put skills there, or pass --skills PATH"
    return Finding("skills", Level.WARNING, f"{counts}: no skill here", remedy)


def _description(facts: Facts) -> Iterator[Finding]:
    """Whether the user's own description reads its agent: nothing else shows it before a run."""
    read = facts.recordings
    if read is None:
        return
    name = facts.provider.name
    if read.fault:
        remedy = "correct its description; `routing-action schema routing` prints its fields"
        yield Finding("description", Level.PROBLEM, read.fault, remedy)
        return
    if not read.count:
        text = f"not tried: there is no recording in {read.folder}"
        remedy = f"make one: `routing-action providers record --agent {name} -- PROMPT`"
        yield Finding("description", Level.WARNING, text, remedy)
        return
    files = "1 recording" if read.count == 1 else f"{read.count} recordings"
    loads = "1 load" if read.loads == 1 else f"{read.loads} loads"
    text = f"{files} in {read.folder}: "
    remedy = f"`routing-action providers try --agent {name} --stdout {read.folder}/NAME.stdout`"
    if read.unread:
        text += f"not read: {', '.join(read.unread[:_MOST_KINDS])}"
    elif not read.loads:
        text += "no load is read, so that no case can pass"
    else:
        yield Finding("description", Level.OK, f"{text}all is read, with {loads}")
        return
    yield Finding("description", Level.PROBLEM, text, remedy)


def _limits(provider: Provider) -> Iterator[Finding]:
    capped = provider.budget_arguments or provider.reports_cost == "during"
    missing = [
        *([] if provider.turn_arguments else ["--max-turns"]),
        *([] if capped else ["--max-unit-cost-usd"]),
        *([] if provider.reports_cost != "never" else ["--max-cost-usd"]),
    ]
    if missing:
        yield Finding("limits", Level.OK, f"these options cannot limit it: {', '.join(missing)}")


def _drift(facts: Facts, threshold: float) -> Finding:
    counted = facts.counted
    if counted is None:
        text = "unknown: no results were given"
        return Finding("drift", Level.WARNING, text, "pass results of live runs: --results-dir DIR")
    version = facts.version or ""
    if version not in counted:
        known = ", ".join(_share(name or "unknown", one) for name, one in counted.items())
        text = f"unknown for {version or 'this version'}; {known or 'no result is of it'}"
        return Finding(
            "drift", Level.WARNING, text, "run a case with it, then add --results-dir DIR"
        )
    now = counted[version]
    text = _share(version or "unknown version", now)
    if now.drift < threshold:
        return Finding("drift", Level.OK, text)
    remedy = "use a tested version, or a newer release of routing-action"
    if facts.recordings is not None:
        name = facts.provider.name
        remedy = f"correct its description: routing-action providers try --agent {name}"
    return Finding("drift", Level.PROBLEM, f"{text}, the limit is {threshold:.1%}", remedy)


def _share(version: str, counted: Counted) -> str:
    seen = counted.recognised + counted.unrecognised
    return f"{version}: {counted.drift:.1%} of {seen} records not recognised"
