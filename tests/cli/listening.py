"""A running `billcore listen` in a pipe, and requests to it as a sender makes them."""

from __future__ import annotations

import http.client
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from support.answer import Answer
from support.children import child_environment
from support.waiting import GENEROUS

from .test_webhook import SECRET, signature


def listen_environment(folder: Path, **more: str) -> dict[str, str]:
    """An environment with the secret, and with a history of its own."""
    return child_environment(XDG_STATE_HOME=str(folder / "state"), BILLCORE_WEBHOOK_SECRET=SECRET, **more)


def post(url: str, body: bytes, **headers: str) -> Answer:
    """POST a webhook, signed unless a signature is given; _ in a header's name stands for -."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=GENEROUS)
    try:
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        signed = {"Content-Type": "application/json", "Service-Signature": signature(body)} | given
        connection.request("POST", parts.path, body, signed)
        return Answer.read(connection.getresponse())
    finally:
        connection.close()


class Listening:
    """A process; `url` is where it listens. It ends with the block."""

    def __init__(self, folder: Path, *arguments: object, **more: Any) -> None:
        more.setdefault("env", listen_environment(folder))
        command = [sys.executable, "-m", "billcore", "listen", *map(str, arguments)]
        if "--port" not in arguments:
            command += ["--port", "0"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more
        )
        self.url = ""
        if first := self.read():
            self.url = json.loads(first)["listening"]

    def read(self) -> str:
        assert self.process.stdout is not None
        line: str = self.process.stdout.readline()
        return line

    def next(self) -> dict[str, Any]:
        """The next line, which says what came of a webhook."""
        found: dict[str, Any] = json.loads(self.read())
        return found

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """End the process by a signal; returns its exit status and what it printed on stderr."""
        self.process.send_signal(number)
        _, said = self.process.communicate(timeout=GENEROUS)
        return self.process.returncode, said

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()
