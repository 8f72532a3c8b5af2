"""Orders: reading one, making one, and its way from created over confirmed to paid."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from typing import Any

from billcore.sandbox import clock, resources
from billcore.sandbox.calls import MAX_INTEGER, Call, Reply, data, number_of
from billcore.sandbox.errors import Refusal, invalid, not_found
from billcore.sandbox.options import Options
from billcore.sandbox.world import Work

PAYABLE = ("confirmed", "payment_pending", "payment_pending_user", "payment_failed")


def get(call: Call) -> Reply:
    row = call.world.store.one("SELECT * FROM orders WHERE id = ?", number_of(call.id))
    if row is None or row["account"] != call.account.number:
        raise not_found()
    return data(resources.order(row))


def settles_at_once(options: Options, billing: str) -> bool:
    """Whether a confirmed order is paid in the same breath: cards and mobile payments are, invoices are not."""
    if options.settlement == "by-billing":
        return billing != "invoice"
    return options.settlement == "immediate"


def insert(
    work: Work,
    *,
    subscription: sqlite3.Row | None,
    product_id: int,
    total: int,
    vat: int,
    currency: str,
    state: str,
    billing: str,
    reference_id: str | None = None,
    reference_name: str | None = None,
    metadata: dict[str, Any] | None = None,
    is_first: bool = False,
) -> sqlite3.Row:
    """Make an order in `state`; references come from the subscription when there is one.

    is_first: the order of a checkout, whose payment activates the subscription (that of a charge does not).
    """
    gross = resources.with_vat(total, vat)
    if gross > MAX_INTEGER:
        raise invalid("The total of the order is too large.")
    if subscription is not None:
        reference_id, reference_name = subscription["reference_id"], subscription["reference_name"]
    cursor = work.db.execute(
        "INSERT INTO orders (account, subscription_id, product_id, created_at, total, total_with_vat, currency,"
        " reference_id, reference_name, state, billing, is_first, custom_fields, metadata)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '[]', ?)",
        (
            work.account.number,
            None if subscription is None else subscription["id"],
            product_id,
            clock.iso(work.now),
            total,
            gross,
            currency,
            reference_id,
            reference_name,
            state,
            billing,
            int(is_first),
            json.dumps(metadata or {}),
        ),
    )
    return by_id(work, cursor.lastrowid)


def by_id(work: Work, order_id: int | None) -> sqlite3.Row:
    row: sqlite3.Row | None = work.db.execute("SELECT * FROM orders WHERE id = ?", (order_id,)).fetchone()
    if row is None:
        raise not_found()
    return row


def confirm(work: Work, order: sqlite3.Row) -> sqlite3.Row:
    """created -> confirmed; fires order.confirmed."""
    if order["state"] != "created":
        raise Refusal(422, "order_state", f"An order that is {order['state']} cannot be confirmed.")
    work.db.execute("UPDATE orders SET state = 'confirmed' WHERE id = ?", (order["id"],))
    return announce_confirmed(work, by_id(work, order["id"]))


def announce_confirmed(work: Work, order: sqlite3.Row) -> sqlite3.Row:
    work.emit("order.confirmed", resources.order(order))
    return order


def pay(work: Work, order: sqlite3.Row) -> sqlite3.Row:
    """confirmed -> paid; fires order.paid, and activates a subscription whose first order this is."""
    if order["state"] not in PAYABLE:
        raise Refusal(422, "order_state", f"An order that is {order['state']} cannot be paid.")
    # Looks like a payment provider's reference; made from the order's id, so the same steps give the same value.
    remote_id = "pay_" + hashlib.sha256(f"payment {order['id']}".encode()).hexdigest()[:16]
    work.db.execute("UPDATE orders SET state = 'paid', remote_id = ? WHERE id = ?", (remote_id, order["id"]))
    order = by_id(work, order["id"])
    work.emit("order.paid", resources.order(order))
    if order["is_first"]:
        _activate(work, order["subscription_id"])
    return order


def _activate(work: Work, subscription_id: int | None) -> None:
    row = work.db.execute(
        "SELECT s.*, p.interval FROM subscriptions s JOIN products p ON p.id = s.product_id WHERE s.id = ?",
        (subscription_id,),
    ).fetchone()
    if row is None or row["status"] != "pending":
        return
    now = clock.iso(work.now)
    status, start = "active", work.now
    if row["starts_at"] is not None and row["starts_at"] > now:
        status, start = "future_start", clock.parse(row["starts_at"])
    elif row["trial_ends_at"] is not None and row["trial_ends_at"] > now:
        status, start = "trialing", clock.parse(row["trial_ends_at"])
    renews_at = start if status == "trialing" else clock.add_interval(start, row["interval"])
    work.db.execute(
        "UPDATE subscriptions SET status = ?, renews_at = ? WHERE id = ?", (status, clock.iso(renews_at), row["id"])
    )
    fresh = work.db.execute("SELECT * FROM subscriptions WHERE id = ?", (row["id"],)).fetchone()
    work.emit("subscription.created", resources.subscription(fresh))
