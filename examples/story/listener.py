"""A small HTTP server on loopback that passes every POST to a function and answers with the returned status."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Self

MAX_BODY = 1 << 20

Receive = Callable[[bytes, Iterable[tuple[str, str]]], int]


class Listener:
    """Listens from construction to the end of `with`. The server's threads call receive(body, headers)."""

    def __init__(self, receive: Receive) -> None:
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers.get("Content-Length", "0"))
                status = 413
                if 0 <= length <= MAX_BODY:
                    status = receive(self.rfile.read(length), self.headers.items())
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_port
        self.url = f"http://127.0.0.1:{self.port}/webhooks"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
