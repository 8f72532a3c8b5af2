"""What customers and time do in the real service, done here by control routes: checkout, confirm, pay, renew."""

from __future__ import annotations

import json
import sqlite3
from datetime import timedelta
from typing import Any

from billcore.sandbox import clock, orders, resources
from billcore.sandbox.calls import integer, number_of, text
from billcore.sandbox.errors import Refusal, invalid, not_found
from billcore.sandbox.seed import ONE_TIME
from billcore.sandbox.store import Account
from billcore.sandbox.world import Work, World

BILLINGS = ("card", "mobile", "invoice")
RENEWABLE = ("active", "trialing", "delayed", "unpaid")
_CHECKOUT_FIELDS = (
    "account",
    "product_id",
    "reference_id",
    "reference_name",
    "billing",
    "trial_days",
    "starts_in_days",
    "declines",
    "metadata",
)


def account_of(world: World, fields: dict[str, Any]) -> Account | None:
    """The account a control request names by its UUID, or None where it names none."""
    uuid = text(fields, "account", nullable=True)
    if uuid is None:
        return None
    account = world.store.account_by_uuid(uuid)
    if account is None:
        raise not_found()
    return account


def checkout(world: World, fields: dict[str, Any]) -> dict[str, Any]:
    """A visitor starts to buy: an order in state created, and a pending subscription when the product recurs."""
    for name in fields:
        if name not in _CHECKOUT_FIELDS:
            raise invalid(f"checkout knows no field {name!r}: use {', '.join(_CHECKOUT_FIELDS)}")
    billing = text(fields, "billing", nullable=True) or "card"
    if billing not in BILLINGS:
        raise invalid(f"the field billing must be one of {', '.join(BILLINGS)}")
    metadata = fields.get("metadata", {})
    if not isinstance(metadata, dict) or not isinstance(fields.get("declines", False), bool):
        raise invalid("the field metadata must be an object, declines true or false")
    named = account_of(world, fields)
    product = world.store.one(
        "SELECT * FROM products WHERE id = ? AND deleted_at IS NULL", integer(fields, "product_id", None, 1)
    )
    if product is None or (named is not None and product["account"] != named.number):
        raise not_found()
    reference_id = text(fields, "reference_id", nullable=True)
    reference_name = text(fields, "reference_name", nullable=True)
    vat = round(product["vat_rate"] * 100)
    with world.effect(world.store.account_by_number(product["account"])) as work:
        subscription = None
        if product["type"] != ONE_TIME:
            subscription = _subscribe(work, product, vat, billing, reference_id, reference_name, metadata, fields)
        order = orders.insert(
            work,
            subscription=subscription,
            product_id=product["id"],
            total=resources.net_price(product),
            vat=vat,
            currency=product["currency"],
            state="created",
            billing=billing,
            reference_id=reference_id,
            reference_name=reference_name,
            metadata=metadata,
            is_first=True,
        )
        subscription_id = None if subscription is None else str(subscription["id"])
        work.record("checkout", product_id=product["id"], subscription_id=subscription_id, order_id=str(order["id"]))
        return _shown(work, order)


def _subscribe(
    work: Work,
    product: sqlite3.Row,
    vat: int,
    billing: str,
    reference_id: str | None,
    reference_name: str | None,
    metadata: dict[str, Any],
    fields: dict[str, Any],
) -> sqlite3.Row:
    later: dict[str, str | None] = {}
    for column, name in (("trial_ends_at", "trial_days"), ("starts_at", "starts_in_days")):
        days = integer(fields, name, 0, 0, 36500)
        later[column] = clock.iso(work.now + timedelta(days=days)) if days else None
    cursor = work.db.execute(
        "INSERT INTO subscriptions (account, product_id, price, vat, currency, created_at, starts_at, trial_ends_at,"
        " reference_id, reference_name, status, cancelled, billing, declines, custom_fields, metadata)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending', 0, ?, ?, '[]', ?)",
        (
            work.account.number,
            product["id"],
            resources.net_price(product),
            vat,
            product["currency"],
            clock.iso(work.now),
            later["starts_at"],
            later["trial_ends_at"],
            reference_id,
            reference_name,
            billing,
            int(fields.get("declines", False)),
            json.dumps(metadata),
        ),
    )
    row: sqlite3.Row = work.db.execute("SELECT * FROM subscriptions WHERE id = ?", (cursor.lastrowid,)).fetchone()
    return row


def confirm(world: World, order_id: str, fields: dict[str, Any]) -> dict[str, Any]:
    """The visitor confirms; where the billing method settles at once, the order is paid in the same breath."""
    row, account = _order(world, order_id, fields)
    with world.effect(account) as work:
        order = orders.confirm(work, row)
        if orders.settles_at_once(world.options, order["billing"]):
            order = orders.pay(work, order)
        work.record("confirm", order_id=order_id, state=order["state"])
        return _shown(work, order)


def pay(world: World, order_id: str, fields: dict[str, Any]) -> dict[str, Any]:
    """The payment settles. An order that is paid already stays as it is: no effect, no event."""
    row, account = _order(world, order_id, fields)
    with world.effect(account) as work:
        if row["state"] == "paid":
            return _shown(work, row)
        order = orders.pay(work, row)
        work.record("pay", order_id=order_id)
        return _shown(work, order)


def renew(world: World, subscription_id: str, fields: dict[str, Any]) -> dict[str, Any]:
    """The renewal date comes. Paid: active, renews_at moves on. Declined: active -> delayed -> unpaid."""
    row = world.store.one(
        "SELECT s.*, p.interval FROM subscriptions s JOIN products p ON p.id = s.product_id WHERE s.id = ?",
        number_of(subscription_id),
    )
    named = account_of(world, fields)
    if row is None or (named is not None and row["account"] != named.number):
        raise not_found()
    if row["status"] not in RENEWABLE or row["cancelled"]:
        status = "cancelled" if row["cancelled"] else row["status"]
        raise Refusal(422, "not_renewable", f"A subscription that is {status} does not renew.")
    with world.effect(world.store.account_by_number(row["account"])) as work:
        if row["declines"]:
            return _renewal_failed(work, row)
        order = orders.insert(
            work,
            subscription=row,
            product_id=row["product_id"],
            total=row["price"],
            vat=row["vat"],
            currency=row["currency"],
            state="confirmed",
            billing=row["billing"],
        )
        old_end = clock.parse(row["renews_at"]) if row["renews_at"] is not None else work.now
        renews_at = clock.period_end(clock.add_interval(old_end, row["interval"]), row["interval"], work.now)
        work.db.execute(
            "UPDATE subscriptions SET status = 'active', renews_at = ? WHERE id = ?", (clock.iso(renews_at), row["id"])
        )
        orders.announce_confirmed(work, order)
        if orders.settles_at_once(world.options, row["billing"]):
            order = orders.pay(work, order)
        work.record("renew", subscription_id=subscription_id, order_id=str(order["id"]), total=order["total"])
        fresh = work.db.execute("SELECT * FROM subscriptions WHERE id = ?", (row["id"],)).fetchone()
        work.emit("subscription.renewed", resources.subscription(fresh))
        return _shown(work, order)


def _renewal_failed(work: Work, row: sqlite3.Row) -> dict[str, Any]:
    status = "delayed" if row["status"] in ("active", "trialing") else "unpaid"
    work.db.execute("UPDATE subscriptions SET status = ? WHERE id = ?", (status, row["id"]))
    subscription = resources.subscription(
        work.db.execute("SELECT * FROM subscriptions WHERE id = ?", (row["id"],)).fetchone()
    )
    work.record("renew_failed", subscription_id=subscription["id"], status=status)
    if status != row["status"]:
        work.emit("subscription.updated", subscription)
    return {"subscription": subscription, "order": None}


def _order(world: World, order_id: str, fields: dict[str, Any]) -> tuple[sqlite3.Row, Account]:
    row = world.store.one("SELECT * FROM orders WHERE id = ?", number_of(order_id))
    named = account_of(world, fields)
    if row is None or (named is not None and row["account"] != named.number):
        raise not_found()
    return row, world.store.account_by_number(row["account"])


def _shown(work: Work, order: sqlite3.Row) -> dict[str, Any]:
    """Order and subscription as they are now, in the shape of the REST interface."""
    row = work.db.execute("SELECT * FROM subscriptions WHERE id = ?", (order["subscription_id"],)).fetchone()
    return {
        "subscription": None if row is None else resources.subscription(row),
        "order": resources.order(order),
    }
