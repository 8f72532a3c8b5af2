"""Operations on products. Service interface: Endpoints, Products."""

from __future__ import annotations

import re
import sqlite3
from typing import Any

from billcore_sandbox import resources
from billcore_sandbox.errors import invalid, not_found
from billcore_sandbox.service import lists
from billcore_sandbox.service.calls import Call, Reply, data, integer, json_object, number_of, reply, text

# With this limit, prices with VAT are exact in Decimal and fit SQLite's integers.
MAX_PRICE = 10**15


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
    changes = _changes(json_object(call.body, call.content_type))
    if not changes:
        return data(resources.product(row))
    with call.world.effect(call.account) as work:
        return data(resources.product(work.machine.fire(work, "product", row, "update", changes=changes)))


def _changes(fields: dict[str, Any]) -> dict[str, Any]:
    """The columns to set. Column names become SQL text, so they are constants, never names from the request."""
    changes: dict[str, Any] = {}
    for name in ("name", "description", "interval"):
        if name in fields:
            changes[name] = text(fields, name, nullable=name != "name")
    if changes.get("name") == "":
        raise invalid("The field name must not be empty.")
    if "price" in fields:
        changes["price"] = integer(fields, "price", None, 0, MAX_PRICE)
    if "currency" in fields:
        changes["currency"] = text(fields, "currency")
        if not re.fullmatch(r"[A-Z]{3}", changes["currency"]):
            raise invalid("The field currency must be a code of three capital letters.")
    if "vat_rate" in fields:
        rate = fields["vat_rate"]
        number = isinstance(rate, int | float) and not isinstance(rate, bool)
        if not number or not 0 <= rate <= 100:  # also refuses NaN, whose comparisons are false
            raise invalid("The field vat_rate must be a number from 0 to 100.")
        changes["vat_rate"] = float(rate)
    return changes


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
