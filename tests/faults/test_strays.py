"""What a server sends that nobody asked for: it must never be taken for the answer of the next call.

Bytes that arrive on an idle HTTP/1 connection, or behind the end of an answer, make that connection unfit for another
request. The next call goes out over a new one, and is answered by what the sandbox did.
"""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import Callable
from typing import Any

import pytest

import billcore

from . import steps
from .certificates import Certificates
from .proxy import GENEROUS, Answer, Exchange, Step, passing
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
    """Answers honestly; once the client has its answer, sends something more. close: and then ends the connection."""

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
        """The client's call has returned. Its kernel has the bytes when this returns: both ends are on loopback."""
        self._go.set()
        assert self._sent.wait(GENEROUS)


def in_two(head: bytes, rest: bytes) -> Step:
    """`head` and `rest` in segments, and records, of their own: libcurl reads no more of the second than it expects."""

    def step(exchange: Exchange) -> None:
        exchange.send(head)
        exchange.stopped.wait(0.03)
        exchange.send(rest)

    return step


def chunked(body: bytes) -> bytes:
    return b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)


def behind(kind: str, stray: bytes) -> Step:
    """`stray` right behind an answer. kind: how that answer says where it ends, and how its bytes travel."""

    def step(exchange: Exchange) -> None:
        found: Answer = exchange.forward()
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
def test_on_an_idle_connection(
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
            assert scene.proxy.accepted == before + 1, "sent over a connection with a stranger's bytes in it"


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("name", STRAYS)
def test_on_an_idle_connection_of_an_event_loop(
    world: World, certificates: Certificates, name: str, transport: str
) -> None:
    async def main(scene: Scene, stray: Stray) -> None:
        given = scene.options(max_retries=0, **options(certificates, transport))
        async with billcore.AsyncClient(**given) as client:
            assert (await call(scene, client, "orders.get")).name == OK
            stray.send()
            outcome = await call(scene, client, "subscriptions.charge")
            assert outcome.name == OK, outcome
            assert scene.proxy.accepted == 2

    stray = Stray(STRAYS[name], close=name == "408")
    with Scene(world, tls=TRANSPORTS[transport](certificates), script=[stray]) as scene:
        asyncio.run(main(scene, stray))


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("name", ["order", "402", "half-a-status-line", "one-byte"])
@pytest.mark.parametrize(
    "kind", ["length", "length-apart", "length-split", "chunked", "chunked-apart", "chunked-split"]
)
def test_behind_an_answer(
    world: World, language: str, certificates: Certificates, kind: str, name: str, transport: str
) -> None:
    """The answer is kept, its connection is not."""
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
def test_behind_an_answer_without_a_body(
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
    """Also where TLS 1.3 sends its session tickets after the handshake."""
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
    """Such as a refusal of a body that is still being sent."""

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
