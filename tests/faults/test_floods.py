"""Tests HTTP/2 peers that flood the client with small frames: calls must end in time, and event loops must keep
running.

Each frame is valid by RFC 9113. The peer sends frames as fast as the client reads them.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import struct
import threading
import time
from typing import Any

import pytest

import billcore
from support.waiting import LATE

from .certificates import Certificates
from .libcurl import release
from .proxy import serve_each

TIMEOUT = 3.0  # seconds: enough for a TLS connection on a busy machine
WITHSTANDS = not release() or release() >= (8, 10, 1)


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


FLOODS = {
    "empty-data": frame(0, 0, 1),
    "padded-data": frame(0, 8, 1, b"\0"),
    "priority": frame(2, 0, 1, struct.pack(">IB", 0, 1)),
    "settings": frame(4, 0, 0),
    "ping": frame(6, 0, 0, bytes(8)),
    "ping-answer": frame(6, 1, 0, bytes(8)),
    "window-update": frame(8, 0, 0, struct.pack(">I", 1)),
    "altsvc": frame(10, 0, 0, struct.pack(">H", 9) + b"a.example" + b'h2=":443"'),
    "unknown": frame(77, 0, 0),
}
HEAD = frame(1, 4, 1, b"\x88")  # :status 200


class Flood:
    """An https server that floods a client after its HTTP/2 request, and never answers. It ends a connection that
    speaks HTTP/1."""

    def __init__(self, context: ssl.SSLContext, name: str) -> None:
        self._context = context
        self._head = HEAD if "data" in name else b""
        self._frame = FLOODS[name]
        self._data = self._frame * (200_000 // len(self._frame))
        self._listener = socket.create_server(("localhost", 0))
        self.url = f"https://localhost:{self._listener.getsockname()[1]}/acct"
        self.protocols: list[str | None] = []
        self.sent = 0
        self._open: list[ssl.SSLSocket] = []
        threading.Thread(target=serve_each, args=(self._listener, self._serve), daemon=True).start()

    def __enter__(self) -> Flood:
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()
        for each in self._open:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def _serve(self, plain: socket.socket) -> None:
        with contextlib.suppress(OSError), self._context.wrap_socket(plain, server_side=True) as client:
            self._open.append(client)
            self.protocols.append(client.selected_alpn_protocol())
            if client.selected_alpn_protocol() != "h2":
                return
            client.sendall(frame(4, 0, 0))
            asked = b""
            while b"\x01\x05\0\0\0\x01" not in asked and b"\x01\x25\0\0\0\x01" not in asked:  # HEADERS of stream 1
                more = client.recv(65536)
                if not more:
                    return
                asked += more
            threading.Thread(target=self._drain, args=(client,), daemon=True).start()
            client.sendall(self._head + self._frame)
            # Count the first frame now: in some releases libcurl closes the connection before the first large piece is
            # sent and counted below.
            self.sent = len(self._frame)
            while True:
                client.sendall(self._data)
                self.sent += len(self._data)

    @staticmethod
    def _drain(client: ssl.SSLSocket) -> None:
        with contextlib.suppress(OSError, ValueError):
            while client.recv(65536):
                pass


@pytest.fixture
def offering(certificates: Certificates) -> ssl.SSLContext:
    context = certificates.http2
    context.set_alpn_protocols(["h2", "http/1.1"])
    return context


@pytest.fixture(autouse=True)
def as_before(certificates: Certificates) -> Any:
    yield
    certificates.http2.set_alpn_protocols(["h2"])


@pytest.mark.parametrize("name", FLOODS)
@pytest.mark.parametrize("kind", ["blocking", "awaited"])
def test_a_call_ends_and_a_loop_goes_on(
    offering: ssl.SSLContext, certificates: Certificates, kind: str, name: str
) -> None:
    longest = 0.0

    async def watch() -> None:
        nonlocal longest
        while True:
            before = time.monotonic()
            await asyncio.sleep(0.01)
            longest = max(longest, time.monotonic() - before)

    async def awaited() -> None:
        watching = asyncio.create_task(watch())
        await asyncio.sleep(0)
        async with billcore.AsyncClient(**options) as client:
            await client.orders.get("o")
        watching.cancel()

    with Flood(offering, name) as server:
        bundle = str(certificates.bundle)
        options: dict[str, Any] = {"base_url": server.url, "api_key": "key", "ca_bundle": bundle, "max_retries": 0}
        options["timeout"] = TIMEOUT
        options["http2"] = True if WITHSTANDS else None
        begun = time.monotonic()
        with pytest.raises((billcore.TimeoutError, billcore.ConnectionError)):
            if kind == "awaited":
                asyncio.run(awaited())
            else:
                with billcore.Client(**options) as client:
                    client.orders.get("o")
        assert time.monotonic() - begun < LATE and longest < LATE
        floods = server.protocols == ["h2"]
        assert floods == WITHSTANDS, f"libcurl {release()} speaks {server.protocols}"
        assert not floods or server.sent > 0


@pytest.mark.parametrize(
    ("http2", "protocol"),
    [(True, "h2"), (False, "http/1.1"), (None, "http/1.1" if release() else "h2")],  # None: HTTP/2 only with the wheel
)
def test_the_option_http2_decides_the_protocol(
    offering: ssl.SSLContext, certificates: Certificates, http2: bool | None, protocol: str
) -> None:
    with Flood(offering, "settings") as server:  # every libcurl release ends a flood of SETTINGS
        given: dict[str, Any] = {"ca_bundle": str(certificates.bundle), "max_retries": 0, "timeout": TIMEOUT}
        with (
            billcore.Client(base_url=server.url, api_key="key", http2=http2, **given) as client,
            pytest.raises((billcore.TimeoutError, billcore.ConnectionError)),
        ):
            client.orders.get("o")
        assert server.protocols == [protocol]
