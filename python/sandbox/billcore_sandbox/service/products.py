"""Operations on products. Service interface: Endpoints, Products."""

from __future__ import annotations

from msgspec import UNSET

from billcore_sandbox import resources
from billcore_sandbox.service import lists
from billcore_sandbox.service.calls import Call, Reply, data, fields, reply, requested
from billcore_sandbox.service.schemas import ProductWrite

_LIVE = "state = 'live'"  # a deleted product is as if it were not there


def index(call: Call) -> Reply:
    """List products."""
    source = f"products WHERE account = ? AND {_LIVE}"
    per_page = call.account.options.products_per_page
    return lists.answer(call, source, [call.account.number], per_page, "id", resources.product)


def get(call: Call) -> Reply:
    """Retrieve a product."""
    return data(resources.product(requested(call, "products", _LIVE)))


def update(call: Call) -> Reply:
    """Update a product.

    Only the fields in the body change. Unknown fields are accepted and have no effect.
    """
    row = requested(call, "products", _LIVE)
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
    row = requested(call, "products", _LIVE)
    resource = resources.product(row)
    with call.world.effect(call.account) as work:
        work.machine.fire(work, "product", row, "delete")
    if call.account.options.delete_body == "empty":
        return Reply(200, b"", content_type="")
    return reply(None) if call.account.options.delete_body == "null" else data(resource)
