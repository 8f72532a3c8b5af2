"""Reading and cancelling subscriptions, changing their products, and one-off charges."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from billcore.testing import Control, Sandbox
from sandbox.support import Service, account

FIELDS = [
    "id",
    "price",
    "vat",
    "currency",
    "created_at",
    "renews_at",
    "ends_at",
    "trial_ends_at",
    "reference_id",
    "reference_name",
    "status",
    "update_card_url",
    "invoices_url",
    "cancel_url",
    "custom_fields",
    "metadata",
]
ORDER_FIELDS = [
    "id",
    "created_at",
    "total",
    "total_with_vat",
    "currency",
    "reference_id",
    "reference_name",
    "state",
    "remote_id",
    "delivery",
    "custom_fields",
    "metadata",
]


def test_every_field_and_no_other(service: Service) -> None:
    subscription = service.subscription("demo-active")
    assert list(subscription) == FIELDS
    assert service.get(f"/subscription/{subscription['id']}").json == {"data": subscription}
    order = service.get(f"/subscription/{subscription['id']}/orders").data[0]
    assert list(order) == ORDER_FIELDS
    assert service.get(f"/order/{order['id']}").json == {"data": order}


def test_demo_data_holds_every_kind_of_custom_field_value(service: Service) -> None:
    found = [value for page in range(1, 6) for value in service.get(f"/subscriptions?page={page}").data]
    fields = [custom for subscription in found for custom in subscription["custom_fields"]]
    assert all(list(custom) == ["id", "label", "type", "value"] for custom in fields)
    assert {type(custom["value"]) for custom in fields} == {str, int, float, bool, type(None), list, dict}


def test_cancel_ends_renewal_and_keeps_the_paid_period(service: Service, control: Control) -> None:
    before = service.subscription("demo-active")
    answer = service.post(f"/subscription/{before['id']}/cancel")
    assert answer.status == 200
    after = answer.data
    assert (after["status"], after["renews_at"]) == ("cancelled", None)
    assert datetime.now(UTC) < datetime.fromisoformat(after["ends_at"]) < datetime.now(UTC) + timedelta(days=32)
    assert service.subscription("demo-active") == after
    unchanged = [name for name in FIELDS if name not in ("status", "renews_at", "ends_at")]
    assert [after[name] for name in unchanged] == [before[name] for name in unchanged]
    (effect,) = control.ledger()
    assert (effect["kind"], effect["subscription_id"], effect["account"]) == ("cancel", before["id"], service.account)


def test_cancel_may_leave_it_active_until_it_ends(service: Service) -> None:
    subscription = service.subscription("demo-stays-active")
    after = service.post(f"/subscription/{subscription['id']}/cancel").data
    assert (after["status"], after["renews_at"]) == ("active", None)
    assert datetime.fromisoformat(after["ends_at"]) > datetime.now(UTC)


def test_cancelling_again_changes_nothing(service: Service, control: Control) -> None:
    for name in ("demo-active", "demo-stays-active"):
        subscription = service.subscription(name)
        first = service.post(f"/subscription/{subscription['id']}/cancel")
        again = service.post(f"/subscription/{subscription['id']}/cancel")
        assert (again.status, again.data) == (200, first.data)
    assert len(control.ledger("cancel")) == 2


def test_an_expired_subscription_cannot_be_cancelled(service: Service, control: Control) -> None:
    expired = next(item for item in service.get("/subscriptions").data if item["status"] == "expired")
    answer = service.post(f"/subscription/{expired['id']}/cancel")
    assert (answer.status, answer.code) == (422, "not_cancellable")
    assert control.ledger() == []


def test_every_other_status_can_be_cancelled(service: Service) -> None:
    found = {item["status"]: item for item in service.get("/subscriptions").data}
    for status in set(found) - {"expired", "active"}:
        after = service.post(f"/subscription/{found[status]['id']}/cancel").data
        assert after["status"] == "cancelled"
        assert after["ends_at"] is not None


def test_change_of_product(service: Service, control: Control) -> None:
    before = service.subscription("demo-active")
    new = next(p for p in service.products() if p["type"] == "subscription" and p["price"] != before["price"])
    answer = service.post(f"/subscription/{before['id']}/product", {"product_id": new["id"]})
    assert answer.status == 200
    assert answer.data["price"] == new["price"] == new["price_without_vat"]
    assert answer.data["vat"] == new["vat_rate"] * 100
    assert answer.data["currency"] == new["currency"]
    assert service.subscription("demo-active") == answer.data
    (effect,) = control.ledger()
    assert (effect["kind"], effect["product_id"]) == ("change_product", new["id"])


def test_change_of_product_refuses_products_that_are_not_there(
    service: Service, other: Service, control: Control
) -> None:
    path = f"/subscription/{service.subscription('demo-active')['id']}/product"
    foreign = other.get("/products").data[0]["id"]
    for body in ({}, {"product_id": None}, {"product_id": "101"}, {"product_id": True}, {"product_id": 101.0}):
        answer = service.post(path, body)
        assert (answer.status, answer.code) == (422, "validation_error")
    for product_id in (foreign, 999999):
        assert service.post(path, {"product_id": product_id}).code == "invalid_product"
    deleted = service.get("/products").data[0]["id"]
    assert service.send("DELETE", f"/product/{deleted}").status == 200
    assert service.post(path, {"product_id": deleted}).code == "invalid_product"
    assert [effect["kind"] for effect in control.ledger()] == ["product_delete"]


def test_a_charge_is_an_order_of_the_subscription(service: Service, control: Control) -> None:
    subscription = service.subscription("demo-active")
    answer = service.charge(amount=1999, quantity=3, vat=1250, description="Extra / “bag” \N{PARTY POPPER}")
    assert answer.status == 200
    order = answer.data
    assert list(order) == ORDER_FIELDS
    assert (order["total"], order["total_with_vat"]) == (5997, 6747)  # 6746.625
    assert (order["state"], order["currency"]) == ("paid", subscription["currency"])
    assert order["metadata"] == {"description": "Extra / “bag” \N{PARTY POPPER}"}
    assert service.get(f"/order/{order['id']}").data == order
    (effect,) = control.ledger()
    expected = {"kind": "charge", "subscription_id": subscription["id"], "order_id": order["id"]}
    expected |= {"amount": 1999, "quantity": 3, "vat": 1250, "total": 5997}
    assert {name: effect[name] for name in expected} == expected


def test_defaults_of_a_charge(service: Service) -> None:
    order = service.charge(amount=1500).data
    assert (order["total"], order["total_with_vat"]) == (1500, 1875)


@pytest.mark.parametrize(
    ("amount", "vat", "gross"), [(1, 2500, 1), (2, 2500, 3), (1, 5000, 2), (3, 1, 3), (999, 0, 999)]
)
def test_vat_is_rounded_half_up_to_whole_cents(service: Service, amount: int, vat: int, gross: int) -> None:
    assert service.charge(amount=amount, vat=vat).data["total_with_vat"] == gross


def test_a_declined_charge_has_no_effect(service: Service, control: Control) -> None:
    subscription = service.subscription("demo-declined")
    before = service.get(f"/subscription/{subscription['id']}/orders").json
    answer = service.charge("demo-declined")
    assert (answer.status, answer.code) == (402, "charge_declined")
    assert service.get(f"/subscription/{subscription['id']}/orders").json == before
    assert control.ledger() == []


def test_a_donation_takes_no_charge(service: Service, control: Control) -> None:
    answer = service.charge("demo-donation")
    assert (answer.status, answer.code) == (402, "donation_subscription")
    assert control.ledger() == []


def test_an_invoice_charge_is_paid_later(service: Service, control: Control) -> None:
    order = service.charge("demo-invoice").data
    assert (order["state"], order["remote_id"]) == ("confirmed", None)
    control.pay(order["id"])
    assert service.get(f"/order/{order['id']}").data["state"] == "paid"


@pytest.mark.parametrize(
    "fields",
    [
        {"amount": None},
        {"amount": "1500"},
        {"amount": 1500.0},
        {"amount": True},
        {"amount": 0},
        {"amount": -1},
        {"amount": 2**63},
        {"amount": 2**70},
        {"amount": 2**62, "quantity": 4},
        {"amount": 2**63 - 1},
        {"quantity": 0},
        {"quantity": 1.5},
        {"quantity": None},
        {"vat": -1},
        {"vat": "2500"},
        {"vat": False},
        {"product_id": None},
        {"product_id": "102"},
        {"description": 5},
        {"description": None},
    ],
)
def test_bad_fields_of_a_charge(service: Service, control: Control, fields: dict[str, Any]) -> None:
    answer = service.charge(**fields)
    overflows = fields in ({"amount": 2**62, "quantity": 4}, {"amount": 2**63 - 1})
    assert (answer.status, answer.code) == (422, "total_too_large" if overflows else "validation_error")
    assert control.ledger() == []


def test_a_charge_takes_a_one_time_product_of_the_account(service: Service, other: Service, control: Control) -> None:
    foreign = other.product()["id"]
    for product_id in (foreign, 999999, *(service.product(kind)["id"] for kind in ("subscription", "donation"))):
        assert service.charge(product_id=product_id).code == "invalid_product"
    assert control.ledger() == []


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"\xff{}", 400),
        (b'{"amount": NaN}', 400),
        (b'{"description": "\\ud800"}', 400),
        (b"[" * 100_000, 400),
        (b'{"amount": ' + b"9" * 5000 + b"}", 400),
        (b"[]", 422),
        (b"null", 422),
        (b'"x"', 422),
    ],
)
def test_bodies_that_are_no_json_object(service: Service, control: Control, raw: bytes, status: int) -> None:
    path = f"/subscription/{service.subscription('demo-active')['id']}/order"
    answer = service.send("POST", path, raw=raw)
    assert answer.status == status
    assert answer.code in ("invalid_json", "validation_error")
    assert control.ledger() == []


def test_a_body_needs_its_content_type(service: Service) -> None:
    path = f"/subscription/{service.subscription('demo-active')['id']}/order"
    body = {"product_id": service.product()["id"], "amount": 100}
    for kind in ("", "text/plain", "application/x-www-form-urlencoded"):
        answer = service.send("POST", path, body, headers={"Content-Type": kind})
        assert (answer.status, answer.code) == (415, "unsupported_media_type")
    assert service.send("POST", path, body, headers={"Content-Type": "Application/JSON; charset=utf-8"}).status == 200


def test_unknown_subscriptions(service: Service) -> None:
    body = {"product_id": service.product()["id"], "amount": 100}
    assert service.post("/subscription/1/order", body).code == "not_found"
    assert service.post("/subscription/1/product", body).code == "not_found"
    assert service.post("/subscription/1/cancel").code == "not_found"


def test_the_other_answers_that_options_choose() -> None:
    with Sandbox(
        settlement="manual",
        charge_total="amount",
        donation_status=403,
        cancel="active",
        second_cancel="refuse",
        delete_body="null",
        subscriptions_per_page=30,
        products_per_page=7,
    ) as sandbox:
        service = account(sandbox)
        order = service.charge(amount=500, quantity=3).data
        assert (order["state"], order["total"]) == ("confirmed", 500)
        assert service.charge("demo-donation").status == 403
        path = f"/subscription/{service.subscription('demo-active')['id']}/cancel"
        assert service.post(path).data["status"] == "active"
        assert (service.post(path).status, service.post(path).code) == (422, "already_cancelled")
        assert service.send("DELETE", f"/product/{service.product()['id']}").body == b"null"
        assert service.get("/subscriptions").json["pagination"]["per_page"] == 30
        assert service.get("/products").json["pagination"]["count"] == 7
