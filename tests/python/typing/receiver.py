"""A receiver of webhooks, as a user writes it from the README; every type checker accepts it."""

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import assert_type

import billcore
from billcore import webhooks

verifier = webhooks.Verifier(os.environ.get("WEBHOOK_SECRET", "0" * 32), freshness=86400)


def receive(body: bytes, headers: Mapping[str, str]) -> int:
    try:
        event = verifier.unwrap_request(body, headers)
    except webhooks.SignatureError as error:
        assert_type(error.reason, billcore.SignatureReason)
        return error.http_status
    except billcore.DecodeError:
        return 500
    if not isinstance(event, webhooks.TestHook) and claimed(event.account, str(event.id)):
        return 200
    print(handle(event))
    return 200


def claimed(account: int, event_id: str) -> bool:
    return bool(account) and not event_id


def handle(event: webhooks.AnyEvent) -> str:
    match event:
        case webhooks.OrderPaid(data=order) | webhooks.OrderConfirmed(data=order):
            assert_type(order, billcore.Order)
            assert_type(order.delivery, billcore.Delivery | None)
            return f"{order.total_with_vat / 100:.2f} {order.currency}"
        case webhooks.SubscriptionCreated(data=billcore.Subscription(reference_id=str(reference))):
            return reference.upper()
        case webhooks.SubscriptionCancelled(id=delivery, data=subscription):
            assert_type(delivery, str | int)
            assert_type(subscription, billcore.Subscription)
            return "usable" if subscription.usable_at(datetime.now(UTC)) else "ended"
        case webhooks.SubscriptionUpdated() | webhooks.SubscriptionRenewed():
            assert_type(event.data, billcore.Subscription)
            return state_of(event.data)
        case webhooks.ProductUpdated(data=product) | webhooks.ProductDeleted(data=product):
            assert_type(product, billcore.Product)
            return f"{product.name} {product.vat_rate + 1}"
        case webhooks.ProductGroupUpdated(data=group):
            assert_type(group, billcore.ProductGroup)
            return ", ".join(str(product) for product in group.products)
        case webhooks.UnknownEvent(name=name, raw=raw):
            assert_type(name, billcore.EventName)
            assert_type(raw, bytes)
            return name
        case _:
            return event.name


def state_of(subscription: billcore.Subscription) -> str:
    match subscription.status:
        case "active" | "trialing":
            return "fine"
        case "unpaid":
            return "needs an administrator"
        case other:
            return other


def pending(raw: bytes) -> billcore.Order | None:
    """The order in an event from a job queue; None for other events."""
    event = webhooks.parse_unverified(raw)
    return event.data if isinstance(event, webhooks.OrderPaid) else None


async def from_server(scope: dict[str, object]) -> None:
    async def message() -> dict[str, object]:
        return {}

    assert_type(await webhooks.from_asgi(scope, message, verifier), webhooks.AnyEvent)
    assert_type(webhooks.from_wsgi({}, verifier), webhooks.AnyEvent)
    assert_type(webhooks.from_lambda({"headers": {}}, verifier), webhooks.AnyEvent)
    assert_type(webhooks.verify(bytearray(b""), None, "0" * 32), webhooks.Verified)
    webhooks.Verifier(["a", b"b"]).unwrap_request(bytearray(), [("a", "b"), (b"c", b"d")])
