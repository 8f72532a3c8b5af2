"""Shared by the control routes: which account a request means, and reading an object."""

from __future__ import annotations

import sqlite3
from typing import Any

from billcore_sandbox.control import answers
from billcore_sandbox.control.bodies import Body
from billcore_sandbox.errors import Refusal, invalid, not_found
from billcore_sandbox.lifecycle import SUBJECTS, resource_of
from billcore_sandbox.service.calls import number_of
from billcore_sandbox.store import Account
from billcore_sandbox.world import Work, World


def named_account(world: World, uuid: str | None) -> Account | None:
    """The account with this UUID; None if no account is named."""
    if uuid is None:
        return None
    account = world.store.account_by_uuid(uuid)
    if account is None:
        raise Refusal(404, "not_found", "No account has this UUID: GET /_sandbox/state lists the accounts.")
    return account


def account_or_first(world: World, body: Body) -> Account:
    """The account that a request names, or the first one."""
    return named_account(world, body.account) or world.store.accounts[0]


def find(world: World, machine: str, number: str, body: Body) -> tuple[sqlite3.Row, Account]:
    """An object and its account. Raises 404 if the id is unknown, or the object is not of the named account."""
    row = world.store.one(f"SELECT * FROM {SUBJECTS[machine].table} WHERE id = ?", number_of(number))
    named = named_account(world, body.account)
    if row is None or (named is not None and row["account"] != named.number):
        raise not_found()
    return row, world.store.account_by_number(row["account"])


def of_account(world: World, uuid: str | None) -> tuple[str, list[Any]]:
    """The SQL condition that a row is of the account with this UUID, and its argument; None stands for any account."""
    account = named_account(world, uuid)
    return ("1", []) if account is None else ("account = ?", [account.number])


def shown(work: Work, order: sqlite3.Row | None, subscription: int | None) -> answers.Shown:
    """Order and subscription as they are now, in the shape of the REST interface."""
    row = None if subscription is None else work.row("subscriptions", subscription)
    fresh = None if order is None else work.row("orders", order["id"])
    return {
        "subscription": None if row is None else resource_of(work, "subscription", row),
        "order": None if fresh is None else resource_of(work, "order", fresh),
    }


def selected(world: World, table: str, conditions: dict[str, Any], limit: int | None) -> list[sqlite3.Row]:
    """The rows that fulfil the conditions, oldest first; a condition whose value is None is left out."""
    chosen = {condition: value for condition, value in conditions.items() if value is not None}
    sql = f"SELECT * FROM {table} WHERE {' AND '.join(chosen)} ORDER BY 1 LIMIT ?"
    return world.store.all(sql, *chosen.values(), -1 if limit is None else limit)


def no_endpoint(number: int) -> Refusal:
    return invalid(f"No endpoint has the id {number}: GET /_sandbox/endpoints lists them.")


def one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise invalid(f"The field {name} must be one of {', '.join(known)}.")
