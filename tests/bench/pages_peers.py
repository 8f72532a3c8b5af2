"""Python clients that read three fields of each order of a list. Only the benchmark's environment has these libraries.

Clients without a pager get the number of pages from page 1 and request the other pages by number.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

from .rows import API_KEY, HEADERS, Row, Server

FIELDS = ["id", "total_with_vat", "state"]

Read = Callable[[int], int]  # reads the list with this number of pages; returns the sum over the fields
Make = Callable[[Server, int], Row]


class Lists:
    def __init__(self, read: Read) -> None:
        self.run = read

    def show(self) -> str:
        return str(self.run(1))


def _sum(orders: Any) -> int:
    return sum(len(order["id"]) + order["total_with_vat"] + len(order["state"]) for order in orders)


def _options(server: Server, at_once: int) -> dict[str, Any]:
    return {"base_url": server.base_url, "api_key": API_KEY, "concurrency": at_once}


def _ours(take: Callable[[Any], int], server: Server, at_once: int) -> Read:
    client = import_module("billcore").Client(**_options(server, at_once))
    return lambda pages: take(client.subscriptions.orders(f"sub_{pages}"))


def _take_fields(pager: Any) -> int:
    total = 0
    for order in pager:
        total += len(order.id) + order.total_with_vat + len(order.state)
    return total


def _of_table(table: Any) -> int:
    compute = import_module("pyarrow.compute")
    total: int = compute.sum(table["total_with_vat"]).as_py()
    for name in ("id", "state"):
        total += compute.sum(compute.utf8_length(table[name])).as_py()
    return total


def _take_arrow(pager: Any) -> int:
    return _of_table(import_module("pyarrow").table(pager.to_arrow(fields=FIELDS)))


def _take_batches(pager: Any) -> int:
    record_batch = import_module("pyarrow").record_batch
    return sum(_of_table(record_batch(batch)) for batch in pager.to_batches(fields=FIELDS, rows=8192))


def _billcore(take: Callable[[Any], int]) -> Make:
    import_module("billcore").Client  # noqa: B018  # loads billcore's REST client before the measurement
    return lambda server, at_once: Lists(_ours(take, server, at_once))


def _columns(take: Callable[[Any], int]) -> Make:
    import_module("pyarrow.compute")
    return _billcore(take)


def _billcore_async() -> Make:
    async_client = import_module("billcore").AsyncClient

    def make(server: Server, at_once: int) -> Row:
        runner = asyncio.Runner()

        async def begin() -> Any:
            return await async_client(**_options(server, at_once)).__aenter__()

        client = runner.run(begin())

        async def read(pages: int) -> int:
            total = 0
            async for order in client.subscriptions.orders(f"sub_{pages}"):
                total += len(order.id) + order.total_with_vat + len(order.state)
            return total

        return Lists(lambda pages: runner.run(read(pages)))

    return make


def _url(server: Server, pages: int, page: int) -> str:
    return f"{server.base_url}/subscription/sub_{pages}/orders?page={page}"


def _aiohttp() -> Make:
    package, loads = import_module("aiohttp"), import_module("orjson").loads

    def make(server: Server, at_once: int) -> Row:
        runner = asyncio.Runner()

        async def begin() -> Any:
            return package.ClientSession(headers=HEADERS)

        session = runner.run(begin())

        async def get(pages: int, page: int) -> Any:
            async with session.get(_url(server, pages, page)) as response:
                return loads(await response.read())

        async def read(pages: int) -> int:
            first = await get(pages, 1)
            numbers = iter(range(2, first["pagination"]["total_pages"] + 1))

            async def some() -> int:
                total = 0
                for page in numbers:
                    total += _sum((await get(pages, page))["data"])
                return total

            return _sum(first["data"]) + sum(await asyncio.gather(*(some() for _ in range(at_once))))

        return Lists(lambda pages: runner.run(read(pages)))

    return make


PEERS: dict[str, Callable[[], Make]] = {
    "billcore": partial(_billcore, _take_fields),
    "billcore_async": _billcore_async,
    "arrow": partial(_columns, _take_arrow),
    "batches": partial(_columns, _take_batches),
    "aiohttp": _aiohttp,
}
