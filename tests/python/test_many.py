"""get_many(), blocking and with asyncio: ids, pauses, cancellation, event loops, fork. Its rules: tests/conformance."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import billcore
from conformance.server import Reply, Request
from support.waiting import GENEROUS, until, until_awaited

from .async_support import WatchedServer
from .support import ACCOUNT, API_KEY, ORDER, data, number_of, page

Plain = tuple[Any, Any]  # an id, and the record's id or the class of the error


class Shop:
    """Answers GET /order/ID. Records the requests, and holds back the answers for the ids in `held`."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.held: set[str] = set()
        self._changed = threading.Condition()

    def __call__(self, request: Request) -> Reply:
        id = request.target.rpartition("/")[2]
        self.asked.append(id)
        with self._changed:
            assert self._changed.wait_for(lambda: id not in self.held, GENEROUS)
        return data({**ORDER, "id": id})

    def release(self, *ids: str) -> None:
        with self._changed:
            self.held -= {*ids}
            self._changed.notify_all()


@contextmanager
def serving(shop: Shop, **options: Any) -> Iterator[tuple[WatchedServer, dict[str, Any]]]:
    server = WatchedServer(shop)
    with server:
        yield server, {"base_url": server.url + ACCOUNT, "api_key": API_KEY, "max_retries": 0, **options}


def plain(got: billcore.Got[billcore.Order]) -> Plain:
    assert (got.value is None) != (got.error is None)
    return got.id, type(got.error) if got.value is None else got.value.id


def blocking(options: dict[str, Any], ids: Iterable[Any], **how: Any) -> Iterator[Plain]:
    with billcore.Client(**options) as client:
        for got in client.orders.get_many(ids, **how):
            yield plain(got)


def awaited(options: dict[str, Any], ids: Iterable[Any], **how: Any) -> Iterator[Plain]:
    with asyncio.Runner() as runner:
        client = billcore.AsyncClient(**options)
        results = client.orders.get_many(ids, **how)

        async def one() -> Plain | None:
            async for got in results:
                return plain(got)
            return None

        while (result := runner.run(one())) is not None:
            yield result
        runner.run(client.close())


both = pytest.mark.parametrize("read", [blocking, awaited])
Read = Callable[..., Iterator[Plain]]


@both
def test_ids_stand_as_they_were_given(read: Read) -> None:
    with serving(Shop()) as (_, options):
        assert list(read(options, ("a", 7, "b", "7"))) == [("a", "a"), (7, "7"), ("b", "b"), ("7", "7")]


@both
@pytest.mark.parametrize("ordered", [True, False])
def test_ids_are_taken_as_needed(read: Read, ordered: bool) -> None:
    shop = Shop()
    taken: list[int] = []

    def ids() -> Iterator[int]:
        for number in range(400):
            taken.append(number)
            yield number

    with serving(shop) as (_, options):
        for count, (id, record) in enumerate(read(options, ids(), concurrency=5, ordered=ordered)):
            assert str(id) == record and len(taken) - count <= 10
    assert len(shop.asked) == 400


@both
def test_the_time_out_of_each(read: Read) -> None:
    shop = Shop()
    shop.held = {"b"}
    with serving(shop) as (_, options):
        assert list(read(options, ["b"], timeout=0.2)) == [("b", billcore.TimeoutError)]
        shop.release("b")


def test_a_pause_of_the_reader_does_not_count() -> None:
    shop = Shop()
    with serving(shop) as (_, options), billcore.Client(**options) as client:
        for timeout in (1, 4, 20):  # on a busy machine the answers may take longer than the first of these
            shop.held = {"b", "c"}
            results = client.orders.get_many(["a", "b", "c"], timeout=timeout)
            found = [plain(next(results))]
            time.sleep(1.2 * timeout)
            shop.release("b", "c")
            found += [plain(got) for got in results]
            if found == [("a", "a"), ("b", "b"), ("c", "c")]:
                return
    pytest.fail(f"the calls timed out: {found}")


@both
@pytest.mark.parametrize(
    ("ids", "error"),
    [
        ("abc", "ids must be an iterable of ids, not str: for one id use get()"),
        (7, "ids must be an iterable of ids, not int"),
        ([1.5], "id must be a str or an int, not float"),
    ],
)
def test_what_is_no_id_is_refused(read: Read, ids: Any, error: str) -> None:
    with serving(Shop()) as (_, options), pytest.raises(billcore.InvalidArgumentError) as caught:
        list(read(options, ids))
    assert str(caught.value) == error


@both
def test_the_iterable_may_raise(read: Read) -> None:
    def ids() -> Iterator[str]:
        yield "a"
        raise KeyError("mine")

    with serving(Shop()) as (_, options), pytest.raises(KeyError, match="mine"):
        list(read(options, ids()))


@both
@pytest.mark.parametrize("how", [{"concurrency": 0}, {"total_timeout": 0}, {"timeout": -1}])
def test_options_that_cannot_work(read: Read, how: dict[str, Any]) -> None:
    with serving(Shop()) as (_, options), pytest.raises(billcore.InvalidArgumentError):
        list(read(options, ["a"], **how))


def test_dropped_before_the_end() -> None:
    """The calls in flight are cancelled."""
    shop = Shop()
    shop.held = {"b", "c"}
    with serving(shop) as (server, options), billcore.Client(**options) as client:
        for got in client.orders.get_many(["a", "b", "c"]):
            assert plain(got) == ("a", "a")
            until(lambda: len(shop.asked) == 3)
            break
        gc.collect()
        shop.release("b", "c")
        until(lambda: server.ended >= 2)


def test_a_cancelled_wait_loses_nothing() -> None:
    shop = Shop()
    shop.held = {"a"}

    async def main(options: dict[str, Any]) -> list[Plain]:
        async with billcore.AsyncClient(**options) as client:
            results = client.orders.get_many(["a", "b"])
            waiting = asyncio.ensure_future(anext(results))
            await until_awaited(lambda: len(shop.asked) == 2)
            with pytest.raises(billcore.InvalidArgumentError, match="in use by another"):
                await anext(results)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            shop.release("a")
            return [plain(got) async for got in results]

    with serving(shop) as (_, options):
        assert asyncio.run(main(options)) == [("a", "a"), ("b", "b")]
        assert sorted(shop.asked) == ["a", "b"]


def test_another_loop_is_refused() -> None:
    with serving(Shop()) as (_, options):
        results = billcore.AsyncClient(**options).orders.get_many(["a", "b"])

        async def one() -> Plain:
            return plain(await anext(results))

        assert asyncio.run(one()) == ("a", "a")
        with pytest.raises(billcore.InvalidArgumentError, match="began in another event loop"):
            asyncio.run(one())


def test_a_forked_child_reads_the_same_ids() -> None:
    shop = Shop()
    with serving(shop) as (_, options), billcore.Client(**options) as client:
        results = client.orders.get_many(["a", "b", "c"])
        assert plain(next(results)) == ("a", "a")
        child = os.fork()
        if child == 0:
            code = 1
            try:
                code = [plain(got) for got in results] != [("b", "b"), ("c", "c")]
            finally:
                os._exit(code)
        assert os.waitpid(child, 0)[1] == 0
        assert [plain(got) for got in results] == [("b", "b"), ("c", "c")]


def test_hooks_see_every_call() -> None:
    class Count:
        def __init__(self) -> None:
            self.seen: list[str] = []

        def on_response(self, attempt: billcore.Attempt) -> None:
            self.seen.append(attempt.route)

    with serving(Shop(), hooks=(hooks := Count())) as (_, options):
        assert len([*blocking(options, ["a", "b"])]) == 2
        assert len([*awaited(options, ["c"])]) == 1
    assert hooks.seen == ["/order/{id}"] * 3


def test_ids_of_products_are_integers() -> None:
    with serving(Shop()) as (server, options), billcore.Client(**options) as client:
        assert [got.id for got in client.products.get_many(range(3))] == [0, 1, 2]
        with pytest.raises(billcore.InvalidArgumentError):
            next(client.products.get_many(["a"]))  # type: ignore[list-item]
        assert sorted(request.target for request in server.requests) == [f"{ACCOUNT}/product/{id}" for id in range(3)]


@both
@pytest.mark.parametrize("page_hangs", [False, True])
def test_the_time_out_of_a_whole_list(read: Read, page_hangs: bool) -> None:
    """Lists and searches have total_timeout too, which ends a pause of the caller's loop and the wait for a page."""
    over = threading.Event()

    def answer(request: Request) -> Reply:
        if page_hangs and number_of(request) == 3:
            assert over.wait(GENEROUS)
        return page([{**ORDER, "id": number_of(request)}], number_of(request), 1000, 1000)

    with WatchedServer(answer) as server:
        options: dict[str, Any] = {"base_url": server.url + ACCOUNT, "api_key": API_KEY, "concurrency": 1}
        pause = 0 if page_hangs else 0.05

        def items() -> None:
            if read is blocking:
                for _ in billcore.Client(**options).subscriptions.orders("s", total_timeout=0.3):
                    time.sleep(pause)
                return

            async def main() -> None:
                async for _ in billcore.AsyncClient(**options).subscriptions.orders("s", total_timeout=0.3):
                    await asyncio.sleep(pause)

            asyncio.run(main())

        with pytest.raises(billcore.TimeoutError, match="total_timeout has passed; resume the list") as caught:
            items()
        over.set()
    assert 1 < len(server.requests) < 20 and "?page=" in str(caught.value)
