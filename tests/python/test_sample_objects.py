"""billcore.testing.order() and similar functions, page(), and the client's classes as specs of unittest.mock."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock, create_autospec

import pytest

import billcore
from billcore.testing import order, page, product, product_group, subscription

ROWS = json.loads((Path(__file__).resolve().parents[1] / "fixtures" / "fields.json").read_text("utf-8"))["rows"]
MADE: list[tuple[Any, Any]] = [
    (order, billcore.Order),
    (subscription, billcore.Subscription),
    (product, billcore.Product),
    (product_group, billcore.ProductGroup),
]
CLIENTS: list[Any] = [billcore.Client, billcore.AsyncClient]


@pytest.mark.parametrize(("make", "kind"), MADE)
def test_a_resource_has_every_field_and_an_id_of_its_own(make: Any, kind: Any) -> None:
    made = make()
    assert type(made) is kind and not billcore.same_id(made.id, make().id)
    rows = [row for row in ROWS if row["class"] == kind.__name__]
    assert rows
    for row in rows:
        assert row["field"] in made, row["field"]
        getattr(made, row["member"])


def test_fields_are_changed_like_those_of_an_event() -> None:
    made = order(total=19900, delivery=billcore.NOT_GIVEN)
    assert made.total == 19900 and "delivery" not in made and made.state == "paid"
    assert order(data=made, total=1).to_dict() == made.to_dict() | {"total": 1}
    assert subscription().usable_at(datetime.now(UTC))
    with pytest.raises(TypeError, match=r"^order\(\) got an .* 'totl': did you mean 'total'\? .* data=\.$"):
        order(totl=5)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="the fields are id, name, products"):
        product_group(colour=1)  # type: ignore[call-arg]
    with pytest.raises(billcore.InvalidArgumentError, match="total"):
        order(total="5")  # type: ignore[arg-type]


def test_a_page_reads_like_a_list_of_the_client() -> None:
    made = [order(), order(), order()]
    listed = page(made, total=5)
    assert (listed.total, listed.count, listed.current_page, listed.total_pages) == (5, 3, 1, 2)
    assert (listed.verdict, listed.fetched_pages, listed.links.next) == (None, 0, None)
    assert listed.first() is made[0] and listed.collect(1) == made[:1] and listed.items == made[1:]
    assert [list(each.items) for each in listed.pages()] == [made[1:]]
    assert listed.verdict and str(listed.verdict) == "complete" and list(listed) == [] == list(listed.pages())
    assert list(page(made)) == made and page([]).first() is None and page(each for each in made).total == 3

    async def read() -> None:
        listed = page(made, awaited=True)
        assert await listed.first() is made[0] and await listed.collect(1) == made[:1]
        assert [each async for each in listed] == made[1:] and listed.verdict
        assert [each.items async for each in page(made, awaited=True).pages()] == [made]

    asyncio.run(read())
    bad: list[tuple[Any, Any]] = [(order(), None), ("ab", None), (made, 2)]
    for items, total in bad:
        with pytest.raises(
            billcore.InvalidArgumentError, match=r"page\(\[order\(\)\]\)|total is 2, but the page has 3"
        ):
            page(items, total=total)


def public(owner: Any) -> dict[str, Any]:
    return {name: getattr(owner, name) for name in dir(owner) if not name.startswith("_")}


@pytest.mark.parametrize("client", CLIENTS)
def test_create_autospec_refuses_what_the_client_does_not_have(client: Any) -> None:
    made = create_autospec(client, instance=True)
    groups = [name for name, value in public(client).items() if isinstance(value, type)]
    assert {"subscriptions", "products", "orders", "webhook_endpoints"} <= set(groups)
    for owner, real in [(made, client), *((getattr(made, name), getattr(client, name)) for name in groups)]:
        assert isinstance(owner, real)
        with pytest.raises(AttributeError):
            _ = owner.chrage
        methods = [name for name, value in public(real).items() if callable(value) and not isinstance(value, type)]
        assert methods
        for name in methods:
            with pytest.raises(TypeError):
                getattr(owner, name)(timeouts=5)
            assert next(iter(inspect.signature(getattr(real, name)).parameters)) == "self"
    calls: list[Callable[[], object]] = [
        lambda: made.subscriptions.charge(1, product_id=2, amuont=3),
        lambda: made.subscriptions.charge(1, product_id=2),
        lambda: made.subscriptions.charge(id=1, product_id=2, amount=3),
        lambda: made.products.update(1, title="x"),
        lambda: made.request("GET"),
        lambda: create_autospec(client)(base_urll="x"),
        lambda: create_autospec(client)(base_url="x").orders.get(),
    ]
    for call in calls:
        with pytest.raises(TypeError):
            call()


def test_an_autospec_of_the_asyncio_client_is_awaited_where_the_client_is() -> None:
    client = create_autospec(billcore.AsyncClient, instance=True)
    awaited = [client.request, client.close, client.products.update, client.webhook_endpoints.create, client.orders.get]
    assert all(isinstance(each, AsyncMock) for each in awaited)
    plain = [client.with_options, client.subscriptions.list, client.subscriptions.orders, client.products.list]
    assert not any(isinstance(each, AsyncMock) for each in plain)

    async def use() -> None:
        client.__aenter__.return_value = client
        client.subscriptions.get.return_value = subscription(status="delayed")
        client.subscriptions.list.return_value = page([subscription()], awaited=True)
        async with client as entered:
            assert (await entered.subscriptions.get(41)).status == "delayed"
            assert [each.status async for each in client.subscriptions.list()] == ["active"]
        client.subscriptions.get.assert_awaited_once_with(41)

    asyncio.run(use())


def test_the_classes_otherwise_stay_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    client = billcore.Client(base_url="http://127.0.0.1:9/x", api_key="k")
    with pytest.raises(TypeError, match="product_id"):
        billcore.Subscriptions.charge(client.subscriptions, 41)  # type: ignore[call-arg]
    assert billcore.Subscriptions.charge is billcore.Client.subscriptions.charge  # type: ignore[attr-defined]

    class Own(billcore.Client):
        orders = 5  # type: ignore[assignment]

        def request(self, *args: Any, **kwargs: Any) -> Any:
            return "own"

    assert Own.orders == 5 and inspect.isfunction(Own.request)
    assert Own.subscriptions is billcore.Subscriptions  # type: ignore[comparison-overlap]
    monkeypatch.setattr(billcore.Orders, "get", lambda self, id: id)
    assert client.orders.get(3) == 3
    monkeypatch.undo()
    assert inspect.ismethoddescriptor(billcore.Orders.get) and isinstance(vars(billcore.Client)["orders"], property)
    client.close()
