"""Lists with items that are not objects: each way to read them goes on. pager_records_test.cpp has the rules."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

import billcore
from conformance.server import Reply, Request, ScriptedServer

from .support import ACCOUNT, API_KEY, ORDER, page

both = pytest.mark.parametrize("kind", ["blocking", "awaited"])


def read(kind: str, pages: list[Reply], look: Callable[[Any, Callable[[Any], Any]], Any], **options: Any) -> Any:
    """Calls look(pager, wait) for a pager over `pages` and returns its result. wait() returns its argument; for an
    AsyncClient it awaits the argument first."""

    def script(request: Request) -> Reply:
        return pages[int(request.target.split("page=")[1]) - 1]

    with ScriptedServer(script) as server:
        settings: dict[str, Any] = {"base_url": server.url + ACCOUNT, "api_key": API_KEY, "max_retries": 0}
        if kind == "blocking":
            with billcore.Client(**settings) as client:
                return look(client.subscriptions.orders("s", **options), lambda result: result)
        with asyncio.Runner() as runner:

            async def wait(result: Any) -> Any:
                return await result

            own = billcore.AsyncClient(**settings)
            try:
                return look(own.subscriptions.orders("s", **options), lambda result: runner.run(wait(result)))
            finally:
                runner.run(own.close())


def steps(iterator: Any, done: Callable[[Any], Any], show: Callable[[Any], Any]) -> list[Any]:
    step = iterator.__next__ if hasattr(iterator, "__next__") else iterator.__anext__
    out: list[Any] = []
    while True:
        try:
            out.append(show(done(step())))
        except billcore.DecodeError as error:
            out.append(str(error))
        except (StopIteration, StopAsyncIteration):
            return out


def start(pager: Any) -> Any:
    return iter(pager) if hasattr(pager, "__iter__") else aiter(pager)


ODD = [page([ORDER, 7], 1, 2, 4), page([{**ORDER, "id": "b"}, None], 2, 2, 4)]
PATH = "GET /subscription/s/orders?page="
SEVEN = PATH + "1: data[1] is an integer, not an object"
NULL = PATH + "2: data[1] is null, not an object"


@both
def test_an_item_that_is_no_object_is_an_error_in_its_place(kind: str) -> None:
    def look(pager: Any, done: Callable[[Any], Any]) -> list[Any]:
        return [steps(start(pager), done, lambda order: order.id), pager.verdict.reason]

    assert read(kind, ODD, look) == [[ORDER["id"], SEVEN, "b", NULL], "undecodable_item"]


@both
def test_a_page_omits_an_item_that_is_no_object(kind: str) -> None:
    def look(pager: Any, done: Callable[[Any], Any]) -> list[Any]:
        return [steps(pager.pages(), done, lambda each: [order.id for order in each.items]), pager.verdict.reason]

    assert read(kind, ODD, look) == [[SEVEN, [ORDER["id"]], NULL, ["b"]], "undecodable_item"]


@both
@pytest.mark.parametrize("rows", [None, 1, 10])
def test_columns_omit_an_item_that_is_no_object(kind: str, rows: int | None) -> None:
    def look(pager: Any, done: Callable[[Any], Any]) -> list[Any]:
        return [steps(pager.to_batches(rows=rows), done, lambda batch: batch.num_rows), pager.verdict.reason]

    assert read(kind, ODD, look) == [[SEVEN, 1, NULL, 1], "undecodable_item"]
