"""Pagers, blocking and awaited: what the binding adds to the lists of the core, whose rules the C++ tests and
tests/conformance judge."""

from __future__ import annotations

import asyncio
import gc
import io
import itertools
import threading
from collections.abc import Callable
from typing import Any

import pyarrow
import pytest
from rich.console import Console

import billcore
from conformance.server import Reply, Request, json_reply

from .async_support import Gate, Run, asked, each_loop, serving, silent
from .calls_support import Calls, calling, each_kind
from .conftest import Serve
from .list_support import orders, three_pages
from .support import ORDER, PRODUCT, SUBSCRIPTION, number_of, page


@each_kind
def test_a_list_is_lazy_and_in_order(kind: str) -> None:
    with calling(kind, three_pages()) as (server, calls):
        pager = calls.client.subscriptions.orders("s")
        assert (pager.total, pager.fetched_pages, pager.verdict, server.requests) == (None, 0, None, [])
        items = calls.start(pager)
        assert [calls.step(items).id for _ in range(3)] == [0, 1, 2]
        assert (pager.total, pager.fetched_pages, len(server.requests)) == (8, 1, 1)
        assert [order.id for order in calls.all(items)] == [3, 4, 5, 6, 7]
        assert (pager.fetched_pages, len(server.requests)) == (3, 3)
        verdict = pager.verdict
        assert verdict.complete and bool(verdict) and verdict.reason is None and str(verdict) == "complete"
        assert calls.all(items) == []


@each_kind
def test_items_are_typed_and_know_their_answer(kind: str) -> None:
    reply = page([SUBSCRIPTION], 1, 1)
    reply.headers["X-Request-Id"] = "req_3"
    with calling(kind, [reply, page([PRODUCT], 1, 1)]) as (_, calls):
        (item,) = calls.all(calls.client.subscriptions.list())
        assert isinstance(item, billcore.Subscription) and item.to_dict() == SUBSCRIPTION
        info = item.response_info
        assert info is not None
        assert (info.status, info.attempts, info.request_id, info.headers["x-request-id"]) == (200, 1, "req_3", "req_3")
        assert isinstance(calls.done(calls.client.products.list().first()), billcore.Product)


@each_kind
def test_first_costs_one_request_and_moves_nothing(kind: str) -> None:
    with calling(kind, [*three_pages(), page([], 1, 1, 0)]) as (server, calls):
        pager = calls.client.subscriptions.orders("s")
        first = calls.done(pager.first())
        assert first.id == 0 and calls.done(pager.first()) == first and len(server.requests) == 1
        assert calls.ids(pager) == list(range(8))
        empty = calls.client.products.list()
        assert calls.done(empty.first()) is None and calls.all(empty) == [] and empty.total == 0


@each_kind
@pytest.mark.parametrize("way", [lambda pager: pager, lambda pager: pager.pages(), lambda pager: pager.to_batches()])
def test_an_iteration_that_is_dropped_counts_as_stopped(kind: str, way: Callable[[Any], Any]) -> None:
    with calling(kind, three_pages()) as (server, calls):
        pager = calls.client.subscriptions.orders("s")
        assert calls.step(calls.start(way(pager)))
        gc.collect()
        verdict = pager.verdict
        assert not verdict.complete and not verdict and len(server.requests) == 1
        assert (str(verdict), verdict.reason) == ("possibly_missed", "stopped")
        assert repr(verdict) == "<Verdict possibly_missed: stopped>"
        assert calls.ids(pager)[-5:] == list(range(3, 8)), "reading on is possible"
        assert str(pager.verdict) == "complete"


@each_kind
def test_pages(kind: str) -> None:
    with calling(kind, three_pages() * 2) as (_, calls):
        pager = calls.client.subscriptions.orders("s")
        seen = calls.all(pager.pages())
        assert [(p.total, p.count, p.per_page, p.current_page, p.total_pages) for p in seen] == [
            (8, 3, 3, 1, 3),
            (8, 3, 3, 2, 3),
            (8, 2, 2, 3, 3),
        ]
        assert [order.id for p in seen for order in p.items] == list(range(8))
        assert seen[0].links.next == "http://elsewhere/?page=2" and seen[0].links.previous is None
        assert seen[2].links.next is None and seen[1].response_info.status == 200
        assert str(pager.verdict) == "complete" and isinstance(seen[0], billcore.Page)
        pager = calls.client.subscriptions.orders("s")
        assert calls.step(calls.start(pager)).id == 0
        assert [[order.id for order in p.items] for p in calls.all(pager.pages())] == [[1, 2], [3, 4, 5], [6, 7]]


def test_numbers_of_a_page_that_only_the_caller_reads(serve: Serve) -> None:
    least = {"current_page": 1, "total_pages": 1}
    wrong: dict[str, Any] = least | {"total": None, "count": "1", "per_page": 1.5, "links": []}
    _, client = serve([json_reply({"data": [], "pagination": numbers}) for numbers in (least, wrong)])
    absent, odd = (next(client.products.list().pages()) for _ in range(2))
    for name in ("total", "count", "per_page", "links"):
        assert not hasattr(absent, name)
        for made, kind in ((absent, billcore.MissingFieldError), (odd, billcore.DecodeError)):
            with pytest.raises(billcore.DecodeError) as caught:
                getattr(made, name)
            assert type(caught.value) is kind and caught.value.path == f"pagination.{name}"


@each_kind
@pytest.mark.parametrize(("limit", "requests"), [(0, 0), (2, 1), (3, 1), (4, 2), (99, 3), (None, 3)])
def test_collect(kind: str, limit: int | None, requests: int) -> None:
    with calling(kind, three_pages()) as (server, calls):
        pager = calls.client.subscriptions.orders("s")
        collected = calls.done(pager.collect(limit))
        assert [order.id for order in collected] == list(range(8))[: 8 if limit is None else limit]
        assert len(server.requests) == requests
        assert pager.verdict.reason == (None if requests == 3 else "stopped")


@pytest.mark.parametrize("limit", [-1, True, 1.5, "3"])
def test_collect_refuses_what_is_no_number(serve: Serve, limit: Any) -> None:
    _, client = serve([])
    with pytest.raises(billcore.InvalidArgumentError, match="limit"):
        client.products.list().collect(limit)


@each_kind
@pytest.mark.parametrize("bad", [Reply(status=503), Reply(raw=b"", ending="reset")])
def test_an_error_on_the_way_loses_nothing(kind: str, bad: Reply) -> None:
    pages = three_pages()
    with calling(kind, [pages[0], bad, bad, *pages[1:]]) as (_, calls):
        pager = calls.client.subscriptions.list(reference_id="ref-4711")
        seen: list[Any] = []
        with pytest.raises((billcore.ServerError, billcore.ConnectionError)) as caught:
            calls.all(pager, seen)
        assert str(caught.value).startswith("GET /subscriptions?page=2: ")
        assert "4711" not in repr(caught.value) + repr(vars(caught.value)) + pager.state
        with pytest.raises(type(caught.value)):
            calls.done(pager.collect())
        assert len(seen) == 3 and calls.ids(pager) == list(range(3, 8))
        assert str(pager.verdict) == "complete"


# Items that are not objects: each way to read them raises an error in their place, and goes on.

PATH = "GET /subscription/s/orders?page="
SEVEN = PATH + "1: data[1] is an integer, not an object"
NULL = PATH + "2: data[1] is null, not an object"
ODD_WAYS: list[tuple[Callable[[Any], Any], Callable[[Any], Any], list[Any]]] = [
    (lambda pager: pager, lambda order: order.id, ["ord_1", SEVEN, "b", NULL]),
    (lambda pager: pager.pages(), lambda each: [order.id for order in each.items], [SEVEN, ["ord_1"], NULL, ["b"]]),
    (lambda pager: pager.to_batches(), lambda batch: batch.num_rows, [SEVEN, 1, NULL, 1]),
    (lambda pager: pager.to_batches(rows=10), lambda batch: batch.num_rows, [SEVEN, 1, NULL, 1]),
]


@each_kind
@pytest.mark.parametrize(("way", "show", "expected"), ODD_WAYS)
def test_an_item_that_is_no_object(
    kind: str, way: Callable[[Any], Any], show: Callable[[Any], Any], expected: list[Any]
) -> None:
    with calling(kind, [page([ORDER, 7], 1, 2, 4), page([{**ORDER, "id": "b"}, None], 2, 2, 4)]) as (_, calls):
        pager = calls.client.subscriptions.orders("s")
        items = calls.start(way(pager))
        seen: list[Any] = []
        while len(seen) < len(expected):
            try:
                seen.append(show(calls.step(items)))
            except billcore.DecodeError as error:
                seen.append(str(error))
        assert seen == expected and calls.all(items) == [] and pager.verdict.reason == "undecodable_item"


# One reader at a time, once.

AGAIN = r"^this list of orders was read to its end: list again to read it once more$"
READINGS: dict[str, Callable[[Calls, Any], object]] = {
    "items": lambda calls, pager: calls.all(pager),
    "pages": lambda calls, pager: calls.all(pager.pages()),
    "collect": lambda calls, pager: calls.done(pager.collect()),
    "batches": lambda calls, pager: calls.all(pager.to_batches()),
    "stream": lambda _, pager: pyarrow.table(pager),
}


@each_kind
@pytest.mark.parametrize("way", READINGS)
def test_a_second_reading_is_refused(kind: str, way: str) -> None:
    if way == "stream" and kind != "blocking":
        pytest.skip("an AsyncPager is not a stream")
    with calling(kind, three_pages()) as (server, calls):
        pager = calls.client.subscriptions.orders("s")
        READINGS[way](calls, pager)
        for second in READINGS:
            if kind == "blocking" or second != "stream":
                with pytest.raises(billcore.InvalidArgumentError, match=AGAIN):
                    READINGS[second](calls, pager)
        assert calls.done(pager.collect(limit=4)) == [] and calls.done(pager.first()).id == 0
        assert len(server.requests) == 3 and str(pager.verdict) == "complete"


def test_two_threads_cannot_use_one_pager_at_once(serve: Serve) -> None:
    asked, answer = threading.Event(), threading.Event()

    def script(_: Request) -> Reply:
        asked.set()
        assert answer.wait(30)
        return page(orders(0, 3), 1, 1)

    server, client = serve(script)
    pager = client.subscriptions.orders("s")
    collected: list[billcore.Order] = []
    thread = threading.Thread(target=lambda: collected.extend(pager))
    thread.start()
    assert asked.wait(30)
    for call in (lambda: next(iter(pager)), lambda: pager.verdict, pager.first, pager.collect):
        with pytest.raises(billcore.InvalidArgumentError, match="in use by another thread"):
            call()
    assert repr(pager) == "<Pager of orders, being read>"
    answer.set()
    thread.join()
    assert [order.id for order in collected] == [0, 1, 2] and len(server.requests) == 1


async def ids(items: Any) -> list[Any]:
    return [item.id async for item in items]


@each_loop
def test_two_tasks_cannot_use_one_pager_at_once(run: Run) -> None:
    gate = Gate(lambda _: page(orders(0, 3), 1, 1))
    with serving(gate) as (server, client):

        async def main() -> None:
            async with client:
                pager = client.subscriptions.orders("s")
                task = asyncio.create_task(ids(pager))
                await asked(server)
                for use in (lambda: ids(pager), lambda: ids(pager.pages()), pager.first, pager.collect):
                    with pytest.raises(billcore.InvalidArgumentError, match="in use by another thread or task"):
                        await use()
                with pytest.raises(billcore.InvalidArgumentError, match="in use"):
                    _ = pager.verdict
                gate.open()
                assert await task == [0, 1, 2] and str(pager.verdict) == "complete"

        run(main())
        assert len(server.requests) == 1


# Awaited calls: cancelled, closed, over, never awaited.


@each_loop
def test_a_page_that_was_cancelled_is_asked_for_again(run: Run) -> None:
    hangs = {2, 3}

    def script(request: Request) -> Reply:
        number = number_of(request)
        if number in hangs:
            hangs.remove(number)
            return silent(request)
        return three_pages()[number - 1]

    with serving(script) as (server, client):

        async def main() -> None:
            async with client:
                pager = client.subscriptions.orders("s")
                items = aiter(pager)
                seen = [(await anext(items)).id for _ in range(3)]
                for call, count in ((lambda: anext(items), 2), (pager.collect, 4)):
                    before = pager.state
                    task = asyncio.ensure_future(call())
                    await asked(server, count)
                    task.cancel()
                    await asyncio.wait([task])
                    assert task.cancelled() and pager.state == before
                assert seen + await ids(items) == list(range(8))

        run(main())


@each_loop
def test_a_coroutine_that_is_closed_leaves_the_list_as_it_was(run: Run) -> None:
    pages = three_pages()
    with serving([pages[0], Reply(raw=b"", ending="hang"), *pages]) as (server, client):

        async def main() -> None:
            async with client:
                pager = client.subscriptions.orders("s")
                call: Any = pager.collect()
                await asyncio.wait([call.send(None)])
                call.send(None)
                await asked(server, 2)
                call.close()
                assert [order.id for order in await pager.collect()] == list(range(8))

        run(main())


@each_loop
def test_a_task_that_is_over_leaves_the_pager(run: Run) -> None:
    """A finished task keeps its coroutine alive, so the coroutine must release the pager when its call ends or
    fails. A call that was never awaited does not hold the pager."""
    pages = three_pages()
    with serving([Reply(status=503), *pages, Reply(raw=b"", ending="hang"), *pages]) as (server, client):

        async def main() -> None:
            async with client:
                pager = client.subscriptions.orders("s")
                failed = asyncio.create_task(pager.first())
                with pytest.raises(billcore.ServerError):
                    await failed
                waiting = pager.collect()
                first = asyncio.create_task(pager.first())
                assert (await first) is not None and pager.total == 8
                everything = asyncio.create_task(pager.collect())
                assert [order.id for order in await everything] == list(range(8)) and await waiting == []
                other = client.subscriptions.orders("s")
                cancelled = asyncio.create_task(other.collect())
                await asked(server, 5)
                cancelled.cancel()
                await asyncio.wait([cancelled])
                assert await ids(other) == list(range(8)) and None not in (failed, first, everything)

        run(main())


# Lifetime, and what people try with a pager.


def test_items_keep_their_page_alive(serve: Serve) -> None:
    _, client = serve(three_pages())
    kept = list(itertools.islice(client.subscriptions.orders("s"), 2))
    gc.collect()
    assert [order.total for order in kept] == [1500, 1500]


def test_a_pager_is_no_list(serve: Serve) -> None:
    server, client = serve([])
    pager: Any = client.subscriptions.orders("s")
    with pytest.raises(TypeError, match=r"no len\(\).*\.total.*\.first\(\).*\.collect\(\)"):
        len(pager)
    with pytest.raises(TypeError, match=r"no index.*\.first\(\).*\.collect\(\)"):
        pager[0]
    assert bool(pager) and server.requests == []


@each_kind
def test_progress(kind: str) -> None:
    out = io.StringIO()
    with calling(kind, three_pages()) as (_, calls):
        console = Console(file=out, width=80, force_terminal=True)
        read = billcore.progress(calls.client.subscriptions.orders("s"), "Orders", console=console)
        if kind == "blocking":
            assert len(list(read)) == 8
        else:
            assert calls.done(ids(read)) == list(range(8))
    assert "Orders" in out.getvalue() and "100%" in out.getvalue()
