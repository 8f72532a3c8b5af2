"""Operations on products. Service interface: Endpoints, Products."""

from __future__ import annotations

import sqlite3

from msgspec import UNSET

from billcore_sandbox import resources
from billcore_sandbox.errors import not_found
from billcore_sandbox.service import lists
from billcore_sandbox.service.calls import Call, Reply, data, fields, number_of, reply
from billcore_sandbox.service.schemas import ProductWrite


def find(call: Call) -> sqlite3.Row:
    """The product whose id is in the path. Raises Refusal 404, also for a deleted product."""
    row = call.world.store.one("SELECT * FROM products WHERE id = ? AND state = 'live'", number_of(call.id))
    if row is None or row["account"] != call.account.number:
        raise not_found()
    return row


def index(call: Call) -> Reply:
    """List products."""
    source = "products WHERE account = ? AND state = 'live'"
    per_page = call.world.options.products_per_page
    return lists.answer(call, source, [call.account.number], per_page, "id", resources.product)


def get(call: Call) -> Reply:
    """Retrieve a product."""
    return data(resources.product(find(call)))


def update(call: Call) -> Reply:
    """Update a product.

    Only the fields in the body change. Unknown fields are accepted and have no effect.
    """
    row = find(call)
    body = fields(call, ProductWrite)
    # Column names become SQL text, so they are names of the type, never names from the request.
    given = {name: getattr(body, name) for name in body.__struct_fields__}
    changes = {name: value for name, value in given.items() if value is not UNSET}
    if not changes:
        return data(resources.product(row))
    with call.world.effect(call.account) as work:
        return data(resources.product(work.machine.fire(work, "product", row, "update", changes=changes)))


def delete(call: Call) -> Reply:
    """Delete a product.

    Lists omit a deleted product, and reading it gives 404; subscriptions and orders that refer to it stay.
    """
    row = find(call)
    resource = resources.product(row)
    with call.world.effect(call.account) as work:
        work.machine.fire(work, "product", row, "delete")
    if call.world.options.delete_body == "empty":
        return Reply(200, b"", content_type="")
    return reply(None) if call.world.options.delete_body == "null" else data(resource)
