"""A sample for each kind of event, and functions that make an event from given bytes."""

from __future__ import annotations

from typing import Any

import billcore
from billcore import webhooks

from .support import GROUP, ORDER, PRODUCT, SECRET, SUBSCRIPTION, sign

# The name of each event, its class, and the class and a sample of its data.
EVENTS: dict[str, tuple[type[webhooks.Event], type[Any], dict[str, Any]]] = {
    "subscription.created": (webhooks.SubscriptionCreated, billcore.Subscription, SUBSCRIPTION),
    "subscription.updated": (webhooks.SubscriptionUpdated, billcore.Subscription, SUBSCRIPTION),
    "subscription.renewed": (webhooks.SubscriptionRenewed, billcore.Subscription, SUBSCRIPTION),
    "subscription.cancelled": (webhooks.SubscriptionCancelled, billcore.Subscription, SUBSCRIPTION),
    "order.confirmed": (webhooks.OrderConfirmed, billcore.Order, ORDER),
    "order.paid": (webhooks.OrderPaid, billcore.Order, ORDER),
    "product.updated": (webhooks.ProductUpdated, billcore.Product, PRODUCT),
    "product.deleted": (webhooks.ProductDeleted, billcore.Product, PRODUCT),
    "product-group.updated": (webhooks.ProductGroupUpdated, billcore.ProductGroup, GROUP),
    "product-group.deleted": (webhooks.ProductGroupDeleted, billcore.ProductGroup, GROUP),
    "test.hook": (webhooks.TestHook, billcore.Resource, {"any": "thing"}),
    "from.the.future": (webhooks.UnknownEvent, billcore.Resource, {"any": "thing"}),
}


def event_data(body: bytes) -> Any:
    return webhooks.unwrap(body, sign(body), SECRET).data


def raw_event(data: str) -> Any:
    body = f'{{"id": 1, "name": "subscription.updated", "data": {data}}}'.encode()
    return event_data(body)
