"""A recorded run is replayed by a true executable: its bytes, its pace and its end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from routing_action.errors import DocumentError, UsageError
from routing_action.run.replay.recordings import ReplaySet
from routing_action.run.replay.replay_agent import parse_pace, read_facts, replay

ALL_BYTES = bytes(range(256)) * 300 + b"no newline at the end"


def record(folder: Path, stem: str, stdout: bytes | None = b"out\n", **script: object) -> None:
    """Put one recording into a set; without fields it has no JSON."""
    path = folder / stem
    path.parent.mkdir(parents=True, exist_ok=True)
    if stdout is not None:
        path.with_name(f"{path.name}.stdout").write_bytes(stdout)
    if script:
        path.with_name(f"{path.name}.json").write_text(json.dumps(script))


def run(
    argv: Sequence[str], cwd: Path, prompt: str = "a prompt"
) -> subprocess.CompletedProcess[bytes]:
    """Start the replay agent as the harness does: no environment to speak of, stdin closed."""
    return subprocess.run(
        [prompt if word == "{prompt}" else word for word in argv],
        cwd=cwd,
        env={"PATH": "/usr/bin:/bin"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=60,
    )


# --- the agent ----------------------------------------------------------------------------------


def test_the_exact_bytes_and_the_exit_code_are_replayed(tmp_path: Path) -> None:
    """On both streams, whatever bytes they hold."""
    record(tmp_path, "claude/one", ALL_BYTES, exit_code=41, duration_s=3600, timings=[[1800, 7]])
    (tmp_path / "claude/one.stderr").write_bytes(b"\xff\0warning\r\n")
    done = run(ReplaySet(tmp_path).argv_for("claude", "one"), tmp_path)
    assert (done.stdout, done.stderr, done.returncode) == (ALL_BYTES, b"\xff\0warning\r\n", 41)


def test_a_large_recording_passes_a_slow_reader_whole(tmp_path: Path) -> None:
    """More than a pipe holds, with timings in the midst of it."""
    data = os.urandom(1 << 20) * 3
    record(tmp_path, "codex/big", data, timings=[[0, 10], [0.1, 1_500_000]])
    done = run(ReplaySet(tmp_path).argv_for("codex", "big", speed=100), tmp_path)
    assert done.stdout == data


def test_a_recording_without_json_exits_well(tmp_path: Path) -> None:
    """The output alone is enough."""
    record(tmp_path, "claude/one")
    assert run(ReplaySet(tmp_path).argv_for("claude", "one"), tmp_path).returncode == 0


@pytest.mark.parametrize(
    "number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGSEGV, signal.SIGPIPE]
)
def test_a_recorded_signal_ends_the_agent(tmp_path: Path, number: signal.Signals) -> None:
    """After its output, and without a core file or a traceback."""
    record(tmp_path, "claude/one", b"partly", exit_code=-number)
    done = run(ReplaySet(tmp_path).argv_for("claude", "one"), tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (-number, b"partly", b"")
    assert not list(tmp_path.glob("core*"))


def test_the_recorded_pace_is_kept(tmp_path: Path) -> None:
    """At speed 2 the last byte of a run of a second comes after half a second, not before."""
    record(tmp_path, "claude/one", b"abc", duration_s=1, timings=[[0, 1], [0.5, 2]])
    argv = ReplaySet(tmp_path).argv_for("claude", "one", speed=2)
    started = time.monotonic()
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        output = process.stdout.fileno()
        assert os.read(output, 10) == b"a"
        assert os.read(output, 10) in (b"b", b"bc")
        assert time.monotonic() - started >= 0.25
        assert process.wait(60) == 0
    assert time.monotonic() - started >= 0.5


def test_a_hanging_run_prints_and_then_waits(tmp_path: Path) -> None:
    """For tests of time-outs; SIGTERM ends it as it would end a CLI."""
    record(tmp_path, "claude/one", b"out", hang=True)
    argv = ReplaySet(tmp_path).argv_for("claude", "one")
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.read(3) == b"out"
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.2)
        process.terminate()
        assert process.wait(60) == -signal.SIGTERM


@pytest.mark.parametrize("prompt", ["--recording=other", "--speed", "", "-p $(x)", "ü\n;'"])
def test_no_prompt_changes_what_is_replayed(tmp_path: Path, prompt: str) -> None:
    """The agent is given the prompt, and does not look at it."""
    record(tmp_path, "claude/one", b"right", exit_code=3)
    done = run(ReplaySet(tmp_path).argv_for("claude", "one"), tmp_path, prompt)
    assert (done.stdout, done.returncode) == (b"right", 3)


def test_a_hostile_workspace_does_not_get_into_the_agent(tmp_path: Path) -> None:
    """Modules of the working folder are not imported."""
    record(tmp_path / "set", "claude/one", b"right")
    for name in ("json.py", "signal.py", "routing_action.py", "sitecustomize.py"):
        (tmp_path / name).write_text("print('taken over')")
    done = run(ReplaySet(tmp_path / "set").argv_for("claude", "one"), tmp_path)
    assert (done.stdout, done.stderr) == (b"right", b"")


def test_the_agent_imports_little(tmp_path: Path) -> None:
    """Its start-up is a part of every replay: nothing of ours, no pathlib."""
    record(tmp_path, "claude/one")
    argv = list(ReplaySet(tmp_path).argv_for("claude", "one"))
    argv.insert(1, "-Ximporttime")
    imported = {
        line.rpartition("|")[2].strip() for line in run(argv, tmp_path).stderr.decode().splitlines()
    }
    assert not imported & {"pathlib", "dataclasses", "pydantic", "argparse", "asyncio"}
    assert not any(name.startswith("routing_action") for name in imported)


def test_the_agent_tells_the_recorded_version(tmp_path: Path) -> None:
    """As a CLI that is asked for its version."""
    record(tmp_path, "claude/one", cli_version="2.1.332")
    argv = ReplaySet(tmp_path).argv_for("claude", "one")
    assert run(argv, tmp_path, "--version").stdout == b"2.1.332\n"


def test_the_agent_can_be_started_as_a_module(tmp_path: Path) -> None:
    """For people who try it by hand."""
    record(tmp_path, "claude/one", b"out", exit_code=5)
    command = [sys.executable, "-m", "routing_action.run.replay.replay_agent"]
    done = subprocess.run(
        [*command, "--recording", str(tmp_path / "claude/one"), "--speed", "inf", "p"],
        capture_output=True,
        check=False,
    )
    assert (done.stdout, done.returncode) == (b"out", 5)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--recording", "nowhere", "p"], b"there is no recording at nowhere.stdout"),
        (["--recording", "bad", "p"], b"replay agent: "),
        (["--recording", "good", "--speed", "-1", "p"], b"--speed -1"),
        (["p"], b"there is no recording"),
    ],
)
def test_an_agent_without_a_usable_recording_ends_like_a_missing_program(
    tmp_path: Path, arguments: list[str], told: bytes
) -> None:
    """Exit code 127, with the reason on stderr."""
    record(tmp_path, "good")
    (tmp_path / "bad.json").write_text("{")
    start = [sys.executable, "-m", "routing_action.run.replay.replay_agent"]
    done = subprocess.run([*start, *arguments], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 127
    assert told in done.stderr
    assert done.stdout == b""


def test_the_agent_s_own_steps_give_the_same_bytes(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Output in steps, the rest, stderr, then the wait (seen from inside, for the coverage)."""
    record(tmp_path, "one", b"abcdef", duration_s=0.02, timings=[[0, 2], [0.01, 4]])
    (tmp_path / "one.stderr").write_bytes(b"warning")
    stem = str(tmp_path / "one")
    started = time.monotonic()
    replay(stem, read_facts(stem), parse_pace("1"))
    assert time.monotonic() - started >= 0.02
    assert capfdbinary.readouterr() == (b"abcdef", b"warning")


def test_a_recording_of_stderr_alone_is_one(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """A run may have printed nothing on stdout."""
    (tmp_path / "one.stderr").write_bytes(b"warning")
    stem = str(tmp_path / "one")
    replay(stem, read_facts(stem), 0)
    assert capfdbinary.readouterr() == (b"", b"warning")
    with pytest.raises(FileNotFoundError, match="no recording"):
        read_facts(str(tmp_path / "two"))


# --- the set ------------------------------------------------------------------------------------


def test_a_trial_of_its_own_is_replayed_where_it_is_recorded(tmp_path: Path) -> None:
    """Other trials replay the recording of the case."""
    record(tmp_path, "claude/one", b"first", model="m1")
    record(tmp_path, "claude/one@2", b"second", model="m2", exit_code=7)
    recordings = ReplaySet(tmp_path)
    outputs = [
        run(recordings.argv_for("claude", "one", trial), tmp_path).stdout for trial in (1, 2, 3)
    ]
    assert outputs == [b"first", b"second", b"first"]
    assert recordings.script_for("claude", "one", 2).model == "m2"
    assert recordings.script_for("claude", "one", 3).exit_code == 0


def test_a_pair_without_a_recording_names_the_file_that_is_expected(tmp_path: Path) -> None:
    """And what to do about it."""
    record(tmp_path, "claude/one")
    with pytest.raises(DocumentError) as caught:
        ReplaySet(tmp_path).argv_for("codex", "one")
    assert caught.value.file == str(tmp_path / "codex/one.stdout")
    assert "case one on codex" in str(caught.value)
    assert caught.value.remedy


@pytest.mark.parametrize(("provider", "case_id"), [("../x", "one"), ("claude", "../claude/one")])
def test_names_that_are_paths_are_refused(tmp_path: Path, provider: str, case_id: str) -> None:
    """A case id never leads out of the set."""
    record(tmp_path, "claude/one")
    with pytest.raises(UsageError, match="cannot name a recording"):
        ReplaySet(tmp_path).argv_for(provider, case_id)


@pytest.mark.parametrize("name", ["missing", "file"])
def test_a_missing_set_is_named(tmp_path: Path, name: str) -> None:
    """The remedy says how a set is named and laid out."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match=rf"{name} is missing(.|\n)*--replay=DIR"):
        ReplaySet(tmp_path / name)


def test_an_empty_set_is_refused(tmp_path: Path) -> None:
    """A run that replays nothing must not look green."""
    (tmp_path / "claude").mkdir()
    with pytest.raises(DocumentError, match="holds no recording"):
        ReplaySet(tmp_path)


@pytest.mark.parametrize(
    ("text", "field", "line"),
    [
        ("[]", "", 1),
        ("{\n\n!", "", 3),
        ('{\n"exitcode": 1}', "exitcode", 2),
        ('{"exit_code": true}', "exit_code", 1),
        ('{"exit_code": "1"}', "exit_code", 1),
        ('{"exit_code": 256}', "exit_code", 1),
        ('{"exit_code": -19}', "exit_code", 1),
        ('{"duration_s": -1}', "duration_s", 1),
        ('{"hang": 1}', "hang", 1),
        ('{"model": null}', "model", 1),
        ('{"timings": [[0, 1],\n["0", 1]]}', "timings[1][0]", 2),
        ('{"timings": [[0, -1]]}', "timings[0][1]", 1),
    ],
)
def test_a_malformed_recording_is_named_with_its_field_and_line(
    tmp_path: Path, text: str, field: str, line: int
) -> None:
    """A typing error in a recording must not replay something else: nothing is started."""
    record(tmp_path, "claude/one")
    file = tmp_path / "claude/one.json"
    file.write_text(text)
    with pytest.raises(DocumentError) as caught:
        ReplaySet(tmp_path)
    assert (caught.value.file, caught.value.field, caught.value.line) == (str(file), field, line)
    assert caught.value.remedy


def test_a_link_that_leaves_the_set_is_refused(tmp_path: Path) -> None:
    """A pull request must not replay a file of the runner into a public report."""
    record(tmp_path, "set/claude/one")
    (tmp_path / "secret").write_text("s")
    (tmp_path / "set/claude/two.stdout").symlink_to(tmp_path / "secret")
    with pytest.raises(DocumentError, match="leaves the folder"):
        ReplaySet(tmp_path / "set")


def test_a_json_that_is_a_folder_is_named(tmp_path: Path) -> None:
    """Whatever stands there, it is an error with a file's name."""
    record(tmp_path, "claude/one")
    (tmp_path / "claude/one.json").mkdir()
    with pytest.raises(DocumentError, match="this is a folder"):
        ReplaySet(tmp_path)
