"""The transcript on disk and the lines for the reader, from what an agent prints."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routing_action.errors import HarnessError
from routing_action.evidence.transcript import LINE_LIMIT, EndedBy
from routing_action.files.redaction import Redactor
from routing_action.run.output.capture import (
    TAIL_BYTES,
    LineSplitter,
    MemorySink,
    TranscriptSink,
)
from routing_action.run.process.process import ProcessLimits, ProcessResult, run_process
from tests.support.ways import split_at

SECRET = "sk-ant-0123456789abcdef"
LIMITS = ProcessLimits(wall_seconds=30, terminal_grace_seconds=0.3, term_grace_seconds=0.5)


def run(script: str, stdout: TranscriptSink, stderr: TranscriptSink | MemorySink) -> ProcessResult:
    return asyncio.run(
        run_process(
            ("/bin/sh", "-c", script),
            cwd="/",
            env={"PATH": os.environ["PATH"], "SECRET": SECRET, "PYTHON": sys.executable},
            stdout=stdout,
            stderr=stderr,
            limits=LIMITS,
            marker=os.urandom(8).hex(),
        )
    )


def test_a_transcript_is_whole_redacted_and_private(tmp_path: Path) -> None:
    """P10: an agent that prints its environment does not publish the secret."""
    out, err = tmp_path / "u.stdout", tmp_path / "u.stderr"
    lines: list[bytes] = []
    redactor = Redactor([SECRET])
    script = r"""printf '\033[1mone\033[0m %s\r\n\ntwo ' "$SECRET"; echo "no $SECRET" >&2
        printf '%s' "$SECRET" | cut -c1-9 | tr -d '\n'; sleep 0.1
        printf '%s' "$SECRET" | cut -c10- | tr -d '\n'; printf '|last'"""

    result = run(
        script,
        TranscriptSink(out, redactor, lines.append),
        TranscriptSink(err, redactor, lambda line: None),
    )

    assert result.exit_code == 0
    assert out.read_bytes() == b"\x1b[1mone\x1b[0m [redacted]\r\n\ntwo [redacted]|last"
    assert err.read_bytes() == b"no [redacted]\n"
    assert lines == out.read_bytes().split(b"\n")
    assert stat.S_IMODE(out.stat().st_mode) == 0o600


def test_lines_arrive_while_the_agent_runs(tmp_path: Path) -> None:
    """P2: the reader sees the terminal event, and the process that stays is ended."""
    lines: list[bytes] = []
    sink = TranscriptSink(
        tmp_path / "out",
        Redactor([SECRET]),
        lines.append,
        terminal_seen=lambda: b'{"type":"result"}' in lines,
    )

    result = run("""echo start; echo '{"type":"result"}'; sleep 300""", sink, MemorySink())

    assert result.ended_by is EndedBy.TERMINAL_GRACE
    assert lines == [b"start", b'{"type":"result"}']


def test_an_older_file_is_replaced_and_made_private(tmp_path: Path) -> None:
    """A transcript of an earlier attempt does not shine through."""
    path = tmp_path / "out"
    path.write_bytes(b"old and long")
    path.chmod(0o644)
    sink = TranscriptSink(path, Redactor(), lambda line: None)

    sink.write(b"new")
    sink.close()
    sink.close()

    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_every_chunk_is_on_disk_at_once(tmp_path: Path) -> None:
    """Should the harness be killed, what came so far is kept."""
    path = tmp_path / "out"
    sink = TranscriptSink(path, Redactor([SECRET]), lambda line: None)

    sink.write(b"half a line, then sk-ant")

    assert path.read_bytes() == b"half a line, then "
    sink.close()
    assert path.read_bytes() == b"half a line, then sk-ant"


def test_a_transcript_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    """The file is named, with what to do."""
    with pytest.raises(HarnessError, match="missing/out") as caught:
        TranscriptSink(tmp_path / "missing" / "out", Redactor(), lambda line: None)

    assert caught.value.remedy


def test_a_transcript_does_not_follow_a_link(tmp_path: Path) -> None:
    """A link that an agent laid does not lead the output elsewhere."""
    (tmp_path / "out").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(HarnessError):
        TranscriptSink(tmp_path / "out", Redactor(), lambda line: None)

    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_ends_the_agent(tmp_path: Path) -> None:
    """Output that cannot be kept is an error of the harness, not a silent loss."""
    sink = TranscriptSink(tmp_path / "out", Redactor(), lambda line: None)
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, sink._descriptor)
    os.close(full)

    with pytest.raises(HarnessError, match="No space left"):
        run("echo x; sleep 300", sink, MemorySink())


def test_only_newlines_end_a_line() -> None:
    """U+2028, NEL, form feeds and carriage returns stand inside JSON strings."""
    lines: list[bytes] = []
    splitter = LineSplitter(lines.append)

    splitter.feed("a\u2028b\u0085c\fd\re\n".encode())
    splitter.feed(b"")
    splitter.feed(b"\n\nrest")
    splitter.finish()
    splitter.finish()

    assert lines == ["a\u2028b\u0085c\fd\re".encode(), b"", b"", b"rest"]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.binary(max_size=12).map(lambda data: data.replace(b"b", b"\n")), max_size=12))
def test_any_chunking_gives_the_same_lines(chunks: list[bytes]) -> None:
    """Lines do not depend on how the pipe was read."""
    lines: list[bytes] = []
    splitter = LineSplitter(lines.append)

    for chunk in chunks:
        splitter.feed(chunk)
    splitter.finish()

    expected = b"".join(chunks).split(b"\n")
    assert lines == (expected if expected[-1] else expected[:-1])


def test_a_line_beyond_the_limit_is_cut_for_the_reader_alone(tmp_path: Path) -> None:
    """The file keeps it all; the next line is whole again."""
    path = tmp_path / "out"
    sizes: list[int] = []
    sink = TranscriptSink(path, Redactor(), lambda line: sizes.append(len(line)))

    for chunk in (
        b"x" * LINE_LIMIT,
        b"y\nnext\n" + b"w" * LINE_LIMIT,
        b"w" * 10 + b"\n",
        b"v" * 12,
    ):
        sink.write(chunk)
    sink.close()

    assert sizes == [LINE_LIMIT + 1, 4, LINE_LIMIT + 1, 12]
    assert path.stat().st_size == 2 * LINE_LIMIT + 2 + 5 + 11 + 12


@pytest.mark.parametrize("places", [(), (10,), (9, 11), (5, 10, 12, 15)])
def test_a_line_is_cut_alike_however_it_comes(places: tuple[int, ...]) -> None:
    """A reader tells a line that was too long by its length."""
    lines: list[bytes] = []
    splitter = LineSplitter(lines.append, limit=10)
    for piece in split_at(b"x" * 10 + b"\n" + b"y" * 11 + b"\n" + b"z" * 12, places):
        splitter.feed(piece)
    splitter.finish()
    assert lines == [b"x" * 10, b"y" * 11, b"z" * 11]


def test_a_long_line_reaches_file_and_reader_whole(tmp_path: Path) -> None:
    """P4: one line of 200 KB is nothing special."""
    lines: list[bytes] = []
    path = tmp_path / "out"
    sink = TranscriptSink(path, Redactor([SECRET]), lines.append)

    result = run("head -c 200000 /dev/zero | tr '\\0' x; echo", sink, MemorySink())

    assert result.exit_code == 0
    assert lines == [b"x" * 200_000]
    assert path.stat().st_size == 200_001


@pytest.mark.slow
def test_a_very_long_line_reaches_the_file_whole(tmp_path: Path) -> None:
    """P4: one line of 50 MB neither; what is no JSON is cut for the reader."""
    sizes: list[int] = []
    path = tmp_path / "out"
    sink = TranscriptSink(path, Redactor([SECRET]), lambda line: sizes.append(len(line)))

    result = run("head -c 50000000 /dev/zero | tr '\\0' x; echo; echo end", sink, MemorySink())

    assert result.exit_code == 0
    assert sizes == [LINE_LIMIT + 1, 3]
    assert path.stat().st_size == 50_000_005


def test_a_memory_sink_keeps_the_beginning() -> None:
    """Short answers, such as a version, are bounded too."""
    sink = MemorySink(limit=10)

    sink.write(b"123456")
    sink.write(b"7890abc")
    sink.write(b"def")
    sink.close()

    assert sink.data == b"1234567890"
    assert not sink.terminal_seen


@pytest.mark.parametrize("size", [1, 700, TAIL_BYTES, 3 * TAIL_BYTES])
def test_the_tail_is_the_end_of_the_file(tmp_path: Path, size: int) -> None:
    """However the stream was cut, and without the secrets, up to what was held back."""
    path = tmp_path / "out"
    sink = TranscriptSink(path, Redactor([SECRET]), lambda line: None)
    data = b"".join(b"%d %s\n" % (number, SECRET.encode()) for number in range(1000))
    assert sink.tail == b""

    for start in range(0, len(data), size):
        sink.write(data[start : start + size])
        if size > 1:
            assert sink.tail == path.read_bytes()[-TAIL_BYTES:]
    sink.write(SECRET.encode()[:-1])
    sink.close()

    assert sink.tail == path.read_bytes()[-TAIL_BYTES:]
    assert SECRET.encode() not in sink.tail
