"""polars, duckdb, pyarrow and pandas read lists as Arrow columns."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pandas
import polars
import pyarrow
import pytest

import billcore
from conformance.server import Reply, ScriptedServer

from .arrow_support import INTEGERS, READERS, Row, read_duckdb, read_pyarrow
from .conftest import Serve
from .support import ACCOUNT, API_KEY, ORDER, PRODUCT, SUBSCRIPTION, page
from .test_prefetch import PER_PAGE, Book, reading

LISTS: dict[str, tuple[dict[str, Any], Callable[[billcore.Client], billcore.Pager[Any]]]] = {
    "subscriptions": (SUBSCRIPTION, lambda client: client.subscriptions.list()),
    "orders": (ORDER, lambda client: client.subscriptions.orders("s")),
    "products": (PRODUCT, lambda client: client.products.list()),
}
NESTED = {"custom_fields", "metadata", "delivery", "images", "strings", "more"}
SECRETS = {"update_card_url", "invoices_url", "cancel_url"}
TYPES = {
    "integer": pyarrow.int64(),
    "text": pyarrow.string(),
    "time": pyarrow.timestamp("us", "UTC"),
    "boolean": pyarrow.bool_(),
    "decimal": pyarrow.decimal128(38, 18),
}
BOOLEANS = {"use_cart", "stock_tracking", "out_of_stock"}


def kind(name: str, resource: str) -> str:
    if name in INTEGERS or (name == "id" and resource == "products"):
        return "integer"
    if name.endswith("_at"):
        return "time"
    return "boolean" if name in BOOLEANS else "decimal" if name == "vat_rate" else "text"


def columns_of(sample: dict[str, Any]) -> list[str]:
    """The columns that a program gets without naming any."""
    return [*(name for name in sample if name not in SECRETS), "more"]


def varied(sample: dict[str, Any]) -> list[dict[str, Any]]:
    """Items whose fields differ: null, absent, or in another order."""
    items = [{**sample, "id": 100 + number} for number in range(12)]
    items[1] = dict(reversed(items[1].items()))
    items[2] |= {name: None for name in sample if name != "id"}
    items[3] = {"id": items[3]["id"]}
    items[4] |= {"news": {"a": [1]}, "currency": "\u00e6\u20ac\U0001f600\x00"}
    items[5] |= {name: {"n": [1, 2.5, {"deep": None}], "text": 'a "} b'} for name in NESTED & set(sample)}
    return items


def expected(view: Any, sample: dict[str, Any], resource: str) -> Row:
    """The row expected for an item, made from the item's attributes."""
    row: Row = {}
    for name in columns_of(sample):
        if name == "more":
            row[name] = {key: value for key, value in view.to_dict().items() if key not in sample} or None
        elif name not in view or view[name] is None:
            row[name] = None
        elif name in NESTED:
            row[name] = view[name]
        else:
            value = getattr(view, name)
            row[name] = str(value) if name == "id" and resource != "products" else value
    return row


def parsed(rows: list[Row]) -> list[Row]:
    """The rows, with the JSON text of nested fields parsed."""
    return [
        {name: json.loads(value) if name in NESTED and value is not None else value for name, value in row.items()}
        for row in rows
    ]


def serving(serve: Serve, sample: dict[str, Any], times: int) -> billcore.Client:
    items = varied(sample)
    pages = [page(items[:5], 1, 3, 12), page(items[5:10], 2, 3, 12), page(items[10:], 3, 3, 12)]
    return serve(pages * times)[1]


@pytest.mark.parametrize("resource", LISTS)
@pytest.mark.parametrize("reader", READERS)
def test_the_values_are_those_of_the_items(serve: Serve, reader: str, resource: str) -> None:
    sample, listed = LISTS[resource]
    client = serving(serve, sample, 2)
    views = list(listed(client))
    assert len(views) == 12
    pager = listed(client)
    rows = parsed(READERS[reader](pager.to_arrow()))
    assert rows == [expected(view, sample, resource) for view in views]
    assert str(pager.verdict) == "complete" and pager.fetched_pages == 3


@pytest.mark.parametrize("resource", LISTS)
def test_the_schema_is_known_before_anything_is_read(serve: Serve, resource: str) -> None:
    sample, listed = LISTS[resource]
    server, client = serve([])
    stream = listed(client).to_arrow()
    schema = pyarrow.schema(stream)
    names = columns_of(sample)
    assert schema.names == names
    assert {field.name: field.type for field in schema} == {name: TYPES[kind(name, resource)] for name in names}
    capsule = stream.__arrow_c_stream__(requested_schema=None)
    assert "arrow_array_stream" in repr(capsule)
    assert server.requests == []


@pytest.mark.parametrize("reader", READERS)
def test_fields_choose_columns_and_their_order(serve: Serve, reader: str) -> None:
    client = serving(serve, ORDER, 1)
    rows = READERS[reader](client.subscriptions.orders("s").to_arrow(fields=("total", "id", "raw")))
    assert [list(row) for row in rows] == [["total", "id", "raw"]] * 12
    assert json.loads(rows[4]["raw"])["news"] == {"a": [1]}
    assert (rows[3]["total"], rows[3]["id"], rows[3]["raw"]) == (None, "103", '{"id":103}')


@pytest.mark.parametrize("reader", READERS)
def test_an_empty_list_has_columns(serve: Serve, reader: str) -> None:
    _, client = serve([page([], 1, 1)] * 2)
    pager = client.subscriptions.orders("s")
    assert READERS[reader](pager.to_arrow(["id", "total"])) == []
    assert str(pager.verdict) == "complete"
    assert polars.DataFrame(client.subscriptions.orders("s").to_arrow(["id", "total"])).columns == ["id", "total"]


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        (["id", "colour"], r"fields\[1\] is not a column of orders: there are id, created_at, .*, more, and raw"),
        ([], "fields is empty"),
        (["id", "total", "id"], "fields has id twice"),
        ("id", "must be a list of names, or None for all, not str"),
        (5, "must be a list of names, or None for all, not int"),
        ([b"id"], "must be a str, not bytes"),
    ],
)
@pytest.mark.parametrize("method", ["to_arrow", "to_batches"])
def test_wrong_fields_are_refused_at_once(serve: Serve, method: str, fields: Any, problem: str) -> None:
    server, client = serve([])
    pager = client.subscriptions.orders("s")
    with pytest.raises(billcore.InvalidArgumentError, match=problem) as caught:
        getattr(pager, method)(fields)
    assert "\n" not in str(caught.value) and server.requests == []


def test_batches_are_pages(serve: Serve) -> None:
    client = serving(serve, ORDER, 1)
    pager = client.subscriptions.orders("s")
    next(iter(pager))
    batches = list(pager.to_batches(["id"]))
    assert [batch.num_rows for batch in batches] == [4, 5, 2], "first the rest of the page already begun"
    assert repr(batches[0]) == "<ArrowBatch num_rows=4>"
    for _ in range(2):  # a batch can be exported again, as an array and as a stream
        assert pyarrow.record_batch(batches[0]).to_pylist()[0] == {"id": "101"}
        assert [row["id"] for row in read_duckdb(batches[2])] == ["110", "111"]
        assert polars.DataFrame(batches[1]).height == len(pandas.DataFrame.from_arrow(batches[1])) == 5
    assert pyarrow.schema(batches[0]).names == ["id"]
    kept = pyarrow.record_batch(batches[1])
    del batches, client
    gc.collect()
    assert kept.column("id").to_pylist() == [str(number) for number in range(105, 110)]


@pytest.mark.parametrize(("rows", "sizes"), [(5, [4, 5, 2]), (9, [9, 2]), (11, [11]), (10**6, [11]), (1, [4, 5, 2])])
def test_pages_are_joined_up_to_a_number_of_rows(serve: Serve, rows: int, sizes: list[int]) -> None:
    client = serving(serve, ORDER, 2)
    whole = read_pyarrow(client.subscriptions.orders("s").to_arrow())
    pager = client.subscriptions.orders("s")
    next(iter(pager))
    batches = list(pager.to_batches(rows=rows))
    assert [batch.num_rows for batch in batches] == sizes
    assert [row for batch in batches for row in read_pyarrow(batch)] == whole[1:]
    assert str(pager.verdict) == "complete"


@pytest.mark.parametrize("rows", [0, -1, "5", 2.0, True])
def test_wrong_rows_are_refused_at_once(serve: Serve, rows: Any) -> None:
    server, client = serve([])
    with pytest.raises(billcore.InvalidArgumentError, match="rows"):
        client.subscriptions.orders("s").to_batches(rows=rows)
    assert server.requests == []


def test_awaited_batches_of_joined_pages() -> None:
    book = Book(20, delay=0.01)

    async def read(url: str) -> None:
        async with billcore.AsyncClient(base_url=url, api_key=API_KEY, concurrency=4) as client:
            pager = client.subscriptions.orders("s")
            batches = [batch async for batch in pager.to_batches(["id"], rows=7 * PER_PAGE)]
            assert [batch.num_rows for batch in batches] == [7 * PER_PAGE, 7 * PER_PAGE, 6 * PER_PAGE]
            assert str(pager.verdict) == "complete"

    with ScriptedServer(book) as server:
        asyncio.run(read(server.url + ACCOUNT))


@pytest.mark.parametrize("rows", [None, 4, 8192])
def test_constants_are_the_last_columns(serve: Serve, rows: int | None) -> None:
    client = serving(serve, ORDER, 1)
    constants: dict[str, str | int] = {"subscription_id": "s\u00fc", "account": -7, "test": True, "empty": ""}
    batches = client.subscriptions.orders("s").to_batches(["id", "total"], constants=constants, rows=rows)
    table = pyarrow.Table.from_batches([pyarrow.record_batch(batch) for batch in batches])
    table.validate(full=True)
    assert table.schema.types[2:] == [pyarrow.string(), pyarrow.int64(), pyarrow.bool_(), pyarrow.string()]
    found = table.to_pylist()
    assert [row["id"] for row in found] == [str(100 + number) for number in range(12)]
    assert all({name: row[name] for name in constants} == constants for row in found)


@pytest.mark.parametrize(
    ("constants", "problem"),
    [
        ("subscription_id", "constants must be a mapping of column names to values, not str"),
        ({"total": 5}, "constants has total, which is one of the fields: rename it"),
        ({"": 5}, "constants has a name that is empty or contains NUL"),
        ({"a\0": 5}, "constants has a name that is empty or contains NUL"),
        ({5: "a"}, "a name in constants must be a str, not int"),
        ({"a": None}, "a must be a str, an int or a bool, not None"),
        ({"a": 2**63}, "a does not fit in 64 bits"),
    ],
)
def test_wrong_constants_are_refused_at_once(serve: Serve, constants: Any, problem: str) -> None:
    server, client = serve([])
    with pytest.raises(billcore.InvalidArgumentError, match=problem) as caught:
        client.subscriptions.orders("s").to_batches(["id", "total"], constants=constants)
    assert "\n" not in str(caught.value) and server.requests == []


def test_an_error_ends_a_joined_batch_and_is_raised_by_the_next_step() -> None:
    book = Book(10)
    book.instead[7] = [Reply(status=500)]
    with reading(book, concurrency=3) as (_, client):
        pager = client.subscriptions.orders("s")
        batches = pager.to_batches(["id"], rows=4 * PER_PAGE)
        assert [next(batches).num_rows, next(batches).num_rows] == [4 * PER_PAGE, 2 * PER_PAGE]
        with pytest.raises(billcore.ServerError, match="page=7"):
            next(batches)
        rest = client.subscriptions.orders("s", resume=pager.state)
        assert [batch.num_rows for batch in batches] == [4 * PER_PAGE]
        assert next(iter(rest)).id == 6 * PER_PAGE


def test_a_cancelled_step_takes_no_page() -> None:
    book = Book(10)
    book.instead[8] = [Reply(ending="hang", send_only=0)]

    async def read(url: str) -> None:
        async with billcore.AsyncClient(base_url=url, api_key=API_KEY, concurrency=2) as client:
            pager = client.subscriptions.orders("s")
            batches = pager.to_batches(["id"], rows=4 * PER_PAGE)
            assert (await anext(batches)).num_rows == 4 * PER_PAGE
            step = asyncio.ensure_future(anext(batches))
            while 8 not in book.asked:
                await asyncio.sleep(0.01)
            step.cancel()
            with pytest.raises(asyncio.CancelledError):
                await step
            assert [batch.num_rows async for batch in batches] == [4 * PER_PAGE, 2 * PER_PAGE]
            assert str(pager.verdict) == "complete"

    with ScriptedServer(book) as server:
        asyncio.run(read(server.url + ACCOUNT))


def test_awaited_batches() -> None:
    book = Book(20, delay=0.01)

    async def read(url: str) -> None:
        async with billcore.AsyncClient(base_url=url, api_key=API_KEY, concurrency=4) as client:
            pager = client.subscriptions.orders("s")
            rows = [row async for batch in pager.to_batches(["id"]) for row in pyarrow.record_batch(batch).to_pylist()]
            assert rows == [{"id": str(number)} for number in range(20 * PER_PAGE)]
            assert str(pager.verdict) == "complete"
            with pytest.raises(billcore.InvalidArgumentError):
                client.subscriptions.orders("s").to_batches(["colour"])

    with ScriptedServer(book) as server:
        asyncio.run(read(server.url + ACCOUNT))
    assert 1 < book.most_at_once <= 4


def test_the_decimal_is_exact(serve: Serve) -> None:
    _, client = serve([page([{**PRODUCT, "vat_rate": 33.333333333333336}], 1, 1)])
    assert read_pyarrow(client.products.list().to_arrow(["vat_rate"])) == [{"vat_rate": Decimal("33.333333333333336")}]
