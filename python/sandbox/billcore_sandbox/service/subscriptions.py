"""Operations on subscriptions. Service interface: Endpoints, Subscriptions."""

from __future__ import annotations

import json
import sqlite3

from billcore_sandbox import resources
from billcore_sandbox.effects import bill
from billcore_sandbox.errors import Refusal, invalid, not_found
from billcore_sandbox.resources import MAX_INTEGER
from billcore_sandbox.seed import DONATION, ONE_TIME
from billcore_sandbox.service import lists
from billcore_sandbox.service.calls import (
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

MAX_PER_PAGE, DEFAULT_PER_PAGE = 200, 20
MAX_VAT = 100_000


def find(call: Call) -> sqlite3.Row:
    """The subscription whose id is in the path. Raises Refusal 404, also for another account's subscription."""
    row = call.world.store.one("SELECT * FROM subscriptions WHERE id = ?", number_of(call.id))
    if row is None or row["account"] != call.account.number:
        raise not_found()
    return row


def product_of_account(call: Call, product_id: int) -> sqlite3.Row:
    """The product whose id is in a body. Raises Refusal 422 for an unknown id: 404 is only for ids in the path."""
    row = call.world.store.one("SELECT * FROM products WHERE id = ? AND state = 'live'", product_id)
    if row is None or row["account"] != call.account.number:
        raise invalid("The field product_id names no product of this account.", "invalid_product")
    return row


def index(call: Call) -> Reply:
    """List subscriptions: all, or only those with one reference_id."""
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
    """Retrieve a subscription."""
    return data(resources.subscription(find(call)))


def order_list(call: Call) -> Reply:
    """List the orders of a subscription, latest first."""
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
    # Orders are listed latest first; orders of the same second by descending id.
    return lists.answer(call, source, args, per_page, "created_at DESC, id DESC", resources.order)


def cancel(call: Call) -> Reply:
    """Cancel a subscription: no further renewals.

    The subscription is usable until the end of the paid period, with the status `active` or `cancelled`.
    """
    row, world = find(call), call.world
    if row["status"] == "expired":
        raise Refusal(422, "not_cancellable", "An expired subscription cannot be cancelled.")
    if row["cancelled"]:
        if world.options.second_cancel == "refuse":
            raise Refusal(422, "already_cancelled", "The subscription has been cancelled before.")
        return data(resources.subscription(row))
    with world.effect(call.account) as work:
        return data(resources.subscription(work.machine.fire(work, "subscription", row, "cancel")))


def change_product(call: Call) -> Reply:
    """Change the product of a subscription."""
    row = find(call)
    fields = json_object(call.body, call.content_type)
    product = product_of_account(call, integer(fields, "product_id", None, 1))
    with call.world.effect(call.account) as work:
        changed = work.machine.fire(work, "subscription", row, "change_product", product=product)
        return data(resources.subscription(changed))


def charge(call: Call) -> Reply:
    """Create a one-off charge on a subscription that is not a donation.

    The order is confirmed, and also paid if the billing method settles at once.
    """
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
    metadata = json.dumps({} if description is None else {"description": description})
    with world.effect(call.account) as work:
        order = bill(work, row, product_id=product_id, total=total, vat=vat, metadata=metadata)
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
        return data(resources.order(order))


def _refuse_donation(call: Call, row: sqlite3.Row) -> None:
    product = call.world.store.one("SELECT type FROM products WHERE id = ?", row["product_id"])
    if product is not None and product["type"] == DONATION:
        message = "A donation subscription takes no one-off charge."
        raise Refusal(call.world.options.donation_status, "donation_subscription", message)
