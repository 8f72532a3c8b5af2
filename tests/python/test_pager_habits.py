"""What people try with a pager: a second loop, len(), an index, a data frame, a progress bar."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable
from typing import Any

import duckdb
import pandas
import polars
import pyarrow
import pytest
from rich.console import Console
from tqdm import tqdm

import billcore
from conformance.server import Reply, ScriptedServer

from .conftest import Serve
from .support import ACCOUNT, API_KEY, ORDER, page
from .test_pager import three_pages

AGAIN = r"^this list of orders was read to its end: list again to read it once more$"
Pager = billcore.Pager[billcore.Order]
SECOND: dict[str, Callable[[Pager], object]] = {
    "for": iter,
    "pages": lambda pager: pager.pages(),
    "collect": lambda pager: pager.collect(),
    "to_batches": lambda pager: pager.to_batches(),
    "to_arrow": lambda pager: pager.to_arrow(),
    "stream": lambda pager: pyarrow.table(pager),
}
FIRST: dict[str, Callable[[Pager], object]] = {
    "for": list,
    "pages": lambda pager: list(pager.pages()),
    "collect": lambda pager: pager.collect(),
    "to_batches": lambda pager: list(pager.to_batches()),
    "stream": lambda pager: pyarrow.table(pager),
}


@pytest.mark.parametrize("second", SECOND)
@pytest.mark.parametrize("first", FIRST)
def test_a_second_reading_is_refused(serve: Serve, first: str, second: str) -> None:
    server, client = serve(three_pages())
    pager = client.subscriptions.orders("s")
    FIRST[first](pager)
    with pytest.raises(billcore.InvalidArgumentError, match=AGAIN):
        SECOND[second](pager)
    assert len(server.requests) == 3 and str(pager.verdict) == "complete"


def test_an_empty_list_cannot_be_iterated_twice(serve: Serve) -> None:
    _, client = serve([page([], 1, 1)])
    pager = client.subscriptions.orders("s")
    assert pager.first() is None and list(pager) == [] and pager.first() is None
    with pytest.raises(billcore.InvalidArgumentError, match=AGAIN):
        list(pager)


def test_pieces_end_with_an_empty_one(serve: Serve) -> None:
    _, client = serve(three_pages())
    pager = client.subscriptions.orders("s")
    assert [len(pager.collect(limit=4)) for _ in range(4)] == [4, 4, 0, 0]


def test_a_second_reading_after_an_error_goes_on(serve: Serve) -> None:
    replies = three_pages()
    replies.insert(2, Reply(status=404))
    _, client = serve(replies)
    pager = client.subscriptions.orders("s")
    with pytest.raises(billcore.NotFoundError):
        list(pager)
    assert len(list(pager)) == 2


def test_an_awaited_second_reading_is_refused() -> None:
    async def main(url: str) -> None:
        async with billcore.AsyncClient(base_url=url + ACCOUNT, api_key=API_KEY, concurrency=1) as client:
            pager = client.subscriptions.orders("s")
            assert len([order async for order in pager]) == 8
            for again in (lambda: aiter(pager), lambda: pager.pages(), lambda: pager.to_batches()):
                with pytest.raises(billcore.InvalidArgumentError, match=AGAIN):
                    again()

    with ScriptedServer(three_pages()) as server:
        asyncio.run(main(server.url))


def test_a_pager_is_no_list(serve: Serve) -> None:
    server, client = serve([])
    pager: Any = client.subscriptions.orders("s")
    with pytest.raises(TypeError, match=r"no len\(\).*\.total.*\.first\(\).*\.collect\(\)"):
        len(pager)
    with pytest.raises(TypeError, match=r"no index.*\.first\(\).*\.collect\(\)"):
        pager[0]
    assert bool(pager) and server.requests == []


def from_duckdb(pager: Pager) -> int:
    found = duckdb.sql("select id from pager")
    assert found is not None
    return len(found.fetchall())


READERS: dict[str, Callable[[Pager], int]] = {
    "polars": lambda pager: polars.DataFrame(pager).height,
    "pyarrow": lambda pager: pyarrow.table(pager).num_rows,
    "pandas": lambda pager: len(pandas.DataFrame.from_arrow(pager)),
    "duckdb": from_duckdb,
}


@pytest.mark.parametrize("reader", READERS)
def test_a_pager_is_a_stream_of_columns(serve: Serve, reader: str) -> None:
    _, client = serve(three_pages())
    assert READERS[reader](client.subscriptions.orders("s")) == 8


def test_progress(serve: Serve) -> None:
    _, client = serve([page([ORDER] * 3, 1, 1)])
    out = io.StringIO()
    read = billcore.progress(
        client.subscriptions.orders("s"), "Orders", console=Console(file=out, width=80, force_terminal=True)
    )
    assert len(list(read)) == 1  # one item: the three orders have the same id
    assert "Orders" in out.getvalue()


def test_progress_works_with_async_pagers() -> None:
    out = io.StringIO()

    async def main(url: str) -> int:
        async with billcore.AsyncClient(base_url=url + ACCOUNT, api_key=API_KEY, concurrency=1) as client:
            console = Console(file=out, width=80, force_terminal=True)
            return len([order async for order in billcore.progress(client.subscriptions.orders("s"), console=console)])

    with ScriptedServer(three_pages()) as server:
        assert asyncio.run(main(server.url)) == 8
    assert "100%" in out.getvalue()


def test_tqdm(serve: Serve) -> None:
    server, client = serve(three_pages())
    pager = client.subscriptions.orders("s")
    assert pager.first() is not None
    out = io.StringIO()
    assert len(list(tqdm(pager, total=pager.total, file=out))) == 8
    assert "8/8" in out.getvalue() and len(server.requests) == 3
