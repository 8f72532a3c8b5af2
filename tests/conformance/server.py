"""A scripted HTTP/1.1 server on a raw socket: it sends canned answers byte for byte and records every request.

The server does not use an HTTP library, so that it can send half an answer, a wrong Content-Length, an endless body, a
reset, or nothing at all.
"""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal

Ending = Literal["keep", "close", "reset", "hang"]

_DONE = 599  # status of every answer after the last reply of the script; the real service never sends 599


@dataclass(frozen=True)
class Request:
    """A request as received."""

    method: str
    target: str
    version: str
    headers: list[tuple[str, str]]
    body: bytes
    connection: int  # index of the connection, in the order of acceptance

    def header(self, name: str) -> str | None:
        values = [value for key, value in self.headers if key.lower() == name.lower()]
        assert len(values) <= 1, f"header {name} was sent {len(values)} times"
        return values[0] if values else None


@dataclass(frozen=True)
class Reply:
    """The bytes to send as the answer to one request, and the treatment of the connection afterwards.

    raw: bytes to send instead of a status line, headers and body. A Content-Length among the headers is sent as
    given, even if wrong; if there is none, the server adds the true length. ending="hang": the server keeps the
    connection open and sends nothing more.
    """

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    raw: bytes | None = None
    send_only: int | None = None  # send only this many bytes of the whole answer
    endless: bytes = b""  # after the answer, send these bytes repeatedly until the client closes the connection
    ending: Ending = "keep"
    delay: float = 0.0  # seconds to wait before the first byte of the answer

    def encode(self, method: str = "GET") -> bytes:
        if self.raw is not None:
            data = self.raw
        else:
            names = {name.lower() for name in self.headers}
            head = [f"HTTP/1.1 {self.status} Canned"]
            head += [f"{name}: {value}" for name, value in self.headers.items()]
            if "content-length" not in names and "transfer-encoding" not in names and not self.endless:
                head.append(f"Content-Length: {len(self.body)}")
            data = "\r\n".join([*head, "", ""]).encode("latin-1") + (b"" if method == "HEAD" else self.body)
        return data if self.send_only is None else data[: self.send_only]


def json_reply(value: Any, status: int = 200, **more: Any) -> Reply:
    body = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    return Reply(status=status, headers={"Content-Type": "application/json"}, body=body, **more)


Script = Iterable[Reply] | Callable[[Request], Reply]


class ScriptedServer:
    """A server on 127.0.0.1 that answers from a script inside a `with` block.

    If the script is a list, the server sends each reply once, one per request, on any number of connections. If the
    script is a function, the server calls it with each request and sends the reply that it returns.
    """

    def __init__(self, script: Script = (), *, tls: ssl.SSLContext | None = None) -> None:
        self._next: Callable[[Request], Reply] = script if callable(script) else self._play(list(script))
        self._tls = tls
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._requests: list[Request] = []
        self._sockets: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.connections = 0

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://{self.host}"

    @property
    def requests(self) -> list[Request]:
        """The requests that were received completely, oldest first."""
        with self._lock:
            return list(self._requests)

    def __enter__(self) -> ScriptedServer:
        self._spawn(self._accept)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        with self._lock:
            sockets = list(self._sockets)
        for connection in sockets:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(timeout=30)
            assert not thread.is_alive(), "a thread of the scripted server did not end"
        # Close the descriptor last: a thread that still ran could accept from a new socket that reuses the descriptor.
        self._listener.close()

    def _play(self, replies: list[Reply]) -> Callable[[Request], Reply]:
        waiting = iter(replies)

        def next_reply(request: Request) -> Reply:
            with self._lock:
                reply = next(waiting, None)
            return reply or Reply(status=_DONE, body=b"the script of the test server is at its end")

        return next_reply

    def _spawn(self, target: Callable[..., None], *args: Any) -> None:
        thread = threading.Thread(target=target, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self._stop.is_set():
            try:
                plain, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                self._sockets.append(plain)
                number = self.connections
                self.connections += 1
            self._spawn(self._serve, plain, number)

    def _serve(self, plain: socket.socket, number: int) -> None:
        connection = plain
        try:
            if self._tls:
                connection = self._tls.wrap_socket(plain, server_side=True)
                with self._lock:
                    self._sockets.append(connection)
            self._converse(connection, number)
        except OSError:
            pass  # the client has closed the connection, or the test is over
        finally:
            connection.close()

    def _converse(self, connection: socket.socket, number: int) -> None:
        buffer = b""
        while not self._stop.is_set():
            received = _read_request(connection, buffer, number)
            if received is None:
                return
            request, buffer = received
            with self._lock:
                self._requests.append(request)
            reply = self._next(request)
            if reply.delay and self._stop.wait(reply.delay):
                return
            connection.sendall(reply.encode(request.method))
            while reply.endless and not self._stop.is_set():
                connection.sendall(reply.endless)
            if reply.ending == "hang":
                _wait_for_end(connection)
                return
            if reply.ending == "reset":
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return
            if reply.ending == "close":
                connection.shutdown(socket.SHUT_WR)
                _wait_for_end(connection)  # if input were unread, close() would send a reset
                return


def _wait_for_end(connection: socket.socket) -> None:
    while connection.recv(65536):
        pass


def _read_request(connection: socket.socket, buffer: bytes, number: int) -> tuple[Request, bytes] | None:
    while b"\r\n\r\n" not in buffer:
        chunk = connection.recv(65536)
        if not chunk:
            return None
        buffer += chunk
    head, _, buffer = buffer.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, version = first.split(" ")
    headers = [(name, value.strip()) for name, _, value in (line.partition(":") for line in lines)]
    lengths = [int(value) for name, value in headers if name.lower() == "content-length"]
    length = lengths[0] if lengths else 0
    while len(buffer) < length:
        chunk = connection.recv(65536)
        if not chunk:
            return None
        buffer += chunk
    return Request(method, target, version, headers, buffer[:length], number), buffer[length:]


_closed: list[socket.socket] = []


def closed_port() -> int:
    """Returns a loopback port on which nothing ever listens.

    The port stays bound, because otherwise another process could bind it and receive our client's requests.
    """
    _closed.append(socket.socket())
    _closed[-1].bind(("127.0.0.1", 0))
    return int(_closed[-1].getsockname()[1])


class SilentListener:
    """A listening socket whose program never answers: the kernel accepts connections, but a TLS handshake never
    completes."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port: int = self._listener.getsockname()[1]

    def __enter__(self) -> SilentListener:
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()


class FullListener:
    """A listener whose queue is full, so a new connection is neither established nor refused."""

    def __init__(self) -> None:
        self._listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._listener.bind(("127.0.0.1", 0))
        self._listener.listen(0)
        self.port: int = self._listener.getsockname()[1]
        self._fillers: list[socket.socket] = []

    def __enter__(self) -> FullListener:
        for _ in range(16):
            filler = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            filler.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                filler.connect(("127.0.0.1", self.port))
            self._fillers.append(filler)
        return self

    def __exit__(self, *_: object) -> None:
        for filler in self._fillers:
            filler.close()
        self._listener.close()
