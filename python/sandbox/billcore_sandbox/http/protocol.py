"""uvicorn's HTTP/1.1 protocol with two additions for tests: the request's headers as received, and TCP resets."""

from __future__ import annotations

import asyncio
import socket
import struct
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from billcore_sandbox.errors import Refusal
from billcore_sandbox.http.answers import raw, start
from billcore_sandbox.service.calls import refused

EXTENSION = "billcore.connection"


class Connection:
    """The connection of a request: lets the request's handler send raw bytes, reset or close."""

    def __init__(self, protocol: SandboxProtocol) -> None:
        self._protocol = protocol
        self.target = protocol.recorder.target
        self.headers = protocol.recorder.headers

    @property
    def gone(self) -> bool:
        """True when the client has closed or reset the connection."""
        return self._protocol.transport.is_closing()

    def reset(self) -> None:
        """End the connection with a TCP RST: the client gets "connection reset" instead of an orderly close."""
        # With a linger time of zero, close() drops unsent bytes and sends RST instead of FIN.
        sock = self._protocol.transport.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._protocol.transport.abort()

    def write(self, data: bytes) -> None:
        """Send bytes unchanged. The bytes do not pass through h11, so they need not be a valid answer."""
        self._protocol.transport.write(data)

    def close(self) -> None:
        """Close the connection (FIN) after the written bytes are sent, even if Content-Length is larger."""
        self._protocol.transport.close()


class _Recorder(h11.Connection):
    """Keeps the target and headers of the latest request as received, because uvicorn normalises them."""

    target = b""
    headers: list[tuple[bytes, bytes]]

    def next_event(self) -> Any:
        event = super().next_event()
        if isinstance(event, h11.Request):
            self.target = event.target
            self.headers = event.headers.raw_items()
        return event


class SandboxProtocol(H11Protocol):
    """Adds the Connection to each request's scope, under `extensions`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.recorder = self.conn = _Recorder(h11.SERVER, 256 << 10)
        inner: Any = self.app

        async def app(scope: Any, receive: Any, send: Any) -> None:
            # self.recorder still has this request: h11 reads the next request only after this one is answered.
            scope["extensions"] = {EXTENSION: Connection(self)}
            await inner(scope, receive, send)

        self.app = app

    def send_400_response(self, msg: str) -> None:
        """Answer a request that is not valid HTTP, such as a target with `ü`, with an error object."""
        answer = refused(Refusal(400, "invalid_request", f"The request is not valid HTTP: {msg}"))
        self.transport.write(raw(start(answer, [("Connection", "close")]), answer.body))
        self.transport.close()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        # Disable Nagle's algorithm: answers are written whole, so waiting for more data would only add latency.
        sock = transport.get_extra_info("socket")
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        super().connection_made(transport)
