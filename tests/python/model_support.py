"""A sample for each kind of event, and functions that make an event from given bytes."""

from __future__ import annotations

from typing import Any

import billcore
from billcore import webhooks

from .support import GROUP, ORDER, PRODUCT, SECRET, SUBSCRIPTION, sign

NAMES = {
    "subscription.created": (billcore.Subscription, SUBSCRIPTION),
    "subscription.updated": (billcore.Subscription, SUBSCRIPTION),
    "subscription.renewed": (billcore.Subscription, SUBSCRIPTION),
    "subscription.cancelled": (billcore.Subscription, SUBSCRIPTION),
    "order.confirmed": (billcore.Order, ORDER),
    "order.paid": (billcore.Order, ORDER),
    "product.updated": (billcore.Product, PRODUCT),
    "product.deleted": (billcore.Product, PRODUCT),
    "product-group.updated": (billcore.ProductGroup, GROUP),
    "product-group.deleted": (billcore.ProductGroup, GROUP),
    "test.hook": (billcore.Resource, {"any": "thing"}),
    "from.the.future": (billcore.Resource, {"any": "thing"}),
}


def event_data(body: bytes) -> Any:
    return webhooks.unwrap(body, sign(body), SECRET).data


def raw_event(data: str) -> Any:
    body = f'{{"id": 1, "name": "subscription.updated", "data": {data}}}'.encode()
    return event_data(body)
