"""The bot's server as a process of its own, and a sender of signed webhooks."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email.message import Message
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from tests.fakes.github.apps import APP_ID, make_key
from tests.support.webhooks import SECRET, headers

PATIENCE_SECONDS = 60.0


def wait_until(is_so: Callable[[], object], what: str) -> None:
    """Wait for something that happens in another process or thread."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not is_so():
        assert time.monotonic() < end, f"never happened: {what}"
        time.sleep(0.05)


class Server:
    """A server that runs; `lines` is what it wrote to stderr so far."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        wait_until(lambda: self.url or process.poll() is not None, "the server listens")
        assert self.url, self.lines

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(line)

    @property
    def url(self) -> str:
        """Where it takes webhooks."""
        said = (json.loads(line)["message"] for line in self.lines if line.startswith("{"))
        return next((one.split()[-1] for one in said if one.startswith("listening on ")), "")

    def post(self, payload: object, number: str, event: str = "issue_comment") -> int:
        """Deliver a webhook; the status of the answer."""
        body = json.dumps(payload).encode()
        return self._send(self.url, body, headers(body, number, event))[0]

    def get(self, path: str) -> tuple[int, str]:
        """Ask for a page of the server."""
        status, _, text = self.fetch(path)
        return status, text

    def fetch(self, path: str) -> tuple[int, Message, str]:
        """Ask for a page of the server, with its headers."""
        return self._send(self.url.replace("/webhook", path), None, {})

    @staticmethod
    def _send(url: str, body: bytes | None, sent: dict[str, str]) -> tuple[int, Message, str]:
        try:
            with urlopen(Request(url, body, sent), timeout=30) as answer:  # noqa: S310
                return answer.status, answer.headers, answer.read().decode()
        except HTTPError as error:
            with error:
                return error.code, error.headers, error.read().decode()

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send a signal, and wait for its end; the exit code."""
        self.process.send_signal(number)
        code = self.process.wait(PATIENCE_SECONDS)
        self._reader.join(PATIENCE_SECONDS)
        return code


def write_config(folder: Path, api_url: str, **more: object) -> Path:
    """A configuration with its secrets beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "app.pem").write_text(make_key()[0])
    (folder / "secret").write_text(f"{SECRET}\n")
    values = {
        "app_id": APP_ID,
        "private_key_file": "app.pem",
        "webhook_secret_files": ["secret"],
        "queue": "queue.db",
        "port": 0,
        "api_url": api_url,
        "server_url": "https://github.example",
        **more,
    }
    file = folder / "bot.toml"
    file.write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in values.items()))
    return file


@contextmanager
def run_server(config: Path, **variables: str) -> Iterator[Server]:
    """A server that is ended afterwards, if it still runs."""
    process = subprocess.Popen(
        [sys.executable, "-m", "routing_action", "bot", "serve", "--config", str(config)],
        env={**os.environ, "NO_PROXY": "127.0.0.1", **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield Server(process)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(PATIENCE_SECONDS)
        if process.stderr is not None:
            process.stderr.close()


def run_cli(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(
        [sys.executable, "-m", "routing_action", *arguments],
        env={**os.environ, "NO_PROXY": "127.0.0.1"},
        check=False,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=PATIENCE_SECONDS,
    )
