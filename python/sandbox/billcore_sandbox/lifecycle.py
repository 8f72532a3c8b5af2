"""The machines of states.toml, and the guards and effects that its rows name.

A guard answers whether a row applies. An effect prepares a transition: it returns the columns to change, and may do more
work in the same transaction; `then` runs after the row's event. Service interface: States and transitions.
"""

from __future__ import annotations

import hashlib
import secrets
import sqlite3
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib import resources as package_files
from typing import Any

from billcore_sandbox import clock, resources
from billcore_sandbox.errors import Refusal, invalid, not_found
from billcore_sandbox.events import NAMES
from billcore_sandbox.options import Options
from billcore_sandbox.resources import ORDER_STATES, SUBSCRIPTION_STATUSES
from billcore_sandbox.world import Work

NEW, SAME = "new", "same"
# An active subscription that was cancelled and works until ends_at. The service shows it as `active`.
ENDING = "ending"


@dataclass(frozen=True, slots=True)
class Subject:
    """What a machine works on: its table, the column of its state, and its states."""

    table: str
    column: str
    states: tuple[str, ...]


SUBJECTS = {
    "subscription": Subject("subscriptions", "status", (*SUBSCRIPTION_STATUSES, ENDING)),
    "order": Subject("orders", "state", ORDER_STATES),
    "product": Subject("products", "state", ("live", "deleted")),
    "group": Subject("product_groups", "state", ("live", "deleted")),
    "endpoint": Subject("endpoints", "state", ("enabled", "disabled", "deleted")),
    "key": Subject("api_keys", "state", ("valid", "revoked")),
}

Given = dict[str, Any]
Guard = Callable[[Work, sqlite3.Row, Given], bool]
Effect = Callable[[Work, sqlite3.Row, Given], dict[str, Any]]


class StatesError(Exception):
    """states.toml is wrong; the text names the row."""


@dataclass(frozen=True, slots=True)
class Transition:
    """A row of states.toml."""

    machine: str
    sources: tuple[str, ...]
    cause: str
    to: str
    guard: str | None = None
    effect: str | None = None
    then: str | None = None
    event: str | None = None
    interface: str | None = None


def read(text: str) -> list[Transition]:
    """The rows of a states file. Raises StatesError with one sentence."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise StatesError(f"states.toml is not TOML: {error}") from None
    found: list[Transition] = []
    for machine, rows in tables.items():
        if machine not in SUBJECTS or not isinstance(rows, list):
            raise StatesError(f"states.toml: [[{machine}]] is not a machine; there are {', '.join(SUBJECTS)}")
        found.extend(_transition(machine, number, row) for number, row in enumerate(rows, 1))
    return found


def _transition(machine: str, number: int, row: dict[str, Any]) -> Transition:
    where = f"states.toml: [[{machine}]] number {number}"
    states = SUBJECTS[machine].states
    known: dict[str, Iterable[str]] = {"guard": GUARDS, "effect": EFFECTS, "then": EFFECTS, "event": NAMES}
    allowed = {"from", "cause", "to", "interface", *known}
    for name, value in row.items():
        if name not in allowed:
            raise StatesError(f"{where} has an unknown key {name!r}: use {', '.join(sorted(allowed))}")
        if name in known and value not in known[name]:
            raise StatesError(f"{where}: {name} {value!r} does not exist; there are {', '.join(known[name])}")
    sources = row.get("from")
    if not isinstance(sources, list) or not sources or not {*sources} <= {NEW, *states}:
        raise StatesError(f"{where}: `from` must be a list of states: {NEW}, {', '.join(states)}")
    if not isinstance(row.get("cause"), str) or row.get("to") not in (SAME, *states):
        raise StatesError(f"{where} needs a cause, and a state as `to`: {SAME}, {', '.join(states)}")
    more = {name: row.get(name) for name in ("guard", "effect", "then", "event", "interface")}
    return Transition(machine, tuple(sources), row["cause"], row["to"], **more)


class Machine:
    """Applies the rows of states.toml."""

    def __init__(self, transitions: list[Transition] | None = None) -> None:
        if transitions is None:
            file = package_files.files("billcore_sandbox") / "data" / "states.toml"
            transitions = read(file.read_text("utf-8"))
        self.transitions = transitions

    def causes(self, machine: str, state: str) -> list[str]:
        """The causes that this state allows, in the order of the file."""
        found = [row.cause for row in self.transitions if row.machine == machine and state in row.sources]
        return list(dict.fromkeys(found))

    def create(self, work: Work, machine: str, cause: str, columns: dict[str, Any]) -> sqlite3.Row:
        """Insert a new object with these columns."""
        transition = self._choose(work, machine, None, cause, {})
        subject = SUBJECTS[machine]
        row = {**columns, subject.column: transition.to}
        marks = ", ".join("?" * len(row))
        cursor = work.db.execute(
            f"INSERT INTO {subject.table} ({', '.join(row)}) VALUES ({marks})", tuple(row.values())
        )
        return self._finish(work, transition, cursor.lastrowid, {})

    def fire(self, work: Work, machine: str, row: sqlite3.Row, cause: str, **given: Any) -> sqlite3.Row:
        """Apply `cause` to an object; returns its new row. Raises Refusal 422 if its state does not allow it."""
        transition = self._choose(work, machine, row, cause, given)
        changes = EFFECTS[transition.effect](work, row, given) if transition.effect else {}
        subject = SUBJECTS[machine]
        if transition.to != SAME:
            changes[subject.column] = transition.to
        if changes:
            assignments = ", ".join(f"{name} = ?" for name in changes)
            values = (*changes.values(), row["id"])
            work.db.execute(f"UPDATE {subject.table} SET {assignments} WHERE id = ?", values)
        return self._finish(work, transition, row["id"], given)

    def _choose(
        self, work: Work, machine: str, row: sqlite3.Row | None, cause: str, given: Given
    ) -> Transition:
        state = NEW if row is None else state_of(machine, row)
        for transition in self.transitions:
            if transition.machine != machine or transition.cause != cause or state not in transition.sources:
                continue
            if transition.guard is None or (row is not None and GUARDS[transition.guard](work, row, given)):
                return transition
        allowed = self.causes(machine, state)
        takes = f"it takes {', '.join(allowed)}" if allowed else "it takes nothing any more"
        raise Refusal(422, "not_allowed", f"The {machine} is {shown(state)}, which does not take {cause}: {takes}.")

    def _finish(self, work: Work, transition: Transition, number: int | None, given: Given) -> sqlite3.Row:
        row = work.row(SUBJECTS[transition.machine].table, number)
        plan(work, transition.machine, row)
        if transition.event:
            work.emit(transition.event, resource_of(work, transition.machine, row))
            if transition.cause in ("cancel", "renew") and transition.event != "subscription.updated":
                work.emit_updated_too(resource_of(work, transition.machine, row))
        if transition.then:
            EFFECTS[transition.then](work, row, given)
        return row


def state_of(machine: str, row: sqlite3.Row) -> str:
    """The state that the rows of states.toml name."""
    if machine == "subscription" and row["status"] == "active" and row["cancelled"]:
        return ENDING
    state: str = row[SUBJECTS[machine].column]
    return state


def shown(state: str) -> str:
    return "cancelled" if state == ENDING else state


def resource_of(work: Work, machine: str, row: sqlite3.Row) -> dict[str, Any]:
    """The object as the service interface shows it."""
    if machine == "group":
        return resources.product_group(row, work.members(row["id"]))
    shape: dict[str, Callable[[sqlite3.Row], dict[str, Any]]] = {
        "subscription": resources.subscription,
        "order": resources.order,
        "product": resources.product,
    }
    return shape[machine](row)


def plan(work: Work, machine: str, row: sqlite3.Row) -> None:
    """Schedule what time does next to this object."""
    if machine == "order":
        days = work.options.invoice_days
        waits = days is not None and row["billing"] == "invoice" and row["state"] in ("confirmed", "payment_pending")
        if waits and days is not None:
            due = clock.parse(row["created_at"]) + timedelta(days=days)
            work.schedule("order", row["id"], "pay", max(due, work.now))
        else:
            work.unschedule("order", row["id"])
    if machine != "subscription":
        return
    column, cause = {
        "future_start": ("starts_at", "start"),
        "trialing": ("renews_at", "renew"),
        "active": ("renews_at", "renew"),
        "delayed": ("retry_at", "renew"),
        ENDING: ("ends_at", "end"),
    }.get(state_of(machine, row), ("", ""))
    if column and row[column] is not None:
        work.schedule("subscription", row["id"], cause, clock.parse(row[column]))
    else:
        work.unschedule("subscription", row["id"])


# ---- Guards -------------------------------------------------------------------------------------------------------------


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
    """The service will try this renewal again (--renewal-retries)."""
    return bool(row["failures"] < len(work.options.renewal_retries))


def has_no_cycle_left(work: Work, row: sqlite3.Row, given: Given) -> bool:
    """The product has a fixed number of cycles, and all of them were paid."""
    cycles = _product(work, row)["cycles"]
    return cycles is not None and row["cycles_paid"] >= cycles


def stays_active(work: Work, row: sqlite3.Row, given: Given) -> bool:
    """The subscription works until ends_at as `active` (--cancel, or its product)."""
    chosen = work.options.cancel
    return chosen == "active" or (chosen == "by-product" and bool(_product(work, row)["stays_active"]))


# ---- Effects ------------------------------------------------------------------------------------------------------------


def begin_waiting(work: Work, row: sqlite3.Row, given: Given) -> dict[str, Any]:
    """The paid period begins at starts_at."""
    start = clock.parse(row["starts_at"])
    return _period(work, row, start)


def begin_trial(work: Work, row: sqlite3.Row, given: Given) -> dict[str, Any]:
    """Renewals begin when the trial ends."""
    return {"anchor": row["trial_ends_at"], "renews_at": row["trial_ends_at"]}


def begin_period(work: Work, row: sqlite3.Row, given: Given) -> dict[str, Any]:
    """The first paid period begins: now, or at the start that has just come."""
    start = clock.parse(row["starts_at"]) if row["status"] == "future_start" else work.now
    return _period(work, row, start)


def _period(work: Work, row: sqlite3.Row, start: datetime) -> dict[str, Any]:
    end = clock.add_interval(start, _product(work, row)["interval"])
    return {"anchor": clock.iso(start), "renews_at": clock.iso(end), "cycles_paid": 1}


def renew(work: Work, row: sqlite3.Row, given: Given) -> dict[str, Any]:
    """A renewal order; renews_at moves on by whole intervals, counted from the begin of the first period."""
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
    """The payment is declined; the service tries again, as often as --renewal-retries says."""
    retries, failures = work.options.renewal_retries, row["failures"]
    again = failures < len(retries)
    work.record("renew_failed", subscription_id=str(row["id"]), failures=failures + 1)
    retry_at = clock.iso(work.now + timedelta(days=retries[failures])) if again else None
    return {"failures": failures + 1, "retry_at": retry_at}


def expire(work: Work, row: sqlite3.Row, given: Given) -> dict[str, Any]:
    """The last cycle has ended."""
    work.record("expire", subscription_id=str(row["id"]))
    return {"ends_at": row["renews_at"] or clock.iso(work.now), "renews_at": None, "retry_at": None}


def cancel(work: Work, row: sqlite3.Row, given: Given) -> dict[str, Any]:
    """No renewal follows; ends_at is the end of the paid period, or now where none is paid."""
    ends_at = work.now
    if row["renews_at"] is not None and row["status"] not in ("pending", "delayed", "unpaid"):
        ends_at = max(clock.parse(row["renews_at"]), work.now)
    work.record("cancel", subscription_id=str(row["id"]))
    return {"cancelled": 1, "renews_at": None, "retry_at": None, "ends_at": clock.iso(ends_at)}


def end(work: Work, row: sqlite3.Row, given: Given) -> dict[str, Any]:
    """ends_at of a cancelled subscription has come."""
    work.record("end", subscription_id=str(row["id"]))
    return {}


def change_product(work: Work, row: sqlite3.Row, given: Given) -> dict[str, Any]:
    """Price, VAT and currency become those of the new product."""
    product: sqlite3.Row = given["product"]
    work.record(
        "change_product",
        subscription_id=str(row["id"]),
        product_id=product["id"],
        old_product_id=row["product_id"],
    )
    return {
        "product_id": product["id"],
        "price": resources.net_price(product),
        "vat": round(product["vat_rate"] * 100),
        "currency": product["currency"],
    }


def change_billing(work: Work, row: sqlite3.Row, given: Given) -> dict[str, Any]:
    """Another billing method, which may decline payments."""
    changes = {name: given[name] for name in ("billing", "declines") if given.get(name) is not None}
    work.record("change_billing", subscription_id=str(row["id"]), **changes)
    return {name: int(value) if name == "declines" else value for name, value in changes.items()}


def settle(work: Work, row: sqlite3.Row, given: Given) -> dict[str, Any]:
    """The payment has a reference; made from the order's id, so the same steps give the same value."""
    return {"remote_id": "pay_" + hashlib.sha256(f"payment {row['id']}".encode()).hexdigest()[:16]}


def activate(work: Work, row: sqlite3.Row, given: Given) -> dict[str, Any]:
    """The first order is paid, so its subscription begins."""
    if row["is_first"] and row["subscription_id"] is not None:
        subscription = work.row("subscriptions", row["subscription_id"])
        if subscription["status"] == "pending":
            work.machine.fire(work, "subscription", subscription, "first_payment")
    return {}


def update_product(work: Work, row: sqlite3.Row, given: Given) -> dict[str, Any]:
    work.record("product_update", product_id=row["id"], fields=given["changes"])
    return dict(given["changes"])


def announce_groups(work: Work, row: sqlite3.Row, given: Given) -> dict[str, Any]:
    """A group changes with its products."""
    for group in work.groups_of(row["id"]):
        work.machine.fire(work, "group", group, "change")
    return {}


def delete_product(work: Work, row: sqlite3.Row, given: Given) -> dict[str, Any]:
    work.record("product_delete", product_id=row["id"])
    return {}


def leave_groups(work: Work, row: sqlite3.Row, given: Given) -> dict[str, Any]:
    """The last product takes its group along."""
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
    """Runs after the event, which still shows the products."""
    work.set_members(row["id"], [])
    return {}


def rotate_secret(work: Work, row: sqlite3.Row, given: Given) -> dict[str, Any]:
    """A new secret. Until the overlap ends, deliveries with an even number are signed with the old one."""
    until = work.now + timedelta(seconds=given["overlap"])
    return {
        "secret": given.get("secret") or work.new_secret(row["id"]),
        "old_secret": row["secret"],
        "old_secret_until": clock.iso_precise(until),
    }


def drop_deliveries(work: Work, row: sqlite3.Row, given: Given) -> dict[str, Any]:
    """A deleted endpoint gets nothing more; its URL may be registered again."""
    work.db.execute(
        "UPDATE deliveries SET state = 'failed' WHERE endpoint_id = ? AND state = 'pending'", (row["id"],)
    )
    return {"url": f"{row['url']}#deleted-{row['id']}"}


def replace_key(work: Work, row: sqlite3.Row, given: Given) -> dict[str, Any]:
    """A new key for the same account."""
    work.new_key = work.machine.create(work, "key", "issue", {"account": row["account"], "key": new_key()})
    return {}


def new_key() -> str:
    return f"key_{secrets.token_hex(16)}"


# ---- Orders -------------------------------------------------------------------------------------------------------------


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
    """An order of a subscription that needs no visitor: confirmed, and paid where the billing method settles at once."""
    columns = order_columns(work, product_id, total, vat, subscription["currency"], subscription["billing"], subscription)
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
    """The columns of a new order. References come from the subscription when there is one."""
    gross = resources.with_vat(total, vat)
    if gross > resources.MAX_INTEGER:
        raise invalid("The total of the order is too large.")
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
        "is_first": 0,
        "custom_fields": "[]",
        "metadata": "{}",
    }


def find(work: Work, machine: str, number: int, account: int | None) -> sqlite3.Row:
    """An object by its id. Raises the 404 of what does not exist, also for another account's."""
    row = work.db.execute(f"SELECT * FROM {SUBJECTS[machine].table} WHERE id = ?", (number,)).fetchone()
    if row is None or (account is not None and row["account"] != account):
        raise not_found()
    found: sqlite3.Row = row
    return found


def _functions(*functions: Any) -> dict[str, Any]:
    return {function.__name__: function for function in functions}


GUARDS: dict[str, Guard] = _functions(starts_later, has_trial, pays, may_be_retried, has_no_cycle_left, stays_active)
EFFECTS: dict[str, Effect] = _functions(
    begin_waiting,
    begin_trial,
    begin_period,
    renew,
    fail_renewal,
    expire,
    cancel,
    end,
    change_product,
    change_billing,
    settle,
    activate,
    update_product,
    announce_groups,
    delete_product,
    leave_groups,
    change_group,
    forget_members,
    rotate_secret,
    drop_deliveries,
    replace_key,
)
