"""Tests HTTP/2 peers that flood the client with small frames: calls must end in time, and event loops must keep
running.

Each frame is valid by RFC 9113. The peer sends frames as fast as the client reads them.
"""

from __future__ import annotations

import asyncio
import struct
import threading
import time
from typing import Any

import pytest

import billcore
from support.waiting import LATE

from .certificates import Certificates
from .http2 import Stream, by_protocol
from .libcurl import release
from .proxy import Connection, Exchange, Proxy, Step

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


def flooding(name: str) -> Step:
    """Floods the client, and never answers. Ends a connection that speaks HTTP/1."""

    def step(stream: Stream | Exchange) -> None:
        if isinstance(stream, Exchange):
            return stream.close()
        threading.Thread(target=stream.drain, daemon=True).start()
        stream.send_raw((HEAD if "data" in name else b"") + FLOODS[name])
        while True:
            stream.send_raw(FLOODS[name] * (200_000 // len(FLOODS[name])))

    return step


class Flooded:
    """A server that offers both protocols and floods the client after its HTTP/2 request, and options for a client."""

    def __init__(self, certificates: Certificates, name: str, http2: bool | None) -> None:
        self.protocols: list[str | None] = []
        self.proxy = Proxy(("", 0), [flooding(name)] * 2, tls=certificates.both, kind=self._connection)
        url = f"https://localhost:{self.proxy.port}/acct"
        given = {"base_url": url, "api_key": "key", "ca_bundle": str(certificates.bundle)}
        self.options: dict[str, Any] = {**given, "max_retries": 0, "timeout": TIMEOUT, "http2": http2}

    def _connection(self, proxy: Proxy, number: int, sock: Any) -> Connection:
        self.protocols.append(sock.selected_alpn_protocol())
        return by_protocol(proxy, number, sock)


@pytest.mark.parametrize(
    ("kind", "name"), [*(("awaited", name) for name in FLOODS), ("blocking", "empty-data"), ("blocking", "ping")]
)
def test_a_call_ends_and_a_loop_goes_on(certificates: Certificates, kind: str, name: str) -> None:
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
        async with billcore.AsyncClient(**server.options) as client:
            await client.orders.get("o")
        watching.cancel()

    server = Flooded(certificates, name, True if WITHSTANDS else None)
    begun = time.monotonic()
    with pytest.raises((billcore.TimeoutError, billcore.ConnectionError)):
        if kind == "awaited":
            asyncio.run(awaited())
        else:
            with billcore.Client(**server.options) as client:
                client.orders.get("o")
    assert time.monotonic() - begun < LATE and longest < LATE
    server.proxy.close()
    assert (server.protocols == ["h2"]) == WITHSTANDS, f"libcurl {release()} speaks {server.protocols}"


@pytest.mark.parametrize(
    ("http2", "protocol"),
    [(True, "h2"), (False, "http/1.1"), (None, "http/1.1" if release() else "h2")],  # None: HTTP/2 only with the wheel
)
def test_the_option_http2_decides_the_protocol(certificates: Certificates, http2: bool | None, protocol: str) -> None:
    server = Flooded(certificates, "settings", http2)  # every libcurl release ends a flood of SETTINGS
    refused = pytest.raises((billcore.TimeoutError, billcore.ConnectionError))
    with billcore.Client(**server.options) as client, refused:
        client.orders.get("o")
    server.proxy.close()
    assert server.protocols == [protocol]
