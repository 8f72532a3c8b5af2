"""Runs Toxiproxy, a TCP proxy with its own faults: built once from its Go module, run as a child, controlled over HTTP.

Toxiproxy's faults apply to bytes and connections; the faults of the scripted proxy apply to requests.
"""

from __future__ import annotations

import http.client
import itertools
import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from support.ports import reserve_port

MODULE = "github.com/Shopify/toxiproxy/v2/cmd/server"
VERSION = "2.5.0"  # the latest release that Debian 12's Go 1.19 can build
GENEROUS = 30.0


def program() -> Path:
    """Returns the path of the server program; first builds the program into the cache if it is not there."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "billcore"
    built = cache / f"toxiproxy-{VERSION}" / "server"
    if not built.exists():
        go = shutil.which("go")
        assert go is not None, "Go is not installed: it builds toxiproxy (Debian package golang-go)"
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            environment = os.environ | {"GOBIN": folder, "CGO_ENABLED": "0", "GOTOOLCHAIN": "local"}
            done = subprocess.run(
                [go, "install", f"{MODULE}@v{VERSION}"], env=environment, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, f"toxiproxy was not built:\n{done.stderr}"
            built.parent.mkdir(exist_ok=True)
            os.replace(Path(folder) / "server", built)
    return built


class Toxiproxy:
    """A running Toxiproxy server."""

    def __init__(self) -> None:
        self._numbers = itertools.count()
        self._reserved = reserve_port()
        self._port: int = self._reserved.getsockname()[1]
        with tempfile.TemporaryFile() as output:
            self._process = subprocess.Popen(
                [program(), "-host", "127.0.0.1", "-port", str(self._port)], stdout=output, stderr=output
            )
            if not self._is_ready():
                self.close()
                output.seek(0)
                said = output.read().decode(errors="replace")
                raise AssertionError(f"toxiproxy did not start, status {self._process.returncode}:\n{said}")

    def _is_ready(self) -> bool:
        deadline = time.monotonic() + GENEROUS
        while self._process.poll() is None and time.monotonic() < deadline:
            try:
                self.call("GET", "/version")
            except OSError:
                time.sleep(0.01)
            else:
                return self._process.poll() is None
        return False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._process.terminate()
        self._process.wait(GENEROUS)
        self._reserved.close()

    def line(self, upstream_port: int) -> Line:
        return Line(self, f"line-{next(self._numbers)}", upstream_port)

    def call(self, method: str, path: str, fields: dict[str, Any] | None = None) -> Any:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=GENEROUS)
        try:
            connection.request(method, path, None if fields is None else json.dumps(fields))
            answer = connection.getresponse()
            text = answer.read()
            assert answer.status < 300, f"{method} {path}: {answer.status} {text!r}"
            return json.loads(text) if text.startswith(b"{") else text
        finally:
            connection.close()


class Line:
    """One listening port of a Toxiproxy server."""

    def __init__(self, server: Toxiproxy, name: str, upstream_port: int) -> None:
        self._server = server
        self._path = f"/proxies/{name}"
        fields = {"name": name, "listen": "127.0.0.1:0", "upstream": f"127.0.0.1:{upstream_port}"}
        self.port = int(server.call("POST", "/proxies", fields)["listen"].rpartition(":")[2])

    def toxic(self, kind: str, stream: str, **attributes: int) -> None:
        """Adds a fault. stream: upstream (bytes that the client sends) or downstream (bytes that it receives)."""
        self._server.call("POST", f"{self._path}/toxics", {"type": kind, "stream": stream, "attributes": attributes})

    def enable(self, enabled: bool) -> None:
        """Switches the port on or off. Switching the port off cuts its connections; a port that is off refuses new
        connections."""
        listen = f"127.0.0.1:{self.port}"
        self._server.call("POST", self._path, {"enabled": enabled, "listen": listen})

    def delete(self) -> None:
        self._server.call("DELETE", self._path)
