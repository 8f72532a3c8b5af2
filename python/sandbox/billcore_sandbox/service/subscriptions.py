"""Operations on subscriptions. Service interface: Endpoints, Subscriptions."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

from msgspec import UNSET

from billcore_sandbox import resources
from billcore_sandbox.effects import bill
from billcore_sandbox.errors import Refusal, invalid
from billcore_sandbox.resources import MAX_INTEGER
from billcore_sandbox.seed import DONATION, ONE_TIME
from billcore_sandbox.service import lists
from billcore_sandbox.service.calls import Call, Reply, data, fields, last, query_integer, requested
from billcore_sandbox.service.schemas import Charge, ProductChange

MAX_PER_PAGE, DEFAULT_PER_PAGE = 200, 20


def product_of_account(call: Call, product_id: int) -> sqlite3.Row:
    """The product whose id is in a body. Raises Refusal 422 for an unknown id: 404 is only for ids in the path."""
    row = call.world.store.one("SELECT * FROM products WHERE id = ? AND state = 'live'", product_id)
    if row is None or row["account"] != call.account.number:
        raise invalid("The field product_id names no product of this account.", "invalid_product")
    return row


def index(call: Call) -> Reply:
    """List subscriptions: all, or only those with one reference_id."""
    source, args = "subscriptions WHERE account = ?", list[Any]([call.account.number])
    reference_id = last(call.query, "filter[reference_id]")
    if reference_id is not None:
        source += " AND reference_id = ?"
        args.append(reference_id)
    return lists.answer(call, source, args, call.account.options.subscriptions_per_page, "id", resources.subscription)


def get(call: Call) -> Reply:
    """Retrieve a subscription."""
    return data(resources.subscription(requested(call, "subscriptions")))


def order_list(call: Call) -> Reply:
    """List the orders of a subscription, latest first."""
    row = requested(call, "subscriptions")
    per_page = query_integer(call.query, "per_page", DEFAULT_PER_PAGE, 1, MAX_PER_PAGE)
    source, args = "orders WHERE subscription_id = ?", [row["id"]]
    if last(call.query, "filter[product_id]") is not None:
        source += " AND product_id = ?"
        args.append(query_integer(call.query, "filter[product_id]", 0, -MAX_INTEGER, MAX_INTEGER))
    states = lists.order_states(call.query)
    if states:
        source += f" AND state IN ({', '.join('?' * len(states))})"
        args.extend(states)
    # Orders are listed latest first; orders of the same second by descending id.
    return lists.answer(call, source, args, per_page, "created_at DESC, id DESC", resources.order)


def cancel(call: Call) -> Reply:
    """Cancel a subscription: no further renewals.

    The subscription is usable until the end of the paid period, with the status `active` or `cancelled`.
    """
    row = requested(call, "subscriptions")
    if row["status"] == "expired":
        raise Refusal(422, "not_cancellable", "An expired subscription cannot be cancelled.")
    if row["cancelled"]:
        if call.account.options.second_cancel == "refuse":
            raise Refusal(422, "already_cancelled", "The subscription has been cancelled before.")
        return data(resources.subscription(row))
    with call.world.effect(call.account) as work:
        return data(resources.subscription(work.machine.fire(work, "subscription", row, "cancel")))


def change_product(call: Call) -> Reply:
    """Change the product of a subscription."""
    row = requested(call, "subscriptions")
    product = product_of_account(call, fields(call, ProductChange).product_id)
    if product["type"] == ONE_TIME and call.account.options.swap_to_one_time == "refuse":
        raise invalid("A subscription cannot have a one-time product.", "invalid_product")
    with call.world.effect(call.account) as work:
        changed = work.machine.fire(work, "subscription", row, "change_product", product=product)
        return data(resources.subscription(changed))


def charge(call: Call) -> Reply:
    """Create a one-off charge on a subscription that is not a donation.

    The order is confirmed, and also paid if the billing method settles at once.
    """
    row, options = requested(call, "subscriptions"), call.account.options
    body = fields(call, Charge)
    bought = call.world.store.one("SELECT type FROM products WHERE id = ?", row["product_id"])
    if bought is not None and bought["type"] == DONATION:
        message = "A donation subscription takes no one-off charge."
        raise Refusal(options.donation_status, "donation_subscription", message)
    product = product_of_account(call, body.product_id)
    if product["type"] != ONE_TIME:
        raise invalid("The field product_id must name a one-time product.", "invalid_product")
    total = body.amount * (body.quantity if options.charge_total == "amount-times-quantity" else 1)
    if row["declines"]:
        raise Refusal(402, "charge_declined", "The charge could not be processed: the payment was declined.")
    metadata = json.dumps({} if body.description is UNSET else {"description": body.description})
    with call.world.effect(call.account) as work:
        order = bill(work, row, product_id=body.product_id, total=total, vat=body.vat, metadata=metadata)
        ids = {"subscription_id": str(row["id"]), "order_id": str(order["id"])}
        given = {name: getattr(body, name) for name in ("product_id", "amount", "quantity", "vat")}
        work.record("charge", **ids, **given, total=total)
        return data(resources.order(order))
