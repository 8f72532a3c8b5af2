"""Control routes for subscriptions, orders, products and groups: actions of customers, administrators and time."""

from __future__ import annotations

import json
import sqlite3
from datetime import timedelta

from billcore_sandbox import clock, resources
from billcore_sandbox.control import answers, bodies
from billcore_sandbox.control.common import account_or_first, find, named_account, shown
from billcore_sandbox.effects import order_columns, settles_at_once
from billcore_sandbox.errors import invalid
from billcore_sandbox.lifecycle import resource_of
from billcore_sandbox.seed import ONE_TIME
from billcore_sandbox.seed_file import product_columns
from billcore_sandbox.store import Account
from billcore_sandbox.work import Work
from billcore_sandbox.world import World


def checkout(world: World, body: bodies.Checkout) -> answers.Shown:
    """Start a purchase as a visitor: create an order in state `created`, and for a recurring product a subscription."""
    named = named_account(world, body.account)
    product = world.store.one("SELECT * FROM products WHERE id = ? AND state = 'live'", body.product_id)
    if product is None or (named is not None and product["account"] != named.number):
        raise invalid("The field product_id names no product.", "invalid_product")
    with world.effect(world.store.by_number[product["account"]]) as work:
        subscription = None
        if product["type"] != ONE_TIME:
            subscription = _pending(work, product, body)
        terms = resources.terms(product)
        total = terms.pop("price")
        columns = order_columns(work, total=total, **terms, billing=body.billing, subscription=subscription)
        columns |= {"reference_id": body.reference_id, "reference_name": body.reference_name}
        columns |= {"is_first": int(subscription is not None), "metadata": json.dumps(body.metadata)}
        order = work.machine.create(work, "order", "checkout", columns)
        work.record("checkout", order_id=str(order["id"]), product_id=product["id"])
        return shown(work, order, order["subscription_id"])


def _pending(work: Work, product: sqlite3.Row, body: bodies.Checkout) -> sqlite3.Row:
    start = work.now + timedelta(days=body.starts_in_days)
    trial_end = start + timedelta(days=body.trial_days)
    columns = {
        "account": work.account.number,
        **resources.terms(product),
        "created_at": clock.iso(work.now),
        "starts_at": clock.iso(start) if body.starts_in_days else None,
        "trial_ends_at": clock.iso(trial_end) if body.trial_days else None,
        "reference_id": body.reference_id,
        "reference_name": body.reference_name,
        "billing": body.billing,
        "declines": int(body.declines),
        "metadata": json.dumps(body.metadata),
    }
    return work.machine.create(work, "subscription", "checkout", columns)


def confirm(world: World, body: bodies.Nothing, number: str) -> answers.Shown:
    """Confirm an order as the visitor. The order is also paid if its billing method settles at once."""
    row, account = find(world, "order", number, body)
    with world.effect(account) as work:
        order = work.machine.fire(work, "order", row, "confirm")
        if settles_at_once(work.options, order["billing"]):
            order = work.machine.fire(work, "order", order, "pay")
        work.record("confirm", order_id=number, state=order["state"])
        return shown(work, order, order["subscription_id"])


def pay(world: World, body: bodies.Nothing, number: str) -> answers.Shown:
    """Settle the payment of an order. If the order is already paid, there is no effect and no event."""
    row, account = find(world, "order", number, body)
    with world.effect(account) as work:
        if row["state"] != "paid":
            work.machine.fire(work, "order", row, "pay")
            work.record("pay", order_id=number)
        return shown(work, row, row["subscription_id"])


def order_cause(world: World, cause: str, body: bodies.Nothing, number: str) -> answers.Shown:
    """Perform an action on an order: await_payment, await_user, fail_payment, cancel_payment or refund."""
    row, account = find(world, "order", number, body)
    with world.effect(account) as work:
        work.machine.fire(work, "order", row, cause)
        work.record(cause, order_id=number)
        return shown(work, row, row["subscription_id"])


def subscription_cause(world: World, cause: str, body: bodies.Body, number: str) -> answers.Shown:
    """Perform an action on a subscription: renew, start, end or cancel."""
    row, account = find(world, "subscription", number, body)
    with world.effect(account) as work:
        work.machine.fire(work, "subscription", row, cause)
        return shown(work, work.new_order, row["id"])


def change_billing(world: World, body: bodies.BillingMethod, number: str) -> answers.Shown:
    """Change the billing method, or whether it declines payments."""
    row, account = find(world, "subscription", number, body)
    if body.billing is None and body.declines is None:
        raise invalid("change_billing needs billing or declines.")
    with world.effect(account) as work:
        work.machine.fire(work, "subscription", row, "change_billing", billing=body.billing, declines=body.declines)
        return shown(work, None, row["id"])


def create_product(world: World, body: bodies.NewProduct) -> answers.MadeProduct:
    """Create a product as an administrator."""
    account = account_or_first(world, body.account)
    with world.effect(account) as work:
        columns = product_columns(body, account.number)
        row = work.machine.create(work, "product", "create", columns)
        work.record("product_create", product_id=row["id"])
        return {"product": resource_of(work, "product", row)}


def create_group(world: World, body: bodies.NewGroup) -> answers.ShownGroup:
    """Create a product group as an administrator."""
    account = account_or_first(world, body.account)
    with world.effect(account) as work:
        _check_products(world, account, body.products)
        # Add the products to the group before the event is fired, because the event shows them.
        number = world.store.last_id("product_groups") + 1
        work.set_members(number, body.products)
        row = work.machine.create(work, "group", "create", {"id": number, "account": account.number, "name": body.name})
        work.record("group_create", group_id=row["id"])
        return {"group": resource_of(work, "group", row)}


def change_group(world: World, body: bodies.Group, number: str) -> answers.ShownGroup:
    """Change the name or the products of a group as an administrator."""
    row, account = find(world, "group", number, body)
    with world.effect(account) as work:
        if body.products is not None:
            _check_products(world, account, body.products)
        row = work.machine.fire(work, "group", row, "change", name=body.name, products=body.products)
        work.record("group_change", group_id=row["id"])
        return {"group": resource_of(work, "group", row)}


def delete_group(world: World, body: bodies.Nothing, number: str) -> answers.Id:
    """Delete a group as an administrator; its products stay."""
    row, account = find(world, "group", number, body)
    with world.effect(account) as work:
        work.machine.fire(work, "group", row, "delete")
        work.record("group_delete", group_id=row["id"])
    return {"id": row["id"]}


def _check_products(world: World, account: Account, products: list[int]) -> None:
    for product in products:
        row = world.store.one("SELECT * FROM products WHERE id = ? AND state = 'live'", product)
        if row is None or row["account"] != account.number:
            raise invalid(f"products names {product}, which is not a product of this account.", "invalid_product")
