"""polars, duckdb, pyarrow and pandas, which reads with pyarrow, read lists as Arrow columns."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import Callable
from typing import Any

import pandas
import polars
import pyarrow
import pytest

import billcore
from conformance.server import Reply
from support.waiting import until_awaited

from .arrow_support import READERS, Row, read_duckdb, read_pyarrow
from .calls_support import calling, each_kind
from .conftest import Serve
from .list_support import PER_PAGE, Book
from .support import ORDER, PRODUCT, SUBSCRIPTION, page

LISTS: dict[str, tuple[dict[str, Any], Callable[[billcore.Client], billcore.Pager[Any]]]] = {
    "subscriptions": (SUBSCRIPTION, lambda client: client.subscriptions.list()),
    "orders": (ORDER, lambda client: client.subscriptions.orders("s")),
    "products": (PRODUCT, lambda client: client.products.list()),
}
NESTED = {"custom_fields", "metadata", "delivery", "images", "strings", "more"}
SECRETS = {"update_card_url", "invoices_url", "cancel_url"}


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


def pages_of(sample: dict[str, Any]) -> list[Reply]:
    items = varied(sample)
    return [page(items[:5], 1, 3, 12), page(items[5:10], 2, 3, 12), page(items[10:], 3, 3, 12)]


def serving(serve: Serve, sample: dict[str, Any], times: int) -> billcore.Client:
    return serve(pages_of(sample) * times)[1]


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
    assert pyarrow.schema(stream).names == columns_of(sample)
    capsule = stream.__arrow_c_stream__(requested_schema=None)
    assert "arrow_array_stream" in repr(capsule)
    assert server.requests == []


def test_fields_choose_columns_and_their_order(serve: Serve) -> None:
    client = serving(serve, ORDER, 1)
    rows = read_pyarrow(client.subscriptions.orders("s").to_arrow(fields=("total", "id", "raw")))
    assert [list(row) for row in rows] == [["total", "id", "raw"]] * 12
    assert json.loads(rows[4]["raw"])["news"] == {"a": [1]}
    assert (rows[3]["total"], rows[3]["id"], rows[3]["raw"]) == (None, "103", '{"id":103}')


@pytest.mark.parametrize("reader", READERS)
def test_an_empty_list_is_no_row(serve: Serve, reader: str) -> None:
    _, client = serve([page([], 1, 1)])
    pager = client.subscriptions.orders("s")
    assert READERS[reader](pager.to_arrow(["id", "total"])) == []
    assert str(pager.verdict) == "complete"


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


@each_kind
@pytest.mark.parametrize(("rows", "sizes"), [(5, [4, 5, 2]), (9, [9, 2]), (10**6, [11]), (None, [4, 5, 2])])
def test_pages_are_joined_up_to_a_number_of_rows(kind: str, rows: int | None, sizes: list[int]) -> None:
    with calling(kind, pages_of(ORDER)) as (_, calls):
        pager = calls.client.subscriptions.orders("s")
        calls.step(calls.start(pager))
        batches = calls.all(pager.to_batches(["id"], rows=rows))
        assert [batch.num_rows for batch in batches] == sizes
        whole = [row["id"] for batch in batches for row in read_pyarrow(batch)]
        assert whole == [str(number) for number in range(101, 112)] and str(pager.verdict) == "complete"


@pytest.mark.parametrize("rows", [None, 8192])
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


@each_kind
def test_an_error_ends_a_joined_batch_and_is_raised_by_the_next_step(kind: str) -> None:
    book = Book(10)
    book.instead[7] = [Reply(status=500)]
    with calling(kind, book, concurrency=3) as (_, calls):
        pager = calls.client.subscriptions.orders("s")
        batches = calls.start(pager.to_batches(["id"], rows=4 * PER_PAGE))
        assert [calls.step(batches).num_rows, calls.step(batches).num_rows] == [4 * PER_PAGE, 2 * PER_PAGE]
        with pytest.raises(billcore.ServerError, match="page=7"):
            calls.step(batches)
        rest = calls.client.subscriptions.orders("s", resume=pager.state)
        assert [batch.num_rows for batch in calls.all(batches)] == [4 * PER_PAGE]
        assert calls.done(rest.first()).id == 6 * PER_PAGE


def test_a_cancelled_step_takes_no_page() -> None:
    book = Book(10)
    book.instead[8] = [Reply(ending="hang", send_only=0)]
    with calling("asyncio", book, concurrency=2) as (_, calls):
        pager = calls.client.subscriptions.orders("s")
        batches = pager.to_batches(["id"], rows=4 * PER_PAGE)

        async def read() -> None:
            assert (await anext(batches)).num_rows == 4 * PER_PAGE
            step = asyncio.ensure_future(anext(batches))
            await until_awaited(lambda: 8 in book.asked)
            step.cancel()
            with pytest.raises(asyncio.CancelledError):
                await step

        calls.done(read())
        assert [batch.num_rows for batch in calls.all(batches)] == [4 * PER_PAGE, 2 * PER_PAGE]
        assert str(pager.verdict) == "complete"


WRONG: list[tuple[dict[str, Any], str]] = [
    (
        {"fields": ["id", "colour"]},
        r"fields\[1\] is not a column of orders: there are id, created_at, .*, more, and raw",
    ),
    ({"fields": "id"}, "must be a list of names, or None for all, not str"),
    ({"fields": 5}, "must be a list of names, or None for all, not int"),
    ({"fields": [b"id"]}, "must be a str, not bytes"),
    *(({"rows": rows}, "rows") for rows in (0, -1, "5", 2.0, True)),
    ({"constants": "subscription_id"}, "constants must be a mapping of column names to values, not str"),
    ({"constants": {"total": 5}}, "constants has total, which is one of the fields: rename it"),
    ({"constants": {"": 5}}, "constants has a name that is empty or contains NUL"),
    ({"constants": {"a\0": 5}}, "constants has a name that is empty or contains NUL"),
    ({"constants": {5: "a"}}, "a name in constants must be a str, not int"),
    ({"constants": {"a": None}}, "a must be a str, an int or a bool, not None"),
    ({"constants": {"a": 2**63}}, "a does not fit in 64 bits"),
]


@pytest.mark.parametrize(("wrong", "problem"), WRONG)
def test_wrong_columns_are_refused_at_once(serve: Serve, wrong: dict[str, Any], problem: str) -> None:
    server, client = serve([])
    pager = client.subscriptions.orders("s")
    with pytest.raises(billcore.InvalidArgumentError, match=problem) as caught:
        pager.to_batches(**{"fields": ["id", "total"], **wrong})
    if "fields" in wrong:
        with pytest.raises(billcore.InvalidArgumentError, match=problem):
            pager.to_arrow(**wrong)
    assert "\n" not in str(caught.value) and server.requests == []
