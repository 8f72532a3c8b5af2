"""Reading orders. Service interface: Endpoints, Orders."""

from __future__ import annotations

from billcore_sandbox import resources
from billcore_sandbox.errors import not_found
from billcore_sandbox.service.calls import Call, Reply, data, number_of


def get(call: Call) -> Reply:
    """Retrieve an order."""
    row = call.world.store.one("SELECT * FROM orders WHERE id = ?", number_of(call.id))
    if row is None or row["account"] != call.account.number:
        raise not_found()
    return data(resources.order(row))
