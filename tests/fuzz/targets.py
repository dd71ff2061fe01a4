"""What is fuzzed: every reader in every way, and every parser of a file that comes from outside."""

from __future__ import annotations

import json
import os
import random
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from routing_action.agents.codex_sessions import CodexSessionReader
from routing_action.agents.described.routing_file import read_routing_file
from routing_action.agents.discovery import all_providers
from routing_action.agents.provider import ReadContext
from routing_action.agents.reading.decoding import decode_record
from routing_action.agents.shell.reads import reads_of
from routing_action.bot.commands import parse_comment
from routing_action.corpus.case import DEFAULT_ACTIVITY_TOKENS
from routing_action.corpus.cases_file import parse_cases
from routing_action.corpus.skill_files import parse_skill_file
from routing_action.errors import DocumentError
from routing_action.gate.baselines import parse_baseline
from routing_action.gate.deltas import read_delta
from routing_action.results.read import read_batches, read_results
from routing_action.run.replay.recordings import read_script
from tests.support.builders import SKILLS
from tests.support.command_line import run_command
from tests.support.comment_table import MEANT, SEEN
from tests.support.own_agent import DESCRIPTION
from tests.support.recorded import FOLDER, recordings
from tests.support.ways import lines_of_stream, read_filtered, read_plainly, split_at

ROOT = FOLDER.parent.parent
TOKENS = (*SKILLS, "acme:widget-testing", "widget-testing/SKILL.md", "notes.md", "straße-api")


@dataclass(frozen=True)
class Target:
    """Inputs to start from, and what must hold for any other: an exception is a finding."""

    name: str
    seeds: tuple[bytes, ...]
    check: Callable[[bytes, random.Random], None]


def all_targets(folder: Path) -> list[Target]:
    """Every target; `folder` is for files that are read by their path."""
    return [*_readers(), *_documents(folder)]


# ---- readers


def _readers() -> Iterator[Target]:
    for name in all_providers():
        chosen = [one for one in (*recordings("cli"), *recordings("other")) if one.provider == name]
        seeds = tuple(dict.fromkeys(one.stdout for one in chosen))
        yield Target(f"reader {name}", seeds, _ways_agree(name))
    sessions = sorted(FOLDER.glob("cli/codex/*/*.sessions/*.jsonl"))
    seeds = tuple(path.read_bytes() for path in sessions)
    yield Target("reader codex-sessions", seeds, _read_session)


def _ways_agree(agent: str) -> Callable[[bytes, random.Random], None]:
    def check(data: bytes, chance: random.Random) -> None:
        places = [chance.randrange(len(data) + 1) for _ in range(chance.randint(0, 8))]
        words = chance.choice([(), DEFAULT_ACTIVITY_TOKENS])
        code = chance.choice([0, 1, -15, None])
        plain = read_plainly(agent, data, data[:2_000], TOKENS, words, exit_code=code)
        pieces = split_at(data, places)
        said = read_filtered(agent, pieces, data[:2_000], TOKENS, words, exit_code=code)
        if said != plain:
            raise AssertionError(f"{said} is not {plain}")

    return check


def _read_session(data: bytes, chance: random.Random) -> None:
    reader = CodexSessionReader(ReadContext())
    for line in lines_of_stream(data):
        _take(reader.feed(line))
    _take(reader.finish())


# ---- documents


def _documents(folder: Path) -> Iterator[Target]:
    cases = [*ROOT.glob("tests/contract/corpora/*.json"), *ROOT.glob("**/cases.json")]
    baselines = list(ROOT.glob("**/*baseline.json"))
    scripts = list(FOLDER.glob("replay*/*/*.json"))
    results, delta = _make_results(folder)
    yield Target("cases", _contents(cases), _only(lambda data: parse_cases(data, "f")))
    yield Target("baseline", _contents(baselines), _only(lambda data: parse_baseline(data, "f")))
    yield Target("results", (results,), _only(_from_file(folder, read_results)))
    yield Target(
        "results to compare",
        (results,),
        _only(_from_file(folder, lambda path: read_batches([path]))),
    )
    yield Target("delta", (delta,), _only(_from_file(folder, read_delta)))
    own = _only(_from_file(folder, read_routing_file))
    yield Target("routing.toml", (DESCRIPTION.encode(),), own)
    yield Target(
        "replay script",
        _contents(scripts) or (b"{}",),
        _only(_from_file(folder, read_script)),
    )
    skills = _contents(list(ROOT.glob(".claude/skills/*/SKILL.md")))
    yield Target("skill file", skills, _only(lambda data: parse_skill_file("x", Path("x"), data)))
    yield Target("shell command", _commands(), lambda data, _: _take(reads_of(_text(data))))
    comments = tuple(body.encode() for body, _ in (*SEEN, *MEANT))
    yield Target("comment", comments, _commands_of_a_comment)


def _only(parse: Callable[[bytes], object]) -> Callable[[bytes, random.Random], None]:
    """A document is read, or refused with its file and a cause."""

    def check(data: bytes, chance: random.Random) -> None:
        try:
            parse(data)
        except DocumentError as error:
            str(error).encode()

    return check


def _commands_of_a_comment(data: bytes, chance: random.Random) -> None:
    """Lines of the comment come to commands; inside a longer fence none does."""
    body = _text(data)
    lines = body.count("\n") + body.count("\r") + 1
    if any(not 1 <= one.line <= lines for one in parse_comment(body)):
        raise AssertionError("a command of no line")
    fence = "`" * (body.count("`") + 3)
    if parse_comment(f"{fence}\n{body}\n{fence}"):
        raise AssertionError("a command in a fence")


def _from_file(folder: Path, read: Callable[[Path], object]) -> Callable[[bytes], object]:
    path = folder / "input.json"

    def parse(data: bytes) -> object:
        path.write_bytes(data)
        return read(path)

    return parse


def _make_results(folder: Path) -> tuple[bytes, bytes]:
    """What a replay of the repository's own recordings writes, and what compare makes of it."""
    results, delta = folder / "results.json", folder / "delta.json"
    run = ["run", "--replay", "--no-progress", "--artifacts-root", str(folder), "--output"]
    run_command([*run, str(results)], ROOT, os.environ)
    compare = ["compare", "--results", str(results), "--output", str(delta)]
    run_command([*compare, "--format", "json"], ROOT, os.environ)
    return results.read_bytes(), delta.read_bytes()


def _commands() -> tuple[bytes, ...]:
    """The shell commands of the recordings."""
    found: set[bytes] = set()
    for one in recordings("cli"):
        for line in lines_of_stream(one.stdout):
            if b'"command":"' in line:
                record = json.dumps(decode_record(line))
                found.update(part.encode() for part in record.split('"command": "')[1:])
    return tuple(sorted(found))


def _contents(paths: list[Path]) -> tuple[bytes, ...]:
    return tuple(dict.fromkeys(path.read_bytes() for path in sorted(paths)))


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _take(value: object) -> None:
    """The value is of no interest."""


def temporary() -> tempfile.TemporaryDirectory[str]:
    """A folder for the files of the targets."""
    return tempfile.TemporaryDirectory(prefix="routing-action-fuzz-")
