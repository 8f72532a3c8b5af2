"""Products: update, prices, soft deletion, groups."""

from __future__ import annotations

from typing import Any

import pytest

from billcore.testing import Control, Sandbox
from sandbox.support import Receiver, Service, account

FIELDS = [
    "id",
    "name",
    "description",
    "type",
    "price",
    "price_with_vat",
    "price_without_vat",
    "currency",
    "vat_rate",
    "interval",
    "image",
    "images",
    "use_cart",
    "stock_tracking",
    "out_of_stock",
    "strings",
]


def test_every_field_and_no_other(service: Service) -> None:
    products = service.products()
    for product in products:
        assert list(product) == FIELDS
        assert list(product["strings"]) == ["interval", "type", "price", "price_with_vat", "price_without_vat"]
        assert type(product["id"]) is int
        assert product["price"] in (product["price_with_vat"], product["price_without_vat"])
    assert {product["type"] for product in products} == {"subscription", "fixed_cycle", "donation", "one_time"}
    for name in ("description", "interval", "image"):
        assert {product[name] is None for product in products} == {True, False}
    assert service.get(f"/product/{products[0]['id']}").json == {"data": products[0]}


def including_vat(service: Service, yes: bool) -> dict[str, Any]:
    """Finds a product with VAT, whose price includes VAT if `yes` is true, and excludes VAT otherwise."""
    return next(p for p in service.products() if p["vat_rate"] and (p["price"] == p["price_with_vat"]) is yes)


def test_only_sent_fields_change(service: Service, control: Control) -> None:
    product = including_vat(service, False)
    answer = service.post(f"/product/{product['id']}", {"name": "Ny “avis” / \N{PARTY POPPER}"})
    assert answer.status == 200
    assert answer.data == {**product, "name": "Ny “avis” / \N{PARTY POPPER}"}
    assert service.get(f"/product/{product['id']}").data == answer.data
    (effect,) = control.ledger()
    assert (effect["kind"], effect["product_id"]) == ("product_update", product["id"])


@pytest.mark.parametrize(
    ("includes", "price", "rate", "gross", "net"),
    [
        (False, 1000, 25, 1250, 1000),
        (False, 999, 12.5, 1124, 999),  # 1123.875
        (False, 2, 25, 3, 2),  # 2.5
        (True, 1000, 25, 1000, 800),
        (True, 999, 6, 999, 942),  # 942.45…
        (True, 1000, 0, 1000, 1000),
    ],
)
def test_prices_follow(service: Service, includes: bool, price: int, rate: float, gross: int, net: int) -> None:
    product = including_vat(service, includes)
    after = service.post(f"/product/{product['id']}", {"price": price, "vat_rate": rate}).data
    assert (after["price"], after["price_with_vat"], after["price_without_vat"]) == (price, gross, net)
    assert after["vat_rate"] == rate
    assert type(after["vat_rate"]) is type(rate)


def test_every_field_of_an_update(service: Service) -> None:
    product = service.product("subscription")
    body = {"name": "N", "description": "D", "price": 1, "currency": "NOK", "vat_rate": 15, "interval": "fortnight"}
    after = service.post(f"/product/{product['id']}", body).data
    assert {name: after[name] for name in body} == body
    after = service.post(f"/product/{product['id']}", {"description": None, "interval": None}).data
    assert (after["description"], after["interval"]) == (None, None)


def test_unknown_fields_are_accepted(service: Service, control: Control) -> None:
    product = service.product()
    path = f"/product/{product['id']}"
    assert service.post(path, {}).data == product
    assert service.post(path, {"id": 5, "deleted_at": "x", "colour": {"a": [1]}}).data == product
    assert control.ledger() == []
    assert service.post(path, {"colour": "red", "price": 77}).data["price"] == 77


@pytest.mark.parametrize(
    "fields",
    [
        {"name": 5},
        {"name": None},
        {"name": ""},
        {"description": []},
        {"price": "1"},
        {"price": 1.5},
        {"price": True},
        {"price": -1},
        {"price": 2**70},
        {"currency": "kr"},
        {"currency": None},
        {"currency": 1},
        {"vat_rate": "25"},
        {"vat_rate": True},
        {"vat_rate": 101},
        {"interval": 3},
    ],
)
def test_bad_fields_of_an_update(service: Service, control: Control, fields: dict[str, Any]) -> None:
    answer = service.post(f"/product/{service.product()['id']}", fields)
    assert (answer.status, answer.code) == (422, "validation_error")
    assert control.ledger() == []


def test_deletion_is_soft(service: Service, control: Control) -> None:
    used = service.get("/products").data[0]
    subscription = service.subscription("demo-active")
    total = service.get("/products").json["pagination"]["total"]
    answer = service.send("DELETE", f"/product/{used['id']}")
    assert (answer.status, answer.data) == (200, used)
    for method in ("GET", "DELETE"):
        assert service.send(method, f"/product/{used['id']}").code == "not_found"
    assert service.post(f"/product/{used['id']}", {"name": "x"}).code == "not_found"
    assert service.get("/products").json["pagination"]["total"] == total - 1
    assert used["id"] not in [product["id"] for product in service.products()]
    assert service.subscription("demo-active") == subscription
    assert [effect["kind"] for effect in control.ledger()] == ["product_delete"]
    orders = service.get(f"/subscription/{subscription['id']}/orders").json["pagination"]["total"]
    sold = service.product()
    service.send("DELETE", f"/product/{sold['id']}")
    assert service.get(f"/subscription/{subscription['id']}/orders").json["pagination"]["total"] == orders
    assert service.charge(product_id=sold["id"]).code == "invalid_product"


def test_an_empty_answer_to_deletion_when_asked_for() -> None:
    with Sandbox(delete_body="empty") as sandbox:
        answer = account(sandbox).send("DELETE", "/product/101")
        assert (answer.status, answer.body, answer.headers["content-length"]) == (200, b"", "0")
        assert "content-type" not in answer.headers


def test_groups_change_with_their_products(service: Service, receiver: Receiver) -> None:
    service.post("/webhooks/endpoints", {"url": receiver.url})
    service.post("/product/101", {"price": 4200})
    names = [item.event["name"] for item in receiver.wait(2)]
    assert names == ["product.updated", "product-group.updated"]
    group = receiver.received[1].event["data"]
    assert sorted(group) == ["id", "name", "products"]
    assert 101 in group["products"]
    assert all(type(member) is int for member in group["products"])
    for member in group["products"]:
        assert service.send("DELETE", f"/product/{member}").status == 200
    events = [item.event for item in receiver.wait(2 + 2 * len(group["products"]))]
    changes = [event["data"]["products"] for event in events if event["name"] == "product-group.updated"]
    assert changes == [group["products"], *(group["products"][n:] for n in range(1, len(group["products"])))]
    assert events[-1]["name"] == "product-group.deleted"
    assert events[-1]["data"]["id"] == group["id"]
    assert [event["name"] for event in events].count("product.deleted") == len(group["products"])
