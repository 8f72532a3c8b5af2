"""Control routes for what will happen: the jobs of all objects, and everything about one subscription."""

from __future__ import annotations

import sqlite3
from typing import cast

from billcore_sandbox import resources
from billcore_sandbox.control import answers, bodies
from billcore_sandbox.control.common import find, of_account
from billcore_sandbox.history import state_change
from billcore_sandbox.lifecycle import state_of
from billcore_sandbox.world import World

_HIDDEN = ("product_id", "billing", "starts_at", "anchor", "retry_at", "failures", "cycles_paid")


def upcoming(world: World, query: bodies.Soonest) -> answers.Upcoming:
    """List the jobs that wait for an account's clock: renewals, retries of renewals and of deliveries, and so on."""
    where, args = of_account(world, query.account)
    limit = -1 if query.limit is None else query.limit
    rows = world.store.all(f"SELECT * FROM jobs WHERE {where} ORDER BY due, seq LIMIT ?", *args, limit)
    return {"jobs": [_job(world, row) for row in rows], "total": world.store.count(f"jobs WHERE {where}", *args)}


def subscription(world: World, query: bodies.Nothing, number: str, changes: int = -1) -> answers.SubscriptionDetails:
    """Show a subscription with its hidden fields, what it takes next, its next job, and how it came to its state."""
    # changes: at most so many, the latest ones; -1: all.
    row, _ = find(world, "subscription", number, query)
    state = state_of("subscription", row)
    job = world.store.one("SELECT * FROM jobs WHERE kind = 'subscription' AND subject = ?", row["id"])
    sql = "SELECT * FROM state_changes WHERE object = 'subscription' AND object_id = ? ORDER BY id DESC LIMIT ?"
    made = world.store.all(sql, row["id"], changes)
    hidden = {name: row[name] for name in _HIDDEN} | {name: bool(row[name]) for name in ("declines", "cancelled")}
    return {
        "subscription": resources.subscription(row),
        "hidden": cast(answers.HiddenFields, hidden),
        "state": state,
        "causes": world.machine.causes("subscription", state),
        "next": None if job is None else _job(world, job),
        "changes": [state_change(world.store, each) for each in reversed(made)],
    }


def _job(world: World, row: sqlite3.Row) -> answers.UpcomingJob:
    return {
        "due": row["due"],
        "account": world.store.uuid_of(row["account"]),
        "object": row["kind"],
        "id": str(row["subject"]),
        "cause": row["cause"],
    }
