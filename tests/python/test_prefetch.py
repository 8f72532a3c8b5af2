"""Prefetched pages: how many, and how errors, pauses and time-outs affect them."""

from __future__ import annotations

import time
from typing import Any

import pytest

import billcore
from conformance.server import Reply
from support.waiting import GENEROUS, LATE, until

from .calls_support import calling, each_kind
from .list_support import PER_PAGE, Book, reading


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


@each_kind
def test_a_list_has_a_time_out_of_its_own(kind: str) -> None:
    with calling(kind, [Reply(raw=b"", ending="hang")], timeout=GENEROUS) as (_, calls):
        pager, begun = calls.client.subscriptions.orders("s", timeout=0.3), time.monotonic()
        with pytest.raises(billcore.TimeoutError):
            calls.done(pager.first())
        assert time.monotonic() - begun < LATE
