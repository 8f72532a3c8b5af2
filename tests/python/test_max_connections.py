"""max_connections: calls share the connections, and wait for one within their time-out."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

import billcore
from conformance.server import Reply, Request
from support.waiting import GENEROUS, until, until_awaited

from .async_support import WatchedServer
from .support import ACCOUNT, API_KEY, ORDER, SUBSCRIPTION, data, number_of, page


class Service:
    """Holds back the answers for the id `held` until release() is called."""

    def __init__(self) -> None:
        self.released = threading.Event()

    def __call__(self, request: Request) -> Reply:
        if "/orders" in request.target:
            return page([{**ORDER, "id": number_of(request)}], number_of(request), 12, 12)
        if request.target.endswith("/held"):
            assert self.released.wait(GENEROUS)
        return data(ORDER if "/order" in request.target else SUBSCRIPTION)


@contextmanager
def serving(most: int, **options: Any) -> Iterator[tuple[WatchedServer, Service, dict[str, Any]]]:
    service = Service()
    server = WatchedServer(service)
    with server:
        try:
            yield (
                server,
                service,
                {"base_url": server.url + ACCOUNT, "api_key": API_KEY, "max_connections": most, **options},
            )
        finally:
            service.released.set()


def test_threads_share_the_connections() -> None:
    with (
        serving(2) as (server, service, options),
        billcore.Client(**options) as client,
        ThreadPoolExecutor(8) as threads,
    ):
        calls = [threads.submit(client.orders.get, "held") for _ in range(8)]
        until(lambda: len(server.requests) == 2)
        service.released.set()
        assert [call.result(GENEROUS).id for call in calls] == ["ord_1"] * 8
        assert server.connections == 2


def test_tasks_share_the_connections() -> None:
    async def main(options: dict[str, Any]) -> None:
        async with billcore.AsyncClient(**options) as client:
            await asyncio.gather(*(client.orders.get(str(number)) for number in range(20)))

    with serving(3) as (server, _, options):
        asyncio.run(main(options))
        assert server.connections == 3


def test_all_of_many_connections_are_kept() -> None:
    async def main(server: WatchedServer, service: Service, options: dict[str, Any]) -> None:
        async with billcore.AsyncClient(**options) as client:
            calls = [asyncio.ensure_future(client.orders.get("held")) for _ in range(120)]
            await until_awaited(lambda: len(server.requests) == 120)
            service.released.set()
            await asyncio.gather(*calls)
            await asyncio.gather(*(client.orders.get(str(number)) for number in range(120)))

    with serving(120) as (server, service, options):
        asyncio.run(main(server, service, options))
        assert server.connections == 120


def test_a_write_that_waits_in_vain_was_not_sent() -> None:
    with (
        serving(1) as (server, service, options),
        billcore.Client(**options) as client,
        ThreadPoolExecutor(1) as thread,
    ):
        get = thread.submit(client.orders.get, "held")
        until(lambda: server.requests)
        with pytest.raises(billcore.TimeoutError, match="nothing was sent within the time-out") as caught:
            client.subscriptions.charge("s", product_id=1, amount=5, timeout=0.1)
        assert "(no connection was free in time)" in str(caught.value) and not caught.value.outcome_unknown
        assert len(server.requests) == 1
        service.released.set()
        assert get.result(GENEROUS).id == "ord_1"
        assert client.subscriptions.charge("s", product_id=1, amount=5).id == "ord_1"


@pytest.mark.parametrize("most", [1, 2, 3])
def test_calls_while_lists_are_read(most: int) -> None:
    """No call waits for a connection that a list of the same thread keeps."""
    with serving(most, timeout=GENEROUS) as (server, _, options), billcore.Client(**options) as client:
        lists = [client.subscriptions.orders("s") for _ in range(3)]
        many = client.orders.get_many(range(12))
        for first, second, third, got in zip(*lists, many, strict=True):
            assert first.id == second.id == third.id == got.id + 1
            assert client.orders.get("x").id == "ord_1"
        assert all(each.verdict for each in lists)
    until(lambda: server.ended == server.connections)


def test_one_connection_carries_all_of_get_many() -> None:
    with serving(1) as (server, _, options), billcore.Client(**options) as client:
        assert [got.id for got in client.orders.get_many(range(50))] == list(range(50))
        assert server.connections == 1


def test_a_signal_ends_the_wait_for_calls_whose_connection_another_thread_needs() -> None:
    """When no connection is left, next() waits for all of its calls, so that a paused reader keeps none."""

    class Stop(Exception):
        pass

    def stop(*_: object) -> None:
        raise Stop

    with (
        serving(3) as (server, service, options),
        billcore.Client(**options) as client,
        ThreadPoolExecutor(1) as thread,
    ):
        others = []

        def ids() -> Iterator[str]:
            yield "a"  # takes two of the connections
            others.append(thread.submit(client.orders.get, "held"))  # takes the last one
            until(lambda: server.requests)
            yield from ("held", "b")

        results = client.orders.get_many(ids())
        before = signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, 0.3, 0.3)  # the first one may come before the wait
        try:
            with pytest.raises(Stop):
                next(results)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        assert not others[0].done()
        service.released.set()
        assert [got.id for got in results] == ["a", "held", "b"]


def test_none_at_all_is_refused() -> None:
    with pytest.raises(billcore.ConfigError, match="max_connections must be at least 1"):
        billcore.Client(base_url="http://127.0.0.1:1/a", api_key=API_KEY, max_connections=0)
