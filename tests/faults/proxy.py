"""A proxy in front of the sandbox that causes faults at exact points: for each request it runs the next step of a
script.

A step is a function of an Exchange. The step may read part of the request, forward the request to the sandbox, send
an answer, close or reset the connection, or stay silent. When the script has no steps left, the proxy forwards
requests and answers honestly.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from support.waiting import until

GENEROUS = 30.0


def serve_each(listener: socket.socket, serve: Callable[[socket.socket], None]) -> None:
    """Calls `serve` for each connection in a separate thread, until the listener is closed."""
    with contextlib.suppress(OSError):
        while True:
            threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()


@dataclass(frozen=True)
class RawAnswer:
    """The sandbox's answer as received."""

    head: bytes  # status line and headers, with the empty line at the end
    body: bytes

    @property
    def raw(self) -> bytes:
        return self.head + self.body

    def with_headers(self, **headers: str | int | None) -> bytes:
        """Returns the head with these headers set, or removed if the value is None. An underscore in a name stands for
        a hyphen in the header."""
        given = {name.replace("_", "-").lower(): value for name, value in headers.items()}
        lines = self.head.split(b"\r\n")[:-2]
        kept = [line for line in lines if line.split(b":")[0].decode().lower() not in given]
        more = [f"{name}: {value}".encode() for name, value in given.items() if value is not None]
        return b"\r\n".join([*kept, *more, b"", b""])


@dataclass
class Seen:
    """A request of which at least one byte has arrived. at: monotonic time of the first byte. refused: the proxy has
    said that it did not process the request."""

    method: str
    at: float
    connection: int
    forwarded: bool = False
    refused: bool = False


class Gone(Exception):
    """The client has closed the connection, or the test is over."""


class Exchange:
    """A request on a connection, and the methods that a step may call."""

    def __init__(self, connection: Connection, seen: Seen) -> None:
        self._connection = connection
        self.seen = seen
        self.stopped = connection.proxy.stopped
        self._request: bytes | None = None

    def take(self, count: int) -> None:
        """Reads this many bytes of the request."""
        self._connection.fill(count)

    def read(self) -> bytes:
        """Reads the whole request."""
        if self._request is None:
            self._request = self._connection.read_request()
        return self._request

    def forward(self) -> RawAnswer:
        """Forwards the request to the sandbox and returns the answer, which is not sent to the client."""
        request = self.read()
        self.seen.forwarded = True
        return ask(self._connection.proxy.upstream, request)

    def send(self, data: bytes) -> None:
        self._connection.send(data)

    def close(self) -> None:
        """Closes the connection properly (FIN)."""
        self._connection.close()

    def reset(self) -> None:
        """Closes the connection with RST."""
        self._connection.reset()

    def was_reset(self) -> bool:
        """Waits until the client ends the connection; returns whether it was with RST."""
        try:
            while self._connection.socket.recv(65536):
                pass
        except ConnectionResetError:
            return True
        return False

    def hang(self) -> None:
        """Stays silent until the client closes the connection or the test is over."""
        with contextlib.suppress(OSError):
            while self._connection.socket.recv(65536):
                pass
        raise Gone


Step = Callable[[Any], None]  # the argument is an Exchange, or for HTTP/2 a Stream


def _some(sock: socket.socket) -> bytes:
    chunk = sock.recv(65536)
    if not chunk:
        raise Gone
    return chunk


def ask(address: tuple[str, int], request: bytes) -> RawAnswer:
    """Sends a request to the sandbox in HTTP/1.1 and returns its answer."""
    with socket.create_connection(address, timeout=GENEROUS) as upstream:
        upstream.sendall(request)
        received = b""
        while b"\r\n\r\n" not in received:
            received += _some(upstream)
        head, _, body = received.partition(b"\r\n\r\n")
        while len(body) < content_length(head):
            body += _some(upstream)
    return RawAnswer(head + b"\r\n\r\n", body)


def content_length(head: bytes) -> int:
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            return int(value)
    return 0


def passing(exchange: Exchange) -> None:
    """The default step: forwards the request and sends the sandbox's answer."""
    exchange.send(exchange.forward().raw)


class Connection:
    http2 = False

    def __init__(self, proxy: Proxy, number: int, sock: socket.socket) -> None:
        self.proxy = proxy
        self.number = number
        self.socket = sock
        self.open = True
        self._buffer = b""

    def send(self, data: bytes) -> None:
        try:
            self.socket.sendall(data)
        except OSError as error:
            raise Gone from error

    def fill(self, count: int) -> None:
        while len(self._buffer) < count:
            # Reads no more than requested, so that the rest stays unread: the kernel then sends RST on close.
            chunk = self.socket.recv(count - len(self._buffer))
            if not chunk:
                raise Gone
            self._buffer += chunk

    def method(self) -> str | None:
        """Waits for a request. Returns the request's method, or None when the connection has ended."""
        if isinstance(self.socket, ssl.SSLSocket):
            with contextlib.suppress(Gone):
                self.fill(3)
            first = self._buffer
        else:
            first = self.socket.recv(3, socket.MSG_PEEK)
        return {b"GET": "GET", b"POS": "POST", b"DEL": "DELETE"}.get(first[:3], "?") if first else None

    def read_request(self) -> bytes:
        received, self._buffer = self._buffer, b""
        while b"\r\n\r\n" not in received:
            received += _some(self.socket)
        head, _, body = received.partition(b"\r\n\r\n")
        while len(body) < content_length(head):
            body += _some(self.socket)
        return head + b"\r\n\r\n" + body

    def serve(self) -> None:
        with contextlib.suppress(Gone, OSError):
            while self.open and (method := self.method()) is not None:
                step, seen = self.proxy.next(method, self.number)
                step(Exchange(self, seen))
        self.close()

    def close(self) -> None:
        if self.open:
            self.open = False
            with contextlib.suppress(OSError):
                self.socket.shutdown(socket.SHUT_RDWR)
            self.socket.close()

    def reset(self) -> None:
        if self.open:
            self.open = False
            # A linger time of zero makes close() send RST instead of FIN.
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.socket.close()


class Proxy:
    """A proxy that listens on loopback.

    script: steps for the first requests. on_accept: functions to call with the first connections instead of
    serving them; None serves the connection. tls: serve over TLS. late: refuse connections until listen(). listener: a
    bound socket to use.
    """

    def __init__(
        self,
        upstream: tuple[str, int],
        script: Iterable[Step] = (),
        *,
        on_accept: Iterable[Callable[[socket.socket], None] | None] = (),
        tls: ssl.SSLContext | None = None,
        late: bool = False,
        kind: Callable[[Proxy, int, Any], Connection] | None = None,
        listener: socket.socket | None = None,
    ) -> None:
        self.upstream = upstream
        self.stopped = threading.Event()
        self.seen: list[Seen] = []
        self.accepted = 0
        self._script = list(script)
        self._on_accept = list(on_accept)
        self._tls = tls
        self._kind = kind or Connection
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._connections: list[Connection] = []
        self._listener = listener or socket.socket()
        if listener is None:
            self._listener.bind(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._acceptor = threading.Thread(target=self._accept, daemon=True)
        if not late:
            self.listen()

    def listen(self) -> None:
        self._listener.listen(128)
        self._acceptor.start()

    def add(self, *steps: Step) -> None:
        """Adds steps for further requests, after the steps that are still in the script."""
        with self._lock:
            self._script.extend(steps)

    def forget(self) -> None:
        """Drops the remaining steps and on_accept functions."""
        with self._lock:
            self._script.clear()
            self._on_accept.clear()

    def next(self, method: str, connection: int, default: Step = passing) -> tuple[Step, Seen]:
        seen = Seen(method, time.monotonic(), connection)
        with self._lock:
            self.seen.append(seen)
            return (self._script.pop(0) if self._script else default), seen

    @property
    def writes(self) -> int:
        """The number of requests other than GET of which at least one byte has arrived, without those refused."""
        with self._lock:
            return sum(seen.method != "GET" and not seen.refused for seen in self.seen)

    def wait_for(self, count: int) -> None:
        """Waits until this many requests have arrived. The client's call may end before the proxy sees its request."""
        until(lambda: len(self.seen) >= count)

    def wait_until_closed(self) -> None:
        """Waits until all connections accepted so far are closed. Afterwards the client's kernel has received the
        FIN or RST, because both ends are on loopback."""
        with self._lock:
            threads = list(self._threads)
        for thread in threads:
            thread.join(GENEROUS)
            assert not thread.is_alive(), "a connection is still open"

    def close(self) -> None:
        """Closes every connection, and waits until the sandbox has finished all forwarded requests."""
        self.stopped.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        if self._acceptor.ident is not None:
            self._acceptor.join(GENEROUS)
        self._listener.close()
        for connection in self._connections:
            # The connection's thread still reads data that has arrived, and then the end of input.
            with contextlib.suppress(OSError):
                socket.socket.shutdown(connection.socket, socket.SHUT_RD)
        for thread in self._threads:
            thread.join(GENEROUS)
            assert not thread.is_alive(), "a step of the script does not end"

    def _accept(self) -> None:
        while not self.stopped.is_set():
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.accepted += 1
            thread = threading.Thread(target=self._serve, args=(sock, self.accepted), daemon=True)
            with self._lock:  # a thread in the list has started, so that others can join it
                self._threads.append(thread)
                thread.start()

    def _serve(self, sock: socket.socket, number: int) -> None:
        with self._lock:
            instead = self._on_accept.pop(0) if self._on_accept else None
        if instead is not None:
            with contextlib.suppress(OSError), sock:
                instead(sock)
            return
        if self._tls is not None:
            try:
                sock = self._tls.wrap_socket(sock, server_side=True)
            except OSError:  # the client refuses the certificate
                sock.close()
                return
        connection = self._kind(self, number, sock)
        self._connections.append(connection)
        if self.stopped.is_set():
            connection.close()
        connection.serve()
