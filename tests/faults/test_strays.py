"""Tests that the client never takes unsolicited bytes from a server for the answer to the next call.

Bytes that arrive on an idle HTTP/1 connection, or after the end of an answer, make that connection unusable for another
request. The next call uses a new connection and gets the sandbox's real answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import select
import socket
import ssl
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

import billcore

from . import steps
from .certificates import Certificates
from .proxy import GENEROUS, Exchange, RawAnswer, Step, passing, serve_each
from .scene import Scene, World
from .test_answers import OK
from .test_async import call

FOREIGN = b'{"data":{"id":"somebody-elses","total":1,"total_with_vat":1,"currency":"EUR","state":"paid"}}'
REFUSED = b'{"error":{"code":"no","message":"refused"}}'


def answer(status: str, body: bytes, *headers: str) -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", ""]).encode() + body


STRAYS = {
    "order": answer("200 OK", FOREIGN),
    "order-and-close": answer("200 OK", FOREIGN, "Connection: close"),
    "402": answer("402 Payment Required", REFUSED),
    "404": answer("404 Not Found", REFUSED),
    "408": answer("408 Request Timeout", b"", "Connection: close"),
    "interim": b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n",
    "half-a-status-line": b"HTTP/1.1 40",
    "one-byte": b"H",
    "line-end": b"\r\n",
}
TRANSPORTS: dict[str, Callable[[Certificates], ssl.SSLContext | None]] = {
    "plain": lambda made: None,
    "tls12": lambda made: made.tls12,
    "tls13": lambda made: made.tls13,
}


class Stray:
    """Sends the sandbox's answer and, after the client has it, stray bytes. close: then closes the connection."""

    def __init__(self, data: bytes, *, close: bool = False) -> None:
        self._data = data
        self._close = close
        self._go = threading.Event()
        self._sent = threading.Event()

    def __call__(self, exchange: Exchange) -> None:
        exchange.send(exchange.forward().raw)
        assert self._go.wait(GENEROUS)
        exchange.send(self._data)
        if self._close:
            exchange.close()
        self._sent.set()

    def send(self) -> None:
        """Sends the stray bytes; must be called after the client's API call has returned. When send() returns, the
        client's kernel has the bytes, because both ends are on loopback.
        """
        self._go.set()
        assert self._sent.wait(GENEROUS)


def in_two(head: bytes, rest: bytes) -> Step:
    """Sends `head` and `rest` in separate segments and TLS records. libcurl reads only the part of `rest` that it
    expects."""

    def step(exchange: Exchange) -> None:
        exchange.send(head)
        exchange.stopped.wait(0.03)
        exchange.send(rest)

    return step


def chunked(body: bytes) -> bytes:
    return b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)


def behind(kind: str, stray: bytes) -> Step:
    """Sends `stray` right after an answer. kind: how the answer marks its end, and how its bytes are split."""

    def step(exchange: Exchange) -> None:
        found: RawAnswer = exchange.forward()
        as_chunks = found.with_headers(Content_Length=None, Transfer_Encoding="chunked")
        pieces = {
            "length": (found.raw + stray, b""),
            "length-apart": (found.head, found.body + stray),
            "length-split": (found.raw[:-4], found.raw[-4:] + stray),
            "chunked": (as_chunks + chunked(found.body) + stray, b""),
            "chunked-apart": (as_chunks, chunked(found.body) + stray),
            "chunked-split": (as_chunks + chunked(found.body)[:-2], b"\r\n" + stray),
        }
        in_two(*pieces[kind])(exchange)

    return step


def scene_of(world: World, certificates: Certificates, transport: str, language: str = "python") -> Scene:
    return Scene(world, language, tls=TRANSPORTS[transport](certificates))


def options(certificates: Certificates, transport: str) -> dict[str, Any]:
    return {} if transport == "plain" else {"ca_bundle": str(certificates.bundle)}


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("name", STRAYS)
def test_stray_bytes_on_an_idle_connection_end_it(
    world: World, language: str, certificates: Certificates, name: str, transport: str
) -> None:
    given = options(certificates, transport)
    with scene_of(world, certificates, transport, language) as scene:
        for operation in ("subscriptions.charge", "products.delete", "orders.get"):
            stray = Stray(STRAYS[name], close=name in ("408", "order-and-close"))
            scene.proxy.add(stray)
            assert scene.call("orders.get", max_retries=0, **given).name == OK
            before = scene.proxy.accepted
            stray.send()
            outcome = scene.call(operation, max_retries=0, **given)
            assert outcome.name == OK, outcome
            assert scene.proxy.accepted == before + 1, "sent over a connection with stray bytes"


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("name", ["order", "one-byte"])
@pytest.mark.parametrize(
    "kind", ["length", "length-apart", "length-split", "chunked", "chunked-apart", "chunked-split"]
)
def test_stray_bytes_behind_an_answer_end_its_connection(
    world: World, language: str, certificates: Certificates, kind: str, name: str, transport: str
) -> None:
    """The client accepts the answer and does not reuse its connection."""
    given = options(certificates, transport)
    with scene_of(world, certificates, transport, language) as scene:
        for first, second in (("orders.get", "subscriptions.charge"), ("subscriptions.charge", "orders.get")):
            scene.proxy.add(behind(kind, STRAYS[name]))
            before = scene.proxy.accepted
            assert scene.call(first, max_retries=0, **given).name == OK
            outcome = scene.call(second, max_retries=0, **given)
            assert outcome.name == OK, outcome
            assert scene.proxy.accepted >= before + 1


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("status", ["200 OK", "204 No Content"])
def test_stray_bytes_behind_an_answer_without_a_body_end_its_connection(
    world: World, language: str, certificates: Certificates, status: str, transport: str
) -> None:
    def step(exchange: Exchange) -> None:
        exchange.forward()
        exchange.send(answer(status, b"") + STRAYS["404"])

    given = options(certificates, transport)
    with scene_of(world, certificates, transport, language) as scene:
        scene.proxy.add(step)
        assert scene.call("products.delete", max_retries=0, **given).name == OK
        outcome = scene.call("subscriptions.charge", max_retries=0, **given)
        assert outcome.name == OK, outcome
        assert scene.proxy.accepted == 2


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("kind", ["length", "chunked"])
def test_an_honest_connection_is_kept(
    world: World, language: str, certificates: Certificates, kind: str, transport: str
) -> None:
    """The session tickets that TLS 1.3 sends after the handshake do not count as stray bytes."""
    given = options(certificates, transport)
    step = steps.chunked(b"0\r\nX-Sum: 1\r\n\r\n", close=False) if kind == "chunked" else None
    with scene_of(world, certificates, transport, language) as scene:
        for operation in ["orders.get", "subscriptions.charge", "products.update", "orders.get"] * 3:
            if step is not None:
                scene.proxy.add(step)
            assert scene.call(operation, max_retries=0, **given).name == OK
        assert scene.proxy.accepted == 1


def test_an_honest_connection_is_kept_after_empty_answers(world: World, language: str) -> None:
    def empty(exchange: Exchange) -> None:
        exchange.forward()
        exchange.send(answer("204 No Content", b""))

    with Scene(world, language) as scene:
        for _ in range(5):
            scene.proxy.add(empty)
            assert scene.call("products.delete", max_retries=0).name == OK
            assert scene.call("orders.get", max_retries=0).name == OK
        assert scene.proxy.accepted == 1


def test_an_answer_before_the_request_has_left_is_its_answer(world: World) -> None:
    """The server may answer before it has the whole request, for example to refuse the body."""

    def early(exchange: Exchange) -> None:
        exchange.take(200)
        exchange.send(answer("422 Unprocessable Content", REFUSED))
        exchange.read()

    with Scene(world, script=[passing, early]) as scene, billcore.Client(**scene.options(max_retries=0)) as client:
        assert scene.run("orders.get", 10.0, lambda args: client.orders.get(args["id"])).name == OK
        long = {"description": "x" * 4_000_000}
        outcome = scene.run(
            "products.update", 10.0, lambda args: client.products.update(args["id"], args["fields"] | long)
        )
        assert outcome.name == "ValidationError", outcome


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("name", ["order", "402", "one-byte"])
def test_a_call_that_waits_for_a_connection(
    world: World, certificates: Certificates, name: str, transport: str
) -> None:
    """All 100 connections of a loop are in use, and a charge waits for a free connection. The first connection that
    becomes idle has stray bytes, so the charge must use a new connection.
    """
    full, charged = threading.Event(), threading.Event()
    arrived: list[None] = []

    def held(exchange: Exchange) -> None:
        found = exchange.forward()
        first = not arrived
        arrived.append(None)
        if len(arrived) == 100:
            full.set()
        if not first:
            assert charged.wait(GENEROUS)
            return exchange.send(found.raw)
        assert full.wait(GENEROUS)
        exchange.stopped.wait(0.1)  # gives the client time to queue its 101st call
        in_two(found.head, found.body + STRAYS[name])(exchange)

    async def main(scene: Scene) -> None:
        given = scene.options(max_retries=0, timeout=GENEROUS, http2=False, **options(certificates, transport))
        async with billcore.AsyncClient(**given) as client:
            gets = [asyncio.create_task(call(scene, client, "orders.get")) for _ in range(100)]
            await asyncio.to_thread(full.wait, GENEROUS)
            outcome = await call(scene, client, "subscriptions.charge")
            charged.set()
            assert outcome.name == OK, outcome
            assert [each.name for each in await asyncio.gather(*gets)] == [OK] * 100
            assert scene.proxy.accepted == 101

    with Scene(world, tls=TRANSPORTS[transport](certificates), script=[held] * 100) as scene:
        asyncio.run(main(scene))


class TlsProxy:
    """An https proxy. If data arrives from the service in several records at once, the proxy forwards it in one
    record of its own TLS."""

    def __init__(self, outer: ssl.SSLContext, port: int) -> None:
        self._outer = outer
        self._upstream = port
        self._listener = socket.create_server(("localhost", 0))
        self.url = f"https://localhost:{self._listener.getsockname()[1]}"
        threading.Thread(target=serve_each, args=(self._listener, self._serve), daemon=True).start()

    def __enter__(self) -> TlsProxy:
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()

    def _serve(self, sock: socket.socket) -> None:
        with contextlib.suppress(OSError), self._outer.wrap_socket(sock, server_side=True) as client:
            asked = b""
            while b"\r\n\r\n" not in asked:
                asked += client.recv(65536)
            with socket.create_connection(("localhost", self._upstream)) as service:
                client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                while ready := select.select([client, service], [], [])[0]:
                    if service in ready:
                        time.sleep(0.01)  # gives both TLS records of the answer time to arrive
                    for one, other in ((client, service), (service, client)):
                        if one in ready or (one is client and client.pending()):
                            data = one.recv(65536)
                            if not data:
                                return
                            other.sendall(data)


@pytest.mark.parametrize("outer", ["tls12", "tls13"])
@pytest.mark.parametrize("inner", ["tls12", "tls13"])
@pytest.mark.parametrize("name", ["order", "402"])
def test_a_connection_in_the_tls_of_a_proxy_is_used_once(
    world: World, certificates: Certificates, name: str, inner: str, outer: str
) -> None:
    """With TLS to the service inside TLS to a proxy, billcore cannot detect stray bytes, so it uses each connection for
    one request only."""
    with (
        scene_of(world, certificates, inner) as scene,
        TlsProxy(getattr(certificates, outer), scene.proxy.port) as proxy,
    ):
        given = {**options(certificates, inner), "proxy": proxy.url, "max_retries": 0}
        for operation in ("subscriptions.charge", "orders.get"):
            scene.proxy.add(behind("length", STRAYS[name]))
            assert scene.call("orders.get", **given).name == OK
            outcome = scene.call(operation, **given)
            assert outcome.name == OK, outcome
        assert scene.proxy.accepted == 4
