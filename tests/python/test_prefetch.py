"""Prefetched pages: how many, when, and how errors, pauses and time-outs affect them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import billcore
from conformance.server import Reply, Request, ScriptedServer
from support.waiting import GENEROUS, LATE, until

from .support import ACCOUNT, API_KEY, ORDER, number_of, page

PER_PAGE = 3


class Book:
    """A list of `pages` pages that records the requests, delays answers, and replaces pages with those in
    `instead`."""

    def __init__(self, pages: int, *, delay: float = 0.0) -> None:
        self.pages = pages
        self.delay = delay
        self.asked: list[int] = []
        self.at_once = 0
        self.most_at_once = 0
        self.instead: dict[int, list[Reply]] = {}
        self.go_on = threading.Event()  # no answer is sent while this event is clear
        self.go_on.set()
        self._lock = threading.Lock()

    def __call__(self, request: Request) -> Reply:
        number = number_of(request)
        with self._lock:
            self.asked.append(number)
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
            instead = self.instead.get(number)
            reply = instead.pop(0) if instead else None
        assert self.go_on.wait(GENEROUS)
        time.sleep(self.delay)
        with self._lock:
            self.at_once -= 1
        orders = [{**ORDER, "id": (number - 1) * PER_PAGE + which} for which in range(PER_PAGE)]
        return reply or page(orders, number, self.pages, self.pages * PER_PAGE)


@contextmanager
def reading(book: Callable[[Request], Reply], **options: Any) -> Iterator[tuple[ScriptedServer, billcore.Client]]:
    settings: dict[str, Any] = {"api_key": API_KEY, "max_retries": 0, "timeout": 30, **options}
    with ScriptedServer(book) as server, billcore.Client(base_url=server.url + ACCOUNT, **settings) as client:
        yield server, client


def ids(pager: billcore.Pager[billcore.Order]) -> list[Any]:
    return [order.id for order in pager]


@pytest.mark.parametrize("concurrency", [1, 2, 5, 64])
def test_pages_come_in_order_within_the_concurrency(concurrency: int) -> None:
    book = Book(20, delay=0.01)
    with reading(book, concurrency=concurrency) as (_, client):
        pager = client.subscriptions.orders("s")
        assert ids(pager) == list(range(20 * PER_PAGE))
    assert sorted(book.asked) == list(range(1, 21)), "each once"
    assert (book.most_at_once > 1) == (concurrency > 1) and book.most_at_once <= concurrency
    assert str(pager.verdict) == "complete" and pager.fetched_pages == 20


def test_the_first_item_costs_one_request() -> None:
    book = Book(20)
    with reading(book, concurrency=8) as (server, client):
        pager = client.subscriptions.orders("s")
        pager.first()
        items = iter(pager)
        next(items)
        time.sleep(0.1)
        assert book.asked == [1]
        next(items)
        until(lambda: server.connections == 8)
        next(items)  # each next() of the consumer drives the prefetch
        until(lambda: len(book.asked) >= 9)
        assert sorted(book.asked) == list(range(1, 10)), "the second item requests eight more pages"


def test_stopping_early_ends_what_is_on_its_way() -> None:
    book = Book(50, delay=0.2)
    with reading(book, concurrency=4) as (_, client):
        for order in client.subscriptions.orders("s"):
            if order.id == 1:
                break
        begun = time.monotonic()
        assert client.subscriptions.orders("s").first() is not None
        assert time.monotonic() - begun < LATE
        assert len(book.asked) <= 1 + 4 + 1


def test_an_error_on_a_page_comes_behind_the_items_before_it() -> None:
    book = Book(12)
    book.instead[7] = [Reply(status=500, body=b"null")] * 2
    with reading(book, concurrency=4) as (_, client):
        pager = client.subscriptions.orders("s")
        seen: list[Any] = []
        with pytest.raises(billcore.ServerError):
            for order in pager:
                seen.append(order.id)
        assert seen == list(range(6 * PER_PAGE))
        with pytest.raises(billcore.ServerError):
            next(iter(pager))
        assert seen + ids(pager) == list(range(12 * PER_PAGE))


def test_prefetched_pages_that_failed_are_fetched_again() -> None:
    book = Book(6)
    for number in (3, 4):
        book.instead[number] = [Reply(raw=b"", ending="reset")]
    with reading(book, concurrency=3) as (_, client):
        items = iter(client.subscriptions.orders("s"))
        seen = [next(items).id, next(items).id]
        time.sleep(0.8)  # the consumer is busy with something else
        assert seen + [order.id for order in items] == list(range(6 * PER_PAGE))


def test_a_pause_is_no_time_out() -> None:
    book = Book(5, delay=0.05)
    with reading(book, concurrency=3, timeout=0.4) as (_, client):
        items = iter(client.subscriptions.orders("s"))
        seen: list[Any] = []

        def read() -> bool:
            begun = time.monotonic()
            try:
                seen.append(next(items).id)
            except billcore.TimeoutError:  # on a busy machine a page may be late, but only after its whole time
                assert time.monotonic() - begun >= 0.39, "the pause counted"
            else:
                if seen[-1] in (1, 7):
                    time.sleep(0.7)
            return len(seen) >= 5 * PER_PAGE

        until(read)
        assert seen == list(range(5 * PER_PAGE))


def test_the_time_out_of_a_page_that_is_waited_for() -> None:
    book = Book(5)
    with reading(book, concurrency=3) as (_, client):
        pager = client.subscriptions.orders("s", timeout=0.3)
        seen: list[Any] = []
        book.instead[2] = [Reply(raw=b"", ending="hang")] * 1000

        def read() -> bool:
            begun = time.monotonic()
            with pytest.raises(billcore.TimeoutError):
                seen.extend(order.id for order in pager)
            assert 0.29 <= time.monotonic() - begun < LATE
            return len(seen) >= PER_PAGE

        until(read)  # on a busy machine, page 1 may be late too
        assert seen == list(range(PER_PAGE))


def test_too_many_requests_make_it_slower_and_lose_nothing() -> None:
    book = Book(30)
    for number in (4, 5, 6, 9):
        book.instead[number] = [Reply(status=429, headers={"Retry-After": "0"}, body=b"null")]
    with reading(book, concurrency=6, max_retries=2) as (_, client):
        assert ids(client.subscriptions.orders("s")) == list(range(30 * PER_PAGE))


def test_the_state_goes_on_in_another_client() -> None:
    book = Book(10)
    with reading(book, concurrency=4) as (_, client):
        seen: list[Any] = []
        resume: str | None = None
        while len(seen) < 10 * PER_PAGE:
            pager = client.with_options().subscriptions.orders("s", resume=resume)
            for order in pager:
                seen.append(order.id)
                if len(seen) % 7 == 0:
                    break
            resume = pager.state
            assert len(resume) < 700  # a pager's state has the ids of at most 18 pages
        assert seen == list(range(10 * PER_PAGE)) and resume is not None
        assert ids(client.subscriptions.orders("s", resume=resume)) == []
        for wrong in ("", "x", resume[:-3], resume + "AAAA", "p1.AAAA"):
            with pytest.raises(billcore.InvalidArgumentError, match="resume"):
                client.subscriptions.orders("s", resume=wrong)
        for other in (client.subscriptions.orders, lambda _, resume: client.products.list(resume=resume)):
            with pytest.raises(billcore.InvalidArgumentError, match="another list"):
                other("t", resume=resume)


def test_strict_reads_twice() -> None:
    book = Book(4)
    with reading(book, concurrency=4) as (_, client):
        pager = client.subscriptions.orders("s", strict=True)
        assert ids(pager) == list(range(4 * PER_PAGE))
        assert sorted(book.asked) == [1, 1, 2, 2, 3, 3, 4, 4] and book.asked[-4:] == [1, 2, 3, 4]
        assert str(pager.verdict) == "complete"


@pytest.mark.parametrize("wrong", [0, -1, True, 1.5, "8"])
def test_a_concurrency_that_is_no_positive_integer_is_refused(wrong: Any) -> None:
    with pytest.raises((billcore.ConfigError, billcore.InvalidArgumentError), match="concurrency"):
        billcore.Client(base_url="https://service.example/x", api_key="k", concurrency=wrong)
