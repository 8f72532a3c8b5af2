"""The state machines of states.toml: how actions, such as a renewal, change an object's state and set its next job.

Service interface: States and transitions.
"""

from __future__ import annotations

import sqlite3
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from importlib import resources as package_files
from typing import Any

from billcore_sandbox import clock, effects, outbox, resources
from billcore_sandbox.effects import Given
from billcore_sandbox.errors import Refusal
from billcore_sandbox.resources import ORDER_STATES, SUBSCRIPTION_STATUSES
from billcore_sandbox.work import Work

NEW, SAME = "new", "same"
# The state of an active subscription that was cancelled and is usable until ends_at; the service shows such a
# subscription as `active`.
ENDING = "ending"


@dataclass(frozen=True, slots=True)
class Subject:
    """The objects of a state machine: their table, the column of their state, and their states."""

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


class Machine:
    """Applies the rows of states.toml."""

    def __init__(self) -> None:
        file = package_files.files("billcore_sandbox") / "data" / "states.toml"
        tables = tomllib.loads(file.read_text("utf-8"))
        self.transitions = [
            Transition(machine, tuple(row.pop("from")), **row) for machine, rows in tables.items() for row in rows
        ]

    def causes(self, machine: str, state: str) -> list[str]:
        """The actions that the state allows, in the order of states.toml."""
        found = [row.cause for row in self.transitions if row.machine == machine and state in row.sources]
        return list(dict.fromkeys(found))

    def create(self, work: Work, machine: str, cause: str, columns: dict[str, Any]) -> sqlite3.Row:
        """Insert a new object with these columns."""
        transition = self._choose(work, machine, None, cause, {})
        subject = SUBJECTS[machine]
        number = work.insert(subject.table, {**columns, subject.column: transition.to})
        return self._finish(work, transition, number, NEW, {})

    def fire(self, work: Work, machine: str, row: sqlite3.Row, cause: str, **given: Any) -> sqlite3.Row:
        """Perform the action `cause` on an object; returns its new row.

        Raises Refusal 422 if the object's state does not allow the action.
        """
        transition = self._choose(work, machine, row, cause, given)
        changes = getattr(effects, transition.effect)(work, row, given) if transition.effect else {}
        subject = SUBJECTS[machine]
        if transition.to != SAME:
            changes[subject.column] = transition.to
        if changes:
            work.update(subject.table, row["id"], changes)
        unchanged = all(row[name] == value for name, value in changes.items())
        if machine == "subscription" and unchanged and work.options.unchanged_event == "none":
            transition = replace(transition, event=None)
        return self._finish(work, transition, row["id"], state_of(machine, row), given)

    def _choose(self, work: Work, machine: str, row: sqlite3.Row | None, cause: str, given: Given) -> Transition:
        state = NEW if row is None else state_of(machine, row)
        for transition in self.transitions:
            if transition.machine != machine or transition.cause != cause or state not in transition.sources:
                continue
            if transition.guard is None or (row is not None and getattr(effects, transition.guard)(work, row, given)):
                return transition
        allowed = self.causes(machine, state)
        takes = f"it takes {', '.join(allowed)}" if allowed else "it takes nothing any more"
        raise Refusal(
            422,
            "not_allowed",
            f"The {machine} is {'cancelled' if state == ENDING else state}, which does not take {cause}: {takes}.",
        )

    def _finish(self, work: Work, transition: Transition, number: int, before: str, given: Given) -> sqlite3.Row:
        machine, cause, event = transition.machine, transition.cause, transition.event
        row = work.row(SUBJECTS[machine].table, number)
        work.enter(machine, number, before, state_of(machine, row), cause, event)
        plan(work, machine, row)
        if event and work.receivers():
            outbox.emit(work, event, resource_of(work, machine, row))
            if work.options.updated_too and event in ("subscription.cancelled", "subscription.renewed"):
                outbox.emit(work, "subscription.updated", resource_of(work, machine, row))
        if transition.then:
            getattr(effects, transition.then)(work, row, given)
        return row


def state_of(machine: str, row: sqlite3.Row) -> str:
    """The state of an object, as the rows of states.toml name it."""
    if machine == "subscription" and row["status"] == "active" and row["cancelled"]:
        return ENDING
    state: str = row[SUBJECTS[machine].column]
    return state


def resource_of(work: Work, machine: str, row: sqlite3.Row) -> dict[str, Any]:
    """The object as a resource of the service interface."""
    if machine == "group":
        return resources.product_group(row, work.members(row["id"]))
    shape: dict[str, Callable[[sqlite3.Row], dict[str, Any]]] = {
        "subscription": resources.subscription,
        "order": resources.order,
        "product": resources.product,
    }
    return shape[machine](row)


def plan(work: Work, machine: str, row: sqlite3.Row) -> None:
    """Schedule the next job of this object."""
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
