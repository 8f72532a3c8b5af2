"""The data source on an engine: rows, verdicts, columns, and what it refuses."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter

import pyarrow as pa
import pytest
from pyspark import cloudpickle
from pyspark.errors import PySparkException

from billcore import Client
from billcore.spark import Billcore
from billcore.testing import Sandbox

from . import engines
from .conftest import Load, all_orders, stored


def test_the_rows_are_those_of_the_store(load: Load, client: Client, sandbox: Sandbox) -> None:
    orders = [tuple(row) for row in load("orders", "id string, subscription_id string, total bigint").collect()]
    assert len(orders) == stored(sandbox, "orders") and set(orders) == all_orders(client)
    subscriptions = [row.id for row in load("subscriptions").collect()]
    assert len(subscriptions) == stored(sandbox, "subscriptions")
    assert set(subscriptions) == {each.id for each in client.subscriptions.list()}
    products = [(row.id, row.vat_rate) for row in load("products").collect()]
    assert len(products) == stored(sandbox, "products")
    assert set(products) == {(each.id, each.vat_rate) for each in client.products.list()}


def test_order_reads_has_a_verdict_for_each_list(load: Load, sandbox: Sandbox) -> None:
    reads = load("order_reads").collect()
    lists = [row for row in reads if row.id]
    assert len(lists) == len({row.id for row in lists}) == stored(sandbox, "subscriptions")
    assert sum(row.total for row in lists) == stored(sandbox, "orders")
    assert [(row.total, row.verdict) for row in reads if not row.id] == [(len(lists), "complete")]
    assert Counter(row.verdict for row in reads) == {"complete": len(lists) + 1}


def test_orders_that_change_during_the_reading(load: Load, client: Client, sandbox: Sandbox) -> None:
    """A list whose verdict is complete has all orders that were there all the time; the others are reported."""
    many = client.subscriptions.list(reference_id="demo-many-orders").first()
    assert many is not None
    before = all_orders(client)
    faults = [
        sandbox.control.fault("rows", path=f"/subscription/{many.id}/orders", insert=3, delete=150, nth=3, times=3),
        sandbox.control.fault("rows", operation="subscriptions.orders", insert=2, times=200),
    ]
    rows = load("orders_and_reads", partitions=3).collect()
    assert [each["fired"] for each in sandbox.control.faults() if each["id"] in faults] == [3, 200]
    for fault in faults:
        sandbox.control.delete_fault(fault)
    orders = [(row.id, row.subscription_id, row.total) for row in rows if row.read_verdict is None]
    verdicts = {row.subscription_id: row.read_verdict for row in rows if row.read_verdict is not None}
    assert len(set(orders)) == len(orders)
    assert len(verdicts) == stored(sandbox, "subscriptions") + 1
    doubtful = {id for id, verdict in verdicts.items() if verdict != "complete"}
    missing = {id for _, id, _ in (before & all_orders(client)) - set(orders)}
    assert missing <= doubtful == {many.id}
    assert {row.subscription_id for row in rows if row.read_reason} == doubtful


def test_a_service_that_refuses_later_pages(load: Load, sandbox: Sandbox) -> None:
    """A resource without verdicts cannot say that rows are missing, so the action fails."""
    fault = sandbox.control.fault("status", operation="subscriptions.list", query={"page": "2"}, status=404, times=100)
    rows = load("orders_and_reads", "id string, subscription_id string, read_verdict string, read_reason string")
    (planned,) = [row for row in rows.collect() if row.subscription_id == ""]
    assert planned.read_verdict == "possibly_missed" and planned.read_reason.startswith("GET /subscriptions?page=2: ")
    for resource, instead in (("orders", "orders_and_reads"), ("subscriptions", "the list with billcore.bulk")):
        with pytest.raises(PySparkException, match=f"page=2: 404.*: {resource} has no verdicts: read {instead}"):
            load(resource, "id string").collect()
    sandbox.control.delete_fault(fault)


def test_the_schema_selects_columns(load: Load) -> None:
    frame = load("orders", "subscription_id string, raw string, created_at timestamp")
    assert frame.columns == ["subscription_id", "raw", "created_at"]
    row = frame.limit(1).collect()[0]
    assert row.subscription_id and row.raw.startswith('{"id":') and row.created_at


def test_signed_urls_are_columns_only_if_they_are_named(load: Load) -> None:
    names = load("subscriptions").columns
    assert "more" in names and not {"update_card_url", "invoices_url", "cancel_url"} & {*names}
    assert load("subscriptions", "cancel_url string").limit(1).collect()[0].cancel_url.startswith("http")


@pytest.mark.parametrize(
    ("resource", "schema", "says"),
    [
        ("orders", "id string, total int", r"the schema has 'total int(32)?': write 'total bigint'"),
        ("orders", "id string not null", "the schema has 'id string not null': write 'id string'"),
        ("order_reads", "id string, state string", "order_reads has no column 'state': there are id, pages"),
    ],
)
def test_a_wrong_schema_is_refused(load: Load, resource: str, schema: str, says: str) -> None:
    with pytest.raises(PySparkException, match=says):
        load(resource, schema).collect()


KEYS = ("api_key", "apikey", "key", "token", "billcore_api_key", "client_secret", "password", "credentials")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        *(({name: "x"}, f"the option '{name}' is refused.*set BILLCORE_API_KEY in the environment") for name in KEYS),
        ({"page": "1"}, "there is no option 'page': there are resource, base_url, partitions,"),
        ({"partitions": "0"}, "the option 'partitions' is '0': pass a whole number from 1"),
        ({"resource": "order"}, "the option 'resource' is 'order': pass subscriptions, products, orders,"),
    ],
)
def test_wrong_options_are_refused(load: Load, options: dict[str, str], says: str) -> None:
    with pytest.raises(PySparkException, match=says):
        load(**{"resource": "orders", **options}).collect()


@pytest.mark.skipif(engines.SPARK, reason="starts Sail once more")
def test_a_driver_without_the_key(sandbox: Sandbox) -> None:
    with engines.sail({"BILLCORE_BASE_URL": sandbox.base_url}) as session, pytest.raises(PySparkException) as caught:
        session.read.format("billcore").option("resource", "orders").load().collect()
    assert "the environment of the driver has no BILLCORE_API_KEY: set it there" in str(caught.value)


def test_an_executor_without_the_key(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the engine sends to an executor has no key."""
    monkeypatch.setenv("BILLCORE_API_KEY", sandbox.api_key)
    source = Billcore({"resource": "orders", "base_url": sandbox.base_url})
    reader = source.reader(pa.schema({"id": pa.string()}))
    sent = cloudpickle.dumps((reader, reader.partitions()[0]))
    assert sandbox.api_key.encode() not in sent
    monkeypatch.delenv("BILLCORE_API_KEY")
    code = "import pickle, sys; reader, partition = pickle.load(sys.stdin.buffer); next(reader.read(partition))"
    executor = subprocess.run([sys.executable, "-c", code], input=sent, capture_output=True)
    assert executor.stderr.decode().splitlines()[-1] == (
        "billcore.ConfigError: the environment of the executor has no BILLCORE_API_KEY: set it there"
    )
