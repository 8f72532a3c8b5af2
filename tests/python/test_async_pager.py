"""Runs the tests of test_pager.py with AsyncClient, and checks that AsyncPager gives the same results as Pager."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

import billcore
from conformance.server import Reply, Request, ScriptedServer

from .async_support import Gate, Run, asked, each_loop, new_client, serving
from .support import ACCOUNT, API_KEY, PRODUCT, SUBSCRIPTION, page
from .test_pager import orders, three_pages


async def ids(items: Any) -> list[Any]:
    return [item.id async for item in items]


@each_loop
def test_a_list_is_lazy_and_in_order(run: Run) -> None:
    with serving(three_pages()) as (server, client):

        async def main() -> None:
            async with client:
                pager = client.subscriptions.orders("s")
                assert (pager.total, pager.fetched_pages, pager.verdict, server.requests) == (None, 0, None, [])
                items = aiter(pager)
                assert [(await anext(items)).id for _ in range(3)] == [0, 1, 2]
                assert (pager.total, pager.fetched_pages, len(server.requests)) == (8, 1, 1)
                assert await ids(items) == [3, 4, 5, 6, 7]
                assert [r.target.split("?")[1] for r in server.requests] == ["page=1", "page=2", "page=3"]
                assert pager.fetched_pages == 3 and str(pager.verdict) == "complete"
                with pytest.raises(StopAsyncIteration):
                    await anext(items)
                assert repr(pager).startswith("<AsyncPager of orders, ")

        run(main())


@each_loop
def test_items_are_typed_and_know_their_answer(run: Run) -> None:
    reply = page([SUBSCRIPTION], 1, 1)
    reply.headers["X-Request-Id"] = "req_3"
    with serving([reply, page([PRODUCT], 1, 1)]) as (_, client):

        async def main() -> None:
            async with client:
                (item,) = [each async for each in client.subscriptions.list()]
                assert isinstance(item, billcore.Subscription) and item.to_dict() == SUBSCRIPTION
                assert item.response_info is not None and item.response_info.request_id == "req_3"
                assert isinstance(await client.products.list().first(), billcore.Product)

        run(main())


@each_loop
def test_first_costs_one_request_and_moves_nothing(run: Run) -> None:
    with serving([*three_pages(), page([], 1, 1, 0)]) as (server, client):

        async def main() -> None:
            async with client:
                pager = client.subscriptions.orders("s")
                first = await pager.first()
                assert first is not None and first.id == 0 and await pager.first() == first
                assert len(server.requests) == 1
                assert await ids(pager) == list(range(8))
                empty = client.products.list()
                assert await empty.first() is None and await ids(empty) == [] and empty.total == 0

        run(main())


@each_loop
def test_stopping_early(run: Run) -> None:
    with serving(three_pages()) as (server, client):

        async def main() -> None:
            async with client:
                pager = client.subscriptions.orders("s")
                async for order in pager:
                    if order.id == 1:
                        break
                gc.collect()
                assert pager.verdict is not None and pager.verdict.reason == "stopped" and len(server.requests) == 1
                assert await ids(pager) == list(range(2, 8)), "reading on is possible"
                assert str(pager.verdict) == "complete"

        run(main())


@each_loop
def test_pages(run: Run) -> None:
    with serving([*three_pages(), *three_pages()]) as (_, client):

        async def main() -> None:
            async with client:
                pager = client.subscriptions.orders("s")
                seen = [each async for each in pager.pages()]
                assert [(p.total, p.count, p.current_page, p.total_pages) for p in seen] == [
                    (8, 3, 1, 3),
                    (8, 3, 2, 3),
                    (8, 2, 3, 3),
                ]
                assert [order.id for p in seen for order in p.items] == list(range(8))
                assert str(pager.verdict) == "complete" and isinstance(seen[0], billcore.Page)
                pager = client.subscriptions.orders("s")
                assert (await anext(aiter(pager))).id == 0
                rest = [[order.id for order in p.items] async for p in pager.pages()]
                assert rest == [[1, 2], [3, 4, 5], [6, 7]]

        run(main())


@each_loop
def test_dropped_pages_count_as_stopped(run: Run) -> None:
    with serving(three_pages()) as (_, client):

        async def main() -> None:
            async with client:
                pager = client.subscriptions.orders("s")
                await anext(aiter(pager.pages()))
                gc.collect()
                assert str(pager.verdict) == "possibly_missed"

        run(main())


@each_loop
@pytest.mark.parametrize(("limit", "requests"), [(0, 0), (2, 1), (3, 1), (4, 2), (8, 3), (99, 3), (None, 3)])
def test_collect(run: Run, limit: int | None, requests: int) -> None:
    with serving(three_pages()) as (server, client):

        async def main() -> None:
            async with client:
                collected = await client.subscriptions.orders("s").collect(limit=limit)
                assert [order.id for order in collected] == list(range(8))[: 8 if limit is None else limit]

        run(main())
        assert len(server.requests) == requests


@pytest.mark.parametrize("limit", [-1, True, 1.5, "3"])
def test_collect_refuses_what_is_no_number(limit: Any) -> None:
    with serving() as (_, client), pytest.raises(billcore.InvalidArgumentError, match="limit"):
        client.products.list().collect(limit)  # type: ignore[unused-coroutine]


@each_loop
def test_an_error_on_page_three_loses_nothing(run: Run) -> None:
    pages = three_pages()
    with serving([*pages[:2], Reply(status=503), pages[2]]) as (_, client):

        async def main() -> None:
            async with client:
                pager = client.subscriptions.orders("s")
                items = aiter(pager)
                seen = [(await anext(items)).id for _ in range(6)]
                with pytest.raises(billcore.ServerError):
                    await anext(items)
                assert seen + await ids(items) == list(range(8))
                assert str(pager.verdict) == "complete"

        run(main())


@each_loop
def test_a_page_that_was_cancelled_is_asked_for_again(run: Run) -> None:
    pages = three_pages()
    with serving([pages[0], Reply(raw=b"", ending="hang"), pages[1], pages[2]]) as (server, client):

        async def main() -> None:
            async with client:
                pager = client.subscriptions.orders("s")
                items = aiter(pager)
                seen = [(await anext(items)).id for _ in range(3)]
                task = asyncio.ensure_future(anext(items))
                await asked(server, 2)
                task.cancel()
                await asyncio.wait([task])
                assert task.cancelled() and seen + await ids(items) == list(range(8))

        run(main())


@each_loop
def test_two_tasks_cannot_use_one_pager_at_once(run: Run) -> None:
    gate = Gate(lambda _: page(orders(0, 3), 1, 1))
    with serving(gate) as (server, client):

        async def main() -> None:
            async with client:
                pager = client.subscriptions.orders("s")
                task = asyncio.create_task(ids(pager))
                await asked(server)
                uses: list[Callable[[], Coroutine[Any, Any, Any]]] = [
                    lambda: ids(pager),
                    lambda: ids(pager.pages()),
                    pager.first,
                    pager.collect,
                ]
                for use in uses:
                    with pytest.raises(billcore.InvalidArgumentError, match="in use by another thread or task"):
                        await use()
                with pytest.raises(billcore.InvalidArgumentError, match="in use"):
                    _ = pager.verdict
                gate.open()
                assert await task == [0, 1, 2] and str(pager.verdict) == "complete"

        run(main())
        assert len(server.requests) == 1


@each_loop
def test_a_task_that_is_over_leaves_the_pager(run: Run) -> None:
    """A finished task keeps its coroutine alive, so the coroutine must release the pager when its call ends or
    fails."""
    pages = three_pages()
    with serving([Reply(status=503), *pages, Reply(raw=b"", ending="hang"), *pages]) as (server, client):

        async def main() -> None:
            async with client:
                pager = client.subscriptions.orders("s")
                failed = asyncio.create_task(pager.first())
                with pytest.raises(billcore.ServerError):
                    await failed
                first = asyncio.create_task(pager.first())
                assert (await first) is not None and pager.total == 8
                everything = asyncio.create_task(pager.collect())
                assert [order.id for order in await everything] == list(range(8))
                other = client.subscriptions.orders("s")
                cancelled = asyncio.create_task(other.collect())
                await asked(server, 5)
                cancelled.cancel()
                await asyncio.wait([cancelled])
                assert await ids(other) == list(range(8)) and None not in (failed, first, everything)

        run(main())


@each_loop
def test_what_was_not_awaited_does_not_hold_the_pager(run: Run) -> None:
    with serving(three_pages()) as (_, client):

        async def main() -> None:
            async with client:
                pager = client.subscriptions.orders("s")
                waiting = pager.collect()
                assert await ids(pager) == list(range(8))
                assert await waiting == []

        run(main())


@each_loop
def test_many_lists_at_once(run: Run) -> None:
    def script(request: Request) -> Reply:
        return three_pages()[int(request.target.rsplit("=", 1)[1]) - 1]

    with serving(script) as (server, client):

        async def main() -> None:
            async with client:
                lists = await asyncio.gather(*(client.subscriptions.orders(n).collect() for n in range(30)))
                assert all([order.id for order in each] == list(range(8)) for each in lists)

        run(main())
        assert len(server.requests) == 90


SCRIPTS: dict[str, list[Reply]] = {
    "three pages": three_pages(),
    "empty": [page([], 1, 1, 0)],
    "one page": [page(orders(0, 2), 1, 1)],
    "moves": [page(orders(0, 3), 1, 2, 5), page(orders(2, 3), 2, 2, 6)],
    "grows": [page(orders(0, 3), 1, 2, 4), page(orders(3, 3), 2, 3, 9), page(orders(6, 3), 3, 3, 9)],
    "shrinks": [page(orders(0, 3), 1, 3, 9), page(orders(3, 1), 2, 2, 4)],
    "repeats": [page(orders(0, 2), number, 9) for number in range(1, 10)],
    "wrong page": [page(orders(0, 3), 1, 3, 9), page(orders(3, 3), 3, 3, 9)],
    "empty page": [page(orders(0, 3), 1, 3, 9), page([], 2, 3, 9), page([], 3, 3, 9)],
    "an error": [page(orders(0, 3), 1, 2, 5), Reply(status=404)],
    "no list": [page(orders(0, 3), 1, 2, 5), Reply(body=b'{"data":{}}')],
    "cut off": [page(orders(0, 3), 1, 2, 5), Reply(raw=b"", ending="reset")],
}


def state(pager: Any) -> Any:
    verdict = None if pager.verdict is None else (pager.verdict.complete, pager.verdict.reason)
    return pager.total, pager.fetched_pages, verdict


@each_loop
@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("way", ["items", "pages", "first", "collect", "some"])
def test_async_pager_gives_what_pager_gives(run: Run, script: str, way: str) -> None:
    def blocking(pager: Any, read: Callable[[Any], None]) -> None:
        match way:
            case "items":
                for item in pager:
                    read(item)
            case "pages":
                for each in pager.pages():
                    read((each.total, each.current_page, each.items))
            case "first":
                read(pager.first())
            case "collect":
                read(pager.collect())
            case "some":
                read(pager.collect(4))

    async def awaited(pager: Any, read: Callable[[Any], None]) -> None:
        match way:
            case "items":
                async for item in pager:
                    read(item)
            case "pages":
                async for each in pager.pages():
                    read((each.total, each.current_page, each.items))
            case "first":
                read(await pager.first())
            case "collect":
                read(await pager.collect())
            case "some":
                read(await pager.collect(4))

    ends: list[Any] = []
    for kind in ("blocking", "awaited"):
        seen: list[Any] = []
        with ScriptedServer(SCRIPTS[script]) as server:
            if kind == "blocking":
                with billcore.Client(
                    base_url=server.url + ACCOUNT, api_key=API_KEY, max_retries=0, concurrency=1
                ) as client:
                    pager: Any = client.subscriptions.orders("s")
                    try:
                        blocking(pager, seen.append)
                    except billcore.BillcoreError as error:
                        seen.append((type(error), str(error).replace(server.host, "")))
            else:
                other = new_client(server)

                async def main(client: billcore.AsyncClient, seen: list[Any], host: str) -> Any:
                    async with client:
                        pager = client.subscriptions.orders("s")
                        try:
                            await awaited(pager, seen.append)
                        except billcore.BillcoreError as error:
                            seen.append((type(error), str(error).replace(host, "")))
                        return pager

                pager = run(main(other, seen, server.host))
            ends.append((seen, state(pager), [r.target for r in server.requests]))
    assert ends[0] == ends[1]


def test_generic_in_annotations() -> None:
    assert "Order" in str(billcore.AsyncPager[billcore.Order])
