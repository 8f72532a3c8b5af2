"""Actions of customers and time: checkout, confirm, pay, renew."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from billcore.testing import Control, ControlError
from sandbox.support import Receiver, Service


def product(service: Service, kind: str = "subscription", interval: str | None = "month") -> dict[str, Any]:
    return next(p for p in service.products() if p["type"] == kind and p["interval"] == interval)


def names(receiver: Receiver, count: int) -> list[str]:
    return [item.event["name"] for item in receiver.wait(count)]


def test_a_card_checkout_is_paid_when_it_is_confirmed(service: Service, control: Control, receiver: Receiver) -> None:
    service.post("/webhooks/endpoints", {"url": receiver.url})
    wanted = product(service)
    made = control.checkout(wanted["id"], reference_id="new-1", reference_name="Zoë", metadata={"a": 1})
    assert (made["order"]["state"], made["subscription"]["status"]) == ("created", "pending")
    assert made["order"]["total"] == made["subscription"]["price"] == wanted["price_without_vat"]
    assert service.subscription("new-1") == made["subscription"]
    assert (made["subscription"]["reference_name"], made["subscription"]["metadata"]) == ("Zoë", {"a": 1})
    done = control.confirm(made["order"]["id"])
    assert (done["order"]["state"], done["subscription"]["status"]) == ("paid", "active")
    assert done["order"]["remote_id"] is not None
    renews_at = datetime.fromisoformat(done["subscription"]["renews_at"])
    assert datetime.now(UTC) + timedelta(days=27) < renews_at < datetime.now(UTC) + timedelta(days=32)
    assert names(receiver, 3) == ["order.confirmed", "order.paid", "subscription.created"]
    assert control.pay(made["order"]["id"])["order"] == done["order"]
    assert [effect["kind"] for effect in control.ledger()][1:] == ["checkout", "confirm"]
    assert service.get(f"/subscription/{made['subscription']['id']}/orders").data == [done["order"]]


def test_an_invoice_is_paid_later(service: Service, control: Control, receiver: Receiver) -> None:
    service.post("/webhooks/endpoints", {"url": receiver.url})
    made = control.checkout(product(service)["id"], billing="invoice")
    with pytest.raises(ControlError, match=r"422 not_allowed: .* does not take pay: it takes confirm, cancel_payment"):
        control.pay(made["order"]["id"])
    confirmed = control.confirm(made["order"]["id"])
    assert (confirmed["order"]["state"], confirmed["subscription"]["status"]) == ("confirmed", "pending")
    assert names(receiver, 1) == ["order.confirmed"]
    paid = control.pay(made["order"]["id"])
    assert (paid["order"]["state"], paid["subscription"]["status"]) == ("paid", "active")
    assert names(receiver, 3) == ["order.confirmed", "order.paid", "subscription.created"]
    with pytest.raises(ControlError, match=r"422 not_allowed: .* does not take confirm: it takes refund"):
        control.confirm(made["order"]["id"])


@pytest.mark.parametrize(("field", "status"), [("trial_days", "trialing"), ("starts_in_days", "future_start")])
def test_delayed_starts(service: Service, control: Control, field: str, status: str) -> None:
    days: dict[str, Any] = {field: 14}
    made = control.checkout(product(service)["id"], **days)
    after = control.confirm(made["order"]["id"])["subscription"]
    assert after["status"] == status
    assert datetime.fromisoformat(after["renews_at"]) > datetime.now(UTC) + timedelta(days=13)
    assert (after["trial_ends_at"] is not None) == (status == "trialing")


def test_a_charge_does_not_activate_a_pending_subscription(service: Service, control: Control) -> None:
    made = control.checkout(product(service)["id"], reference_id="waits")
    assert service.charge("waits").data["state"] == "paid"
    assert service.subscription("waits")["status"] == "pending"
    assert control.confirm(made["order"]["id"])["subscription"]["status"] == "active"


def test_the_first_orders_of_pending_demo_subscriptions_wait(service: Service, control: Control) -> None:
    pending = [item for item in service.get("/subscriptions").data if item["status"] == "pending"]
    seen = set()
    for subscription in pending:
        (order,) = service.get(f"/subscription/{subscription['id']}/orders").data
        seen.add(order["state"])
        if order["state"] == "created":
            control.confirm(order["id"])
        assert control.pay(order["id"])["subscription"]["status"] == "active"
    assert len(seen) == 4


def test_a_one_time_product_makes_no_subscription(service: Service, control: Control) -> None:
    made = control.checkout(product(service, "one_time", None)["id"], reference_id="bag-1")
    assert made["subscription"] is None
    assert made["order"]["reference_id"] == "bag-1"
    assert control.confirm(made["order"]["id"])["order"]["state"] == "paid"
    assert service.get(f"/order/{made['order']['id']}").data["state"] == "paid"


def test_checkout_in_the_other_account(service: Service, other: Service, control: Control) -> None:
    theirs = product(other)["id"]
    made = control.checkout(theirs, reference_id="there", account=other.account)
    assert other.subscription("there") == made["subscription"]
    assert service.get(f"/order/{made['order']['id']}").status == 404
    assert control.ledger()[0]["account"] == other.account
    with pytest.raises(ControlError, match="404 not_found: No account has this UUID"):
        control.checkout(theirs, account="nobody")
    # Another account's product in the body gives 422, as in a charge; another account's id in the path gives 404.
    with pytest.raises(ControlError, match="422 invalid_product"):
        control.checkout(theirs, account=service.account)
    with pytest.raises(ControlError, match="422 invalid_product"):
        control.checkout(1)
    assert len(control.ledger()) == 1


def test_renewing_makes_a_paid_order_and_a_later_date(service: Service, control: Control, receiver: Receiver) -> None:
    service.post("/webhooks/endpoints", {"url": receiver.url})
    before = service.subscription("demo-active")
    after = control.renew(before["id"])
    assert after["subscription"] == service.subscription("demo-active")
    assert after["order"]["state"] == "paid"
    assert after["order"]["total"] == before["price"]
    assert datetime.fromisoformat(after["subscription"]["renews_at"]) > datetime.now(UTC)
    assert after["subscription"]["renews_at"] > before["renews_at"]
    assert names(receiver, 3) == ["order.confirmed", "order.paid", "subscription.renewed"]
    again = control.renew(before["id"])["subscription"]
    assert again["renews_at"] > after["subscription"]["renews_at"]
    assert len(control.ledger("renew")) == 2


def test_failed_renewals(service: Service, control: Control, receiver: Receiver) -> None:
    service.post("/webhooks/endpoints", {"url": receiver.url})
    subscription = service.subscription("demo-declined")
    for status in ("delayed", "delayed", "unpaid", "unpaid"):
        answer = control.renew(subscription["id"])
        assert (answer["subscription"]["status"], answer["order"]) == (status, None)
    control.wait_for_deliveries()
    assert names(receiver, 2) == ["subscription.updated"] * 2
    assert [item.event["data"]["status"] for item in receiver.received] == ["delayed", "unpaid"]
    assert [effect["failures"] for effect in control.ledger("renew_failed")] == [1, 2, 3, 4]
    assert service.subscription("demo-declined")["renews_at"] < subscription["renews_at"], "the date has come"


def test_what_has_ended_does_not_renew(service: Service, control: Control) -> None:
    for name, allowed in (
        ("demo-active", "change_product"),
        ("demo-stays-active", "end, change_product, change_billing"),
    ):
        number = service.subscription(name)["id"]
        service.post(f"/subscription/{number}/cancel")
        with pytest.raises(ControlError) as refused:
            control.renew(number)
        message = f"The subscription is cancelled, which does not take renew: it takes {allowed}."
        assert str(refused.value) == f"422 not_allowed: {message}"
    with pytest.raises(ControlError, match="404"):
        control.renew("1")
    assert control.ledger("renew") == []


def test_misspelt_fields_are_refused(sandbox: Any, control: Control, service: Service) -> None:
    wanted = product(service)["id"]
    for fields in ({"product": 1}, {"product_id": wanted, "billing": "cash"}, {"product_id": wanted, "metadata": []}):
        with pytest.raises(ControlError, match="422 validation_error"):
            control._call("POST", "checkout", fields)
    assert control.ledger() == []
