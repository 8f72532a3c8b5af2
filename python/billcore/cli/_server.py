"""The HTTP server of `billcore listen`: reads the raw body of each request, within bounds of size and time."""

from __future__ import annotations

import contextlib
import dataclasses
import re
import socket
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from socketserver import BaseServer, TCPServer, ThreadingMixIn
from typing import Any, NoReturn

from ._command import EXIT_FAILED, EXIT_USAGE, Failure
from ._deliveries import Delivery
from ._listener import Listener

_AT_ONCE = 64  # requests; further connections wait
_DRAINED, _PIECE = 16 << 20, 64 << 10  # bytes
_SILENT = 10.0  # seconds that a sender may send nothing, and that a body may take


class Server(ThreadingMixIn, TCPServer):
    """Listens as soon as it is made, and handles requests from start() on.

    Args:
        host: An address of this machine.
        port: 0: a free port, which `port` has.
        path: The path of the webhooks.
    """

    daemon_threads = True
    block_on_close = False

    def __init__(self, host: str, port: int, path: str) -> None:
        BaseServer.__init__(self, (host, port), _Handler)
        self.path = path
        self.pending = 0
        """How many senders wait for their answer."""
        self._changed = threading.Lock()
        self._free = threading.BoundedSemaphore(_AT_ONCE)
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            self.socket = socket.create_server((host, port), family=family, backlog=128)
        except OverflowError:
            raise Failure(EXIT_USAGE, f"--port must be from 0 to 65535, not {port}") from None
        except OSError as error:
            in_use = f"port {port} of {host} is in use, perhaps by another billcore listen: pass another --port"
            text = in_use if error.errno == 98 else f"cannot listen on {host} port {port}: {error.strerror}"
            raise Failure(EXIT_FAILED, text) from None
        self.port: int = self.socket.getsockname()[1]

    def start(self, listener: Listener) -> None:
        """Handle requests in threads, until the process ends or close() is called."""
        self.listener = listener
        threading.Thread(target=self.serve_forever, args=(0.1,), daemon=True).start()

    @contextlib.contextmanager
    def waiting(self) -> Iterator[None]:
        """A block in which a sender waits for its answer."""
        with self._changed:
            self.pending += 1
        try:
            yield
        finally:
            with self._changed:
                self.pending -= 1

    def process_request(self, request: Any, client_address: Any) -> None:
        self._free.acquire()
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A sender that has gone is no error of this program; a defect is told with its traceback, as usual."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class _RefusedError(Exception):
    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"
    error_message_format, error_content_type = "%(code)d %(message)s\n", "text/plain"
    timeout = _SILENT

    def do_POST(self) -> None:
        listener = self.server.listener
        with self.server.waiting():
            delivery = self._answer(listener)
        listener.tell(delivery)

    def do_GET(self) -> None:
        self._refuse(_RefusedError(405, "this is billcore listen: POST webhooks"))

    def version_string(self) -> str:
        return "billcore-listen"

    def log_message(self, format: str, *args: object) -> None:
        pass

    def _answer(self, listener: Listener) -> Delivery:
        try:
            if self.path.partition("?")[0] != self.server.path:
                raise _RefusedError(404, f"webhooks go to {self.server.path}, not to {self.path}")
            body = self._body(listener.max_body)
        except _RefusedError as refused:
            self._refuse(refused)
            return listener.refused(refused.status, str(refused))
        signatures = [" ".join(each.split()) for each in self.headers.get_all(listener.header, [])]
        kind = " ".join((self.headers.get("Content-Type") or "application/json").split())
        agent = " ".join((self.headers.get("User-Agent") or "-").split())
        reply, delivery = listener.receive(body, signatures, kind, agent)
        try:
            self._send(reply.status, reply.content_type, reply.body)
        except OSError:
            self.close_connection = True
            gone = "the sender had gone before the answer, and will send it again"
            return dataclasses.replace(delivery, note="; ".join(filter(None, (delivery.note, gone))))
        return delivery

    def _refuse(self, refused: _RefusedError) -> None:
        self.close_connection = True  # the rest of the request was not read
        with contextlib.suppress(OSError):
            self._send(refused.status, "text/plain", f"{refused}\n".encode())
            self._drain()

    def _drain(self) -> None:
        """Read the rest of a body, within bounds: a reset would destroy the answer while the sender still sends."""
        self.connection.shutdown(socket.SHUT_WR)
        left, until = _DRAINED, time.monotonic() + _SILENT
        while left > 0 and time.monotonic() < until and (piece := self.rfile.read1(_PIECE)):
            left -= len(piece)

    def _send(self, status: int, content_type: str, body: bytes) -> None:
        self.send_response(status)
        if self.close_connection:
            self.send_header("Connection", "close")
        if status not in (204, 304):
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if status not in (204, 304):
            self.wfile.write(body)

    def _body(self, most: int) -> bytes:
        """The raw body; raises _RefusedError."""
        lengths = set(self.headers.get_all("Content-Length", []))
        coding = self.headers.get("Transfer-Encoding")
        self._until = time.monotonic() + _SILENT
        try:
            if coding is not None:
                if lengths or coding.strip().lower() != "chunked":
                    raise _RefusedError(400, "the request does not say clearly where its body ends")
                return self._chunks(most)
            length = lengths.pop() if len(lengths) == 1 else "0" if not lengths else ""
            if not re.fullmatch(r"[0-9]{1,18}", length):
                raise _RefusedError(400, "the Content-Length of the request is not one number of bytes")
            if int(length) > most:
                _too_large(most, int(length))
            return self._exactly(int(length))
        except TimeoutError:
            raise _RefusedError(408, f"the body did not arrive within {_SILENT:g} s") from None

    def _exactly(self, size: int) -> bytes:
        body = b""
        while len(body) < size:
            if time.monotonic() > self._until:
                raise TimeoutError
            piece = self.rfile.read1(size - len(body))
            if not piece:
                raise _RefusedError(400, f"the sender disconnected after {len(body)} of {size} bytes of the body")
            body += piece
        return body

    def _chunks(self, most: int) -> bytes:
        body = b""
        while True:
            size = re.match(rb"([0-9a-fA-F]{1,8})[ \t]*(?:;|\r?\n)", self.rfile.readline(1024))
            if size is None:
                raise _RefusedError(400, "the body is not in chunks, although its Transfer-Encoding says so")
            if (length := int(size[1], 16)) == 0:
                break
            if len(body) + length > most:
                _too_large(most)
            body += self._exactly(length)
            if self._exactly(1) == b"\r":
                self._exactly(1)
        while self.rfile.readline(1024) not in (b"\r\n", b"\n", b""):  # trailers
            if time.monotonic() > self._until:
                raise TimeoutError
        return body


def _too_large(most: int, size: int | None = None) -> NoReturn:
    raise _RefusedError(
        413, f"body_too_large: the body {'is' if size is None else f'has {size} bytes,'} over {most} bytes"
    )
