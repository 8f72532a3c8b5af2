"""Reading orders. Service interface: Endpoints, Orders."""

from __future__ import annotations

from billcore_sandbox import resources
from billcore_sandbox.service.calls import Call, Reply, data, requested


def get(call: Call) -> Reply:
    """Retrieve an order."""
    return data(resources.order(requested(call, "orders")))
