"""Operations on products. Service interface: Endpoints, Products."""

from __future__ import annotations

import re
import sqlite3
from typing import Any

from billcore.sandbox import clock, lists, resources
from billcore.sandbox.calls import Call, Reply, data, integer, json_object, number_of, reply, text
from billcore.sandbox.errors import invalid, not_found
from billcore.sandbox.world import Work

# Prices with VAT are made with decimals and stored as SQLite integers; this leaves room for both.
MAX_PRICE = 10**15


def find(call: Call) -> sqlite3.Row:
    """The product of the path; a deleted one is gone."""
    row = call.world.store.one("SELECT * FROM products WHERE id = ? AND deleted_at IS NULL", number_of(call.id))
    if row is None or row["account"] != call.account.number:
        raise not_found()
    return row


def index(call: Call) -> Reply:
    source = "products WHERE account = ? AND deleted_at IS NULL"
    per_page = call.world.options.products_per_page
    return lists.answer(call, source, [call.account.number], per_page, "id", resources.product)


def get(call: Call) -> Reply:
    return data(resources.product(find(call)))


def update(call: Call) -> Reply:
    """Only the fields that are sent change. Unknown ones are accepted and have no effect."""
    row = find(call)
    changes = _changes(json_object(call.body, call.content_type))
    if not changes:
        return data(resources.product(row))
    with call.world.effect(call.account) as work:
        assignments = ", ".join(f"{name} = ?" for name in changes)
        work.db.execute(f"UPDATE products SET {assignments} WHERE id = ?", (*changes.values(), row["id"]))
        fresh = work.db.execute("SELECT * FROM products WHERE id = ?", (row["id"],)).fetchone()
        resource = resources.product(fresh)
        work.record("product_update", product_id=row["id"], fields=changes)
        work.emit("product.updated", resource)
        for group, members in _groups(work, row["id"]):
            work.emit("product-group.updated", resources.product_group(group, members))
    return data(resource)


def _changes(fields: dict[str, Any]) -> dict[str, Any]:
    """The columns to set. The names are ours, never the request's."""
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
        if not number or not 0 <= rate <= 100:  # NaN is refused here, too: it compares false
            raise invalid("The field vat_rate must be a number from 0 to 100.")
        changes["vat_rate"] = float(rate)
    return changes


def delete(call: Call) -> Reply:
    """Soft: the product is gone from here and from lists; subscriptions and orders that refer to it stay."""
    row = find(call)
    resource = resources.product(row)
    with call.world.effect(call.account) as work:
        deleted_at = clock.iso(work.now)
        work.db.execute("UPDATE products SET deleted_at = ? WHERE id = ?", (deleted_at, row["id"]))
        work.record("product_delete", product_id=row["id"])
        work.emit("product.deleted", resource)
        for group, members in _groups(work, row["id"]):
            rest = [member for member in members if member != row["id"]]
            work.db.execute("DELETE FROM group_members WHERE group_id = ? AND product_id = ?", (group["id"], row["id"]))
            if rest:
                work.emit("product-group.updated", resources.product_group(group, rest))
            else:
                # The last product takes its group along.
                work.db.execute("UPDATE product_groups SET deleted_at = ? WHERE id = ?", (deleted_at, group["id"]))
                work.emit("product-group.deleted", resources.product_group(group, members))
    if call.world.options.delete_body == "empty":
        return Reply(200, b"")
    return reply(None) if call.world.options.delete_body == "null" else data(resource)


def _groups(work: Work, product_id: int) -> list[tuple[sqlite3.Row, list[int]]]:
    """The product's groups with all their members."""
    found = work.db.execute(
        "SELECT g.* FROM product_groups g JOIN group_members m ON m.group_id = g.id"
        " WHERE m.product_id = ? AND g.deleted_at IS NULL ORDER BY g.id",
        (product_id,),
    ).fetchall()
    members = "SELECT product_id FROM group_members WHERE group_id = ? ORDER BY product_id"
    return [(group, [row[0] for row in work.db.execute(members, (group["id"],))]) for group in found]
