"""uvicorn's HTTP/1.1 protocol with additions: headers as received, TCP resets, and requests that do not end."""

from __future__ import annotations

import asyncio
import socket
import struct
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from billcore_sandbox.errors import Refusal, timed_out
from billcore_sandbox.http.answers import Message, raw, start
from billcore_sandbox.service.calls import refused

EXTENSION = "billcore.connection"
REQUEST_TIMEOUT = 30.0  # seconds from the first byte of a request to its last
_LINGER = 5.0  # seconds that a connection stays open for what a client sends after it was refused


class Connection:
    """The connection of a request: lets the request's handler send raw bytes, reset or close."""

    def __init__(self, protocol: SandboxProtocol) -> None:
        self._protocol = protocol
        self.target = protocol.recorder.target
        self.headers = protocol.recorder.headers

    @property
    def late(self) -> bool:
        """True when the request's body has not arrived completely within REQUEST_TIMEOUT."""
        return self._protocol.late

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

    def refuse(self, head: Message, body: bytes) -> None:
        """Answer although the request's body may be incomplete, and end the connection."""
        self._protocol.refuse(head, body)


class Nobody(Connection):
    """Stands for the connection of a request that the sandbox repeats: nobody reads its answer."""

    gone = False

    def __init__(self, target: str, headers: list[tuple[str, str]]) -> None:
        self.target = target.encode("latin-1")
        self.headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]

    async def receive(self) -> Message:
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        pass

    def reset(self) -> None:
        pass

    def write(self, data: bytes) -> None:
        pass

    def close(self) -> None:
        pass


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
        self.late = False
        self._refused = False
        self._timer: asyncio.TimerHandle | None = None
        inner: Any = self.app

        async def app(scope: Any, receive: Any, send: Any) -> None:
            # self.recorder still has this request: h11 reads the next request only after this one is answered.
            scope["extensions"] = {EXTENSION: Connection(self)}
            await inner(scope, receive, send)

        self.app = app

    def send_400_response(self, msg: str) -> None:
        """Answer a request that is not valid HTTP, such as a target with `ü`, with an error object."""
        self._end(Refusal(400, "invalid_request", f"The request is not valid HTTP: {msg}"))

    def _end(self, error: Refusal) -> None:
        answer = refused(error)
        self.transport.write(raw(start(answer, [("Connection", "close")]), answer.body))
        self.transport.close()

    def refuse(self, head: Message, body: bytes) -> None:
        """Send an answer, and end the connection as soon as the client has stopped to send, or after _LINGER.

        If the connection were closed at once, the kernel would answer further bytes with a reset, and many clients
        would see the reset instead of the answer.
        """
        self._refused = True
        self.cycle.disconnected = True  # uvicorn then expects no answer from the application
        if not self.transport.is_closing():
            head["headers"].append((b"Connection", b"close"))
            self.transport.write(raw(head, b"" if self.scope["method"] == "HEAD" else body))
            self.transport.write_eof()
            self.flow.resume_reading()
            self._limit(_LINGER)

    def data_received(self, data: bytes) -> None:
        if not self._refused:
            super().data_received(data)

    def handle_events(self) -> None:
        super().handle_events()
        state = self.conn.their_state
        if state is not h11.SEND_BODY and (state is not h11.IDLE or not self.conn.trailing_data[0]):
            self._limit(None)
        elif self._timer is None:
            self._limit(REQUEST_TIMEOUT)

    def _limit(self, seconds: float | None) -> None:
        """Limit the time until the request's last byte, or end the limit. An idle connection has no limit here."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None if seconds is None else self.loop.call_later(seconds, self._out_of_time)

    def _out_of_time(self) -> None:
        if self.conn.their_state is h11.IDLE:  # only a part of the head is there
            self._end(timed_out())
        elif self._refused or self.cycle.response_started:
            self.transport.close()
        else:  # guard.read() waits for the body
            self.late = self.cycle.disconnected = True
            self.cycle.message_event.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self._limit(None)
        super().connection_lost(exc)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        # Disable Nagle's algorithm: answers are written whole, so waiting for more data would only add latency.
        sock = transport.get_extra_info("socket")
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        super().connection_made(transport)
