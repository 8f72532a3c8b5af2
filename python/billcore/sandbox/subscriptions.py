"""Operations on subscriptions. Service interface: Endpoints, Subscriptions."""

from __future__ import annotations

import sqlite3
from typing import Any

from billcore.sandbox import clock, lists, orders, resources
from billcore.sandbox.calls import (
    MAX_INTEGER,
    Call,
    Reply,
    data,
    integer,
    json_object,
    last,
    number_of,
    query_integer,
    text,
)
from billcore.sandbox.errors import Refusal, invalid, not_found
from billcore.sandbox.seed import DONATION, ONE_TIME
from billcore.sandbox.world import Work

MAX_PER_PAGE, DEFAULT_PER_PAGE = 200, 20
MAX_VAT = 100_000


def find(call: Call) -> sqlite3.Row:
    """The subscription of the path. Another account's is as unknown as one that does not exist."""
    row = call.world.store.one("SELECT * FROM subscriptions WHERE id = ?", number_of(call.id))
    if row is None or row["account"] != call.account.number:
        raise not_found()
    return row


def refreshed(work: Work, subscription_id: int) -> dict[str, Any]:
    return resources.subscription(
        work.db.execute("SELECT * FROM subscriptions WHERE id = ?", (subscription_id,)).fetchone()
    )


def product_of_account(call: Call, product_id: int) -> sqlite3.Row:
    """The product that a body names. It is the body that is wrong, so it is 422 and not 404."""
    row = call.world.store.one("SELECT * FROM products WHERE id = ? AND deleted_at IS NULL", product_id)
    if row is None or row["account"] != call.account.number:
        raise invalid("The field product_id names no product of this account.", "invalid_product")
    return row


def index(call: Call) -> Reply:
    source, args = "subscriptions WHERE account = ?", [call.account.number]
    reference_id = last(call.query, "filter[reference_id]")
    if reference_id is not None:
        return lists.answer(
            call,
            f"{source} AND reference_id = ?",
            [*args, reference_id],
            call.world.options.subscriptions_per_page,
            "id",
            resources.subscription,
        )
    return lists.answer(call, source, args, call.world.options.subscriptions_per_page, "id", resources.subscription)


def get(call: Call) -> Reply:
    return data(resources.subscription(find(call)))


def order_list(call: Call) -> Reply:
    row = find(call)
    per_page = query_integer(call.query, "per_page", DEFAULT_PER_PAGE, 1, MAX_PER_PAGE)
    source, args = "orders WHERE subscription_id = ?", [row["id"]]
    if last(call.query, "filter[product_id]") is not None:
        source += " AND product_id = ?"
        args.append(query_integer(call.query, "filter[product_id]", 0, -MAX_INTEGER, MAX_INTEGER))
    states = lists.order_states(call.query)
    if states:
        source += f" AND state IN ({', '.join('?' * len(states))})"
        args.extend(states)
    # Latest first; of two in the same second, the later made first.
    return lists.answer(call, source, args, per_page, "created_at DESC, id DESC", resources.order)


def cancel(call: Call) -> Reply:
    """No further renewals; usable until the end of the paid period, as `active` or as `cancelled`."""
    row, world = find(call), call.world
    if row["status"] == "expired":
        raise Refusal(422, "not_cancellable", "An expired subscription cannot be cancelled.")
    if row["cancelled"]:
        if world.options.second_cancel == "refuse":
            raise Refusal(422, "already_cancelled", "The subscription has been cancelled before.")
        return data(resources.subscription(row))
    product = world.store.one("SELECT * FROM products WHERE id = ?", row["product_id"])
    if product is None:
        raise not_found()
    stays = world.options.cancel == "active" or (world.options.cancel == "by-product" and product["stays_active"])
    with world.effect(call.account) as work:
        ends_at = work.now
        if row["renews_at"] is not None and row["status"] not in ("delayed", "unpaid"):
            ends_at = clock.period_end(clock.parse(row["renews_at"]), product["interval"], work.now)
        # Only what works now can stay active: a pending or unpaid subscription has no paid period.
        status = "active" if stays and row["status"] == "active" else "cancelled"
        work.db.execute(
            "UPDATE subscriptions SET status = ?, cancelled = 1, renews_at = NULL, ends_at = ? WHERE id = ?",
            (status, clock.iso(ends_at), row["id"]),
        )
        resource = refreshed(work, row["id"])
        work.record("cancel", subscription_id=resource["id"], status=status)
        work.emit("subscription.cancelled", resource)
    return data(resource)


def change_product(call: Call) -> Reply:
    row = find(call)
    fields = json_object(call.body, call.content_type)
    product = product_of_account(call, integer(fields, "product_id", None, 1))
    price, vat = resources.net_price(product), round(product["vat_rate"] * 100)
    with call.world.effect(call.account) as work:
        work.db.execute(
            "UPDATE subscriptions SET product_id = ?, price = ?, vat = ?, currency = ? WHERE id = ?",
            (product["id"], price, vat, product["currency"], row["id"]),
        )
        resource = refreshed(work, row["id"])
        work.record(
            "change_product", subscription_id=resource["id"], product_id=product["id"], old_product_id=row["product_id"]
        )
        work.emit("subscription.updated", resource)
    return data(resource)


def charge(call: Call) -> Reply:
    """A one-off charge: an order that is confirmed, and paid where the billing method settles at once."""
    row, world = find(call), call.world
    fields = json_object(call.body, call.content_type)
    product_id = integer(fields, "product_id", None, 1)
    amount = integer(fields, "amount", None, 1)
    quantity = integer(fields, "quantity", 1, 1)
    vat = integer(fields, "vat", 2500, 0, MAX_VAT)
    description = text(fields, "description")
    _refuse_donation(call, row)
    product = product_of_account(call, product_id)
    if product["type"] != ONE_TIME:
        raise invalid("The field product_id must name a one-time product.", "invalid_product")
    total = amount * quantity if world.options.charge_total == "amount-times-quantity" else amount
    if row["declines"]:
        raise Refusal(402, "charge_declined", "The charge could not be processed: the payment was declined.")
    with world.effect(call.account) as work:
        order = orders.insert(
            work,
            subscription=row,
            product_id=product_id,
            total=total,
            vat=vat,
            currency=row["currency"],
            state="confirmed",
            billing=row["billing"],
            metadata={} if description is None else {"description": description},
        )
        work.record(
            "charge",
            subscription_id=str(row["id"]),
            order_id=str(order["id"]),
            product_id=product_id,
            amount=amount,
            quantity=quantity,
            vat=vat,
            total=total,
        )
        orders.announce_confirmed(work, order)
        if orders.settles_at_once(world.options, row["billing"]):
            order = orders.pay(work, order)
        resource = resources.order(order)
    return data(resource)


def _refuse_donation(call: Call, row: sqlite3.Row) -> None:
    product = call.world.store.one("SELECT type FROM products WHERE id = ?", row["product_id"])
    if product is not None and product["type"] == DONATION:
        message = "A donation subscription takes no one-off charge."
        raise Refusal(call.world.options.donation_status, "donation_subscription", message)
