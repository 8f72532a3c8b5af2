"""Pagers: laziness, order, pages, the property `verdict`, and errors in the middle of a list."""

from __future__ import annotations

import copy
import gc
import itertools
import pickle
import threading
from typing import Any

import pytest

import billcore
from conformance.server import Reply, Request

from .conftest import Serve
from .support import ORDER, PRODUCT, SUBSCRIPTION, page


def orders(first: int, count: int) -> list[dict[str, Any]]:
    return [{**ORDER, "id": number} for number in range(first, first + count)]


def three_pages() -> list[Reply]:
    return [page(orders(0, 3), 1, 3, 8), page(orders(3, 3), 2, 3, 8), page(orders(6, 2), 3, 3, 8)]


def test_a_list_is_lazy_and_in_order(serve: Serve) -> None:
    server, client = serve(three_pages())
    pager = client.subscriptions.orders("s")
    assert (pager.total, pager.fetched_pages, pager.verdict, server.requests) == (None, 0, None, [])
    items = iter(pager)
    assert [next(items).id for _ in range(3)] == [0, 1, 2]
    assert (pager.total, pager.fetched_pages, len(server.requests)) == (8, 1, 1)
    assert [order.id for order in items] == [3, 4, 5, 6, 7]
    assert (pager.fetched_pages, [request.target.split("?")[1] for request in server.requests]) == (
        3,
        ["page=1", "page=2", "page=3"],
    )
    verdict = pager.verdict
    assert (
        verdict is not None
        and verdict.complete
        and bool(verdict)
        and verdict.reason is None
        and str(verdict) == "complete"
    )
    assert next(items, None) is None


def test_items_are_typed_and_know_their_answer(serve: Serve) -> None:
    reply = page([SUBSCRIPTION], 1, 1)
    reply.headers["X-Request-Id"] = "req_3"
    _, client = serve([reply, page([PRODUCT], 1, 1)])
    (item,) = client.subscriptions.list()
    assert isinstance(item, billcore.Subscription) and item.to_dict() == SUBSCRIPTION
    info = item.response_info
    assert info is not None
    assert (info.status, info.attempts, info.request_id, info.headers["x-request-id"]) == (200, 1, "req_3", "req_3")
    assert isinstance(client.products.list().first(), billcore.Product)


def test_first_costs_one_request_and_moves_nothing(serve: Serve) -> None:
    server, client = serve(three_pages())
    pager = client.subscriptions.orders("s")
    first = pager.first()
    assert first is not None and first.id == 0 and len(server.requests) == 1
    again = pager.first()
    assert again == first and len(server.requests) == 1
    assert [order.id for order in pager] == list(range(8))


def test_first_of_an_empty_list(serve: Serve) -> None:
    _, client = serve([page([], 1, 1, 0)])
    pager = client.products.list()
    assert pager.first() is None and list(pager) == [] and pager.total == 0
    assert str(pager.verdict) == "complete"


def test_stopping_early(serve: Serve) -> None:
    server, client = serve(three_pages())
    pager = client.subscriptions.orders("s")
    for order in pager:
        if order.id == 1:
            break
    del order
    gc.collect()
    verdict = pager.verdict
    assert verdict is not None and not verdict.complete and not verdict
    assert (str(verdict), verdict.reason, repr(verdict)) == (
        "possibly_missed",
        "stopped",
        "<Verdict possibly_missed: stopped>",
    )
    assert len(server.requests) == 1
    assert [order.id for order in pager] == list(range(2, 8)), "reading on is possible"
    assert str(pager.verdict) == "complete"


def test_pages(serve: Serve) -> None:
    _, client = serve(three_pages())
    pager = client.subscriptions.orders("s")
    seen = list(pager.pages())
    assert [(p.total, p.count, p.per_page, p.current_page, p.total_pages) for p in seen] == [
        (8, 3, 3, 1, 3),
        (8, 3, 3, 2, 3),
        (8, 2, 2, 3, 3),
    ]
    assert [order.id for p in seen for order in p.items] == list(range(8))
    assert seen[0].links.next == "http://elsewhere/?page=2" and seen[0].links.previous is None
    assert seen[2].links.next is None and seen[1].response_info.status == 200
    assert repr(seen[0]) == "<Page of orders, 3 items>" and str(pager.verdict) == "complete"


def test_pages_after_items_begin_with_the_rest(serve: Serve) -> None:
    _, client = serve(three_pages())
    pager = client.subscriptions.orders("s")
    items = iter(pager)
    assert next(items).id == 0
    assert [[order.id for order in p.items] for p in pager.pages()] == [[1, 2], [3, 4, 5], [6, 7]]


def test_dropped_pages_count_as_stopped(serve: Serve) -> None:
    _, client = serve(three_pages())
    pager = client.subscriptions.orders("s")
    next(iter(pager.pages()))
    gc.collect()
    assert str(pager.verdict) == "possibly_missed"


@pytest.mark.parametrize(("limit", "requests"), [(0, 0), (2, 1), (3, 1), (4, 2), (8, 3), (99, 3), (None, 3)])
def test_collect(serve: Serve, limit: int | None, requests: int) -> None:
    server, client = serve(three_pages())
    pager = client.subscriptions.orders("s")
    collected = pager.collect(limit)
    assert [order.id for order in collected] == list(range(8))[: 8 if limit is None else limit]
    assert len(server.requests) == requests


@pytest.mark.parametrize("limit", [-1, True, 1.5, "3"])
def test_collect_refuses_what_is_no_number(serve: Serve, limit: Any) -> None:
    _, client = serve([])
    with pytest.raises(billcore.InvalidArgumentError, match="limit"):
        client.products.list().collect(limit)


def test_an_error_on_the_way_loses_nothing(serve: Serve) -> None:
    pages = three_pages()
    _, client = serve([pages[0], Reply(status=503), pages[1], pages[2]])
    pager = client.subscriptions.orders("s")
    items = iter(pager)
    seen = [next(items).id for _ in range(3)]
    with pytest.raises(billcore.ServerError):
        next(items)
    assert seen + [order.id for order in items] == list(range(8))
    assert str(pager.verdict) == "complete"


def test_a_list_that_repeats_itself(serve: Serve) -> None:
    _, client = serve(lambda request: page(orders(0, 2), int(request.target.rsplit("=", 1)[1]), 9))
    with pytest.raises(billcore.PaginationError):
        list(client.subscriptions.orders("s"))


def test_a_list_that_moves_is_noticed(serve: Serve) -> None:
    _, client = serve([page(orders(0, 3), 1, 2, 5), page(orders(2, 3), 2, 2, 6)])
    pager = client.subscriptions.orders("s")
    assert [order.id for order in pager] == [0, 1, 2, 3, 4], "none twice"
    assert pager.verdict is not None and pager.verdict.reason in ("overlap", "total_changed")


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
    answer.set()
    thread.join()
    assert [order.id for order in collected] == [0, 1, 2] and len(server.requests) == 1


def test_items_keep_their_page_alive(serve: Serve) -> None:
    _, client = serve(three_pages())
    kept = list(itertools.islice(client.subscriptions.orders("s"), 2))
    gc.collect()
    assert [order.total for order in kept] == [1500, 1500]


def test_iterators_are_not_copied(serve: Serve) -> None:
    _, client = serve([])
    pager = client.subscriptions.orders("s")
    for iterator in (iter(pager), iter(pager.pages())):
        for copied in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(
                TypeError, match=f"a {type(iterator).__name__} cannot be pickled or copied: it belongs to"
            ):
                copied(iterator)
    assert type(iter(pager)).__module__ == "billcore"


def test_generic_in_annotations() -> None:
    assert "Order" in str(billcore.Pager[billcore.Order]) and "Order" in str(billcore.Page[billcore.Order])
