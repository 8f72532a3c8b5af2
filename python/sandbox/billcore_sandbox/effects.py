"""The guards and effects that the rows of states.toml name.

A guard returns whether a row of states.toml applies. An effect prepares a transition: it returns the columns to change,
and may make further changes in the same transaction. Service interface: States and transitions.
"""

from __future__ import annotations

import hashlib
import secrets
import sqlite3
from datetime import timedelta
from typing import Any

from billcore_sandbox import clock, resources
from billcore_sandbox.errors import invalid
from billcore_sandbox.options import Options
from billcore_sandbox.work import Work

Given = dict[str, Any]

# ---- Guards ----------------------------------------------------------------------------------------------------------


def _product(work: Work, row: sqlite3.Row) -> sqlite3.Row:
    return work.row("products", row["product_id"])


def _is_later(work: Work, text: str | None) -> bool:
    return text is not None and clock.parse(text) > work.now


def starts_later(work: Work, row: sqlite3.Row, given: Given) -> bool:
    """starts_at is in the future."""
    return _is_later(work, row["starts_at"])


def has_trial(work: Work, row: sqlite3.Row, given: Given) -> bool:
    """trial_ends_at is in the future."""
    return _is_later(work, row["trial_ends_at"])


def pays(work: Work, row: sqlite3.Row, given: Given) -> bool:
    """The billing method accepts the payment."""
    return not row["declines"]


def may_be_retried(work: Work, row: sqlite3.Row, given: Given) -> bool:
    """--renewal-retries allows another retry of this renewal."""
    return bool(row["failures"] < len(work.options.renewal_retries))


def has_no_cycle_left(work: Work, row: sqlite3.Row, given: Given) -> bool:
    """The product has a fixed number of cycles, and all of them are paid."""
    cycles = _product(work, row)["cycles"]
    return cycles is not None and row["cycles_paid"] >= cycles


def stays_active(work: Work, row: sqlite3.Row, given: Given) -> bool:
    """--cancel, or its product, says that a cancelled subscription stays `active` until ends_at."""
    chosen = work.options.cancel
    return chosen == "active" or (chosen == "by-product" and bool(_product(work, row)["stays_active"]))


# ---- Effects ---------------------------------------------------------------------------------------------------------


def begin_trial(work: Work, row: sqlite3.Row, given: Given) -> dict[str, Any]:
    """Set the first renewal to the end of the trial."""
    return {"anchor": row["trial_ends_at"], "renews_at": row["trial_ends_at"], "cycles_paid": 0}


def begin_period(work: Work, row: sqlite3.Row, given: Given) -> dict[str, Any]:
    """Set the first paid period: it begins at starts_at if the subscription starts later, otherwise now."""
    begins_later = row["status"] == "future_start" or starts_later(work, row, given)
    start = clock.parse(row["starts_at"]) if begins_later else work.now
    end = clock.add_interval(start, _product(work, row)["interval"])
    return {"anchor": clock.iso(start), "renews_at": clock.iso(end), "cycles_paid": 1}


def renew(work: Work, row: sqlite3.Row, given: Given) -> dict[str, Any]:
    """Make a renewal order, and move renews_at by whole intervals, counted from the start of the first period."""
    order = bill(work, row, product_id=row["product_id"], total=row["price"], vat=row["vat"])
    old_end = clock.parse(row["renews_at"]) if row["renews_at"] is not None else work.now
    anchor = clock.parse(row["anchor"]) if row["anchor"] is not None else old_end
    renews_at = clock.period_end(anchor, _product(work, row)["interval"], max(old_end, work.now))
    work.new_order = order
    work.record("renew", subscription_id=str(row["id"]), order_id=str(order["id"]), total=order["total"])
    return {
        "renews_at": clock.iso(renews_at),
        "cycles_paid": row["cycles_paid"] + 1,
        "failures": 0,
        "retry_at": None,
    }


def fail_renewal(work: Work, row: sqlite3.Row, given: Given) -> dict[str, Any]:
    """Record a declined payment, and set the time of the next retry if --renewal-retries allows one."""
    retries, failures = work.options.renewal_retries, row["failures"]
    again = failures < len(retries)
    work.record("renew_failed", subscription_id=str(row["id"]), failures=failures + 1)
    retry_at = clock.iso(work.now + timedelta(days=retries[failures])) if again else None
    changes = {"failures": failures + 1, "retry_at": retry_at}
    if row["renews_at"] is None or clock.parse(row["renews_at"]) > work.now:
        # A control route renewed the subscription early. Set its renewal date, from which later periods are counted, to
        # the current time.
        changes["renews_at"] = changes["anchor"] = clock.iso(work.now)
    return changes


def expire(work: Work, row: sqlite3.Row, given: Given) -> dict[str, Any]:
    """End a subscription whose last cycle has ended."""
    work.record("expire", subscription_id=str(row["id"]))
    return {"ends_at": row["renews_at"] or clock.iso(work.now), "renews_at": None, "retry_at": None}


def cancel(work: Work, row: sqlite3.Row, given: Given) -> dict[str, Any]:
    """Remove the renewal, and set ends_at to the end of the paid period, or to now if no period is paid.

    The paid period of a delayed or unpaid subscription has ended in the past; --cancel-ends-at may say `now` instead.
    """
    late = row["status"] in ("delayed", "unpaid") and work.options.cancel_ends_at == "now"
    ends_at = clock.iso(work.now) if late or row["renews_at"] is None else row["renews_at"]
    work.record("cancel", subscription_id=str(row["id"]))
    return {"cancelled": 1, "renews_at": None, "retry_at": None, "ends_at": ends_at}


def end(work: Work, row: sqlite3.Row, given: Given) -> dict[str, Any]:
    """Record that the clock has reached the ends_at of a cancelled subscription."""
    work.record("end", subscription_id=str(row["id"]))
    return {}


def change_product(work: Work, row: sqlite3.Row, given: Given) -> dict[str, Any]:
    """Take the price, VAT and currency of the new product."""
    product: sqlite3.Row = given["product"]
    work.record(
        "change_product",
        subscription_id=str(row["id"]),
        product_id=product["id"],
        old_product_id=row["product_id"],
    )
    return resources.terms(product)


def change_billing(work: Work, row: sqlite3.Row, given: Given) -> dict[str, Any]:
    """Change the billing method, or whether it declines payments."""
    changes = {name: given[name] for name in ("billing", "declines") if given.get(name) is not None}
    work.record("change_billing", subscription_id=str(row["id"]), **changes)
    return {name: int(value) if name == "declines" else value for name, value in changes.items()}


def settle(work: Work, row: sqlite3.Row, given: Given) -> dict[str, Any]:
    """Give the payment a reference, made from the order's id, so that the same steps give the same reference."""
    return {"remote_id": "pay_" + hashlib.sha256(f"payment {row['id']}".encode()).hexdigest()[:16]}


def activate(work: Work, row: sqlite3.Row, given: Given) -> dict[str, Any]:
    """Begin the subscription when its first order is paid."""
    if row["is_first"] and row["subscription_id"] is not None:
        subscription = work.row("subscriptions", row["subscription_id"])
        if subscription["status"] == "pending":
            work.machine.fire(work, "subscription", subscription, "first_payment")
    return {}


def update_product(work: Work, row: sqlite3.Row, given: Given) -> dict[str, Any]:
    work.record("product_update", product_id=row["id"], fields=given["changes"])
    return dict(given["changes"])


def announce_groups(work: Work, row: sqlite3.Row, given: Given) -> dict[str, Any]:
    """Perform the action `change` on the product's groups, because a change of a product also changes its groups."""
    for group in work.groups_of(row["id"]):
        work.machine.fire(work, "group", group, "change")
    return {}


def delete_product(work: Work, row: sqlite3.Row, given: Given) -> dict[str, Any]:
    work.record("product_delete", product_id=row["id"])
    return {}


def leave_groups(work: Work, row: sqlite3.Row, given: Given) -> dict[str, Any]:
    """Remove the product from its groups, and delete the groups that have no other product."""
    for group in work.groups_of(row["id"]):
        rest = [member for member in work.members(group["id"]) if member != row["id"]]
        if rest:
            work.machine.fire(work, "group", group, "change", products=rest)
        else:
            work.machine.fire(work, "group", group, "delete")
    return {}


def change_group(work: Work, row: sqlite3.Row, given: Given) -> dict[str, Any]:
    if given.get("products") is not None:
        work.set_members(row["id"], given["products"])
    return {} if given.get("name") is None else {"name": given["name"]}


def forget_members(work: Work, row: sqlite3.Row, given: Given) -> dict[str, Any]:
    """Remove all products from a deleted group; runs after its event, which still shows the products."""
    work.set_members(row["id"], [])
    return {}


def rotate_secret(work: Work, row: sqlite3.Row, given: Given) -> dict[str, Any]:
    """Set a new secret. Until the overlap ends, deliveries with an even id are signed with the old secret."""
    until = work.now + timedelta(seconds=given["overlap"])
    return {
        "secret": given.get("secret") or work.new_secret(row["id"], row["secret"]),
        "old_secret": row["secret"],
        "old_secret_until": clock.iso_precise(until),
    }


def drop_deliveries(work: Work, row: sqlite3.Row, given: Given) -> dict[str, Any]:
    """Fail the deliveries of a deleted endpoint that have not ended, and change its URL so that it can be registered
    again."""
    where, args = "endpoint_id = ? AND state IN ('pending', 'on_hold')", (row["id"],)
    pending = f"SELECT seq FROM deliveries WHERE {where}"
    work.db.execute(f"DELETE FROM jobs WHERE kind = 'delivery' AND subject IN ({pending})", args)
    reason = "the endpoint was deleted"
    work.db.execute(f"UPDATE deliveries SET state = 'failed', reason = '{reason}' WHERE {where}", args)
    return {"url": f"{row['url']}#deleted-{row['id']}"}


def replace_key(work: Work, row: sqlite3.Row, given: Given) -> dict[str, Any]:
    """Issue a new key for the account of a rotated key."""
    work.new_key = work.machine.create(work, "key", "issue", {"account": row["account"], "key": new_key()})
    return {}


def new_key() -> str:
    return f"key_{secrets.token_hex(16)}"


# ---- Orders ----------------------------------------------------------------------------------------------------------


def settles_at_once(options: Options, billing: str) -> bool:
    """Whether a confirmed order is paid at once: cards and mobile payments are, invoices are not."""
    if options.settlement == "by-billing":
        return billing != "invoice"
    return options.settlement == "immediate"


def bill(
    work: Work,
    subscription: sqlite3.Row,
    *,
    product_id: int,
    total: int,
    vat: int,
    metadata: str = "{}",
) -> sqlite3.Row:
    """Create the order of a renewal or charge: confirmed, and also paid if the billing method settles at once."""
    columns = order_columns(
        work, product_id, total, vat, subscription["currency"], subscription["billing"], subscription
    )
    order = work.machine.create(work, "order", "bill", {**columns, "metadata": metadata})
    if settles_at_once(work.options, order["billing"]):
        order = work.machine.fire(work, "order", order, "pay")
    return order


def order_columns(
    work: Work,
    product_id: int,
    total: int,
    vat: int,
    currency: str,
    billing: str,
    subscription: sqlite3.Row | None,
) -> dict[str, Any]:
    """The columns of a new order. If `subscription` is given, the order has the subscription's references."""
    gross = resources.with_vat(total, vat)
    if gross > resources.MAX_INTEGER:
        raise invalid("The total of the order is too large.", "total_too_large")
    return {
        "account": work.account.number,
        "subscription_id": None if subscription is None else subscription["id"],
        "product_id": product_id,
        "created_at": clock.iso(work.now),
        "total": total,
        "total_with_vat": gross,
        "currency": currency,
        "reference_id": None if subscription is None else subscription["reference_id"],
        "reference_name": None if subscription is None else subscription["reference_name"],
        "billing": billing,
        "metadata": "{}",
    }
