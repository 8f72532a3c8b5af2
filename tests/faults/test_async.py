"""Tests many concurrent calls from one event loop, some of which fail or are cancelled. Each call is checked against
the ledger."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

import billcore
from support.waiting import until_awaited

from . import http2
from .certificates import Certificates
from .http2 import Codes, Http2Connection
from .proxy import GENEROUS
from .scene import AttemptsDriver, Outcome, Scene, World
from .test_answers import LOST, OK

Call = Callable[[billcore.AsyncClient, dict[str, Any]], Awaitable[object]]
CALLS: dict[str, Call] = {
    "orders.get": lambda client, args: client.orders.get(args["id"]),
    "subscriptions.charge": lambda client, args: client.subscriptions.charge(
        args["id"], product_id=args["product_id"], amount=args["amount"]
    ),
    "products.update": lambda client, args: client.products.update(args["id"], args["fields"]),
}


async def call(
    scene: Scene, client: billcore.AsyncClient, operation: str, cancel_after: float | None = None
) -> Outcome:
    rest, mark = scene.world.arguments(operation)
    begun = time.monotonic()
    task = asyncio.ensure_future(CALLS[operation](client, rest["args"]))
    if cancel_after is not None:
        asyncio.get_running_loop().call_later(cancel_after, task.cancel)
    reply: dict[str, Any]
    try:
        await task
        reply = {"ok": None}
    except billcore.BillcoreError as error:
        reply = {"error": AttemptsDriver()._error(error)}
    except asyncio.CancelledError as error:
        notes = getattr(error, "__notes__", [])
        reply = {"error": {"class": "CancelledError", "outcome_unknown": bool(notes), "message": " ".join(notes)}}
    return scene.record(Outcome(operation, mark, reply, time.monotonic() - begun, 20.0))


def http2_scene(world: World, certificates: Certificates) -> Scene:
    return Scene(world, tls=certificates.http2, kind=Http2Connection)


def test_many_streams_are_one_connection(world: World, certificates: Certificates) -> None:
    async def main(scene: Scene) -> None:
        async with billcore.AsyncClient(**scene.options(timeout=20.0, ca_bundle=str(certificates.bundle))) as client:
            outcomes = await asyncio.gather(*(call(scene, client, "orders.get") for _ in range(60)))
            assert {outcome.name for outcome in outcomes} == {OK}

    with http2_scene(world, certificates) as scene:
        asyncio.run(main(scene))
        assert scene.proxy.accepted == 1 and len(scene.proxy.seen) == 60


@pytest.mark.parametrize("most", [1, 2, 5])
def test_connections_are_bounded(world: World, certificates: Certificates, most: int) -> None:
    """A write has a connection for itself, which the next write takes over; reads share another."""

    async def main(scene: Scene) -> None:
        given = scene.options(timeout=GENEROUS, ca_bundle=str(certificates.bundle), max_connections=most, http2=True)
        async with billcore.AsyncClient(**given) as client:
            operations = ["subscriptions.charge", "orders.get"] * 20
            outcomes = await asyncio.gather(*(call(scene, client, operation) for operation in operations))
            assert {outcome.name for outcome in outcomes} == {OK}

    # With a single connection a client uses HTTP/1.
    with Scene(world, tls=certificates.both, kind=http2.by_protocol) as scene:
        asyncio.run(main(scene))
        assert 1 <= scene.proxy.accepted <= most


def test_one_broken_stream_is_one_broken_call(world: World, certificates: Certificates) -> None:
    async def main(scene: Scene) -> list[str]:
        given = scene.options(timeout=20.0, max_retries=0, ca_bundle=str(certificates.bundle))
        async with billcore.AsyncClient(**given) as client:
            await call(scene, client, "orders.get")
            scene.proxy.add(http2.passing, http2.passing, http2.broken(Codes.INTERNAL_ERROR, "effect"), http2.passing)
            outcomes = await asyncio.gather(*(call(scene, client, "orders.get") for _ in range(20)))
            return [outcome.name for outcome in outcomes]

    with http2_scene(world, certificates) as scene:
        names = asyncio.run(main(scene))
        assert sorted(names) == sorted([OK] * 19 + ["ConnectionError"]) and scene.proxy.accepted == 1


def test_a_write_has_its_connection_alone(world: World, certificates: Certificates) -> None:
    """Giving up a write resets its connection, which must not end other calls."""
    released = threading.Event()

    def silent(stream: http2.Stream) -> None:
        stream.forward()
        released.wait(GENEROUS)

    async def main(scene: Scene) -> None:
        async with billcore.AsyncClient(
            **scene.options(timeout=GENEROUS, ca_bundle=str(certificates.bundle))
        ) as client:
            assert (await call(scene, client, "orders.get")).name == OK
            scene.proxy.add(silent)
            given_up = asyncio.ensure_future(call(scene, client, "subscriptions.charge"))
            await until_awaited(lambda: scene.proxy.writes == 1)
            scene.proxy.add(silent, silent)
            operations = ["subscriptions.charge", "orders.get"]
            others = [asyncio.ensure_future(call(scene, client, operation)) for operation in operations]
            await until_awaited(lambda: len(scene.proxy.seen) == 4)
            used = [(seen.method, seen.connection) for seen in scene.proxy.seen]
            assert used.count(("GET", 1)) == 2 and len(set(used)) == 3, used
            given_up.cancel()
            released.set()
            assert (await call(scene, client, "subscriptions.charge")).name == OK
            assert not any(other.done() for other in others)
            for other in others:
                other.cancel()

    with http2_scene(world, certificates) as scene:
        asyncio.run(main(scene))


@pytest.mark.parametrize(
    "end",
    [http2.ended(effect=True, reset=True), http2.gone_away(effect=True), http2.gone_away(effect=False, last=0)],
    ids=["reset", "goaway", "goaway-not-begun"],
)
def test_a_connection_that_ends_under_many_streams(
    world: World, certificates: Certificates, end: http2.Http2Step
) -> None:
    """The connection ends after some requests were sent. No write is done twice, and every call ends."""

    async def main(scene: Scene) -> set[str]:
        async with billcore.AsyncClient(**scene.options(timeout=20.0, ca_bundle=str(certificates.bundle))) as client:
            await call(scene, client, "orders.get")
            scene.proxy.add(http2.passing, http2.passing, http2.passing, end)
            operations = ["orders.get", "subscriptions.charge", "products.update"] * 8
            outcomes = await asyncio.gather(*(call(scene, client, operation) for operation in operations))
            assert {outcome.name for outcome in outcomes if outcome.mark is None} == {OK}
            await call(scene, client, "subscriptions.charge")
            return {outcome.name for outcome in outcomes}

    with http2_scene(world, certificates) as scene:
        assert asyncio.run(main(scene)) <= {OK, LOST}


def test_a_silent_connection_is_left_to_the_streams_it_has(world: World, certificates: Certificates) -> None:
    """One call times out on a silent connection. Other calls in flight on the silent connection continue; later calls
    use another connection."""
    released = threading.Event()

    def slow(stream: http2.Stream) -> None:
        answer = stream.forward()
        assert released.wait(GENEROUS)
        stream.send_answer_head(answer)
        stream.send_body(answer.body, end=True)

    async def main(scene: Scene) -> None:
        given = scene.options(timeout=GENEROUS, max_retries=0, ca_bundle=str(certificates.bundle))
        async with billcore.AsyncClient(**given) as client:
            assert (await call(scene, client, "orders.get")).name == OK
            scene.proxy.add(slow)
            others = [asyncio.ensure_future(call(scene, client, "orders.get")) for _ in range(5)]
            await until_awaited(lambda: len(scene.proxy.seen) == 2)
            with pytest.raises(billcore.TimeoutError):
                await client.orders.get("x", timeout=0.2)
            for _ in range(10):
                assert (await call(scene, client, "orders.get")).name == OK
            assert scene.proxy.accepted == 2
            assert not any(other.done() for other in others)
            released.set()
            assert {outcome.name for outcome in await asyncio.gather(*others)} == {OK}
            many = await asyncio.gather(*(call(scene, client, "orders.get") for _ in range(20)))
            assert {outcome.name for outcome in many} == {OK} and scene.proxy.accepted == 2

    with http2_scene(world, certificates) as scene:
        asyncio.run(main(scene))


@pytest.mark.parametrize("way", ["cancelled", "late"])
def test_a_call_given_up_on_a_silent_connection_costs_the_next_nothing(
    world: World, certificates: Certificates, way: str
) -> None:
    async def main(scene: Scene) -> None:
        given = scene.options(timeout=GENEROUS, max_retries=0, ca_bundle=str(certificates.bundle))
        async with billcore.AsyncClient(**given) as client:
            assert (await call(scene, client, "orders.get")).name == OK
            for times in range(1, 4):
                scene.proxy.add(http2.silent(effect=False))
                waiting = client.orders.get("x", timeout=0.2 if way == "late" else None)
                with pytest.raises((billcore.TimeoutError, asyncio.TimeoutError)):
                    await asyncio.wait_for(waiting, GENEROUS if way == "late" else 0.2)
                assert (await call(scene, client, "subscriptions.charge")).name == OK
                assert scene.proxy.accepted == 1 + times

    with http2_scene(world, certificates) as scene:
        asyncio.run(main(scene))
