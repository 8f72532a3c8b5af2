"""Prefetched pages: how many, and how errors, pauses and time-outs affect them."""

from __future__ import annotations

import time
from typing import Any

import pytest

import billcore
from conformance.server import Reply
from support.waiting import LATE, until

from .calls_support import calling, each_kind
from .list_support import PER_PAGE, Book, reading


def ids(pager: billcore.Pager[billcore.Order]) -> list[Any]:
    return [order.id for order in pager]


@each_kind
@pytest.mark.parametrize("concurrency", [1, 5])
def test_pages_come_in_order_within_the_concurrency(kind: str, concurrency: int) -> None:
    book = Book(20, delay=0.01)
    with calling(kind, book, concurrency=concurrency) as (_, calls):
        pager = calls.client.subscriptions.orders("s")
        assert calls.ids(pager) == list(range(20 * PER_PAGE))
    assert sorted(book.asked) == list(range(1, 21)), "each once"
    assert (book.most_at_once > 1) == (concurrency > 1) and book.most_at_once <= concurrency


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
